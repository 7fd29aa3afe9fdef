//! Clips that change something over time, and clips that hold one pose.

use super::components::{Property, components};
use super::curve::CurveClip;
use super::packed::{Block, Clip};
use super::track::{Track, WeightTrack};
use super::weights::WeightKeys;
use crate::simd::WIDTH;
use crate::skeleton::Transform;

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
    let [a, b] = [a, b].map(components);
    let differs = |property: Property| !same(&a[property.range()], &b[property.range()], property);
    Property::ALL.into_iter().any(differs)
}

/// True if all numbers are the same. A quaternion and its negative are one rotation.
fn same(a: &[f32], b: &[f32], property: Property) -> bool {
    let near = |sign: f32| a.iter().zip(b).all(|(a, b)| (a - sign * b).abs() <= STILL);
    near(1.0) || property == Property::Rotation && near(-1.0)
}

impl Track {
    /// Returns true if the track changes its property over time.
    pub(crate) fn moves(&self) -> bool {
        let property = self.values.property();
        self.values.numbers().change(|a, b| same(a, b, property))
    }
}

fn weights_move(track: &WeightTrack) -> bool {
    track.numbers().change(|a, b| same(a, b, Property::Scale))
}
