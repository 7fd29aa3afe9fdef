//! The scales that joints may have, over all clips that a character ever had.

use crate::bytes::save_structs;
use crate::clip::{CurveClip, Interpolation, Keys, TrackValues};
use crate::skeleton::{NO_PARENT, Skeleton};
use glam::{DVec3, Vec3};

/// The signs that a number may have.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Signs {
    pub(super) negative: bool,
    zero: bool,
    pub(super) positive: bool,
}

impl Signs {
    pub(super) fn of(value: f64) -> Self {
        Self::between(value, value)
    }

    fn between(least: f64, greatest: f64) -> Self {
        Self {
            negative: least < 0.0,
            zero: least <= 0.0 && greatest >= 0.0,
            positive: greatest > 0.0,
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self {
            negative: self.negative && other.positive || self.positive && other.negative,
            zero: self.zero || other.zero,
            positive: self.positive && other.positive || self.negative && other.negative,
        }
    }
}

/// The scales that the joints may have: at rest, and in the curves of all clips that the character
/// ever had.
///
/// They are collected while the curves are available, because packed clips only approximate them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScaleRanges {
    /// One per joint.
    joints: Vec<ScaleRange>,
}

#[derive(Debug, Clone, PartialEq)]
struct ScaleRange {
    hull: Hull,
    /// True if a clip drives the scale.
    driven: bool,
}

save_structs! {
    ScaleRanges { joints }
    ScaleRange { hull, driven }
    Hull { least, greatest }
}

impl ScaleRanges {
    /// The number of joints.
    pub(crate) fn len(&self) -> usize {
        self.joints.len()
    }

    /// The scales of the rest pose.
    pub(crate) fn at_rest(skeleton: &Skeleton) -> Self {
        let rest = skeleton.joints().iter().map(|joint| joint.rest.scale);
        let range = |scale: Vec3| ScaleRange {
            hull: Hull::EMPTY.with(scale.as_dvec3()),
            driven: false,
        };
        Self {
            joints: rest.map(range).collect(),
        }
    }

    /// Extends the ranges by the scales of these clips, which drive only joints of the skeleton.
    pub(crate) fn add(&mut self, clips: &[CurveClip]) {
        for track in clips.iter().flat_map(CurveClip::tracks) {
            if let TrackValues::Scale(keys) = &track.values
                && let Some(range) = self.joints.get_mut(usize::from(track.joint))
            {
                range.hull = range.hull.with_keys(keys);
                range.driven = true;
            }
        }
    }

    /// For each joint, true if a clip drives its scale.
    pub(crate) fn driven(&self) -> impl Iterator<Item = bool> {
        self.joints.iter().map(|range| range.driven)
    }

    /// The signs that the determinant of each joint's model matrix may have.
    pub(super) fn chain_signs(&self, skeleton: &Skeleton) -> Vec<Signs> {
        let mut signs: Vec<Signs> = Vec::with_capacity(self.joints.len());
        for (joint, range) in skeleton.joints().iter().zip(&self.joints) {
            let own = range.hull.product_signs();
            signs.push(if joint.parent_index() == NO_PARENT {
                own
            } else {
                signs[usize::from(joint.parent_index())].times(own)
            });
        }
        signs
    }
}

/// The range of a scale, by component.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hull {
    least: DVec3,
    greatest: DVec3,
}

impl Hull {
    const EMPTY: Self = Self {
        least: DVec3::INFINITY,
        greatest: DVec3::NEG_INFINITY,
    };

    fn with(self, scale: DVec3) -> Self {
        Self {
            least: self.least.min(scale),
            greatest: self.greatest.max(scale),
        }
    }

    /// Extends the hull by all values that the keys interpolate. A cubic segment lies in the hull
    /// of its Bézier control points, which are its ends and two more, a third of its length along
    /// the tangents.
    fn with_keys(mut self, keys: &Keys<Vec3>) -> Self {
        if keys.interpolation != Interpolation::CubicSpline {
            let values = keys.values.iter().map(|value| value.as_dvec3());
            return values.fold(self, Self::with);
        }
        let (keyed, _) = keys.values.as_chunks::<3>();
        for [_, value, _] in keyed {
            self = self.with(value.as_dvec3());
        }
        for (key, time) in keyed.windows(2).zip(keys.times_s.windows(2)) {
            let third = (f64::from(time[1]) - f64::from(time[0])) / 3.0;
            let ([_, from, out], [next_in, to, _]) = (key[0], key[1]);
            self = self.with(from.as_dvec3() + out.as_dvec3() * third);
            self = self.with(to.as_dvec3() - next_in.as_dvec3() * third);
        }
        self
    }

    fn product_signs(self) -> Signs {
        let axis = |at: usize| Signs::between(self.least[at], self.greatest[at]);
        axis(0).times(axis(1)).times(axis(2))
    }
}
