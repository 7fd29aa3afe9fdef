//! Events at the ends of clips, fades, pauses and clocks.

use super::exact_events::{Happened, What};
use super::world::{RUN, WALK, world};
use crate::reference::handles::Handles;
use throng::animator::{ActorId, Animator, Play};
use throng::motion::Ease;

/// An animator with these events in its walk and its run, as fractions of their durations.
///
/// No other clip has events.
fn animator(parts: &[f64]) -> Animator {
    let events = [WALK, RUN].map(|clip| {
        let list = parts.iter().map(|part| ("step", part * duration_s(clip)));
        (clip, list.collect())
    });
    let character = world().with_events(&events);
    Animator::new(&character).unwrap()
}

fn duration_s(clip: usize) -> f64 {
    world().clips[clip].duration_s()
}

/// The events of an update, with their times.
fn told(animator: &mut Animator, now_s: f64) -> Vec<(What, f64)> {
    animator.update(now_s).unwrap();
    let events = animator.events().iter().map(Happened::from);
    events.map(|event| (event.what, event.time_s)).collect()
}

#[test]
fn an_event_at_the_start_is_told_in_the_first_update() {
    let mut animator = animator(&[0.0]);
    animator.update(5.0).unwrap();
    animator.add("Walk").unwrap();
    assert_eq!(told(&mut animator, 5.0), []);
    assert_eq!(told(&mut animator, 5.01), [(What::Clip(WALK, 0), 5.0)]);
    assert_eq!(told(&mut animator, 5.5), []);
    // The events at its start and at each turn, in one step, whatever its length.
    let mut animator = self::animator(&[0.0]);
    let id = animator.add("Walk").unwrap();
    animator
        .live_mut(id)
        .play(Play::new("Run").speed(2.0))
        .unwrap();
    let run_s = 0.5 * duration_s(RUN);
    let got = told(&mut animator, 3.5 * run_s);
    assert_eq!(got.len(), 4, "{got:?}");
    for (number, (what, time_s)) in (0..).zip(got) {
        assert_eq!(what, What::Clip(RUN, 0));
        assert!((time_s - run_s * f64::from(number)).abs() < 1e-12);
    }
}

#[test]
fn the_end_is_told_once() {
    let mut animator = animator(&[]);
    let id = animator.add(Play::new("Walk").once()).unwrap();
    let end_s = duration_s(WALK);
    let finished = |time_s| vec![(What::Finished(WALK), time_s)];
    assert_eq!(told(&mut animator, 0.9 * end_s), []);
    assert_eq!(told(&mut animator, 100.0), finished(end_s));
    assert_eq!(told(&mut animator, 200.0), []);
    // Faster in the same direction: it stays at its end.
    animator.live_mut(id).set_speed(0, 2.0).unwrap();
    assert_eq!(told(&mut animator, 201.0), []);
    // Backwards, it starts from its end, not from the time that has passed beyond it.
    animator.live_mut(id).set_speed(0, -2.0).unwrap();
    let got = told(&mut animator, 300.0);
    assert_eq!(got.len(), 1);
    assert!((got[0].1 - (201.0 + 0.5 * end_s)).abs() < 1e-9, "{got:?}");
    animator.live_mut(id).seek(0, 0.25 * end_s).unwrap();
    assert_eq!(told(&mut animator, 400.0).len(), 1);
    // A clip that starts at its end finishes at once.
    animator
        .live_mut(id)
        .play(Play::new("Walk").once().offset_s(end_s))
        .unwrap();
    assert_eq!(told(&mut animator, 401.0), finished(400.0));
    // A clip that is replaced before its end never finishes.
    animator
        .live_mut(id)
        .play(Play::new("Walk").once())
        .unwrap();
    told(&mut animator, 401.0 + 0.1 * end_s);
    animator
        .live_mut(id)
        .play(Play::new("Idle").fade_s(0.5 * end_s as f32))
        .unwrap();
    assert_eq!(told(&mut animator, 500.0), []);
}

#[test]
fn what_has_faded_out_tells_nothing() {
    let mut animator = animator(&[0.5]);
    let id = animator.add("Walk").unwrap();
    let half_s = 0.5 * duration_s(WALK);
    animator
        .live_mut(id)
        .play(Play::new("Idle").fade_s(half_s as f32 * 1.01))
        .unwrap();
    let got = told(&mut animator, 100.0);
    assert_eq!(got.len(), 1, "{got:?}");
    assert!((got[0].1 - half_s).abs() < 1e-12);
    let weight = animator.events()[0].weight;
    assert!(weight > 0.0 && weight < 1e-3, "{weight}");
    animator.live_mut(id).play(Play::new("Walk")).unwrap();
    animator
        .live_mut(id)
        .play(Play::new("Idle").fade_s(half_s as f32 * 0.99))
        .unwrap();
    assert_eq!(told(&mut animator, 200.0), []);
    assert_eq!(animator.live(id).records().len(), 1);
}

