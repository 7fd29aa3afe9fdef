//! Random commands at random times: compares the animator with the plain actor.

use super::exact::Exact;
use super::exact_events::{Happened, same};
use super::script;
use super::script::Command;
use super::world::{RUN, RUN_SPEED, WALK, WALK_SPEED, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use throng::animator::{ActorId, Animator, Play, RootMotionMode};
use throng::skeleton::Transform;

/// Updates, and checks that events are in order of time and within the time that passed.
fn update(animator: &mut Animator, now_s: f64, out: &mut Vec<Happened>) {
    let before_s = animator.now_s();
    animator.update(now_s).unwrap();
    assert_eq!(animator.events_left_out(), 0);
    let times = animator.events().iter().map(|event| event.time_s);
    let times: Vec<_> = times.collect();
    assert!(times.is_sorted());
    // An event exactly at the time of an update may be delivered with the next one.
    let span = before_s - 1e-9..=now_s;
    assert!(
        times.iter().all(|time_s| span.contains(time_s)),
        "{times:?} {span:?}"
    );
    out.extend(animator.events().iter().map(Happened::from));
}

/// The largest error of the animator's pose, as a fraction of the bound.
///
/// Also returns the number of joints whose exact pose cannot be known.
fn off(animator: &mut Animator, id: ActorId, exact: &Exact<'_>) -> (f64, usize) {
    let mut local = vec![Transform::IDENTITY; exact.world.joints()];
    animator.local_poses(&[id], &mut local).unwrap();
    let pose = exact.pose();
    let off = pose.iter().zip(&local).map(|(want, got)| want.off(got));
    let shaky = off.clone().filter(Option::is_none).count();
    (off.flatten().fold(0.0, f64::max), shaky)
}

/// A random frame length: mostly short, sometimes long.
fn frame_s(rng: &mut Rng) -> f64 {
    let most = if rng.chance(10) { 1.5 } else { 0.05 };
    f64::from(rng.range(0.0, most)) + 1e-7
}

#[test]
fn poses_and_events_are_those_of_plain_code() {
    let world = world();
    let (mut worst, mut shaky, mut joints, mut told) = (0.0_f64, 0, 0, 0);
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut animator = world.animator();
        let mut exact = Exact::new(world);
        let id = animator.add(Play::REST).unwrap();
        let (mut now_s, mut got) = (0.0, Vec::new());
        for frame in 0..150 {
            let mut said = Vec::new();
            while rng.chance(3) {
                let command = script::command(&mut rng, world, exact.local_s);
                script::say(&mut animator, id, world, &command);
                script::tell(&mut exact, &command);
                said.push(command);
            }
            now_s += frame_s(&mut rng);
            update(&mut animator, now_s, &mut got);
            exact.advance(now_s);
            let time_s = animator.live(id).time_s();
            assert!((time_s - exact.local_s).abs() < 1e-11);
            let (off, unknown) = off(&mut animator, id, &exact);
            let playing: Vec<_> = animator.live(id).playing().collect();
            assert!(
                off <= 1.0,
                "seed {seed}, frame {frame}: {off}\n{said:?}\n{playing:#?}\n{:#?}",
                exact.voices
            );
            worst = worst.max(off);
            shaky += unknown;
            joints += world.joints();
        }
        same(&got, &exact.happened, &format!("seed {seed}"));
        told += got.len();
    }
    println!("off by {worst} of the bound; {shaky} of {joints} joints not known; {told} events");
    assert!(told > 2000 && shaky * 100 < joints);
}

/// Random commands with their times.
fn script(seed: u64) -> Vec<(f64, Command)> {
    let (mut rng, mut time_s) = (Rng::new(seed), 0.0);
    let commands = (0..60).map(|_| {
        time_s += frame_s(&mut rng);
        (time_s, script::command(&mut rng, world(), time_s))
    });
    commands.collect()
}

