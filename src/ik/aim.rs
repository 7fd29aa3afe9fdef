//! Joints that look at something together.

use super::aim_solve::Rotations;
use super::job::{Checked, IkJob, IkPose, expect_axis, expect_finite, expect_in};
use super::rig::IkRig;
use crate::error::{ArgumentFault, Error, Result};
use crate::ids::JointId;
use glam::Vec3;

/// The most joints that aim together.
pub const MAX_AIM_JOINTS: usize = 16;

/// A joint that aims, and its share of the turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AimJoint {
    /// Index into the skeleton's joints.
    pub joint: JointId,
    /// Positive: its part of the whole turn is this over the sum of all.
    pub share: f32,
}

/// Turns joints, such as spine, neck and head, so that an axis of the last one points at something.
///
/// From the first joint to the last, each turns by its share of what is still missing, the last by
/// all of it: what the others do moves the last one, and it makes up for that.
///
/// The axis never misses the target by more than it does in the animated pose, within rounding. A
/// target nearer to the joint than the offset may be out of reach: then the joint turns so that the
/// miss is as small as it can be. Where a limit, a weight or other joints would make the miss
/// larger, the joints turn by less, or not at all: see [`AimReport::weight`].
///
/// ```
/// use throng::skeleton::Affine;
/// use throng::glam::Vec3;
/// use throng::ik::{Aim, AimJoint, AimTarget, IkJob, IkPose, IkRig};
/// use throng::skeleton::model_pose;
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let joint = |name, share| AimJoint { joint: skeleton.joint(name).unwrap_or_default(), share };
/// let aim = Aim {
///     offset_m: Vec3::new(0.0, 0.1, 0.08), // the eyes
///     limit_rad: 1.2,
///     ..Aim::new(vec![joint("Chest", 0.2), joint("Neck", 0.3), joint("Head", 0.5)], Vec3::Z)
/// };
///
/// let rig = IkRig::new(skeleton);
/// let mut local = skeleton.rest_pose();
/// let mut model = vec![Affine::IDENTITY; local.len()];
/// model_pose(skeleton, &local, &mut model)?;
/// let pose = IkPose { local: &mut local, model: &mut model };
/// let report = aim.solve(&rig, &AimTarget::at(Vec3::new(1.0, 1.2, 2.0)), pose)?;
/// assert!(report.reached);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Aim {
    /// From the first on, each below the one before, 1 to [`MAX_AIM_JOINTS`].
    pub joints: Vec<AimJoint>,
    /// What points at the target, in the last joint's space.
    pub forward: Vec3,
    /// What [`AimTarget::up`] pulls upright, in the last joint's space.
    pub up: Vec3,
    /// Where the forward axis starts, such as the eyes, in metres in the last joint's space.
    pub offset_m: Vec3,
    /// How far from the animated forward axis the direction from the animated offset to the target
    /// may lie, in radians, 0..=π. A target outside counts as the nearest one on the cone. Straight
    /// behind there is no nearest one, and the side changes at once: let the weight go to 0 before.
    /// The roll by [`AimTarget::up`] and [`AimTarget::twist_rad`] is not limited.
    pub limit_rad: f32,
}

/// What an instance wants of an [`Aim`] in a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AimTarget {
    /// What to look at, in metres of character space.
    pub position: Vec3,
    /// Where [`Aim::up`] shall point, as far as looking at the target lets it, in character space.
    /// `None`: the shortest turn.
    pub up: Option<Vec3>,
    /// Rolls further about the line from the joints to the target, in radians, right-handed in
    /// character space. The joints take their shares of it, and it is weighted like the rest.
    pub twist_rad: f32,
    /// 0..=1, see the module.
    pub weight: f32,
}

impl AimTarget {
    /// This position, by the shortest turn, fully.
    #[must_use]
    pub const fn at(position: Vec3) -> Self {
        Self {
            position,
            up: None,
            twist_rad: 0.0,
            weight: 1.0,
        }
    }
}

/// What came of an [`Aim`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AimReport {
    /// Whether the forward axis points at the target, to within a thousandth of a radian or, very
    /// near to the target, within what rounding makes of the direction.
    pub reached: bool,
    /// By how much it misses it, in radians, after limit and weight. 0 where the target lies on the
    /// offset, to within 10⁻⁵ of the coordinates: there is no direction then, and it counts as
    /// reached.
    pub angle_rad: f32,
    /// The weight that was used. It is less than [`AimTarget::weight`] if all of that would miss by
    /// more than the animated pose does, and 0 if the pose stayed as it was.
    pub weight: f32,
}

