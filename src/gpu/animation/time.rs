//! Time in integers, as shaders compute it. `shaders/include/playback.glsl` has the same functions.

use bytemuck::{Pod, Zeroable};

/// Ticks in a second.
const TICKS_PER_S: f64 = 4_294_967_296.0;

/// The largest distance of a time from the epoch, in seconds: 2²⁹, about 17 years.
const MAX_S: f64 = (1_u64 << 29) as f64;

/// A time for shaders: ticks of 2⁻³² seconds since an epoch.
///
/// The epoch is any time of the animator's clock, such as that of the first frame. It is the same
/// for all [`GpuPlay`](super::GpuPlay)s that a dispatch reads. Times are exact to 0.12 nanoseconds,
/// and may be up to 2²⁹ seconds (17 years) before or after it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct GpuTime {
    /// Low word first.
    words: [u32; 2],
}

impl GpuTime {
    /// The tick next to `now_s`, a time of the animator in seconds.
    ///
    /// Times that are too far from the epoch become the farthest time, and NaN the epoch.
    pub(crate) fn new(now_s: f64, epoch_s: f64) -> Self {
        let since_s = now_s - epoch_s;
        let since_s = if since_s.is_nan() { 0.0 } else { since_s };
        let ticks = (since_s.clamp(-MAX_S, MAX_S) * TICKS_PER_S).round();
        Self::of_ticks(ticks as i64)
    }

    /// The tick next to a time, unless that is too far from the epoch.
    pub(crate) fn within(time_s: f64, epoch_s: f64) -> Option<Self> {
        let fits = (time_s - epoch_s).abs() <= MAX_S;
        fits.then(|| Self::new(time_s, epoch_s))
    }

    /// The time in seconds of the animator's clock.
    pub(crate) fn seconds(&self, epoch_s: f64) -> f64 {
        epoch_s + self.ticks() as f64 / TICKS_PER_S
    }

    pub(super) fn of_ticks(ticks: i64) -> Self {
        Self {
            words: words(ticks as u64),
        }
    }

    /// Ticks since the epoch.
    pub(crate) fn ticks(&self) -> i64 {
        whole(self.words) as i64
    }

    pub(crate) fn words(&self) -> [u32; 2] {
        self.words
    }
}

pub(crate) fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

pub(super) fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// A product of 96 bits without its lowest 32.
pub(super) fn high_product(a: u32, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 32) as u64
}

/// Seconds of a difference of times.
pub(super) fn seconds(ticks: u64) -> f32 {
    let [low, high] = words(ticks);
    (high as i32) as f32 + low as f32 * (1.0 / 4_294_967_296.0)
}

/// A number with 32 binary places. Negative ones become 0.
pub(crate) fn fixed(value: f64) -> u64 {
    (value * TICKS_PER_S).round() as u64
}

/// A part of a whole, in 2⁻⁶⁴.
pub(crate) fn part_of(value: f64, whole: f64) -> u64 {
    const SCALE: f64 = 18_446_744_073_709_551_616.0;
    (value / whole * SCALE) as u64
}

/// A quotient with 64 binary places. `None` if it has more than 30 bits before them.
///
/// A quotient in `f64` has 53 bits. The division of its remainder adds the others.
pub(crate) fn ratio(value: f64, divisor: f64) -> Option<i128> {
    const SCALE: f64 = 18_446_744_073_709_551_616.0;
    let quotient = value / divisor;
    let remainder = (-quotient).mul_add(divisor, value);
    let fits = quotient.abs() < f64::from(1 << 30);
    fits.then(|| (quotient * SCALE) as i128 + (remainder / divisor * SCALE) as i128)
}
