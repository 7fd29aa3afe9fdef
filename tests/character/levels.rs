//! Levels of detail: their order, and that their errors hold in poses that were not measured.

use crate::reference::rng::Rng;
use crate::reference::surface::Shape;
use crate::reference::sweep::is_thorough;
use crate::reference::words::Says;
use std::collections::BTreeMap;
use throng::builtin;
use throng::character::{Character, LevelInfo};
use throng::clip::{CurveClip, Interpolation, Keys, Track, TrackValues};
use throng::glam::{Affine3A, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawLevel};
use throng::mesh::{JointIndices, Primitive};
use throng::skeleton::Transform;

/// Rounding of 32-bit positions in metres, relative to a character's size.
const ROUNDING: f32 = 2e-6;

/// A random pose: one clip at any time, a blend of two, or an additive clip on the rest pose.
pub(crate) fn random_pose(character: &Character, rng: &mut Rng) -> Vec<Affine3A> {
    let skeleton = character.skeleton();
    let clips = character.clips();
    let local = |rng: &mut Rng| {
        let mut local = skeleton.rest_pose();
        if clips.is_empty() {
            return local;
        }
        let clip = &clips[rng.below(clips.len())];
        let part = f64::from(rng.range(0.0, 1.0));
        clip.sample(clip.duration_s() * part, &mut local).unwrap();
        if clip.is_additive() {
            for (joint, local) in skeleton.joints().iter().zip(&mut local) {
                *local = Transform {
                    translation: joint.rest.translation + local.translation,
                    rotation: joint.rest.rotation * local.rotation,
                    scale: joint.rest.scale * local.scale,
                };
            }
        }
        local
    };
    let (a, b) = (local(rng), local(rng));
    let u = if rng.chance(2) {
        0.0
    } else {
        rng.range(0.0, 1.0)
    };
    let blend = |(a, b): (&Transform, &Transform)| Transform {
        translation: a.translation.lerp(b.translation, u),
        rotation: a.rotation.lerp(b.rotation, u),
        scale: a.scale.lerp(b.scale, u),
    };
    let blended: Vec<Transform> = a.iter().zip(&b).map(blend).collect();
    let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    skeleton.model_pose(&blended, &mut model).unwrap();
    let entries = character.palette().iter();
    let matrix =
        |entry: &throng::mesh::PaletteJoint| model[usize::from(entry.joint)] * entry.inverse_bind;
    entries.map(matrix).collect()
}

/// Skinned positions, with these morph weights. Rigid: each vertex follows one joint.
pub(crate) fn skinned(
    primitive: &Primitive,
    palette: &[Affine3A],
    weights: &[f32],
    rigid: bool,
) -> Vec<Vec3> {
    let mut positions = primitive.positions.clone();
    let first = primitive.first_weight.index();
    for (target, weight) in primitive
        .targets
        .iter()
        .zip(weights.get(first..).unwrap_or(&[]))
    {
        for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
            positions[*vertex as usize] += *delta * *weight;
        }
    }
    let start = primitive.palette.start as usize;
    let skinned = positions.iter().enumerate().map(|(vertex, position)| {
        let image = |joint: usize| palette[start + joint].transform_point3(*position);
        let mut influences = primitive.influences(vertex);
        if rigid {
            return image(influences.next().unwrap().0);
        }
        influences
            .map(|(joint, weight)| image(joint) * weight)
            .sum()
    });
    skinned.collect()
}

/// Checks that no point of the surface is further from a level than its error, and no point of the
/// level from the surface, in random poses.
fn expect_errors_hold(character: &Character, poses: usize, seed: u64) {
    let name = character.name();
    let mut rng = Rng::new(seed);
    let slack = character.rest_bounds().size().max_element() * ROUNDING;
    let mut near: BTreeMap<(usize, usize, bool), Vec<usize>> = BTreeMap::new();
    for _ in 0..poses {
        let palette = random_pose(character, &mut rng);
        let weights: Vec<f32> = character
            .morph_weights()
            .iter()
            .map(|_| {
                if rng.chance(3) {
                    0.0
                } else {
                    rng.range(0.0, 1.0)
                }
            })
            .collect();
        // All primitives at full detail, which a mesh of its own replaces.
        let mut whole = Shape::default();
        for primitive in character.primitives() {
            let full = skinned(primitive, &palette, &weights, false);
            whole.add(&full, &primitive.indices);
        }
        for (of, primitive) in character.primitives().iter().enumerate() {
            let full = skinned(primitive, &palette, &weights, false);
            let rigid = skinned(primitive, &palette, &weights, true);
            let mut own = Shape::default();
            own.add(&full, &primitive.indices);
            let far = primitive.indices.is_empty();
            let surface = if far { &whole } else { &own };
            for (number, level) in primitive.levels.iter().enumerate() {
                if level.indices.is_empty() && (far || is_far(character, number)) {
                    continue;
                }
                let mut shape = Shape::default();
                let positions = if level.rigid { &rigid } else { &full };
                shape.add(positions, &level.indices);
                let shape = shape.with_points_within();
                let most = level.error_m + slack;
                for (side, a, b) in [(false, surface, &shape), (true, &shape, surface)] {
                    let near = near.entry((of, number, side)).or_default();
                    let point = a.far_from(b, most, near);
                    assert_eq!(
                        point, None,
                        "{name}: level {number} of {of}, {side}, {most} m"
                    );
                }
            }
        }
    }
}

