//! Joints that look at something together.

use super::job::{Checked, expect_axis, expect_finite, expect_in};
use super::maths::{
    angle_about, angle_between, arc, blend, direction, inverse, part_of, turn_about, turned, unit,
};
use super::{IkJob, IkPose, IkRig};
use crate::character::Affine;
use crate::error::{ArgumentFault, Error, Result};
use glam::{DVec3, Quat, Vec3};

/// The most joints that aim together.
pub const MAX_AIM_JOINTS: usize = 16;

/// A joint that aims, and its share of the turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AimJoint {
    /// Index into the skeleton's joints.
    pub joint: u16,
    /// Positive: its part of the whole turn is this over the sum of all.
    pub share: f32,
}

/// Turns joints, such as spine, neck and head, so that an axis of the last one points at something.
///
/// From the first joint to the last, each turns by its share of what is still missing, the last by all of it: what the
/// others do moves the last one, and it makes up for that.
///
/// ```
/// use throng::glam::Vec3;
/// use throng::pose::Poser;
/// use throng::pose::ik::{Aim, AimJoint, AimTarget, IkJob, IkPose, IkRig};
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let joint = |name, share| AimJoint { joint: skeleton.joint(name).unwrap_or_default().0, share };
/// let aim = Aim {
///     offset_m: Vec3::new(0.0, 0.1, 0.08), // the eyes
///     limit_rad: 1.2,
///     ..Aim::new(vec![joint("Chest", 0.2), joint("Neck", 0.3), joint("Head", 0.5)], Vec3::Z)
/// };
///
/// let rig = IkRig::new(skeleton);
/// let mut poser = Poser::new();
/// poser.pose(&character, None)?;
/// let (mut local, mut model) = (poser.local().to_vec(), poser.model().to_vec());
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
    /// How far from the animated forward axis the direction from the animated offset to the target may lie, in
    /// radians, 0..=π. A target outside counts as the nearest one on the cone. Straight behind there is no nearest one, and the side changes
    /// at once: let the weight go to 0 before.
    pub limit_rad: f32,
}

/// What an instance wants of an [`Aim`] in a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AimTarget {
    /// What to look at, in metres of character space.
    pub position: Vec3,
    /// Where [`Aim::up`] shall point, as far as looking at the target lets it, in character space. `None`: the shortest turn.
    pub up: Option<Vec3>,
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
            weight: 1.0,
        }
    }
}

/// What came of an [`Aim`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AimReport {
    /// Whether the forward axis points at the target, to within a thousandth of a radian.
    pub reached: bool,
    /// By how much it misses it, in radians, after limit and weight.
    pub angle_rad: f32,
}

