//! Clips that change something over time, and clips that hold one pose.

use super::curve::{CurveClip, Interpolation, Keys, Track, TrackValues, WeightTrack};
use super::packed::{Block, Clip};
use super::weights::WeightKeys;
use crate::simd::WIDTH;
use crate::skeleton::Transform;
use glam::{Quat, Vec3};

/// The largest change of a number that counts as none. Exporters and packing round.
const STILL: f32 = 1e-5;

/// The flags of blocks whose rotations, translations or scales move.
const MOVING: u8 = Block::MOVES * 0b111;

impl CurveClip {
    /// Returns true if the clip changes something over time.
    ///
    /// False for a clip without tracks, and for one that holds one pose. Numbers that change by at
    /// most 10⁻⁵ do not count.
    pub(crate) fn moves(&self) -> bool {
        let mut tracks = self.tracks().iter();
        let mut weights = self.weight_tracks().iter();
        tracks.any(Track::moves) || weights.any(weights_move)
    }
}

impl Clip {
    /// Returns true if the clip changes something over time.
    ///
    /// False for a clip without tracks, and for one that holds one pose. Numbers that change by at
    /// most 10⁻⁵ do not count.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.kept.iter().any(Track::moves)
            || self.weights.iter().any(|weights| match weights {
                WeightKeys::Even(even) => even.columns.iter().any(|column| column.width > 0),
                WeightKeys::Curve(track) => weights_move(track),
            })
            || self.keys_move()
    }

    /// True if keys of a joint differ. Most clips that move do so within a few keys.
    fn keys_move(&self) -> bool {
        let moving = |joint: &usize| self.blocks[joint / WIDTH].flags & MOVING != 0;
        let joints: Vec<usize> = (0..self.joints()).filter(moving).collect();
        if joints.is_empty() {
            return false;
        }
        let times_s = self.key_times();
        let start = self.timing.moment(0.0);
        times_s.into_iter().any(|time_s| {
            let moment = self.timing.moment(time_s);
            let mut joints = joints.iter();
            joints.any(|joint| differ(&self.even(&start, *joint), &self.even(&moment, *joint)))
        })
    }
}

/// True if a part of two transforms differs.
fn differ(a: &Transform, b: &Transform) -> bool {
    !(same_vector(&a.translation, &b.translation)
        && same_rotation(&a.rotation, &b.rotation)
        && same_vector(&a.scale, &b.scale))
}

fn same_vector(a: &Vec3, b: &Vec3) -> bool {
    a.abs_diff_eq(*b, STILL)
}

/// A quaternion and its negative are one rotation.
fn same_rotation(a: &Quat, b: &Quat) -> bool {
    a.abs_diff_eq(*b, STILL) || a.abs_diff_eq(-*b, STILL)
}

impl Track {
    /// Returns true if the track changes its property over time.
    pub(crate) fn moves(&self) -> bool {
        let zero = Quat::from_array([0.0; 4]);
        match &self.values {
            TrackValues::Translation(keys) | TrackValues::Scale(keys) => {
                change(keys, 1, same_vector, Vec3::ZERO)
            }
            TrackValues::Rotation(keys) => change(keys, 1, same_rotation, zero),
        }
    }
}

fn weights_move(track: &WeightTrack) -> bool {
    let numbers = |a: &f32, b: &f32| (a - b).abs() <= STILL;
    change(&track.keys, track.count as usize, numbers, 0.0)
}

/// True if keys of `width` values each differ, or are joined by a spline that leaves them.
fn change<T>(keys: &Keys<T>, width: usize, same: impl Fn(&T, &T) -> bool, zero: T) -> bool {
    if keys.times_s.len() < 2 {
        return false;
    }
    let is_spline = keys.interpolation == Interpolation::CubicSpline;
    let mut rows = keys.values.chunks_exact(width.max(1));
    if !is_spline {
        let Some(first) = rows.next() else {
            return false;
        };
        return rows.any(|row| row.iter().zip(first).any(|(a, b)| !same(a, b)));
    }
    // In-tangents, values, out-tangents.
    let Some(first) = rows.clone().nth(1) else {
        return false;
    };
    rows.enumerate().any(|(number, row)| match number % 3 {
        1 => row.iter().zip(first).any(|(a, b)| !same(a, b)),
        _ => row.iter().any(|tangent| !same(tangent, &zero)),
    })
}
