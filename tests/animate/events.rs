//! Events of clips: each is delivered exactly once, compared with a count in integers.

use crate::reference::handles::Handles;
use crate::reference::rig;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use bytemuck::Zeroable;
use throng::animator::{ActorId, AnimationEventKind, Animator, Play, PlayRecord};
use throng::character::{AnimationDesc, Character, ClipDesc, EventDesc};
use throng::clip::{CurveClip, Interpolation, Track, TrackValues};
use throng::glam::Vec3;
use throng::motion::LoopMode;
use throng::{Id, Result};

const LOOPINGS: [LoopMode; 3] = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong];
const DAY_S: f64 = 86_400.0;
/// Whole numbers of this many seconds are exact in `f64` and in their sums and products.
const TICK_S: f64 = 1.0 / 1024.0;

/// Clips named by their index, each with its duration and events, in seconds. The events of a clip
/// have different names.
fn character(clips: &[(f32, Vec<f64>)]) -> Result<Character> {
    let character = rig::chain(1);
    let curve = |(index, (duration_s, _)): (usize, &(f32, Vec<f64>))| {
        let track = Track {
            joint: Id::new(0),
            values: TrackValues::Translation(rig::keys(
                Interpolation::Linear,
                [0.0, *duration_s],
                [Vec3::ZERO, Vec3::X],
            )),
        };
        CurveClip::new(&index.to_string(), vec![track], character.skeleton()).unwrap()
    };
    let desc = |(index, (_, events)): (usize, &(f32, Vec<f64>))| {
        let named = |(event, time_s): (usize, &f64)| EventDesc {
            name: event.to_string(),
            time_s: *time_s,
        };
        ClipDesc {
            name: index.to_string(),
            events: events.iter().enumerate().map(named).collect(),
            ..ClipDesc::default()
        }
    };
    let all = || clips.iter().enumerate();
    let made = character.clone().with_clips(all().map(curve).collect())?;
    made.with_animation(&AnimationDesc {
        clips: all().map(desc).collect(),
        ..AnimationDesc::default()
    })
}

/// An actor that plays a clip forward and backward.
struct Player {
    animator: Animator,
    id: ActorId,
    /// The unwrapped time of the clip.
    at_s: f64,
    /// Clip seconds per second.
    speed: f64,
}

impl Player {
    fn new(character: &Character) -> Self {
        let mut animator = Animator::new(character).unwrap();
        let id = animator.add(Play::REST).unwrap();
        let (at_s, speed) = (0.0, 1.0);
        Self {
            animator,
            id,
            at_s,
            speed,
        }
    }

    fn play(&mut self, clip: usize, (at_s, speed): (f64, f64), loop_mode: LoopMode) {
        (self.at_s, self.speed) = (at_s, speed);
        let name = clip.to_string();
        let play = Play::new(&*name)
            .offset_s(at_s)
            .speed(speed)
            .loop_mode(loop_mode);
        self.animator.live_mut(self.id).play(play).unwrap();
    }

    /// The events up to an unwrapped time, each with its own, in the order in which they come.
    fn advance(&mut self, to_s: f64) -> Vec<(usize, f64)> {
        let (from_s, start_s) = (self.at_s, self.animator.now_s());
        let speed = if to_s < from_s { -1.0 } else { 1.0 };
        if to_s != from_s && speed != self.speed {
            let mut actor = self.animator.live_mut(self.id);
            actor.set_speed(0, speed).unwrap();
            self.speed = speed;
        }
        self.animator
            .update(start_s + (to_s - from_s).abs())
            .unwrap();
        self.at_s = to_s;
        let events = self.animator.events().iter();
        let event = |event: &throng::AnimationEvent| match event.kind {
            AnimationEventKind::Clip { .. } => {
                let name = self.animator.event_name(event).parse().unwrap();
                Some((name, from_s + (event.time_s - start_s) * speed))
            }
            _ => None,
        };
        events.filter_map(event).collect()
    }

    /// The number of events up to an unwrapped time.
    fn count(&mut self, to_s: f64) -> u64 {
        self.advance(to_s).len() as u64 + self.animator.events_left_out()
    }
}

