//! Characters of every method and number of influences, and their vertices by definition in `f64`.

use crate::reference::maths::{M4, V3, normal, point};
use crate::reference::methods::{
    Entry, determinant, direction, dual_quat, linear, quat_offset, wide,
};
use crate::reference::raws;
use crate::reference::raws::animation;
use crate::reference::ribbon::palette_as;
use crate::reference::rng::Rng;
use throng::character::Character;
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawKeys, RawPrimitive};
use throng::mesh::{MorphTarget, Primitive};
use throng::palette::{DualQuat, DualQuatStretch, Mat3x4, QuatOffset, SkinningMethod, WriteOnly};
use throng::skin::Skinner;

const JOINTS: usize = 16;
pub(super) const INFLUENCES: [usize; 5] = [1, 2, 4, 8, 12];
pub(super) const WEIGHTS: usize = 3;

/// The motion of a character's joints, and its skinning method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any scales, one of them negative.
    Linear,
    Dual,
    /// A stretch along the axes.
    Stretch,
    /// A uniform scale.
    Offset,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Linear, Self::Dual, Self::Stretch, Self::Offset];

    pub(super) fn method(self) -> SkinningMethod {
        match self {
            Self::Linear => SkinningMethod::Linear,
            Self::Dual | Self::Stretch => SkinningMethod::DualQuat,
            Self::Offset => SkinningMethod::QuatOffset,
        }
    }

    fn scale(self, joint: usize, rng: &mut Rng) -> Vec3 {
        match self {
            Self::Linear if joint == 3 => Vec3::new(-1.2, 0.8, 0.9),
            Self::Linear | Self::Stretch => rng.vector(0.7, 1.4),
            Self::Dual => Vec3::ONE,
            Self::Offset => Vec3::splat(rng.range(0.7, 1.4)),
        }
    }
}

/// Three primitives: one with normals, tangents and morph targets, one with positions alone, and
/// one with normals.
///
/// The clip `move` rotates each joint by up to a radian. Blends of such dual quaternions keep at
/// least half of their length.
pub(super) fn raw(kind: Kind, influences: usize, vertices: usize, rng: &mut Rng) -> RawCharacter {
    let at = |joint: usize| Vec3::new(joint as f32 * 0.1, (joint % 4) as f32 * 0.2, 0.1);
    let node = |joint: usize| raws::node(format!("joint {joint}"), None, raws::at(at(joint)));
    let mut channels = Vec::new();
    for joint in 0..JOINTS {
        let turn = Quat::from_axis_angle(rng.direction(), rng.range(-1.0, 1.0));
        let to = at(joint) + rng.vector(-0.5, 0.5);
        let scale = kind.scale(joint, rng);
        let keys = [
            RawKeys::Rotation(vec![turn, turn]),
            RawKeys::Translation(vec![at(joint), to]),
            RawKeys::Scale(vec![scale, scale]),
        ];
        channels.extend(keys.map(|values| raws::linear(joint, [0.0, 1.0], values)));
    }
    let mut morphed = primitive(vertices, influences, [true, true], rng);
    morphed.morph = Some(0);
    morphed.targets = (0..WEIGHTS)
        .map(|number| target(vertices, number, rng))
        .collect();
    RawCharacter {
        name: format!("{kind:?} of {influences}").into(),
        nodes: (0..JOINTS).map(node).collect(),
        skins: vec![raws::skin(
            0..JOINTS,
            (0..JOINTS)
                .map(|j| Mat4::from_translation(-at(j)))
                .collect(),
        )],
        primitives: vec![
            morphed,
            primitive(70, influences, [false, false], rng),
            primitive(65, influences, [true, false], rng),
        ],
        animations: vec![animation("move", channels)],
        morphs: vec![raws::morph(0, "", vec![0.25, 0.0, 0.0])],
        ..RawCharacter::default()
    }
}

pub(super) fn character(kind: Kind, influences: usize, rng: &mut Rng) -> Character {
    sized(kind, influences, 150, rng)
}

/// The same with this many vertices in the first primitive.
pub(super) fn sized(kind: Kind, influences: usize, vertices: usize, rng: &mut Rng) -> Character {
    let made = raw(kind, influences, vertices, rng).build(&ImportOptions {
        curves: true,
        ..ImportOptions::default()
    });
    let character = made.unwrap().character;
    assert_eq!(character.vertex_count(), vertices + 70 + 65);
    assert_eq!(character.morph_weights().len(), WEIGHTS);
    character
}

fn primitive(
    vertices: usize,
    influences: usize,
    [normals, tangents]: [bool; 2],
    rng: &mut Rng,
) -> RawPrimitive {
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for vertex in 0..vertices {
        let used = if vertex % 2 == 0 {
            influences
        } else {
            1 + rng.below(influences)
        };
        let first = rng.below(JOINTS);
        for number in 0..influences {
            joints.push(((first + number) % JOINTS) as u32);
            let weight = rng.range(0.1, 1.0);
            weights.push(if number < used { weight } else { 0.0 });
        }
    }
    let count = |wanted: bool| if wanted { vertices } else { 0 };
    let normals: Vec<Vec3> = (0..count(normals)).map(|_| rng.direction()).collect();
    let sign = |at: usize| if at.is_multiple_of(3) { -1.0 } else { 1.0 };
    let across = |(at, normal): (usize, &Vec3)| normal.any_orthonormal_vector().extend(sign(at));
    RawPrimitive {
        skin: Some(0),
        positions: (0..vertices).map(|_| rng.vector(-1.0, 1.0)).collect(),
        tangents: normals
            .iter()
            .enumerate()
            .map(across)
            .take(count(tangents))
            .collect(),
        normals,
        influences_per_vertex: influences,
        joints,
        weights,
        indices: (0..vertices as u32 - 2)
            .flat_map(|v| [v, v + 1, v + 2])
            .collect(),
        ..RawPrimitive::default()
    }
}

