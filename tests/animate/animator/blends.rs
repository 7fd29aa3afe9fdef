//! Blend spaces that play without a state machine, compared with plain code.

use super::exact_events::{Happened, What};
use super::world::{RUN, RUN_SPEED, WALK, WALK_SPEED, World, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use throng::Id;
use throng::animator::{ActorId, AnimationEventKind, Animator, Play, PlayRecord, RootMotionMode};
use throng::character::BlendAt;
use throng::glam::{DVec3, Vec2};
use throng::motion::{Ease, LoopMode};
use throng::skeleton::Transform;

/// Weights are rounded to `f32` three times, times a weight of at most 1: 2e-7.
const WEIGHT: f64 = 3e-7;

/// A blend space in `f64`, with its phase at the time of the last change.
struct Voice {
    clips: Vec<usize>,
    points: Vec<f64>,
    at: f64,
    /// The movement of its position: from, to, start and duration.
    position: (f64, f64, f64, f64),
    speed: f64,
    phase: f64,
    since_s: f64,
    /// From, to, start and duration.
    weight: [f64; 4],
}

impl Voice {
    fn parts(&self) -> Vec<(usize, f64)> {
        let last = self.points.len() - 1;
        let at = self.at.clamp(self.points[0], self.points[last]);
        let next = self
            .points
            .iter()
            .position(|point| *point >= at)
            .unwrap()
            .max(1);
        let [low, high] = [self.points[next - 1], self.points[next]];
        let part = (at - low) / (high - low);
        vec![(self.clips[next - 1], 1.0 - part), (self.clips[next], part)]
    }

    fn cycle_s(&self, world: &World) -> f64 {
        let parts = self.parts().into_iter();
        parts
            .map(|(clip, part)| part * world.clips[clip].duration_s())
            .sum()
    }

    /// Moves the anchor to `now_s`, keeping its present phase.
    fn settle(&mut self, world: &World, now_s: f64) {
        self.phase += (now_s - self.since_s) * self.speed / self.cycle_s(world);
        self.since_s = now_s;
    }

    /// Its position from `now_s` on: that in the middle of a step of 1/128 s. The first and the
    /// last step may be shorter.
    fn position_at(&self, now_s: f64) -> f64 {
        let (from, to, start_s, over_s) = self.position;
        let end_s = start_s + over_s;
        if now_s >= end_s {
            return to;
        }
        let first_s = (now_s * 128.0).floor() / 128.0;
        let [from_s, to_s] = [first_s.max(start_s), (first_s + 1.0 / 128.0).min(end_s)];
        from + (to - from) * ((0.5 * (from_s + to_s) - start_s) / over_s)
    }

    /// Takes it to `now_s`, through all steps of its position.
    fn go_on(&mut self, world: &World, now_s: f64) {
        let end_s = self.position.2 + self.position.3;
        while self.since_s < now_s {
            let step_s = ((self.since_s * 128.0).floor() + 1.0) / 128.0;
            let ends = [step_s, now_s, end_s].into_iter();
            let next_s = ends.filter(|time_s| *time_s > self.since_s);
            self.settle(world, next_s.fold(f64::INFINITY, f64::min));
            self.at = self.position_at(self.since_s);
        }
    }

    fn weight_at(&self, now_s: f64) -> f64 {
        let [from, to, start_s, fade_s] = self.weight;
        let part = if fade_s > 0.0 {
            ((now_s - start_s) / fade_s).clamp(0.0, 1.0)
        } else {
            1.0
        };
        from + (to - from) * part
    }
}

/// Random changes of position, speed and time, and fades from one blend space to another: each clip
/// is at the time of its phase, with the weight that the position and the fade give it.
#[test]
fn clips_stand_where_the_blend_space_puts_them() {
    let world = world();
    let mut most = 0;
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut animator = world.animator();
        let id = animator.add(Play::REST).unwrap();
        let (mut voices, mut now_s) = (Vec::<Voice>::new(), 0.0);
        for frame in 0..200 {
            let note = format!("seed {seed}, frame {frame}");
            if rng.chance(4) {
                command(&mut rng, &mut animator, id, &mut voices, now_s);
            }
            now_s += f64::from(rng.range(0.001, 0.08));
            animator.update(now_s).unwrap();
            for voice in &mut voices {
                voice.go_on(world, now_s);
            }
            voices.retain(|voice| voice.weight[1] > 0.0 || voice.weight_at(now_s) > 0.0);
            most = most.max(voices.len());
            same(world, &animator, id, &voices, &note);
        }
    }
    assert!(most >= 3, "{most}");
}

