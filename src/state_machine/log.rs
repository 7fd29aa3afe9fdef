//! What happened in an update: states left and entered, and the clip time that passed.

use super::drive::{DrivenClip, Watch};
use super::fire::Taken;
use crate::ids::{ClipId, StateId};
use crate::motion::LoopMode;

/// A state that an instance left or entered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateMachineEvent {
    /// The layer's number.
    pub layer: u8,
    /// Whether it was left or entered.
    pub kind: StateMachineEventKind,
    /// The state of the layer.
    pub state: StateId,
    /// The transition by which, as an index in the layer; `None` for the first state.
    pub transition: Option<usize>,
    /// When, in seconds of the engine's clock: to the instant, not to the frame.
    pub time_s: f64,
}

/// What a [`StateMachineEvent`] tells. Both happen when a transition fires: what is left goes on to
/// be seen while it fades out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateMachineEventKind {
    /// A state was left.
    Left,
    /// A state was entered.
    Entered,
}

/// A stretch of a clip's time that passed for an instance: what
/// [`ClipEvents`](crate::motion::ClipEvents) and [`RootMotion`](crate::motion::RootMotion) ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipCycle {
    /// The layer's number.
    pub layer: u8,
    /// The state of the layer.
    pub state: StateId,
    /// Index into the clips that the machine was made with.
    pub clip: ClipId,
    /// From here, in seconds of unwrapped clip time (see [`LoopMode`]); backwards, it is more than
    /// `to_s`.
    pub from_s: f64,
    /// To here.
    pub to_s: f64,
    /// What the clip does past its end.
    pub loop_mode: LoopMode,
    /// Whether it begins here: the state was just entered, so what lies on `from_s` was not passed
    /// yet.
    pub starts: bool,
    /// The weight that it had, layer and blend and fade together: the mean over the time.
    pub weight: f32,
}

/// The events of an update of one instance, and the clip time that passed. It keeps its memory from
/// update to update.
#[derive(Debug, Clone, Default)]
pub struct StateMachineLog {
    events: Vec<StateMachineEvent>,
    passes: Vec<ClipCycle>,
    without_passes: bool,
}

impl StateMachineLog {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One that notes states and no clip time.
    #[must_use]
    pub fn events_only() -> Self {
        Self {
            without_passes: true,
            ..Self::default()
        }
    }

    /// States that were left and entered, in the order in which it happened.
    #[must_use]
    pub fn events(&self) -> &[StateMachineEvent] {
        &self.events
    }

    /// Clip time that passed; for each layer in the order of time.
    #[must_use]
    pub fn passes(&self) -> &[ClipCycle] {
        &self.passes
    }

    pub(crate) fn clear(&mut self) {
        self.events.clear();
        self.passes.clear();
    }
}

impl Watch for StateMachineLog {
    fn entered(&mut self, layer: u8, state: StateId, time_s: f64) {
        self.events.push(StateMachineEvent {
            layer,
            kind: StateMachineEventKind::Entered,
            state,
            transition: None,
            time_s,
        });
    }

    fn taken(&mut self, layer: u8, taken: Taken, time_s: f64) {
        let event = |kind, state| StateMachineEvent {
            layer,
            kind,
            state,
            transition: Some(taken.transition.into()),
            time_s,
        };
        let left = event(StateMachineEventKind::Left, taken.from);
        let entered = event(StateMachineEventKind::Entered, taken.to);
        self.events.extend([left, entered]);
    }

    fn passed(&mut self, clip: &DrivenClip, [from_s, to_s]: [f64; 2]) {
        if self.without_passes {
            return;
        }
        // Simpson's rule, which is exact for cubic curves.
        let at = |time_s| f64::from(clip.weight.at(time_s));
        let middle_s = from_s + 0.5 * (to_s - from_s);
        let weight = ((at(from_s) + 4.0 * at(middle_s) + at(to_s)) / 6.0) as f32;
        let [from, to] = [from_s, to_s].map(|time_s| clip.unwrapped_s(time_s));
        if weight > 0.0 && clip.speed != 0.0 {
            self.passes.push(ClipCycle {
                layer: clip.layer,
                state: clip.state,
                clip: clip.clip,
                from_s: from,
                to_s: to,
                loop_mode: clip.loop_mode,
                starts: !clip.begun,
                weight,
            });
        }
    }
}
