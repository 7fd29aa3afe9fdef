//! Layers: the clip's time as a closed form of the engine's.

mod reference;

use reference::rng::Rng;
use throng::pose::{Layer, Looping};

fn layer(looping: Looping) -> Layer {
    Layer {
        looping,
        ..Layer::new(0, 10.0)
    }
}

#[test]
fn loops_start_over() {
    let layer = layer(Looping::Loop);
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
    let layer = layer(Looping::Once);
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
        ..layer(Looping::Loop)
    };
    for (now, expected) in [(10.0, 1.5), (12.0, 0.5), (14.0, 1.5), (15.0, 1.0)] {
        assert_eq!(backwards.clip_time_s(now, 2.0), expected, "{now}");
    }
    let once = Layer {
        looping: Looping::Once,
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
        let layer = Layer {
            clip: 0,
            start_s: rng.range(-1e6, 1e6).into(),
            offset_s: rng.range(-10.0, 10.0).into(),
            speed: rng.range(-3.0, 3.0).into(),
            looping: [Looping::Loop, Looping::Once][rng.below(2)],
        };
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
    for looping in [Looping::Loop, Looping::Once] {
        for duration in [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(
                layer(looping).clip_time_s(11.0, duration),
                0.0,
                "{duration}"
            );
        }
        for value in odd {
            let good = layer(looping);
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
