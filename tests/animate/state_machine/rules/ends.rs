//! The end of a state that plays once, and the order of events at one time.

use super::played::{CLIPS, Played, desc, way};
use crate::reference::rng::Rng;
use crate::state_machine::made::{self, Driven};
use throng::animator::{AnimationEvent, AnimationEventKind};
use throng::character::{ClipDesc, EventDesc};
use throng::motion::LoopMode;
use throng::state_machine::{BlendPointDesc, MotionDesc, StateMachineDesc, TransitionDesc};

/// A small machine whose states `a` and `b` play once.
fn once(transitions: Vec<TransitionDesc>) -> StateMachineDesc {
    let mut desc = desc(transitions);
    for state in &mut desc.layers[0].states[..2] {
        state.loop_mode = LoopMode::Once;
    }
    desc
}

/// The events up to then but the entry of the first state, with times to the nanosecond.
fn heard(played: &mut Played, now_s: f64) -> Vec<(String, f64)> {
    let animator = &mut played.0.animator;
    animator.update(now_s).unwrap();
    let told = animator.events().iter().map(|event| {
        let name = animator.event_name(event);
        let what = match event.kind {
            AnimationEventKind::Clip { .. } => format!("event {name}"),
            AnimationEventKind::Finished { .. } => format!("finished {name}"),
            AnimationEventKind::Left { .. } => format!("left {name}"),
            AnimationEventKind::Entered { .. } => format!("entered {name}"),
            other => panic!("{other:?}"),
        };
        (what, (event.time_s * 1e9).round() / 1e9)
    });
    let first = ("entered a".to_owned(), 0.0);
    told.filter(|it| *it != first).collect()
}

#[track_caller]
fn hears(desc: &StateMachineDesc, wanted: &[(&str, f64)]) {
    let wanted = super::played::named(wanted);
    assert_eq!(heard(&mut Played::of(desc), 9.0), wanted);
    // The same in small steps, each event in the update that reaches it.
    let mut played = Played::of(desc);
    let mut all = Vec::new();
    for step in 0..900 {
        let now_s = 0.01 * f64::from(step);
        for (what, time_s) in heard(&mut played, now_s) {
            assert!(
                (now_s - 0.010_001..=now_s + 1e-9).contains(&time_s),
                "{what} {time_s}"
            );
            all.push((what, time_s));
        }
    }
    assert_eq!(all, wanted);
}

/// Forward it ends at phase 1, backward at phase 0, and never if it stands or repeats.
#[test]
fn a_state_that_plays_once_finishes_once() {
    for (speed, start, end_s) in [
        (1.0, 0.0, Some(1.0)),
        (0.25, 0.5, Some(2.0)),
        (-0.5, 1.0, Some(2.0)),
        (0.5, -1.0, Some(4.0)),
        // It is at its end when it is entered, or past it.
        (1.0, 1.0, Some(0.0)),
        (1.0, 1.5, Some(0.0)),
        (-1.0, 0.0, Some(0.0)),
        (0.0, 0.5, None),
        (0.0, 1.0, None),
    ] {
        let mut desc = once(Vec::new());
        let state = &mut desc.layers[0].states[0];
        (state.speed, state.start) = (speed, start);
        match end_s {
            Some(end_s) => hears(&desc, &[("finished a", end_s)]),
            None => hears(&desc, &[]),
        }
        for mode in [LoopMode::Loop, LoopMode::PingPong] {
            desc.layers[0].states[0].loop_mode = mode;
            hears(&desc, &[]);
        }
    }
    let mut desc = once(Vec::new());
    desc.layers[0].states[0].motion = MotionDesc::None;
    hears(&desc, &[]);
}

/// It names the state, and its clip or the one of a blend with the most weight.
#[test]
fn the_event_names_state_and_clip() {
    let mut desc = once(Vec::new());
    desc.layers[0].states[0].motion = MotionDesc::Blend1 {
        parameter: "x".into(),
        points: vec![
            BlendPointDesc {
                at: 0.0,
                clip: "a".into(),
            },
            BlendPointDesc {
                at: 1.0,
                clip: "c".into(),
            },
        ],
    };
    // A quarter of the way from 1 s to 2 s, then three quarters.
    for (x, end_s, clip, weight) in [(0.25, 1.25, "a", 0.75), (0.75, 1.75, "c", 0.75)] {
        let mut played = Played::of(&desc);
        played.set("x", x);
        played.0.animator.update(9.0).unwrap();
        let animator = &played.0.animator;
        let [_, event] = animator.events() else {
            panic!("{:?}", animator.events());
        };
        let AnimationEventKind::Finished { state, .. } = event.kind else {
            panic!("{event:?}");
        };
        assert_eq!(animator.event_name(event), clip);
        let machine = animator.state_machine().unwrap();
        assert_eq!(state, Some(machine.state(0, "a").unwrap()));
        assert_eq!(
            (event.layer, event.weight, event.time_s),
            (0, weight, end_s)
        );
    }
}