/// A target that moves some vertices. One of the targets leaves normals and tangents alone.
fn target(vertices: usize, number: usize, rng: &mut Rng) -> MorphTarget {
    let own: Vec<u32> = (0..vertices as u32).filter(|_| rng.chance(3)).collect();
    let directions = if number == 1 { 0 } else { own.len() };
    let mut list =
        |count: usize| -> Vec<Vec3> { (0..count).map(|_| rng.vector(-0.3, 0.3)).collect() };
    MorphTarget {
        positions: list(own.len()),
        normals: list(directions),
        tangents: list(directions),
        vertices: own,
    }
}

/// A palette in the format of a kind.
pub(super) enum Palette {
    Linear(Vec<Mat3x4>),
    Dual(Vec<DualQuat>),
    Stretch(Vec<DualQuatStretch>),
    Offset(Vec<QuatOffset>),
}

impl Palette {
    pub(super) fn new(kind: Kind, character: &Character, clip: Option<(usize, f64)>) -> Self {
        match kind {
            Kind::Linear => Self::Linear(palette_as(character, clip)),
            Kind::Dual => Self::Dual(palette_as(character, clip)),
            Kind::Stretch => Self::Stretch(palette_as(character, clip)),
            Kind::Offset => Self::Offset(palette_as(character, clip)),
        }
    }

    /// The words of an instance from the CPU implementation.
    pub(super) fn skin(&self, skinner: &Skinner, weights: &[f32]) -> Vec<f32> {
        let mut words = vec![0.0; skinner.layout().words as usize];
        let out = WriteOnly::from(&mut words);
        let skinned = match self {
            Self::Linear(list) => skinner.skin(list, weights, out),
            Self::Dual(list) => skinner.skin(list, weights, out),
            Self::Stretch(list) => skinner.skin(list, weights, out),
            Self::Offset(list) => skinner.skin(list, weights, out),
        };
        skinned.unwrap();
        words
    }
}

/// A vertex by definition: its position, normal and tangent, and the bitangent's sign.
///
/// Normal and tangent are there if the primitive has them and the pose leaves them a direction.
pub(super) struct Vertex {
    pub(super) position: V3,
    pub(super) normal: Option<V3>,
    pub(super) tangent: Option<V3>,
    pub(super) sign: f64,
}

/// The vertices of a primitive, given the skinning matrices and all morph weights.
pub(super) fn reference(
    kind: Kind,
    character: &Character,
    primitive: &Primitive,
    matrices: &[Mat3x4],
    weights: &[f32],
) -> Vec<Vertex> {
    let range = character.palette_range(primitive);
    let entries = matrices[range].iter().map(|m| Entry::new(wide(&m.rows)));
    let entries: Vec<Entry> = entries.collect();
    let vertex = |at: usize| {
        let own = primitive.influences(at);
        let all: Vec<(Entry, f64)> = own.map(|(j, w)| (entries[j], f64::from(w))).collect();
        // The strongest influence takes the remainder of rounding.
        let others: f64 = all[1..].iter().map(|(_, weight)| weight).sum();
        let mut all = all;
        all[0].1 = 1.0 - others;
        let m: M4 = match kind {
            Kind::Linear => linear(&all),
            Kind::Dual => dual_quat(&all, false),
            Kind::Stretch => dual_quat(&all, true),
            Kind::Offset => quat_offset(&all),
        };
        let moved = morphed(primitive, at, weights);
        let tangent = primitive.tangents.get(at);
        Vertex {
            position: point(&m, moved[0]),
            normal: primitive.normals.get(at).and_then(|_| normal(&m, moved[1])),
            tangent: tangent.and_then(|_| direction(&m, moved[2])),
            sign: tangent.map_or(0.0, |t| f64::from(t.w) * determinant(&m).signum()),
        }
    };
    (0..primitive.vertex_count()).map(vertex).collect()
}

/// Position, normal and tangent of a vertex under the morph targets.
fn morphed(primitive: &Primitive, vertex: usize, weights: &[f32]) -> [V3; 3] {
    let wide = |v: Option<Vec3>| v.unwrap_or(Vec3::ZERO).to_array().map(f64::from);
    let tangent = primitive.tangents.get(vertex).map(|t| t.truncate());
    let mut all = [
        wide(primitive.positions.get(vertex).copied()),
        wide(primitive.normals.get(vertex).copied()),
        wide(tangent),
    ];
    let own = weights.iter().skip(primitive.first_weight.index());
    for (target, weight) in primitive.targets.iter().zip(own) {
        let Ok(at) = target.vertices.binary_search(&(vertex as u32)) else {
            continue;
        };
        let deltas = [&target.positions, &target.normals, &target.tangents];
        for (sum, list) in all.iter_mut().zip(deltas) {
            let delta = wide(list.get(at).copied());
            for axis in 0..3 {
                sum[axis] += f64::from(*weight) * delta[axis];
            }
        }
    }
    let unit = |v: V3| {
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 {
            v.map(|x| x / length)
        } else {
            v
        }
    };
    [all[0], unit(all[1]), unit(all[2])]
}
