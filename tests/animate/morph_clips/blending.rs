//! Blends of morph weights.

use super::made::{
    MOST_OFF, ROUNDING, baked, character_of, curves, exact, morphing, pack, sampled,
};
use crate::reference::rig::keys;
use crate::reference::rng::Rng;
use throng::animator::{Animator, Play};
use throng::clip::{AdditiveReference, Clip, ClipOptions, CurveClip, Interpolation, WeightTrack};
use throng::import::ImportOptions;
use throng::motion::{BLEND_THRESHOLD, Ease, WeightSample, blend_weights};

/// The blend as its documentation defines it, in `f64`.
fn blended(rest: &[f32], threshold: f64, samples: &[WeightSample<'_>]) -> Vec<f64> {
    let mut below: Vec<f64> = rest.iter().map(|weight| f64::from(*weight)).collect();
    for level in 0..=u8::MAX {
        let own = || samples.iter().filter(move |sample| sample.level == level);
        let means = || own().filter(|sample| !sample.clip.is_additive());
        let weight = |sample: &WeightSample<'_>| f64::from(sample.weight);
        let whole: f64 = means().map(weight).sum();
        if whole > 0.0 {
            let least = if level == 0 { threshold } else { 1.0 };
            let mut sums: Vec<f64> = below
                .iter()
                .map(|below| below * (least - whole).max(0.0))
                .collect();
            for sample in means() {
                let mut values = below.clone();
                for (index, value) in sampled(sample.clip, sample.time_s) {
                    values[index] = f64::from(value);
                }
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += value * weight(sample);
                }
            }
            below = sums.iter().map(|sum| sum / whole.max(least)).collect();
        }
        for sample in own().filter(|sample| sample.clip.is_additive()) {
            for (index, value) in sampled(sample.clip, sample.time_s) {
                below[index] += f64::from(value) * weight(sample);
            }
        }
    }
    below
}

#[test]
fn blends_agree_with_plain_code() {
    let mut rng = Rng::new(8);
    // More than are blended at a time, in tracks that cross from one part to the next.
    let character = morphing(75, 0.01);
    let track = |rng: &mut Rng, first_weight: u32, count: u32| {
        let values: Vec<f32> = (0..count * 4).map(|_| rng.range(-0.5, 1.5)).collect();
        let times = [0.0, 0.3, 0.7, 1.0];
        let interpolation = [Interpolation::Linear, Interpolation::Step][rng.below(2)];
        WeightTrack {
            first_weight,
            count,
            keys: keys(interpolation, &times, &values),
        }
    };
    let mut clips = Vec::new();
    for number in 0..8 {
        let first = rng.below(24) as u32;
        let second = 30 + rng.below(20) as u32;
        let tracks = match number {
            0 => Vec::new(),
            _ => vec![track(&mut rng, first, 6), track(&mut rng, second, 25)],
        };
        let raw = curves(&character, tracks);
        let (rest, options) = (AdditiveReference::Rest, ClipOptions::default());
        clips.push(if number > 5 {
            Clip::additive(&character, &raw, &rest, &options).unwrap()
        } else {
            pack(&character, &raw)
        });
    }
    let rest: Vec<f32> = (0..75).map(|_| rng.range(0.0, 1.0)).collect();
    let mut out = rest.clone();
    for _ in 0..400 {
        let mut samples: Vec<WeightSample<'_>> = (0..rng.below(7))
            .map(|_| {
                let clip = &clips[rng.below(clips.len())];
                let weight = [0.0, 0.03, 0.5, 1.0, rng.range(0.0, 1.0)][rng.below(5)];
                WeightSample::new(clip, rng.range(-0.1, 1.1).into())
                    .weighted(weight)
                    .on_level(rng.below(3) as u8)
            })
            .collect();
        samples.sort_by_key(|sample| sample.level);
        let threshold = BLEND_THRESHOLD;
        blend_weights(&rest, threshold, samples.iter().copied(), &mut out).unwrap();
        let want = blended(&rest, threshold.into(), &samples);
        for (index, (got, want)) in out.iter().zip(want).enumerate() {
            let off = (f64::from(*got) - want).abs();
            // One rounding to `f32`, of values below 8.
            assert!(off <= 5e-7, "{index}: {got} for {want}");
        }
    }
}