fn command(
    rng: &mut Rng,
    animator: &mut Animator,
    id: ActorId,
    voices: &mut Vec<Voice>,
    now_s: f64,
) {
    let world = world();
    for voice in voices.iter_mut() {
        voice.settle(world, now_s);
    }
    let at = rng.range(-0.5, 3.5);
    let playing = voices.last().is_some_and(|voice| voice.weight[1] > 0.0);
    match rng.below(6) {
        0 if playing => {
            animator
                .live_mut(id)
                .set_blend_position(0, at, 0.0)
                .unwrap();
            let voice = voices.last_mut().unwrap();
            (voice.at, voice.position) = (at.into(), (at.into(), at.into(), 0.0, 0.0));
        }
        1 if playing => {
            let over_s = rng.range(0.05, 0.6);
            animator
                .live_mut(id)
                .set_blend_position(0, at, over_s)
                .unwrap();
            let voice = voices.last_mut().unwrap();
            voice.position = (voice.at, at.into(), now_s, over_s.into());
            voice.at = voice.position_at(now_s);
        }
        2 if playing => {
            let speed = f64::from(rng.range(-2.0, 2.0));
            animator.live_mut(id).set_speed(0, speed).unwrap();
            voices.iter_mut().for_each(|voice| voice.speed = speed);
        }
        3 if playing => {
            let time_s = f64::from(rng.range(0.0, 2.0));
            animator.live_mut(id).seek(0, time_s).unwrap();
            for voice in voices.iter_mut() {
                voice.phase = time_s / voice.cycle_s(world);
            }
        }
        4 => {
            let fade_s = rng.range(0.05, 0.5);
            let stop = Play::REST.fade_s(fade_s).ease(Ease::Linear);
            animator.live_mut(id).play(stop).unwrap();
            fade_out(voices, now_s, fade_s.into());
        }
        _ => {
            let (fade_s, speed) = (rng.range(0.05, 0.5), f64::from(rng.range(0.2, 2.0)));
            let offset_s = f64::from(rng.range(0.0, 1.0));
            let play = Play::blend_space("line")
                .at(at)
                .fade_s(fade_s)
                .ease(Ease::Linear);
            animator
                .live_mut(id)
                .play(play.speed(speed).offset_s(offset_s))
                .unwrap();
            fade_out(voices, now_s, fade_s.into());
            let at = f64::from(at);
            let mut voice = Voice {
                clips: vec![0, WALK, RUN],
                points: vec![0.0, 1.0, 3.0],
                at,
                position: (at, at, 0.0, 0.0),
                speed,
                phase: 0.0,
                since_s: now_s,
                weight: [0.0, 1.0, now_s, fade_s.into()],
            };
            voice.phase = offset_s / voice.cycle_s(world);
            voices.push(voice);
        }
    }
}

fn fade_out(voices: &mut Vec<Voice>, now_s: f64, fade_s: f64) {
    for voice in voices {
        voice.weight = [voice.weight_at(now_s), 0.0, now_s, fade_s];
    }
}

fn same(world: &World, animator: &Animator, id: ActorId, voices: &[Voice], note: &str) {
    let now_s = animator.now_s();
    let weight = |record: &PlayRecord| f64::from(record.weight_at(now_s));
    let actor = animator.live(id);
    let records = actor.records();
    let groups = records.chunk_by(|a, b| (a.flags ^ b.flags) & PlayRecord::BLEND_BITS == 0);
    // A blend space that has faded out except for rounding may be listed by only one of the two.
    let sum = |group: &[PlayRecord]| group.iter().map(weight).sum::<f64>();
    let mut groups = groups.filter(|group| sum(group) > 1e-6);
    for voice in voices.iter().filter(|voice| voice.weight_at(now_s) > 1e-6) {
        let got = groups.next().unwrap_or_default();
        let (sum, share) = (sum(got), voice.weight_at(now_s));
        assert!((sum - share).abs() <= 3.0 * WEIGHT, "{note}: {sum} {share}");
        for (clip, part) in voice.parts() {
            let found = got.iter().find(|record| usize::from(record.clip) == clip);
            let Some(record) = found else {
                assert!(part < 1e-6, "{note}: no clip {clip}, {part}");
                continue;
            };
            let off = weight(record) - part * sum;
            assert!(off.abs() <= WEIGHT, "{note}: {off:e}");
            let off = record.unwrapped_s(now_s) - voice.phase * world.clips[clip].duration_s();
            // The position is an `f32`, so the rate has a relative error of 1e-7, for some seconds.
            assert!(off.abs() <= 2e-5, "{note}: {off:e}");
        }
    }
    assert!(groups.next().is_none(), "{note}");
}

