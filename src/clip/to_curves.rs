//! Packed clips as curves again: a key for each frame.

use super::curve::{CurveClip, Interpolation, Keys, Track, TrackValues, WeightTrack};
use super::frames::driven;
use super::packed::{Clip, Property};
use super::timing::Timing;
use super::weights::{EvenWeights, WeightKeys};
use crate::error::Result;
use crate::id::Id;
use crate::simd::WIDTH;
use crate::skeleton::{Skeleton, Transform};
use glam::{DQuat, Quat, Vec3};

/// Least dot product of two rotations between which a packed clip and a curve agree: a sixteenth of
/// a turn. Packed rotations are not exactly of unit length, so the speed of their interpolation
/// varies, the more the further they are apart. Measured at this angle: by up to 0.05 of the bound
/// of packing; at an eighth of a turn, by up to 0.23 of it.
const LEAST_COSINE: f32 = 0.98;
/// The number of intervals that take the place of one between rotations further apart. Measured for
/// a quarter of a turn: they differ by 3e-6 rad then, and by 1e-4 rad without.
const PARTS: usize = 16;

impl Clip {
    /// The clip as curves that have its values on all frames.
    ///
    /// Between frames they differ by rounding. Properties at rest have no track, those that do not
    /// change have one from the start of the clip to its end, and kept tracks are copied. For an
    /// additive clip, the curves are differences. The character has `morph_weights` morph weights.
    ///
    /// ```
    /// let character = throng::builtin::mannequin()?.character;
    /// let clip = &character.clips()[0];
    /// let weights = character.morph_weights().len();
    /// let curves = clip.to_curves(character.skeleton(), weights)?;
    /// assert_eq!(curves.duration_s(), clip.duration_s() as f32);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`CurveClip::new`], if the clip was not made for the skeleton.
    pub fn to_curves(&self, skeleton: &Skeleton, morph_weights: usize) -> Result<CurveClip> {
        let times_s = times(&self.timing);
        let mut tracks = self.kept.clone();
        for joint in 0..self.rest.len() {
            let kept = self.kept_of(joint..joint + 1);
            for property in Property::ALL {
                let is_kept = kept.iter().any(|track| driven(track) == property);
                if !is_kept && !self.blocks[joint / WIDTH].rests(property) {
                    tracks.extend(self.track(joint, property, &times_s));
                }
            }
        }
        let mut weights = Vec::with_capacity(self.weights.len());
        for keys in &self.weights {
            weights.push(match keys {
                WeightKeys::Curve(track) => track.clone(),
                WeightKeys::Even(even) => weight_track(even),
            });
        }
        let curves = CurveClip::new(&self.name, tracks, skeleton)?;
        let curves = curves.with_weight_tracks(weights, morph_weights)?;
        curves.with_range(self.timing.start_s as f32, self.timing.end_s as f32)
    }

    /// The track of a property, unless it is at rest on all frames.
    fn track(&self, joint: usize, property: Property, times_s: &[f64]) -> Option<Track> {
        let poses = times_s
            .iter()
            .map(|time_s| self.even(&self.timing.moment(*time_s), joint));
        let poses: Vec<Transform> = poses.collect();
        let values = match property {
            Property::Translation => {
                let rest = self.at_rest(joint).translation;
                let values = poses.iter().map(|pose| pose.translation).collect();
                TrackValues::Translation(vectors(times_s, values, rest)?)
            }
            Property::Scale => {
                let rest = self.at_rest(joint).scale;
                let values = poses.iter().map(|pose| pose.scale).collect();
                TrackValues::Scale(vectors(times_s, values, rest)?)
            }
            Property::Rotation => {
                let rest = self.at_rest(joint).rotation;
                let values = poses.iter().map(|pose| pose.rotation).collect();
                TrackValues::Rotation(self.rotations(joint, times_s, values, rest)?)
            }
        };
        Some(Track {
            joint: Id::new(joint as u16),
            values,
        })
    }

    /// Rotations on all frames, and between those that are far apart.
    fn rotations(
        &self,
        joint: usize,
        times_s: &[f64],
        values: Vec<Quat>,
        rest: Quat,
    ) -> Option<Keys<Quat>> {
        if values.iter().all(|value| *value == values[0]) {
            return constant(times_s, values[0], rest);
        }
        let (mut times, mut all) = (Vec::new(), Vec::new());
        for (key, (time_s, value)) in times_s.iter().zip(&values).enumerate() {
            times.push(*time_s);
            all.push(*value);
            let next = values.get(key + 1).zip(times_s.get(key + 1));
            if let Some((next, next_s)) = next.filter(|(next, _)| value.dot(**next) < LEAST_COSINE)
            {
                for part in 1..PARTS {
                    let time_s = time_s + (next_s - time_s) * part as f64 / PARTS as f64;
                    times.push(time_s);
                    let between = self.even(&self.timing.moment(time_s), joint).rotation;
                    // The same sign as the keys around it.
                    let near = if part * 2 < PARTS { value } else { next };
                    all.push(if between.dot(*near) < 0.0 {
                        -between
                    } else {
                        between
                    });
                }
            }
        }
        let unit = |value: Quat| {
            let wide = DQuat::from_array(value.to_array().map(f64::from)).normalize();
            wide.as_quat()
        };
        Some(linear(&times, all.into_iter().map(unit).collect(), 1))
    }
}

fn times(timing: &Timing) -> Vec<f64> {
    (0..timing.frames)
        .map(|frame| timing.time_s(frame))
        .collect()
}

fn vectors(times_s: &[f64], values: Vec<Vec3>, rest: Vec3) -> Option<Keys<Vec3>> {
    if values.iter().all(|value| *value == values[0]) {
        return constant(times_s, values[0], rest);
    }
    Some(linear(times_s, values, 1))
}

/// One key for a value that does not change. `None` if it is that of the rest pose.
fn constant<T: PartialEq>(times_s: &[f64], value: T, rest: T) -> Option<Keys<T>> {
    let times_s = times_s.first().map(|time_s| *time_s as f32);
    (value != rest).then(|| Keys {
        times_s: times_s.into_iter().collect(),
        values: vec![value],
        interpolation: Interpolation::Linear,
    })
}

/// Linear keys of `width` values each, without those whose times round to that of the one before.
fn linear<T: Copy>(times_s: &[f64], values: Vec<T>, width: usize) -> Keys<T> {
    let mut keys = Keys {
        times_s: Vec::with_capacity(times_s.len()),
        values: Vec::with_capacity(values.len()),
        interpolation: Interpolation::Linear,
    };
    for (time_s, value) in times_s.iter().zip(values.chunks_exact(width)) {
        let time_s = *time_s as f32;
        if keys.times_s.last().is_none_or(|last| *last < time_s) {
            keys.times_s.push(time_s);
            keys.values.extend_from_slice(value);
        }
    }
    keys
}

fn weight_track(even: &EvenWeights) -> WeightTrack {
    let width = even.columns.len();
    let frames = 0..even.timing.frames;
    let values = frames.flat_map(|frame| even.columns.iter().map(move |c| even.key(frame, c)));
    WeightTrack {
        first_weight: even.first_weight,
        count: width as u32,
        keys: linear(&times(&even.timing), values.collect(), width),
    }
}
