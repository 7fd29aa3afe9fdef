//! `ImportOptions::max_influences`: the influences that stay, and the reported loss.

use crate::reference::maths::{V3, distance, point};
use crate::reference::poser::Poser;
use crate::reference::raws;
use crate::reference::raws::{animation, linear};
use crate::reference::scene::{Part, Scene};
use crate::reference::sweep::is_thorough;
use crate::reference::words::Says;
use crate::reference::{assets, compare, gltf, raw};
use throng::character::Character;
use throng::error::ArgumentFault;
use throng::glam::{Mat4, Quat, Vec3};
use throng::import::{
    ImportOptions, Imported, InfluenceLoss, RawChannel, RawCharacter, RawKeys, RawPrimitive,
    RepairKind,
};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skin::PosedVertices;
use throng::{Error, Id};

fn limited(limit: impl Into<Option<u32>>) -> ImportOptions {
    ImportOptions {
        max_influences: limit.into(),
        ..compare::in_file_order()
    }
}

fn turn(node: usize, angle: f32) -> RawChannel {
    let turned = Quat::from_rotation_z(angle);
    linear(
        node,
        [0.0, 1.0, 2.0],
        RawKeys::Rotation(vec![Quat::IDENTITY, turned, Quat::IDENTITY]),
    )
}

/// Four joints at the origin, and a triangle of 2 m. The last joint turns in a clip.
fn star(weights: [f32; 4], angle: f32) -> RawCharacter {
    let node = |parent| raws::node("joint", parent, throng::skeleton::Transform::IDENTITY);
    RawCharacter {
        nodes: vec![node(None), node(Some(0)), node(Some(0)), node(Some(0))],
        skins: vec![raws::skin([3, 2, 1, 0], vec![Mat4::IDENTITY; 4])],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: vec![Vec3::ZERO, Vec3::X * 2.0, Vec3::Z],
            influences_per_vertex: 4,
            joints: [3, 2, 1, 0].repeat(3),
            weights: weights.repeat(3),
            indices: vec![0, 1, 2],
            ..RawPrimitive::default()
        }],
        animations: vec![animation("turn", vec![turn(3, angle)])],
        ..RawCharacter::default()
    }
}

#[test]
fn a_limit_out_of_range_is_refused() {
    for limit in [0, 257, u32::MAX] {
        let error = star([0.25; 4], 1.0).build(&limited(limit)).unwrap_err();
        let why = ArgumentFault::OutOfRange {
            value: limit.into(),
            min: 1.0,
            max: 256.0,
        };
        let what = "max_influences";
        assert_eq!(error, Error::Argument { what, why });
    }
}

#[test]
fn a_limit_that_nothing_exceeds_costs_nothing() {
    let free = star([0.4, 0.3, 0.2, 0.1], 1.0)
        .build(&limited(None))
        .unwrap();
    assert_eq!(free.influence_loss, None);
    for limit in [4, 5, 256] {
        let same = star([0.4, 0.3, 0.2, 0.1], 1.0)
            .build(&limited(limit))
            .unwrap();
        assert_eq!(same, free);
    }
}

fn kept(imported: &Imported) -> Vec<(u16, u16)> {
    let p = &imported.primitives()[0];
    let weights = &p.weights;
    let one = |(slot, (entry, _)): (usize, (usize, f32))| {
        let weight = weights.get(slot).copied().unwrap_or(u16::MAX);
        (
            imported.palette()[p.palette.start as usize + entry].joint.0,
            weight,
        )
    };
    p.influences(0).enumerate().map(one).collect()
}

#[test]
fn the_strongest_stay_and_sum_to_one() {
    let built = |weights, limit| star(weights, 1.0).build(&limited(limit)).unwrap();
    // Joints 0 to 3 have these weights.
    let uneven = [0.1, 0.4, 0.2, 0.3];
    assert_eq!(kept(&built(uneven, 1)), [(1, 65_535)]);
    // 4/7 and 3/7 of 65,535 are 37,448.57 and 28,086.43.
    assert_eq!(kept(&built(uneven, 2)), [(1, 37_449), (3, 28_086)]);
    // 4/9, 3/9, 2/9: 29,126.67, 21,845, 14,563.33. Three are padded to four.
    assert_eq!(
        kept(&built(uneven, 3)),
        [(1, 29_127), (3, 21_845), (2, 14_563), (1, 0)]
    );
    // Of equal weights, the lower joint stays, although the skin lists them in reverse.
    assert_eq!(kept(&built([0.25; 4], 2)), [(0, 32_768), (1, 32_767)]);
    assert_eq!(kept(&built([0.25; 4], 1)), [(0, 65_535)]);
    let one = built(uneven, 1);
    assert_eq!(one.palette().len(), 1, "an entry that no vertex uses stays");
    assert_eq!(one.repairs.len(), 1);
    assert_eq!(
        (one.repairs[0].kind.clone(), one.repairs[0].count),
        (RepairKind::InfluencesDropped, 3)
    );
    one.repairs[0].says("mesh 0, primitives[0]: weakest influences dropped (3)");
}

