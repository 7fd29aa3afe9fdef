//! A small character for tests of single stages.
//!
//! It is a chain of joints one metre apart along +Y. Each joint has its own vertex, and there is
//! one vertex between each two joints.

use crate::raws;
use crate::raws::at;
use throng::character::{AdditiveDesc, AnimationDesc, Character, PoseReference};
use throng::clip::{CurveClip, Keys, TrackValues};
use throng::glam::{Mat4, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawNode, RawPrimitive, RawSkin};
use throng::skeleton::{Skeleton, Transform};

/// Joints one metre apart along +Y, each the child of the one before, and their skin.
pub fn joints(count: usize) -> (Vec<RawNode>, RawSkin) {
    let node = |index: usize| {
        raws::node(
            format!("joint {index}"),
            index.checked_sub(1),
            at(if index > 0 { Vec3::Y } else { Vec3::ZERO }),
        )
    };
    let inverse_bind = |index: usize| Mat4::from_translation(Vec3::NEG_Y * index as f32);
    let skin = raws::skin(0..count, (0..count).map(inverse_bind).collect());
    ((0..count).map(node).collect(), skin)
}

/// A chain whose clips are packed, and kept as curves.
pub fn chain(joints: usize) -> Character {
    chain_with(
        joints,
        &ImportOptions {
            curves: true,
            ..ImportOptions::default()
        },
    )
}

/// A chain whose clips are kept as curves only.
pub fn unpacked_chain(joints: usize) -> Character {
    chain_with(joints, &ImportOptions::curves_only())
}

fn chain_with(joints: usize, options: &ImportOptions) -> Character {
    // Tests know the vertices by their indices.
    let options = &ImportOptions {
        keep_order: true,
        ..options.clone()
    };
    let (nodes, skin) = self::joints(joints);
    let vertices = 2 * joints - 1;
    let next = |vertex: usize| vertex / 2 + vertex % 2;
    let raw = RawCharacter {
        nodes,
        skins: vec![skin],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..vertices)
                .map(|v| Vec3::new(0.25, 0.5 * v as f32, 0.0))
                .collect(),
            normals: vec![Vec3::X; vertices],
            influences_per_vertex: 2,
            joints: (0..vertices)
                .flat_map(|v| [v / 2, next(v)])
                .map(|j| j as u32)
                .collect(),
            weights: vec![0.5; vertices * 2],
            indices: (0..vertices as u32).flat_map(|v| [v, v, v]).collect(),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(options).unwrap().character
}

/// A clip for [`chain`] with one track, on its first joint.
pub fn clip(values: TrackValues) -> CurveClip {
    CurveClip::new("clip", vec![raws::track(0, values)], chain(1).skeleton()).unwrap()
}

pub fn keys<T: Clone>(
    interpolation: throng::clip::Interpolation,
    times_s: impl AsRef<[f32]>,
    values: impl AsRef<[T]>,
) -> Keys<T> {
    Keys {
        times_s: times_s.as_ref().to_vec(),
        values: values.as_ref().to_vec(),
        interpolation,
    }
}

/// A clip that holds a local pose of the skeleton.
pub fn held(skeleton: &Skeleton, pose: &[Transform]) -> CurveClip {
    let tracks = pose.iter().enumerate().flat_map(|(joint, local)| {
        let linear = throng::clip::Interpolation::Linear;
        let values = [
            TrackValues::Translation(keys(linear, [0.0], [local.translation])),
            TrackValues::Rotation(keys(linear, [0.0], [local.rotation])),
            TrackValues::Scale(keys(linear, [0.0], [local.scale])),
        ];
        values.map(|values| raws::track(joint as u16, values))
    });
    CurveClip::new("held", tracks.collect(), skeleton).unwrap()
}

/// The last clip of a character as its difference from a reference.
pub fn additive(character: Character, reference: PoseReference) -> throng::Result<Character> {
    let curves = character.curves();
    let clip = curves.last().map_or("", CurveClip::name).into();
    let desc = AnimationDesc {
        additive: vec![AdditiveDesc {
            name: None,
            clip,
            reference,
        }],
        ..AnimationDesc::default()
    };
    character.with_animation(&desc)
}
