//! Blends, events and masks of what plays.

use super::played::{CLIPS, Played, desc, way};
use throng::Id;
use throng::motion::{ClipEvents, LoopMode, SampleList};
use throng::state_machine::{
    BlendPointDesc, Interruption, MotionDesc, StateMachine, StateMachineDesc, StateMachineLog,
    TransitionDesc,
};

#[test]
fn a_blend_plays_at_one_phase_and_a_change_goes_on_from_it() {
    let mut desc = desc(Vec::new());
    desc.layers[0].states[0].motion = MotionDesc::Blend1 {
        parameter: "x".into(),
        points: [(0.0, "a"), (1.0, "c")]
            .map(|(at, clip)| BlendPointDesc {
                at,
                clip: clip.into(),
            })
            .into(),
    };
    desc.layers[0].states[0].speed_parameter = Some("y".into());
    let mut played = Played::of(&desc);
    played.set("x", 0.0);
    played.set("y", 1.0);
    played.to(0.5);
    assert_eq!(played.samples(), [(0, 0.5, 1.0)]);
    played.set("x", 0.5);
    // The loop now lasts 1.5 s: a fifth of it.
    played.to(0.8);
    assert_eq!(played.samples(), [(0, 0.7, 0.5), (2, 1.4, 0.5)]);
    played.set("y", -1.0);
    played.to(1.1);
    assert_eq!(played.samples(), [(0, 0.5, 0.5), (2, 1.0, 0.5)]);
}

#[test]
fn clip_time_that_passed_is_told_without_a_gap() {
    let sync = TransitionDesc {
        exit: Some(0.5),
        fade_s: 0.25,
        ..way("a", "b", &["flag"])
    };
    let mut played = Played::of(&desc(vec![sync]));
    played.to(2.75);
    played.set("flag", 1.0);
    let mut passes = Vec::new();
    for now_s in [3.0, 3.625, 4.0] {
        played.to(now_s);
        let got = played.log.passes();
        passes.extend(got.iter().map(|p| {
            (
                p.clip.index(),
                p.from_s,
                p.to_s,
                (p.weight * 1e4).round() / 1e4,
            )
        }));
    }
    let want = [
        (0, 2.75, 3.0, 1.0),
        (0, 3.0, 3.5, 1.0),
        (0, 3.5, 3.625, 0.75),
        (1, 0.0, 0.125, 0.25),
        (0, 3.625, 3.75, 0.25),
        (1, 0.125, 0.25, 0.75),
        (1, 0.25, 0.5, 1.0),
    ];
    assert_eq!(passes, want);
    let starts: Vec<_> = {
        let mut played = Played::of(&desc(Vec::new()));
        let mut starts = |now_s: f64| {
            played.to(now_s);
            played
                .log
                .passes()
                .iter()
                .map(|pass| pass.starts)
                .collect::<Vec<_>>()
        };
        [0.0, 0.5, 0.75].map(&mut starts).into()
    };
    assert_eq!(starts, [vec![], vec![true], vec![false]]);
}

/// The names of the events that passes go over: sorted, as those of a frame come by layer and by
/// state.
fn heard(desc: &StateMachineDesc, steps: usize) -> Vec<(usize, i64, u32)> {
    let events = CLIPS.map(|(_, duration_s)| {
        ClipEvents::new(duration_s, [("start", 0.0), ("foot", 0.37 * duration_s)]).unwrap()
    });
    let mut played = Played::of(desc);
    let mut heard = Vec::new();
    for (end, input) in [("tap", 1.0), ("tap", 3.3), ("hit", 4.75), ("none", 9.1)] {
        let start_s = played.state.now_s();
        for step in 1..=steps {
            let part = step as f64 / steps as f64;
            played.to(start_s + part * (input - start_s));
            for pass in played.log.passes() {
                let events = &events[pass.clip.index()];
                let hits = if pass.starts {
                    events.passed_from_start(pass.from_s, pass.to_s, pass.loop_mode)
                } else {
                    events.passed(pass.from_s, pass.to_s, pass.loop_mode)
                };
                heard.extend(hits.map(|hit| (pass.clip.index(), hit.pass, hit.name_id)));
            }
        }
        if end != "none" {
            played.set(end, 1.0);
        }
    }
    heard.sort_unstable();
    heard
}

#[test]
fn events_of_clips_are_heard_once_in_any_steps() {
    let fade = |from, to, when: &[&str]| TransitionDesc {
        fade_s: 0.6,
        interruption: Interruption::Target,
        ..way(from, to, when)
    };
    let ways = vec![
        fade("a", "b", &["tap"]),
        fade("b", "c", &["tap"]),
        fade("c", "a", &["hit"]),
    ];
    for wrap in [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong] {
        let mut desc = desc(ways.clone());
        desc.layers[0].states[1].loop_mode = wrap;
        let whole = heard(&desc, 1);
        assert!(whole.len() > 15, "{whole:?}");
        for steps in [2, 7, 100] {
            assert_eq!(heard(&desc, steps), whole, "{wrap:?} {steps}");
        }
    }
}

#[test]
fn masks_and_levels_reach_the_samples() {
    let character = crate::models::mannequin();
    let text = crate::state_machine::text::HERO;
    let machine = StateMachine::from_toml("hero.toml", text, character).unwrap();
    let mut state = machine.start(0.0);
    let wave = machine.parameter("wave").unwrap();
    machine.set_trigger(&mut state, wave).unwrap();
    machine
        .update(0.5, &mut state, &mut StateMachineLog::new())
        .unwrap();
    let mut list = SampleList::new();
    machine.play(0.5, &state, &mut list).unwrap();
    let [idle, waving] = list.samples(0) else {
        panic!("{list:?}");
    };
    assert_eq!((idle.clip, idle.mask, idle.level), (Id::new(0), None, 0));
    assert_eq!(
        (waving.clip, waving.mask, waving.level),
        (Id::new(3), Some(Id::new(0)), 1)
    );
    let weights = machine.masks()[0].weights();
    let of = |name| weights[usize::from(character.skeleton().joint(name).unwrap().0)];
    assert_eq!(
        [of("Hips"), of("LeftFoot"), of("Head"), of("RightHand")],
        [0.0, 0.0, 1.0, 1.0]
    );
    assert!((0.3..0.4).contains(&of("Spine")), "feathered");
}
