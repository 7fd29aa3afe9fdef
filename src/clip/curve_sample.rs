//! The animate stage of a file's own curves: a time → local pose.

use super::curve::{CurveClip, Interpolation, Keys, Track, TrackValues, is_opposite};
use crate::error::{Error, Result};
use crate::skeleton::Transform;
use core::ops::{Add, Mul};
use glam::{Quat, Vec3};

impl CurveClip {
    /// Samples the curves at `time_s` and overwrites the properties that they drive in `local`,
    /// one transform per joint.
    ///
    /// `time_s` is the clip's own time, in seconds. Before its first key a track holds that key,
    /// after its last key that one. A time that is not a number counts as 0. Properties that no
    /// track drives stay as they are, so fill `local` with the rest pose first.
    ///
    /// Interpolation is that of glTF 2.0 (appendix C): step, linear with rotations on the shortest
    /// arc of the sphere, and cubic Hermite splines with rotations normalised afterwards.
    ///
    /// ```
    /// let options = throng::import::ImportOptions::with_curves();
    /// let character = throng::builtin::mannequin_with(&options)?.character;
    /// let walk = &character.curves()[character.clip("Walk")?.index()];
    /// let mut local = character.skeleton().rest_pose();
    /// walk.sample(0.25, &mut local)?;
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] if the clip drives a joint that `local` does not have; nothing is
    /// written then.
    pub fn sample(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        // Tracks are sorted by joint: if the last one's joint exists, all do.
        if let Some(last) = self.tracks().last()
            && usize::from(last.joint) >= local.len()
        {
            return Err(Error::NotFound {
                what: "joint",
                index: last.joint.into(),
                count: local.len() as u64,
            });
        }
        animate_tracks(self.tracks(), time_s, 0, local);
        Ok(())
    }
}

/// Overwrites what `tracks` drive in `local`, whose first joint is number `first`. Their joints lie
/// in it; the time is a number.
pub(crate) fn animate_tracks(tracks: &[Track], time_s: f64, first: usize, local: &mut [Transform]) {
    let at = &mut Playhead { time_s, key: 0 };
    for track in tracks {
        let joint = &mut local[usize::from(track.joint) - first];
        match &track.values {
            TrackValues::Translation(keys) => joint.translation = sample(keys, at, Vec3::lerp),
            TrackValues::Rotation(keys) => joint.rotation = unit(sample(keys, at, slerp)),
            TrackValues::Scale(keys) => joint.scale = sample(keys, at, Vec3::lerp),
        }
    }
}

/// A time, and the key that it came after in the track before: mostly, tracks share their times.
pub(crate) struct Playhead {
    pub(crate) time_s: f64,
    pub(crate) key: usize,
}

/// Where a time falls among the keys: on one (or past either end), or between two of them.
pub(crate) enum Span {
    At(usize),
    Between { from: usize, u: f32, length_s: f32 },
}

pub(crate) fn find(times_s: &[f32], at: &mut Playhead) -> Span {
    let time_s = at.time_s;
    let Some(from) = last_key(times_s, at) else {
        return Span::At(0);
    };
    at.key = from;
    let start = f64::from(times_s[from]);
    if from + 1 == times_s.len() || start == time_s {
        return Span::At(from);
    }
    let length = f64::from(times_s[from + 1]) - start;
    Span::Between {
        from,
        u: ((time_s - start) / length) as f32,
        length_s: length as f32,
    }
}

/// The last key that is not after the time.
fn last_key(times_s: &[f32], at: &Playhead) -> Option<usize> {
    let reached = |key: &f32| f64::from(*key) <= at.time_s;
    if let Some([key, next, ..]) = times_s.get(at.key..)
        && reached(key)
        && !reached(next)
    {
        return Some(at.key);
    }
    times_s.partition_point(reached).checked_sub(1)
}

