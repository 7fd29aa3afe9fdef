//! Blends of morph weights.

use super::made::{MOST_OFF, ROUNDING, baked, character_of, curves, exact, morphing, sampled};
use crate::reference::batch::{Batch, FULL_WEIGHT, Sample};
use crate::reference::handles::Handles;
use crate::reference::rig::keys;
use crate::reference::rng::Rng;
use throng::Id;
use throng::SimdLevel;
use throng::animator::{Animator, Play};
use throng::character::{AdditiveDesc, AnimationDesc, Character, PoseReference};
use throng::clip::{CurveClip, Interpolation, WeightTrack};
use throng::import::ImportOptions;
use throng::motion::Ease;

/// The blend as documented, in `f64`.
fn blended(character: &Character, samples: &[Sample]) -> Vec<f64> {
    let rest = character.morph_weights().iter();
    let mut below: Vec<f64> = rest.map(|weight| f64::from(weight.rest)).collect();
    let is_additive = |sample: &&Sample| character.clips()[sample.clip].is_additive();
    let driven = |sample: &Sample| sampled(&character.clips()[sample.clip], sample.time_s);
    for layer in samples.chunk_by(|a, b| a.layer == b.layer) {
        let means = || layer.iter().filter(|sample| !is_additive(sample));
        let whole: f64 = means().map(|sample| f64::from(sample.weight)).sum();
        if whole > 0.0 {
            let full = if layer[0].layer == 0 {
                f64::from(FULL_WEIGHT)
            } else {
                1.0
            };
            let missing = (full - whole).max(0.0);
            let mut sums: Vec<f64> = below.iter().map(|below| below * missing).collect();
            for sample in means() {
                let mut values = below.clone();
                for (index, value) in driven(sample) {
                    values[index] = f64::from(value);
                }
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += value * f64::from(sample.weight);
                }
            }
            below = sums.iter().map(|sum| sum / whole.max(full)).collect();
        }
        for sample in layer.iter().filter(is_additive) {
            for (index, value) in driven(sample) {
                below[index] += f64::from(value) * f64::from(sample.weight);
            }
        }
    }
    below
}

/// The morph weights of an actor that plays the samples.
fn weights(character: &Character, samples: &[Sample]) -> Vec<f32> {
    let batch = Batch::new(character, SimdLevel::default(), &[samples]);
    let mut out = vec![f32::NAN; character.morph_weights().len()];
    let actor = batch.animator.live(batch.actors[0]);
    actor.morph_weights(&mut out).unwrap();
    out
}

/// A character with `targets` targets and these clips, which `additive` makes additive by name.
fn playing(
    targets: usize,
    clips: Vec<Vec<WeightTrack>>,
    additive: impl Iterator<Item = usize>,
) -> Character {
    let raw = character_of(targets, 0.01);
    let character = raw.build(&with_curves()).unwrap().character;
    let clips = clips.into_iter().enumerate().map(|(number, tracks)| {
        let name = format!("clip {number}");
        curves(&character, tracks).with_name(&name)
    });
    let clips = clips.collect();
    let additive = additive.map(|number| AdditiveDesc {
        name: None,
        clip: format!("clip {number}"),
        reference: PoseReference::Rest,
    });
    let desc = AnimationDesc {
        additive: additive.collect(),
        ..AnimationDesc::default()
    };
    character
        .with_clips(clips)
        .unwrap()
        .with_animation(&desc)
        .unwrap()
}

