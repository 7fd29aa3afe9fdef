//! Random characters with unusual properties.
//!
//! They have irregular hierarchies, mirrored and uneven scales, shared joints, rigid parts, and all
//! kinds of curves.

use super::rng::Rng;
use crate::raws;
use throng::clip::Interpolation;
use throng::glam::{Mat4, Quat, Vec3, Vec4};
use throng::import::{
    RawAnimation, RawChannel, RawCharacter, RawKeys, RawMorph, RawNode, RawPrimitive, RawSkin,
};
use throng::mesh::MorphTarget;

pub fn character(seed: u64) -> RawCharacter {
    let mut rng = Rng::new(seed);
    let nodes = nodes(&mut rng);
    let skins: Vec<RawSkin> = (0..1 + rng.below(2))
        .map(|_| skin(&mut rng, nodes.len()))
        .collect();
    let primitives = (0..2 + rng.below(3)).map(|number| {
        let skin = (!rng.chance(3)).then(|| rng.below(skins.len()));
        primitive(&mut rng, number, nodes.len(), skin, &skins)
    });
    let primitives = primitives.collect();
    let animations = (0..2).map(|_| animation(&mut rng, nodes.len())).collect();
    RawCharacter {
        name: format!("random character {seed}").into(),
        nodes,
        skins,
        primitives,
        animations,
        ..RawCharacter::default()
    }
}

/// A random character with morph targets, weights at rest and curves for them.
pub fn morphing(seed: u64) -> RawCharacter {
    let mut raw = character(seed);
    let rng = &mut Rng::new(!seed);
    for node in 0..raw.nodes.len().min(4) {
        let count = 1 + rng.below(6);
        raw.morphs.push(RawMorph {
            node,
            owner: format!("morph {node}").into(),
            weights: (0..count)
                .map(|_| {
                    if rng.chance(2) {
                        0.0
                    } else {
                        rng.range(-0.5, 1.0)
                    }
                })
                .collect(),
            names: (0..rng.below(count + 1))
                .map(|at| format!("target {at}").into())
                .collect(),
        });
    }
    for primitive in &mut raw.primitives {
        let morph = rng.below(raw.morphs.len());
        primitive.morph = Some(morph);
        primitive.targets = (0..raw.morphs[morph].weights.len())
            .map(|_| target(rng, primitive))
            .collect();
    }
    for animation in &mut raw.animations {
        for morph in &raw.morphs {
            if rng.chance(3) {
                continue;
            }
            let mut channel = channel(rng, morph.node, 0);
            let RawKeys::Translation(keys) = &channel.values else {
                unreachable!("asked for a translation");
            };
            let values = keys.len() * morph.weights.len();
            channel.values = RawKeys::Weights((0..values).map(|_| rng.range(-0.5, 1.0)).collect());
            animation.channels.push(channel);
        }
    }
    raw
}

fn target(rng: &mut Rng, primitive: &RawPrimitive) -> MorphTarget {
    let vertices = 0..primitive.positions.len() as u32;
    let vertices: Vec<u32> = vertices.filter(|_| rng.chance(3)).collect();
    let deltas = |rng: &mut Rng, reach: f32| {
        let deltas = vertices.iter().map(|_| rng.vector(-reach, reach));
        deltas.collect::<Vec<_>>()
    };
    MorphTarget {
        positions: deltas(rng, 0.5),
        normals: if primitive.normals.is_empty() || rng.chance(3) {
            Vec::new()
        } else {
            deltas(rng, 0.3)
        },
        tangents: Vec::new(),
        vertices,
    }
}

/// A tree in no particular order: children may come before their parents.
fn nodes(rng: &mut Rng) -> Vec<RawNode> {
    let count = 4 + rng.below(28);
    let mut place: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        place.swap(at, rng.below(at + 1));
    }
    let mut nodes = vec![None; count];
    for at in 0..count {
        let parent = (at > 0 && !rng.chance(12)).then(|| place[rng.below(at)]);
        let transform = raws::transform(rng.vector(-0.5, 0.5), rng.rotation(), scale(rng));
        nodes[place[at]] = Some(raws::node(
            ["", "arm", "leg"][rng.below(3)],
            parent,
            transform,
        ));
    }
    nodes.into_iter().flatten().collect()
}

