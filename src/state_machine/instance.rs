//! The state of one instance of a state machine.

use super::model::{Layer, State};
use crate::clone::clone_fields;
use crate::motion::Ease;

/// The largest absolute time, in seconds.
pub(super) const MAX_TIME_S: f64 = 1e12;

/// The most states that can fade out at once on one layer.
pub(super) const MAX_FADING: usize = 4;

/// One instance of a [`StateMachine`](crate::state_machine::StateMachine).
///
/// It holds the parameters and the states that each layer plays, as plain data of about 250 bytes
/// per layer. A clone of it, or its serde output, is a saved game. With `serde_json`, enable its
/// feature `float_roundtrip`: without it, the last bits of the times change.
///
/// An instance belongs to the state machine that started it. It also fits any state machine that
/// has the same parameters, layers, states and transitions by number and name. A saved game
/// therefore stays valid when speeds, clips or fades change.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct StateMachineInstance {
    pub(crate) machine: u64,
    /// The time in seconds up to which the instance has been updated.
    pub(crate) now_s: f64,
    /// True until the instance enters its first states.
    pub(crate) fresh: bool,
    /// True if conditions may hold that have not been tested yet.
    pub(crate) changed: bool,
    pub(crate) values: Vec<Value>,
    pub(crate) layers: Vec<LayerState>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) proven: Proven,
}

clone_fields! {
    StateMachineInstance { machine, now_s, fresh, changed, values, layers, proven }
}

/// True if the contents are known to fit the state machine.
///
/// False for an instance that was just deserialised.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Proven(pub(crate) bool);

/// Always equal: the flag is not part of the contents.
impl PartialEq for Proven {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The value of a parameter.
///
/// `true.into()` is the value of a bool parameter, and sets a trigger.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Value {
    /// The value of a float parameter.
    Float(f32),
    /// The value of an int parameter.
    Int(i32),
    /// The value of a bool parameter.
    Bool(bool),
    /// A trigger: true if it is set.
    Trigger(bool),
}

impl From<f32> for Value {
    fn from(value: f32) -> Self {
        Self::Float(value)
    }
}

impl From<i32> for Value {
    fn from(value: i32) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct LayerState {
    /// The current state, whose weight grows during a fade.
    pub(crate) current: Play,
    pub(crate) fade: Option<Fade>,
    pub(crate) fading: Fading,
}

/// A state that is playing.
///
/// Its phase, in cycles since its start, is `phase + (t - anchor_s) * rate_hz`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct Play {
    pub(crate) state: u16,
    pub(crate) pace: Pace,
    /// True if time has passed since the state was entered.
    pub(crate) begun: bool,
    /// True if it has reached its end, as [`Layer::end_s`] says.
    pub(crate) finished: bool,
    /// The phase at which the state was entered.
    pub(crate) entered: f64,
    pub(crate) anchor_s: f64,
    pub(crate) phase: f64,
    pub(crate) rate_hz: f64,
}

/// The source of a state's rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub(crate) enum Pace {
    /// The state's own motion and speed.
    #[default]
    Own,
    /// The rate of the current state.
    Synced,
    /// The last rate, kept since the state that it was in step with was left.
    Held,
}

/// The fade to the current state.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct Fade {
    pub(crate) transition: u16,
    pub(crate) start_s: f64,
    pub(crate) duration_s: f64,
}

/// A state that fades out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub(crate) struct Source {
    pub(crate) play: Play,
    /// The weight of the state when the fade began.
    pub(crate) weight: f64,
}

/// The states that fade out, oldest first.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(try_from = "Vec<Source>", into = "Vec<Source>")
)]
pub(crate) struct Fading {
    items: [Source; MAX_FADING],
    count: u8,
}

impl Fading {
    pub(crate) fn live(&self) -> &[Source] {
        self.items.get(..usize::from(self.count)).unwrap_or(&[])
    }