#[test]
fn blends_agree_with_plain_code() {
    let mut rng = Rng::new(8);
    let track = |rng: &mut Rng, first_weight: u16, count: u32| {
        let values: Vec<f32> = (0..count * 4).map(|_| rng.range(-0.5, 1.5)).collect();
        let times = [0.0, 0.3, 0.7, 1.0];
        let interpolation = [Interpolation::Linear, Interpolation::Step][rng.below(2)];
        WeightTrack {
            first_weight: Id::new(first_weight),
            count,
            keys: keys(interpolation, times, &values),
        }
    };
    let clips = (0..8).map(|number| {
        let first = rng.below(24) as u16;
        let second = 30 + rng.below(20) as u16;
        match number {
            0 => Vec::new(),
            _ => vec![track(&mut rng, first, 6), track(&mut rng, second, 25)],
        }
    });
    // More than are blended at a time, in tracks that cross from one part to the next.
    let character = playing(75, clips.collect(), 6..8);
    for _ in 0..400 {
        let mut samples: Vec<Sample> = (0..rng.below(7))
            .map(|_| {
                let weight = [0.0, 0.03, 0.5, 1.0, rng.range(0.0, 1.0)][rng.below(5)];
                Sample::new(rng.below(8), rng.range(-0.1, 1.1).into())
                    .weighted(weight)
                    .on_layer(rng.below(3) as u8)
            })
            .collect();
        samples.sort_by_key(|sample| sample.layer);
        let out = weights(&character, &samples);
        let want = blended(&character, &samples);
        for (index, (got, want)) in out.iter().zip(want).enumerate() {
            let off = (f64::from(*got) - want).abs();
            // One rounding to `f32`, of values below 8.
            assert!(off <= 5e-7, "{index}: {got} for {want}");
        }
    }
}

#[test]
fn fades_between_clips_with_and_without_weights_are_even() {
    let talk = baked(&morphing(4, 0.01), 2).weight_tracks().to_vec();
    let character = playing(4, vec![Vec::new(), talk], 0..0);
    for step in 0..=10 {
        let part = step as f32 / 10.0;
        let walk = Sample::new(0, 0.0).weighted(1.0 - part);
        let talk = Sample::new(1, 1.0).weighted(part);
        let out = weights(&character, &[walk, talk]);
        assert!((out[3] - (0.25 + 0.5 * part)).abs() < 1e-6, "{out:?}");
        assert_eq!(out[0], 0.25, "not driven");
    }
    // Alone, or twice, it is itself, to the bit.
    let mut own = [0.25; 4];
    character.clips()[1].sample_weights(0.77, |id, value| own[id.index()] = value);
    let one = Sample::new(1, 0.77);
    for samples in [vec![one], vec![one.weighted(0.6), one.weighted(0.4)]] {
        assert_eq!(weights(&character, &samples), own);
    }
}

/// A fade from rest, a cross-fade, a layer over it and a cut with inertia, on an actor: against
/// `f64`.
#[test]
fn actors_blend_weights_as_plain_code_does() {
    let character = morphing(3, 0.01);
    let track = |values: [f32; 6]| WeightTrack {
        first_weight: Id::new(0),
        count: 3,
        keys: keys(Interpolation::Linear, [0.0, 1.0], values),
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
    let raw = character_of(3, 0.01).build(&with_curves()).unwrap();
    let character = raw.character.with_clips(clips).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let id = animator.add(Play::REST).unwrap();
    let play = |name| Play::new(name).ease(Ease::Linear);
    // From rest to a in 0.4 s, on to b in 0.5 s; c over it at 0.6 from 0.7 s on; a again by a cut.
    animator.live_mut(id).play(play("a").fade_s(0.4)).unwrap();
    let mut got = [0.0_f32; 3];
    let mut before = got;
    for tick in 0..=100 {
        let now_s = 0.0125 * f64::from(tick);
        animator.update(now_s).unwrap();
        match tick {
            40 => animator.live_mut(id).play(play("b").fade_s(0.5)).unwrap(),
            56 => animator
                .live_mut(id)
                .play(play("c").layer(1).weight(0.6))
                .unwrap(),
            84 => {
                animator.live(id).morph_weights(&mut before).unwrap();
                animator
                    .live_mut(id)
                    .play(play("a").inertial_s(0.15))
                    .unwrap();
            }
            _ => {}
        }
        animator.live(id).morph_weights(&mut got).unwrap();
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

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
