//! Stacks of layers: cross-fades that do not jump, clips in step, and any jump of the clock.

mod reference;

use reference::rng::Rng;
use throng::pose::{ClipSample, Ease, Layer, LayerStack, LoopMode, Ramp};

/// Of walk, run, jog and a wave.
const DURATIONS_S: [f64; 4] = [1.25, 0.75, 1.0, 2.0];

fn at(layers: &LayerStack, now_s: f64) -> Vec<ClipSample> {
    layers.samples(now_s, &DURATIONS_S).collect()
}

fn sum(samples: &[ClipSample], level: u8) -> f32 {
    let mine = samples.iter().filter(|sample| sample.level == level);
    mine.map(|sample| sample.weight).sum()
}

/// The shorter way round between two times of a clip in a loop.
fn apart(a: f64, b: f64, duration: f64) -> f64 {
    let off = (a - b).abs();
    off.min(duration - off)
}

/// What is heard of `before` is heard of `after` at the same time, and nothing else: each clip's weights by time.
fn check_no_jump(before: &[ClipSample], after: &[ClipSample], what: &str) {
    for samples in [before, after] {
        for sample in samples {
            let weight = |of: &[ClipSample]| -> f32 {
                let same = |other: &&ClipSample| {
                    let duration = DURATIONS_S[sample.clip];
                    (other.clip, other.level, other.mask)
                        == (sample.clip, sample.level, sample.mask)
                        && apart(other.time_s, sample.time_s, duration) < 1e-9
                };
                of.iter().filter(same).map(|other| other.weight).sum()
            };
            let (old, new) = (weight(before), weight(after));
            assert!((old - new).abs() < 1e-6, "{what}: {before:?} to {after:?}");
        }
    }
}

#[test]
fn a_cross_fade_goes_from_one_to_the_other() {
    let mut layers = LayerStack::new();
    assert!(layers.is_empty() && at(&layers, 0.0).is_empty());
    layers.play(Layer::new(0, 0.0));
    layers.cross_fade(Layer::new(3, 10.0), 10.0, 2.0, Ease::Linear);
    for (now, from, to) in [(10.5, 0.75, 0.25), (11.0, 0.5, 0.5)] {
        let [a, b] = at(&layers, now)[..] else {
            panic!()
        };
        assert_eq!((a.clip, a.weight, b.clip, b.weight), (0, from, 3, to));
        assert_eq!(b.time_s, now - 10.0);
    }
    assert_eq!(at(&layers, 12.0), [ClipSample::new(3, 0.0)]);
    assert_eq!(layers.len(), 2);
    layers.prune(12.0);
    assert_eq!(layers.len(), 1);
    layers.fade_out(0, 12.0, 1.0, Ease::Smooth);
    assert_eq!(at(&layers, 12.5)[0].weight, 0.5);
    assert!(at(&layers, 13.0).is_empty());
    layers.prune(13.0);
    assert!(layers.is_empty());
}

#[test]
fn levels_keep_apart_and_ascend() {
    let mut layers = LayerStack::new();
    layers.play(Layer::new(3, 0.0).on_level(2).with_mask(1));
    layers.play(Layer::new(0, 0.0));
    layers.cross_fade(Layer::new(1, 1.0).on_level(2), 1.0, 1.0, Ease::Linear);
    layers.cross_fade(
        Layer::new(2, 1.0).with_weight(Ramp::constant(0.5)),
        1.0,
        1.0,
        Ease::Linear,
    );
    let clips: Vec<_> = at(&layers, 1.5)
        .iter()
        .map(|s| (s.clip, s.level, s.mask, s.weight))
        .collect();
    assert_eq!(
        clips,
        [
            (0, 0, None, 0.5),
            (2, 0, None, 0.25),
            (3, 2, Some(1), 0.5),
            (1, 2, None, 0.5)
        ]
    );
    let levels: Vec<u8> = layers.layers().map(|layer| layer.level).collect();
    assert_eq!(levels, [0, 0, 2, 2]);
    layers.fade_out(2, 2.0, 0.0, Ease::Linear);
    assert!(at(&layers, 2.0).iter().all(|sample| sample.level == 0));
    layers.clear();
    assert!(layers.is_empty() && layers.anchor(0).is_none());
}