/// True if a level is a mesh of its own.
fn is_far(character: &Character, level: usize) -> bool {
    let is_it = |of: &Primitive| of.indices.is_empty() && !of.levels[level].indices.is_empty();
    character.primitives().iter().any(is_it)
}

/// Checks the order of vertices and levels.
fn expect_in_order(character: &Character) {
    let count = character.levels().len();
    let mut before = (character.triangle_count(), character.vertex_count());
    for level in character.levels() {
        assert!(
            level.triangles < before.0 && level.vertices <= before.1,
            "{level:?}"
        );
        before = (level.triangles, level.vertices);
    }
    for primitive in character.primitives() {
        assert_eq!(primitive.levels.len(), count);
        let mut vertices = primitive.vertex_count() as u32;
        for level in &primitive.levels {
            assert!(level.vertices <= vertices);
            assert!(level.indices.iter().all(|index| *index < level.vertices));
            vertices = level.vertices;
        }
    }
}

#[test]
fn the_mannequin_has_seven_levels() {
    let mannequin = builtin::mannequin().unwrap().character;
    expect_in_order(&mannequin);
    let triangles: Vec<usize> = mannequin.levels().map(|level| level.triangles).collect();
    assert_eq!(triangles, [4266, 2158, 1092, 438, 140, 44, 22]);
    let bytes = mannequin.to_bytes();
    assert_eq!(
        Character::from_bytes(&bytes, &Default::default()).unwrap(),
        mannequin
    );
}

#[test]
fn the_errors_of_the_mannequin_hold_at_any_time() {
    let mannequin = builtin::mannequin().unwrap().character;
    let times = if is_thorough() { 40 } else { 12 };
    expect_errors_hold(&mannequin, times, 1);
}

/// The constants are those that a measurement gives.
#[test]
fn the_errors_of_the_mannequin_are_measured() {
    let mannequin = builtin::mannequin().unwrap().character;
    let mut raw = RawCharacter::mannequin();
    for level in raw.primitives.iter_mut().flat_map(|of| &mut of.levels) {
        (level.error_m, level.cover) = (None, None);
    }
    let measured = raw.build(&ImportOptions::default()).unwrap().character;
    for (known, measured) in mannequin.levels().zip(measured.levels()) {
        // Constants are rounded up, to a tenth of a millimetre and to a hundredth.
        let error_m = known.error_m - measured.error_m;
        let cover = known.cover - measured.cover;
        assert!((0.0..1.1e-4).contains(&error_m), "{known:?}, {measured:?}");
        assert!((0.0..0.011).contains(&cover), "{known:?}, {measured:?}");
    }
}

#[test]
fn more_clips_make_errors_larger() {
    let mannequin = builtin::mannequin().unwrap().character;
    let skeleton = mannequin.skeleton();
    // No clip of the mannequin changes its size.
    let keys = Keys {
        interpolation: Interpolation::Linear,
        times_s: vec![0.0, 1.0],
        values: vec![Vec3::ONE, Vec3::splat(3.0)],
    };
    let track = Track {
        joint: skeleton.joint("Root").unwrap(),
        values: TrackValues::Scale(keys),
    };
    let grow = CurveClip::new("Grow", vec![track], skeleton).unwrap();
    let before: Vec<f32> = mannequin.levels().map(|level| level.error_m).collect();
    let more = mannequin.with_clips(vec![grow]).unwrap();
    let after: Vec<f32> = more.levels().map(|level| level.error_m).collect();
    // At three times the size, the error at rest exceeds that of the other clips.
    for (before, after) in before.iter().zip(&after) {
        assert!(before * 1.02 < *after, "{before} m, then {after} m");
    }
    expect_errors_hold(&more, 20, 2);
}

