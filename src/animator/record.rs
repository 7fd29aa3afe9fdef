//! Play records: what an actor plays, as plain data that is closed-form in time.

use crate::id::Id;
use crate::motion::{Ease, LoopMode, Ramp, SpeedRamp};
use crate::skeleton::Mask;
use bytemuck::{Pod, Zeroable};

/// A clip that plays on an actor, as plain data.
///
/// It takes 64 bytes. The clip's time, speed and weight are closed-form: they depend only on these
/// values and on the actor's time. A record is written when something is played, stopped or
/// changed. It is read whenever a pose is evaluated.
///
/// All times are the actor's own, in seconds. They equal the animator's time unless the actor was
/// paused or has its own time scale.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlayRecord {
    /// The time at which the clip is at `offset_s`.
    pub anchor_s: f64,
    /// Unwrapped clip time at `anchor_s`, in seconds.
    pub offset_s: f64,
    /// Clip seconds per second up to `anchor_s`.
    pub from_speed: f64,
    /// Clip seconds per second from `anchor_s + speed_ramp_s` on.
    pub to_speed: f64,
    /// The time at which the weight starts to change.
    pub fade_start_s: f64,
    /// Duration of the change of weight, in seconds. 0 means at once.
    pub fade_s: f32,
    /// The weight up to `fade_start_s`.
    pub from_weight: f32,
    /// The weight from `fade_start_s + fade_s` on.
    pub to_weight: f32,
    /// Duration of the change of speed, in seconds. 0 means at once.
    pub speed_ramp_s: f32,
    /// Index of the clip.
    pub clip: u16,
    /// Index of the mask, or [`Self::NO_MASK`].
    pub mask: u16,
    /// The layer that it plays on.
    pub layer: u8,
    /// The behaviour past the end of the clip: 0 loops, 1 plays once, 2 plays back and forth.
    pub loop_mode: u8,
    /// The curve of weight and speed changes: 0 is linear, 1 is smooth (smoothstep).
    pub ease: u8,
    /// A combination of the `FLAG_` constants, and the bits of [`Self::BLEND_BITS`].
    pub flags: u8,
}

const _: () = assert!(size_of::<PlayRecord>() == 64 && align_of::<PlayRecord>() == 8);

impl PlayRecord {
    /// Value of [`Self::mask`](field@Self::mask) if the record affects all joints.
    pub const NO_MASK: u16 = u16::MAX;

    /// The clip shares the phase of its layer's synchronised clips.
    ///
    /// All records of one layer with this flag are synchronised.
    pub const FLAG_SYNCED: u8 = 1;

    /// Time has passed for the record: events at its start were delivered.
    pub const FLAG_STARTED: u8 = 2;

    /// The clip reached its end, and its finish event was delivered.
    pub const FLAG_FINISHED: u8 = 4;

    /// The record shows the actor's own pose instead of a clip.
    pub const FLAG_POSE: u8 = 8;

    /// The record belongs to the actor's state machine.
    pub const FLAG_STATE_MACHINE: u8 = 16;

    /// Bits of the number of the blend space that a record belongs to.
    ///
    /// All clips of one playing blend space have the same number. 0 for a single clip.
    pub const BLEND_BITS: u8 = 0b1110_0000;

    /// Bit position of [`Self::BLEND_BITS`].
    pub(crate) const BLEND_SHIFT: u32 = Self::BLEND_BITS.trailing_zeros();

    /// A clip that starts at `now_s`, looping, at normal speed, with weight 1 on layer 0.
    pub(crate) fn new(clip: u16, now_s: f64) -> Self {
        Self {
            anchor_s: now_s,
            from_speed: 1.0,
            to_speed: 1.0,
            fade_start_s: now_s,
            from_weight: 1.0,
            to_weight: 1.0,
            clip,
            mask: Self::NO_MASK,
            ..Zeroable::zeroed()
        }
    }

    /// The behaviour past the end of the clip.
    pub(crate) fn loop_mode(&self) -> LoopMode {
        match self.loop_mode {
            0 => LoopMode::Loop,
            1 => LoopMode::Once,
            _ => LoopMode::PingPong,
        }
    }

