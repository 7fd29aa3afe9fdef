//! Actors that do not change are not visited.

use super::world::{WALK, world};
use crate::reference::handles::Handles;
use throng::Id;
use throng::animator::{ActorId, Animator, Play, Pose, RootMotionMode, ShowPose};

/// The number of visits that some updates make.
fn visits(animator: &mut Animator, from_s: f64, frames: u32) -> u64 {
    let before = animator.visits();
    for frame in 1..=frames {
        animator.update(from_s + f64::from(frame) / 60.0).unwrap();
    }
    animator.visits() - before
}

/// An animator with a hundred actors, whose clips have no events.
fn hundred<'a>(play: impl Fn(usize) -> Play<'a>) -> (Animator, Vec<ActorId>) {
    hundred_with(&[], play)
}

/// An animator with a hundred actors, whose clips have only these events.
fn hundred_with<'a>(
    events: &[(usize, Vec<(&str, f64)>)],
    play: impl Fn(usize) -> Play<'a>,
) -> (Animator, Vec<ActorId>) {
    let character = world().with_events(events);
    let mut animator = Animator::new(&character).unwrap();
    let ids = (0..100).map(|number| animator.add(play(number)).unwrap());
    let ids = ids.collect();
    animator.update(0.0).unwrap();
    (animator, ids)
}

fn version(animator: &Animator, id: ActorId) -> Option<u32> {
    animator.live(id).pose_version()
}

fn still(animator: &Animator, ids: &[ActorId]) -> usize {
    let still = ids.iter().filter(|id| version(animator, **id).is_some());
    still.count()
}

#[test]
fn who_rests_plays_on_or_is_paused_costs_nothing() {
    // At rest.
    let (mut animator, ids) = hundred(|_| Play::REST);
    assert_eq!(visits(&mut animator, 0.0, 60), 0);
    assert_eq!(still(&animator, &ids), 100);
    // A loop without events.
    let (mut animator, ids) = hundred(|_| Play::new("Walk"));
    assert_eq!(visits(&mut animator, 0.0, 60), 0);
    assert_eq!(still(&animator, &ids), 0);
    // Paused during a fade: one visit each, for the command.
    for id in &ids {
        animator
            .live_mut(*id)
            .play(Play::new("Run").fade_s(0.5).synced())
            .unwrap();
        animator.live_mut(*id).set_paused(true);
    }
    assert!(visits(&mut animator, 1.0, 1) <= 100);
    assert_eq!(visits(&mut animator, 2.0, 60), 0);
    assert_eq!(still(&animator, &ids), 100);
    // Resumed one by one, each continues, and the clip that it faded out is removed at its time.
    for id in &ids {
        animator.live_mut(*id).set_paused(false);
    }
    assert!(visits(&mut animator, 3.0, 60) <= 200);
    assert_eq!(animator.live(ids[0]).records().len(), 1);
    assert_eq!(visits(&mut animator, 5.0, 60), 0);
}

#[test]
fn who_has_finished_costs_nothing() {
    let (mut animator, ids) = hundred(|number| {
        let play = Play::new(["Idle", "Walk", "Run", "Wave"][number % 4]);
        play.once().offset_s(0.01 * number as f64)
    });
    // One visit at the end of each clip.
    assert_eq!(visits(&mut animator, 0.0, 300), 100);
    assert_eq!(visits(&mut animator, 5.0, 60), 0);
    assert_eq!(still(&animator, &ids), 100);
    let versions = |animator: &Animator| {
        ids.iter()
            .map(|id| version(animator, *id))
            .collect::<Vec<_>>()
    };
    let before = versions(&animator);
    animator.update(10.0).unwrap();
    assert_eq!(before, versions(&animator));
    animator.live_mut(ids[7]).seek(0, 0.0).unwrap();
    animator.update(10.1).unwrap();
    assert_eq!(still(&animator, &ids), 99);
    animator.update(20.0).unwrap();
    assert_ne!(before[7], version(&animator, ids[7]));
    // A pose given by the caller.
    let rest = world().rest();
    for id in &ids {
        animator
            .live_mut(*id)
            .set_pose(
                Pose::Local(&rest),
                &ShowPose {
                    fade_s: 0.2,
                    ..ShowPose::default()
                },
            )
            .unwrap();
    }
    assert_eq!(visits(&mut animator, 20.0, 60), 200);
    assert_eq!(still(&animator, &ids), 100);
}

/// Events wake an actor when they are due, and not before.
#[test]
fn events_wake_an_actor() {
    let duration_s = world().clips[WALK].duration_s();
    let ids = (0..world().clips.len()).map(|clip| (clip, Id::new(clip as u16)));
    let events = ids.map(|(clip, id)| (clip, world().character.events(id).collect()));
    let mut list: Vec<(usize, Vec<_>)> = events.collect();
    list[WALK].1 = vec![("a", 0.1), ("b", 0.6 * duration_s)];
    let (mut animator, ids) = hundred_with(&list, |_| Play::REST);
    animator.live_mut(ids[3]).play("Walk").unwrap();
    let mut events = 0;
    let before = animator.visits();
    for frame in 1..=1000 {
        animator.update(f64::from(frame) / 100.0).unwrap();
        events += animator.events().len() as u64;
    }
    assert!(events >= 16, "{events}");
    // One visit for the command. An event exactly at the time of a frame may take two.
    assert!(animator.visits() - before <= 2 + events + 2);
}

/// Root motion takes a visit in each update, and one more to report that it has ended.
#[test]
fn root_motion_is_told_to_have_ended() {
    let (mut animator, ids) = hundred(|_| Play::REST);
    let id = ids[0];
    animator
        .live_mut(id)
        .play(Play::new("Walk").once())
        .unwrap();
    animator
        .live_mut(id)
        .set_root_motion(RootMotionMode::Report);
    let mut moved = 0;
    for frame in 1..=300 {
        animator.update(f64::from(frame) / 60.0).unwrap();
        moved += u32::from(animator.live(id).root_delta().translation.z > 0.0);
        // Two updates to the same time: nothing moves.
        let before = animator.live(id).root_delta();
        if before.translation.z > 0.0 && frame % 3 == 0 {
            animator.update(f64::from(frame) / 60.0).unwrap();
            assert_eq!(animator.live(id).root_delta().translation.z, 0.0);
        }
    }
    let duration_s = world().clips[WALK].duration_s();
    assert_eq!(moved, (duration_s * 60.0).ceil() as u32);
    assert_eq!(animator.live(id).root_delta().translation.z, 0.0);
    assert_eq!(visits(&mut animator, 6.0, 60), 0);
    // Paused in the middle, with a time scale whose product with time is rounded.
    animator.live_mut(id).play("Run").unwrap();
    animator.live_mut(id).set_time_scale(0.3).unwrap();
    animator.update(8.1).unwrap();
    assert!(animator.live(id).root_delta().translation.z > 0.0);
    animator.update(8.1).unwrap();
    assert_eq!(animator.live(id).root_delta().translation.z, 0.0);
    animator.update(8.2).unwrap();
    animator.live_mut(id).set_paused(true);
    animator.update(8.3).unwrap();
    assert_eq!(animator.live(id).root_delta().translation.z, 0.0);
    assert_eq!(visits(&mut animator, 9.0, 60), 0);
}