/// The pose is that of its clips at their times, and all clips are at one phase.
#[test]
fn what_plays_is_told() {
    let mut animator = world().animator();
    let play = Play::blend_space("line").at(2.0).layer(1).mask("upper");
    let id = animator.add(play.speed(0.5)).unwrap();
    animator.update(0.3).unwrap();
    let space = world()
        .spaces
        .iter()
        .position(|space| space.name == "line")
        .unwrap();
    let space = Id::new(space as u16);
    let playing: Vec<_> = animator.live(id).playing().collect();
    assert_eq!(playing.len(), 2);
    let durations_s = [WALK, RUN].map(|clip| world().clips[clip].duration_s());
    let cycle_s = 0.5 * (durations_s[0] + durations_s[1]);
    for ((playing, clip), duration_s) in playing.iter().zip([WALK, RUN]).zip(durations_s) {
        assert_eq!(playing.clip, Some(Id::new(clip as u16)));
        assert_eq!((playing.blend_space, playing.layer), (Some(space), 1));
        assert_eq!((playing.weight, playing.by_state_machine), (0.5, false));
        let phase = 0.3 * 0.5 / cycle_s;
        assert!((playing.time_s - phase * duration_s).abs() < 1e-12);
        assert!((playing.speed - 0.5 * duration_s / cycle_s).abs() < 1e-12);
    }
    let at = animator.live(id).blend_position(1);
    assert_eq!(at, Some((space, BlendAt::Line(2.0))));
    assert_eq!(animator.live(id).blend_position(0), None);
    // Paused, it is still. At a corner, a single clip plays. Stopped, none does.
    animator.live_mut(id).set_paused(true);
    animator.update(5.0).unwrap();
    assert!(animator.live(id).pose_version().is_some());
    animator.live_mut(id).set_paused(false);
    animator
        .live_mut(id)
        .set_blend_position(1, 3.0, 0.0)
        .unwrap();
    assert_eq!(animator.live(id).playing().count(), 1);
    animator.live_mut(id).stop(1, 0.5).unwrap();
    assert_eq!(animator.live(id).blend_position(1), None);
    animator.update(6.0).unwrap();
    assert_eq!(animator.live(id).playing().count(), 0);
}

/// A plane plays three clips: the joints are at the mean of their positions in the clips, with the
/// weights of the plane.
#[test]
fn the_pose_is_that_of_its_clips() {
    let mut animator = world().animator();
    let play = Play::blend_space("plane").at([0.25, 0.5]);
    let id = animator.add(play).unwrap();
    animator.update(0.4).unwrap();
    let space = &world().spaces[1];
    let weights = space.weights(Vec2::new(0.25, 0.5));
    let parts = weights.into_iter().enumerate();
    let parts: Vec<_> = parts.filter(|(_, weight)| *weight > 0.0).collect();
    let clip = |index: usize| &world().clips[space.points[index].1];
    let parts_s = parts.iter();
    let durations_s = parts_s.map(|(index, weight)| f64::from(*weight) * clip(*index).duration_s());
    let phase = 0.4 / durations_s.sum::<f64>();
    assert_eq!(animator.live(id).playing().count(), 3);
    let mut pose = vec![Transform::IDENTITY; world().joints()];
    animator.local_poses(&[id], &mut pose).unwrap();
    for (joint, got) in pose.iter().enumerate() {
        let mut want = DVec3::ZERO;
        for (index, weight) in parts.iter().copied() {
            let time_s = (phase * clip(index).duration_s()) % clip(index).duration_s();
            let own = clip(index).sample_joint(Id::new(joint as u16), time_s);
            want += own.translation.as_dvec3() * f64::from(weight);
        }
        // For lengths of a metre, rounded a few times.
        let off = (got.translation.as_dvec3() - want).length();
        assert!(off < 2e-6, "{joint}: {off:e}");
    }
}

fn told(animator: &mut Animator, times_s: impl Iterator<Item = f64>) -> Vec<(What, f64)> {
    let mut told = Vec::new();
    for now_s in times_s {
        animator.update(now_s).unwrap();
        let events = animator.events().iter();
        told.extend(events.map(|event| (Happened::from(event).what, event.time_s)));
    }
    told
}

