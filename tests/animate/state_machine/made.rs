//! Random machines, and actors that machines drive.

use crate::reference::handles::Handles;
use crate::reference::rig::chain;
use crate::reference::rng::Rng;
use std::sync::LazyLock;
use throng::animator::{Actor, ActorId, AnimationEventKind, Animator, PlayRecord};
use throng::character::{AnimationDesc, Character, ClipDesc};
use throng::clip::{CurveClip, Interpolation, Keys, Track, TrackValues};
use throng::glam::Vec3;
use throng::motion::{Ease, LoopMode};
use throng::state_machine::{
    BlendPointDesc, Condition, Interruption, LayerDesc, LayerStatus, MotionDesc, Origin,
    ParameterDesc, ParameterKind, StateDesc, StateMachineDesc, Test, TransitionDesc,
};
use throng::{Id, Result};

/// Names and durations. One clip is a pose.
pub(crate) const CLIPS: [(&str, f64); 6] = [
    ("a", 1.213_f32 as f64),
    ("b", 0.771_f32 as f64),
    ("c", 2.039_f32 as f64),
    ("d", 0.0),
    ("e", 0.457_f32 as f64),
    ("f", 1.117_f32 as f64),
];
pub(crate) const FLOATS: [&str; 3] = ["x", "y", "z"];

/// A joint with clips of these names and durations.
pub(crate) fn character(clips: &[(&str, f64)]) -> Character {
    let character = chain(1);
    let clip = |(name, duration_s): &(&str, f64)| {
        let duration_s = *duration_s as f32;
        let ends = if duration_s > 0.0 { 2 } else { 1 };
        let values = TrackValues::Translation(Keys {
            times_s: [0.0, duration_s][..ends].to_vec(),
            values: [Vec3::ZERO, Vec3::X][..ends].to_vec(),
            interpolation: Interpolation::Linear,
        });
        let joint = Id::new(0);
        let track = vec![Track { joint, values }];
        CurveClip::new(name, track, character.skeleton()).unwrap()
    };
    let clips = clips.iter().map(clip).collect();
    character.with_clips(clips).unwrap()
}

/// The character of [`CLIPS`].
pub(crate) fn bare() -> &'static Character {
    static BARE: LazyLock<Character> = LazyLock::new(|| character(&CLIPS));
    &BARE
}

/// The character of [`CLIPS`] with a state machine.
pub(crate) fn driven(desc: &StateMachineDesc) -> Result<Character> {
    with_machine(bare(), desc, Vec::new())
}

pub(crate) fn with_machine(
    character: &Character,
    desc: &StateMachineDesc,
    clips: Vec<ClipDesc>,
) -> Result<Character> {
    character.clone().with_animation(&AnimationDesc {
        clips,
        state_machine: Some(desc.clone()),
        ..AnimationDesc::default()
    })
}

/// A clip that plays: its index, its layer, its own time and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub(crate) clip: usize,
    pub(crate) layer: u8,
    pub(crate) time_s: f64,
    pub(crate) weight: f32,
}

/// A state that was left or entered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    pub(crate) layer: u8,
    pub(crate) entered: bool,
    pub(crate) state: Id<StateDesc>,
    pub(crate) time_s: f64,
}

/// An actor that a state machine drives.
pub(crate) struct Driven {
    pub(crate) animator: Animator,
    pub(crate) id: ActorId,
    durations_s: Vec<f64>,
}

impl Driven {
    pub(crate) fn new(character: &Character, now_s: f64) -> Self {
        let mut animator = Animator::new(character).unwrap();
        animator.update(now_s).unwrap();
        let clips = character.clips().iter();
        Self {
            id: animator.add_with_state_machine().unwrap(),
            animator,
            durations_s: clips.map(|clip| clip.duration_s()).collect(),
        }
    }

    /// The states that were left and entered.
    pub(crate) fn update(&mut self, now_s: f64) -> Vec<Change> {
        self.animator.update(now_s).unwrap();
        let changes = self.animator.events().iter().filter_map(|event| {
            let (entered, state) = match event.kind {
                AnimationEventKind::Left { state } => (false, state),
                AnimationEventKind::Entered { state } => (true, state),
                _ => return None,
            };
            let (layer, time_s) = (event.layer, event.time_s);
            Some(Change {
                layer,
                entered,
                state,
                time_s,
            })
        });
        changes.collect()
    }

    pub(crate) fn actor(&mut self) -> Actor<&mut Animator> {
        self.animator.live_mut(self.id)
    }

    pub(crate) fn status(&self, layer: u8) -> LayerStatus {
        let actor = self.animator.live(self.id);
        actor.layer_status(layer).unwrap()
    }

    /// The samples that it plays with a weight above 0.
    pub(crate) fn samples(&self) -> Vec<Sample> {
        let actor = self.animator.live(self.id);
        let now_s = actor.time_s();
        let sample = |record: &PlayRecord| Sample {
            clip: record.clip.into(),
            layer: record.layer,
            time_s: record.clip_time_s(now_s, self.durations_s[usize::from(record.clip)]),
            weight: record.weight_at(now_s),
        };
        let samples = actor.records().iter().map(sample);
        samples.filter(|sample| sample.weight > 0.0).collect()
    }

    pub(crate) fn parameter(&self, name: &str) -> Id<ParameterDesc> {
        let machine = self.animator.state_machine().unwrap();
        machine.parameter(name).unwrap()
    }

    pub(crate) fn apply(&mut self, input: Input) {
        let name = match input {
            Input::Float(name, _) | Input::Trigger(name) => name,
            Input::Count(_) => "count",
            Input::Flag(_) => "flag",
        };
        let id = self.parameter(name);
        let mut actor = self.actor();
        match input {
            Input::Float(_, value) => actor.set_parameter(id, value),
            Input::Count(value) => actor.set_parameter(id, value),
            Input::Flag(value) => actor.set_parameter(id, value),
            Input::Trigger(_) => actor.set_parameter(id, true),
        }
        .unwrap();
    }
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
        ground_speed: None,
        speed_limits: None,
    }
}

pub(crate) fn desc(rng: &mut Rng) -> StateMachineDesc {
    let layers = (0..1 + rng.below(3)).map(|index| {
        let states = 1 + rng.below(5);
        LayerDesc {
            mask: None,
            weight: rng.range(0.1, 1.0),
            weight_parameter: rng.chance(4).then(|| "z".into()),
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
