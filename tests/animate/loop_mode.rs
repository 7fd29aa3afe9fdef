//! The time in a clip as a closed form of the engine's time: loop modes and animator records.

use crate::reference::rng::Rng;
use bytemuck::Zeroable;
use throng::animator::PlayRecord;
use throng::motion::LoopMode;

const MODES: [LoopMode; 3] = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong];
const MONTH_S: f64 = 30.0 * 86_400.0;

/// A clip that plays from `start_s` on, as the animator keeps it.
fn record(start_s: f64, offset_s: f64, speed: f64, loop_mode: LoopMode) -> PlayRecord {
    PlayRecord {
        anchor_s: start_s,
        offset_s,
        from_speed: speed,
        to_speed: speed,
        loop_mode: MODES.iter().position(|mode| *mode == loop_mode).unwrap() as u8,
        ..Zeroable::zeroed()
    }
}

/// From 10 s on.
fn layer(loop_mode: LoopMode) -> PlayRecord {
    record(10.0, 0.0, 1.0, loop_mode)
}

#[test]
fn loops_start_over() {
    let record = layer(LoopMode::Loop);
    for (now, expected) in [
        (10.0, 0.0),
        (11.5, 1.5),
        (12.0, 0.0),
        (17.5, 1.5),
        (9.5, 1.5),
    ] {
        assert_eq!(record.clip_time_s(now, 2.0), expected, "{now}");
    }
}

#[test]
fn once_holds_both_ends() {
    let record = layer(LoopMode::Once);
    for (now, expected) in [
        (10.0, 0.0),
        (11.5, 1.5),
        (12.0, 2.0),
        (1e9, 2.0),
        (9.0, 0.0),
    ] {
        assert_eq!(record.clip_time_s(now, 2.0), expected, "{now}");
    }
}

#[test]
fn speed_and_offset_apply() {
    let backwards = record(10.0, 1.5, -0.5, LoopMode::Loop);
    for (now, expected) in [(10.0, 1.5), (12.0, 0.5), (14.0, 1.5), (15.0, 1.0)] {
        assert_eq!(backwards.clip_time_s(now, 2.0), expected, "{now}");
    }
    let once = record(10.0, 1.5, -0.5, LoopMode::Once);
    assert_eq!(once.clip_time_s(14.0, 2.0), 0.0);
    let held = record(10.0, 1.5, 0.0, LoopMode::Loop);
    assert_eq!(held.clip_time_s(1e12, 2.0), 1.5);
}

#[test]
fn thirty_days_cost_no_precision() {
    let early = record(0.0, 0.0, 1.0, LoopMode::Loop);
    // 1.375 divides a month into whole loops less 0.625 s, exactly in binary.
    let phase = MONTH_S % 1.375;
    for step in 0..100 {
        let ahead = f64::from(step) / 64.0;
        let got = early.clip_time_s(MONTH_S + ahead, 1.375);
        assert_eq!(got, (phase + ahead) % 1.375);
    }
    let late = record(MONTH_S, 0.0, 1.0, LoopMode::Loop);
    assert!((late.clip_time_s(MONTH_S + 0.1, 1.0) - 0.1).abs() < 1e-9);
}

#[test]
fn times_lie_within_the_clip() {
    let mut rng = Rng::new(3);
    for _ in 0..10_000 {
        let mode = MODES[rng.below(3)];
        let [start_s, offset_s, speed, now_s] = [
            rng.range(-1e6, 1e6),
            rng.range(-10.0, 10.0),
            rng.range(-3.0, 3.0),
            rng.range(-1e6, 1e6),
        ]
        .map(f64::from);
        let record = record(start_s, offset_s, speed, mode);
        let duration_s = f64::from(rng.range(0.0, 5.0));
        let time_s = record.clip_time_s(now_s, duration_s);
        assert!(
            (0.0..=duration_s).contains(&time_s),
            "{record:?} {duration_s}: {time_s}"
        );
    }
    let almost = record(1e-300, 0.0, 1.0, LoopMode::Loop);
    assert!((0.0..=1.0).contains(&almost.clip_time_s(0.0, 1.0)));
}

/// The animator refuses such values. Records from elsewhere with such values are harmless.
#[test]
fn odd_values_give_a_time_in_the_clip() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308];
    for mode in MODES {
        for duration_s in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let time_s = layer(mode).clip_time_s(11.0, duration_s);
            assert_eq!(time_s, 0.0, "{duration_s}");
            assert_eq!(mode.clip_time_s(1.0, duration_s), 0.0, "{duration_s}");
        }
        assert_eq!(mode.clip_time_s(f64::NAN, 2.0), 0.0);
        for value in odd {
            for (record, now_s) in [
                (layer(mode), value),
                (record(value, 0.0, 1.0, mode), 1e9),
                (record(10.0, value, 1.0, mode), 1e9),
                (record(10.0, 0.0, value, mode), 1e9),
            ] {
                let time_s = record.clip_time_s(now_s, 2.0);
                assert!(
                    (0.0..=2.0).contains(&time_s),
                    "{record:?} at {now_s}: {time_s}"
                );
            }
        }
    }
    // The shortest clip there is, after a month.
    let shortest_s = f64::from(f32::from_bits(1));
    let early = record(0.0, 0.0, 1.0, LoopMode::Loop);
    let time_s = early.clip_time_s(MONTH_S + 0.1, shortest_s);
    assert!((0.0..=shortest_s).contains(&time_s));
}

#[test]
fn ping_pong_turns_round_at_both_ends() {
    let record = layer(LoopMode::PingPong);
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
        assert_eq!(record.clip_time_s(now, 2.0), expected, "{now}");
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
            // Engine times have 2⁻²⁰ s, speeds 2⁻¹⁰: products are whole ticks, but not in 53 bits
            // of `f64`.
            let now = since + rng.below(1 << 24) as f64 / f64::from(1 << 20);
            let speed = (rng.below(1 << 13) as f64 - 4096.0) / 1024.0;
            let offset = rng.below(1 << 22) as f64 / f64::from(1 << 20);
            let duration = rng.range(0.1, 9.0);
            let duration = (f64::from(duration) * 1024.0).round() / 1024.0;
            for loop_mode in MODES {
                let record = record(0.0, offset, speed, loop_mode);
                let raw = ticks(now) * (speed * 1024.0) as i128 / 1024 + ticks(offset);
                let length = ticks(duration);
                let want = match loop_mode {
                    LoopMode::Loop => raw.rem_euclid(length),
                    LoopMode::Once => raw.clamp(0, length),
                    LoopMode::PingPong => length - (raw.rem_euclid(2 * length) - length).abs(),
                };
                let got = record.clip_time_s(now, duration);
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
fn a_loop_never_shows_its_end() {
    // So little before 0 that the remainder rounds to the whole duration.
    let record = record(0.0, 0.0, 1.0, LoopMode::Loop);
    for now_s in [-1e-20, -f64::MIN_POSITIVE, -1e-17] {
        assert_eq!(record.clip_time_s(now_s, 1.25), 0.0, "{now_s}");
    }
    assert_eq!(record.clip_time_s(-0.25, 1.25), 1.0);
}

/// Ten years of 1.375 s cycles, a duration that is exact in binary: every wrapped time is exact,
/// and a record, its loop mode and the exact remainder agree to the bit.
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
                    let record = record(0.0, 0.0, 1.0, loop_mode);
                    assert_eq!(loop_mode.clip_time_s(unwrapped_s, DURATION_S), want);
                    assert_eq!(record.clip_time_s(unwrapped_s, DURATION_S), want);
                }
            }
        }
    }
}