#[test]
fn the_loss_is_the_largest_displacement() {
    // Joint 3 has a tenth, and turns to a third of a circle: the vertex 2 m out lies 0.1 of the
    // chord off.
    let angle = std::f32::consts::TAU / 3.0;
    let imported = star([0.5, 0.2, 0.2, 0.1], angle)
        .build(&limited(3))
        .unwrap();
    let loss = imported.influence_loss.unwrap();
    assert_eq!(
        (loss.primitive, loss.clip, loss.time_s),
        (0, Some(Id::new(0)), 1.0)
    );
    assert_eq!(
        imported.primitives()[0].positions[loss.vertex],
        Vec3::X * 2.0
    );
    let chord = 2.0 * 2.0 * f64::from(angle / 2.0).sin();
    // A unit of 1/65,535 of the weights on either side, of a chord of 3.5 m, and the f32 of the
    // pose.
    let bound = chord * 2.0 / 65_535.0;
    assert!(
        (loss.displacement_m - 0.1 * chord).abs() < bound,
        "{loss:?}"
    );
    assert_eq!(loss.vertices, 3);
    assert_eq!(
        loss.poses, 10,
        "rest, three keys, and three times between each two"
    );
}

#[test]
fn very_long_clips_are_sampled_evenly() {
    let mut raw = star([0.5, 0.2, 0.2, 0.1], 0.0);
    let keys = 5000;
    let channel = &mut raw.animations[0].channels[0];
    channel.times_s = (0..keys).map(|key| key as f32).collect();
    // It turns steadily, up to half a circle.
    let angle = |key: u32| key as f32 / keys as f32 * std::f32::consts::PI;
    channel.values =
        RawKeys::Rotation((0..keys).map(|k| Quat::from_rotation_z(angle(k))).collect());
    let loss = raw.build(&limited(3)).unwrap().influence_loss.unwrap();
    assert_eq!(loss.poses, 4097);
    assert_eq!(
        loss.time_s,
        f64::from(keys - 1),
        "the last key is one of them"
    );
}

/// Positions by the crate's own stages.
fn positions(character: &Character, clip: Option<(usize, f64)>) -> Vec<Vec<V3>> {
    let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    let mut poser = Poser::new();
    poser
        .palette(character, clip, WriteOnly::from(&mut palette))
        .unwrap();
    let weights: Vec<f32> = character.morph_weights().iter().map(|w| w.rest).collect();
    let posed = |primitive| {
        let mut out = PosedVertices::default();
        let palette = palette.as_slice();
        character
            .skin_primitive(primitive, palette, &weights, &mut out)
            .unwrap();
        let wide = out.positions.iter().map(|p| p.to_array().map(f64::from));
        wide.collect()
    };
    character.primitives().iter().map(posed).collect()
}

/// The most influences of a vertex.
fn most(character: &Character) -> usize {
    let of_primitive = |p: &throng::mesh::Primitive| {
        let of = |vertex| p.influences(vertex).filter(|i| i.1 > 0.0).count();
        (0..p.vertex_count()).map(of).max()
    };
    let all = character.primitives().iter().filter_map(of_primitive);
    all.max().unwrap_or(0)
}

/// A loss under a limit, and the vertices of each part as pairs (the scene's, the crate's).
struct Limited<'a> {
    limit: u32,
    imported: &'a Imported,
    loss: &'a InfluenceLoss,
    pairs: Vec<Vec<(usize, usize)>>,
}

impl Limited<'_> {
    /// The primitive, the vertex and the displacement of all vertices in a pose.
    ///
    /// `theirs` are the positions of the reference, part by part.
    fn displacements(
        &self,
        pose: Option<(usize, f64)>,
        theirs: &[Vec<V3>],
    ) -> impl Iterator<Item = (usize, usize, f64)> {
        let ours = positions(self.imported, pose);
        let parts = self.pairs.iter().zip(theirs).zip(ours).enumerate();
        parts.flat_map(|(number, ((pairs, theirs), ours))| {
            let off = move |(their, our): &(usize, usize)| {
                (number, *our, distance(theirs[*their], ours[*our]))
            };
            pairs.iter().map(off)
        })
    }
}

