//! Evaluates the file's curves: a time → local pose and morph weights.

use super::components::{COMPONENTS, components};
use super::curve::CurveClip;
use super::track::{Interpolation, Keys, Track, TrackValues, WeightTrack, is_opposite};
use crate::error::{Result, expect_index};
use crate::id::Id;
use crate::mesh::MorphWeight;
use crate::skeleton::Transform;
use core::ops::{Add, Mul};
use glam::{Quat, Vec3, Vec4};
use std::ops::Range;

impl CurveClip {
    /// Samples the curves at `time_s` into `local`, one transform per joint.
    ///
    /// Only the properties that the curves drive are overwritten, so fill `local` with the rest
    /// pose first.
    ///
    /// `time_s` is the time in the clip, in seconds. Before its first key, a track holds the value
    /// of that key; after its last key, the value of the last. NaN counts as 0.
    ///
    /// Interpolation follows glTF 2.0 (appendix C): step, linear with rotations on the shortest arc
    /// of the sphere, and cubic Hermite splines with rotations normalised afterwards.
    ///
    /// ```
    /// use throng::import::{ImportOptions, RawCharacter};
    ///
    /// let options = ImportOptions { curves: true, ..ImportOptions::default() };
    /// let character = RawCharacter::mannequin().build(&options)?.character;
    /// let walk = &character.curves()[character.clip("Walk")?.index()];
    /// let mut local = character.skeleton().rest_pose();
    /// walk.sample(0.25, &mut local)?;
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::Error::NotFound) if the clip drives a joint that `local` does not
    /// have. Nothing is written then.
    pub fn sample(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        // Tracks are sorted by joint, so if the last track's joint exists, all do.
        if let Some(last) = self.tracks().last() {
            expect_index("joint", last.joint.into(), local.len())?;
        }
        animate_tracks(self.tracks(), time_s, 0, local);
        Ok(())
    }
}

/// Overwrites the properties that `tracks` drive in `local`.
///
/// `local` starts at joint number `first` and contains the joints of all tracks. `time_s` is not
/// NaN.
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

impl Track {
    /// The components of the property at a time, which is not NaN, and others of the identity.
    pub(crate) fn at(&self, time_s: f64) -> [f32; COMPONENTS] {
        let mut one = [Transform::IDENTITY];
        let track = core::slice::from_ref(self);
        animate_tracks(track, time_s, self.joint.into(), &mut one);
        components(&one[0])
    }
}

/// A time, and the key found in the previous track, because most tracks share their key times.
pub(crate) struct Playhead {
    pub(crate) time_s: f64,
    pub(crate) key: usize,
}

/// Position of a time among the keys: on a key (or past either end), or between two keys.
pub(crate) enum Span {
    At(usize),
    Between { from: usize, u: f32, length_s: f32 },
}

