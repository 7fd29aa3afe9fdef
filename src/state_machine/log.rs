//! The log of one update: states left and entered, and the clip time that passed.

use super::desc::StateDesc;
use super::fire::Taken;
use super::watch::{DrivenClip, Watch};
use crate::clip::Clip;
use crate::id::Id;
use crate::motion::LoopMode;

/// A state that an instance left or entered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StateMachineEvent {
    /// The index of the layer.
    pub layer: u8,
    /// True if the state was entered, and false if it was left.
    ///
    /// A transition that fires causes both. The state that was left stays visible while it fades
    /// out.
    pub entered: bool,
    /// The state, which belongs to `layer`.
    pub state: Id<StateDesc>,
    /// The index in the layer of the transition that fired; `None` for the first state.
    pub transition: Option<usize>,
    /// The exact time in seconds of the engine's clock, not rounded to a frame.
    pub time_s: f64,
}

/// A span of a clip's time that passed for an instance.
///
/// It is the input for events and [root motion](crate::motion::RootMotion).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipCycle {
    /// The index of the layer.
    pub layer: u8,
    /// The state, which belongs to `layer`.
    pub state: Id<StateDesc>,
    /// Index into the clips that the state machine was built with.
    pub clip: Id<Clip>,
    /// The start of the span, in seconds of unwrapped clip time (see [`LoopMode`]).
    ///
    /// If the clip plays backwards, it is greater than `to_s`.
    pub from_s: f64,
    /// The end of the span, in seconds of unwrapped clip time.
    pub to_s: f64,
    /// Playback of the clip past its end.
    pub loop_mode: LoopMode,
    /// True if the state was just entered at the start of this span.
    ///
    /// An event exactly at `from_s` has then not been passed yet.
    pub starts: bool,
    /// The mean weight of the clip over the span: layer, blend and fade combined.
    pub weight: f32,
}

/// The events and the clip time of one update of one instance.
///
/// It keeps its memory from update to update.
#[derive(Debug, Clone, Default)]
pub struct StateMachineLog {
    events: Vec<StateMachineEvent>,
    passes: Vec<ClipCycle>,
    without_passes: bool,
}

impl StateMachineLog {
    /// Creates an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a log that records states but no clip time.
    #[must_use]
    pub fn events_only() -> Self {
        Self {
            without_passes: true,
            ..Self::default()
        }
    }

    /// The states that were left and entered, in order.
    #[must_use]
    pub fn events(&self) -> &[StateMachineEvent] {
        &self.events
    }

    /// The clip time that passed, in order of time within each layer.
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
    fn entered(&mut self, layer: u8, state: Id<StateDesc>, time_s: f64) {
        self.events.push(StateMachineEvent {
            layer,
            entered: true,
            state,
            transition: None,
            time_s,
        });
    }

    fn taken(&mut self, layer: u8, taken: Taken, time_s: f64) {
        let event = |entered, state| StateMachineEvent {
            layer,
            entered,
            state,
            transition: Some(taken.transition.into()),
            time_s,
        };
        let left = event(false, taken.from);
        let entered = event(true, taken.to);
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
