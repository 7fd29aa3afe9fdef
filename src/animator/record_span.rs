//! A play record over an interval of its actor's time.

use super::record::PlayRecord;

/// A record, and an interval of the actor's time during which it plays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordSpan {
    pub(crate) record: PlayRecord,
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
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
        }
    }

    /// The time at which the clip reverses within the interval, if its speed crosses 0.
    pub(super) fn turn_s(&self) -> Option<f64> {
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
            return time_s.clamp(self.from_s, self.to_s);
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