pub(crate) fn find(times_s: &[f32], at: &mut Playhead) -> Span {
    let time_s = at.time_s;
    let reached = |key: &f32| f64::from(*key) <= time_s;
    // The last key that is not later than the time.
    let from = match times_s.get(at.key..) {
        Some([key, next, ..]) if reached(key) && !reached(next) => Some(at.key),
        _ => times_s.partition_point(reached).checked_sub(1),
    };
    let Some(from) = from else {
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

fn sample<T>(keys: &Keys<T>, at: &mut Playhead, linear: fn(T, T, f32) -> T) -> T
where
    T: Copy + Add<Output = T> + Mul<f32, Output = T>,
{
    let span = find(&keys.times_s, at);
    interpolate(keys.interpolation, &span, linear, |row| keys.values[row])
}

/// The value of a curve, from its values: one per key, or three for splines.
#[inline(always)]
fn interpolate<T>(
    interpolation: Interpolation,
    span: &Span,
    linear: impl Fn(T, T, f32) -> T,
    value: impl Fn(usize) -> T,
) -> T
where
    T: Copy + Add<Output = T> + Mul<f32, Output = T>,
{
    match (interpolation, span) {
        (Interpolation::CubicSpline, Span::At(key)) => value(key * 3 + 1),
        (_, Span::At(key)) | (Interpolation::Step, Span::Between { from: key, .. }) => value(*key),
        (Interpolation::Linear, Span::Between { from, u, .. }) => {
            linear(value(*from), value(from + 1), *u)
        }
        (Interpolation::CubicSpline, Span::Between { from, u, length_s }) => {
            let [before, out] = [value(from * 3 + 1), value(from * 3 + 2)];
            let [next_in, next] = [value(from * 3 + 3), value(from * 3 + 4)];
            hermite(before, out, next_in, next, *u, *length_s)
        }
    }
}

/// Cubic Hermite spline of glTF 2.0, appendix C.5. Tangents are per second.
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

/// Spherical interpolation on the shortest arc. The length is only nearly 1; [`unit`] fixes that.
///
/// The angle is computed from the chord between the keys. This stays exact near 0 and near a right
/// angle, where the inverse cosine does not.
fn slerp(from: Quat, to: Quat, u: f32) -> Quat {
    let to = if is_opposite(from, to) { -to } else { to };
    let chord_squared = (to - from).length_squared();
    if chord_squared < 1e-12 {
        return from * (1.0 - u) + to * u;
    }
    let angle = angle_of_chord(chord_squared);
    from * sin((1.0 - u) * angle) + to * sin(u * angle)
}

// For one joint, each step depends on the previous one. These two sums evaluate their powers in
// parallel (Estrin's scheme) to shorten the dependency chain.

/// Computes 2 · arcsin(√w / 2) for `w` in 0..=2: the arc over a chord of the unit circle.
///
/// The polynomial is a minimax fit of the relative error, which is 1.6e-8; with rounding, 1.3e-7.
fn angle_of_chord(w: f32) -> f32 {
    let w2 = w * w;
    let low = (4.680_319e-3 * w + 4.166_726_4e-2) + w2 * (6.411_459_6e-5 * w + 7.265_389e-4);
    let high = (-2.258_228e-5 * w + 7.509_257_6e-5) + w2 * 6.789_639e-6;
    let chord = w.sqrt();
    chord + chord * (w * (low + w2 * w2 * high))
}

/// Sine of `x` in 0..=π/2.
///
/// The polynomial is a minimax fit of the relative error, which is 6.1e-9; with rounding, 1.1e-7.
fn sin(x: f32) -> f32 {
    let z = x * x;
    let low = 8.333_066e-3 * z - 0.166_666_6;
    let high = 2.605_780_6e-6 * z - 1.980_960_3e-4;
    x + (x * z) * (low + z * z * high)
}

/// Normalises `q`.
///
/// A spline may pass through zero, where no direction exists; the result is then the identity. If
/// the square of the length would overflow or underflow, `q` is scaled first.
fn unit(q: Quat) -> Quat {
    const SQUARE: Range<f32> = 1e-30..1e30;
    if SQUARE.contains(&q.length_squared()) {
        return q.normalize();
    }
    let numbers = Vec4::from(q);
    let scaled = Quat::from_vec4(numbers / numbers.abs().max_element());
    if SQUARE.contains(&scaled.length_squared()) {
        scaled.normalize()
    } else {
        Quat::IDENTITY
    }
}

impl CurveClip {
    /// Samples the morph weights at `time_s` and passes each to `each`.
    ///
    /// `each` gets the id and the value of every weight that the clip drives, in ascending order.
    ///
    /// `time_s` is the time in the clip, in seconds. Before its first key, a track holds the value
    /// of that key; after its last key, the value of the last. NaN counts as 0.
    ///
    /// Interpolation follows glTF 2.0 (appendix C), for each weight separately: step, linear, and
    /// cubic Hermite splines. On a key, the result is exactly the value of that key.
    pub fn sample_weights(&self, time_s: f64, mut each: impl FnMut(Id<MorphWeight>, f32)) {
        let time_s = if time_s.is_nan() { 0.0 } else { time_s };
        let at = &mut Playhead { time_s, key: 0 };
        for track in self.weight_tracks() {
            let range = weight_range(track);
            sample_weights(track, at, 0..range.len(), |number, value| {
                each(Id::new((range.start + number) as u16), value);
            });
        }
    }
}

pub(super) fn weight_range(track: &WeightTrack) -> Range<usize> {
    let first = track.first_weight.index();
    first..first + track.count as usize
}

/// Samples the weights of a track that lie in a range and passes them to `each`.
///
/// Indices count from the track's first weight. The time is not NaN.
pub(super) fn sample_weights(
    track: &WeightTrack,
    at: &mut Playhead,
    which: Range<usize>,
    mut each: impl FnMut(usize, f32),
) {
    let (keys, count) = (&track.keys, track.count as usize);
    let span = find(&keys.times_s, at);
    let linear = |from: f32, to: f32, u: f32| from * (1.0 - u) + to * u;
    for number in which {
        // Rows have one number per weight. There is one row per key, or three for splines.
        let value = |row: usize| keys.values[row * count + number];
        let value = interpolate(keys.interpolation, &span, linear, value);
        each(number, value);
    }
}
