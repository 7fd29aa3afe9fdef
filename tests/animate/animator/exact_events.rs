//! Events of the reference actor: every event is searched for one by one.

use super::exact::{Exact, Voice};
use super::world::World;
use throng::animator::{AnimationEvent, AnimationEventKind};
use throng::motion::{Ease, LoopMode};

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    Clip(usize, usize),
    Finished(usize),
    Left(usize),
    Entered(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Happened {
    pub(super) layer: u8,
    pub(super) what: What,
    /// The animator's time.
    pub(super) time_s: f64,
    pub(super) weight: f64,
    /// The tolerance of the time.
    pub(super) slack_s: f64,
}

impl From<&AnimationEvent> for Happened {
    fn from(event: &AnimationEvent) -> Self {
        let what = match event.kind {
            AnimationEventKind::Clip { clip, event } => What::Clip(clip.into(), event.into()),
            AnimationEventKind::Finished { clip, .. } => What::Finished(clip.into()),
            AnimationEventKind::Left { state } => What::Left(state.into()),
            AnimationEventKind::Entered { state } => What::Entered(state.into()),
            other => panic!("{other:?}"),
        };
        Self {
            layer: event.layer,
            what,
            time_s: event.time_s,
            weight: event.weight.into(),
            slack_s: 0.0,
        }
    }
}

/// Checks that both lists have the same events. Simultaneous events may be in any order.
pub(super) fn same(got: &[Happened], want: &[Happened], note: &str) {
    let sorted = |list: &[Happened]| {
        let mut list = list.to_vec();
        list.sort_by(|a, b| {
            let key = |one: &Happened| (one.layer, one.what);
            key(a).cmp(&key(b)).then(a.time_s.total_cmp(&b.time_s))
        });
        list
    };
    let (got, want) = (sorted(got), sorted(want));
    for (got, want) in got.iter().zip(&want) {
        let same = (got.layer, got.what) == (want.layer, want.what)
            && (got.time_s - want.time_s).abs() <= 1e-9 + want.slack_s;
        assert!(same, "{note}: {got:?} for {want:?}");
        // Weights are `f32`, and at most 1.5.
        let off = (got.weight - want.weight).abs();
        assert!(
            off <= 1e-6 + 100.0 * want.slack_s,
            "{note}: {got:?} for {want:?}"
        );
    }
    assert_eq!(got.len(), want.len(), "{note}");
}

/// The points of a clip's events in unwrapped time, between two times.
///
/// Each has its unwrapped time, its event, and the time in the clip.
fn points(
    world: &World,
    clip: usize,
    loop_mode: LoopMode,
    [low, high]: [f64; 2],
) -> Vec<(f64, usize, f64)> {
    let duration_s = world.clips[clip].duration_s();
    let passes = if loop_mode == LoopMode::Once || duration_s == 0.0 {
        0..=0
    } else {
        (low / duration_s).floor() as i64 - 1..=(high / duration_s).ceil() as i64 + 1
    };
    let mut points = Vec::new();
    for pass in passes {
        for (event, time_s) in world.events[clip].iter().copied() {
            let back = loop_mode == LoopMode::PingPong && pass.rem_euclid(2) == 1;
            if back && (time_s == 0.0 || time_s == duration_s) {
                // The turning point belongs to the cycle before or after.
                continue;
            }
            let within_s = if back { duration_s - time_s } else { time_s };
            points.push((pass as f64 * duration_s + within_s, event, time_s));
        }
    }
    points
}

/// The time at which a voice reverses, if it does.
fn turn_s(voice: &Voice) -> Option<f64> {
    let [from, to] = [voice.from_speed, voice.to_speed];
    if from * to >= 0.0 || voice.ramp_s <= 0.0 {
        return None;
    }
    let part = from / (from - to);
    let u = match voice.ramp_ease {
        Ease::Linear => part,
        Ease::Smooth => {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..100 {
                let u: f64 = 0.5 * (low + high);
                if u * u * (3.0 - 2.0 * u) < part {
                    low = u;
                } else {
                    high = u;
                }
            }
            low
        }
    };
    Some(voice.since_s + u * voice.ramp_s)
}

/// The time at which a voice is at a clip time, in an interval in which it does not reverse.
fn time_at(voice: &Voice, clip_s: f64, [mut low, mut high]: [f64; 2]) -> f64 {
    let rises = voice.clip_time_at(high) > voice.clip_time_at(low);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if (voice.clip_time_at(middle) < clip_s) == rises {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

impl Exact<'_> {
    /// Records the events up to a time of the actor.
    pub(super) fn happen(&mut self, to_s: f64) {
        let from_s = self.local_s;
        for index in 0..self.voices.len() {
            let mut voice = self.voices[index];
            let end_s = to_s.min(voice.fade.over_s());
            let Some(clip) = voice.clip.filter(|_| end_s > from_s) else {
                continue;
            };
            let mut cuts = vec![from_s, end_s];
            cuts.extend(
                [Some(voice.ramp_end_s()), turn_s(&voice)]
                    .into_iter()
                    .flatten(),
            );
            cuts.retain(|cut| (from_s..=end_s).contains(cut));
            cuts.sort_by(f64::total_cmp);
            for pair in cuts.windows(2) {
                self.pass(&mut voice, clip, [pair[0], pair[1]]);
            }
            self.finish(&mut voice, clip, [from_s, end_s]);
            self.voices[index] = voice;
        }
    }

    fn note(&mut self, voice: &Voice, what: What, local_s: f64, speed: f64) {
        self.happened.push(Happened {
            layer: voice.layer,
            what,
            time_s: self.now_s + (local_s - self.local_s) / self.rate(),
            weight: voice.fade.at(local_s),
            // Clip times are rounded, to 1e-14 for some 10 s. In a slow clip, that is a longer
            // time.
            slack_s: 1e-13 / speed.abs() / self.rate(),
        });
    }

    fn pass(&mut self, voice: &mut Voice, clip: usize, span_s: [f64; 2]) {
        let [from, to] = span_s.map(|time_s| voice.clip_time_at(time_s));
        if from == to {
            return;
        }
        let forward = to > from;
        let ends = [from.min(to), from.max(to)];
        let duration_s = voice.duration_s(self.world);
        for (clip_s, event, time_s) in points(self.world, clip, voice.loop_mode, ends) {
            let begins = clip_s == from && !voice.started;
            // From the seam of a loop, only the cycle that it enters begins.
            let seam = voice.loop_mode == LoopMode::Loop
                && duration_s > 0.0
                && if forward {
                    time_s == duration_s
                } else {
                    time_s == 0.0
                };
            let passed = if forward {
                clip_s > from && clip_s <= to
            } else {
                clip_s < from && clip_s >= to
            };
            if passed || begins && !seam {
                let at_s = if begins {
                    span_s[0]
                } else {
                    time_at(voice, clip_s, span_s)
                };
                let speed = voice.speed_at(at_s);
                self.note(voice, What::Clip(clip, event), at_s, speed);
            }
        }
        voice.started = true;
    }

    /// The end of a clip that plays once, at constant speed.
    fn finish(&mut self, voice: &mut Voice, clip: usize, [from_s, to_s]: [f64; 2]) {
        let speed = voice.to_speed;
        if voice.loop_mode != LoopMode::Once || voice.finished || speed == 0.0 {
            return;
        }
        let end = if speed > 0.0 {
            voice.duration_s(self.world)
        } else {
            0.0
        };
        let left_s = (end - voice.clip_time_at(from_s)) / speed;
        let time_s = from_s + left_s.max(0.0);
        if time_s <= to_s {
            voice.finished = true;
            self.note(voice, What::Finished(clip), time_s, speed);
        }
    }
}
