//! Characters to split.

use crate::reference::raws;
use crate::reference::rng::Rng;
use throng::glam::{Mat4, Vec2, Vec3, Vec4};
use throng::import::{ImportOptions, Imported, RawCharacter, RawPrimitive};
use throng::mesh::MorphTarget;

/// A chain of joints 1 cm apart, and no mesh yet.
fn chain(joints: usize) -> RawCharacter {
    let node = |joint: usize| {
        raws::node(
            format!("joint {joint}"),
            joint.checked_sub(1),
            raws::at(Vec3::Y * if joint == 0 { 0.0 } else { 0.01 }),
        )
    };
    RawCharacter {
        nodes: (0..joints).map(node).collect(),
        skins: vec![raws::skin(
            0..joints,
            (0..joints)
                .map(|joint| Mat4::from_translation(Vec3::NEG_Y * 0.01 * joint as f32))
                .collect(),
        )],
        ..RawCharacter::default()
    }
}

/// A tube along the chain, with `per_joint` rings of `around` vertices for each joint.
///
/// Each vertex follows four neighbouring joints. If the tube is `ragged`, they are random joints
/// within that distance.
pub(super) fn tube(
    joints: usize,
    per_joint: usize,
    around: usize,
    ragged: Option<usize>,
) -> RawPrimitive {
    let mut rng = Rng::new((joints * 31 + per_joint) as u64);
    let rings = joints * per_joint;
    let mut raw = RawPrimitive {
        name: "tube".into(),
        skin: Some(0),
        influences_per_vertex: 4,
        ..RawPrimitive::default()
    };
    for ring in 0..rings {
        for at in 0..around {
            let angle = at as f32 / around as f32 * std::f32::consts::TAU;
            let normal = Vec3::new(angle.cos(), 0.0, angle.sin());
            let height = 0.01 * ring as f32 / per_joint as f32;
            raw.positions.push(normal * 0.02 + Vec3::Y * height);
            raw.normals.push(normal);
            raw.uvs.push(Vec2::new(angle, height));
            let base = ring / per_joint;
            for slot in 0..4 {
                let joint = match ragged {
                    None => base + slot,
                    Some(reach) => base + rng.below(reach),
                };
                raw.joints.push(joint.min(joints - 1) as u32);
                raw.weights.push(rng.range(-0.3, 1.0).max(0.0));
            }
        }
    }
    for ring in 0..rings - 1 {
        for at in 0..around {
            let next = (at + 1) % around;
            let corner = |ring: usize, at: usize| (ring * around + at) as u32;
            let [a, b] = [corner(ring, at), corner(ring, next)];
            let [c, d] = [corner(ring + 1, at), corner(ring + 1, next)];
            raw.indices.extend([a, b, c, b, d, c]);
        }
    }
    raw
}

/// Triangles between random vertices, which follow random joints.
pub(super) fn rags(joints: usize, triangles: usize) -> RawPrimitive {
    let mut rng = Rng::new(joints as u64);
    let vertices = triangles.max(3);
    RawPrimitive {
        name: "rags".into(),
        skin: Some(0),
        influences_per_vertex: 2,
        positions: (0..vertices).map(|_| rng.vector(-1.0, 1.0)).collect(),
        joints: (0..vertices * 2)
            .map(|_| rng.below(joints) as u32)
            .collect(),
        weights: (0..vertices * 2).map(|_| rng.range(0.1, 1.0)).collect(),
        indices: (0..triangles * 3)
            .map(|_| rng.below(vertices) as u32)
            .collect(),
        ..RawPrimitive::default()
    }
}

/// A character of the primitives along a chain. Their targets share three morph weights.
pub(super) fn built(joints: usize, primitives: Vec<RawPrimitive>) -> Imported {
    let weights = raws::morph(0, "", vec![0.0; 3]);
    let raw = RawCharacter {
        morphs: vec![weights],
        primitives,
        ..chain(joints)
    };
    raw.build(&ImportOptions::curves_only()).unwrap()
}

/// Adds all other streams, and three targets.
pub(super) fn dressed(mut primitive: RawPrimitive) -> RawPrimitive {
    let count = primitive.positions.len();
    let mut rng = Rng::new(count as u64);
    primitive.tangents = vec![Vec4::new(1.0, 0.0, 0.0, -1.0); count];
    primitive.uvs1 = (0..count).map(|v| Vec2::splat(-(v as f32))).collect();
    primitive.colors = (0..count).map(|v| [v as f32; 4]).collect();
    primitive.morph = Some(0);
    for target in 0..3 {
        let vertices: Vec<u32> = (0..count as u32)
            .filter(|_| rng.chance(3 + target))
            .collect();
        let positions: Vec<Vec3> = vertices.iter().map(|_| rng.vector(-1.0, 1.0)).collect();
        let of = |number| {
            if target == number {
                positions.clone()
            } else {
                Vec::new()
            }
        };
        primitive.targets.push(MorphTarget {
            normals: of(1),
            tangents: of(2),
            positions: positions.clone(),
            vertices,
        });
    }
    primitive
}
