//! Parts of raw characters, with what most of them have.

use throng::clip::Interpolation;
use throng::glam::Vec3;
use throng::import::{RawAnimation, RawChannel, RawKeys, RawNode};
use throng::mesh::MorphTarget;
use throng::skeleton::Transform;

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