/// A level stays if its triangles have their corners in one piece, as those of the full level.
#[test]
fn splits_carry_levels_or_leave_out_all() {
    let mut raw = RawCharacter::mannequin();
    let half = raw.primitives[0].indices.len() / 6 * 3;
    raw.primitives[0].levels = vec![RawLevel {
        indices: raw.primitives[0].indices[..half].into(),
        rigid: true,
        error_m: Some(0.5),
        cover: None,
    }];
    raw.primitives.truncate(1);
    let whole = raw.build(&ImportOptions::default()).unwrap().character;
    let (split, _) = whole.split(20).unwrap();
    assert!(split.primitives().len() > 1);
    assert_eq!(split.levels().len(), 1);
    expect_in_order(&split);
    let (of_split, of_whole) = (split.levels().next(), whole.levels().next());
    let triangles = |level: Option<LevelInfo>| level.map(|level| (level.triangles, level.error_m));
    assert_eq!(triangles(of_split), triangles(of_whole));
    assert!(split.primitives().iter().all(|one| one.levels[0].rigid));

    let mannequin = builtin::mannequin().unwrap().character;
    let (split, _) = mannequin.split(20).unwrap();
    assert_eq!((mannequin.levels().len(), split.levels().len()), (7, 0));
}

#[test]
fn broken_levels_are_refused() {
    let message = |level: RawLevel| {
        let mut raw = RawCharacter::mannequin();
        raw.primitives.truncate(1);
        raw.primitives[0].levels = vec![level];
        raw.build(&ImportOptions::default())
            .unwrap_err()
            .to_string()
    };
    let level = |indices: &[u32], error_m| RawLevel {
        indices: indices.into(),
        error_m,
        ..RawLevel::default()
    };
    message(level(&[0, 1, 1_000_000], None)).says("…levels[0][2]…");
    message(level(&[0, 1], None)).says("…levels[0]…");
    message(level(&[0, 1, 2], Some(-1.0))).says("…levels[0].error_m…");
    message(level(&[0, 1, 2], Some(f32::NAN))).says("…levels[0].error_m…");
    for cover in [-0.1, f32::INFINITY] {
        let level = RawLevel {
            cover: Some(cover),
            ..level(&[0, 1, 2], None)
        };
        message(level).says("…levels[0].cover…a number from 0…");
    }
}

#[cfg(feature = "lod")]
mod made {
    use super::*;
    use crate::reference::assets;
    use throng::character::LevelOptions;
    use throng::import::RawKeys;

    /// Everything that is stored for the corners of the full level, in the order of the triangles.
    fn corners(primitive: &Primitive) -> Vec<Vec<u32>> {
        let k = primitive.influences_per_vertex as usize;
        let joint = |at: usize| match &primitive.joints {
            JointIndices::U8(list) => u32::from(list[at]),
            JointIndices::U16(list) => u32::from(list[at]),
        };
        let mut deltas: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (number, target) in (0..).zip(&primitive.targets) {
            for (at, vertex) in target.vertices.iter().enumerate() {
                let own = deltas.entry(*vertex).or_default();
                own.push(number);
                for list in [&target.positions, &target.normals, &target.tangents] {
                    own.extend(
                        list.get(at)
                            .into_iter()
                            .flat_map(|d| d.to_array())
                            .map(f32::to_bits),
                    );
                }
            }
        }
        let corner = |vertex: &u32| {
            let at = *vertex as usize;
            let mut all: Vec<f32> = primitive.positions[at].to_array().into();
            all.extend(
                primitive
                    .normals
                    .get(at)
                    .into_iter()
                    .flat_map(|v| v.to_array()),
            );
            all.extend(
                primitive
                    .tangents
                    .get(at)
                    .into_iter()
                    .flat_map(|v| v.to_array()),
            );
            all.extend(primitive.uvs.get(at).into_iter().flat_map(|v| v.to_array()));
            all.extend(
                primitive
                    .uvs1
                    .get(at)
                    .into_iter()
                    .flat_map(|v| v.to_array()),
            );
            all.extend(primitive.colors.get(at).into_iter().flatten());
            let mut bits: Vec<u32> = all.into_iter().map(f32::to_bits).collect();
            bits.extend((at * k..at * k + k).map(joint));
            let weights = primitive.weights.get(at * k..at * k + k).unwrap_or(&[]);
            bits.extend(weights.iter().map(|weight| u32::from(*weight)));
            bits.extend(deltas.get(vertex).into_iter().flatten());
            bits
        };
        primitive.indices.iter().map(corner).collect()
    }

