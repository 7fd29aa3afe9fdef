//! Samples that an instance plays at a given time.

use super::desc::StateDesc;
use super::fire::share;
use super::machine::StateMachine;
use super::model::Layer;
use super::pace::{clips, place};
use super::state::{LayerState, Play, StateMachineInstance, Value};
use crate::clip::Clip;
use crate::id::Id;
use crate::motion::{ClipSample, LoopMode};

impl Layer {
    /// The weight of the layer over the layers below.
    pub(crate) fn weight_of(&self, values: &[Value]) -> f64 {
        let most = if self.additive { f32::MAX } else { 1.0 };
        self.weight.value(values).clamp(0.0, most.into())
    }

    fn samples(
        &self,
        play: &Play,
        values: &[Value],
        time_s: f64,
        mut each: impl FnMut(Id<Clip>, f64, f64),
    ) {
        if let Some(state) = self.states.get(usize::from(play.state)) {
            let place = place(state.wrap, play.phase_at(time_s));
            for (clip, weight) in clips(&state.motion, values) {
                each(clip.clip, place * clip.duration_s, weight.into());
            }
        }
    }
}

/// Appends the samples of one instance: states that fade out first, oldest first.
pub(crate) fn play(
    machine: &StateMachine,
    state: &StateMachineInstance,
    time_s: f64,
    out: &mut Vec<ClipSample>,
) {
    for (index, (layer, own)) in machine.layers.iter().zip(&state.layers).enumerate() {
        let level = layer.weight_of(&state.values);
        if level <= 0.0 {
            continue;
        }
        let done = share(layer, own, time_s);
        let fading = own.fading.live().iter();
        let fading = fading.map(|source| (&source.play, source.weight * (1.0 - done)));
        for (play, share) in fading.chain([(&own.current, done)]) {
            layer.samples(play, &state.values, time_s, |clip, time_s, weight| {
                let weight = (level * share * weight) as f32;
                if weight > 0.0 {
                    out.push(ClipSample {
                        clip,
                        time_s,
                        weight,
                        mask: layer.mask.map(Id::new),
                        level: index as u8,
                    });
                }
            });
        }
    }
}

/// The status of one layer of an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerStatus {
    /// The current state, which may still be fading in.
    pub state: Id<StateDesc>,
    /// Phase of the state, in cycles since the start of the motion.
    pub phase: f64,
    /// Position in the motion: 0 is the start, 1 the end.
    pub place: f64,
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
        place: place(wrap, phase),
        weight: share(layer, own, time_s) as f32,
        transition: own.fade.map(|fade| fade.transition.into()),
    }
}
