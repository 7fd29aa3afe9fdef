//! Packed clips hold the weights of the file.

use super::made::{
    BOUND_M, MOST_OFF, ROUNDING, all_exact, baked, character_of, curves, morphing, morphing_models,
    moved, pack, sampled, times,
};
use crate::models::Model;
use crate::reference::rig::{self, chain, keys};
use crate::reference::rng::Rng;
use throng::character::PoseReference;
use throng::clip::{Clip, ClipOptions, CurveClip, Interpolation, WeightTrack};
use throng::import::ImportOptions;
use throng::{Error, Id};

#[test]
fn packed_weights_stay_in_the_bound() {
    let mut rng = Rng::new(3);
    for model in morphing_models() {
        let Model {
            name, character, ..
        } = model;
        let size = f64::from(character.rest_bounds().size().max_element());
        let bound = BOUND_M * if size > 0.0 { size / 1.8 } else { 1.0 };
        for (raw, clip) in character.curves().iter().zip(model.packed()) {
            let drives = !sampled(clip, 0.0).is_empty();
            assert_eq!(drives, !raw.weight_tracks().is_empty());
            let (mut worst, mut far) = (0.0_f64, 0.0_f64);
            for time_s in times(raw, &mut rng) {
                let (want, got) = (all_exact(raw, time_s), sampled(clip, time_s));
                assert_eq!(want.len(), got.len());
                let mut off = vec![0.0; character.morph_weights().len()];
                let mut slack = 0.0_f64;
                for ((index, want), (at, got)) in want.into_iter().zip(got) {
                    assert_eq!(index, at);
                    let rounding = ROUNDING * (1.0 + want.abs());
                    off[index] = ((want - f64::from(got)).abs() - rounding).max(0.0);
                    slack = slack.max(off[index]);
                }
                worst = worst.max(slack);
                far = far.max(moved(character, &off));
            }
            if !name.starts_with("random") && drives {
                println!(
                    "{name} {}: weights off by {worst:.1e}, own measure {:.1e}, vertices by \
                     {:.2} of the bound, {} of {} bytes",
                    raw.name(),
                    clip.report().weight_error,
                    far / bound,
                    clip.report().bytes,
                    clip.report().raw_bytes,
                );
            }
            assert!(worst <= MOST_OFF, "{name} {}: {worst}", raw.name());
            // Weights need not be nearer than 1e-6, which the rounding holds.
            assert!(far <= bound * 1.001, "{name} {}: {far}", raw.name());
        }
    }
}

#[test]
fn baked_weights_get_small_and_keep_zero_half_and_one() {
    let character = morphing(5, 0.02);
    let raw = baked(&character, 4);
    let clip = pack(&character, &raw);
    let report = clip.report();
    // A key has four numbers: its time and three weights.
    let as_curves = raw.weight_tracks()[0].keys.times_s.len() * 4 * 4;
    let without = pack(&character, &curves(&character, Vec::new()))
        .report()
        .bytes;
    println!("{report:?}, {as_curves} bytes as curves");
    assert!((report.bytes - without) * 3 < as_curves, "{report:?}");
    assert!(report.weight_error <= 1e-3);
    for frame in 0..=120 {
        let got = sampled(&clip, f64::from(frame as f32 / 30.0));
        let blink = if frame % 45 == 7 { 1.0 } else { 0.0 };
        assert!((got[0].1 - blink).abs() < 1e-5, "{frame}: {got:?}");
        assert_eq!(got[2], (3, 0.75));
    }
    assert_eq!(
        sampled(&clip, 0.0)[0],
        (1, 0.0),
        "the weight is not exactly 0"
    );
    let driven = sampled(&clip, 0.0).into_iter().map(|(weight, _)| weight);
    assert!(driven.eq([1, 2, 3]));
}

#[test]
fn weights_that_loop_in_the_file_loop_to_the_bit() {
    let mut loops = 0;
    for model in morphing_models() {
        for (raw, clip) in model.character.curves().iter().zip(model.packed()) {
            let end = raw.duration_s().into();
            let (want, got) = [0.0, end]
                .map(|time_s| (all_exact(raw, time_s), sampled(clip, time_s)))
                .into();
            for number in 0..want.1.len() {
                if want.0[number] == got.0[number] {
                    loops += 1;
                    assert_eq!(
                        want.1[number],
                        got.1[number],
                        "{} {}",
                        model.name,
                        raw.name()
                    );
                }
            }
        }
    }
    let character = morphing(4, 0.1);
    let clip = pack(&character, &baked(&character, 3));
    assert_eq!(sampled(&clip, 0.0), sampled(&clip, 3.0));
    println!("{loops} loops");
}

#[test]
fn steps_stay_steps_and_times_are_clamped() {
    let character = morphing(2, 1.0);
    let track = WeightTrack {
        first_weight: Id::new(0),
        count: 2,
        keys: keys(
            Interpolation::Step,
            [0.5, 1.0, 1.25],
            [0.1, 1.0, 0.7, 0.0, 0.2, 0.5],
        ),
    };
    let clip = pack(&character, &curves(&character, vec![track]));
    for (time_s, want) in [
        (f64::NEG_INFINITY, [0.1, 1.0]),
        (f64::NAN, [0.1, 1.0]),
        (0.999_999, [0.1, 1.0]),
        (1.0, [0.7, 0.0]),
        (1.249_999, [0.7, 0.0]),
        (1.25, [0.2, 0.5]),
        (f64::INFINITY, [0.2, 0.5]),
    ] {
        let got = sampled(&clip, time_s);
        assert_eq!(got, [(0, want[0]), (1, want[1])], "{time_s}");
    }
}

#[test]
fn what_the_character_lacks_is_refused() {
    let raw = baked(&morphing(5, 0.1), 1);
    let few = morphing(3, 0.1);
    let error = Clip::new(&few, &raw, &ClipOptions::default()).unwrap_err();
    assert_eq!(
        error,
        Error::NotFound {
            what: "morph weight",
            index: 3,
            count: 3
        }
    );
    // A character without weights and its clips: nothing is driven, and nothing is called.
    let plain = chain(2);
    let none = CurveClip::new("none", Vec::new(), plain.skeleton()).unwrap();
    let clip = pack(&plain, &none);
    assert!(sampled(&clip, 0.0).is_empty());
}

#[test]
fn additive_clips_hold_differences() {
    let options = ImportOptions {
        curves: true,
        ..ImportOptions::default()
    };
    let character = character_of(4, 0.01).build(&options).unwrap().character;
    let raw = baked(&character, 2);
    let character = character.with_clips(vec![raw.clone()]).unwrap();
    for (reference, at_rest) in [(PoseReference::Rest, true), (PoseReference::Start, false)] {
        let clip = rig::additive(character.clone(), reference).unwrap().clips()[0].clone();
        for step in 0..40 {
            let time_s = f64::from(step) * 0.05;
            let from = all_exact(&raw, 0.0);
            for ((index, want), (at, got)) in all_exact(&raw, time_s)
                .into_iter()
                .zip(sampled(&clip, time_s))
            {
                assert_eq!(index, at);
                let reference = if at_rest { 0.25 } else { from[index - 1].1 };
                let off = (want - reference - f64::from(got)).abs();
                assert!(off <= MOST_OFF + ROUNDING, "{index} at {time_s}: {off}");
            }
        }
    }
}
