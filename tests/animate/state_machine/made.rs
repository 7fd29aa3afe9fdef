//! Random machines.

use crate::reference::rng::Rng;
use throng::motion::{Ease, LoopMode};
use throng::skeleton::Skeleton;
use throng::state_machine::{
    BlendPointDesc, Condition, Interruption, LayerDesc, MotionDesc, Origin, ParameterDesc,
    ParameterKind, StateDesc, StateMachine, StateMachineClip, StateMachineDesc, Test,
    TransitionDesc,
};

/// Names and durations. One clip is a pose.
pub(crate) const CLIPS: [(&str, f64); 6] = [
    ("a", 1.213),
    ("b", 0.771),
    ("c", 2.039),
    ("d", 0.0),
    ("e", 0.457),
    ("f", 1.117),
];
pub(crate) const FLOATS: [&str; 3] = ["x", "y", "z"];

pub(crate) fn clips() -> Vec<StateMachineClip<'static>> {
    let clip = |&(name, duration_s): &(&'static str, f64)| StateMachineClip {
        name,
        duration_s,
        additive: None,
    };
    CLIPS.iter().map(clip).collect()
}

pub(crate) fn machine(desc: &StateMachineDesc) -> StateMachine {
    StateMachine::new(desc, &Skeleton::default(), &clips()).unwrap()
}

pub(crate) fn parameters() -> Vec<ParameterDesc> {
    let float = |name: &str| {
        (
            name.to_owned(),
            ParameterKind::Float {
                default: 0.25,
                min: Some(-1.0),
                max: Some(2.0),
            },
        )
    };
    let int = ParameterKind::Int {
        default: 1,
        min: None,
        max: Some(3),
    };
    let mut all: Vec<_> = FLOATS.map(float).into();
    all.push(("count".into(), int));
    all.push(("flag".into(), ParameterKind::Bool { default: false }));
    all.push(("tap".into(), ParameterKind::Trigger));
    all.push(("hit".into(), ParameterKind::Trigger));
    all.into_iter()
        .map(|(name, kind)| ParameterDesc { name, kind })
        .collect()
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len())]
}

fn clip(rng: &mut Rng) -> String {
    one_of(rng, &CLIPS).0.into()
}

fn motion(rng: &mut Rng) -> MotionDesc {
    match rng.below(5) {
        0 => MotionDesc::None,
        1 => MotionDesc::Blend1 {
            parameter: "x".into(),
            points: (0..1 + rng.below(3))
                .map(|i| BlendPointDesc {
                    at: i as f32 * 0.6 + rng.range(0.0, 0.5),
                    clip: clip(rng),
                })
                .collect(),
        },
        2 => MotionDesc::Blend2 {
            parameters: ["x".into(), "y".into()],
            points: (0..4 + rng.below(3))
                .map(|_| BlendPointDesc {
                    at: [rng.range(-1.0, 1.0), rng.range(-1.0, 1.0)],
                    clip: clip(rng),
                })
                .collect(),
        },
        _ => MotionDesc::Clip(clip(rng)),
    }
}

fn condition(rng: &mut Rng) -> Condition {
    let (parameter, test) = match rng.below(8) {
        0 => ("count", Test::Equal(rng.below(4) as f64)),
        1 => ("count", Test::NotEqual(rng.below(4) as f64)),
        2 => ("flag", Test::True),
        3 => ("flag", Test::False),
        4 => ("tap", Test::True),
        5 => ("hit", Test::True),
        6 => ("z", Test::Greater(rng.range(-0.5, 1.0).into())),
        _ => ("x", Test::LessEqual(rng.range(-0.5, 1.0).into())),
    };
    Condition {
        parameter: parameter.into(),
        test,
    }
}

