//! The plain-data description of a state machine.

use super::condition::Condition;
use crate::motion::{Ease, LoopMode};

/// A state machine as plain data, which can also be written as text.
///
/// [`Character::with_animation`](crate::character::Character::with_animation) validates it. Names
/// must not be empty and must be unique within their list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StateMachineDesc {
    /// Values that the game sets. The key in text is `parameter`.
    pub parameters: Vec<ParameterDesc>,
    /// Sets of joints for layers. The key in text is `mask`.
    pub masks: Vec<MaskDesc>,
    /// Layers with their own states, bottom layer first. The key in text is `layer`.
    pub layers: Vec<LayerDesc>,
}

/// A value that the game sets for each instance.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterDesc {
    /// The name, without white space and without any of `<>=!()"`.
    pub name: String,
    /// The type of the parameter, with its initial value.
    pub kind: ParameterKind,
}

/// The type of a parameter, with its initial value and range.
///
/// In text: `kind = "float"`, `"int"`, `"bool"` or `"trigger"`, with `default`, `min` and `max`
/// beside it. A missing default is 0 or false.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterKind {
    /// A floating-point number. Values outside the range are clamped.
    Float {
        /// The initial value.
        default: f32,
        /// The smallest value.
        min: Option<f32>,
        /// The largest value.
        max: Option<f32>,
    },
    /// An integer. Values outside the range are clamped.
    Int {
        /// The initial value.
        default: i32,
        /// The smallest value.
        min: Option<i32>,
        /// The largest value.
        max: Option<i32>,
    },
    /// True or false.
    Bool {
        /// The initial value.
        default: bool,
    },
    /// Set by the game and reset by the transition that it fires.
    Trigger,
}

/// The weight of a layer for each joint.
///
/// Joints that no part names have weight 0.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskDesc {
    /// The name of the mask.
    pub name: String,
    /// The branches, in order. A later one overwrites earlier ones at the joints that both cover.
    pub branches: Vec<MaskBranchDesc>,
}

/// A branch of the skeleton: a joint and all joints below it.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskBranchDesc {
    /// The joint's name in the skeleton.
    pub joint: String,
    /// The weight of the layer for these joints, in 0..=1.
    pub weight: f32,
    /// The number of joints over which the weight is feathered.
    ///
    /// From `joint` down, the weight changes to `weight` in even steps.
    pub feather: u16,
}

/// A layer of states, which plays one state, or several during a fade.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerDesc {
    /// The name of the layer.
    pub name: String,
    /// The name of the initial state.
    pub entry: String,
    /// The name of the mask. `None` means all joints.
    pub mask: Option<String>,
    /// The weight of the layer over the layers below.
    ///
    /// 0..=1 for an override layer. An additive layer accepts any weight that is not negative.
    pub weight: f32,
    /// A float parameter that multiplies the weight. The product is clamped.
    pub weight_parameter: Option<String>,
    /// True if the clips of the layer are additive.
    pub additive: bool,
    /// The states, at least one. The key in text is `state`.
    pub states: Vec<StateDesc>,
    /// The transitions. If several can fire, the first one does. The key in text is `transition`.
    pub transitions: Vec<TransitionDesc>,
}

impl LayerDesc {
    /// Creates an empty layer for all joints, with weight 1.
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
pub struct StateDesc {
    /// The name, which must not start with `(`.
    pub name: String,
    /// A label for the game, such as `airborne`. Several states can have the same tag.
    pub tag: Option<String>,
    /// The playback speed: 1 is the authored speed, negative plays backwards.
    pub speed: f32,
    /// A float parameter that multiplies the speed.
    pub speed_parameter: Option<String>,
    /// A float parameter that is the wanted speed over the ground, in metres of character space
    /// per second.
    ///
    /// The motion then plays at the speed at which its feet do not slide, by the formula of
    /// [`BlendSpaceDesc::ground_speed`](crate::character::BlendSpaceDesc::ground_speed), times
    /// `speed` and `speed_parameter`. The sign of the parameter does not matter. If it is `None`, a
    /// blend space of the character that has a ground speed of its own follows that.
    ///
    /// A clip needs a ground speed, from root motion or a gait. In a blend along this parameter, a
    /// clip at 0 needs none, such as one that stands. In any other blend, one clip must have one.
    ///
    /// While a `synced` transition fades, the new state sets the rate of both, so feet of the old
    /// one can slide.
    pub ground_speed: Option<String>,
    /// The smallest and the largest playback speed that `ground_speed` leads to.
    ///
    /// Both are positive. `None` is `[0.5, 2.0]`.
    pub speed_limits: Option<[f32; 2]>,
    /// Playback past the end of the motion. In text: `"loop"`, `"once"` or `"ping_pong"`.
    pub loop_mode: LoopMode,
    /// The phase at which the state starts: 0 is the start of the motion, 1 its end.
    pub start: f32,
    /// The motion that the state plays.
    pub motion: MotionDesc,
}

impl StateDesc {
    /// Creates a state that plays a clip in a loop.
    #[must_use]
    pub fn clip(name: &str, clip: &str) -> Self {
        Self {
            name: name.into(),
            tag: None,
            speed: 1.0,
            speed_parameter: None,
            ground_speed: None,
            speed_limits: None,
            loop_mode: LoopMode::Loop,
            start: 0.0,
            motion: MotionDesc::Clip(clip.into()),
        }
    }
}

/// The motion of a state.
///
/// The clips of a blend play at one common phase. One cycle lasts as long as the weighted mean of
/// their durations.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum MotionDesc {
    /// No motion: the layers below show.
    #[default]
    None,
    /// A clip, by name.
    Clip(String),
    /// Clips blended along one parameter.
    Blend1 {
        /// The name of a float parameter.
        parameter: String,
        /// At least one point, each at a different position.
        points: Vec<BlendPointDesc<f32>>,
    },
    /// Clips blended in the plane of two parameters.
    Blend2 {
        /// The names of the two float parameters.
        parameters: [String; 2],
        /// At least one point, each at a different position.
        points: Vec<BlendPointDesc<[f32; 2]>>,
    },
    /// One of the character's blend spaces
    /// ([`Character::blend_spaces`](crate::character::Character::blend_spaces)).
    BlendSpace {
        /// The name of the blend space.
        name: String,
        /// The names of float parameters, one for each coordinate of the blend space.
        parameters: Vec<String>,
    },
}