    pub(crate) fn set_loop_mode(&mut self, mode: LoopMode) {
        self.loop_mode = match mode {
            LoopMode::Loop => 0,
            LoopMode::Once => 1,
            LoopMode::PingPong => 2,
        };
    }

    /// The curve of weight and speed changes.
    pub(crate) fn ease(&self) -> Ease {
        if self.ease == 0 {
            Ease::Linear
        } else {
            Ease::Smooth
        }
    }

    pub(crate) fn set_ease(&mut self, ease: Ease) {
        self.ease = u8::from(ease == Ease::Smooth);
    }

    /// Returns true if any of the bits in `flag` is set.
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The number of the blend space that it belongs to. 0 for a single clip.
    pub(crate) fn blend(&self) -> u8 {
        self.flags >> Self::BLEND_SHIFT
    }

    /// The mask, or `None` if the record affects all joints.
    pub(crate) fn mask(&self) -> Option<Id<Mask>> {
        (self.mask != Self::NO_MASK).then_some(Id::new(self.mask))
    }

    fn weight(&self) -> Ramp {
        Ramp {
            from: self.from_weight,
            to: self.to_weight,
            start_s: self.fade_start_s,
            duration_s: self.fade_s.into(),
            ease: self.ease(),
        }
    }

    /// Its weight in the blend at `time_s`.
    #[must_use]
    #[inline]
    pub fn weight_at(&self, time_s: f64) -> f32 {
        // Most records do not fade.
        if self.from_weight == self.to_weight {
            return self.to_weight;
        }
        self.weight().at(time_s)
    }

    /// Fades the weight from its value at `now_s` to `to`.
    pub(crate) fn fade_to(&mut self, to: f32, now_s: f64, fade_s: f32, ease: Ease) {
        let from = self.weight_at(now_s);
        // The ease applies to the speed too. If it changes during a speed ramp, the current speed
        // is kept.
        if self.is_changing_speed(now_s) && ease != self.ease() {
            self.hold_speed(now_s);
        }
        self.set_ease(ease);
        (self.from_weight, self.to_weight) = (from, to);
        (self.fade_start_s, self.fade_s) = (now_s, fade_s);
    }

    /// The time at which the weight stops changing.
    ///
    /// Negative infinity if it does not change at all.
    #[inline]
    pub(crate) fn fade_end_s(&self) -> f64 {
        if self.from_weight == self.to_weight {
            f64::NEG_INFINITY
        } else {
            self.fade_start_s + f64::from(self.fade_s)
        }
    }

    /// Returns true if it has faded out at `time_s`, so that it no longer contributes.
    pub(crate) fn is_over(&self, time_s: f64) -> bool {
        self.to_weight == 0.0 && self.fade_end_s() <= time_s
    }

    /// Clip seconds since the anchor.
    fn elapsed(&self, time_s: f64) -> f64 {
        if self.from_speed == self.to_speed {
            return (time_s - self.anchor_s) * self.to_speed;
        }
        self.speed().way(time_s)
    }

    fn speed(&self) -> SpeedRamp {
        SpeedRamp {
            from: self.from_speed,
            to: self.to_speed,
            start_s: self.anchor_s,
            duration_s: self.speed_ramp_s.into(),
            ease: self.ease(),
        }
    }

    /// Clip seconds per second at `time_s`.
    #[must_use]
    pub fn speed_at(&self, time_s: f64) -> f64 {
        if self.from_speed == self.to_speed {
            self.to_speed
        } else {
            self.speed().at(time_s)
        }
    }

    /// Returns true if the speed is still changing at `time_s`.
    pub(crate) fn is_changing_speed(&self, time_s: f64) -> bool {
        self.from_speed != self.to_speed && time_s < self.anchor_s + f64::from(self.speed_ramp_s)
    }

    /// Unwrapped clip time at `time_s`, in seconds.
    ///
    /// It keeps counting when the clip starts over.
    #[must_use]
    #[inline]
    pub fn unwrapped_s(&self, time_s: f64) -> f64 {
        self.offset_s + self.elapsed(time_s)
    }

