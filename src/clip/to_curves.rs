//! Packed clips as curves again: a key for each frame.

use super::components::Property;
use super::components::components;
use super::curve::CurveClip;
use super::packed::Clip;
use super::track::{Interpolation, Keys, Track, TrackValues, WeightTrack};
use super::weights::{EvenWeights, WeightKeys};
use crate::error::Result;
use crate::id::Id;
use crate::simd::WIDTH;
use crate::skeleton::{Skeleton, Transform};

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
        let times_s: Vec<f64> = self.timing.times_s().collect();
        let mut tracks = self.kept.clone();
        for joint in 0..self.rest.len() {
            let kept = self.kept_of(joint..joint + 1);
            for property in Property::ALL {
                let is_kept = kept.iter().any(|track| track.values.property() == property);
                if !is_kept && !self.blocks[joint / WIDTH].rests(property) {
                    tracks.extend(self.track(joint, property, &times_s));
                }
            }
        }
        let weights = self.weights.iter().map(|keys| match keys {
            WeightKeys::Curve(track) => track.clone(),
            WeightKeys::Even(even) => weight_track(even),
        });
        let weights = weights.collect();
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
        let (first, width) = (property.first(), property.len());
        let numbers = |pose| components(pose).into_iter().skip(first).take(width);
        let values: Vec<f32> = poses.iter().flat_map(numbers).collect();
        let constant = &values[..width];
        let keys = if values.chunks_exact(width).any(|value| value != constant) {
            match property {
                Property::Rotation => self.rotations(joint, times_s, &poses),
                _ => linear(times_s, &values, width),
            }
        } else if numbers(&self.at_rest(joint)).eq(constant.iter().copied()) {
            return None;
        } else {
            linear(&times_s[..1], constant, width)
        };
        Some(Track {
            joint: Id::new(joint as u16),
            values: TrackValues::of_numbers(property, keys),
        })
    }

    /// Rotations on all frames, and between those that are far apart.
    fn rotations(&self, joint: usize, times_s: &[f64], poses: &[Transform]) -> Keys<f32> {
        let (mut times, mut all) = (Vec::new(), Vec::new());
        for (key, (time_s, value)) in times_s.iter().zip(poses).enumerate() {
            let value = value.rotation;
            times.push(*time_s);
            all.push(value);
            let Some((next, next_s)) = poses.get(key + 1).zip(times_s.get(key + 1)) else {
                continue;
            };
            let next = next.rotation;
            let parts = if value.dot(next) < LEAST_COSINE {
                1..PARTS
            } else {
                0..0
            };
            for part in parts {
                let time_s = time_s + (next_s - time_s) * part as f64 / PARTS as f64;
                times.push(time_s);
                let between = self.even(&self.timing.moment(time_s), joint).rotation;
                // The same sign as the keys around it.
                let near = if part * 2 < PARTS { value } else { next };
                let sign = if between.dot(near) < 0.0 { -1.0 } else { 1.0 };
                all.push(between * sign);
            }
        }
        let units = all
            .iter()
            .map(|value| value.as_dquat().normalize().as_quat());
        let numbers: Vec<f32> = units.flat_map(|value| value.to_array()).collect();
        linear(&times, &numbers, 4)
    }
}

/// Linear keys of `width` values each, without those whose times round to that of the one before.
fn linear(times_s: &[f64], values: &[f32], width: usize) -> Keys<f32> {
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
    let values: Vec<f32> = values.collect();
    let times_s: Vec<f64> = even.timing.times_s().collect();
    WeightTrack {
        first_weight: even.first_weight,
        count: width as u32,
        keys: linear(&times_s, &values, width),
    }
}