/// Plays a script, with updates at its times and at others between.
fn played(seed: u64, between: usize) -> (Vec<Transform>, Vec<Happened>) {
    let world = world();
    let (mut animator, mut rng) = (world.animator(), Rng::new(seed ^ 0xABCD));
    let id = animator.add(Play::REST).unwrap();
    let mut out = Vec::new();
    for (time_s, command) in script(seed) {
        let from_s = animator.now_s();
        let parts = (0..between).map(|_| f64::from(rng.range(0.0, 1.0)));
        let mut parts: Vec<_> = parts.collect();
        parts.sort_by(f64::total_cmp);
        for part in parts {
            update(&mut animator, from_s + part * (time_s - from_s), &mut out);
        }
        update(&mut animator, time_s, &mut out);
        script::say(&mut animator, id, world, &command);
    }
    let end_s = animator.now_s() + 1.0;
    update(&mut animator, end_s, &mut out);
    let mut local = vec![Transform::IDENTITY; world.joints()];
    animator.local_poses(&[id], &mut local).unwrap();
    (local, out)
}

/// Records do not depend on the times at which they were read: poses have the same bits, and events
/// the same times.
#[test]
fn any_partition_of_time_is_the_same() {
    for seed in 100..160 {
        let (pose, events) = played(seed, 0);
        for between in [1, 17] {
            let (other, also) = played(seed, between);
            assert_eq!(pose, other, "seed {seed}");
            same(&also, &events, &format!("seed {seed}, {between}"));
        }
    }
}

/// A walk, a run in step with it, and back, at any frame rate: the distance is the integral of
/// weight times speed. A frame of length h takes the mean weight times the distance of each clip.
/// Its error is at most h² / 12 times the largest slopes of both. In a fade of 0.5 s the weight
/// rises by at most 3 per second, and clip speeds change by at most 2 · 3.
#[test]
fn root_motion_is_the_same_at_any_frame_rate() {
    let world = world();
    let way = |hz: f64| {
        let mut animator = world.animator();
        let id = animator.add("Walk").unwrap();
        animator.live_mut(id).set_root_motion(RootMotionMode::Apply);
        for (index, clip) in ["Run", "Walk", "Idle", "Run"].into_iter().enumerate() {
            let play = Play::new(clip).fade_s(0.5);
            let play = if clip == "Idle" { play } else { play.synced() };
            for frame in 1..=hz as u32 {
                let frame_s = f64::from(frame) / hz;
                animator.update(index as f64 + frame_s).unwrap();
            }
            animator.live_mut(id).play(play).unwrap();
        }
        animator.update(5.0).unwrap();
        animator.live(id).root_transform().translation
    };
    let want = way(2000.0);
    for hz in [15.0, 60.0, 144.0] {
        let off = (way(hz) - want).length();
        let (fades, length_s, slopes) = (3.0, 0.5, 3.0 * 6.0);
        let bound = fades * length_s * slopes * RUN_SPEED / (hz * hz) / 12.0;
        println!("{hz} Hz: off by {off} m of {bound} m");
        // The last second is a single step.
        assert!(off <= bound + 1e-9);
    }
    assert!(want.z > 3.0 && want.x.abs() < 1e-6);
    // At constant speed, the distance is exact.
    let mut animator = world.animator();
    for (clip, speed) in [(WALK, WALK_SPEED), (RUN, RUN_SPEED)] {
        let id = animator.add(world.name(clip)).unwrap();
        animator
            .live_mut(id)
            .set_root_motion(RootMotionMode::Report);
        let (from_s, mut z) = (animator.now_s(), 0.0);
        for frame in 1..=500 {
            animator.update(from_s + 0.037 * f64::from(frame)).unwrap();
            z += animator.live(id).root_delta().translation.z;
        }
        // The motion's own keys are `f32`.
        assert!((z / (0.037 * 500.0) - speed).abs() < 1e-6, "{z}");
    }
}