fn transition(rng: &mut Rng, states: usize) -> TransitionDesc {
    let name = |index: usize| format!("state {index}");
    let from = match rng.below(8) {
        0 => Origin::Any,
        1 => Origin::Entry,
        _ => Origin::State(name(rng.below(states))),
    };
    let entry = from == Origin::Entry;
    let exit = (!entry && rng.chance(2)).then(|| rng.range(0.05, 2.2));
    let synced = !entry && rng.chance(3);
    // Without an exit time, nearly always with a condition.
    let least = usize::from(exit.is_none() && !rng.chance(12));
    let starts = !synced && rng.chance(3);
    let to = name(rng.below(states));
    let when = (0..least + rng.below(2)).map(|_| condition(rng)).collect();
    let fade_s = if entry || rng.chance(4) {
        0.0
    } else {
        rng.range(0.02, 0.9)
    };
    TransitionDesc {
        from,
        to,
        when,
        exit,
        fade_s,
        // A cut as far as states go.
        inertial_s: if entry || fade_s > 0.0 { 0.0 } else { 0.2 },
        ease: one_of(rng, &[Ease::Linear, Ease::Smooth]),
        synced,
        start: starts.then(|| rng.range(-0.5, 1.5)),
        interruption: one_of(
            rng,
            &[
                Interruption::None,
                Interruption::Source,
                Interruption::Target,
                Interruption::SourceThenTarget,
                Interruption::TargetThenSource,
            ],
        ),
        ordered: rng.chance(2),
        to_self: rng.chance(2),
    }
}

fn state(rng: &mut Rng, index: usize) -> StateDesc {
    StateDesc {
        name: format!("state {index}"),
        tag: rng.chance(2).then(|| "tag".into()),
        speed: if rng.chance(8) {
            0.0
        } else {
            rng.range(-1.0, 2.0)
        },
        speed_parameter: rng.chance(3).then(|| "y".into()),
        loop_mode: one_of(rng, &[LoopMode::Loop, LoopMode::Once, LoopMode::PingPong]),
        start: if rng.chance(2) {
            0.0
        } else {
            rng.range(0.0, 1.0)
        },
        motion: motion(rng),
    }
}

pub(crate) fn desc(rng: &mut Rng) -> StateMachineDesc {
    let layers = (0..1 + rng.below(3)).map(|index| {
        let states = 1 + rng.below(5);
        LayerDesc {
            mask: None,
            weight: rng.range(0.1, 1.0),
            weight_parameter: rng.chance(4).then(|| "z".into()),
            additive: rng.chance(4),
            states: (0..states).map(|index| state(rng, index)).collect(),
            transitions: (0..rng.below(9)).map(|_| transition(rng, states)).collect(),
            ..LayerDesc::new(
                &format!("layer {index}"),
                &format!("state {}", rng.below(states)),
            )
        }
    });
    StateMachineDesc {
        parameters: parameters(),
        masks: Vec::new(),
        layers: layers.collect(),
    }
}

/// An input of a player.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Input {
    Float(&'static str, f32),
    Count(i32),
    Flag(bool),
    Trigger(&'static str),
}

pub(crate) fn input(rng: &mut Rng) -> Input {
    match rng.below(6) {
        0 => Input::Count(rng.below(5) as i32),
        1 => Input::Flag(rng.chance(2)),
        2 => Input::Trigger("tap"),
        3 => Input::Trigger("hit"),
        _ => Input::Float(one_of(rng, &FLOATS), rng.range(-1.5, 2.5)),
    }
}

pub(crate) fn apply(
    machine: &StateMachine,
    state: &mut throng::state_machine::StateMachineInstance,
    input: Input,
) {
    let id = |name: &str| machine.parameter(name).unwrap();
    match input {
        Input::Float(name, value) => machine.set_float(state, id(name), value),
        Input::Count(value) => machine.set_int(state, id("count"), value),
        Input::Flag(value) => machine.set_bool(state, id("flag"), value),
        Input::Trigger(name) => machine.set_trigger(state, id(name)),
    }
    .unwrap();
}