#[test]
fn fades_between_clips_with_and_without_weights_are_even() {
    let character = morphing(4, 0.01);
    let talk = pack(&character, &baked(&character, 2));
    let walk = pack(&character, &curves(&character, Vec::new()));
    let rest = [0.25; 4];
    let mut out = [0.0; 4];
    for step in 0..=10 {
        let part = step as f32 / 10.0;
        let samples = [
            WeightSample::new(&walk, 0.0).weighted(1.0 - part),
            WeightSample::new(&talk, 1.0).weighted(part),
        ];
        blend_weights(&rest, BLEND_THRESHOLD, samples.into_iter(), &mut out).unwrap();
        assert!((out[3] - (0.25 + 0.5 * part)).abs() < 1e-6, "{out:?}");
        assert_eq!(out[0], 0.25, "not driven");
    }
    // Alone, or twice, it is itself, to the bit.
    let mut own = rest;
    talk.sample_weights(0.77, |index, value| own[index] = value);
    let one = WeightSample::new(&talk, 0.77);
    for samples in [vec![one], vec![one.weighted(0.3), one.weighted(0.4)]] {
        blend_weights(&rest, BLEND_THRESHOLD, samples.into_iter(), &mut out).unwrap();
        assert_eq!(out, own);
    }
    // Samples that take no part are not examined.
    let odd = [f32::NAN, f32::INFINITY, -1.0, 0.0].map(|weight| one.weighted(weight));
    blend_weights(&rest, BLEND_THRESHOLD, odd.into_iter(), &mut out).unwrap();
    assert_eq!(out, rest);
    assert!(blend_weights(&rest, BLEND_THRESHOLD, [].into_iter(), &mut out[..3]).is_err());
}

/// A fade from rest, a cross-fade, a layer over it and a cut with inertia, on an actor: against
/// `f64`.
#[test]
fn actors_blend_weights_as_plain_code_does() {
    let character = morphing(3, 0.01);
    let track = |values: [f32; 6]| WeightTrack {
        first_weight: 0,
        count: 3,
        keys: keys(Interpolation::Linear, &[0.0, 1.0], &values),
    };
    let tracks = [
        track([0.0, 0.5, 1.0, 1.0, 0.0, 0.25]),
        track([1.0, 1.0, 0.0, 0.5, 0.25, 0.0]),
        track([0.25, 0.0, 0.5, 0.75, 1.0, 0.5]),
    ];
    let clips = ["a", "b", "c"].iter().zip(&tracks).map(|(name, track)| {
        let clip = CurveClip::new(name, Vec::new(), character.skeleton()).unwrap();
        clip.with_weight_tracks(vec![track.clone()], 3).unwrap()
    });
    let clips: Vec<_> = clips.collect();
    let raw = character_of(3, 0.01)
        .build(&ImportOptions::with_curves())
        .unwrap();
    let character = raw.character.with_clips(clips).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add(Play::REST).unwrap();
    let play = |name| Play::new(name).ease(Ease::Linear);
    // From rest to a in 0.4 s, on to b in 0.5 s; c over it at 0.6 from 0.7 s on; a again by a cut.
    animator
        .actor_mut(id)
        .unwrap()
        .play(play("a").fade_s(0.4))
        .unwrap();
    let mut got = [0.0_f32; 3];
    let mut before = got;
    for tick in 0..=100 {
        let now_s = 0.0125 * f64::from(tick);
        animator.update(now_s).unwrap();
        match tick {
            40 => animator
                .actor_mut(id)
                .unwrap()
                .play(play("b").fade_s(0.5))
                .unwrap(),
            56 => animator
                .actor_mut(id)
                .unwrap()
                .play(play("c").layer(1).weight(0.6))
                .unwrap(),
            84 => {
                animator
                    .actor(id)
                    .unwrap()
                    .morph_weights(&mut before)
                    .unwrap();
                animator
                    .actor_mut(id)
                    .unwrap()
                    .play(play("a").inertial_s(0.15))
                    .unwrap();
            }
            _ => {}
        }
        animator.actor(id).unwrap().morph_weights(&mut got).unwrap();
        for number in 0..3 {
            let of = |clip: usize, start_s: f64| {
                exact(&tracks[clip], number, (now_s - start_s).rem_euclid(1.0))
            };
            let part = |start_s: f64, fade_s: f64| ((now_s - start_s) / fade_s).clamp(0.0, 1.0);
            let rest = 0.25;
            let low = if tick < 40 {
                rest + (of(0, 0.0) - rest) * part(0.0, 0.4)
            } else if tick < 84 {
                let (a, b) = (of(0, 0.0), of(1, 0.5));
                a + (b - a) * part(0.5, 0.5)
            } else {
                of(0, 1.05)
            };
            let want = if tick < 56 {
                low
            } else {
                low + (of(2, 0.7) - low) * 0.6
            };
            let off = f64::from(got[number]) - want;
            match tick {
                // The weights go on from where they were, by way of those of `f32`.
                84 => assert!((got[number] - before[number]).abs() < 1e-6, "{number}"),
                85..=95 => {}
                _ => assert!(
                    off.abs() <= MOST_OFF + ROUNDING,
                    "{tick}, {number}: {off:e}"
                ),
            }
        }
    }
}
