//! Play records as shaders read them.

use super::time::{GpuTime, fixed, high_product, seconds, whole, words};
use crate::clip::Clip;
use crate::gpu::constants;
use crate::motion::FULL_WEIGHT;
use bytemuck::{Pod, Zeroable};

/// A clip that plays, as shaders read it: `Play` of `shaders/include/playback.glsl`.
///
/// [`Animator::gpu_plays`](crate::animator::Animator::gpu_plays) makes it from an actor's records.
/// It is valid until something else plays on the actor, at any later time: clip time, speed and
/// weight are closed-form.
///
/// Phases are fractions of a period in 64 bits, so that whole periods drop out by themselves and no
/// precision is lost with age: after 30 days, clip time is off by less than 1e-9 seconds.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuPlay {
    pub(crate) anchor: [u32; 2],
    pub(crate) phase: [u32; 2],
    pub(crate) rate: [u32; 2],
    pub(crate) whole_rate: i32,
    pub(crate) clip: u16,
    pub(crate) mask: u16,
    pub(crate) fade_start: [u32; 2],
    pub(crate) fade_s: f32,
    pub(crate) from_weight: f32,
    pub(crate) to_weight: f32,
    pub(crate) layer: u8,
    pub(crate) mode: u8,
    pub(crate) smooth: u8,
    pub(crate) reserved: u8,
    pub(crate) ramp_s: f32,
    pub(crate) from_rate: f32,
}

const _: () = assert!(size_of::<GpuPlay>() == 64 && FULL_WEIGHT == constants::FULL_WEIGHT);

impl GpuPlay {
    /// [`Self::mask`]: all joints.
    const NO_MASK: u16 = constants::NO_MASK;
    /// [`Self::mode`]: loops.
    pub(crate) const LOOP: u8 = constants::MODE_LOOP;
    /// [`Self::mode`]: plays once.
    pub(crate) const ONCE: u8 = constants::MODE_ONCE;
    /// [`Self::mode`]: plays forward and backward in turn.
    pub(crate) const PING_PONG: u8 = constants::MODE_PING_PONG;
    /// [`Self::mode`]: stands at a part of the clip, or if [`Self::whole_rate`] is 1, at its end.
    pub(crate) const STILL: u8 = constants::MODE_STILL;

    /// True if from `now` on, nothing is seen but its clip, provided that it is the only record,
    /// and not additive.
    pub(crate) fn is_alone(&self, now: GpuTime) -> bool {
        let since_s = seconds(whole(now.words()).wrapping_sub(whole(self.fade_start)));
        let stays = self.from_weight == self.to_weight || since_s >= self.fade_s;
        stays && self.will_be_alone()
    }

    /// True if [`Self::is_alone`] when its fade has ended.
    pub(crate) fn will_be_alone(&self) -> bool {
        let full = if self.layer == 0 { FULL_WEIGHT } else { 1.0 };
        self.to_weight >= full && self.mask == Self::NO_MASK
    }

    /// The position in the clip at a time, in intervals between frames: bit for bit what shaders
    /// compute, unless the speed is changing.
    ///
    /// `clip` is the clip that the record plays. The first frame is at 0. If it is the only one, an
    /// interval is a second. `epoch_s` is that of the record.
    #[must_use]
    pub fn position(&self, clip: &Clip, now_s: f64, epoch_s: f64) -> f64 {
        let now = GpuTime::new(now_s, epoch_s);
        let timing = &clip.timing;
        let steps = timing.steps_per_s();
        let position = self.fixed_position(now, fixed(timing.end_s * steps));
        let start = fixed(timing.start_s * steps);
        position.saturating_sub(start) as f64 / 4_294_967_296.0
    }

    fn fixed_position(&self, now: GpuTime, span: u64) -> u64 {
        if self.mode == Self::STILL {
            let at_end = self.whole_rate != 0;
            return if at_end {
                span
            } else {
                high_product(self.phase[1], span)
            };
        }
        let since = whole(now.words()).wrapping_sub(whole(self.anchor));
        let phase = (self.phase_at(since) >> 32) as u32;
        if self.mode == Self::PING_PONG {
            let position = high_product(phase, 2 * span);
            return position.min(2 * span - position);
        }
        if self.mode == Self::ONCE {
            // Whole periods decide whether it has begun. Near a whole number, the phase says on
            // which side of it the time is.
            let (back, ended) = (self.whole_rate < 0, (since as i64) >= 0);
            let periods = (seconds(since) * self.rate_hz()).abs();
            let other_half = if back {
                phase < 1 << 31
            } else {
                phase > 1 << 31
            };
            if ended || periods > 1.25 || (periods > 0.75 && other_half) {
                return if ended != back { span } else { 0 };
            }
        }
        high_product(phase, span)
    }

    /// Periods a second.
    fn rate_hz(&self) -> f32 {
        self.whole_rate as f32 + self.rate[1] as f32 * (1.0 / 4_294_967_296.0)
    }

    fn phase_at(&self, since: u64) -> u64 {
        let phase = whole(self.phase);
        if (since as i64) < 0 && self.ramp_s > 0.0 {
            let way = self.ramp_way(-seconds(since));
            let part = (way - way.floor()).min(0.999_999_94);
            return phase.wrapping_sub(u64::from((part * 4_294_967_296.0) as u32) << 32);
        }
        let [part, seconds] = words(since);
        let rate = whole(self.rate);
        // The product with negative seconds. Only its lower 64 bits count.
        let whole_seconds = rate.wrapping_mul(i64::from(seconds as i32) as u64);
        let parts = high_product(part, rate);
        let whole_rate = u64::from(part.wrapping_mul(self.whole_rate as u32)) << 32;
        let sum = phase.wrapping_add(whole_seconds).wrapping_add(parts);
        sum.wrapping_add(whole_rate)
    }

    /// Periods between a time before the anchor and the anchor, while the speed changes.
    fn ramp_way(&self, left_s: f32) -> f32 {
        let (rate, inside) = (self.rate_hz(), left_s.min(self.ramp_s));
        let u = inside / self.ramp_s;
        let part = match self.smooth {
            0 => 0.5 * u * u,
            _ => u * u * u * (1.0 - 0.5 * u),
        };
        let changed = (self.from_rate - rate) * part * self.ramp_s;
        rate * inside + changed + self.from_rate * (left_s - inside)
    }
}
