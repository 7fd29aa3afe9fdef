//! The status of a layer of an instance at a given time.

use super::desc::StateDesc;
use super::fire::share;
use super::model::Layer;
use super::pace::position;
use super::state::LayerState;
use crate::id::Id;
use crate::motion::LoopMode;

/// The status of one layer of an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerStatus {
    /// The current state, which may still be fading in.
    pub state: Id<StateDesc>,
    /// Phase of the state, in cycles since the start of the motion.
    pub phase: f64,
    /// Position in the motion: 0 is the start, 1 the end.
    pub position: f64,
    /// Weight of the state, which is the progress of the fade; 1 without a fade.
    pub weight: f32,
    /// The transition whose fade is active, as an index in the layer.
    pub transition: Option<usize>,
}

pub(crate) fn status(layer: &Layer, own: &LayerState, time_s: f64) -> LayerStatus {
    let phase = own.current.phase_at(time_s);
    let state = layer.states.get(usize::from(own.current.state));
    let wrap = state.map_or_else(LoopMode::default, |state| state.wrap);
    LayerStatus {
        state: Id::new(own.current.state),
        phase,
        position: position(wrap, phase),
        weight: share(layer, own, time_s) as f32,
        transition: own.fade.map(|fade| fade.transition.into()),
    }
}
