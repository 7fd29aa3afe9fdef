//! Play records as shaders read them.

use super::time::{GpuTime, fixed, high_product, part_of, ratio, seconds, whole, words};
use super::{CpuReason, MAX_PLAYS};
use crate::animator::{Clock, PlayRecord};
use crate::clip::Clip;
use crate::motion::{Ease, LoopMode};
use bytemuck::{Pod, Zeroable};

const ONCE: u8 = 1;
const PING_PONG: u8 = 2;
const STILL: u8 = 3;

/// The longest way of a clip while its speed changes, in clip seconds. Shaders compute it in `f32`,
/// whose error is then below 1e-6 s.
const MAX_RAMP_WAY_S: f64 = 8.0;

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
    anchor: [u32; 2],
    phase: [u32; 2],
    rate: [u32; 2],
    whole_rate: i32,
    clip: u16,
    mask: u16,
    fade_start: [u32; 2],
    fade_s: f32,
    from_weight: f32,
    to_weight: f32,
    layer: u8,
    mode: u8,
    smooth: u8,
    reserved: u8,
    ramp_s: f32,
    from_rate: f32,
}

const _: () = assert!(size_of::<GpuPlay>() == 64);

impl GpuPlay {
    /// Converts a record of an actor with this clock.
    pub(crate) fn new(
        record: &PlayRecord,
        clip: &Clip,
        clock: &Clock,
        (now_s, epoch_s): (f64, f64),
    ) -> Result<Self, CpuReason> {
        let mut play = Self {
            clip: record.clip,
            mask: record.mask,
            layer: record.layer,
            smooth: u8::from(record.ease() == Ease::Smooth),
            mode: STILL,
            ..Zeroable::zeroed()
        };
        let local_s = clock.local_s(now_s);
        play.set_weight(record, clock, local_s, epoch_s)?;
        let speed = record.to_speed * clock.rate();
        let (duration_s, timing) = (clip.duration_s(), &clip.timing);
        let changes = record.is_changing_speed(local_s) && clock.rate() > 0.0;
        if duration_s <= 0.0 || timing.frames == 1 {
            return Ok(play);
        }
        let at_s = record.clip_time_s(local_s, duration_s);
        let still = fixed(at_s * timing.rate);
        if clock.rate() == 0.0 || (speed == 0.0 && !changes) {
            play.phase = words(still);
            return Ok(play);
        }
        if record.loop_mode() == LoopMode::Once {
            if changes {
                return Err(CpuReason::SpeedChange);
            }
            let end_s = if speed > 0.0 { duration_s } else { 0.0 };
            let left_s = (end_s - record.unwrapped_s(local_s)) / record.to_speed;
            if left_s <= 0.0 {
                play.phase = words(still);
                return Ok(play);
            }
            let anchor = GpuTime::within(clock.animator_s(local_s + left_s), epoch_s);
            play.anchor = anchor.ok_or(CpuReason::Range)?.words();
            play.set_rate(speed, duration_s)?;
            play.mode = ONCE;
            return Ok(play);
        }
        let is_loop = record.loop_mode() == LoopMode::Loop;
        let period_s = if is_loop {
            duration_s
        } else {
            2.0 * duration_s
        };
        let mut anchor_s = now_s;
        if changes {
            let ramp_s = f64::from(record.speed_ramp_s);
            let rates = [record.from_speed, record.to_speed].map(f64::abs);
            if ramp_s * rates[0].max(rates[1]) > MAX_RAMP_WAY_S {
                return Err(CpuReason::SpeedChange);
            }
            anchor_s = clock.animator_s(record.anchor_s + ramp_s);
            play.ramp_s = (ramp_s / clock.rate()) as f32;
            play.from_rate = (record.from_speed * clock.rate() / period_s) as f32;
        }
        let anchor = GpuTime::within(anchor_s, epoch_s).ok_or(CpuReason::Range)?;
        play.anchor = anchor.words();
        // The time of the tick, not that which was rounded to it.
        let unwrapped_s = record.unwrapped_s(clock.local_s(anchor.seconds(epoch_s)));
        let cycle_s = record.loop_mode().cycle_time_s(unwrapped_s, duration_s);
        play.phase = words(part_of(cycle_s, period_s));
        play.set_rate(speed, period_s)?;
        play.mode = if is_loop { 0 } else { PING_PONG };
        Ok(play)
    }

    fn set_weight(
        &mut self,
        record: &PlayRecord,
        clock: &Clock,
        local_s: f64,
        epoch_s: f64,
    ) -> Result<(), CpuReason> {
        let weight = record.weight_at(local_s);
        if clock.rate() == 0.0 || record.fade_end_s() <= local_s {
            (self.from_weight, self.to_weight) = (weight, weight);
            return Ok(());
        }
        let start_s = clock.animator_s(record.fade_start_s);
        let start = GpuTime::within(start_s, epoch_s).ok_or(CpuReason::Range)?;
        self.fade_start = start.words();
        self.fade_s = (f64::from(record.fade_s) / clock.rate()) as f32;
        (self.from_weight, self.to_weight) = (record.from_weight, record.to_weight);
        Ok(())
    }

    fn set_rate(&mut self, speed: f64, period_s: f64) -> Result<(), CpuReason> {
        let rate = ratio(speed, period_s).ok_or(CpuReason::Range)?;
        (self.rate, self.whole_rate) = (words(rate as u64), (rate >> 64) as i32);
        Ok(())
    }

    /// The position in the clip at a time, in intervals between frames: bit for bit what shaders
    /// compute, unless the speed is changing.
    ///
    /// `clip` is the clip that the record plays. The first frame is at 0.
    #[must_use]
    pub fn position(&self, clip: &Clip, now: GpuTime) -> f64 {
        let timing = &clip.timing;
        let position = self.fixed_position(now, fixed(timing.end_s * timing.rate));
        let start = fixed(timing.start_s * timing.rate);
        position.saturating_sub(start) as f64 / 4_294_967_296.0
    }

    fn fixed_position(&self, now: GpuTime, span: u64) -> u64 {
        if self.mode == STILL {
            return whole(self.phase);
        }
        let since = whole(now.words()).wrapping_sub(whole(self.anchor));
        let phase = (self.phase_at(since) >> 32) as u32;
        if self.mode == PING_PONG {
            let position = high_product(phase, 2 * span);
            return position.min(2 * span - position);
        }
        if self.mode == ONCE {
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
        // The product with negative seconds, of which the lower 64 bits count.
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

/// Converts the records of an actor.
pub(crate) fn convert<'c>(
    records: &[PlayRecord],
    clip: impl Fn(&PlayRecord) -> Option<&'c Clip>,
    clock: &Clock,
    (now_s, epoch_s): (f64, f64),
    out: &mut Vec<GpuPlay>,
) -> Result<(), CpuReason> {
    let local_s = clock.local_s(now_s);
    // Those that have faded out, or never had a weight, are not seen again.
    let seen = records.iter().filter(|record| {
        let comes = record.to_weight > 0.0 || record.fade_end_s() > local_s;
        comes || record.weight_at(local_s) > 0.0
    });
    for (number, record) in seen.enumerate() {
        if record.has(PlayRecord::FLAG_POSE) {
            return Err(CpuReason::OwnPose);
        }
        if number == MAX_PLAYS {
            return Err(CpuReason::Plays);
        }
        let Some(clip) = clip(record) else { continue };
        if !clip.kept.is_empty() {
            return Err(CpuReason::KeptCurves);
        }
        out.push(GpuPlay::new(record, clip, clock, (now_s, epoch_s))?);
    }
    Ok(())
}
