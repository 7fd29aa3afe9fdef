//! Parts of raw characters, with what most of them have.

use throng::Id;
use throng::clip::{Interpolation, Track, TrackValues};
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{RawAnimation, RawChannel, RawKeys, RawMorph, RawNode, RawSkin};
use throng::mesh::MorphTarget;
use throng::skeleton::{Joint, Transform};

/// A node without a matrix.
pub fn node(name: impl Into<Box<str>>, parent: Option<usize>, transform: Transform) -> RawNode {
    RawNode {
        name: name.into(),
        parent,
        transform,
        matrix: None,
    }
}

/// A translation as a transform.
pub const fn at(translation: Vec3) -> Transform {
    Transform {
        translation,
        ..Transform::IDENTITY
    }
}

/// A transform of a translation, a rotation and a scale.
pub const fn transform(translation: Vec3, rotation: Quat, scale: Vec3) -> Transform {
    Transform {
        translation,
        rotation,
        scale,
    }
}

/// A skin without a name. Without matrices, the rest pose is bound.
pub fn skin(joints: impl IntoIterator<Item = usize>, inverse_bind: Vec<Mat4>) -> RawSkin {
    RawSkin {
        joints: joints.into_iter().collect(),
        inverse_bind,
        ..RawSkin::default()
    }
}

/// Morph weights of a node, whose targets have no names.
pub fn morph(node: usize, owner: impl Into<Box<str>>, weights: Vec<f32>) -> RawMorph {
    RawMorph {
        node,
        owner: owner.into(),
        weights,
        names: Vec::new(),
    }
}

/// A track of a joint.
pub fn track(joint: impl Into<Id<Joint>>, values: TrackValues) -> Track {
    Track {
        joint: joint.into(),
        values,
    }
}

/// A channel of linear keys.
pub fn linear(node: usize, times_s: impl Into<Vec<f32>>, values: RawKeys) -> RawChannel {
    RawChannel {
        node,
        times_s: times_s.into(),
        interpolation: Interpolation::Linear,
        values,
    }
}

/// An animation without events.
pub fn animation(name: impl Into<Box<str>>, channels: Vec<RawChannel>) -> RawAnimation {
    RawAnimation {
        name: name.into(),
        channels,
        ..RawAnimation::default()
    }
}

/// A morph target that moves vertices, without normals and tangents.
pub fn moves(positions: Vec<Vec3>, vertices: Vec<u32>) -> MorphTarget {
    MorphTarget {
        vertices,
        positions,
        normals: Vec::new(),
        tangents: Vec::new(),
    }
}