/// A change of any kind at `now`.
fn change(layers: &mut LayerStack, rng: &mut Rng, now: f64) -> &'static str {
    let to = Layer::new(rng.below(3), now).with_offset(rng.range(0.0, 1.0).into());
    let seconds = f64::from(rng.range(0.0, 1.0));
    let ease = [Ease::Linear, Ease::Smooth][rng.below(2)];
    match rng.below(3) {
        0 => {
            layers.cross_fade(to, now, seconds, ease);
            "cross-fade"
        }
        1 => {
            layers.cross_fade_in_step(to.with_offset(0.0), now, seconds, ease, &DURATIONS_S);
            "cross-fade in step"
        }
        _ => {
            layers.cross_fade_in_step(
                to.with_speed(rng.range(0.5, 2.0).into()),
                now,
                seconds,
                ease,
                &DURATIONS_S,
            );
            "cross-fade in step, shifted"
        }
    }
}

#[test]
fn interrupted_cross_fades_do_not_jump_and_weights_sum_to_one() {
    let mut rng = Rng::new(1);
    for round in 0..200 {
        let mut layers = LayerStack::new();
        layers.play(Layer::new(0, 0.0));
        let mut now = f64::from(rng.range(0.0, 9.0));
        for _ in 0..20 {
            let before = at(&layers, now);
            let what = change(&mut layers, &mut rng, now);
            let after = at(&layers, now);
            // A fade of no time is a jump that was asked for.
            check_no_jump(&before, &after, what);
            for _ in 0..4 {
                now += f64::from(rng.range(0.001, 0.3));
                let samples = at(&layers, now);
                assert!(
                    (sum(&samples, 0) - 1.0).abs() < 1e-5,
                    "round {round}: {samples:?}"
                );
                for sample in &samples {
                    assert!((0.0..=DURATIONS_S[sample.clip]).contains(&sample.time_s));
                }
            }
        }
        layers.prune(now + 2.0);
        assert_eq!(layers.len(), 1, "round {round}");
    }
}

#[test]
fn any_jump_of_the_clock_gives_the_same_samples() {
    let mut rng = Rng::new(2);
    for _ in 0..100 {
        let mut layers = LayerStack::new();
        layers.play(Layer::new(1, 0.0));
        let mut now = 5.0;
        for _ in 0..6 {
            change(&mut layers, &mut rng, now);
            now += f64::from(rng.range(0.01, 0.5));
        }
        let times: Vec<f64> = (0..50)
            .map(|_| now + f64::from(rng.range(0.0, 20.0)))
            .collect();
        let forward: Vec<_> = times.iter().map(|time| at(&layers, *time)).collect();
        let saved = layers.clone();
        drop(layers);
        for (time, want) in times.iter().zip(&forward).rev() {
            assert_eq!(at(&saved, *time), *want);
        }
    }
}

#[test]
fn clips_in_step_share_a_phase_whose_rate_goes_with_the_weights() {
    let mut rng = Rng::new(3);
    for _ in 0..200 {
        let mut layers = LayerStack::new();
        layers.play(Layer::new(0, f64::from(rng.range(-5.0, 5.0))));
        let ease = [Ease::Linear, Ease::Smooth][rng.below(2)];
        let (start, seconds) = (
            f64::from(rng.range(6.0, 9.0)),
            f64::from(rng.range(0.1, 2.0)),
        );
        let alone = at(&layers, start)[0].time_s / DURATIONS_S[0];
        layers.cross_fade_in_step(Layer::new(1, 0.0), start, seconds, ease, &DURATIONS_S);
        let mut phase = alone;
        // The midpoint rule over the weights that are seen.
        let steps = 4000;
        let step = 1.5 * seconds / f64::from(steps);
        for number in 0..steps {
            let now = start + f64::from(number) * step;
            let samples = at(&layers, now + 0.5 * step);
            let rate: f64 = samples
                .iter()
                .map(|s| f64::from(s.weight) / DURATIONS_S[s.clip])
                .sum();
            phase += rate * step;
            let samples = at(&layers, now + step);
            for sample in samples {
                let own = sample.time_s / DURATIONS_S[sample.clip];
                assert!(
                    apart(own, phase.rem_euclid(1.0), 1.0) < 1e-6,
                    "{own} {phase} at {now}"
                );
            }
        }
        assert_eq!(
            layers.anchor(0).unwrap().rate_hz(start + seconds),
            1.0 / DURATIONS_S[1]
        );
    }
}