/// The definition, point by point, in whole ticks: an event at `t` of pass `k` lies at `k·d + t`
/// (or `(k + 1)·d − t`).
fn reference(
    times: &[i64],
    d: i64,
    [from, to]: [i64; 2],
    loop_mode: LoopMode,
    start: bool,
) -> Vec<(usize, i64)> {
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
                met.push((event, at));
            }
        }
    }
    if to < from {
        met.reverse();
    }
    met
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
    let clips: Vec<_> = (0..200)
        .map(|_| {
            let d = 1 + rng.below(12) as i64;
            (d, random_times(&mut rng, d))
        })
        .collect();
    let in_seconds = clips.iter().map(|(d, times)| {
        let times = times.iter().map(|time| *time as f64 * TICK_S);
        ((*d as f64 * TICK_S) as f32, times.collect())
    });
    let mut player = Player::new(&character(&in_seconds.collect::<Vec<_>>()).unwrap());
    let mut delivered = 0;
    for round in 0..6000 {
        let clip = round % clips.len();
        let (d, times) = &clips[clip];
        let at = |rng: &mut Rng| rng.below(81) as i64 - 40;
        // The first step of a play, then one that may turn around.
        let [start, middle, end] = [0; 3].map(|_| at(&mut rng));
        for loop_mode in LOOPINGS {
            let sign = |from: i64, to: i64| if to < from { -1.0 } else { 1.0 };
            let speed = sign(start, middle);
            player.play(clip, (start as f64 * TICK_S, speed), loop_mode);
            // A clip that plays once turns around at its end, wherever it is held.
            if loop_mode == LoopMode::Once
                && sign(middle, end) != speed
                && !(0..=*d).contains(&middle)
            {
                continue;
            }
            let mut first = true;
            for (from, to) in [(start, middle), (middle, end)] {
                let got = player.advance(to as f64 * TICK_S);
                let got: Vec<_> = got
                    .iter()
                    .map(|(event, at_s)| (*event, at_s / TICK_S))
                    .collect();
                let want = reference(times, *d, [from, to], loop_mode, first);
                let want: Vec<_> = want
                    .iter()
                    .map(|(event, at)| (*event, *at as f64))
                    .collect();
                let what = format!("{times:?} of {d}, {from}..{to}, {loop_mode:?}, {first}");
                assert_eq!(got, want, "{what}");
                // A step of no length does not use the start up.
                first &= from == to;
                delivered += want.len();
            }
        }
    }
    assert!(delivered > 100_000, "{delivered}");
}

