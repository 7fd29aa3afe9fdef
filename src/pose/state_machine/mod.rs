//! State machines: which clips a character plays, from what the game says about it.
//!
//! ```text
//! StateMachineText ──parse──▶ StateMachineDesc ──StateMachine::new──▶ StateMachine                       once
//!                                                         │
//! game: set_float · set_trigger ──▶ StateMachineInstance ──update──▶ play ──▶ SampleList       every frame
//!                                                    └──▶ StateMachineLog: states entered, clip time passed
//! ```
//!
//! - [`StateMachineDesc`] is plain data: parameters, masks, and layers of states and transitions; `StateMachineText` reads
//!   it from TOML (feature `toml`), with lines for errors.
//! - [`StateMachine`] is what was proven of it, for any number of instances and threads.
//! - [`StateMachineInstance`] is one instance, and a saved game.
//!
//! # Time
//! What depends on time alone happens at its own time and not at a frame's: exit times are met and fades end inside an
//! update, one after the other, on all layers together. So the same time in many steps or in one gives the same states at the
//! same times, but for rounding. Parameters change between updates, and count from the time of the update before; conditions
//! are looked at when one changed, and after each event.
//!
//! - At one time a transition fires once: transitions that lead in a ring end.
//! - An update handles 256 events and transitions of an instance. What is left plays on without transitions
//!   to the end of the update, and is looked at in the next.
//! - A clock that goes back: no time passes, and all goes on from the new time. To go back in what happened, keep a clone
//!   of the state.
//! - A time that is not a number, or beyond 1e12 s: no time passes.
//! - A time far ahead costs no more than a near one: loops are not counted one by one.
//!
//! # Fades
//! A transition that interrupts a fade starts from the weights reached: nothing jumps. At most [`MAX_FADING`] states fade
//! out at once; while there are that many, further fades wait for the end of the one under way (cuts do not).
//!
//! The rules of exit times, interruptions and steps in sync are at the fields of [`TransitionDesc`]. They are those of
//! Unity's animator controllers where these say something.

mod advance;
mod build;
mod build_motion;
mod condition;
mod desc;
mod desc_transition;
mod drive;
mod fault;
mod fire;
mod fits;
#[cfg(feature = "toml")]
mod lines;
mod log;
mod model;
mod names;
mod pace;
#[cfg(feature = "serde")]
mod parameter_text;
mod parameters;
mod play;
mod save;
mod state;
#[cfg(feature = "toml")]
#[cfg_attr(docsrs, doc(cfg(feature = "toml")))]
mod text;
mod update;

pub use crate::character::ParameterId;
pub(crate) use build::build_mask;
pub use condition::{Condition, ConditionError, Test};
pub use desc::{
    LayerDesc, MaskDesc, MaskPartDesc, MotionDesc, ParameterDesc, ParameterKind, Point1Desc,
    Point2Desc, StateDesc, StateMachineDesc,
};
pub use desc_transition::{Interruption, Origin, Sync, TransitionDesc};
pub(crate) use drive::{DrivenClip, Watch};
pub use fault::{DescFault, StateMachineError, StateMachinePart};
pub(crate) use fire::Taken;
#[cfg(feature = "toml")]
pub(crate) use lines::Lines;
pub use log::{ClipPass, StateMachineEvent, StateMachineEventKind, StateMachineLog};
pub use play::LayerStatus;
pub use state::{MAX_FADING, StateMachineInstance, Value};
#[cfg(feature = "toml")]
pub use text::{MAX_TEXT_BYTES, StateMachineText};

use crate::character::{BlendSpace, Character, CurveClip, Skeleton, unknown};
use crate::error::{Error, Result};
use crate::pose::{Clip, Mask};
use model::{Layer, Parameter};

/// The most parameters of a machine.
pub const MAX_PARAMETERS: usize = 256;
/// The most masks of a machine.
pub const MAX_MASKS: usize = 64;
/// The most layers of a machine.
pub const MAX_LAYERS: usize = 16;
/// The most states of a layer.
pub const MAX_STATES: usize = 256;
/// The most transitions of a layer.
pub const MAX_TRANSITIONS: usize = 1024;
/// The most conditions of a transition.
pub const MAX_CONDITIONS: usize = 16;
/// The longest fade, in seconds.
pub const MAX_FADE_S: f32 = 3600.0;
/// Times lie within this of 0, in seconds: 30,000 years, where a step of an `f64` is 0.1 ms.
pub const MAX_TIME_S: f64 = 1e12;
/// How many events and transitions an update handles for an instance.
const MAX_STEPS: usize = 256;

/// A clip, as far as a state machine has to know it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateMachineClip<'c> {
    /// Its name.
    pub name: &'c str,
    /// How long it lasts, in seconds: 0 to [`MAX_TIME_S`].
    pub duration_s: f64,
    /// Whether it is additive; `None`: not known, and right for any layer.
    pub additive: Option<bool>,
}

impl<'c> From<&'c CurveClip> for StateMachineClip<'c> {
    fn from(clip: &'c CurveClip) -> Self {
        Self {
            name: clip.name(),
            duration_s: clip.duration_s().into(),
            additive: None,
        }
    }
}

impl<'c> From<&'c Clip> for StateMachineClip<'c> {
    fn from(clip: &'c Clip) -> Self {
        Self {
            name: clip.name(),
            duration_s: clip.duration_s(),
            additive: Some(clip.is_additive()),
        }
    }
}

