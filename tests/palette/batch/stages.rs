//! The stages between: local poses, model poses, and palettes of them.
//!
//! Skeletons and batches have any size, and run on all threads.

use super::load::{UNWRITTEN, image, palettes, with_clip};
use crate::reference::batch::{Batch, Sample};
use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::rig::{chain, keys};
use crate::reference::rng::Rng;
use std::sync::Arc;
use throng::animator::{Pose, ShowPose};
use throng::character::Character;
use throng::clip::{ClipOptions, CurveClip, Interpolation, TrackValues};
use throng::glam::{Affine3A, DMat4, DVec3, Mat4, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::palette::Mat3x4;
use throng::skeleton::Transform;
use throng::{SimdLevel, Threads};

pub(crate) const COUNTS: [usize; 8] = [0, 1, 7, 15, 16, 17, 31, 33];

/// A binary tree of joints with one vertex each.
pub(crate) fn tree(joints: usize) -> Character {
    let node = |index: usize| {
        raws::node(
            format!("joint {index}"),
            index.checked_sub(1).map(|before| before / 2),
            raws::at(Vec3::new(0.1, 0.3, 0.05 * (index % 3) as f32)),
        )
    };
    let raw = RawCharacter {
        nodes: (0..joints).map(node).collect(),
        skins: vec![raws::skin(
            0..joints,
            vec![Mat4::from_translation(Vec3::NEG_Y); joints],
        )],
        primitives: vec![RawPrimitive {
            skin: Some(0),
            positions: (0..joints).map(|v| Vec3::new(0.2, v as f32, 0.0)).collect(),
            influences_per_vertex: 1,
            joints: (0..joints as u32).collect(),
            weights: vec![1.0; joints],
            indices: (0..joints as u32).flat_map(|v| [v, v, v]).collect(),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    let options = ImportOptions {
        packing: Some(ClipOptions {
            error_m: Some(0.01),
            ..ClipOptions::default()
        }),
        ..ImportOptions::default()
    };
    raw.build(&options).unwrap().character
}

/// A tree with two clips: one of all joints, one of some.
pub(crate) fn moving_tree(joints: usize, rng: &mut Rng) -> Character {
    let character = tree(joints);
    let mut clip = |every: usize| {
        let mut tracks = Vec::new();
        for joint in (0..character.skeleton().len()).step_by(every) {
            let times = [0.0, 0.4, 1.0];
            let turns = [rng.rotation(), rng.rotation(), rng.rotation()];
            let positions = [0; 3].map(|_| rng.vector(-0.3, 0.3));
            let sizes = [0; 3].map(|_| rng.vector(0.8, 1.2));
            let joint = joint as u16;
            let linear = Interpolation::Linear;
            let values = [
                TrackValues::Translation(keys(linear, times, positions)),
                TrackValues::Rotation(keys(linear, times, turns)),
                TrackValues::Scale(keys(linear, times, sizes)),
            ];
            tracks.extend(values.map(|values| raws::track(joint, values)));
        }
        CurveClip::new("made", tracks, character.skeleton()).unwrap()
    };
    let clips = vec![clip(1), clip(5)];
    character.with_clips(clips).unwrap()
}

pub(crate) fn crowd(rng: &mut Rng, count: usize) -> Vec<Vec<Sample>> {
    let mut sample = || Sample::new(rng.below(2), rng.range(0.0, 1.0).into());
    (0..count)
        .map(|number| (0..number % 4).map(|_| sample()).collect())
        .collect()
}

#[derive(PartialEq)]
struct Stages {
    local: Vec<Transform>,
    models: Vec<Affine3A>,
    palettes: Vec<Mat3x4>,
    /// Palettes of the model poses, which the actors show.
    finished: Vec<Mat3x4>,
}

/// All stages.
fn stages(
    character: &Character,
    level: SimdLevel,
    crowd: &[Vec<Sample>],
    threads: &Threads,
) -> Stages {
    let mut batch = Batch::new(character, level, crowd);
    batch.animator.set_threads(threads.clone());
    let (local, models) = (batch.local_poses(), batch.model_poses());
    let palettes = batch.palettes(UNWRITTEN);
    let poses = models.chunks(character.skeleton().len());
    for (actor, model) in batch.actors.iter().zip(poses) {
        let mut actor = batch.animator.live_mut(*actor);
        actor
            .set_pose(Pose::Model(model), &ShowPose::default())
            .unwrap();
    }
    let finished = batch.palettes(UNWRITTEN);
    Stages {
        local,
        models,
        palettes,
        finished,
    }
}

fn double(matrix: &Affine3A) -> DMat4 {
    DMat4::from_cols_array_2d(
        &Mat4::from(*matrix)
            .to_cols_array_2d()
            .map(|c| c.map(f64::from)),
    )
}

/// The largest difference between the numbers of two matrices.
fn apart(a: &DMat4, b: &DMat4) -> f64 {
    (*a - *b)
        .to_cols_array()
        .into_iter()
        .fold(0.0, |most: f64, v| {
            if v.is_nan() {
                f64::NAN
            } else {
                most.max(v.abs())
            }
        })
}

/// The numbers here are at most 10, and there are at most 10 levels of joints.
///
/// Each level rounds a few times by 2⁻²⁴ of that, less than 2e-5 in all. Measured: 3e-6.
const OFF: f64 = 2e-5;

#[test]
fn stages_agree_for_skeletons_and_batches_of_any_size() {
    let mut rng = Rng::new(3);
    let mut worst: f64 = 0.0;
    for joints in [1, 2, 7, 8, 9, 24, 65, 400] {
        let character = moving_tree(joints, &mut rng);
        for count in COUNTS {
            let crowd = crowd(&mut rng, count);
            for level in SimdLevel::available() {
                let all = stages(&character, level, &crowd, &Threads::One);
                for (instance, samples) in crowd.iter().enumerate() {
                    let mine = |each: usize| instance * each..(instance + 1) * each;
                    let local = &all.local[mine(joints)];
                    if let [one] = samples[..] {
                        let mut want = local.to_vec();
                        let clip = &character.clips()[one.clip];
                        clip.sample(one.time_s, &mut want).unwrap();
                        for (got, want) in local.iter().zip(&want) {
                            let [got, want] = [got, want].map(|t| double(&t.to_affine()));
                            worst = worst.max(apart(&got, &want));
                        }
                    }
                    let mut models: Vec<DMat4> = Vec::new();
                    let skeleton = character.skeleton().joints();
                    for (joint, local) in skeleton.iter().zip(local) {
                        let local = double(&local.to_affine());
                        models.push(match joint.parent {
                            None => local,
                            Some(parent) => models[usize::from(parent)] * local,
                        });
                    }
                    let got = all.models[mine(joints)].iter().map(double);
                    for (got, want) in got.zip(&models) {
                        worst = worst.max(apart(&got, want));
                    }
                    let entries = character.palette();
                    for (index, entry) in mine(entries.len()).zip(entries) {
                        let bind = double(&entry.inverse_bind);
                        let want = models[usize::from(entry.joint)] * bind;
                        for got in [&all.palettes[index], &all.finished[index]] {
                            let off = image(got, DVec3::ONE).0 - want.transform_point3(DVec3::ONE);
                            worst = worst.max(off.length());
                        }
                    }
                }
                assert!(worst < OFF, "{joints} joints, {count}, {level}: {worst:e}");
            }
        }
    }
    println!("{worst:e}");
}

#[test]
fn threads_give_the_same_bits() {
    let mut rng = Rng::new(4);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
    let pool = Arc::new(pool.unwrap());
    let threads = [Threads::Rayon, Threads::Pool(pool)];
    for joints in [1, 24, 65] {
        let character = moving_tree(joints, &mut rng);
        for count in COUNTS.into_iter().chain([500]) {
            let crowd = crowd(&mut rng, count);
            for level in SimdLevel::available() {
                let one = stages(&character, level, &crowd, &Threads::One);
                for threads in &threads {
                    let all = stages(&character, level, &crowd, threads);
                    assert!(one == all, "{joints} joints, {count}, {level}");
                }
            }
        }
    }
}

/// If the weights sum to less than the full weight, the rest pose has the remaining weight.
#[test]
fn the_rest_pose_has_the_missing_weight() {
    let up = keys(Interpolation::Linear, [0.0], [Vec3::Y * 9.0]);
    let track = raws::track(1, TrackValues::Translation(up));
    let (_, character) = with_clip(chain(2), vec![track]);
    // At rest, it is 1 up.
    for (weight, want) in [(0.5, 5.0), (1.0, 9.0), (2.0, 9.0), (0.25, 3.0), (0.0, 1.0)] {
        for level in SimdLevel::available() {
            let sample = Sample::new(0, 0.0).weighted(weight);
            let got = palettes(&character, level, &[[sample]]);
            let at = image(&got[1], DVec3::Y).0;
            // The full weight is 0.999.
            assert!((at.y - want).abs() < 0.01, "{weight}: {at}");
        }
    }
}
