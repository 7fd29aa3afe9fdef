//! The stages between: local poses, model poses, and palettes of them.
//!
//! Skeletons and batches have any size, and run on all threads.

use super::load::{UNWRITTEN, codes, image, list, palettes};
use crate::reference::rig::{chain, keys};
use crate::reference::rng::Rng;
use std::sync::Arc;
use throng::animate::BatchPoser;
use throng::character::Character;
use throng::clip::{Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::{Affine3A, DMat4, DVec3, Mat4, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawNode, RawPrimitive, RawSkin};
use throng::motion::ClipSample;
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;
use throng::{Id, Threads};

pub(crate) const COUNTS: [usize; 8] = [0, 1, 7, 15, 16, 17, 31, 33];

/// A binary tree of joints with one vertex each. A clip scales, rotates and moves them.
pub(crate) fn tree(joints: usize) -> Character {
    let node = |index: usize| RawNode {
        name: format!("joint {index}").into(),
        parent: index.checked_sub(1).map(|before| before / 2),
        transform: Transform {
            translation: Vec3::new(0.1, 0.3, 0.05 * (index % 3) as f32),
            ..Transform::IDENTITY
        },
        matrix: None,
    };
    let raw = RawCharacter {
        nodes: (0..joints).map(node).collect(),
        skins: vec![RawSkin {
            joints: (0..joints).collect(),
            inverse_bind: vec![Mat4::from_translation(Vec3::NEG_Y); joints],
            ..RawSkin::default()
        }],
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
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

/// Two clips: one of all joints, one of some.
pub(crate) fn clips_for(character: &Character, rng: &mut Rng) -> Vec<Clip> {
    let mut clip = |every: usize| {
        let mut tracks = Vec::new();
        for joint in (0..character.skeleton().len()).step_by(every) {
            let times = [0.0, 0.4, 1.0];
            let turns = [rng.rotation(), rng.rotation(), rng.rotation()];
            let places = [0; 3].map(|_| rng.vector(-0.3, 0.3));
            let sizes = [0; 3].map(|_| rng.vector(0.8, 1.2));
            let joint = joint as u16;
            let linear = Interpolation::Linear;
            let values = [
                TrackValues::Translation(keys(linear, &times, &places)),
                TrackValues::Rotation(keys(linear, &times, &turns)),
                TrackValues::Scale(keys(linear, &times, &sizes)),
            ];
            tracks.extend(values.map(|values| Track {
                joint: Id::new(joint),
                values,
            }));
        }
        let raw = CurveClip::new("made", tracks, character.skeleton()).unwrap();
        let options = ClipOptions {
            error_m: Some(0.01),
            ..ClipOptions::default()
        };
        Clip::new(character, &raw, &options).unwrap()
    };
    vec![clip(1), clip(5)]
}

pub(crate) fn crowd(rng: &mut Rng, count: usize) -> Vec<Vec<ClipSample>> {
    let mut sample =
        || ClipSample::new(Id::new(rng.below(2) as u16), rng.range(0.0, 1.0).into()).weighted(0.5);
    (0..count)
        .map(|number| (0..number % 4).map(|_| sample()).collect())
        .collect()
}

struct Stages {
    local: Vec<Transform>,
    models: Vec<Affine3A>,
    palettes: Vec<Mat3x4>,
    finished: Vec<Mat3x4>,
}

/// All stages.
fn stages(
    poser: &BatchPoser,
    character: &Character,
    clips: &[Clip],
    crowd: &[Vec<ClipSample>],
) -> Stages {
    let (count, joints) = (crowd.len(), character.skeleton().len());
    let entries = count * character.palette().len();
    let mut all = Stages {
        local: vec![Transform::IDENTITY; count * joints],
        models: vec![Affine3A::IDENTITY; count * joints],
        palettes: vec![UNWRITTEN; entries],
        finished: vec![UNWRITTEN; entries],
    };
    let list = list(crowd);
    let (to, finished) = (
        WriteOnly::over(&mut all.palettes),
        WriteOnly::over(&mut all.finished),
    );
    poser.local_poses(clips, &list, &mut all.local).unwrap();
    poser.model_poses(clips, &list, &mut all.models).unwrap();
    poser.palettes(clips, &list, to).unwrap();
    poser.finish(&all.models, finished).unwrap();
    all
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
        let character = tree(joints);
        let clips = clips_for(&character, &mut rng);
        for count in COUNTS {
            let crowd = crowd(&mut rng, count);
            for poser in codes(&character) {
                let all = stages(&poser, &character, &clips, &crowd);
                // Poses without a change in between have the same bits.
                assert_eq!(all.palettes, all.finished, "{}", poser.simd_level());
                for (instance, samples) in crowd.iter().enumerate() {
                    let mine = |each: usize| instance * each..(instance + 1) * each;
                    let local = &all.local[mine(joints)];
                    if let [one] = samples[..] {
                        let mut want = local.to_vec();
                        clips[one.clip.index()]
                            .sample(one.time_s, &mut want)
                            .unwrap();
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
                assert!(
                    worst < OFF,
                    "{joints} joints, {count}, {}: {worst:e}",
                    poser.simd_level()
                );
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
    for joints in [1, 24, 65] {
        let character = tree(joints);
        let clips = clips_for(&character, &mut rng);
        for count in COUNTS.into_iter().chain([500]) {
            let crowd = crowd(&mut rng, count);
            for poser in codes(&character) {
                let one = stages(&poser, &character, &clips, &crowd);
                let poser = poser.with_threads(Threads::Rayon);
                let rayon = stages(&poser, &character, &clips, &crowd);
                let poser = poser.with_threads(Threads::Pool(pool.clone()));
                let pool = stages(&poser, &character, &clips, &crowd);
                for all in [rayon, pool] {
                    assert_eq!(one.local, all.local);
                    assert_eq!(one.models, all.models);
                    assert_eq!(one.palettes, all.palettes);
                    assert_eq!(one.finished, all.finished);
                }
            }
        }
    }
}

/// If the weights sum to less than the threshold, the rest pose has the remaining weight.
#[test]
fn the_threshold_lets_the_rest_pose_in() {
    let character = chain(2);
    let up = keys(Interpolation::Linear, &[0.0], &[Vec3::Y * 9.0]);
    let track = Track {
        joint: Id::new(1),
        values: TrackValues::Translation(up),
    };
    let raw = CurveClip::new("up", vec![track], character.skeleton()).unwrap();
    let clip = Clip::new(&character, &raw, &ClipOptions::default()).unwrap();
    let clips = [clip];
    // At rest, it is 1 up.
    for (threshold, weight, want) in [
        (0.1, 0.05, 5.0),
        (0.1, 0.1, 9.0),
        (0.1, 2.0, 9.0),
        (0.5, 0.125, 3.0),
        (0.5, 0.0, 1.0),
    ] {
        for poser in codes(&character) {
            let poser = poser.with_threshold(threshold).unwrap();
            let sample = ClipSample::new(Id::new(0), 0.0).weighted(weight);
            let got = palettes(&poser, &character, &clips, &[[sample]]);
            let at = image(&got[1], DVec3::Y).0;
            assert!((at.y - want).abs() < 1e-5, "{threshold} {weight}: {at}");
        }
    }
}