impl<'c> StateMachineClip<'c> {
    /// The clips of a character, or its curves if it has only those.
    pub(crate) fn all_of(character: &'c Character) -> Vec<Self> {
        let packed = character.clips().iter().map(Self::from);
        let curves = character.curves().iter().skip(packed.len());
        let additive = character.animations().additive();
        let all = packed.chain(curves.map(Self::from)).zip(additive);
        all.map(|(clip, additive)| Self {
            additive: Some(additive),
            ..clip
        })
        .collect()
    }
}

/// A state machine, proven: every name that its data uses exists, and every number makes sense.
///
/// ```
/// use throng::pose::SampleList;
/// use throng::pose::state_machine::{
///     LayerDesc, StateMachine, StateMachineDesc, Origin, ParameterDesc, ParameterKind, StateDesc, TransitionDesc,
/// };
///
/// let character = throng::builtin::mannequin()?.character;
/// let speed = ParameterKind::Float { default: 0.0, min: Some(0.0), max: None };
/// let desc = StateMachineDesc {
///     parameters: vec![ParameterDesc { name: "speed".into(), kind: speed }],
///     masks: Vec::new(),
///     layers: vec![LayerDesc {
///         states: vec![StateDesc::clip("stand", "Idle"), StateDesc::clip("go", "Walk")],
///         transitions: vec![TransitionDesc {
///             when: vec!["speed > 0.1".parse()?],
///             fade_s: 0.5,
///             ..TransitionDesc::new(Origin::State("stand".into()), "go")
///         }],
///         ..LayerDesc::new("body", "stand")
///     }],
/// };
/// let machine = StateMachine::of(&desc, &character)?;
/// let speed = machine.parameter("speed")?;
///
/// let mut crowd = vec![machine.start(0.0); 3];
/// machine.set_float(&mut crowd[1], speed, 1.5)?;
/// machine.update(0.25, &mut crowd)?;
/// let mut list = SampleList::new();
/// machine.play(0.25, &crowd, &mut list)?;
/// assert_eq!(list.samples(0).len(), 1);
/// assert_eq!(list.samples(1)[1].weight, 0.5); // in the middle of its fade
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct StateMachine {
    fingerprint: u64,
    parameters: Vec<Parameter>,
    masks: Vec<Mask>,
    layers: Vec<Layer>,
}

impl StateMachine {
    /// Proves `desc` for a skeleton, on which masks lie, and clips, which are found by their names: the first of
    /// each. The samples of [`Self::play`] have indices into `clips`. Blend spaces are a character's: motions that name one
    /// need [`Self::of`].
    ///
    /// # Errors
    /// [`Error::StateMachine`] with the part of the machine, its field, and what is wrong there.
    pub fn new(
        desc: &StateMachineDesc,
        skeleton: &Skeleton,
        clips: &[StateMachineClip<'_>],
    ) -> Result<Self> {
        Self::with_spaces(desc, skeleton, clips, &[])
    }

    /// [`Self::new`] with blend spaces, whose clips are indices into `clips`.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn with_spaces(
        desc: &StateMachineDesc,
        skeleton: &Skeleton,
        clips: &[StateMachineClip<'_>],
        spaces: &[BlendSpace],
    ) -> Result<Self> {
        let built = build::build(desc, skeleton, clips, spaces);
        built.map_err(|fault| fault.named(desc).into_error())
    }

    /// [`Self::new`] for the skeleton, the clips and the blend spaces of a character.
    ///
    /// # Errors
    /// As there.
    pub fn of(desc: &StateMachineDesc, character: &Character) -> Result<Self> {
        let clips = StateMachineClip::all_of(character);
        let spaces = character.animations().blend_spaces();
        Self::with_spaces(desc, character.skeleton(), &clips, spaces)
    }

    /// The masks that samples refer to.
    #[must_use]
    pub fn masks(&self) -> &[Mask] {
        &self.masks
    }

    /// How many layers there are.
    #[must_use]
    pub fn layer_count(&self) -> usize {
        self.layers.len()
    }

    /// The layer of this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the names that there are.
    pub fn find_layer(&self, name: &str) -> Result<usize> {
        let names = || self.layers.iter().map(|layer| &*layer.name);
        let found = names().position(|other| other == name);
        found.ok_or_else(|| unknown("layer", name, names()))
    }

    /// The state of this name.
    ///
    /// # Errors
    /// [`Error::NotFound`] for the layer, [`Error::UnknownName`] with the names that there are.
    pub fn find_state(&self, layer: usize, name: &str) -> Result<usize> {
        let layer = self.layer(layer)?;
        let names = || layer.states.iter().map(|state| &*state.name);
        let found = names().position(|other| other == name);
        found.ok_or_else(|| unknown("state", name, names()))
    }

    /// A state's name; empty for one that does not exist.
    #[must_use]
    pub fn state_name(&self, layer: usize, state: usize) -> &str {
        let layer = self.layers.get(layer);
        let state = layer.and_then(|layer| layer.states.get(state));
        state.map_or("", |state| &state.name)
    }

    /// A state's tag, if it has one.
    #[must_use]
    pub fn state_tag(&self, layer: usize, state: usize) -> Option<&str> {
        let state = self.layers.get(layer)?.states.get(state)?;
        state.tag.as_deref()
    }

    fn layer(&self, index: usize) -> Result<&Layer> {
        self.layers.get(index).ok_or(Error::NotFound {
            what: "layer",
            index: index as u64,
            count: self.layers.len() as u64,
        })
    }
}
