//! Root motion of a character's clips.

use super::Character;
use crate::clip::CurveClip;
use crate::error::Result;
use crate::motion::{RootMotion, RootMotionBudget, RootMotionOptions, extract};

impl RootMotion {
    /// Splits a clip into one that stays in place and its root motion.
    ///
    /// `clip` is one of `character`, or another for its skeleton.
    ///
    /// # Extracted motion
    /// The path of the joint's origin along the chosen axes of character space and, with
    /// [`RootMotionOptions::yaw`], the joint's heading. The heading is the twist about +Y of the
    /// joint's rotation since the reference (the part of a quaternion about an axis: `2 atan2(q_y,
    /// q_w)`), followed over any number of turns. Ancestors of the joint may be rotated, scaled and
    /// animated.
    ///
    /// # Accuracy
    /// Without yaw, and if no ancestor moves, the keys are rewritten. Everything is affine in them,
    /// so the curves are the same in each interpolation mode, except for the rounding of `f32`.
    ///
    /// Otherwise the joint gets new linear keys: at the keys of all curves that contribute, and at
    /// more times between them until the measured error is within [`RootMotionOptions::error_m`].
    /// The error found is in
    /// [`RootMotionReport::error_m`](crate::motion::RootMotionReport::error_m). A step in such a
    /// curve becomes a line between two neighbouring `f32` times, unless all of them step.
    ///
    /// # Limits
    /// A joint that is upside down has no heading. Close to that orientation, it turns as fast as
    /// the keys can follow. Turns are followed between samples that are less than 0.4 rad, or
    /// 1/4096 of the time between two keys, apart. A spline that spins faster may lose whole turns.
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::error::Error::NotFound) for a joint that the skeleton does not
    ///   have.
    /// - [`Error::Argument`](crate::error::Error::Argument) if an ancestor has zero scale, if an
    ///   ancestor scales unevenly and yaw is extracted, if the motion is not finite in `f32`, or if
    ///   the error bound is not positive and finite.
    /// - [`Error::Capacity`](crate::error::Error::Capacity) if the joint and its ancestors have
    ///   more than 131,072 keys, if more than 1,048,576 keys would be needed, or if the work would
    ///   take more than 2²⁶ products of transforms.
    #[doc(hidden)]
    pub fn extract(
        character: &Character,
        clip: &CurveClip,
        options: &RootMotionOptions<'_>,
    ) -> Result<(CurveClip, Self)> {
        Self::extract_within(character, clip, options, &mut { RootMotionBudget::CLIP })
    }

    /// [`Self::extract`] with a budget that several clips share.
    ///
    /// # Errors
    /// As [`Self::extract`], and [`Error::Capacity`](crate::error::Error::Capacity) if the budget
    /// does not suffice.
    #[doc(hidden)]
    pub fn extract_within(
        character: &Character,
        clip: &CurveClip,
        options: &RootMotionOptions<'_>,
        budget: &mut RootMotionBudget,
    ) -> Result<(CurveClip, Self)> {
        extract(character.model(), clip, options, budget)
    }
}