impl AimReport {
    /// Nothing was done.
    pub const NONE: Self = Self {
        reached: false,
        angle_rad: core::f32::consts::PI,
        weight: 0.0,
    };
}

impl Aim {
    /// Along `forward`, from the last joint's origin, upright along +Y, without a limit.
    #[must_use]
    pub const fn new(joints: Vec<AimJoint>, forward: Vec3) -> Self {
        Self {
            joints,
            forward,
            up: Vec3::Y,
            offset_m: Vec3::ZERO,
            limit_rad: core::f32::consts::PI,
        }
    }

    fn report(&self, target: Vec3, weight: f32, pose: &IkPose<'_>) -> AimReport {
        let last = self.joints.last().map(|joint| usize::from(joint.joint));
        let miss = last.and_then(|last| self.miss(target, &pose.model[last]));
        miss.map_or(AimReport::NONE, |miss| AimReport {
            reached: miss.is_none(),
            angle_rad: miss.angle_rad,
            weight,
        })
    }

    /// The rotations at the largest weight that does not miss by more than the pose does, and it.
    fn solved(
        &self,
        rig: &IkRig,
        target: &AimTarget,
        pose: &IkPose<'_>,
    ) -> Option<(Rotations, f32)> {
        let full = self.rotations(rig, target, pose)?;
        let wanted = (target.position, target.weight);
        let weight = self.safe_weight(rig, wanted, &full, pose)?;
        Some((self.weighted(&full, weight, pose), weight))
    }
}

impl IkJob for Aim {
    type Target = AimTarget;
    type Report = AimReport;

    /// There are joints and not too many, each below the one before, with positive shares; axes
    /// have directions, the limit lies in 0..=π.
    fn validate(&self, rig: &IkRig) -> Result<()> {
        let Some(first) = self.joints.first() else {
            return Err(Error::Argument {
                what: "Aim::joints",
                why: ArgumentFault::Length { got: 0, need: 1 },
            });
        };
        if self.joints.len() > MAX_AIM_JOINTS {
            return Err(Error::Capacity {
                what: "joints that aim",
                asked: self.joints.len() as u64,
                cap: MAX_AIM_JOINTS as u64,
            });
        }
        rig.expect_joint(first.joint)?;
        for pair in self.joints.windows(2) {
            rig.expect_below("Aim::joints", pair[1].joint, pair[0].joint)?;
        }
        for AimJoint { joint, share } in &self.joints {
            // At most 1e6, so that no sum loses the small ones to overflow.
            expect_in("AimJoint::share", *share, f32::MIN_POSITIVE, 1e6).map_err(|why| {
                Error::At {
                    what: "joint",
                    index: (*joint).into(),
                    why: Box::new(why),
                }
            })?;
        }
        expect_axis("Aim::forward", self.forward)?;
        expect_axis("Aim::up", self.up)?;
        expect_finite("Aim::offset_m", &self.offset_m.to_array())?;
        expect_in("Aim::limit_rad", self.limit_rad, 0.0, core::f32::consts::PI)
    }

    fn check(&self, target: &AimTarget) -> Result<()> {
        expect_in("AimTarget::weight", target.weight, 0.0, 1.0)?;
        expect_finite("AimTarget::position", &target.position.to_array())?;
        expect_finite("AimTarget::twist_rad", &[target.twist_rad])?;
        target
            .up
            .map_or(Ok(()), |up| expect_finite("AimTarget::up", &up.to_array()))
    }

    fn run(&self, rig: &IkRig, target: &AimTarget, pose: IkPose<'_>, _: Checked) -> AimReport {
        let Some(first) = self.joints.first() else {
            return AimReport::NONE;
        };
        if target.weight <= 0.0 {
            return self.report(target.position, 0.0, &pose);
        }
        let Some((solved, weight)) = self.solved(rig, target, &pose) else {
            return AimReport::NONE;
        };
        if weight > 0.0 {
            for (joint, solved) in self.joints.iter().zip(solved) {
                pose.local[usize::from(joint.joint)].rotation = solved;
            }
            rig.recompute(first.joint, pose.local, pose.model);
        }
        self.report(target.position, weight, &pose)
    }
}
