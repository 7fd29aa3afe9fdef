//! The mannequin's file: skeleton, surface and clips.
//!
//! The code that models the mannequin and writes the file is in `tests/reference/mannequin`.

use crate::bytes::{Reader, Save, save_structs};
use crate::clip::Interpolation;
use crate::error::Result;
use crate::import::{
    RawAnimation, RawChannel, RawCharacter, RawKeys, RawLevel, RawNode, RawPrimitive, RawSkin,
};
use crate::skeleton::Transform;
use glam::{Mat4, Quat, Vec3};

static BYTES: &[u8] = include_bytes!("mannequin.bin");

/// Influences per vertex.
const INFLUENCES: usize = 4;

/// The contents of the file.
#[derive(Default)]
pub(super) struct File {
    joints: Vec<Joint>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Linear RGB, and in alpha the strength of an instance's tint.
    paints: Vec<[f32; 4]>,
    /// For each vertex, an index into `paints`.
    painted: Vec<u8>,
    influences: Vec<u8>,
    weights: Vec<f32>,
    indices: Vec<u16>,
    levels: Vec<Level>,
    /// The coarser levels after `levels`.
    far: Vec<Far>,
    clips: Vec<Clip>,
}

struct Joint {
    name: Box<str>,
    parent: Option<usize>,
    rest: Transform,
    inverse_bind: [f32; 16],
}

struct Level {
    indices: Vec<u16>,
    rigid: bool,
    error_m: f32,
    cover: f32,
}

/// A level with vertices of its own, each of which follows one joint.
struct Far {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    colors: Vec<[f32; 4]>,
    joints: Vec<u8>,
    level: Level,
}

struct Clip {
    name: Box<str>,
    times_s: Vec<f32>,
    /// The translations of joint 1, the hips.
    hips: Vec<Vec3>,
    /// For each joint from the hips on, one rotation per key, or one for all of them.
    rotations: Vec<Vec<Quat>>,
}

save_structs! {
    File {
        joints, positions, normals, paints, painted, influences, weights, indices, levels, far,
        clips,
    }
    Joint { name, parent, rest, inverse_bind }
    Level { indices, rigid, error_m, cover }
    Far { positions, normals, colors, joints, level }
    Clip { name, times_s, hips, rotations }
}

pub(super) fn read() -> Result<File> {
    File::load(&mut Reader::within(BYTES, 0..BYTES.len()))
}

impl From<File> for RawCharacter {
    fn from(file: File) -> Self {
        let inverse_bind = file.joints.iter().map(|joint| joint.inverse_bind);
        let skin = RawSkin {
            name: "Mannequin".into(),
            joints: (0..file.joints.len()).collect(),
            inverse_bind: inverse_bind.map(|m| Mat4::from_cols_array(&m)).collect(),
        };
        let paint = |index: &u8| file.paints.get(usize::from(*index)).copied();
        let mut primitive = RawPrimitive {
            name: "Mannequin".into(),
            skin: Some(0),
            material: Some(0),
            colors: file.painted.iter().filter_map(paint).collect(),
            positions: file.positions,
            normals: file.normals,
            influences_per_vertex: INFLUENCES,
            joints: file.influences.into_iter().map(u32::from).collect(),
            weights: file.weights,
            indices: wide(&file.indices),
            levels: file.levels.iter().map(level).collect(),
            ..RawPrimitive::default()
        };
        let (near, far) = (primitive.levels.len(), &file.far);
        primitive
            .levels
            .extend(far.iter().map(|far| empty(&far.level)));
        let own = (0..).zip(far).map(|(number, of)| {
            let levels = file.levels.iter().chain(far.iter().map(|far| &far.level));
            let mut levels: Vec<RawLevel> = levels.map(empty).collect();
            levels[near + number] = level(&of.level);
            RawPrimitive {
                name: "far".into(),
                skin: Some(0),
                material: Some(0),
                colors: of.colors.clone(),
                positions: of.positions.clone(),
                normals: of.normals.clone(),
                influences_per_vertex: 1,
                joints: of.joints.iter().copied().map(u32::from).collect(),
                weights: vec![1.0; of.joints.len()],
                levels,
                ..RawPrimitive::default()
            }
        });
        let primitives: Vec<RawPrimitive> = own.collect();
        let primitives = [primitive].into_iter().chain(primitives);
        Self {
            nodes: file.joints.into_iter().map(node).collect(),
            skins: vec![skin],
            primitives: primitives.collect(),
            animations: file.clips.into_iter().map(animation).collect(),
            ..Self::default()
        }
    }
}

fn wide(indices: &[u16]) -> Vec<u32> {
    indices.iter().copied().map(u32::from).collect()
}

fn node(joint: Joint) -> RawNode {
    RawNode {
        name: joint.name,
        parent: joint.parent,
        transform: joint.rest,
        matrix: None,
    }
}

fn level(level: &Level) -> RawLevel {
    RawLevel {
        indices: wide(&level.indices),
        rigid: level.rigid,
        error_m: Some(level.error_m),
        ..empty(level)
    }
}

/// A level at which a primitive is not drawn.
fn empty(level: &Level) -> RawLevel {
    RawLevel {
        error_m: Some(0.0),
        cover: Some(level.cover),
        ..RawLevel::default()
    }
}

fn animation(clip: Clip) -> RawAnimation {
    let channel = |node, keys, values| RawChannel {
        node,
        times_s: clip.times_s.iter().take(keys).copied().collect(),
        interpolation: Interpolation::Linear,
        values,
    };
    let hips = channel(1, clip.hips.len(), RawKeys::Translation(clip.hips));
    let rotations = clip.rotations.into_iter().zip(1..);
    let rotations =
        rotations.map(|(keys, joint)| channel(joint, keys.len(), RawKeys::Rotation(keys)));
    RawAnimation {
        name: clip.name,
        channels: [hips].into_iter().chain(rotations).collect(),
        ..RawAnimation::default()
    }
}