#[test]
fn time_that_stands_tells_nothing() {
    let mut animator = animator(&[0.5]);
    let id = animator.add("Walk").unwrap();
    let half_s = 0.5 * duration_s(WALK);
    assert_eq!(told(&mut animator, 0.5 * half_s), []);
    animator.live_mut(id).set_paused(true);
    assert_eq!(told(&mut animator, 50.0), []);
    animator.live_mut(id).set_paused(false);
    animator.live_mut(id).set_time_scale(0.25).unwrap();
    let got = told(&mut animator, 60.0);
    // A quarter of the speed for the remaining time.
    assert!((got[0].1 - (50.0 + 2.0 * half_s)).abs() < 1e-9, "{got:?}");
    animator.live_mut(id).set_time_scale(0.0).unwrap();
    assert_eq!(told(&mut animator, 1000.0), []);
}

/// A clip that reverses while its speed changes passes an event twice, in one step or in many.
#[test]
fn a_clip_that_turns_round_passes_events_both_ways() {
    let run = |steps: u32| {
        let mut animator = animator(&[0.3, 0.6]);
        let id = animator.add("Walk").unwrap();
        let play = Play::new("Run").speed(-1.0).fade_s(2.0).synced();
        animator.live_mut(id).play(play.ease(Ease::Linear)).unwrap();
        let mut all = Vec::new();
        for step in 1..=steps {
            all.extend(told(
                &mut animator,
                2.0 * f64::from(step) / f64::from(steps),
            ));
        }
        all
    };
    let (one, many) = (run(1), run(400));
    assert_eq!(one.len(), many.len());
    for (one, many) in one.iter().zip(&many) {
        assert_eq!(one.0, many.0);
        assert!((one.1 - many.1).abs() < 1e-9);
    }
    let back = one.iter().filter(|(_, time_s)| *time_s > 1.2).count();
    assert!(back >= 2 && one.len() >= 6, "{one:?}");
}

#[test]
fn a_step_of_a_month_is_bounded() {
    let mut animator = animator(&[0.25, 0.75]);
    let id = animator.add("Walk").unwrap();
    animator
        .live_mut(id)
        .play(Play::new("Run").layer(1))
        .unwrap();
    let month_s = 30.0 * 86_400.0;
    animator.update(month_s).unwrap();
    assert_eq!(animator.events().len(), 2 * 1024);
    let passes = [WALK, RUN].map(|clip| {
        let duration_s = duration_s(clip);
        let passed = |part: f64| (month_s / duration_s - part).floor() as u64 + 1;
        passed(0.25) + passed(0.75)
    });
    assert_eq!(animator.events_left_out(), passes[0] + passes[1] - 2 * 1024);
    assert!(passes[0] > 3_000_000);
    animator.update(month_s + 1.0).unwrap();
    assert_eq!(animator.events_left_out(), 0);
    assert!(animator.events().len() <= 5);
}

/// No events are delivered while a clock goes back. Later ones, also ends, are delivered again.
#[test]
fn a_clock_that_goes_back_tells_what_lies_ahead_again() {
    let mut animator = animator(&[0.5]);
    animator.add(Play::new("Walk").once()).unwrap();
    let end_s = duration_s(WALK);
    let want = [What::Clip(WALK, 0), What::Finished(WALK)];
    let whats = |told: Vec<(What, f64)>| told.iter().map(|(what, _)| *what).collect::<Vec<_>>();
    assert_eq!(whats(told(&mut animator, 10.0)), want);
    assert_eq!(told(&mut animator, 0.25 * end_s), []);
    assert_eq!(whats(told(&mut animator, 20.0)), want);
    assert_eq!(told(&mut animator, 15.0), []);
    assert_eq!(told(&mut animator, 30.0), []);
}

/// Clips in step stay at one phase, through fades and changes of speed.
#[test]
fn clips_in_step_keep_step() {
    let mut animator = animator(&[]);
    let id = animator.add(Play::new("Walk").offset_s(0.2)).unwrap();
    let phases = |animator: &Animator, id: ActorId| {
        let actor = animator.live(id);
        let records = actor.records().iter();
        let now_s = animator.live(id).time_s();
        let phase = |record: &throng::animator::PlayRecord| {
            record.unwrapped_s(now_s) / world().duration_s(record.clip)
        };
        records.map(phase).collect::<Vec<_>>()
    };
    animator
        .live_mut(id)
        .play(Play::new("Run").fade_s(1.0).synced())
        .unwrap();
    for (now_s, speed) in [(0.3, 2.0), (0.5, -1.0), (0.7, 0.5)] {
        animator.update(now_s).unwrap();
        let all = phases(&animator, id);
        assert_eq!(all.len(), 2);
        assert!((all[0] - all[1]).abs() < 1e-12, "{all:?}");
        animator.live_mut(id).set_speed(0, speed).unwrap();
        let run = animator.live(id).playing().last().unwrap();
        assert_eq!(run.speed, speed);
    }
    // Back to the walk while it fades out: the same record fades in again, and becomes the last.
    animator
        .live_mut(id)
        .play(Play::new("Walk").fade_s(0.5).synced())
        .unwrap();
    let playing: Vec<_> = animator.live(id).playing().collect();
    assert_eq!(playing.len(), 2);
    assert_eq!([0, 1].map(|at: usize| playing[at].to_weight), [0.0, 1.0]);
    animator.live_mut(id).seek(0, 0.4).unwrap();
    animator.update(1.0).unwrap();
    let all = phases(&animator, id);
    assert!((all[0] - all[1]).abs() < 1e-12, "{all:?}");
}
