//! Blends, events and masks of what plays.

use super::played::{CLIPS, Played, desc, way};
use crate::state_machine::made::{self, Driven};
use throng::animator::{AnimationEventKind, PlayRecord};
use throng::character::{ClipDesc, EventDesc};
use throng::motion::LoopMode;
use throng::state_machine::{
    BlendPointDesc, Interruption, MotionDesc, StateMachineDesc, TransitionDesc,
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

/// The clips and names of the events, sorted.
fn heard(desc: &StateMachineDesc, steps: usize) -> Vec<(usize, String)> {
    let clips = CLIPS.map(|(name, duration_s)| {
        let event = |name: &str, time_s| EventDesc {
            name: name.into(),
            time_s,
        };
        ClipDesc {
            name: name.into(),
            events: vec![event("start", 0.0), event("foot", 0.37 * duration_s)],
            ..ClipDesc::default()
        }
    });
    let character = made::with_machine(&made::character(&CLIPS), desc, clips.into());
    let mut played = Played(Driven::new(&character.unwrap(), 0.0));
    let mut heard = Vec::new();
    for (end, input) in [("tap", 1.0), ("tap", 3.3), ("hit", 4.75), ("none", 9.1)] {
        let start_s = played.0.animator.now_s();
        for step in 1..=steps {
            let part = step as f64 / steps as f64;
            played.to(start_s + part * (input - start_s));
            for event in played.0.animator.events() {
                if let AnimationEventKind::Clip { clip, .. } = event.kind {
                    let name = played.0.animator.event_name(event);
                    heard.push((clip.index(), name.to_owned()));
                }
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
fn masks_and_layers_reach_the_samples() {
    let text = crate::state_machine::text::HERO;
    let hero = StateMachineDesc::from_toml("hero.toml", text).unwrap();
    let character = crate::models::packed_mannequin();
    let character = made::with_machine(&character, &hero, Vec::new()).unwrap();
    let mut actor = Driven::new(&character, 0.0);
    actor.apply(made::Input::Trigger("wave"));
    actor.update(0.5);
    let handle = actor.actor();
    let [idle, waving] = handle.records() else {
        panic!("{:?}", handle.records());
    };
    assert_eq!(
        (idle.clip, idle.mask, idle.layer),
        (0, PlayRecord::NO_MASK, 0)
    );
    assert_eq!((waving.clip, waving.layer), (3, 1));
    let weights = &character.masks()[usize::from(waving.mask)].weights;
    let of = |name| weights[usize::from(character.skeleton().joint(name).unwrap().0)];
    assert_eq!(
        [of("Hips"), of("LeftFoot"), of("Head"), of("RightHand")],
        [0.0, 0.0, 1.0, 1.0]
    );
    assert!((0.3..0.4).contains(&of("Spine")), "feathered");
}
