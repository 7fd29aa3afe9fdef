//! Chains of any number of joints, with limits: the job.

use super::chain_solve::Chain;
use super::job::{Checked, IkJob, IkPose, expect_finite, expect_in};
use super::limit::JointLimit;
use super::maths::{blend, length};
use super::rig::IkRig;
use crate::error::{ArgumentFault, Error, Result};
use crate::ids::JointId;
use glam::Vec3;

/// The most joints of a chain.
pub const MAX_CHAIN_JOINTS: usize = 64;

/// A joint of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainJoint {
    /// Index into the skeleton's joints.
    pub joint: JointId,
    /// How far it may turn. The last joint of a chain does not turn.
    pub limit: JointLimit,
}

/// A chain of joints, such as a spine, a tail or a tentacle, whose last one shall come to a point.
///
/// Each iteration is a pass of FABRIK (A. Aristidou, J. Lasenby, "FABRIK: a fast, iterative solver
/// for the inverse kinematics problem", 2011), in which the way from the root is made of turns of
/// the joints within their limits, so that bones keep their lengths; then, while that is not close
/// enough, up to eight steps of damped least squares over all joints (C. Wampler, 1986), each joint
/// held to its limit after each. A chain that no longer improves, such as a straight one whose
/// target lies on it, is nudged, by angles that are always the same. The best pose that was seen is
/// the result: never farther from the target than the animated pose, brought within its limits,
/// was.
///
/// Without limits, targets up to 95 % of its length away are reached to 10⁻³ of the length in 1 to
/// 4 iterations; those farther than the length in one, by a straight chain. With limits there may
/// be several poses that no small turn improves, and a target that could be reached may not be:
/// with limits at random, 3 of 100.
///
/// ```
/// use throng::skeleton::Affine;
/// use throng::glam::Vec3;
/// use throng::ik::{ChainTarget, IkChain, IkJob, IkPose, IkRig};
/// use throng::skeleton::model_pose;
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let rig = IkRig::new(skeleton);
/// let joint = |name| skeleton.joint(name).unwrap_or_default();
/// let chain = IkChain::between(&rig, joint("Spine"), joint("LeftHand"))?;
///
/// let mut local = skeleton.rest_pose();
/// let mut model = vec![Affine::IDENTITY; local.len()];
/// model_pose(skeleton, &local, &mut model)?;
/// let pose = IkPose { local: &mut local, model: &mut model };
/// let report = chain.solve(&rig, &ChainTarget::at(Vec3::new(0.2, 1.2, 0.4)), pose)?;
/// assert!(report.reached);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IkChain {
    /// From the root on, each below the one before, 2 to [`MAX_CHAIN_JOINTS`]. Joints between them
    /// that are left out do not turn.
    pub joints: Vec<ChainJoint>,
    /// How close to the target the last joint has to come, in metres of character space.
    pub tolerance_m: f32,
    /// After how many iterations it is left where it is, 1 to 1000.
    pub iterations: u16,
}

/// What an instance wants of an [`IkChain`] in a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainTarget {
    /// Where the last joint shall be, in metres of character space.
    pub position: Vec3,
    /// 0..=1, see the module. Between 0 and 1 a joint keeps its limit as far as the animated pose
    /// does.
    pub weight: f32,
}

impl ChainTarget {
    /// This position, fully.
    #[must_use]
    pub const fn at(position: Vec3) -> Self {
        Self {
            position,
            weight: 1.0,
        }
    }
}

/// What came of an [`IkChain`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChainReport {
    /// Whether the last joint is within the tolerance, plus what the weight leaves.
    pub reached: bool,
    /// How far it is from the target, in metres of character space, after the weight.
    pub distance_m: f32,
    /// How many iterations it took.
    pub iterations: u16,
}

impl ChainReport {
    /// Nothing was done.
    pub const NONE: Self = Self {
        reached: false,
        distance_m: f32::INFINITY,
        iterations: 0,
    };
}