    #[test]
    fn the_errors_of_files_hold_at_any_time() {
        for path in assets::files() {
            // The others have too few triangles, or are slow without optimisation.
            let names = [
                "CesiumMan",
                "MorphStressTest",
                "RiggedFigure",
                "RiggedSimple",
            ];
            let stem = path.file_stem().unwrap().to_str().unwrap();
            if !names.contains(&stem) {
                continue;
            }
            let whole = throng_import::file(&path, &ImportOptions::default())
                .unwrap()
                .character;
            let (made, kept) = whole.clone().with_levels(&LevelOptions::default()).unwrap();
            assert!(made.levels().len() > 0, "{stem}");
            assert!(kept.is_empty(), "{stem}: {kept:?}");
            expect_in_order(&made);
            expect_errors_hold(&made, 40, 3);
            for (whole, made) in whole.primitives().iter().zip(made.primitives()) {
                assert_eq!(corners(whole), corners(made), "{stem}: {}", whole.name);
            }
            let worst = |of: &Character| -> Vec<Option<Vec3>> {
                let errors = of.clips().iter().map(|clip| clip.report().vertex_error);
                let at = |at: throng::clip::VertexError| {
                    of.primitives()[at.primitive as usize].positions[at.vertex as usize]
                };
                errors.map(|error| error.map(at)).collect()
            };
            assert_eq!(worst(&whole), worst(&made), "{stem}");
            let again = Character::from_bytes(&made.to_bytes(), &Default::default()).unwrap();
            assert_eq!(again, made);
        }
    }

    #[test]
    fn levels_have_the_wanted_errors() {
        let mannequin = builtin::mannequin().unwrap().character;
        let options = LevelOptions {
            errors_m: vec![0.001, 0.06, 0.12],
            ..LevelOptions::default()
        };
        let (made, _) = mannequin.with_levels(&options).unwrap();
        // Nothing is that exact.
        let errors: Vec<f32> = made.levels().map(|level| level.error_m).collect();
        assert!(
            matches!(errors[..], [a, b] if a <= 0.06 && 0.06 < b && b <= 0.12),
            "{errors:?}"
        );
    }

    /// Weights of joints do not tell how far a vertex is moved by a bend. By them instead of
    /// positions in poses, this level had 1,738 triangles. It does not matter where clips go.
    #[test]
    fn one_primitive_is_simplified_by_its_poses() {
        for distance_m in [0.0, 100.0] {
            let mut model = RawCharacter::mannequin();
            model.primitives.truncate(1);
            model.primitives[0].levels.clear();
            let channels = model.animations.iter_mut().flat_map(|of| &mut of.channels);
            for channel in channels {
                if let RawKeys::Translation(keys) = &mut channel.values {
                    let step = distance_m / keys.len() as f32;
                    for (number, key) in keys.iter_mut().enumerate() {
                        key.z += step * number as f32;
                    }
                }
            }
            let whole = model.build(&ImportOptions::default()).unwrap().character;
            let options = LevelOptions {
                errors_m: vec![0.026],
                ..LevelOptions::default()
            };
            let (made, _) = whole.with_levels(&options).unwrap();
            let triangles: Vec<usize> = made.levels().map(|level| level.triangles).collect();
            assert!(matches!(triangles[..], [900..1500]), "{triangles:?}");
        }
    }

    /// A crowd draws at most seven.
    #[test]
    fn levels_are_few() {
        let mannequin = builtin::mannequin().unwrap().character;
        let options = LevelOptions {
            ratio: 0.9,
            ..LevelOptions::default()
        };
        let (made, _) = mannequin.with_levels(&options).unwrap();
        assert!((5..=7).contains(&made.levels().len()));
        assert!(made.levels().last().unwrap().triangles < 200);
    }

    #[test]
    fn options_out_of_range_are_refused() {
        let mannequin = builtin::mannequin().unwrap().character;
        let default = LevelOptions::default;
        let bad = [
            LevelOptions {
                ratio: 1.0,
                ..default()
            },
            LevelOptions {
                ratio: f32::NAN,
                ..default()
            },
            LevelOptions {
                fewest_triangles: 0,
                ..default()
            },
            LevelOptions {
                max_error: -1.0,
                ..default()
            },
            LevelOptions {
                errors_m: vec![0.1, f32::INFINITY],
                ..default()
            },
            LevelOptions {
                errors_m: vec![0.1; 8],
                ..default()
            },
        ];
        for options in bad {
            assert!(
                mannequin.clone().with_levels(&options).is_err(),
                "{options:?}"
            );
        }
    }
}
