//! Code shared by the benches: generated characters, interleaved timing, machine description.

pub(crate) mod machine;
mod skeleton;
pub(crate) mod timing;

use std::f32::consts::TAU;
use throng::character::Character;
use throng::clip::Interpolation;
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{
    ImportOptions, RawAnimation, RawChannel, RawCharacter, RawKeys, RawNode, RawPrimitive, RawSkin,
};
use throng::skeleton::Transform;

/// Keys per second of the clip, as most exporters bake them.
const KEYS_HZ: usize = 30;
/// Amplitude of a joint's rotation to either side, in radians.
const SWING: f32 = 0.6;

/// A character of `joints` joints, and as many palette entries.
///
/// It has one clip of one second, with linear rotation keys at 30 Hz on every joint, and
/// translation keys on the root.
///
/// # Errors
/// None in practice, because the input is valid.
pub(crate) fn character(joints: usize) -> throng::Result<Character> {
    let places = skeleton::joints(joints);
    let raw = RawCharacter {
        name: format!("{joints} joints").into(),
        nodes: places.iter().map(node).collect(),
        skins: vec![skin(&places)],
        primitives: vec![triangles(&places)],
        animations: vec![animation(&places)],
        ..RawCharacter::default()
    };
    Ok(raw.build(&ImportOptions::default())?.character)
}

fn node(place: &skeleton::Place) -> RawNode {
    RawNode {
        name: place.name.clone().into(),
        parent: place.parent,
        transform: Transform {
            translation: place.offset,
            ..Transform::IDENTITY
        },
        matrix: None,
    }
}

fn skin(places: &[skeleton::Place]) -> RawSkin {
    let inverse_bind = |place: &skeleton::Place| Mat4::from_translation(-place.position);
    RawSkin {
        joints: (0..places.len()).collect(),
        inverse_bind: places.iter().map(inverse_bind).collect(),
        ..RawSkin::default()
    }
}

/// A triangle around each joint, bound to that joint only, so that the palette has all joints.
fn triangles(places: &[skeleton::Place]) -> RawPrimitive {
    let corners = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * 0.02);
    let vertices = places.len() * corners.len();
    let around = |place: &skeleton::Place| corners.map(|corner| place.position + corner);
    RawPrimitive {
        skin: Some(0),
        positions: places.iter().flat_map(around).collect(),
        normals: vec![Vec3::ONE.normalize(); vertices],
        influences_per_vertex: 1,
        joints: (0..vertices as u32).map(|vertex| vertex / 3).collect(),
        weights: vec![1.0; vertices],
        indices: (0..vertices as u32).collect(),
        ..RawPrimitive::default()
    }
}

fn animation(places: &[skeleton::Place]) -> RawAnimation {
    let root = RawKeys::Translation(
        phases()
            .map(|phase| Vec3::new(0.0, 0.04 * (2.0 * phase).sin(), 0.1 * phase.sin()))
            .collect(),
    );
    let rotations = (0..places.len()).map(|joint| channel(joint, rotation_keys(joint)));
    RawAnimation {
        name: "Swing".into(),
        channels: std::iter::once(channel(0, root)).chain(rotations).collect(),
        ..RawAnimation::default()
    }
}

/// Rotation keys for a joint, about its own axis and with its own phase.
fn rotation_keys(joint: usize) -> RawKeys {
    let turn = joint as f32;
    let axis = Vec3::new(turn.sin(), (1.7 * turn).cos(), (0.6 * turn).cos() + 0.1).normalize();
    let at = |phase: f32| Quat::from_axis_angle(axis, SWING * (phase + turn).sin());
    RawKeys::Rotation(phases().map(at).collect())
}

/// The angle of a cycle at each key: one cycle over the clip.
fn phases() -> impl Iterator<Item = f32> {
    (0..=KEYS_HZ).map(|key| TAU * key as f32 / KEYS_HZ as f32)
}

fn channel(node: usize, values: RawKeys) -> RawChannel {
    RawChannel {
        node,
        times_s: (0..=KEYS_HZ)
            .map(|key| key as f32 / KEYS_HZ as f32)
            .collect(),
        interpolation: Interpolation::Linear,
        values,
    }
}