impl IkChain {
    /// All joints from `root` down to `tip`, free; to within 1 mm, in 32 iterations at most.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a joint that does not exist, [`Error::At`] if `tip` is not below
    /// `root`, [`Error::Capacity`] if there are more than [`MAX_CHAIN_JOINTS`].
    pub fn between(rig: &IkRig, root: JointId, tip: JointId) -> Result<Self> {
        rig.expect_below("IkChain tip", tip, root)?;
        let free = |joint| ChainJoint {
            joint,
            limit: JointLimit::Free,
        };
        let mut joints = vec![free(tip)];
        let mut above = tip;
        while above != root
            && let Some(parent) = rig.parent(above)
        {
            above = parent;
            joints.push(free(above));
        }
        joints.reverse();
        let chain = Self {
            joints,
            tolerance_m: 1e-3,
            iterations: 32,
        };
        chain.validate(rig)?;
        Ok(chain)
    }

    /// The same with a limit for one of its joints.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the joint is not of the chain.
    pub fn with_limit(mut self, joint: JointId, limit: JointLimit) -> Result<Self> {
        let count = self.joints.len() as u64;
        let own = self.joints.iter_mut().find(|own| own.joint == joint);
        own.ok_or(Error::NotFound {
            what: "joint of the chain",
            index: joint.into(),
            count,
        })?
        .limit = limit;
        Ok(self)
    }
}

impl IkJob for IkChain {
    type Target = ChainTarget;
    type Report = ChainReport;

    /// There are enough joints and not too many, each below the one before; limits, tolerance and
    /// iterations lie in their ranges.
    fn validate(&self, rig: &IkRig) -> Result<()> {
        if self.joints.len() < 2 {
            return Err(Error::Argument {
                what: "IkChain::joints",
                why: ArgumentFault::Length {
                    got: self.joints.len(),
                    need: 2,
                },
            });
        }
        if self.joints.len() > MAX_CHAIN_JOINTS {
            return Err(Error::Capacity {
                what: "joints of a chain",
                asked: self.joints.len() as u64,
                cap: MAX_CHAIN_JOINTS as u64,
            });
        }
        for pair in self.joints.windows(2) {
            rig.expect_below("IkChain::joints", pair[1].joint, pair[0].joint)?;
        }
        for joint in &self.joints {
            joint.limit.validate().map_err(|why| Error::At {
                what: "joint",
                index: joint.joint.into(),
                why: Box::new(why),
            })?;
        }
        expect_in(
            "IkChain::tolerance_m",
            self.tolerance_m,
            f32::MIN_POSITIVE,
            f32::MAX,
        )?;
        expect_in("IkChain::iterations", self.iterations.into(), 1.0, 1000.0)
    }

    fn check(&self, target: &ChainTarget) -> Result<()> {
        expect_in("ChainTarget::weight", target.weight, 0.0, 1.0)?;
        expect_finite("ChainTarget::position", &target.position.to_array())
    }

    fn run(&self, rig: &IkRig, target: &ChainTarget, pose: IkPose<'_>, _: Checked) -> ChainReport {
        let [first, .., last] = self.joints.as_slice() else {
            return ChainReport::NONE;
        };
        let mut iterations = 0;
        if target.weight > 0.0 {
            let Some(mut chain) = Chain::of(&self.joints, rig, &pose, target.position) else {
                return ChainReport::NONE;
            };
            iterations = chain.solve(self.tolerance_m.into(), self.iterations);
            let Some(solved) = chain.best() else {
                return ChainReport::NONE;
            };
            for (joint, solved) in self.joints.iter().zip(solved) {
                let rotation = &mut pose.local[usize::from(joint.joint)].rotation;
                *rotation = blend(*rotation, *solved, target.weight);
            }
            rig.recompute(first.joint, pose.local, pose.model);
        }
        let tip = Vec3::from(pose.model[usize::from(last.joint)].translation);
        let distance = length(tip - target.position);
        ChainReport {
            // What it takes to round the model pose is not held against it.
            reached: distance <= f64::from(self.tolerance_m) + 1e-6 * length(tip),
            distance_m: distance as f32,
            iterations,
        }
    }
}
