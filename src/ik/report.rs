//! The results of solvers.

/// See [`FootPlacement::MAX_LEGS`](crate::ik::FootPlacement::MAX_LEGS).
pub(super) const MAX_LEGS: usize = 8;

/// The result of a solver for a target.
///
/// Distances are in metres of character space. They are infinite if there was no solution.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum IkReport {
    /// Of a [`TwoBone`](crate::ik::TwoBone).
    TwoBone {
        /// True if `end` is at the target, to within 10⁻⁴ of the limb's length.
        reached: bool,
        /// The remaining distance to the target, measured after weight and softening.
        distance_m: f32,
    },
    /// Of an [`Aim`](crate::ik::Aim).
    Aim {
        /// True if the forward axis points at the target.
        ///
        /// The tolerance is a thousandth of a radian or, very near to the target, the rounding
        /// error of the direction.
        reached: bool,
        /// The remaining miss angle in radians, after limit and weight. π if there was no solution.
        ///
        /// 0 if the target coincides with the offset, to within 10⁻⁵ of the coordinates. There is
        /// then no direction, and the target counts as reached.
        angle_rad: f32,
        /// The weight that was used.
        ///
        /// It is less than [`AimTarget::weight`](crate::ik::AimTarget::weight) if the full weight
        /// would miss by more than the animated pose does. It is 0 if the pose is unchanged.
        weight: f32,
    },
    /// Of an [`IkChain`](crate::ik::IkChain).
    Chain {
        /// True if the last joint has reached the target.
        ///
        /// It must be within the tolerance, plus the distance that the weight leaves.
        reached: bool,
        /// The distance to the target, after the weight.
        distance_m: f32,
        /// The number of iterations used.
        iterations: u16,
    },
    /// Of a [`FootPlacement`](crate::ik::FootPlacement).
    Feet {
        /// True if at least one leg was solved, and all solved legs reached the ground, to within
        /// 10⁻⁴ of their lengths.
        reached: bool,
        /// The distance that the pelvis moved up, in metres.
        pelvis_m: f32,
        /// The remaining distance of each ankle, `None` for a leg that was not solved.
        legs_m: [Option<f32>; MAX_LEGS],
    },
}

impl IkReport {
    /// Returns true if the target was reached.
    #[must_use]
    pub const fn reached(&self) -> bool {
        match *self {
            Self::TwoBone { reached, .. }
            | Self::Aim { reached, .. }
            | Self::Chain { reached, .. }
            | Self::Feet { reached, .. } => reached,
        }
    }
}