    /// The clip's own time at `time_s`, in `0..=duration_s`.
    #[must_use]
    #[inline]
    pub fn clip_time_s(&self, time_s: f64, duration_s: f64) -> f64 {
        self.loop_mode()
            .clip_time_s(self.unwrapped_s(time_s), duration_s)
    }

    /// The first time, not before `since_s`, at which unwrapped clip time is `unwrapped_s`.
    ///
    /// Infinite if it never gets there. The speed must no longer be changing at `since_s`.
    pub(crate) fn time_of(&self, unwrapped_s: f64, since_s: f64) -> f64 {
        let left = unwrapped_s - self.unwrapped_s(since_s);
        if left == 0.0 {
            return since_s;
        }
        let time_s = since_s + left / self.to_speed;
        if time_s >= since_s {
            time_s
        } else {
            f64::INFINITY
        }
    }

    /// Changes the speed from `now_s` on, over `ramp_s` seconds, without a jump in clip time.
    pub(crate) fn set_speed(&mut self, now_s: f64, speed: f64, ramp_s: f32) {
        let (unwrapped_s, from) = (self.unwrapped_s(now_s), self.speed_at(now_s));
        self.re_anchor(now_s, unwrapped_s, [from, speed], ramp_s);
    }

    /// Changes the speed from `now_s` on, at once.
    ///
    /// A clip with [`LoopMode::Once`] that is past its end continues from its end. If it now moves
    /// towards an end that it is not at, it finishes again there.
    pub(crate) fn turn(&mut self, now_s: f64, speed: f64, duration_s: f64) {
        let mut unwrapped_s = self.unwrapped_s(now_s);
        if self.loop_mode() == LoopMode::Once {
            unwrapped_s = match self.to_speed {
                old if old > 0.0 => unwrapped_s.min(duration_s),
                old if old < 0.0 => unwrapped_s.max(0.0),
                _ => unwrapped_s,
            };
        }
        self.re_anchor(now_s, unwrapped_s, [speed; 2], 0.0);
        let end_s = if speed > 0.0 { duration_s } else { 0.0 };
        if (unwrapped_s - end_s) * speed < 0.0 {
            self.flags &= !Self::FLAG_FINISHED;
        }
    }

    /// Keeps the phase of a clip whose duration has changed, unless it plays once.
    ///
    /// Clips that keep step keep their rate, too.
    pub(crate) fn stretch(&mut self, now_s: f64, [old_s, new_s]: [f64; 2]) {
        if old_s == new_s || old_s <= 0.0 || self.loop_mode() == LoopMode::Once {
            return;
        }
        let by = new_s / old_s;
        let synced = if self.has(Self::FLAG_SYNCED) { by } else { 1.0 };
        let speeds = [self.speed_at(now_s), self.to_speed].map(|speed| speed * synced);
        let left_s = self.anchor_s + f64::from(self.speed_ramp_s) - now_s;
        let unwrapped_s = self.unwrapped_s(now_s) * by;
        self.re_anchor(now_s, unwrapped_s, speeds, left_s.max(0.0) as f32);
    }

    /// Stops the change of speed, and keeps the speed of `now_s`.
    fn hold_speed(&mut self, now_s: f64) {
        let speed = self.speed_at(now_s);
        self.set_speed(now_s, speed, 0.0);
    }

    /// Sets the clip time to `unwrapped_s` at `now_s`, and the speed to a ramp between two values.
    pub(crate) fn re_anchor(
        &mut self,
        now_s: f64,
        unwrapped_s: f64,
        [from, to]: [f64; 2],
        ramp_s: f32,
    ) {
        (self.anchor_s, self.offset_s) = (now_s, unwrapped_s);
        // Without a ramp, `from_speed` is irrelevant. Setting it to `to` lets most records take the
        // path of constant speed.
        self.from_speed = if ramp_s > 0.0 { from } else { to };
        (self.to_speed, self.speed_ramp_s) = (to, ramp_s);
    }

