//! Root motion of a character's clips.

use super::Character;
use crate::clip::CurveClip;
use crate::error::Result;
use crate::motion::{RootMotion, RootMotionBudget, RootMotionOptions, extract};

impl RootMotion {
    /// Splits `clip`, one of `character` or another for its skeleton, into the clip that stays in
    /// place and its motion.
    ///
    /// *What is taken out.* The path of the joint's origin along the chosen axes of character
    /// space, and with [`RootMotionOptions::yaw`] the joint's heading: the twist about +Y of its
    /// rotation since the reference (the part of a quaternion about an axis: `2 atan2(q_y, q_w)`),
    /// followed over any number of turns. Ancestors of the joint may be turned, scaled and
    /// animated.
    ///
    /// *How exactly.* Without yaw, and with ancestors that do not move, keys are rewritten: all is
    /// affine in them, so that the curves are the same in each interpolation but for the rounding
    /// of `f32`. Else the joint gets new linear keys: those of all curves that take part, and more
    /// between them until the measured error is within [`RootMotionOptions::error_m`];
    /// [`RootMotionReport::error_m`](crate::motion::RootMotionReport::error_m) says what was found. Where such a curve steps, the step
    /// becomes a line between two neighbouring `f32` times, unless all step.
    ///
    /// *Limits.* A joint that is turned upside down has no heading; near that it turns as fast as
    /// the keys can follow. Turns are followed between samples that lie less than 0.4 rad or 1/4096
    /// of the time between two keys apart: a spline that whirls faster may lose whole turns.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::error::Error::NotFound) for a joint that the skeleton lacks;
    /// [`Error::Argument`](crate::error::Error::Argument) if an ancestor has zero scale, if one scales
    /// unevenly and there is yaw to be taken out, if the motion is not finite in `f32`, or if the
    /// error bound is not positive and finite; [`Error::Capacity`](crate::error::Error::Capacity) if the
    /// joint and what is above it has more than 131,072 keys, if more than 1,048,576 would be
    /// needed, or if that took more than 2²⁶ products of transforms.
    pub fn extract(
        character: &Character,
        clip: &CurveClip,
        options: &RootMotionOptions,
    ) -> Result<(CurveClip, Self)> {
        let mut budget = RootMotionBudget::CLIP;
        extract(character.model(), clip, options, &mut budget)
    }
}
