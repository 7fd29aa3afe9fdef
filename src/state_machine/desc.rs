//! A state machine as plain data.

use super::desc_transition::TransitionDesc;
use crate::motion::LoopMode;

/// A state machine: what [`StateMachine::new`](crate::state_machine::StateMachine::new) proves and what its text
/// form holds. Names must differ within their list, and are not empty.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct StateMachineDesc {
    /// What the game sets; `parameter` in text.
    #[cfg_attr(feature = "serde", serde(rename = "parameter", default))]
    pub parameters: Vec<ParameterDesc>,
    /// Sets of joints for layers; `mask` in text.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "mask", default, skip_serializing_if = "Vec::is_empty")
    )]
    pub masks: Vec<MaskDesc>,
    /// Each with states of its own, the first at the bottom; `layer` in text.
    #[cfg_attr(feature = "serde", serde(rename = "layer", default))]
    pub layers: Vec<LayerDesc>,
}

/// A value that the game sets for each instance.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(into = "super::parameter_text::ParameterText")
)]
pub struct ParameterDesc {
    /// A name without white space and without any of `<>=!()"`.
    pub name: String,
    /// What it is, with its value at the start.
    pub kind: ParameterKind,
}

/// What a parameter is: in text, `kind = "float"`, `"int"`, `"bool"` or `"trigger"`, with
/// `default`, `min` and `max` beside it; a default that is not there is 0 or false.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterKind {
    /// A number; one that is set outside the range is clamped to it.
    Float {
        /// Its value at the start.
        default: f32,
        /// The least that it can be.
        min: Option<f32>,
        /// The most that it can be.
        max: Option<f32>,
    },
    /// A whole number; one that is set outside the range is clamped to it.
    Int {
        /// Its value at the start.
        default: i32,
        /// The least that it can be.
        min: Option<i32>,
        /// The most that it can be.
        max: Option<i32>,
    },
    /// Yes or no.
    Bool {
        /// Its value at the start.
        default: bool,
    },
    /// Set by the game, and taken back by the transition that it fires.
    Trigger,
}

/// A set of joints, with how much of a layer counts for each: 0 for those that no part names.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct MaskDesc {
    /// Its name.
    pub name: String,
    /// In order: later ones overwrite what earlier ones say about a joint.
    pub parts: Vec<MaskPartDesc>,
}

/// A joint and all below it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct MaskPartDesc {
    /// The joint's name in the skeleton.
    pub joint: String,
    /// How much of the layer counts for these joints, in 0..=1.
    #[cfg_attr(
        feature = "serde",
        serde(default = "one", skip_serializing_if = "is_one")
    )]
    pub weight: f32,
    /// Over how many joints from that one down it goes over into `weight`, in even steps.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub feather: u16,
}

/// A layer: states of which one is played at a time, or several during a fade.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct LayerDesc {
    /// Its name.
    pub name: String,
    /// The name of the state in which it starts.
    pub entry: String,
    /// The mask's name; none: all joints.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub mask: Option<String>,
    /// How much of it is laid over the layers below; 0..=1, for an additive layer any that is not
    /// negative.
    #[cfg_attr(
        feature = "serde",
        serde(default = "one", skip_serializing_if = "is_one")
    )]
    pub weight: f32,
    /// A float parameter that the weight is multiplied by; the product is clamped.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub weight_parameter: Option<String>,
    /// Whether its clips are additive.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub additive: bool,
    /// At least one; `state` in text.
    #[cfg_attr(feature = "serde", serde(rename = "state", default))]
    pub states: Vec<StateDesc>,
    /// Where several could fire, the first does; `transition` in text.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "transition", default, skip_serializing_if = "Vec::is_empty")
    )]
    pub transitions: Vec<TransitionDesc>,
}

impl LayerDesc {
    /// An empty one for all joints, of weight 1.
    #[must_use]
    pub fn new(name: &str, entry: &str) -> Self {
        Self {
            name: name.into(),
            entry: entry.into(),
            mask: None,
            weight: 1.0,
            weight_parameter: None,
            additive: false,
            states: Vec::new(),
            transitions: Vec::new(),
        }
    }
}

/// A state: a motion and how it is played.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct StateDesc {
    /// Its name; may not start with `(`.
    pub name: String,
    /// A word for the game, such as `airborne`; several states may share it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub tag: Option<String>,
    /// How fast it plays: 1 as made, negative backwards.
    #[cfg_attr(
        feature = "serde",
        serde(default = "one", skip_serializing_if = "is_one")
    )]
    pub speed: f32,
    /// A float parameter that the speed is multiplied by.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub speed_parameter: Option<String>,
    /// What happens past the end: in text `"loop"`, `"once"`, `"ping_pong"`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub loop_mode: LoopMode,
    /// The phase at which it starts: 0 is the motion's start, 1 its end.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub start: f32,
    /// What is played.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_default"))]
    pub motion: MotionDesc,
}

impl StateDesc {
    /// A state that plays a clip in a loop.
    #[must_use]
    pub fn clip(name: &str, clip: &str) -> Self {
        Self {
            name: name.into(),
            tag: None,
            speed: 1.0,
            speed_parameter: None,
            loop_mode: LoopMode::Loop,
            start: 0.0,
            motion: MotionDesc::Clip(clip.into()),
        }
    }
}

/// What a state plays. The clips of a blend play at one phase; a loop lasts as long as the weighted
/// mean of their durations.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub enum MotionDesc {
    /// Nothing: what lies below shows.
    #[default]
    None,
    /// A clip, by its name.
    Clip(String),
    /// Clips along a parameter.
    #[cfg_attr(feature = "serde", serde(rename = "blend_1d"))]
    Blend1 {
        /// A float parameter.
        parameter: String,
        /// At least one, all of them at different places.
        points: Vec<Point1Desc>,
    },
    /// Clips in the plane of two parameters.
    #[cfg_attr(feature = "serde", serde(rename = "blend_2d"))]
    Blend2 {
        /// Float parameters.
        parameters: [String; 2],
        /// At least one, all of them at different places.
        points: Vec<Point2Desc>,
    },
    /// A blend space of the character's
    /// ([`AnimationSet::blend_spaces`](crate::character::AnimationSet::blend_spaces)).
    BlendSpace {
        /// Its name.
        name: String,
        /// Float parameters, one for each of its coordinates.
        parameters: Vec<String>,
    },
}

/// A clip of a blend along one parameter.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Point1Desc {
    /// The parameter's value where this clip plays alone.
    pub at: f32,
    /// The clip's name.
    pub clip: String,
}

/// A clip of a blend in a plane.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Point2Desc {
    /// The parameters' values where this clip plays alone.
    pub at: [f32; 2],
    /// The clip's name.
    pub clip: String,
}

#[cfg(feature = "serde")]
fn one() -> f32 {
    1.0
}

#[cfg(feature = "serde")]
pub(crate) fn yes() -> bool {
    true
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn is_one(value: &f32) -> bool {
    *value == 1.0
}

#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
pub(crate) fn is_yes(value: &bool) -> bool {
    *value
}

#[cfg(feature = "serde")]
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
