//! Ground speed: the playback speed at which the feet of blended clips do not slide.

use super::playback::cycle_duration_s;
use glam::DVec3;

/// The limits of [`playback_speed`] if a description has none.
pub(crate) const SPEED_LIMITS: [f32; 2] = [0.5, 2.0];

/// A clip of a blend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stride {
    pub(crate) weight: f32,
    pub(crate) duration_s: f64,
    /// The velocity over the ground at speed 1, in metres of character space per second.
    pub(crate) velocity: DVec3,
}

/// The playback speed at which a blend moves over the ground at `wanted_m_s`.
///
/// Clips of a blend share a phase. In one cycle, clip `i` of duration `d` covers the stride
/// `v_i · d_i`, so the blend covers `Σ w_i · v_i · d_i`. At speed 1, that takes the duration of a
/// cycle. The result is the wanted speed divided by the speed of the blend, within the limits. It
/// is 1 for a blend that does not move over the ground.
pub(crate) fn playback_speed(
    strides: [Stride; 3],
    wanted_m_s: f64,
    [least, most]: [f64; 2],
) -> f64 {
    let cycle_s = cycle_duration_s(strides.map(|stride| (stride.weight, stride.duration_s)));
    let covered = strides
        .iter()
        .map(|stride| stride.velocity * (f64::from(stride.weight) * stride.duration_s));
    let speed = wanted_m_s.abs() * cycle_s / covered.sum::<DVec3>().length();
    // A blend that does not move divides by 0, also if no speed is wanted.
    match cycle_s > 0.0 && speed.is_finite() {
        true => speed.clamp(least, most),
        false => 1.0,
    }
}