impl AimReport {
    /// Nothing was done.
    pub const NONE: Self = Self {
        reached: false,
        angle_rad: core::f32::consts::PI,
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

    /// The offset and the forward axis in the space that `affine` leads to from the last joint's.
    fn ray(&self, affine: &Affine) -> Option<(Vec3, Vec3)> {
        let forward = unit(direction(affine, self.forward))?;
        Some((affine.transform_point3(self.offset_m), forward))
    }

    /// The target, brought into the cone.
    fn held(&self, target: Vec3, last: &Affine) -> Option<Vec3> {
        let (eye, forward) = self.ray(last)?;
        let to_target = target - eye;
        let Some(wanted) = unit(to_target) else {
            return Some(target);
        };
        let angle = angle_between(forward, wanted);
        if angle <= self.limit_rad {
            return Some(target);
        }
        let way = part_of(arc(forward, wanted, None), self.limit_rad / angle) * forward;
        Some(eye + way * to_target.length().min(1e6))
    }

    /// The rotations that solve it, at full weight.
    fn rotations(
        &self,
        rig: &IkRig,
        target: &AimTarget,
        pose: &IkPose<'_>,
    ) -> Option<[Quat; MAX_AIM_JOINTS]> {
        let (first, last) = (self.joints.first()?.joint, self.joints.last()?.joint);
        let goal = self.held(target.position, &pose.model[usize::from(last)])?;
        let mut solved = [Quat::IDENTITY; MAX_AIM_JOINTS];
        let mut parent = rig.parent_model(first, pose.model);
        let mut left: f32 = self.joints.iter().map(|joint| joint.share).sum();
        for (at, AimJoint { joint, share }) in self.joints.iter().enumerate() {
            let local = &pose.local[usize::from(*joint)];
            let to_parent = inverse(&parent)?;
            let below = if *joint == last {
                Affine::IDENTITY
            } else {
                let between = rig.between(pose.local, *joint, last);
                between * pose.local[usize::from(last)].to_affine()
            };
            let aimed = Aimed {
                carried: turned(local, local.rotation) * below,
                joint: local.translation,
                goal: to_parent.transform_point3(goal),
                up: target.up.map(|up| direction(&to_parent, up)),
            };
            let share = if *joint == last { 1.0 } else { share / left };
            let turn = part_of(self.turn(&aimed)?, share.clamp(0.0, 1.0));
            left -= self.joints[at].share;
            solved[at] = (turn * local.rotation).normalize();
            if let Some(next) = self.joints.get(at + 1) {
                parent = parent
                    * turned(local, solved[at])
                    * rig.between(pose.local, *joint, next.joint);
            }
        }
        let finite = solved.iter().all(|rotation| rotation.is_finite());
        finite.then_some(solved)
    }

    /// The turn about a joint that makes the forward axis point at the goal, in the space of the joint's parent.
    fn turn(&self, aimed: &Aimed) -> Option<Quat> {
        let (eye, forward) = self.ray(&aimed.carried)?;
        let to_goal = aimed.goal - aimed.joint;
        let Some(goal) = unit(to_goal) else {
            return Some(Quat::IDENTITY);
        };
        let Some(point) = point_at(eye - aimed.joint, forward, to_goal) else {
            return Some(Quat::IDENTITY);
        };
        let up = direction(&aimed.carried, self.up);
        let swing = arc(point, goal, Some(up));
        let roll = aimed
            .up
            .and_then(|wanted| angle_about(goal, swing * up, wanted));
        Some(roll.map_or(swing, |roll| turn_about(goal, roll) * swing))
    }

    fn report(&self, target: Vec3, pose: &IkPose<'_>) -> AimReport {
        let last = self.joints.last().map(|joint| usize::from(joint.joint));
        let ray = last.and_then(|last| self.ray(&pose.model[last]));
        let Some((eye, forward)) = ray else {
            return AimReport::NONE;
        };
        let Some(wanted) = unit(target - eye) else {
            return AimReport::NONE;
        };
        let angle_rad = angle_between(forward, wanted);
        AimReport {
            reached: angle_rad <= 1e-3,
            angle_rad,
        }
    }
}

/// What a joint shall turn to, in the space of its parent.
struct Aimed {
    /// From the last joint's space.
    carried: Affine,
    joint: Vec3,
    goal: Vec3,
    up: Option<Vec3>,
}

/// The direction, from a joint, to the point of a ray that is as far from it as the goal: what has to be turned onto
/// the goal, so that the ray goes through it. Where the ray is nowhere so near, its nearest point.
fn point_at(eye: Vec3, forward: Vec3, goal: Vec3) -> Option<Vec3> {
    let (eye, forward) = (eye.as_dvec3(), forward.as_dvec3());
    let along = eye.dot(forward);
    let under = along * along + goal.as_dvec3().length_squared() - eye.length_squared();
    let distance = under.max(0.0).sqrt() - along;
    let point: DVec3 = eye + forward * distance.max(0.0);
    let point = point.try_normalize()?.as_vec3();
    unit(point)
}

impl IkJob for Aim {
    type Target = AimTarget;
    type Report = AimReport;

    /// There are joints and not too many, each below the one before, with positive shares; axes have directions, the limit lies in 0..=π.
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
                Error::Each {
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
        target
            .up
            .map_or(Ok(()), |up| expect_finite("AimTarget::up", &up.to_array()))
    }

    fn run(&self, rig: &IkRig, target: &AimTarget, pose: IkPose<'_>, _: Checked) -> AimReport {
        let Some(first) = self.joints.first() else {
            return AimReport::NONE;
        };
        if target.weight > 0.0 {
            let Some(solved) = self.rotations(rig, target, &pose) else {
                return AimReport::NONE;
            };
            for (joint, solved) in self.joints.iter().zip(solved) {
                let rotation = &mut pose.local[usize::from(joint.joint)].rotation;
                *rotation = blend(*rotation, solved, target.weight);
            }
            rig.recompute(first.joint, pose.local, pose.model);
        }
        self.report(target.position, &pose)
    }
}