#[test]
fn each_is_delivered_once_however_time_is_cut() {
    let mut rng = Rng::new(2);
    // Durations and times that no `f64` has exactly.
    let clips: Vec<_> = (0..100)
        .map(|_| {
            let duration_s = rng.range(0.05, 3.0) / 3.0;
            let event = |rng: &mut Rng| f64::from(rng.range(0.0, 1.0)) * f64::from(duration_s);
            let mut times: Vec<f64> = (0..rng.below(6)).map(|_| event(&mut rng)).collect();
            times.extend([0.0, f64::from(duration_s)]);
            (duration_s, times)
        })
        .collect();
    let character = character(&clips).unwrap();
    let [mut cut, mut whole] = [0; 2].map(|_| Player::new(&character));
    for round in 0..600 {
        let clip = round % clips.len();
        let (duration_s, times) = (f64::from(clips[clip].0), &clips[clip].1);
        for loop_mode in LOOPINGS {
            let near_s = [0.0, DAY_S, 30.0 * DAY_S, -DAY_S][round % 4];
            let sign = if round % 3 == 0 { -1.0 } else { 1.0 };
            for player in [&mut cut, &mut whole] {
                player.play(clip, (near_s, sign), loop_mode);
            }
            let mut at_s = near_s;
            let mut got = Vec::new();
            for _ in 0..40 {
                // Frames of any length, some of none, and often onto a seam as this computes it.
                at_s = match rng.below(5) {
                    0 => at_s,
                    1 => {
                        let seam_s = (at_s / duration_s).round() * duration_s;
                        if (seam_s - at_s) * sign > 0.0 {
                            seam_s
                        } else {
                            at_s
                        }
                    }
                    _ => at_s + sign * f64::from(rng.range(0.0, 0.1)),
                };
                got.extend(cut.advance(at_s));
            }
            let want = whole.advance(at_s);
            let events = |list: &[(usize, f64)]| list.iter().map(|one| one.0).collect::<Vec<_>>();
            assert_eq!(events(&got), events(&want), "round {round}, {loop_mode:?}");
            for (got, want) in got.iter().zip(&want) {
                // Times of 30 days are rounded to 2^-31 s.
                assert!(
                    (got.1 - want.1).abs() < 1e-8,
                    "round {round}: {got:?} {want:?}"
                );
            }
            // As many as there are passes: of each whole pass, each event.
            if loop_mode != LoopMode::Once {
                let passes = (at_s - near_s).abs() / duration_s;
                let turns = f64::from(u8::from(loop_mode == LoopMode::PingPong));
                let off = (got.len() as f64 - passes * (times.len() as f64 - turns)).abs();
                assert!(off <= times.len() as f64 + 1.0, "{off}");
            }
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
        let record = PlayRecord {
            anchor_s: start_s,
            offset_s: offset as f64 * unit,
            from_speed: speed,
            to_speed: speed,
            ..Zeroable::zeroed()
        };
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
fn a_billion_passes_cost_nothing() {
    let events = vec![0.0, 0.5 * TICK_S, TICK_S];
    let mut player = Player::new(&character(&[(TICK_S as f32, events)]).unwrap());
    let month_s = 30.0 * DAY_S;
    // 2,654,208,000 cycles of three events, and the one at the start.
    let cycles = (month_s / TICK_S) as u64;
    player.play(0, (0.0, 1.0), LoopMode::Loop);
    assert_eq!(player.count(month_s), 3 * cycles + 1);
    // The turning points count once.
    player.play(0, (0.0, 1.0), LoopMode::PingPong);
    assert_eq!(player.count(month_s), 2 * cycles + 1);
    // Back, the start was passed, and the last point is left rather than reached.
    assert_eq!(player.count(0.0), 2 * cycles);
    // Cut in two at random, nothing is lost.
    let mut rng = Rng::new(4);
    for _ in 0..200 {
        let cut_s = f64::from(rng.range(0.0, 1.0)) * month_s;
        player.play(0, (0.0, 1.0), LoopMode::Loop);
        let parts = player.count(cut_s) + player.count(month_s);
        assert_eq!(parts, 3 * cycles + 1, "{cut_s}");
    }
}

#[test]
fn lists_are_checked_and_sorted() {
    let of = |duration_s: f32, events: &[f64]| character(&[(duration_s, events.to_vec())]);
    let sorted = of(1.0, &[0.9, 0.5, -0.0, 0.5]).unwrap();
    let list: Vec<_> = sorted.events(Id::new(0)).collect();
    assert_eq!(list, [("2", 0.0), ("1", 0.5), ("3", 0.5), ("0", 0.9)]);
    assert_eq!(
        sorted
            .event("3")
            .map(|id| &*sorted.event_names()[id.index()]),
        Ok("3")
    );
    // A time written in decimals may lie past the clip's `f32`.
    assert!(f64::from(0.7_f32) < 0.7);
    let ends = of(0.7, &[0.7]).unwrap();
    assert_eq!(ends.events(Id::new(0)).next(), Some(("0", 0.7_f32.into())));
    for time_s in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        of(1.0, &[0.0, time_s]).fails_in(time_s, "clip 0 \"0\", events[1].time_s…");
    }
}

/// Switched off, nothing is delivered and nothing wakes the actor, not even the end of a clip. What
/// happened before the switch is delivered, and what happens after it is switched on again.
#[test]
fn events_can_be_switched_off() {
    let character = character(&[(1.0, vec![0.25, 0.75]), (2.0, vec![])]).unwrap();
    let mut animator = Animator::new(&character).unwrap();
    let walks = animator.add("0").unwrap();
    let ends = animator.add(Play::new("1").once()).unwrap();
    let heard = |animator: &mut Animator, now_s: f64| {
        animator.update(now_s).unwrap();
        let events = animator
            .events()
            .iter()
            .map(|event| (event.id, event.time_s));
        events.collect::<Vec<_>>()
    };
    assert_eq!(heard(&mut animator, 0.5), [(walks, 0.25)]);
    animator.update(0.6).unwrap();
    for id in [walks, ends] {
        animator.live_mut(id).set_events(false);
    }
    assert_eq!(heard(&mut animator, 0.7), []);
    let visits = animator.visits();
    for number in 1..100 {
        assert_eq!(heard(&mut animator, f64::from(number)), []);
    }
    assert_eq!(animator.visits(), visits);
    // A snapshot has the switch.
    let saved = animator.snapshot();
    animator.live_mut(walks).set_events(true);
    assert_eq!(heard(&mut animator, 99.5), [(walks, 99.25)]);
    assert_eq!(heard(&mut animator, 100.0), [(walks, 99.75)]);
    animator.live_mut(ends).set_events(true);
    assert_eq!(heard(&mut animator, 101.0).len(), 2);
    animator.restore(&saved).unwrap();
    assert_eq!(heard(&mut animator, 110.0), []);
}