/// A state that is left before its end does not finish, though it is seen while it fades out. One
/// that goes on past an exit time does.
#[test]
fn what_is_left_does_not_finish() {
    let exit = |exit, when: &[&str]| TransitionDesc {
        exit: Some(exit),
        fade_s: 3.0,
        ..way("a", "c", when)
    };
    hears(
        &once(vec![exit(0.5, &[])]),
        &[("left a", 0.5), ("entered c", 0.5)],
    );
    let mut played = Played::of(&once(vec![exit(0.5, &["flag"])]));
    let named = super::played::named;
    assert_eq!(heard(&mut played, 1.5), named(&[("finished a", 1.0)]));
    played.set("flag", 1.0);
    assert_eq!(
        heard(&mut played, 9.0),
        named(&[("left a", 1.5), ("entered c", 1.5)])
    );
    // An interruption is no end either.
    let mut played = Played::of(&once(vec![way("(any)", "c", &["tap"])]));
    assert_eq!(heard(&mut played, 0.75), named(&[]));
    played.set("tap", 1.0);
    assert_eq!(
        heard(&mut played, 9.0),
        named(&[("left a", 0.75), ("entered c", 0.75)])
    );
}

/// At one time: what clips pass, the end, and then the transition, also to the state itself.
#[test]
fn events_of_one_time_are_in_order() {
    let after = |from: &str, to: &str| TransitionDesc {
        exit: Some(1.0),
        ..way(from, to, &[])
    };
    let desc = once(vec![after("a", "b"), after("b", "c")]);
    let all = [
        ("finished a", 1.0),
        ("left a", 1.0),
        ("entered b", 1.0),
        ("finished b", 2.0),
        ("left b", 2.0),
        ("entered c", 2.0),
    ];
    hears(&desc, &all);
    let again = TransitionDesc {
        to_self: true,
        ..way("(any)", "a", &["tap"])
    };
    let mut played = Played::of(&once(vec![again]));
    let named = super::played::named;
    assert_eq!(heard(&mut played, 1.5), named(&[("finished a", 1.0)]));
    played.set("tap", 1.0);
    let all = [("left a", 1.5), ("entered a", 1.5), ("finished a", 2.5)];
    assert_eq!(heard(&mut played, 9.0), named(&all));
}

/// Clips of odd durations with an event at the end, played at odd speeds: rounding neither loses
/// the event nor puts it after the end.
#[test]
fn an_event_at_the_end_comes_before_it() {
    let mut rng = Rng::new(8);
    let ways = vec![TransitionDesc {
        exit: Some(1.0),
        ..way("a", "b", &[])
    }];
    for _ in 0..300 {
        let mut desc = once(ways.clone());
        let backward = rng.chance(2);
        let (speed, start) = (rng.range(0.3, 3.0), rng.range(0.0, 0.9));
        let state = &mut desc.layers[0].states[0];
        (state.speed, state.start) = match backward {
            true => (-speed, 1.0 - start),
            false => (speed, start),
        };
        let duration_s = f64::from(rng.range(0.1, 3.0));
        let clips = [("a", duration_s), CLIPS[1], CLIPS[2]];
        let thud = ClipDesc {
            name: "a".into(),
            events: vec![EventDesc {
                name: "thud".into(),
                time_s: if backward { 0.0 } else { duration_s },
            }],
            ..ClipDesc::default()
        };
        let character = made::with_machine(&made::character(&clips), &desc, vec![thud]).unwrap();
        let mut driven = Driven::new(&character, f64::from(rng.range(-9.0, 9.0)));
        let mut heard = Vec::new();
        let end_s = driven.animator.now_s() + f64::from((1.0 - start) / speed) * duration_s;
        // Some updates end within rounding of the end.
        for ahead_s in [-0.01, -1e-16, 0.0, 1e-16, 1e-15, 0.01] {
            driven.animator.update(end_s + ahead_s).unwrap();
            let animator = &driven.animator;
            let events = animator.events().iter();
            heard.extend(events.map(|event| (animator.event_name(event).to_owned(), event.time_s)));
        }
        let names: Vec<_> = heard.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "thud", "a", "a", "b"], "{heard:?}");
        assert!(heard.is_sorted_by_key(|(_, time_s)| *time_s), "{heard:?}");
    }
}

