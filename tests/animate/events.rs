//! Events of clips: each is delivered exactly once, compared with a count in integers.

use crate::reference::rng::Rng;
use bytemuck::Zeroable;
use throng::Error;
use throng::animator::PlayRecord;
use throng::motion::{ClipEvents, EventHit, LoopMode, Passed};

const LOOPINGS: [LoopMode; 3] = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong];
const DAY_S: f64 = 86_400.0;
/// Whole numbers of this many seconds are exact in `f64` and in their sums and products.
const TICK_S: f64 = 1.0 / 1024.0;

/// The unwrapped time of a play that moves step by step.
struct Cursor {
    at_s: f64,
    started: bool,
}

impl Cursor {
    fn new(at_s: f64) -> Self {
        let started = false;
        Self { at_s, started }
    }

    /// The events up to a time. The first step that has a length includes those at its start.
    fn advance<'a>(
        &mut self,
        events: &'a ClipEvents,
        to_s: f64,
        loop_mode: LoopMode,
    ) -> Passed<'a> {
        let passed = if self.started {
            events.passed(self.at_s, to_s, loop_mode)
        } else {
            events.passed_from_start(self.at_s, to_s, loop_mode)
        };
        self.started |= to_s != self.at_s;
        self.at_s = to_s;
        passed
    }
}

/// Event, pass, and where it lies in ticks.
type Met = (usize, i64, i64);

/// The definition, point by point, in whole ticks: an event at `t` of pass `k` lies at `k·d + t`
/// (or `(k + 1)·d − t`).
fn reference(
    times: &[i64],
    d: i64,
    from: i64,
    to: i64,
    loop_mode: LoopMode,
    start: bool,
) -> Vec<Met> {
    let mut met = Vec::new();
    let passes = match loop_mode {
        LoopMode::Once => 0..1,
        _ => from.min(to).div_euclid(d) - 2..from.max(to).div_euclid(d) + 3,
    };
    for k in passes {
        let back = loop_mode == LoopMode::PingPong && k.rem_euclid(2) == 1;
        let mut order: Vec<usize> = (0..times.len()).collect();
        if back {
            order.reverse();
        }
        for event in order {
            let t = times[event];
            let at = if back { (k + 1) * d - t } else { k * d + t };
            // A turning point belongs to the pass that begins there.
            if loop_mode == LoopMode::PingPong && at == (k + 1) * d {
                continue;
            }
            let inside = if from < to {
                from < at && at <= to
            } else {
                to <= at && at < from
            };
            // At a loop's seam, a play starts with the pass that it goes into.
            let goes_in = loop_mode != LoopMode::Loop
                || (if from < to {
                    from < (k + 1) * d
                } else {
                    k * d < from
                });
            if inside || (start && at == from && from != to && goes_in) {
                met.push((event, k, at));
            }
        }
    }
    if to < from {
        met.reverse();
    }
    met
}

fn met(hit: &EventHit<'_>) -> Met {
    let ticks = hit.unwrapped_s / TICK_S;
    assert_eq!(ticks, ticks.round());
    (hit.event, hit.pass, ticks as i64)
}

fn in_ticks(times: &[i64], d: i64) -> ClipEvents {
    let named = times.iter().map(|t| ("event", *t as f64 * TICK_S));
    ClipEvents::new(d as f64 * TICK_S, named).unwrap()
}

/// Sorted times in `0..=d`, often at the ends, often equal.
fn random_times(rng: &mut Rng, d: i64) -> Vec<i64> {
    let count = rng.below(7);
    let mut times: Vec<i64> = (0..count)
        .map(|_| match rng.below(4) {
            0 => 0,
            1 => d,
            2 => d / 2,
            _ => rng.below(d as usize + 1) as i64,
        })
        .collect();
    times.sort_unstable();
    times
}

#[test]
fn steps_deliver_what_the_definition_says() {
    let mut rng = Rng::new(1);
    let mut delivered = 0;
    for _ in 0..20_000 {
        let d = 1 + rng.below(12) as i64;
        let times = random_times(&mut rng, d);
        let events = in_ticks(&times, d);
        let from = rng.below(81) as i64 - 40;
        let to = rng.below(81) as i64 - 40;
        for loop_mode in LOOPINGS {
            for start in [false, true] {
                let (a, b) = (from as f64 * TICK_S, to as f64 * TICK_S);
                let passed = if start {
                    events.passed_from_start(a, b, loop_mode)
                } else {
                    events.passed(a, b, loop_mode)
                };
                let got: Vec<Met> = passed.clone().map(|hit| met(&hit)).collect();
                let expected = reference(&times, d, from, to, loop_mode, start);
                assert_eq!(
                    got, expected,
                    "{times:?} of {d}, {from}..{to}, {loop_mode:?}, {start}"
                );
                assert_eq!(passed.left(), expected.len() as u64);
                assert_eq!(
                    passed.clone().last().map(|hit| met(&hit)),
                    expected.last().copied()
                );
                if !start {
                    assert_eq!(events.count_passed(a, b, loop_mode), expected.len() as u64);
                }
                delivered += expected.len();
            }
        }
    }
    assert!(delivered > 100_000, "{delivered}");
}

