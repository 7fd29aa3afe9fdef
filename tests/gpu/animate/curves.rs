//! Clips with all kinds of curves, of joints and of morph weights.

use super::{compare, equipped};
use crate::glam::{Mat4, Quat, Vec3};
use crate::reference::raws;
use crate::reference::rng::Rng;
use crate::support;
use throng::Id;
use throng::character::Character;
use throng::clip::{ClipOptions, Interpolation};
use throng::import::{ImportOptions, RawChannel, RawCharacter, RawKeys, RawPrimitive};
use throng::mesh::{Expression, ExpressionOverride};
use throng::palette::SkinningMethod;

const JOINTS: usize = 5;
const CLIPS: usize = 6;
/// Morph weights of two meshes: more than a workgroup has lanes, and a few.
const WEIGHTS: [usize; 2] = [70, 3];
const KINDS: [Interpolation; 3] = [
    Interpolation::Step,
    Interpolation::Linear,
    Interpolation::CubicSpline,
];

/// Times at which nothing is exact, up to `end_s`.
fn times_s(end_s: f32, rng: &mut Rng) -> Vec<f32> {
    let mut times_s = vec![rng.range(0.0, 0.2)];
    while times_s.len() < 3 || (rng.below(9) > 0 && times_s[times_s.len() - 1] < end_s) {
        times_s.push(times_s[times_s.len() - 1] + rng.range(0.01, 0.4));
    }
    times_s
}

/// A channel of values that `one` makes.
fn channel<T>(
    node: usize,
    rng: &mut Rng,
    mut one: impl FnMut(&mut Rng) -> T,
    keys: fn(Vec<T>) -> RawKeys,
) -> RawChannel {
    let (times_s, interpolation) = (times_s(2.0, rng), KINDS[rng.below(3)]);
    let rows = match interpolation {
        Interpolation::CubicSpline => 3,
        _ => 1,
    };
    let values = (0..times_s.len() * rows).map(|_| one(rng)).collect();
    RawChannel {
        node,
        times_s,
        interpolation,
        values: keys(values),
    }
}

/// Morph weights of a node, `count` of them.
fn weights(node: usize, count: usize, rng: &mut Rng) -> RawChannel {
    let mut made = channel(
        node,
        rng,
        |rng| -> Vec<f32> {
            let value = |_| [0.0, rng.range(0.0, 1.0)][rng.below(2)];
            (0..count).map(value).collect()
        },
        |rows| RawKeys::Weights(rows.into_iter().flatten().collect()),
    );
    // A clip that is short may have them at even times.
    if rng.chance(3) {
        made.interpolation = Interpolation::Linear;
        made.times_s = (0..made.times_s.len())
            .map(|key| 0.1 * key as f32)
            .collect();
        if let RawKeys::Weights(values) = &mut made.values {
            values.truncate(made.times_s.len() * count);
        }
    }
    made
}

fn character(seed: u64, options: &ImportOptions) -> Character {
    let rng = &mut Rng::new(seed);
    let node = |number: usize| {
        raws::node(
            format!("node {number}"),
            number.checked_sub(1).filter(|_| number < JOINTS),
            raws::at(Vec3::Y * 0.2),
        )
    };
    let positions: Vec<Vec3> = (0..=JOINTS)
        .map(|at| Vec3::new(0.1, 0.2 * at as f32, 0.0))
        .collect();
    let primitive = |morph: usize| RawPrimitive {
        skin: Some(0),
        node: JOINTS + morph,
        positions: positions.clone(),
        normals: vec![Vec3::X; positions.len()],
        influences_per_vertex: 1,
        joints: (0..positions.len())
            .map(|at| at.min(JOINTS - 1) as u32)
            .collect(),
        weights: vec![1.0; positions.len()],
        indices: vec![0, 1, 2, 3, 4, 5],
        morph: Some(morph),
        targets: (0..WEIGHTS[morph])
            .map(|target| {
                raws::moves(
                    vec![Vec3::Z * 0.01],
                    vec![(target % positions.len()) as u32],
                )
            })
            .collect(),
        ..RawPrimitive::default()
    };
    let morph = |number: usize| {
        raws::morph(
            JOINTS + number,
            "",
            (0..WEIGHTS[number]).map(|at| [0.0, 0.25][at % 2]).collect(),
        )
    };
    let animation = |number: usize| {
        let mut channels = Vec::new();
        for joint in 0..JOINTS {
            let angle =
                |rng: &mut Rng| Quat::from_axis_angle(rng.direction(), rng.range(-3.0, 3.0));
            let place = |rng: &mut Rng| rng.vector(-0.3, 0.3);
            let size = |rng: &mut Rng| rng.vector(0.7, 1.3);
            // Splines of rotations may pass through zero, so their tangents are none.
            let mut turn = channel(joint, rng, angle, RawKeys::Rotation);
            if let (Interpolation::CubicSpline, RawKeys::Rotation(keys)) =
                (turn.interpolation, &mut turn.values)
            {
                for key in keys.chunks_exact_mut(3) {
                    (key[0], key[2]) = (Quat::from_array([0.0; 4]), Quat::from_array([0.0; 4]));
                    key[1] = Quat::from_axis_angle(Vec3::Z, rng.range(0.0, 1.5));
                }
            }
            let all = [
                turn,
                channel(joint, rng, place, RawKeys::Translation),
                channel(joint, rng, size, RawKeys::Scale),
            ];
            channels.extend(all.into_iter().filter(|_| rng.below(4) > 0));
        }
        if number != 1 {
            channels.extend((0..2).map(|mesh| weights(JOINTS + mesh, WEIGHTS[mesh], rng)));
        }
        raws::animation(format!("clip {number}"), channels)
    };
    let raw = RawCharacter {
        name: "curves".into(),
        animations: (0..CLIPS).map(animation).collect(),
        nodes: (0..JOINTS + 2).map(node).collect(),
        skins: vec![raws::skin(0..JOINTS, vec![Mat4::IDENTITY; JOINTS])],
        primitives: (0..2).map(primitive).collect(),
        morphs: (0..2).map(morph).collect(),
        ..RawCharacter::default()
    };
    raw.build(options).unwrap().character
}

#[test]
fn all_kinds_of_curves() {
    support::each(|setup| {
        for (seed, error_m) in [(1, None), (2, Some(1e-7)), (3, Some(1e-5))] {
            let made = equipped(|options| {
                let packing = Some(ClipOptions {
                    error_m,
                    ..ClipOptions::default()
                });
                let options = ImportOptions {
                    packing,
                    ..options.clone()
                };
                character(seed, &options)
            });
            // One that shares a weight with another, and one that takes from it.
            let expressions = vec![
                Expression::new("aa", vec![(Id::new(0), 0.7), (Id::new(2), -0.4)]),
                Expression {
                    mouth: ExpressionOverride::Blend,
                    ..Expression::new("happy", vec![(Id::new(2), 0.3)])
                },
            ];
            let made = made.with_expressions(expressions).unwrap();
            let kept = made.clips().iter().map(|clip| clip.report().kept_tracks);
            assert!(kept.sum::<usize>() >= CLIPS);
            let name = format!("curves {seed}");
            for method in [SkinningMethod::Linear, SkinningMethod::QuatOffset] {
                compare(setup, &name, &made, method);
            }
        }
    });
}