    /// The time from which its pose and weight no longer change. Infinite if they always do.
    pub(crate) fn still_from_s(&self, duration_s: f64, moves: bool) -> f64 {
        let fade_s = self.fade_end_s();
        if !moves || self.has(Self::FLAG_POSE) {
            return fade_s;
        }
        let ramp_s = if self.from_speed == self.to_speed {
            f64::NEG_INFINITY
        } else {
            self.anchor_s + f64::from(self.speed_ramp_s)
        };
        let still_s = match (self.to_speed == 0.0, self.loop_mode()) {
            (true, _) => ramp_s,
            (false, LoopMode::Once) => {
                let end_s = if self.to_speed > 0.0 { duration_s } else { 0.0 };
                let since_s = self.anchor_s.max(ramp_s);
                let passed = self.unwrapped_s(since_s) - end_s;
                if passed * self.to_speed >= 0.0 {
                    since_s
                } else {
                    self.time_of(end_s, since_s)
                }
            }
            (false, _) => f64::INFINITY,
        };
        fade_s.max(still_s)
    }
}

/// A record, and an interval of the actor's time during which it plays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordSpan {
    pub(crate) record: PlayRecord,
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
    /// The time at which the state that plays it once reaches its end. Infinite without one.
    ///
    /// The state says so by its phase, and the clip's time could differ by rounding.
    pub(crate) once_end_s: f64,
}

impl RecordSpan {
    pub(crate) fn new(record: PlayRecord, [from_s, to_s]: [f64; 2]) -> Self {
        // A record stops playing when it has faded out. A state machine itself says until when a
        // clip plays, and does not round its fades to `f32`.
        let bound = !record.has(PlayRecord::FLAG_STATE_MACHINE) || record.from_weight == 0.0;
        let end_s = if record.to_weight == 0.0 && bound {
            record.fade_end_s().max(from_s)
        } else {
            f64::INFINITY
        };
        Self {
            record,
            from_s,
            to_s: to_s.min(end_s),
            once_end_s: f64::INFINITY,
        }
    }

    /// Unwrapped clip times at the start and at the end of the interval.
    pub(super) fn unwrapped_s(&self, duration_s: f64) -> [f64; 2] {
        [self.from_s, self.to_s].map(|time_s| {
            let unwrapped_s = self.record.unwrapped_s(time_s);
            match time_s >= self.once_end_s {
                true if self.record.to_speed > 0.0 => unwrapped_s.max(duration_s),
                true => unwrapped_s.min(0.0),
                false => unwrapped_s,
            }
        })
    }

    /// The time at which the clip reverses within the interval, if its speed crosses 0.
    pub(crate) fn turn_s(&self) -> Option<f64> {
        let record = &self.record;
        let rises = record.to_speed > record.from_speed;
        let turns = record.from_speed.min(record.to_speed) < 0.0
            && record.from_speed.max(record.to_speed) > 0.0;
        let ramp_end_s = record.anchor_s + f64::from(record.speed_ramp_s);
        let mut low = self.from_s.max(record.anchor_s);
        let mut high = self.to_s.min(ramp_end_s);
        let is_after = |time_s: f64| (record.speed_at(time_s) > 0.0) == rises;
        if !turns || low >= high || is_after(low) || !is_after(high) {
            return None;
        }
        for _ in 0..60 {
            let middle = low + 0.5 * (high - low);
            if is_after(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        (self.from_s < high && high < self.to_s).then_some(high)
    }

    /// The time within the interval at which unwrapped clip time is `unwrapped_s`.
    pub(super) fn time_of(&self, unwrapped_s: f64) -> f64 {
        let record = &self.record;
        if record.from_speed == record.to_speed {
            let time_s = record.time_of(unwrapped_s, self.from_s);
            // Nothing of a clip comes after the end of its state.
            let end_s = self.to_s.min(self.once_end_s.max(self.from_s));
            return time_s.clamp(self.from_s, end_s);
        }
        // While the speed changes, bisect: 60 steps are exact to the last bit.
        let (mut low, mut high) = (self.from_s, self.to_s);
        let rises = record.unwrapped_s(high) >= record.unwrapped_s(low);
        for _ in 0..60 {
            let middle = low + 0.5 * (high - low);
            if (record.unwrapped_s(middle) < unwrapped_s) == rises {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}
