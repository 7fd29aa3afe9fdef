//! Palette entries that a clip may flip: the scales of joints, over all clips that a character
//! ever had, and the signs of determinants that follow.

use crate::bytes::save_structs;
use crate::clip::{CurveClip, Hull, TrackValues};
use crate::mesh::{Model, linear};
use crate::skeleton::{NO_PARENT, Skeleton};
use glam::Vec3;

/// The signs that a number may have.
#[derive(Debug, Clone, Copy, Default)]
struct Signs {
    negative: bool,
    zero: bool,
    positive: bool,
}

impl Signs {
    fn of(value: f64) -> Self {
        Self::between(value, value)
    }

    fn between(least: f64, greatest: f64) -> Self {
        Self {
            negative: least < 0.0,
            zero: least <= 0.0 && greatest >= 0.0,
            positive: greatest > 0.0,
        }
    }

    fn times(self, other: Self) -> Self {
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
    pub(super) joints: Vec<ScaleRange>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScaleRange {
    pub(super) hull: Hull,
    /// True if a clip drives the scale.
    driven: bool,
}

save_structs! {
    ScaleRanges { joints }
    ScaleRange { hull, driven }
}

impl ScaleRanges {
    pub(crate) fn len(&self) -> usize {
        self.joints.len()
    }

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
            if matches!(track.values, TrackValues::Scale(_))
                && let Some(range) = self.joints.get_mut(usize::from(track.joint))
            {
                range.hull = range.hull.with_track(&track.values);
                range.driven = true;
            }
        }
    }

    /// For each joint, true if a clip drives its scale.
    pub(crate) fn driven(&self) -> impl Iterator<Item = bool> {
        self.joints.iter().map(|range| range.driven)
    }

    /// Returns true if the model matrix of a joint may mirror or flatten.
    #[cfg(feature = "vulkan")]
    pub(super) fn mirror(&self, skeleton: &Skeleton) -> bool {
        let signs = self.chain_signs(skeleton);
        signs.iter().any(|signs| signs.negative || signs.zero)
    }

    /// The signs that the determinant of each joint's model matrix may have.
    fn chain_signs(&self, skeleton: &Skeleton) -> Vec<Signs> {
        let mut signs: Vec<Signs> = Vec::with_capacity(self.joints.len());
        for (joint, range) in skeleton.joints().iter().zip(&self.joints) {
            let own = product_signs(&range.hull);
            signs.push(if joint.parent_index() == NO_PARENT {
                own
            } else {
                signs[usize::from(joint.parent_index())].times(own)
            });
        }
        signs
    }
}

/// The signs that the product of a scale's components may have.
fn product_signs(hull: &Hull) -> Signs {
    let axis = |at: usize| Signs::between(hull.least[at], hull.greatest[at]);
    axis(0).times(axis(1)).times(axis(2))
}

/// Sets `may_flip` of every palette entry.
///
/// The determinant of a skinning matrix is the product of the scales of the joint and its ancestors
/// and of the inverse bind matrix's determinant. Each component of a scale stays within the hull of
/// its rest value and of all tracks that drive it, and so does every blend of them. The signs that
/// the hulls allow are multiplied along the chain.
pub(super) fn mark_flips(model: &mut Model, scales: &ScaleRanges) {
    let signs = scales.chain_signs(&model.skeleton);
    for entry in &mut model.palette {
        let bind = Signs::of(linear(&entry.inverse_bind).determinant());
        let signs = signs[usize::from(entry.joint)].times(bind);
        entry.may_flip = if entry.flipped {
            signs.positive
        } else {
            signs.negative
        };
    }
}
