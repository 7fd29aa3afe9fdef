//! Selects the transition that fires, and fires it.

use super::desc::{Interruption, StateDesc};
use super::instance::{Fade, LayerState, MAX_FADING, Pace, Play, Source, Value};
use super::machine::StateMachine;
use super::model::{Asked, Compare, Layer, Transition};
use super::pace::{next_met, passed_from, recurs, set_rates, taken_over};
use crate::id::Id;

/// The transitions to consider from one of the states that a layer plays.
#[derive(Clone, Copy)]
struct Offer<'m> {
    /// The state that these transitions leave.
    play: Play,
    list: &'m [u16],
    /// Only transitions listed before this one are considered.
    before: u16,
    /// The transition that is already active, which is skipped.
    except: Option<u16>,
    /// True if `play` is the current state.
    current: bool,
}

/// The set of transitions that have fired at one time.
pub(crate) struct Fired([u64; StateMachine::MAX_TRANSITIONS.div_ceil(64)]);

impl Fired {
    pub(crate) const NONE: Self = Self([0; StateMachine::MAX_TRANSITIONS.div_ceil(64)]);

    fn has(&self, index: u16) -> bool {
        let word = self.0.get(usize::from(index / 64)).copied().unwrap_or(0);
        word >> (index % 64) & 1 == 1
    }

    fn add(&mut self, index: u16) {
        if let Some(word) = self.0.get_mut(usize::from(index / 64)) {
            *word |= 1 << (index % 64);
        }
    }
}

/// A transition that has fired, with the states that were left and entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) from: Id<StateDesc>,
    pub(crate) to: Id<StateDesc>,
}

/// The progress of a fade, which is the weight of the current state.
pub(crate) fn share(layer: &Layer, state: &LayerState, time_s: f64) -> f64 {
    let Some(fade) = &state.fade else {
        return 1.0;
    };
    let part = (time_s - fade.start_s) / fade.duration_s;
    let part = if part.is_nan() { 1.0 } else { part };
    layer.ease(fade).at(part.clamp(0.0, 1.0))
}

fn offers<'m>(layer: &'m Layer, state: &LayerState) -> [Option<Offer<'m>>; 2] {
    let target = Offer {
        play: state.current,
        list: &layer.state(&state.current).out,
        before: u16::MAX,
        except: None,
        current: true,
    };
    let (Some(fade), Some(newest)) = (&state.fade, state.fading.live().last()) else {
        return [Some(target), None];
    };
    let transition = &layer.transitions[usize::from(fade.transition)];
    let before = if transition.ordered {
        fade.transition
    } else {
        u16::MAX
    };
    let source = Offer {
        play: newest.play,
        list: &layer.state(&newest.play).out,
        before,
        except: Some(fade.transition),
        current: false,
    };
    match transition.interruption {
        Interruption::None => [None; 2],
        Interruption::Source => [Some(source), None],
        Interruption::Target => [Some(target), None],
        Interruption::SourceThenTarget => [Some(source), Some(target)],
        Interruption::TargetThenSource => [Some(target), Some(source)],
    }
}

impl Asked {
    fn holds(&self, values: &[Value]) -> bool {
        match (self.test, values.get(usize::from(self.parameter))) {
            (Compare::Float(order, to), Some(Value::Float(value))) => order.holds(*value, to),
            (Compare::Int(order, to), Some(Value::Int(value))) => order.holds(*value, to),
            (Compare::Bool(to), Some(Value::Bool(value))) => *value == to,
            (Compare::Trigger, Some(Value::Trigger(set))) => *set,
            _ => false,
        }
    }
}

impl Transition {
    /// True if all conditions hold.
    pub(crate) fn asks(&self, values: &[Value]) -> bool {
        self.when.iter().all(|asked| asked.holds(values))
    }

    /// Resets the triggers that the conditions used.
    fn consume(&self, values: &mut [Value]) {
        for asked in &self.when {
            if asked.test == Compare::Trigger
                && let Some(value) = values.get_mut(usize::from(asked.parameter))
            {
                *value = Value::Trigger(false);
            }
        }
    }
}

/// Transitions to consider, before conditions and exit times are tested.
///
/// Each comes with its source state. They are in order of priority.
fn candidates<'m>(
    layer: &'m Layer,
    state: &LayerState,
) -> impl Iterator<Item = (Offer<'m>, u16, &'m Transition)> {
    let current = state.current.state;
    let heavy = state.fading.live().iter().filter(|s| s.weight > 0.0);
    let full = heavy.count() == MAX_FADING;
    let lists = offers(layer, state).into_iter().flatten();
    lists.flat_map(move |offer| {
        let allowed = move |index: &u16| *index < offer.before && Some(*index) != offer.except;
        let indices = offer.list.iter().copied().filter(allowed);
        indices.filter_map(move |index| {
            let transition = &layer.transitions[usize::from(index)];
            let to_itself = transition.from.is_none() && transition.to == current;
            let waits = full && transition.fade_s > 0.0;
            let may = !waits && (!to_itself || transition.to_self);
            may.then_some((offer, index, transition))
        })
    })
}