/// If the speed changes its sign, it finishes again at its other end.
#[test]
fn a_speed_that_turns_ends_at_the_other_end() {
    let mut desc = once(Vec::new());
    desc.layers[0].states[0].speed_parameter = Some("x".into());
    let mut played = Played::of(&desc);
    let named = super::played::named;
    played.set("x", 1.0);
    assert_eq!(heard(&mut played, 0.5), named(&[]));
    played.set("x", 0.0);
    assert_eq!(heard(&mut played, 4.0), named(&[]));
    played.set("x", 2.0);
    assert_eq!(heard(&mut played, 4.5), named(&[("finished a", 4.25)]));
    // Its phase is 1.5 by now.
    played.set("x", -1.0);
    assert_eq!(heard(&mut played, 5.0), named(&[]));
    played.set("x", 1.0);
    // It is at phase 1 and reaches its end anew.
    assert_eq!(heard(&mut played, 5.5), named(&[("finished a", 5.0)]));
    played.set("x", -1.0);
    assert_eq!(heard(&mut played, 9.0), named(&[("finished a", 7.0)]));
}

/// Random machines without input: all events of states are the same, to the bit, whatever the times
/// of updates, and if the actor is restored from a snapshot on the way.
#[test]
fn updates_and_snapshots_change_no_event() {
    type Found = (f64, u8, AnimationEventKind, f32);
    let of_state = |event: &AnimationEvent| -> Option<Found> {
        let of_clip = matches!(event.kind, AnimationEventKind::Clip { .. });
        (!of_clip).then_some((event.time_s, event.layer, event.kind, event.weight))
    };
    let mut finished = 0;
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let character = made::driven(&made::desc(&mut rng)).unwrap();
        let mut whole = Driven::new(&character, 0.0);
        whole.animator.update(6.0).unwrap();
        let want: Vec<_> = whole
            .animator
            .events()
            .iter()
            .filter_map(of_state)
            .collect();
        // An update handles at most 256 events and transitions.
        if want.len() > 250 {
            continue;
        }
        let mut times_s: Vec<_> = (0..40).map(|_| f64::from(rng.range(0.0, 6.0))).collect();
        times_s.sort_by(f64::total_cmp);
        times_s.push(6.0);
        let mut parts = Driven::new(&character, 0.0);
        let mut got = Vec::new();
        for time_s in times_s {
            if rng.chance(4) {
                let snapshot = parts.animator.snapshot();
                parts.animator.update(time_s + 1.0).unwrap();
                parts.animator.restore(&snapshot).unwrap();
            }
            parts.animator.update(time_s).unwrap();
            got.extend(parts.animator.events().iter().filter_map(of_state));
        }
        let in_order = |list: &mut Vec<Found>| {
            // Layers are in order within an update only.
            list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            list.clone()
        };
        assert_eq!(
            in_order(&mut got),
            in_order(&mut want.clone()),
            "seed {seed}"
        );
        let ends = want
            .iter()
            .filter(|it| matches!(it.2, AnimationEventKind::Finished { .. }));
        finished += ends.count();
    }
    assert!(finished > 100, "{finished}");
}

/// Nothing wakes an actor for an end that nobody hears.
#[test]
fn an_end_that_nobody_hears_costs_nothing() {
    for on in [true, false] {
        let mut played = Played::of(&once(Vec::new()));
        played.0.actor().set_events(on);
        played.0.animator.update(0.5).unwrap();
        let before = played.0.animator.visits();
        let heard = heard(&mut played, 2.0);
        let visits = played.0.animator.visits() - before;
        assert_eq!((heard.len(), visits), if on { (1, 1) } else { (0, 0) });
        // It does not come later.
        played.0.actor().set_events(true);
        played.0.animator.update(3.0).unwrap();
        assert!(played.0.animator.events().is_empty());
    }
}