/// The positions of all parts in a pose, with the file's own weights.
fn reference(scene: &Scene, pose: Option<(usize, f64)>) -> Vec<Vec<V3>> {
    let globals = scene.globals(pose);
    let of_part = |part: &Part| {
        let matrices = scene.blended(part, &globals);
        let positions = matrices.iter().zip(&part.positions);
        positions.map(|(m, p)| point(m, *p)).collect()
    };
    scene.parts.iter().map(of_part).collect()
}

/// Compares the losses under several limits with the reference.
///
/// Without a limit, a vertex has at most `most` influences.
fn check(name: &str, scene: &Scene, imported: &[(u32, Imported)], most: usize) {
    let size = scene.size();
    // The same as in the reference for poses: rounding of `f32` and of 16-bit weights.
    let rounding = 5e-5 * size;
    let mut limited = Vec::new();
    for (limit, imported) in imported {
        let Some(loss) = &imported.influence_loss else {
            assert!(
                most <= *limit as usize,
                "{name}: {most} influences, and no loss at {limit}"
            );
            continue;
        };
        limited.push(Limited {
            limit: *limit,
            imported,
            loss,
            pairs: compare::vertex_pairs(scene, imported),
        });
    }
    for entry in &limited {
        let (limit, loss) = (entry.limit, entry.loss);
        let pose = loss.clip.map(|clip| (clip.index(), loss.time_s));
        let theirs = reference(scene, pose);
        let that = entry
            .displacements(pose, &theirs)
            .filter(|v| (v.0, v.1) == (loss.primitive, loss.vertex));
        let that = that.map(|v| v.2).fold(0.0, f64::max);
        assert!(
            (that - loss.displacement_m).abs() <= rounding,
            "{name}, {limit}: {loss:?}, the reference says {that}"
        );
    }
    let mut worst = vec![0.0_f64; limited.len()];
    let clips = scene.clips.iter().enumerate();
    let poses = clips.flat_map(|(index, clip)| clip.times().into_iter().map(move |t| (index, t)));
    for pose in poses.map(Some).chain([None]) {
        let theirs = reference(scene, pose);
        for (entry, worst) in limited.iter().zip(&mut worst) {
            let all = entry.displacements(pose, &theirs);
            *worst = all.map(|v| v.2).fold(*worst, f64::max);
        }
    }
    for (Limited { limit, loss, .. }, worst) in limited.iter().zip(worst) {
        println!(
            "{name:24} limit {limit}: {:.3e} of the size lost, {} vertices, {} poses; \
             reference {:.3e}",
            loss.displacement_m / size,
            loss.vertices,
            loss.poses,
            worst / size
        );
        // The reference takes other times between the keys.
        assert!(
            worst <= loss.displacement_m * 1.02 + rounding,
            "{name}, {limit}: {worst} {loss:?}"
        );
    }
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn losses_on_the_assets_agree_with_the_reference() {
    for (number, path) in assets::files().iter().enumerate() {
        let name = path.file_name().unwrap().to_string_lossy();
        let scene = gltf::load(path);
        let most = most(&throng_import::file(path, &limited(None)).unwrap());
        // Every limit for every file takes long.
        let limits = [1, 2, 4].into_iter().enumerate();
        let limits = limits.filter(|(index, _)| is_thorough() || *index == number % 3);
        let all: Vec<_> = limits
            .map(|(_, limit)| (limit, throng_import::file(path, &limited(limit)).unwrap()))
            .collect();
        check(&name, &scene, &all, most);
        for (limit, imported) in all {
            for primitive in imported.primitives() {
                let per_vertex = primitive.influences_per_vertex;
                assert!(per_vertex <= limit);
                for row in primitive.weights.chunks(per_vertex as usize) {
                    assert_eq!(row.iter().map(|w| u32::from(*w)).sum::<u32>(), 65_535);
                }
            }
        }
    }
}

#[test]
fn losses_of_random_characters_agree_with_the_reference() {
    for seed in 0..60 {
        let made = crate::reference::random::character(seed);
        let scene = raw::scene(&made);
        let most = most(&made.clone().build(&limited(None)).unwrap());
        let all = [1, 2, 4].map(|limit| {
            let imported = made.clone().build(&limited(limit)).unwrap();
            (limit, imported)
        });
        check(&format!("random {seed}"), &scene, &all, most);
    }
}
