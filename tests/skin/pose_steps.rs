//! Poses at even steps of a clip, against the clip at other times.

use crate::reference::assets;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use throng::Id;
use throng::character::Character;
use throng::clip::Clip;
use throng::glam::{Affine3A, Vec3};
use throng::import::ImportOptions;
use throng::palette::Mat3x4;
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

fn apart(a: &[Vec3], b: &[Vec3]) -> f32 {
    let pairs = a.iter().zip(b);
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// The error is never less than what vertices show, at times and for vertices that were not
/// measured.
#[test]
fn no_vertex_is_farther_than_the_error_says() {
    let mut rng = Rng::new(7);
    let mut characters = vec![throng::builtin::mannequin().unwrap().character];
    for path in assets::files() {
        let imported = throng_import::file(&path, &ImportOptions::default()).unwrap();
        characters.push(imported.character);
    }
    let (mut most, mut largest_share) = (0, 0.0_f32);
    for character in &characters {
        for (number, clip) in character.clips().iter().enumerate() {
            let steps = character.pose_steps(Id::new(number as u16)).unwrap();
            let Some(PoseSteps { count, error_m }) = steps else {
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