#[test]
fn going_back_and_forth_in_step_adds_no_layers() {
    let mut rng = Rng::new(4);
    let mut layers = LayerStack::new();
    layers.play(Layer::new(0, 0.0));
    let mut now = 1.0;
    for turn in 0..500 {
        let to = Layer::new([1, 0][turn % 2], now);
        let before = at(&layers, now);
        layers.cross_fade_in_step(to, now, 0.4, Ease::Smooth, &DURATIONS_S);
        check_no_jump(&before, &at(&layers, now), "back and forth");
        assert!(layers.len() <= 2);
        now += f64::from(rng.range(0.0, 0.3));
    }
    // For other joints, it is another layer.
    layers.cross_fade_in_step(
        Layer::new(0, now).with_mask(3),
        now,
        0.4,
        Ease::Smooth,
        &DURATIONS_S,
    );
    assert_eq!(layers.len(), 3);
}

#[test]
fn only_loops_keep_step() {
    let mut layers = LayerStack::new();
    layers.play(Layer::new(0, 0.0).with_loop_mode(LoopMode::PingPong));
    layers.cross_fade_in_step(Layer::new(1, 3.0), 3.0, 1.0, Ease::Linear, &DURATIONS_S);
    assert_eq!(at(&layers, 3.0)[0].time_s, 0.5);
    assert_eq!(at(&layers, 3.25)[1].time_s, 0.25);
    assert!(layers.anchor(0).is_none());
    layers.cross_fade_in_step(
        Layer::new(2, 5.0).with_loop_mode(LoopMode::Once),
        5.0,
        1.0,
        Ease::Linear,
        &DURATIONS_S,
    );
    assert!(layers.anchor(0).is_none());
    // Nothing to keep step with: from the start, in from the rest pose.
    let mut alone = LayerStack::new();
    alone.cross_fade_in_step(Layer::new(2, 0.0), 7.0, 1.0, Ease::Linear, &DURATIONS_S);
    let samples = at(&alone, 7.25);
    assert_eq!(
        (samples.len(), samples[0].time_s, samples[0].weight),
        (1, 0.25, 0.25)
    );
}

#[test]
fn steps_are_as_exact_after_thirty_days_as_at_the_start() {
    let mut worst = [0.0_f64; 3];
    for (age, since) in [0.0, 86_400.0, 30.0 * 86_400.0].into_iter().enumerate() {
        let mut layers = LayerStack::new();
        layers.play(Layer::new(0, 0.0));
        layers.cross_fade_in_step(Layer::new(2, 0.0), 0.0, 0.5, Ease::Smooth, &DURATIONS_S);
        // The jog's second is exact in binary; over the fade, half of it ran at the walk's rate, 0.8 Hz.
        let ahead = 0.5 * 0.5 * (0.8 - 1.0);
        let mut rng = Rng::new(5);
        for _ in 0..5000 {
            let now = 1.0 + since + rng.below(1 << 24) as f64 / f64::from(1 << 20);
            let want = (now % 1.0 + ahead).rem_euclid(1.0);
            let got = at(&layers, now)[0].time_s;
            worst[age] = worst[age].max(apart(got, want, 1.0));
        }
    }
    println!("off by at most {worst:?} s at 0 s, 1 day and 30 days");
    assert!(worst.iter().all(|off| *off < 2e-9), "{worst:?}");
}

#[test]
fn odd_values_do_no_harm() {
    let odd = [
        0.0,
        -1.0,
        1e-300,
        1e300,
        f64::MAX,
        f64::MIN,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let mut rng = Rng::new(6);
    for _ in 0..3000 {
        let mut any = || odd[rng.below(odd.len())];
        let mut layers = LayerStack::new();
        layers.play(Layer::new(0, any()).with_speed(any()).with_offset(any()));
        let durations = [any(), any()];
        for _ in 0..3 {
            let to = Layer::new(1, any()).with_speed(any()).with_offset(any());
            layers.cross_fade_in_step(to, any(), any(), Ease::Smooth, &durations);
            layers.cross_fade(to, any(), any(), Ease::Linear);
            layers.cross_fade_in_step(
                Layer::new(usize::MAX, any()),
                any(),
                any(),
                Ease::Linear,
                &durations,
            );
        }
        for sample in layers.samples(any(), &durations) {
            let duration = durations.get(sample.clip).copied().unwrap_or(0.0);
            let end = if duration > 0.0 { duration } else { 0.0 };
            assert!(
                (0.0..=end).contains(&sample.time_s),
                "{sample:?} {durations:?}"
            );
            assert!((0.0..=1.0).contains(&sample.weight), "{sample:?}");
        }
    }
}
