//! The two-bone job: checks a limb, solves it in closed form and reports the result.

use super::job::{IkJob, expect_axis, expect_finite, expect_rotation};
use super::limb::{Limb, Wanted};
use super::maths::{blend, inverse, length, rotation_of, sense};
use super::rig::{IkPose, IkRig};
use super::two_bone::{Pole, TwoBone, TwoBoneReport, TwoBoneTarget};
use crate::error::{Result, expect_in};
use glam::{Quat, Vec3};

impl TwoBone {
    /// The rotations of start, mid and end that solve it, at full weight.
    fn rotations(
        &self,
        rig: &IkRig,
        target: &TwoBoneTarget,
        pose: &IkPose<'_>,
    ) -> Option<[Quat; 3]> {
        let parent = rig.parent_model(self.start, pose.model);
        let to_parent = inverse(&parent)?;
        let mut limb = Limb::of(self, rig, pose.local);
        limb.solve(&Wanted {
            at: to_parent.transform_point3(target.position),
            pole: match target.pole {
                Pole::Animated => Pole::Animated,
                Pole::Direction(way) => Pole::Direction(to_parent.transform_vector3(way)),
                Pole::Point(point) => Pole::Point(to_parent.transform_point3(point)),
            },
            twist_rad: target.twist_rad * sense(&parent),
            soften: self.soften,
        })?;
        let [start, mid] = limb.rotations();
        let mut end = pose.local[usize::from(self.end)].rotation;
        if let Some(rotation) = target.rotation {
            let above = rotation_of(&(parent * limb.end_parent()))?;
            end = (above.conjugate() * rotation).normalize();
        }
        [start, mid, end]
            .iter()
            .all(|rotation| rotation.is_finite())
            .then_some([start, mid, end])
    }

    /// The report for the pose that was reached.
    fn report(&self, target: Vec3, pose: &IkPose<'_>) -> TwoBoneReport {
        let [start, mid, end] = [self.start, self.mid, self.end]
            .map(|joint| Vec3::from(pose.model[usize::from(joint)].translation));
        let distance = length(end - target);
        let limb = length(mid - start) + length(end - mid);
        TwoBoneReport {
            reached: distance <= 1e-4 * limb,
            distance_m: distance as f32,
        }
    }
}

impl IkJob for TwoBone {
    type Target = TwoBoneTarget;
    type Report = TwoBoneReport;

    /// Checks the joints, the hinge and the softening.
    ///
    /// The joints must exist and each must be below the one before it. `hinge` must have a
    /// direction, and `soften` must be in 0..=1.
    fn validate(&self, rig: &IkRig) -> Result<()> {
        rig.expect_below("TwoBone::mid", self.mid, self.start)?;
        rig.expect_below("TwoBone::end", self.end, self.mid)?;
        if let Some(hinge) = self.hinge {
            expect_axis("TwoBone::hinge", hinge)?;
        }
        expect_in("TwoBone::soften", self.soften, 0.0, 1.0)
    }

    fn check(&self, target: &TwoBoneTarget) -> Result<()> {
        expect_in("TwoBoneTarget::weight", target.weight, 0.0, 1.0)?;
        expect_finite("TwoBoneTarget::position", &target.position.to_array())?;
        expect_finite("TwoBoneTarget::twist_rad", &[target.twist_rad])?;
        if let Some(rotation) = target.rotation {
            expect_rotation("TwoBoneTarget::rotation", rotation)?;
        }
        match target.pole {
            Pole::Animated => Ok(()),
            Pole::Direction(pole) | Pole::Point(pole) => {
                expect_finite("TwoBoneTarget::pole", &pole.to_array())
            }
        }
    }

    fn run(&self, rig: &IkRig, target: &TwoBoneTarget, pose: IkPose<'_>) -> TwoBoneReport {
        if target.weight > 0.0 {
            let Some(solved) = self.rotations(rig, target, &pose) else {
                return TwoBoneReport::NONE;
            };
            for (joint, solved) in [self.start, self.mid, self.end].into_iter().zip(solved) {
                let rotation = &mut pose.local[usize::from(joint)].rotation;
                *rotation = blend(*rotation, solved, target.weight);
            }
            rig.recompute(self.start, pose.local, pose.model);
        }
        self.report(target.position, &pose)
    }
}
