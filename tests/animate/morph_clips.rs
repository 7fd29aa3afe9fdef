//! Morph weights inside packed clips, and their blend, against plain `f64` code.

use crate::models::{Model, models};
use crate::reference::random;
use crate::reference::rig::{chain, keys};
use crate::reference::rng::Rng;
use std::sync::LazyLock;
use throng::Error;
use throng::animator::{Animator, AnimatorDesc, Play};
use throng::character::Character;
use throng::clip::{AdditiveReference, Clip, ClipOptions};
use throng::clip::{CurveClip, Interpolation, WeightTrack};
use throng::glam::Vec3;
use throng::import::{
    self, ImportOptions, RawChannel, RawCharacter, RawKeys, RawMorph, RawNode, RawPrimitive,
};
use throng::mesh::MorphTarget;
use throng::motion::{BLEND_THRESHOLD, Ease, WeightSample, blend_weights};
use throng::skeleton::Affine;

/// The largest allowed error of a weight.
const MOST_OFF: f64 = 1e-3;
/// The largest allowed displacement of a vertex, for a character of 1.8 m.
const BOUND_M: f64 = 1e-4;
/// `f32` in a weight of at most 2 and in the value between two keys: a few roundings.
const ROUNDING: f64 = 1e-6;

/// Models whose clips drive morph weights.
fn morphing_models() -> impl Iterator<Item = &'static Model> {
    static RANDOM: LazyLock<Vec<Model>> = LazyLock::new(|| {
        let random = (0..24).map(|seed| {
            let mut raw = random::morphing(seed);
            // Every fourth also moves its joints. Packing that takes most of the time.
            let moves = seed % 4 == 0;
            for animation in &mut raw.animations {
                let weights = |channel: &RawChannel| matches!(channel.values, RawKeys::Weights(_));
                animation
                    .channels
                    .retain(|channel| moves || weights(channel));
            }
            Model::raw(format!("random {seed}"), raw)
        });
        random.collect()
    });
    let drives = |model: &&Model| {
        let mut clips = model.character.curves().iter();
        clips.any(|clip| !clip.weight_tracks().is_empty())
    };
    models().iter().chain(&*RANDOM).filter(drives)
}

/// A character of one triangle. Each of `targets` morph targets moves one vertex by `reach_m`.
fn morphing(targets: usize, reach_m: f32) -> Character {
    let raw = character_of(targets, reach_m);
    raw.build(&ImportOptions::curves_only()).unwrap().character
}

fn character_of(targets: usize, reach_m: f32) -> RawCharacter {
    let target = MorphTarget {
        vertices: vec![2],
        positions: vec![Vec3::Y * reach_m],
        ..MorphTarget::default()
    };
    RawCharacter {
        nodes: vec![RawNode {
            name: "node".into(),
            parent: None,
            transform: import::RawTransform::Trs(throng::skeleton::Transform::IDENTITY),
        }],
        primitives: vec![RawPrimitive {
            positions: vec![Vec3::ZERO, Vec3::X * 1.8, Vec3::Y],
            indices: vec![0, 1, 2],
            morph: Some(0),
            targets: vec![target; targets],
            ..RawPrimitive::default()
        }],
        morphs: vec![RawMorph {
            weights: vec![0.25; targets],
            ..RawMorph::default()
        }],
        ..RawCharacter::default()
    }
}

fn curves(character: &Character, tracks: Vec<WeightTrack>) -> CurveClip {
    let clip = CurveClip::new("clip", Vec::new(), character.skeleton()).unwrap();
    clip.with_weight_tracks(tracks, character.morph_weights().len())
        .unwrap()
}

fn pack(character: &Character, raw: &CurveClip) -> Clip {
    Clip::new(character, raw, &ClipOptions::default()).unwrap()
}

/// The value that the curves have for a weight that a track drives.
fn exact(track: &WeightTrack, number: usize, time_s: f64) -> f64 {
    let (keys, count) = (&track.keys, track.count as usize);
    let cubic = keys.interpolation == Interpolation::CubicSpline;
    let row = |row: usize| f64::from(keys.values[row * count + number]);
    let value = |key: usize| row(if cubic { 3 * key + 1 } else { key });
    let time = |key: usize| f64::from(keys.times_s[key]);
    let last = keys.times_s.len() - 1;
    if time_s <= time(0) {
        return value(0);
    }
    if time_s >= time(last) {
        return value(last);
    }
    let k = (0..last).rfind(|key| time(*key) <= time_s).unwrap();
    let length = time(k + 1) - time(k);
    let u = (time_s - time(k)) / length;
    match keys.interpolation {
        Interpolation::Step => value(k),
        Interpolation::Linear => value(k) * (1.0 - u) + value(k + 1) * u,
        Interpolation::CubicSpline => {
            let (u2, u3) = (u * u, u * u * u);
            (2.0 * u3 - 3.0 * u2 + 1.0) * value(k)
                + length * (u3 - 2.0 * u2 + u) * row(3 * k + 2)
                + (3.0 * u2 - 2.0 * u3) * value(k + 1)
                + length * (u3 - u2) * row(3 * k + 3)
        }
    }
}

