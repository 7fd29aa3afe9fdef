//! Layers: the clip's time as a closed form of the engine's.

mod reference;

use reference::rng::Rng;
use throng::pose::{ClipSample, Ease, Layer, LoopMode, Ramp};

fn layer(loop_mode: LoopMode) -> Layer {
    Layer {
        loop_mode,
        ..Layer::new(0, 10.0)
    }
}

#[test]
fn loops_start_over() {
    let layer = layer(LoopMode::Loop);
    for (now, expected) in [
        (10.0, 0.0),
        (11.5, 1.5),
        (12.0, 0.0),
        (17.5, 1.5),
        (9.5, 1.5),
    ] {
        assert_eq!(layer.clip_time_s(now, 2.0), expected, "{now}");
    }
}

#[test]
fn once_holds_both_ends() {
    let layer = layer(LoopMode::Once);
    for (now, expected) in [
        (10.0, 0.0),
        (11.5, 1.5),
        (12.0, 2.0),
        (1e9, 2.0),
        (9.0, 0.0),
    ] {
        assert_eq!(layer.clip_time_s(now, 2.0), expected, "{now}");
    }
}

#[test]
fn speed_and_offset_apply() {
    let backwards = Layer {
        speed: -0.5,
        offset_s: 1.5,
        ..layer(LoopMode::Loop)
    };
    for (now, expected) in [(10.0, 1.5), (12.0, 0.5), (14.0, 1.5), (15.0, 1.0)] {
        assert_eq!(backwards.clip_time_s(now, 2.0), expected, "{now}");
    }
    let once = Layer {
        loop_mode: LoopMode::Once,
        ..backwards
    };
    assert_eq!(once.clip_time_s(14.0, 2.0), 0.0);
    let held = Layer {
        speed: 0.0,
        ..backwards
    };
    assert_eq!(held.clip_time_s(1e12, 2.0), 1.5);
}

#[test]
fn thirty_days_cost_no_precision() {
    let month = 30.0 * 86_400.0;
    let layer = Layer::new(0, 0.0);
    // 1.375 divides a month into whole loops less 0.625 s, exactly in binary.
    let phase = month % 1.375;
    for step in 0..100 {
        let ahead = f64::from(step) / 64.0;
        let got = layer.clip_time_s(month + ahead, 1.375);
        assert_eq!(got, (phase + ahead) % 1.375);
    }
    let late = Layer::new(0, month);
    assert!((late.clip_time_s(month + 0.1, 1.0) - 0.1).abs() < 1e-9);
}

#[test]
fn times_lie_within_the_clip() {
    let mut rng = Rng::new(3);
    for _ in 0..10_000 {
        let layer = Layer::new(0, rng.range(-1e6, 1e6).into())
            .with_offset(rng.range(-10.0, 10.0).into())
            .with_speed(rng.range(-3.0, 3.0).into())
            .with_loop_mode([LoopMode::Loop, LoopMode::Once, LoopMode::PingPong][rng.below(3)]);
        let duration = rng.range(0.0, 5.0);
        let time = layer.clip_time_s(rng.range(-1e6, 1e6).into(), duration);
        assert!(
            (0.0..=f64::from(duration)).contains(&time),
            "{layer:?} {duration}: {time}"
        );
    }
    let almost = Layer::new(0, 1e-300);
    assert!((0.0..=1.0).contains(&almost.clip_time_s(0.0, 1.0)));
}

#[test]
fn what_is_no_time_is_zero() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308];
    for loop_mode in [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong] {
        for duration in [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(
                layer(loop_mode).clip_time_s(11.0, duration),
                0.0,
                "{duration}"
            );
        }
        for value in odd {
            let good = layer(loop_mode);
            let layers = [
                good,
                Layer {
                    start_s: value,
                    ..good
                },
                Layer {
                    offset_s: value,
                    ..good
                },
                Layer {
                    speed: value,
                    ..good
                },
            ];
            for (index, layer) in layers.iter().enumerate() {
                let now = if index == 0 { value } else { 1e9 };
                let time = layer.clip_time_s(now, 2.0);
                assert!((0.0..=2.0).contains(&time), "{layer:?} at {now}: {time}");
                if !value.is_finite() {
                    assert_eq!(time, 0.0, "{layer:?} at {now}");
                }
            }
        }
    }
    // The shortest clip there is, after a month.
    let shortest = f32::from_bits(1);
    let time = Layer::new(0, 0.0).clip_time_s(2_592_000.1, shortest);
    assert!((0.0..=f64::from(shortest)).contains(&time));
}

#[test]
fn ping_pong_turns_round_at_both_ends() {
    let layer = layer(LoopMode::PingPong);
    for (now, expected) in [
        (10.0, 0.0),
        (11.5, 1.5),
        (12.0, 2.0),
        (12.5, 1.5),
        (14.0, 0.0),
        (14.25, 0.25),
        (9.5, 0.5),
        (7.5, 1.5),
    ] {
        assert_eq!(layer.clip_time_s(now, 2.0), expected, "{now}");
    }
}

