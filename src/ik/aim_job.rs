//! The aim job: checks an aim, solves it and reports the result.

use super::aim::{Aim, AimJoint, AimReport, AimTarget};
use super::aim_solve::Rotations;
use super::job::{IkJob, expect_axis, expect_finite};
use super::rig::{IkPose, IkRig};
use crate::error::{Error, Result, expect_cap, expect_in};
use glam::Vec3;

impl Aim {
    fn report(&self, target: Vec3, weight: f32, pose: &IkPose<'_>) -> AimReport {
        let last = self.joints.last().map(|last| last.joint.index());
        let miss = last.and_then(|last| self.miss(target, &pose.model[last]));
        miss.map_or(AimReport::NONE, |miss| AimReport {
            reached: miss.is_none(),
            angle_rad: miss.angle_rad,
            weight,
        })
    }

    /// The solved rotations and the largest weight at which the miss does not increase.
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

    /// Checks the joints, shares, axes and limit.
    ///
    /// There must be 1 to [`Aim::MAX_JOINTS`] joints, each below the one before it, with positive
    /// shares. The axes must have directions, and the limit must be in 0..=π.
    fn validate(&self, rig: &IkRig) -> Result<()> {
        let Some(first) = self.joints.first() else {
            return Err(Error::length("Aim::joints", 0, 1));
        };
        expect_cap("joints of an aim", self.joints.len(), Aim::MAX_JOINTS)?;
        rig.expect_joint(first.joint)?;
        for pair in self.joints.windows(2) {
            rig.expect_below("Aim::joints", pair[1].joint, pair[0].joint)?;
        }
        for AimJoint { joint, share } in &self.joints {
            // At most 1e6, so that the sum neither overflows nor loses the small shares.
            expect_in("share in Aim::joints", *share, f32::MIN_POSITIVE, 1e6)
                .map_err(|why| why.at("joint", usize::from(*joint)))?;
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

    fn run(&self, rig: &IkRig, target: &AimTarget, pose: IkPose<'_>) -> AimReport {
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
            for (own, solved) in self.joints.iter().zip(solved) {
                pose.local[own.joint.index()].rotation = solved;
            }
            rig.recompute(first.joint, pose.local, pose.model);
        }
        self.report(target.position, weight, &pose)
    }
}
