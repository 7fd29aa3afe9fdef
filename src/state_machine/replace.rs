//! Fits an instance of a state machine to another state machine, by the names of both.

use super::desc::ParameterDesc;
use super::fire::enter;
use super::machine::StateMachine;
use super::model::Layer;
use super::state::{Fading, LayerState, Play, StateMachineInstance};
use crate::id::Id;

impl StateMachine {
    /// The parameter with the name and the kind that a parameter of `old` has.
    pub(crate) fn same_parameter(
        &self,
        old: &Self,
        id: Id<ParameterDesc>,
    ) -> Option<Id<ParameterDesc>> {
        let before = old.parameters.get(id.index())?;
        let kind = core::mem::discriminant(&before.kind);
        let same = |(_, name, now): &(_, &str, _)| {
            **name == *before.name && core::mem::discriminant(now) == kind
        };
        self.parameters().find(same).map(|(id, _, _)| id)
    }

    /// The state of an instance of `old`, for this state machine.
    ///
    /// `lost` is called with what this state machine lacks.
    pub(crate) fn adopt(
        &self,
        old: &Self,
        state: &StateMachineInstance,
        lost: &mut dyn FnMut(&'static str, &str),
    ) -> StateMachineInstance {
        let mut new = self.start(state.now_s);
        new.fresh = state.fresh;
        for ((id, name, _), value) in old.parameters().zip(&state.values) {
            let Some(id) = self.same_parameter(old, id) else {
                lost("parameter", name);
                continue;
            };
            // Kinds are equal and values are finite, so there is no error.
            let _ = self.set(&mut new, id, *value);
        }
        let mut kept = vec![false; self.layers.len()];
        for (before, own) in old.layers.iter().zip(&state.layers) {
            let found = self
                .layers
                .iter()
                .position(|layer| layer.name == before.name);
            let found = found.and_then(|at| Some((at, self.layers.get(at)?)));
            let Some((at, layer)) = found else {
                lost("layer", &before.name);
                continue;
            };
            match adopted(layer, before, own) {
                Some(own) => (new.layers[at], kept[at]) = (own, true),
                None if state.fresh => {}
                None => {
                    let gone = before.states.get(usize::from(own.current.state));
                    lost("state", gone.map_or("", |state| &state.name));
                }
            }
        }
        if !state.fresh {
            let layers = self.layers.iter().zip(&mut new.layers).zip(kept);
            for ((layer, own), _) in layers.filter(|(_, kept)| !kept) {
                enter(layer, own, &mut new.values, state.now_s);
            }
        }
        // Rates follow from the new durations.
        new.changed = true;
        new
    }
}

/// The state of a layer that replaces `old`. `None` if it lacks the current state.
fn adopted(layer: &Layer, old: &Layer, own: &LayerState) -> Option<LayerState> {
    let state = |layer: &Layer, name: &str| {
        let found = layer.states.iter().position(|state| *state.name == *name);
        found.map(|index| index as u16)
    };
    let moved = |play: &Play| {
        let before = old.states.get(usize::from(play.state))?;
        let state = state(layer, &before.name)?;
        Some(Play { state, ..*play })
    };
    let current = moved(&own.current)?;
    let fade = own.fade.and_then(|fade| {
        let before = old.transitions.get(usize::from(fade.transition))?;
        let name = |index: u16| Some(&old.states.get(usize::from(index))?.name);
        let to = state(layer, name(before.to)?)?;
        let from = match before.from {
            Some(from) => Some(state(layer, name(from)?)?),
            None => None,
        };
        let same = layer
            .transitions
            .iter()
            .position(|it| (it.from, it.to) == (from, to));
        let transition = same? as u16;
        Some(super::state::Fade { transition, ..fade })
    });
    let mut fading = Fading::default();
    for source in own.fading.live() {
        if let Some(play) = moved(&source.play) {
            fading.push(super::state::Source { play, ..*source });
        }
    }
    let mut new = LayerState {
        current,
        fade,
        fading,
    };
    // There is a fade exactly if something fades out.
    if new.fade.is_none() || new.fading.live().is_empty() {
        new.end_fade();
    }
    Some(new)
}
