//! The batch adds additive clips as `blend` does.

use super::made::{differences, rest};
use crate::models::models;
use crate::reference::rng::Rng;
use throng::Id;
use throng::animate::BatchPoser;
use throng::clip::{AdditiveReference, Clip};
use throng::glam::Quat;
use throng::motion::{BLEND_THRESHOLD, ClipSample, PoseLayer, SampleList, blend};
use throng::skeleton::{Mask, Transform};

/// The distance of two transforms: lengths relative to their size, rotations as chords.
fn apart(a: &Transform, b: &Transform) -> f32 {
    let long = 1.0 + b.translation.length() + b.scale.length();
    let chord = (a.rotation - b.rotation).length();
    let off = [
        (a.translation - b.translation).length() / long,
        (a.scale - b.scale).length() / long,
        chord.min((a.rotation + b.rotation).length()),
    ];
    off.into_iter().fold(0.0, f32::max)
}

/// The `blend` of samples whose rotations are turned by about `turn` radians.
fn plain(
    rest: &[Transform],
    clips: &[Clip],
    masks: &[Mask],
    samples: &[ClipSample],
    turn: f32,
    rng: &mut Rng,
) -> Vec<Transform> {
    let mut poses = Vec::new();
    for sample in samples {
        let mut pose = rest.to_vec();
        clips[sample.clip.index()]
            .sample(sample.time_s, &mut pose)
            .unwrap();
        for joint in &mut pose {
            joint.rotation = Quat::from_scaled_axis(rng.direction() * turn) * joint.rotation;
        }
        poses.push(pose);
    }
    let layers = samples.iter().zip(&poses).map(|(sample, pose)| PoseLayer {
        pose,
        weight: sample.weight,
        mask: sample.mask.map(|mask| &masks[usize::from(mask)]),
        additive: clips[sample.clip.index()].is_additive(),
        level: sample.level,
    });
    let mut out = rest.to_vec();
    blend(rest, &layers.collect::<Vec<_>>(), BLEND_THRESHOLD, &mut out).unwrap();
    out
}

fn samples(rng: &mut Rng, clips: &[Clip]) -> Vec<ClipSample> {
    let mut level = 0;
    let mut sample = || {
        level += rng.below(2) as u8;
        let clip = rng.below(clips.len());
        ClipSample {
            clip: Id::new(clip as u16),
            time_s: f64::from(rng.range(-0.1, 1.1)) * clips[clip].duration_s(),
            weight: [0.0, 0.05, rng.range(0.0, 1.5)][rng.below(3)],
            mask: [None, Some(Id::new(0)), Some(Id::new(1))][rng.below(3)],
            level,
        }
    };
    let all = [(); 5].map(|()| sample());
    all[..rng.below(6)].to_vec()
}

#[test]
fn the_batch_adds_them_as_blend_does() {
    let mut rng = Rng::new(5);
    let (mut worst, mut held, mut skipped) = (0.0_f32, 0, 0);
    let all = models().iter().zip(differences());
    for (model, differences) in all.filter(|(_, differences)| !differences.is_empty()) {
        let character = &model.character;
        let rest = rest(character);
        let mut clips: Vec<Clip> = model.packed().iter().take(4).cloned().collect();
        let of_frames = differences.iter().filter(|difference| {
            difference.number < 4 && difference.reference != AdditiveReference::Rest
        });
        clips.extend(of_frames.filter_map(|difference| difference.made.clone().ok()));
        let mut mask =
            || Mask::from_weights(rest.iter().map(|_| rng.range(0.0, 1.0)).collect()).unwrap();
        let masks = [mask(), mask()];
        let poser = BatchPoser::new(character)
            .unwrap()
            .with_masks(&masks)
            .unwrap();
        let mut list = SampleList::new();
        for _ in 0..40 {
            list.push(samples(&mut rng, &clips));
        }
        let mut got = vec![Transform::IDENTITY; list.len() * rest.len()];
        poser.local_poses(&clips, &list, &mut got).unwrap();
        for (instance, got) in got.chunks(rest.len()).enumerate() {
            let samples = list.samples(instance);
            let want = plain(&rest, &clips, &masks, samples, 0.0, &mut rng);
            // If rotations are half a turn apart, rounding decides the direction of the blend.
            let near = [(); 12].map(|()| plain(&rest, &clips, &masks, samples, 1e-3, &mut rng));
            for joint in 0..rest.len() {
                if near
                    .iter()
                    .any(|pose| apart(&pose[joint], &want[joint]) > 0.05)
                {
                    skipped += 1;
                    continue;
                }
                let off = apart(&got[joint], &want[joint]);
                held += 1;
                worst = worst.max(off);
                assert!(
                    off < 1e-5,
                    "{}, joint {joint}: {off:e} {samples:?}",
                    model.name
                );
            }
        }
    }
    println!("off by at most {worst:e}; {skipped} of {held} joints not looked at");
    assert!(skipped * 20 < held);
}