/// All weights that the curves drive, by index.
fn all_exact(raw: &CurveClip, time_s: f64) -> Vec<(usize, f64)> {
    let tracks = raw.weight_tracks().iter();
    let all = tracks.flat_map(|track| {
        (0..track.count as usize).map(move |number| {
            let index = track.first_weight as usize + number;
            (index, exact(track, number, time_s))
        })
    });
    all.collect()
}

fn sampled(clip: &Clip, time_s: f64) -> Vec<(usize, f32)> {
    let mut all = Vec::new();
    clip.sample_weights(time_s, |index, value| all.push((index, value)));
    all
}

fn times(raw: &CurveClip, rng: &mut Rng) -> Vec<f64> {
    let tracks = raw.weight_tracks().iter();
    let keys = tracks.flat_map(|track| track.keys.times_s.iter().copied().map(f64::from));
    let mut all: Vec<f64> = keys.collect();
    let end = f64::from(raw.duration_s());
    all.extend((0..64).map(|_| f64::from(rng.range(-0.05, 1.05)) * end));
    all
}

/// The largest displacement of a vertex in the rest pose, for these errors of the weights.
fn moved(character: &Character, off: &[f64]) -> f64 {
    let mut models: Vec<Affine> = Vec::new();
    for joint in character.skeleton().joints() {
        let own = joint.rest.to_affine();
        let parent = joint.parent.map(|parent| models[parent.index()]);
        models.push(parent.map_or(own, |parent| parent * own));
    }
    let mut worst = 0.0_f64;
    for primitive in character.primitives() {
        let entries = &character.palette()[character.palette_range(primitive)];
        let scale = entries.iter().map(|entry| {
            let m = models[usize::from(entry.joint)] * entry.inverse_bind;
            m.matrix3
                .x_axis
                .length()
                .max(m.matrix3.y_axis.length())
                .max(m.matrix3.z_axis.length())
        });
        let scale = f64::from(scale.fold(0.0, f32::max));
        let mut moves = vec![0.0; primitive.vertex_count()];
        let first = primitive.first_weight as usize;
        for (number, target) in primitive.targets.iter().enumerate() {
            for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
                moves[*vertex as usize] += off[first + number].abs() * f64::from(delta.length());
            }
        }
        worst = moves.into_iter().fold(worst, |a, b| a.max(b * scale));
    }
    worst
}

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
            assert_eq!(clip.drives_weights(), !raw.weight_tracks().is_empty());
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
            if !name.starts_with("random") && clip.drives_weights() {
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

/// A blink and a smile as baked at 30 Hz, and a weight that stays.
fn baked(character: &Character, seconds: usize) -> CurveClip {
    let frames = seconds * 30;
    let times: Vec<f32> = (0..=frames).map(|frame| frame as f32 / 30.0).collect();
    let values = (0..=frames).flat_map(|frame| {
        let phase = (frame % frames) as f32 / frames as f32 * std::f32::consts::TAU;
        let blink = if frame % 45 == 7 { 1.0 } else { 0.0 };
        [blink, 0.3 - 0.5 * phase.cos(), 0.75]
    });
    let values: Vec<f32> = values.collect();
    let track = WeightTrack {
        first_weight: 1,
        count: 3,
        keys: keys(Interpolation::Linear, &times, &values),
    };
    curves(character, vec![track])
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
    let mut driven = clip.driven_weights();
    assert_eq!((driven.next(), driven.next()), (Some(1..4), None));
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
        first_weight: 0,
        count: 2,
        keys: keys(
            Interpolation::Step,
            &[0.5, 1.0, 1.25],
            &[0.1, 1.0, 0.7, 0.0, 0.2, 0.5],
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
    assert!(!clip.drives_weights() && sampled(&clip, 0.0).is_empty());
}

#[test]
fn additive_clips_hold_differences() {
    let character = morphing(4, 0.01);
    let raw = baked(&character, 2);
    for (reference, at_rest) in [
        (AdditiveReference::Rest, true),
        (AdditiveReference::Frame { time_s: 0.4 }, false),
    ] {
        let options = ClipOptions::default();
        let clip = Clip::additive(&character, &raw, &reference, &options).unwrap();
        for step in 0..40 {
            let time_s = f64::from(step) * 0.05;
            let from = all_exact(&raw, 0.4);
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
    let mut animator = Animator::new(&character, &AnimatorDesc::default()).unwrap();
    let id = animator.add(Play::REST).unwrap();
    let play = |name| Play::new(name).ease(Ease::Linear);
    // From rest to a in 0.4 s, on to b in 0.5 s; c over it at 0.6 from 0.7 s on; a again by a cut.
    animator.play(id, play("a").fade_s(0.4)).unwrap();
    let mut got = [0.0_f32; 3];
    let mut before = got;
    for tick in 0..=100 {
        let now_s = 0.0125 * f64::from(tick);
        animator.update(now_s).unwrap();
        match tick {
            40 => animator.play(id, play("b").fade_s(0.5)).unwrap(),
            56 => animator.play(id, play("c").layer(1).weight(0.6)).unwrap(),
            84 => {
                animator.morph_weights(id, &mut before).unwrap();
                animator.play(id, play("a").inertial_s(0.15)).unwrap();
            }
            _ => {}
        }
        animator.morph_weights(id, &mut got).unwrap();
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