#[test]
fn each_is_delivered_once_however_time_is_cut() {
    let mut rng = Rng::new(2);
    for round in 0..600 {
        // Durations and times that no `f64` has exactly.
        let duration = f64::from(rng.range(0.05, 3.0)) / 3.0;
        let mut times: Vec<f64> = (0..rng.below(6))
            .map(|_| f64::from(rng.range(0.0, 1.0)) * duration)
            .collect();
        times.extend([0.0, duration]);
        let events = ClipEvents::new(duration, times.iter().map(|t| ("", *t))).unwrap();
        for loop_mode in LOOPINGS {
            let near_s = [0.0, DAY_S, 30.0 * DAY_S, -DAY_S][round % 4];
            let sign = if round % 3 == 0 { -1.0 } else { 1.0 };
            let mut cursor = Cursor::new(near_s);
            let mut at = near_s;
            let mut got = Vec::new();
            for _ in 0..60 {
                // Frames of any length, some of none, and often onto a seam as this computes it.
                at = match rng.below(5) {
                    0 => at,
                    1 => {
                        let seam = (at / duration).round() * duration;
                        if (seam - at) * sign > 0.0 { seam } else { at }
                    }
                    _ => at + sign * f64::from(rng.range(0.0, 0.3)),
                };
                got.extend(cursor.advance(&events, at, loop_mode));
            }
            let whole: Vec<_> = events.passed_from_start(near_s, at, loop_mode).collect();
            assert_eq!(got, whole, "round {round}, {loop_mode:?}");
            // In order, and no point twice.
            for pair in got.windows(2) {
                assert!((pair[1].unwrapped_s - pair[0].unwrapped_s) * sign >= 0.0);
                assert_ne!((pair[0].event, pair[0].pass), (pair[1].event, pair[1].pass));
            }
            // As many as there are passes: of each whole pass, each event.
            if loop_mode != LoopMode::Once {
                let passes = (at - near_s).abs() / duration;
                let per_pass = times.len() as f64
                    - if loop_mode == LoopMode::PingPong {
                        1.0
                    } else {
                        0.0
                    };
                let off = (got.len() as f64 - passes * per_pass).abs();
                assert!(off <= times.len() as f64 + 1.0, "{off}");
            }
        }
    }
}

/// A clip that plays from `start_s` on, as the animator keeps it.
fn record(start_s: f64, speed: f64, offset_s: f64) -> PlayRecord {
    PlayRecord {
        anchor_s: start_s,
        offset_s,
        from_speed: speed,
        to_speed: speed,
        ..Zeroable::zeroed()
    }
}

#[test]
fn records_at_any_frame_rate_and_speed_deliver_the_same() {
    let events = ClipEvents::new(f64::from(1.1_f32), [("a", 0.0), ("b", 0.4), ("c", 1.1)]).unwrap();
    for start_s in [0.0, DAY_S, 30.0 * DAY_S] {
        for speed in [1.0, -1.0, 0.37, -2.5] {
            let record = record(start_s, speed, 0.1);
            let all = |hz: usize| -> Vec<_> {
                let mut hits = Vec::new();
                for frame in 0..20 * hz {
                    let at = |frame: usize| start_s + frame as f64 / hz as f64;
                    let [from_s, to_s] = [frame, frame + 1].map(|f| record.unwrapped_s(at(f)));
                    let passed = events.passed(from_s, to_s, LoopMode::Loop);
                    hits.extend(passed.map(|hit| (hit.name.to_string(), hit.pass)));
                }
                hits
            };
            let slow = all(7);
            assert!(slow.len() > 15);
            assert_eq!(slow, all(60));
            assert_eq!(slow, all(144));
        }
    }
}