/// A clip of a blend or of a [blend space](crate::character::BlendSpaceDesc).
///
/// The position `at` is a value of one parameter (`f32`), of two parameters (`[f32; 2]`), or
/// either of them ([`BlendAt`](crate::character::BlendAt)).
#[derive(Debug, Clone, PartialEq)]
pub struct BlendPointDesc<A> {
    /// The position at which this clip plays alone.
    pub at: A,
    /// The name of the clip.
    pub clip: String,
}

/// A transition from one state to another.
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionDesc {
    /// The state that the transition leaves, or any state, or the entry.
    pub from: Origin,
    /// The name of the state that the transition enters.
    pub to: String,
    /// Conditions that must all hold, such as `when = ["speed > 0.1", "grounded", "!crouched"]`.
    ///
    /// A transition with neither a condition nor an exit time fires at once.
    pub when: Vec<Condition>,
    /// The exit time: the phase that the state must have reached.
    ///
    /// - In a state that loops, a phase below 1 is met once in every cycle. The transition either
    ///   fires there or waits for the next cycle.
    /// - From 1 on (2.5 is the middle of the third cycle), and in a state that plays once, the
    ///   transition can fire at any time after that phase.
    /// - Where the second rule applies and the state plays backwards, the exit time counts back
    ///   from the end of the motion, which is 0.
    pub exit: Option<f32>,
    /// Duration of the cross-fade in seconds; 0 cuts.
    pub fade_s: f32,
    /// Duration of an inertialised transition in seconds, instead of a fade; 0 for none.
    ///
    /// The old state is left at once. The differences in pose and velocity then decay, as at
    /// [`Play::inertial_s`](crate::animator::Play::inertial_s). Only the
    /// [`Animator`](crate::animator::Animator) supports this. Everywhere else the transition is a
    /// cut.
    pub inertial_s: f32,
    /// The easing curve of the weights.
    pub ease: Ease,
    /// If true, the new state starts at the phase of the old one.
    ///
    /// The old state then advances in step with the new one until it has faded out, as at
    /// [`Play::synced`](crate::animator::Play::synced).
    pub synced: bool,
    /// The phase at which the new state starts, which replaces the state's own.
    pub start: Option<f32>,
    /// The transitions that can interrupt the fade of this one.
    pub interruption: Interruption,
    /// If true, only the source's transitions listed before this one can interrupt it.
    pub ordered: bool,
    /// If true, a transition from any state can lead from a state to itself.
    pub to_self: bool,
}

impl TransitionDesc {
    /// Creates a cut that fires at once.
    #[must_use]
    pub fn new(from: Origin, to: &str) -> Self {
        Self {
            from,
            to: to.into(),
            when: Vec::new(),
            exit: None,
            fade_s: 0.0,
            inertial_s: 0.0,
            ease: Ease::Smooth,
            synced: false,
            start: None,
            interruption: Interruption::None,
            ordered: true,
            to_self: false,
        }
    }
}

/// The start of a transition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The state with this name.
    State(String),
    /// Any state; `(any)` in text.
    Any,
    /// The entry; `(entry)` in text.
    ///
    /// The transition replaces the layer's entry state before any time has passed.
    Entry,
}

impl From<String> for Origin {
    fn from(text: String) -> Self {
        match text.as_str() {
            "(any)" => Self::Any,
            "(entry)" => Self::Entry,
            _ => Self::State(text),
        }
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.name().into()
    }
}

impl Origin {
    /// The origin as it is written in text.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::State(name) => name,
            Self::Any => "(any)",
            Self::Entry => "(entry)",
        }
    }
}

/// The transitions that can interrupt a fade.
///
/// The states of an interrupted fade fade out from the weights reached so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Interruption {
    /// None: all transitions wait until the fade ends.
    #[default]
    None,
    /// The transitions of the state that the fade leaves.
    Source,
    /// The transitions of the state that the fade enters.
    Target,
    /// Both, those of the source first.
    SourceThenTarget,
    /// Both, those of the target first.
    TargetThenSource,
}