fn scale(rng: &mut Rng) -> Vec3 {
    let mut scale = rng.vector(0.8, 1.2);
    for axis in 0..3 {
        if rng.chance(10) {
            scale[axis] = -scale[axis];
        }
        if rng.chance(60) {
            scale[axis] = 0.0;
        }
    }
    scale
}

fn skin(rng: &mut Rng, nodes: usize) -> RawSkin {
    let joints: Vec<usize> = (0..2 + rng.below(nodes - 2))
        .map(|_| rng.below(nodes))
        .collect();
    let bind = |_: &usize| {
        Mat4::from_scale_rotation_translation(scale(rng), rng.rotation(), rng.vector(-0.5, 0.5))
    };
    RawSkin {
        name: "skin".into(),
        inverse_bind: joints.iter().map(bind).collect(),
        joints,
    }
}

fn primitive(
    rng: &mut Rng,
    number: usize,
    nodes: usize,
    skin: Option<usize>,
    skins: &[RawSkin],
) -> RawPrimitive {
    let vertices = 3 + rng.below(40);
    let per_vertex = if skin.is_some() { 1 + rng.below(9) } else { 0 };
    let joints = skin.map_or(1, |skin| skins[skin].joints.len());
    let influences = vertices * per_vertex;
    let normals = !rng.chance(4);
    RawPrimitive {
        name: format!("part {number}").into(),
        mesh: number,
        node: rng.below(nodes),
        skin,
        positions: (0..vertices).map(|_| rng.vector(-1.0, 1.0)).collect(),
        normals: (0..vertices)
            .filter(|_| normals)
            .map(|_| rng.direction())
            .collect(),
        influences_per_vertex: per_vertex,
        joints: (0..influences).map(|_| rng.below(joints) as u32).collect(),
        weights: (0..influences)
            .map(|_| (rng.range(-0.3, 1.0)).max(0.0))
            .collect(),
        indices: (0..3 * (1 + rng.below(60)))
            .map(|_| rng.below(vertices) as u32)
            .collect(),
        ..RawPrimitive::default()
    }
}

fn animation(rng: &mut Rng, nodes: usize) -> RawAnimation {
    let mut channels = Vec::new();
    for node in 0..nodes {
        for path in 0..3 {
            if rng.chance(3) {
                channels.push(channel(rng, node, path));
            }
        }
    }
    raws::animation("moves", channels)
}

fn channel(rng: &mut Rng, node: usize, path: usize) -> RawChannel {
    let curves = [
        Interpolation::Step,
        Interpolation::Linear,
        Interpolation::CubicSpline,
    ];
    let interpolation = curves[rng.below(3)];
    let cubic = interpolation == Interpolation::CubicSpline;
    let count = 1 + rng.below(8);
    let mut time = rng.range(0.0, 1.0);
    let times_s: Vec<f32> = (0..count)
        .map(|_| {
            time += rng.range(0.01, 1.0);
            time
        })
        .collect();
    let values = match path {
        0 => RawKeys::Translation(spread(count, cubic, || rng.vector(-0.5, 0.5))),
        1 => RawKeys::Rotation(rotations(rng, count, cubic)),
        _ => RawKeys::Scale(spread(count, cubic, || scale(rng))),
    };
    RawChannel {
        node,
        times_s,
        interpolation,
        values,
    }
}

fn spread(count: usize, cubic: bool, value: impl FnMut() -> Vec3) -> Vec<Vec3> {
    let per_key = if cubic { 3 } else { 1 };
    std::iter::repeat_with(value)
        .take(count * per_key)
        .collect()
}

/// Rotation keys up to half a turn apart, on either side of the sphere.
///
/// The keys of a spline are within a right angle on the sphere and gently curved, so that the
/// spline stays away from zero.
fn rotations(rng: &mut Rng, count: usize, cubic: bool) -> Vec<Quat> {
    let mut before = rng.rotation();
    let mut list = Vec::new();
    for _ in 0..count {
        let mut key = rng.rotation();
        if cubic {
            if key.dot(before) < 0.0 {
                key = -key;
            }
            let tangent = |rng: &mut Rng| {
                Quat::from_vec4(Vec4::from_array([0; 4].map(|_| rng.range(-0.5, 0.5))))
            };
            list.extend([tangent(rng), key, tangent(rng)]);
        } else {
            list.push(key);
        }
        before = key;
    }
    list
}