/// A number of clip seconds as a whole number of 2⁻³⁰ s, so that remainders are exact.
const TICK: f64 = 1.0 / (1_u64 << 30) as f64;

fn ticks(seconds: f64) -> i128 {
    let ticks = seconds / TICK;
    assert_eq!(
        ticks,
        ticks.round(),
        "{seconds} is no whole number of ticks"
    );
    ticks as i128
}

#[test]
fn times_are_as_exact_after_thirty_days_as_at_the_start() {
    let mut rng = Rng::new(11);
    let mut worst = [0.0_f64; 3];
    for (age, since) in [0.0, 86_400.0, 30.0 * 86_400.0].into_iter().enumerate() {
        for _ in 0..20_000 {
            // Engine times have 2⁻²⁰ s, speeds 2⁻¹⁰: products are whole ticks, but not in 53 bits of `f64`.
            let now = since + rng.below(1 << 24) as f64 / f64::from(1 << 20);
            let speed = (rng.below(1 << 13) as f64 - 4096.0) / 1024.0;
            let offset = rng.below(1 << 22) as f64 / f64::from(1 << 20);
            let duration = rng.range(0.1, 9.0);
            let duration = (f64::from(duration) * 1024.0).round() / 1024.0;
            for loop_mode in [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong] {
                let layer = Layer::new(0, 0.0)
                    .with_offset(offset)
                    .with_speed(speed)
                    .with_loop_mode(loop_mode);
                let raw = ticks(now) * (speed * 1024.0) as i128 / 1024 + ticks(offset);
                let length = ticks(duration);
                let want = match loop_mode {
                    LoopMode::Loop => raw.rem_euclid(length),
                    LoopMode::Once => raw.clamp(0, length),
                    LoopMode::PingPong => length - (raw.rem_euclid(2 * length) - length).abs(),
                };
                let got = layer.clip_time_s(now, duration);
                let mut off = (got - want as f64 * TICK).abs();
                if loop_mode == LoopMode::Loop {
                    off = off.min(duration - off);
                }
                worst[age] = worst[age].max(off);
            }
        }
    }
    println!("off by at most {worst:?} s at 0 s, 1 day and 30 days");
    assert!(worst.iter().all(|off| *off <= 1e-8), "{worst:?}");
}

#[test]
fn a_speed_may_change_without_a_jump() {
    let mut rng = Rng::new(12);
    for _ in 0..5000 {
        let loop_mode = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong][rng.below(3)];
        let speed = |rng: &mut Rng| f64::from(rng.range(-3.0, 3.0));
        let layer = Layer::new(0, 2.0)
            .with_speed(speed(&mut rng))
            .with_loop_mode(loop_mode);
        let (now, to) = (f64::from(rng.range(-20.0, 50.0)), speed(&mut rng));
        let changed = layer.re_timed(now, to, 1.5);
        assert_eq!(changed.clip_time_s(now, 1.5), layer.clip_time_s(now, 1.5));
        let (before, after) = (
            layer.clip_time_s(now - 1e-6, 1.5),
            changed.clip_time_s(now + 1e-6, 1.5),
        );
        let off = (after - before).abs();
        let off = if loop_mode == LoopMode::Loop {
            off.min(1.5 - off)
        } else {
            off
        };
        assert!(off <= 6.1e-6, "{layer:?} to {to} at {now}: {off}");
        // Going on at the same speed changes nothing, but where it has come to an end.
        let same = layer.re_timed(now, layer.speed, 1.5);
        let later = now + 0.37;
        if loop_mode != LoopMode::Once {
            let off = (same.clip_time_s(later, 1.5) - layer.clip_time_s(later, 1.5)).abs();
            assert!(off.min(1.5 - off) <= 1e-12, "{layer:?} at {now}: {off}");
        }
        let paused = layer.re_timed(now, 0.0, 1.5);
        assert_eq!(paused.clip_time_s(1e9, 1.5), layer.clip_time_s(now, 1.5));
    }
}

#[test]
fn a_layer_says_what_it_plays() {
    let layer = Layer::new(4, 10.0)
        .with_offset(0.5)
        .with_speed(2.0)
        .with_loop_mode(LoopMode::Once)
        .with_weight(Ramp::new(0.25, 0.75, 10.0, 2.0, Ease::Linear))
        .with_mask(3)
        .on_level(2);
    let want = ClipSample {
        clip: 4,
        time_s: 2.5,
        weight: 0.5,
        mask: Some(3),
        level: 2,
    };
    assert_eq!(layer.sample(11.0, 9.0), want);
    assert_eq!(layer.sample(11.0, 9.0_f32), want);
    assert_eq!(Layer::new(1, 0.0).sample(0.5, 2.0), ClipSample::new(1, 0.5));
    // A fade goes on from where the weight is.
    let out = layer.fade_out(11.0, 1.0);
    assert_eq!(
        [10.0, 11.0, 11.5, 12.0].map(|now| out.weight_at(now)),
        [0.5, 0.5, 0.25, 0.0]
    );
    let back = layer.fade_in(20.0, 1.0);
    assert_eq!(
        [19.0, 20.5, 21.0].map(|now| back.weight_at(now)),
        [0.0, 0.375, 0.75]
    );
}

