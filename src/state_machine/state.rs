//! One instance of a state machine.

/// How many states can fade out at once on one layer.
pub const MAX_FADING: usize = 4;

/// One instance of a [`StateMachine`](crate::state_machine::StateMachine): its parameters, and what its layers
/// play. Plain data of about 250 bytes a layer: a clone, or what serde writes, is a saved game.
/// (With `serde_json` its feature `float_roundtrip` is needed: without, times come back with other
/// last bits.)
///
/// It belongs to the machine that started it, and to any that has the same parameters, layers,
/// states and transitions by number and name: speeds, clips and fades may be changed under a saved
/// game.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct StateMachineInstance {
    pub(crate) machine: u64,
    /// Up to when it has been updated, in seconds.
    pub(crate) now_s: f64,
    /// Whether it has not yet entered its first states.
    pub(crate) fresh: bool,
    /// Whether conditions may hold that were not looked at.
    pub(crate) changed: bool,
    pub(crate) values: Vec<Value>,
    pub(crate) layers: Vec<LayerState>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) proven: Proven,
}

/// Whether a state's contents are known to fit its machine: not if they were just read from
/// somewhere.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Proven(pub(crate) bool);

/// What is known about contents is none of them.
impl PartialEq for Proven {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Value {
    /// Of a float.
    Float(f32),
    /// Of an int.
    Int(i32),
    /// Of a bool.
    Bool(bool),
    /// Whether a trigger is set.
    Trigger(bool),
}

#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(crate) struct LayerState {
    /// The state that it is in; its weight grows while there is a fade.
    pub(crate) current: Play,
    pub(crate) fade: Option<Fade>,
    pub(crate) fading: Fading,
}

/// A state that is played: its phase is `phase + (t - anchor_s) * rate_hz`, in loops since its
/// start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(crate) struct Play {
    pub(crate) state: u16,
    pub(crate) pace: Pace,
    /// Whether time has passed since it was entered.
    pub(crate) begun: bool,
    /// The phase at which it was entered.
    pub(crate) entered: f64,
    pub(crate) anchor_s: f64,
    pub(crate) phase: f64,
    pub(crate) rate_hz: f64,
}

/// What a state's rate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub(crate) enum Pace {
    /// Its own motion and speed.
    #[default]
    Own,
    /// It is that of the current state.
    InStep,
    /// It stays what it was when what it was in step with was left.
    Held,
}

/// The fade to the current state.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(crate) struct Fade {
    pub(crate) transition: u16,
    pub(crate) start_s: f64,
    pub(crate) duration_s: f64,
}

/// A state that fades out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(crate) struct Source {
    pub(crate) play: Play,
    /// Its weight when the fade began.
    pub(crate) weight: f64,
}

/// The states that fade out, the oldest first.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
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

    /// Whether there was room.
    pub(crate) fn push(&mut self, source: Source) -> bool {
        let Some(place) = self.items.get_mut(usize::from(self.count)) else {
            return false;
        };
        *place = source;
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
            Err("more states fade out than can")
        }
    }
}

impl Play {
    pub(crate) fn phase_at(&self, time_s: f64) -> f64 {
        self.phase + (time_s - self.anchor_s) * self.rate_hz
    }

    /// Another rate from `time_s` on.
    pub(crate) fn set_rate(&mut self, time_s: f64, rate_hz: f64) {
        if rate_hz != self.rate_hz {
            self.phase = self.phase_at(time_s);
            self.anchor_s = time_s;
            self.rate_hz = rate_hz;
        }
    }
}

impl LayerState {
    /// All that is played, with the current state last.
    pub(crate) fn plays_mut(&mut self) -> impl Iterator<Item = &mut Play> {
        let fading = self.fading.live_mut().iter_mut();
        fading
            .map(|source| &mut source.play)
            .chain([&mut self.current])
    }

    /// When the fade ends.
    pub(crate) fn fade_end_s(&self) -> f64 {
        let fade = self.fade.as_ref();
        fade.map_or(f64::INFINITY, |fade| fade.start_s + fade.duration_s)
    }

    pub(crate) fn end_fade(&mut self) {
        self.fade = None;
        self.fading.clear();
    }
}

impl StateMachineInstance {
    /// Moves it in time: all goes on from `now_s` as it would have from where it was.
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

    /// Up to when it has been updated, in seconds.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        self.now_s
    }
}