/// Events and root motion do not depend on the frames, and a play-once blend space finishes once.
#[test]
fn the_frame_rate_changes_nothing() {
    let run = |frames: u32| {
        let mut animator = world().animator();
        let id = animator.add(Play::blend_space("line").at(2.0)).unwrap();
        animator.live_mut(id).set_root_motion(RootMotionMode::Apply);
        let mut events = told(
            &mut animator,
            (1..=frames).map(|n| 2.0 * f64::from(n) / f64::from(frames)),
        );
        animator
            .live_mut(id)
            .set_blend_position(0, 1.5, 0.0)
            .unwrap();
        events.extend(told(
            &mut animator,
            (1..=frames).map(|n| 2.0 + 2.0 * f64::from(n) / f64::from(frames)),
        ));
        // The order of simultaneous events depends on the last bit.
        events.sort_by_key(|(what, time_s)| ((time_s * 1e6).round() as u64, format!("{what:?}")));
        (events, animator.live(id).root_transform().translation)
    };
    let (want, moved) = run(1);
    assert!(want.len() > 8, "{}", want.len());
    // The distances of both clips, each with its weight, at the shared phase.
    assert!(
        moved.z > 2.0 * WALK_SPEED && moved.z < 4.0 * RUN_SPEED,
        "{moved}"
    );
    for frames in [7, 120] {
        let (got, place) = run(frames);
        assert_eq!(got.len(), want.len());
        for ((got, got_s), (want, want_s)) in got.iter().zip(&want) {
            assert_eq!(got, want);
            assert!((got_s - want_s).abs() < 1e-9);
        }
        assert!((place - moved).length() < 1e-9, "{place} {moved}");
    }
}

#[test]
fn it_finishes_once() {
    let mut animator = world().animator();
    let id = animator
        .add(Play::blend_space("line").at(2.5).once())
        .unwrap();
    let count = |animator: &Animator| {
        let finished =
            |kind: &AnimationEventKind| matches!(kind, AnimationEventKind::Finished { .. });
        let events = animator.events().iter();
        events.filter(|event| finished(&event.kind)).count()
    };
    let mut finished = 0;
    for frame in 1..200 {
        animator.update(f64::from(frame) / 60.0).unwrap();
        finished += count(&animator);
    }
    assert_eq!(finished, 1);
    assert!(animator.live(id).pose_version().is_some());
    // From there it plays to the end once more.
    animator.live_mut(id).seek(0, 0.1).unwrap();
    animator.update(10.0).unwrap();
    assert_eq!(count(&animator), 1);
    assert!(
        animator
            .live(id)
            .playing()
            .all(|playing| playing.loop_mode == LoopMode::Once)
    );
}

/// A blend space in step with a clip, and the reverse: phases agree during the fade and after it.
#[test]
fn it_keeps_step() {
    let mut animator = world().animator();
    let id = animator.add(Play::new("Walk").offset_s(0.3)).unwrap();
    let phases = |animator: &Animator| -> Vec<f64> {
        let actor = animator.live(id);
        let records = actor.records().iter();
        let phase = |record: &PlayRecord| {
            record.unwrapped_s(animator.now_s()) / world().duration_s(record.clip)
        };
        records.map(phase).collect()
    };
    let agree = |animator: &Animator| {
        let phases = phases(animator);
        let first = phases[0];
        assert!(
            phases.iter().all(|phase| (phase - first).abs() < 1e-7),
            "{phases:?}"
        );
        phases.len()
    };
    animator.update(0.5).unwrap();
    let play = Play::blend_space("line").at(2.0).fade_s(0.5).synced();
    animator.live_mut(id).play(play).unwrap();
    assert_eq!(agree(&animator), 3);
    animator.update(0.7).unwrap();
    animator
        .live_mut(id)
        .set_blend_position(0, 2.5, 0.0)
        .unwrap();
    animator.update(2.0).unwrap();
    assert_eq!(agree(&animator), 2);
    animator
        .live_mut(id)
        .play(Play::new("Run").fade_s(0.4).synced())
        .unwrap();
    for now_s in [2.1, 2.3] {
        animator.update(now_s).unwrap();
        assert!(agree(&animator) >= 2);
    }
    // At most seven blend spaces play. The others are dropped.
    for number in 0..40 {
        let play = Play::blend_space("line")
            .at(number as f32 % 3.0)
            .fade_s(5.0);
        animator.live_mut(id).play(play).unwrap();
    }
    let blends = |animator: &Animator| {
        let actor = animator.live(id);
        let records = actor.records().iter();
        records
            .filter(|record| record.flags & PlayRecord::BLEND_BITS != 0)
            .count()
    };
    assert!(blends(&animator) <= 14);
    animator.update(8.0).unwrap();
    assert_eq!(blends(&animator), 1);
}
