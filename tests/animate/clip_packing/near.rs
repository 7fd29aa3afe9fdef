//! Blocks of clips whose rotations are near the rest pose.

use throng::Id;
use throng::animate::BatchPoser;
use throng::builtin;
use throng::clip::{Clip, is_beside, is_long};
use throng::motion::{ClipSample, SampleList};
use throng::simd::SimdLevel;
use throng::skeleton::Transform;

/// Clips that differ only in the mark give the same blends: the fits are accurate to 1.7e-7 and
/// 1e-7 of a weight.
#[test]
fn marks_change_nothing_but_rounding() {
    let character = builtin::mannequin().unwrap().character;
    let near: Vec<Clip> = character.clips()[..3].to_vec();
    let far: Vec<Clip> = near
        .iter()
        .map(|clip| clip.clone().without_marks())
        .collect();
    let counts = near.iter().map(Clip::near_blocks);
    let (marked, blocks) = counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    assert!(marked * 2 > blocks, "{marked} of {blocks}");
    assert!(far.iter().all(|clip| clip.near_blocks().0 == 0));
    let mut list = SampleList::new();
    for number in 0..40 {
        let sample = |clip: usize| {
            let time_s = 0.037 * (number * (clip + 1)) as f64;
            ClipSample::new(Id::new(clip as u16), time_s).weighted(0.2 + 0.1 * clip as f32)
        };
        list.push((0..3).map(sample));
    }
    for level in SimdLevel::available() {
        let poser = BatchPoser::new(&character).unwrap();
        let poser = poser.with_simd_level(level).unwrap();
        let pose = |clips: &[Clip]| {
            let count = list.len() * character.skeleton().len();
            let mut local = vec![Transform::IDENTITY; count];
            poser.local_poses(clips, &list, &mut local).unwrap();
            local
        };
        let (a, b) = (pose(&near), pose(&far));
        for (a, b) in a.iter().zip(&b) {
            let apart = (a.rotation - b.rotation).length();
            assert!(apart < 4e-7, "{level}: {apart}");
        }
    }
}

#[test]
fn keys_far_from_the_rest_pose_or_from_each_other_are_not_near() {
    let at = |angle: f32| -> [f32; 4] { [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()] };
    assert!(is_beside(at(1.56), at(0.0)) && !is_beside(at(1.58), at(0.0)));
    assert!(!is_beside(at(0.3).map(|part| -part), at(0.0)));
    assert!(is_long(at(0.0), at(0.47)) && !is_long(at(0.0), at(0.49)));
    assert!(!is_long(
        at(0.0).map(|part| 1.006 * part),
        at(0.0).map(|part| 1.006 * part)
    ));
}