/// The next time after `since_s` at which the layer has work to do, if no parameter changes.
///
/// That is when its fade ends, or when the exit time of a transition whose conditions hold is met.
/// Infinite if never.
pub(crate) fn next_s(layer: &Layer, state: &LayerState, values: &[Value], since_s: f64) -> f64 {
    let mut next = state.fade_end_s().max(since_s);
    for (offer, _, transition) in candidates(layer, state) {
        let Some(exit) = transition.exit else {
            continue;
        };
        if !transition.asks(values) {
            continue;
        }
        let wrap = layer.state(&offer.play).wrap;
        let time = if recurs(wrap, exit) {
            next_met(&offer.play, wrap, exit, since_s)
        } else {
            passed_from(&offer.play, exit)
        };
        if time > since_s {
            next = next.min(time);
        }
    }
    next
}

#[derive(Clone, Copy)]
pub(crate) struct Due<'m> {
    offer: Offer<'m>,
    index: u16,
    transition: &'m Transition,
}

impl Due<'_> {
    /// The duration of the inertialisation, in seconds.
    pub(crate) fn inertial_s(&self) -> f64 {
        self.transition.inertial_s
    }
}

/// The first transition that can fire at `time_s` and has not fired at that time yet.
///
/// Recurring exit times count only if `met` is true and they are met at exactly that time.
pub(crate) fn due<'m>(
    layer: &'m Layer,
    state: &LayerState,
    values: &[Value],
    (time_s, met): (f64, bool),
    fired: &Fired,
) -> Option<Due<'m>> {
    let due = |play: &Play, exit: f64| {
        let wrap = layer.state(play).wrap;
        if recurs(wrap, exit) {
            met && next_met(play, wrap, exit, time_s.next_down()) == time_s
        } else {
            passed_from(play, exit) <= time_s
        }
    };
    let mut all = candidates(layer, state);
    let found = all.find(|(offer, index, transition)| {
        !fired.has(*index)
            && transition.asks(values)
            && transition.exit.is_none_or(|exit| due(&offer.play, exit))
    });
    found.map(|(offer, index, transition)| Due {
        offer,
        index,
        transition,
    })
}

pub(crate) fn fire(
    layer: &Layer,
    state: &mut LayerState,
    values: &mut [Value],
    due: Due<'_>,
    (time_s, fired): (f64, &mut Fired),
) -> Taken {
    let Due {
        offer,
        index,
        transition,
    } = due;
    fired.add(index);
    transition.consume(values);
    let from = state.current.state;
    let target = &layer.states[usize::from(transition.to)];
    let phase = if transition.synced {
        let old = layer.state(&offer.play).wrap;
        taken_over(old, offer.play.phase_at(time_s), target.wrap)
    } else {
        transition.start.unwrap_or(target.start)
    };
    leave(layer, state, transition, offer.current, time_s);
    state.fade = (transition.fade_s > 0.0).then_some(Fade {
        transition: index,
        start_s: time_s,
        duration_s: transition.fade_s,
    });
    state.current = Play::entered(transition.to, phase, time_s);
    set_rates(layer, state, values, time_s);
    Taken {
        from: Id::new(from),
        to: Id::new(transition.to),
    }
}

/// Starts to fade out everything that plays, from its current weight.
fn leave(
    layer: &Layer,
    state: &mut LayerState,
    transition: &Transition,
    from_current: bool,
    time_s: f64,
) {
    let done = share(layer, state, time_s);
    let old = state.fading;
    state.fading.clear();
    if transition.fade_s <= 0.0 {
        return;
    }
    let newest = old.live().len().wrapping_sub(1);
    for (index, source) in old.live().iter().enumerate() {
        let mut source = *source;
        let leads = !from_current && index == newest;
        source.play.pace = match source.play.pace {
            _ if leads && transition.synced => Pace::Synced,
            // The state was in step with the state that the new one is in step with.
            Pace::Synced if !(from_current && transition.synced) => Pace::Held,
            pace => pace,
        };
        source.weight *= 1.0 - done;
        if source.weight > 0.0 {
            state.fading.push(source);
        }
    }
    let mut play = state.current;
    if from_current && transition.synced {
        play.pace = Pace::Synced;
    }
    state.fading.push(Source { play, weight: done });
}

pub(crate) fn enter(layer: &Layer, state: &mut LayerState, values: &mut [Value], time_s: f64) {
    let all = layer.at_entry.iter();
    let mut all = all.map(|index| &layer.transitions[usize::from(*index)]);
    let chosen = all.find(|transition| transition.asks(values));
    let entry = chosen.map_or(layer.entry, |transition| transition.to);
    if let Some(transition) = chosen {
        transition.consume(values);
    }
    let target = &layer.states[usize::from(entry)];
    let phase = chosen.and_then(|c| c.start).unwrap_or(target.start);
    state.current = Play::entered(entry, phase, time_s);
    state.end_fade();
    set_rates(layer, state, values, time_s);
}
