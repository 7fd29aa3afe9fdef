//! The data of a chain: any number of joints, with limits.

use super::job::IkJob;
use super::limit::JointLimit;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::id::Id;
use crate::skeleton::{Joint, Skeleton};
use glam::Vec3;

/// A chain of joints whose tip reaches for a point.
///
/// It suits spines, tails and tentacles, for example.
///
/// Each iteration has two parts:
///
/// 1. One forward and backward sweep of FABRIK (A. Aristidou, J. Lasenby, "FABRIK: a fast,
///    iterative solver for the inverse kinematics problem", 2011). The sweep from the root turns
///    joints within their limits, so bones keep their lengths.
/// 2. If the tip is not close enough yet, up to eight steps of damped least squares over all joints
///    (C. Wampler, 1986). Each joint is clamped to its limit after each step.
///
/// If a chain no longer improves, such as a straight one whose target lies on it, it is nudged,
/// always by the same angles. The result is the best pose seen. It is never farther from the target
/// than the animated pose after clamping to the limits.
///
/// Without limits, targets up to 95 % of the chain's length away are reached to within 10⁻³ of the
/// length in 1 to 4 iterations. Targets farther away than the length take one iteration and give a
/// straight chain. With limits, several poses may exist that no small turn improves, so a reachable
/// target may be missed: with random limits, 3 of 100.
///
/// ```
/// use throng::animator::Animator;
/// use throng::glam::{Affine3A, Vec3};
/// use throng::ik::{ChainTarget, IkChain};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let chain = IkChain::between(skeleton, skeleton.joint("Spine")?, skeleton.joint("LeftHand")?)?;
///
/// let mut animator = Animator::new(&character)?;
/// let reach = animator.add_solver(chain)?;
/// let actor = animator.add("Idle")?;
/// let target = ChainTarget::at(Vec3::new(0.2, 1.2, 0.4));
/// animator.actor_mut(actor)?.set_target(reach, target, 0.0)?;
/// let mut pose = vec![Affine3A::IDENTITY; skeleton.len()];
/// animator.model_poses(&[actor], &mut pose)?;
/// let report = animator.actor(actor)?.target_report(reach);
/// assert!(report.is_some_and(|report| report.reached()));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IkChain {
    /// The joints, from the root on, 2 to [`Self::MAX_JOINTS`], each with the limit of its
    /// rotation.
    ///
    /// Each joint lies below the one before it. The last joint does not turn. Joints of the
    /// skeleton that lie between listed joints do not turn either.
    pub joints: Vec<(Id<Joint>, JointLimit)>,
    /// The distance at which the target counts as reached.
    ///
    /// In metres of character space.
    pub tolerance_m: f32,
    /// The most iterations, 1 to 1000.
    pub iterations: u16,
}

/// The target of an [`IkChain`] for one instance in one frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChainTarget {
    /// The goal for the last joint, in metres of character space.
    pub position: Vec3,
    /// Weight in 0..=1; see the [module documentation](crate::ik).
    ///
    /// Between 0 and 1, a joint stays within its limit only if the animated pose does.
    pub weight: f32,
}

impl ChainTarget {
    /// Reaches for `position` with full weight.
    #[must_use]
    pub const fn at(position: Vec3) -> Self {
        Self {
            position,
            weight: 1.0,
        }
    }
}

impl IkChain {
    /// The most joints that a chain can have.
    pub const MAX_JOINTS: usize = 64;

    /// Creates a chain of all joints from `root` down to `tip`, without limits.
    ///
    /// For a limit, change the second part of an element of [`Self::joints`].
    ///
    /// The tolerance is 1 mm, with at most 32 iterations.
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::Error::NotFound) if a joint does not exist.
    /// - [`Error::At`](crate::Error::At) if `tip` is not below `root`.
    /// - [`Error::Capacity`](crate::Error::Capacity) if there are more than [`Self::MAX_JOINTS`]
    ///   joints.
    pub fn between(skeleton: &Skeleton, root: Id<Joint>, tip: Id<Joint>) -> Result<Self> {
        skeleton.expect_below("IkChain tip", tip, root)?;
        let mut joints = vec![(tip, JointLimit::Free)];
        let mut above = tip;
        while above != root
            && let Some(parent) = skeleton.parent(above)
        {
            above = parent;
            joints.push((above, JointLimit::Free));
        }
        joints.reverse();
        let chain = Self {
            joints,
            tolerance_m: 1e-3,
            iterations: 32,
        };
        chain.validate(skeleton)?;
        Ok(chain)
    }
}
