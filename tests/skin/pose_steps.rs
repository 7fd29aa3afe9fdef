//! Poses at even steps of a clip, against the clip at other times.

use crate::reference::assets;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use throng::Id;
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::{Affine3A, Vec3};
use throng::import::ImportOptions;
use throng::mesh::Aabb;
use throng::palette::{Mat3x4, PaletteEntry, QuatOffset};
use throng::skeleton::Transform;
use throng::skin::PoseSteps;

/// Times at which each clip is looked at.
const TIMES: usize = 24;

/// One in this number of vertices is looked at.
const VERTICES: usize = 7;

/// The positions of some vertices of all primitives in a clip at a time, in character space.
fn posed(character: &Character, clip: &Clip, time_s: f64) -> Vec<Vec3> {
    let mut local = character.skeleton().rest_pose();
    clip.sample(time_s, &mut local).unwrap();
    let mut model = vec![Affine3A::IDENTITY; local.len()];
    character.skeleton().model_pose(&local, &mut model).unwrap();
    let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    character.write_palette(&model, &mut palette[..]).unwrap();
    let mut out = Vec::new();
    for primitive in character.primitives() {
        let own = &palette[primitive.palette.start as usize..];
        for vertex in (0..primitive.positions.len()).step_by(VERTICES) {
            let point = primitive.positions[vertex];
            let sum = primitive
                .influences(vertex)
                .map(|(joint, weight)| own[joint].to_affine().transform_point3(point) * weight);
            out.push(sum.sum());
        }
    }
    out
}

/// All characters: the built-in one, and those of files.
fn characters() -> Vec<Character> {
    let mut characters = vec![throng::builtin::mannequin().unwrap().character];
    for path in assets::files() {
        let imported = throng_import::file(&path, &ImportOptions::default()).unwrap();
        characters.push(imported.character);
    }
    characters
}

/// The box around one in `every` vertices of all primitives at a pose, if a palette format can
/// represent it.
fn posed_box<E: PaletteEntry>(
    character: &Character,
    local: &[Transform],
    every: usize,
) -> Option<Aabb> {
    let mut model = vec![Affine3A::IDENTITY; local.len()];
    character.skeleton().model_pose(local, &mut model).unwrap();
    let mut matrices = vec![Mat3x4::IDENTITY; character.palette().len()];
    character.write_palette(&model, &mut matrices[..]).unwrap();
    let entries = matrices.iter().map(|matrix| {
        let entry = E::try_from_affine(&matrix.to_affine()).ok()?;
        Some(entry.to_affine())
    });
    let palette: Vec<_> = entries.collect::<Option<_>>()?;
    let mut bounds = Aabb::EMPTY;
    for primitive in character.primitives() {
        let own = &palette[primitive.palette.start as usize..];
        for (vertex, point) in primitive.positions.iter().enumerate().step_by(every) {
            let images = primitive.influences(vertex);
            let images = images.map(|(joint, weight)| own[joint].transform_point3(*point) * weight);
            bounds = bounds.with_point(images.sum());
        }
    }
    Some(bounds)
}

/// No vertex of any primitive, and so of any level of detail, leaves the box in any pose, with
/// matrices, nor with quaternions where they can represent the pose.
#[test]
fn all_vertices_are_in_the_box() {
    let (mut clips, mut quaternions) = (0, 0);
    for character in &characters() {
        let size = character.rest_bounds().size().max_element();
        for (number, clip) in character.clips().iter().enumerate() {
            let Some(steps) = character.pose_steps(Id::new(number as u16)).unwrap() else {
                continue;
            };
            let mut all = Aabb::EMPTY;
            for step in 0..=steps.count {
                let time_s = f64::from(step) / f64::from(steps.count) * clip.duration_s();
                let mut local = character.skeleton().rest_pose();
                clip.sample(time_s, &mut local).unwrap();
                let matrices = posed_box::<Mat3x4>(character, &local, 1).unwrap();
                let others = posed_box::<QuatOffset>(character, &local, VERTICES);
                quaternions += usize::from(others.is_some());
                for own in [matrices, others.unwrap_or(matrices)] {
                    assert!(
                        own.min.cmpge(steps.bounds.min).all()
                            && own.max.cmple(steps.bounds.max).all(),
                        "{} {} step {step}: {own:?} leaves {:?}",
                        character.name(),
                        clip.name(),
                        steps.bounds
                    );
                }
                all = all.union(matrices);
            }
            // Entry boxes reach beyond their vertices, but not by much.
            let beyond = steps.bounds.size() - all.size();
            assert!(beyond.max_element() < 0.5 * size, "{beyond}");
            clips += 1;
        }
    }
    assert!(clips > 20 && quaternions > 100, "{clips} {quaternions}");
}

fn apart(a: &[Vec3], b: &[Vec3]) -> f32 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// The error is never less than what vertices show, at times and for vertices that were not
/// measured.
#[test]
fn no_vertex_is_farther_than_the_error_says() {
    let mut rng = Rng::new(7);
    let (mut most, mut largest_share) = (0, 0.0_f32);
    for character in &characters() {
        for (number, clip) in character.clips().iter().enumerate() {
            let steps = character.pose_steps(Id::new(number as u16)).unwrap();
            let Some(PoseSteps { count, error_m, .. }) = steps else {
                let mut drives = false;
                clip.sample_weights(0.0, |_, _| drives = true);
                assert!(clip.is_additive() || drives);
                continue;
            };
            most = most.max(count);
            for _ in 0..TIMES {
                let part = f64::from(rng.range(0.0, 1.0));
                let near = (part * f64::from(count)).round() / f64::from(count);
                let [exact, stands_in] =
                    [part, near].map(|part| posed(character, clip, part * clip.duration_s()));
                let found = apart(&exact, &stands_in);
                assert!(
                    found <= error_m + 1e-6,
                    "{} {}: {found} m, not {error_m}, at {part}",
                    character.name(),
                    clip.name()
                );
                largest_share = largest_share.max(found / error_m.max(1e-6));
            }
        }
    }
    // The bound is not far above what there is.
    assert!(most > 4 && most <= PoseSteps::MAX_COUNT);
    assert!(largest_share > 0.5, "{largest_share}");
}

#[test]
fn unknown_clips_are_refused() {
    let character = throng::builtin::mannequin().unwrap().character;
    character
        .pose_steps(Id::new(999))
        .fails("… does not exist: there are …");
}
