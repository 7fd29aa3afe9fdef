//! One instance of a state machine.

/// How many states can fade out at once on one layer.
pub const MAX_FADING: usize = 4;

/// One instance of a [`StateMachine`](super::StateMachine): its parameters, and what its layers
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
    pub(super) machine: u64,
    /// Up to when it has been updated, in seconds.
    pub(super) now_s: f64,
    /// Whether it has not yet entered its first states.
    pub(super) fresh: bool,
    /// Whether conditions may hold that were not looked at.
    pub(super) changed: bool,
    pub(super) values: Vec<Value>,
    pub(super) layers: Vec<LayerState>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) proven: Proven,
}

/// Whether a state's contents are known to fit its machine: not if they were just read from
/// somewhere.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Proven(pub(super) bool);

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
pub(super) struct LayerState {
    /// The state that it is in; its weight grows while there is a fade.
    pub(super) current: Play,
    pub(super) fade: Option<Fade>,
    pub(super) fading: Fading,
}

/// A state that is played: its phase is `phase + (t - anchor_s) * rate_hz`, in loops since its
/// start.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(super) struct Play {
    pub(super) state: u16,
    pub(super) pace: Pace,
    /// Whether time has passed since it was entered.
    pub(super) begun: bool,
    /// The phase at which it was entered.
    pub(super) entered: f64,
    pub(super) anchor_s: f64,
    pub(super) phase: f64,
    pub(super) rate_hz: f64,
}

/// What a state's rate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub(super) enum Pace {
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
pub(super) struct Fade {
    pub(super) transition: u16,
    pub(super) start_s: f64,
    pub(super) duration_s: f64,
}

/// A state that fades out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub(super) struct Source {
    pub(super) play: Play,
    /// Its weight when the fade began.
    pub(super) weight: f64,
}

/// The states that fade out, the oldest first.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Vec<Source>", into = "Vec<Source>")
)]
pub(super) struct Fading {
    items: [Source; MAX_FADING],
    count: u8,
}

impl Fading {
    pub(super) fn live(&self) -> &[Source] {
        self.items.get(..usize::from(self.count)).unwrap_or(&[])
    }

    pub(super) fn live_mut(&mut self) -> &mut [Source] {
        self.items
            .get_mut(..usize::from(self.count))
            .unwrap_or(&mut [])
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Whether there was room.
    pub(super) fn push(&mut self, source: Source) -> bool {
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
    pub(super) fn phase_at(&self, time_s: f64) -> f64 {
        self.phase + (time_s - self.anchor_s) * self.rate_hz
    }

    /// Another rate from `time_s` on.
    pub(super) fn set_rate(&mut self, time_s: f64, rate_hz: f64) {
        if rate_hz != self.rate_hz {
            self.phase = self.phase_at(time_s);
            self.anchor_s = time_s;
            self.rate_hz = rate_hz;
        }
    }
}

impl LayerState {
    /// All that is played, with the current state last.
    pub(super) fn plays_mut(&mut self) -> impl Iterator<Item = &mut Play> {
        let fading = self.fading.live_mut().iter_mut();
        fading
            .map(|source| &mut source.play)
            .chain([&mut self.current])
    }

    /// When the fade ends.
    pub(super) fn fade_end_s(&self) -> f64 {
        let fade = self.fade.as_ref();
        fade.map_or(f64::INFINITY, |fade| fade.start_s + fade.duration_s)
    }

    pub(super) fn end_fade(&mut self) {
        self.fade = None;
        self.fading.clear();
    }
}

impl StateMachineInstance {
    /// Moves it in time: all goes on from `now_s` as it would have from where it was.
    pub(super) fn move_to(&mut self, now_s: f64) {
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