#[test]
fn ramps_are_what_they_are_said_to_be() {
    let mut rng = Rng::new(13);
    for _ in 0..5000 {
        let (from, to) = (rng.range(0.0, 2.0), rng.range(0.0, 2.0));
        let (start, length) = (
            f64::from(rng.range(-9.0, 9.0)),
            f64::from(rng.range(0.01, 4.0)),
        );
        let ease = [Ease::Linear, Ease::Smooth][rng.below(2)];
        let ramp = Ramp::new(from, to, start, length, ease);
        let now = start + f64::from(rng.range(-0.5, 1.5)) * length;
        let u = ((now - start) / length).clamp(0.0, 1.0);
        let part = match ease {
            Ease::Linear => u,
            Ease::Smooth => 3.0 * u.powi(2) - 2.0 * u.powi(3),
        };
        let want = f64::from(from) * (1.0 - part) + f64::from(to) * part;
        assert!(
            (f64::from(ramp.at(now)) - want).abs() < 2e-7,
            "{ramp:?} at {now}"
        );
        assert_eq!(ramp.at(start), from);
        assert_eq!(ramp.at(start + 2.0 * length), to);
        assert_eq!(ramp.has_ended(now), u >= 1.0);
        let turned = ramp.turned(now, 0.5, 1.0, ease);
        assert_eq!(turned.at(now), ramp.at(now));
    }
    let step = Ramp::new(0.25, 0.75, 3.0, 0.0, Ease::Smooth);
    assert_eq!([2.9, 3.0, 4.0].map(|now| step.at(now)), [0.25, 0.75, 0.75]);
    // Odd times give one of the ends.
    for odd in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        -1.0,
    ] {
        for ramp in [
            Ramp::new(0.25, 0.75, odd, 1.0, Ease::Smooth),
            Ramp::new(0.25, 0.75, 1.0, odd, Ease::Smooth),
            Ramp::new(0.25, 0.75, odd, odd, Ease::Linear),
        ] {
            for now in [odd, 0.0, f64::MAX] {
                assert!([0.25, 0.75].contains(&ramp.at(now)), "{ramp:?} at {now}");
            }
        }
    }
}

#[test]
fn a_loop_never_shows_its_end() {
    // So little before 0 that the remainder rounds to the whole duration.
    let layer = Layer::new(0, 0.0);
    for now_s in [-1e-20, -f64::MIN_POSITIVE, -1e-17] {
        assert_eq!(layer.clip_time_s(now_s, 1.25), 0.0, "{now_s}");
    }
    assert_eq!(layer.clip_time_s(-0.25, 1.25), 1.0);
}

/// Ten years of 1.375 s cycles, a duration that is exact in binary: every wrapped time is exact, and
/// a layer, its loop mode and the exact remainder agree to the bit.
#[test]
fn every_way_to_wrap_time_is_the_same_exact_one() {
    const DURATION_S: f64 = 1.375;
    for day in [0.0, 1.0, 30.0, 365.0, 3_650.0] {
        for step in -50..50 {
            let unwrapped_s = day * 86_400.0 + f64::from(step) / 64.0;
            for sign in [1.0, -1.0] {
                let unwrapped_s = sign * unwrapped_s;
                let ticks = (unwrapped_s * 64.0) as i128;
                let length = (DURATION_S * 64.0) as i128;
                for (loop_mode, want) in [
                    (LoopMode::Loop, ticks.rem_euclid(length)),
                    (LoopMode::Once, ticks.clamp(0, length)),
                    (
                        LoopMode::PingPong,
                        length - (ticks.rem_euclid(2 * length) - length).abs(),
                    ),
                ] {
                    let want = want as f64 / 64.0;
                    let layer = Layer::new(0, 0.0).with_loop_mode(loop_mode);
                    assert_eq!(loop_mode.clip_time_s(unwrapped_s, DURATION_S), want);
                    assert_eq!(layer.clip_time_s(unwrapped_s, DURATION_S), want);
                    // Held, and then played on: the same cycle from there.
                    let paused = layer.re_timed(unwrapped_s, 0.0, DURATION_S);
                    assert_eq!(paused.clip_time_s(0.0, DURATION_S), want);
                }
            }
        }
    }
}