#[test]
fn unwrapped_time_is_within_a_nanosecond_after_thirty_days() {
    let mut rng = Rng::new(3);
    let mut worst: f64 = 0.0;
    for _ in 0..10_000 {
        // In units of 2⁻⁴⁰ s, as whole numbers of 128 bits: 30 days are less than 2⁶² of them.
        let unit = (2.0_f64).powi(-40);
        let start = (rng.bits() >> 25) as i128; // 0.5 s
        let day = [0, 1, 30][rng.below(3)];
        // The engine's clock is an `f64`: only times that it can hold are tested.
        let now_s = start as f64 * unit + f64::from(day) * DAY_S + f64::from(rng.range(0.0, 9.0));
        let start_s = start as f64 * unit;
        let now = (now_s / unit) as i128;
        let speed_parts = rng.below(2049) as i128 - 1024; // of 1024
        let offset = (rng.bits() >> 20) as i128; // 16 s
        let speed = speed_parts as f64 / 1024.0;
        let record = record(start_s, speed, offset as f64 * unit);
        let exact = (now - start) * speed_parts + offset * 1024;
        let got = record.unwrapped_s(now_s);
        let got = (got / unit) as i128 * 1024;
        worst = worst.max((got - exact) as f64 / 1024.0 * unit);
        worst = worst.max(-((got - exact) as f64) / 1024.0 * unit);
    }
    assert!(worst < 1e-9, "{worst}");
    assert!(worst > 1e-11, "the test sees no rounding: {worst}");
}

#[test]
fn a_start_and_a_seek_deliver_what_they_should() {
    let events = ClipEvents::new(2.0, [("zero", 0.0), ("one", 1.0), ("two", 2.0)]).unwrap();
    let names = |hits: Passed<'_>| -> Vec<_> { hits.map(|hit| hit.name.to_string()).collect() };
    let mut cursor = Cursor::new(0.0);
    // A frame of no length at the start does not use the start up.
    assert!(names(cursor.advance(&events, 0.0, LoopMode::Loop)).is_empty());
    assert_eq!(
        names(cursor.advance(&events, 0.5, LoopMode::Loop)),
        ["zero"]
    );
    assert_eq!(names(cursor.advance(&events, 1.0, LoopMode::Loop)), ["one"]);
    // Turning around on an event does not deliver it again, but passing it again does.
    assert!(names(cursor.advance(&events, 0.5, LoopMode::Loop)).is_empty());
    assert_eq!(names(cursor.advance(&events, 1.5, LoopMode::Loop)), ["one"]);
    let mut cursor = Cursor::new(3.5);
    assert!(names(cursor.advance(&events, 3.75, LoopMode::Loop)).is_empty());
    assert_eq!(
        names(cursor.advance(&events, 1.5, LoopMode::Loop)),
        ["one", "zero", "two"]
    );
    let mut cursor = Cursor::new(3.0);
    assert_eq!(names(cursor.advance(&events, 3.5, LoopMode::Loop)), ["one"]);

    // A backward play of a loop from its end, and from its seam.
    let mut back = Cursor::new(2.0);
    assert_eq!(
        names(back.advance(&events, 0.5, LoopMode::Loop)),
        ["two", "one"]
    );
    // Reaching the seam gives both of its events, leaving it none.
    assert_eq!(
        names(back.advance(&events, 0.0, LoopMode::Loop)),
        ["zero", "two"]
    );
    assert!(names(back.advance(&events, -0.5, LoopMode::Loop)).is_empty());

    // Once: delivered when passed, silent while held, also by a play that starts late.
    let mut once = Cursor::new(-1.0);
    assert_eq!(
        names(once.advance(&events, 1.5, LoopMode::Once)),
        ["zero", "one"]
    );
    assert_eq!(names(once.advance(&events, 7.0, LoopMode::Once)), ["two"]);
    assert!(names(once.advance(&events, 9.0, LoopMode::Once)).is_empty());
    assert_eq!(
        names(once.advance(&events, -5.0, LoopMode::Once)),
        ["two", "one", "zero"]
    );

    // There and back: turning points once.
    let mut pong = Cursor::new(0.0);
    assert_eq!(
        names(pong.advance(&events, 6.0, LoopMode::PingPong)),
        ["zero", "one", "two", "one", "zero", "one", "two"]
    );
}