    pub(crate) fn live_mut(&mut self) -> &mut [Source] {
        self.items
            .get_mut(..usize::from(self.count))
            .unwrap_or(&mut [])
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a state. Returns false if the list is full.
    pub(crate) fn push(&mut self, source: Source) -> bool {
        let Some(next) = self.items.get_mut(usize::from(self.count)) else {
            return false;
        };
        *next = source;
        self.count += 1;
        true
    }
}

impl PartialEq for Fading {
    fn eq(&self, other: &Self) -> bool {
        self.live() == other.live()
    }
}

impl From<Fading> for Vec<Source> {
    fn from(fading: Fading) -> Self {
        fading.live().to_vec()
    }
}

impl TryFrom<Vec<Source>> for Fading {
    type Error = &'static str;

    fn try_from(sources: Vec<Source>) -> Result<Self, &'static str> {
        let mut fading = Self::default();
        if sources.iter().all(|source| fading.push(*source)) {
            Ok(fading)
        } else {
            Err("more than 4 states fade out at once")
        }
    }
}

impl Play {
    /// A state that is entered at a phase. Its rate is not known yet.
    pub(crate) fn entered(state: u16, phase: f64, time_s: f64) -> Self {
        Self {
            state,
            pace: Pace::Own,
            begun: false,
            finished: false,
            entered: phase,
            anchor_s: time_s,
            phase,
            rate_hz: 0.0,
        }
    }

    pub(crate) fn phase_at(&self, time_s: f64) -> f64 {
        self.phase + (time_s - self.anchor_s) * self.rate_hz
    }

    pub(crate) fn set_rate(&mut self, time_s: f64, rate_hz: f64) {
        if rate_hz != self.rate_hz {
            self.phase = self.phase_at(time_s);
            self.anchor_s = time_s;
            self.rate_hz = rate_hz;
            // If it now moves towards an end that it is not at, it finishes again there.
            let end = if rate_hz > 0.0 { 1.0 } else { 0.0 };
            self.finished &= (self.phase - end) * rate_hz >= 0.0;
        }
    }
}

impl LayerState {
    /// All states that are playing, with the current state last.
    pub(crate) fn plays_mut(&mut self) -> impl Iterator<Item = &mut Play> {
        let fading = self.fading.live_mut().iter_mut();
        fading
            .map(|source| &mut source.play)
            .chain([&mut self.current])
    }

    /// The weights of the current state when the fade begins and when it has ended.
    pub(crate) fn shares(&self) -> [f64; 2] {
        [if self.fade.is_some() { 0.0 } else { 1.0 }, 1.0]
    }

    pub(crate) fn fade_end_s(&self) -> f64 {
        let fade = self.fade.as_ref();
        fade.map_or(f64::INFINITY, |fade| fade.start_s + fade.duration_s)
    }

    pub(crate) fn end_fade_at(&mut self, time_s: f64) {
        if self.fade_end_s() <= time_s {
            self.end_fade();
        }
    }

    pub(crate) fn end_fade(&mut self) {
        self.fade = None;
        self.fading.clear();
    }
}

impl Layer {
    /// The state that plays. Its index was checked.
    pub(super) fn state(&self, play: &Play) -> &State {
        &self.states[usize::from(play.state)]
    }

    /// The curve of a fade. The index of its transition was checked.
    pub(super) fn ease(&self, fade: &Fade) -> Ease {
        self.transitions[usize::from(fade.transition)].ease
    }
}

impl StateMachineInstance {
    /// Notes that it was checked.
    pub(crate) fn trust(&mut self) {
        self.proven = Proven(true);
    }

    /// Moves the state to another time: from `now_s` on, it continues as it would have from the old
    /// time.
    pub(crate) fn move_to(&mut self, now_s: f64) {
        for layer in &mut self.layers {
            for play in layer.plays_mut() {
                play.phase = play.phase_at(self.now_s);
                play.anchor_s = now_s;
            }
            if let Some(fade) = &mut layer.fade {
                fade.start_s += now_s - self.now_s;
            }
        }
        self.now_s = now_s;
    }

    /// This time, or that of the instance if it is not a number or lies beyond
    /// [`MAX_TIME_S`].
    pub(crate) fn valid_time_s(&self, time_s: f64) -> f64 {
        let valid = time_s.abs() <= MAX_TIME_S;
        if valid { time_s } else { self.now_s }
    }
}