fn sample<T>(keys: &Keys<T>, at: &mut Playhead, linear: fn(T, T, f32) -> T) -> T
where
    T: Copy + Add<Output = T> + Mul<f32, Output = T>,
{
    let values = &keys.values;
    match (keys.interpolation, find(&keys.times_s, at)) {
        (Interpolation::CubicSpline, Span::At(key)) => values[key * 3 + 1],
        (_, Span::At(key)) => values[key],
        (Interpolation::Step, Span::Between { from, .. }) => values[from],
        (Interpolation::Linear, Span::Between { from, u, .. }) => {
            linear(values[from], values[from + 1], u)
        }
        (Interpolation::CubicSpline, Span::Between { from, u, length_s }) => {
            let [value, out] = [values[from * 3 + 1], values[from * 3 + 2]];
            let [next_in, next] = [values[from * 3 + 3], values[from * 3 + 4]];
            hermite(value, out, next_in, next, u, length_s)
        }
    }
}

/// The cubic Hermite spline of glTF 2.0, appendix C.5; tangents are per second.
pub(crate) fn hermite<T>(value: T, out: T, next_in: T, next: T, u: f32, length_s: f32) -> T
where
    T: Copy + Add<Output = T> + Mul<f32, Output = T>,
{
    let (u2, u3) = (u * u, u * u * u);
    value * (2.0 * u3 - 3.0 * u2 + 1.0)
        + out * (length_s * (u3 - 2.0 * u2 + u))
        + next * (-2.0 * u3 + 3.0 * u2)
        + next_in * (length_s * (u3 - u2))
}

/// Spherical interpolation on the shortest arc, but for the length, which [`unit`] mends.
///
/// The angle comes from the chord between the keys, which stays exact where the cosine's inverse
/// does not: near 0 and near a right angle.
fn slerp(from: Quat, to: Quat, u: f32) -> Quat {
    let to = if is_opposite(from, to) { -to } else { to };
    let chord_squared = (to - from).length_squared();
    if chord_squared < 1e-12 {
        return from * (1.0 - u) + to * u;
    }
    let angle = angle_of_chord(chord_squared);
    from * sin((1.0 - u) * angle) + to * sin(u * angle)
}

// One joint's steps wait for each other. So that they wait less, the powers in these two sums are
// formed side by side (Estrin's scheme).

/// 2 · arcsin(√w / 2) for `w` in 0..=2: the arc over a chord of the unit circle. The polynomial is
/// a minimax fit of the relative error, which is 1.6e-8; with the rounding, 1.3e-7.
fn angle_of_chord(w: f32) -> f32 {
    let w2 = w * w;
    let low = (4.680_319e-3 * w + 4.166_726_4e-2) + w2 * (6.411_459_6e-5 * w + 7.265_389e-4);
    let high = (-2.258_228e-5 * w + 7.509_257_6e-5) + w2 * 6.789_639e-6;
    let chord = w.sqrt();
    chord + chord * (w * (low + w2 * w2 * high))
}

/// The sine of `x` in 0..=π/2. A minimax fit of the relative error, which is 6.1e-9; with the
/// rounding, 1.1e-7.
fn sin(x: f32) -> f32 {
    let z = x * x;
    let low = 8.333_066e-3 * z - 0.166_666_6;
    let high = 2.605_780_6e-6 * z - 1.980_960_3e-4;
    x + (x * z) * (low + z * z * high)
}

/// `q` at length 1. A spline may pass through zero, where there is no direction to keep: that
/// gives the identity. Lengths whose square overflows or underflows are scaled first.
fn unit(q: Quat) -> Quat {
    const SQUARE: core::ops::Range<f32> = 1e-30..1e30;
    if SQUARE.contains(&q.length_squared()) {
        return q.normalize();
    }
    let largest = q
        .to_array()
        .into_iter()
        .fold(0.0, |max: f32, v| max.max(v.abs()));
    let scaled = Quat::from_array(q.to_array().map(|v| v / largest));
    if SQUARE.contains(&scaled.length_squared()) {
        scaled.normalize()
    } else {
        Quat::IDENTITY
    }
}