#[test]
fn a_billion_passes_cost_nothing() {
    let events = ClipEvents::new(0.001, [("a", 0.0), ("b", 0.0005), ("c", 0.001)]).unwrap();
    let month_s = 30.0 * DAY_S;
    let whole = events.count_passed(0.0, month_s, LoopMode::Loop);
    // 2,592,000,000 cycles of three events. 0.001 is not exactly a thousandth, so the last seam may
    // not be reached.
    assert!(whole.abs_diff(3 * 2_592_000_000) <= 3, "{whole}");
    let ping = events.count_passed(0.0, month_s, LoopMode::PingPong);
    assert!(ping.abs_diff(2 * 2_592_000_000) <= 2, "{ping}");
    for (from, to) in [(0.0, month_s), (month_s, 0.0)] {
        let passed = events.passed(from, to, LoopMode::Loop).limited(5);
        assert!(passed.left_out().abs_diff(whole - 5) <= 3);
        assert_eq!(passed.count(), 5);
        let far = events
            .passed(from, to, LoopMode::Loop)
            .nth(7_000_000_000)
            .unwrap();
        assert!((far.unwrapped_s - from).abs() > 0.89 * month_s);
        assert!(events.passed(from, to, LoopMode::Loop).count() > 7_000_000_000);
    }
    // Cut in two at random, nothing is lost.
    let mut rng = Rng::new(4);
    for _ in 0..2_000 {
        let cut = f64::from(rng.range(0.0, 1.0)) * month_s;
        let parts = events.count_passed(0.0, cut, LoopMode::Loop)
            + events.count_passed(cut, month_s, LoopMode::Loop);
        assert_eq!(parts, whole);
    }
}

#[test]
fn nothing_breaks_it() {
    let odd = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::from(f32::MAX),
        -f64::from(f32::MAX),
        f64::MIN_POSITIVE,
        5e-324,
    ];
    for duration in [0.0, 5e-324, 1e-45, 1.0, f64::from(f32::MAX)] {
        let at = [0.0, 0.5 * duration, duration];
        let events = ClipEvents::new(duration, at.map(|t| ("x", t))).unwrap();
        for (from, to) in odd.iter().flat_map(|a| odd.map(|b| (*a, b))) {
            for loop_mode in LOOPINGS {
                for passed in [
                    events.passed(from, to, loop_mode),
                    events.passed_from_start(from, to, loop_mode),
                ] {
                    if from.is_nan() || to.is_nan() || from == to {
                        assert_eq!(passed.left(), 0);
                    }
                    if loop_mode == LoopMode::Once {
                        assert!(passed.left() <= 3);
                    }
                    assert_eq!(passed.clone().limited(0).count(), 0);
                    let some: Vec<_> = passed.take(9).collect();
                    assert!(some.iter().all(|hit| !hit.unwrapped_s.is_nan()));
                }
            }
        }
    }
    // A clip without duration has one pass, whatever is asked.
    let flat = ClipEvents::new(0.0, [("x", 0.0)]).unwrap();
    assert_eq!(flat.count_passed(-1.0, 1e9, LoopMode::Loop), 1);
    assert_eq!(
        ClipEvents::default().count_passed(-1.0, 1e9, LoopMode::Loop),
        0
    );
}

#[test]
fn lists_are_checked_sorted_and_named_once() {
    let events = ClipEvents::new(1.0, [("b", 0.9), ("a", 0.5), ("b", -0.0), ("c", 0.5)]).unwrap();
    let list: Vec<_> = events.iter().collect();
    assert_eq!(list, [("b", 0.0), ("a", 0.5), ("c", 0.5), ("b", 0.9)]);
    assert_eq!(events.names().collect::<Vec<_>>(), ["b", "a", "c"]);
    assert_eq!(
        (events.len(), events.is_empty(), events.duration_s()),
        (4, false, 1.0)
    );
    let ids = events
        .passed_from_start(0.0, 1.0, LoopMode::Once)
        .map(|hit| hit.name_id);
    assert_eq!(ids.collect::<Vec<_>>(), [0, 1, 2, 0]);

    // A time written in decimals may lie past the clip's `f32`.
    let duration = f64::from(0.7_f32);
    assert!(duration < 0.7);
    let events = ClipEvents::new(duration, [("end", 0.7)]).unwrap();
    assert_eq!(events.iter().next(), Some(("end", duration)));

    for time in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = ClipEvents::new(1.0, [("a", 0.0), ("b", time)]).unwrap_err();
        assert!(
            matches!(
                error,
                Error::At {
                    what: "event",
                    index: 1,
                    ..
                }
            ),
            "{error}"
        );
    }
    for duration in [-1.0, 1e39, f64::NAN, f64::INFINITY] {
        let none: [(&str, f64); 0] = [];
        assert!(matches!(
            ClipEvents::new(duration, none),
            Err(Error::Argument { .. })
        ));
    }
}
