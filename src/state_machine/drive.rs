//! The clips that each layer of an instance plays, and the next time at which it has work to do.

use super::advance::advance;
use super::fire::next_s;
use super::machine::StateMachine;
use super::model::Layer;
use super::pace::clips;
use super::state::{LayerState, Play, StateMachineInstance, Value};
use super::watch::{DrivenClip, Watch};
use crate::motion::Ramp;

impl Layer {
    /// The weight of the layer over the layers below.
    fn weight_of(&self, values: &[Value]) -> f64 {
        let most = if self.additive { f32::MAX } else { 1.0 };
        self.weight.value(values).clamp(0.0, most.into())
    }

    /// Calls `each` for every clip that the layer plays: states that fade out first, oldest first.
    pub(crate) fn driven(
        &self,
        index: u8,
        own: &LayerState,
        values: &[Value],
        mut each: impl FnMut(&DrivenClip),
    ) {
        let level = self.weight_of(values);
        if level <= 0.0 {
            return;
        }
        let fading = own.fading.live().iter();
        let fading = fading.map(|source| (&source.play, [source.weight, 0.0]));
        let current = [if own.fade.is_some() { 0.0 } else { 1.0 }, 1.0];
        for (play, shares) in fading.chain([(&own.current, current)]) {
            self.driven_by(
                index,
                own,
                values,
                (play, shares.map(|s| s * level)),
                &mut each,
            );
        }
    }

    fn driven_by(
        &self,
        layer: u8,
        own: &LayerState,
        values: &[Value],
        (play, [from, to]): (&Play, [f64; 2]),
        each: &mut impl FnMut(&DrivenClip),
    ) {
        let Some(state) = self.states.get(usize::from(play.state)) else {
            return;
        };
        let fade = own.fade.map(|fade| {
            let transition = self.transitions.get(usize::from(fade.transition));
            let ease = transition.map_or_else(Default::default, |transition| transition.ease);
            (fade.start_s, fade.duration_s, ease)
        });
        for (clip, part) in clips(&state.motion, values) {
            let part = f64::from(part);
            if part <= 0.0 {
                continue;
            }
            let [from, to] = [from, to].map(|share| (share * part) as f32);
            let weight = match fade {
                Some((start_s, duration_s, ease)) => Ramp::new(from, to, start_s, duration_s, ease),
                None => Ramp::constant(to),
            };
            each(&DrivenClip {
                layer,
                mask: self.mask,
                clip: clip.clip,
                anchor_s: play.anchor_s,
                offset_s: play.phase * clip.duration_s,
                speed: play.rate_hz * clip.duration_s,
                loop_mode: state.wrap,
                weight,
                begun: play.begun,
            });
        }
    }
}

impl StateMachine {
    /// Advances an instance that was started by this state machine to `now_s`.
    pub(crate) fn drive(
        &self,
        state: &mut StateMachineInstance,
        now_s: f64,
        watch: &mut dyn Watch,
    ) {
        advance(self, state, now_s, watch);
    }

    /// Calls `each` for every clip that an instance plays, layer by layer.
    pub(crate) fn driven(&self, state: &StateMachineInstance, mut each: impl FnMut(&DrivenClip)) {
        for (index, (layer, own)) in self.layers.iter().zip(&state.layers).enumerate() {
            layer.driven(index as u8, own, &state.values, &mut each);
        }
    }

    /// True if any transition is inertialised.
    pub(crate) fn has_inertialisation(&self) -> bool {
        let mut all = self.layers.iter().flat_map(|layer| &layer.transitions);
        all.any(|transition| transition.inertial_s > 0.0)
    }

    /// The next time at which an instance has work to do, if no parameter changes.
    ///
    /// That is when a fade ends, or when an exit time is met whose conditions hold. If the instance
    /// has work to do at once, it is the instance's own time.
    pub(crate) fn wakes_s(&self, state: &StateMachineInstance) -> f64 {
        if state.fresh || state.changed {
            return state.now_s;
        }
        let layers = self.layers.iter().zip(&state.layers);
        let next = layers.map(|(layer, own)| next_s(layer, own, &state.values, state.now_s));
        next.fold(f64::INFINITY, f64::min)
    }
}
