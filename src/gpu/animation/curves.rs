//! Curves as words for `shaders/include/clip.glsl`: keys at times of their own.

use super::time::{fixed, words};
use super::words::{pad, row_of};
use crate::clip::{Interpolation, Keys, Timing, is_opposite};
use glam::{Quat, Vec3};
use std::borrow::Cow;

/// Ticks by which a key counts as reached too early. A position in a clip is rounded down to 2⁻³²
/// of the clip, and a clip that stands at the time of a step must have taken it.
const EARLY_TICKS: u64 = 4;

/// A curve.
pub(super) struct Curve<'a> {
    pub(super) times_s: &'a [f32],
    pub(super) interpolation: Interpolation,
    /// Numbers of a value: one row of joints' values, or one for each of several morph weights.
    pub(super) width: usize,
    /// One value for each key, or three: tangent, value, tangent. Tangents are per second.
    pub(super) values: Cow<'a, [f32]>,
}

impl Curve<'_> {
    /// Rotations that are interpolated linearly are in the half space of the one before.
    pub(super) fn of_rotations(keys: &Keys<Quat>) -> Curve<'_> {
        let mut before = keys.values.first().copied().unwrap_or(Quat::IDENTITY);
        let aligned = keys.values.iter().map(|key| {
            let turn = keys.interpolation == Interpolation::Linear && is_opposite(before, *key);
            before = if turn { -*key } else { *key };
            before.to_array()
        });
        Curve::of(keys, aligned.flatten().collect())
    }

    pub(super) fn of_vectors(keys: &Keys<Vec3>) -> Curve<'_> {
        let rows = keys.values.iter().map(|key| key.extend(0.0).to_array());
        Curve::of(keys, rows.flatten().collect())
    }

    fn of<T>(keys: &Keys<T>, values: Vec<f32>) -> Curve<'_> {
        Curve {
            times_s: &keys.times_s,
            interpolation: keys.interpolation,
            width: 4,
            values: values.into(),
        }
    }
}

/// Adds a curve of a clip with this timing. Returns the row of its header: interpolation, number of
/// keys, first words of times and of values. Tangents are per interval between their keys.
pub(super) fn push_curve(out: &mut Vec<u32>, curve: &Curve<'_>, timing: &Timing) -> u32 {
    let (times_s, width) = (curve.times_s, curve.width);
    pad(out);
    let values_at = out.len() as u32;
    let length_s = |key: usize| match times_s.get(key..key + 2) {
        Some([from, to]) => to - from,
        _ => 0.0,
    };
    for (number, value) in curve.values.chunks_exact(width.max(1)).enumerate() {
        let (key, part) = (number / 3, number % 3);
        let by = match (curve.interpolation, part) {
            (Interpolation::CubicSpline, 0) => key.checked_sub(1).map_or(0.0, length_s),
            (Interpolation::CubicSpline, 2) => length_s(key),
            _ => 1.0,
        };
        out.extend(value.iter().map(|value| (value * by).to_bits()));
    }
    pad(out);
    let times_at = out.len() as u32;
    let steps = timing.steps_per_s();
    let early = EARLY_TICKS + (timing.end_s * steps) as u64;
    out.extend(times_s.iter().flat_map(|time_s| {
        let ticks = fixed(f64::from(*time_s) * steps);
        words(ticks.saturating_sub(early))
    }));
    pad(out);
    let at = row_of(out);
    let kind = curve.interpolation as u32;
    out.extend([kind, times_s.len() as u32, times_at, values_at]);
    at
}
