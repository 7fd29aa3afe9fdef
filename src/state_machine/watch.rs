//! The watcher of an update, and the clips that it is told about.

use super::desc::StateDesc;
use super::fire::Taken;
use super::machine::StateMachine;
use super::state::StateMachineInstance;
use crate::clip::Clip;
use crate::id::Id;
use crate::motion::{LoopMode, Ramp};

/// A clip that a layer of an instance plays, in closed form over time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DrivenClip {
    pub(crate) layer: u8,
    /// Index into the state machine's masks.
    pub(crate) mask: Option<u16>,
    pub(crate) clip: Id<Clip>,
    /// The time at which unwrapped clip time is `offset_s`.
    pub(crate) anchor_s: f64,
    pub(crate) offset_s: f64,
    /// Clip seconds per second.
    pub(crate) speed: f64,
    pub(crate) loop_mode: LoopMode,
    /// The combined weight of layer, blend space and fade.
    pub(crate) weight: Ramp,
    /// True if time has passed since its state was entered.
    pub(crate) begun: bool,
}

/// Receives the events of an instance during an update, in time order within each layer.
pub(crate) trait Watch {
    /// The first state of a layer was entered.
    fn entered(&mut self, layer: u8, state: Id<StateDesc>, time_s: f64);

    /// A transition fired.
    fn taken(&mut self, layer: u8, taken: Taken, time_s: f64);

    /// An inertialised transition is about to fire. The instance still plays the old state.
    fn inertialising(&mut self, _of: (&StateMachine, &StateMachineInstance), _time_s: f64) {}

    /// An inertialised transition has fired. The instance plays the new state.
    fn inertialised(
        &mut self,
        _of: (&StateMachine, &StateMachineInstance),
        _time_s: f64,
        _inertial_s: f64,
    ) {
    }

    /// A clip played over `span_s`, during which no transition of its layer fired.
    fn passed(&mut self, clip: &DrivenClip, span_s: [f64; 2]);
}
