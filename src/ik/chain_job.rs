//! The chain job: checks a chain, solves it and reports the result.

use super::chain::{ChainJoint, ChainReport, ChainTarget, IkChain};
use super::chain_solve::Chain;
use super::job::{IkJob, expect_finite};
use super::maths::{blend, length};
use super::rig::{IkPose, IkRig};
use crate::error::{Error, Result, expect_cap, expect_in};
use glam::Vec3;

impl IkJob for IkChain {
    type Target = ChainTarget;
    type Report = ChainReport;

    /// Checks the joints, limits, tolerance and iterations.
    ///
    /// There must be 2 to [`IkChain::MAX_JOINTS`] joints, each below the one before it. Limits,
    /// tolerance and iterations must be in their ranges.
    fn validate(&self, rig: &IkRig) -> Result<()> {
        if self.joints.len() < 2 {
            return Err(Error::length("IkChain::joints", self.joints.len(), 2));
        }
        expect_cap("joints of a chain", self.joints.len(), IkChain::MAX_JOINTS)?;
        for pair in self.joints.windows(2) {
            rig.expect_below("IkChain::joints", pair[1].joint, pair[0].joint)?;
        }
        for ChainJoint { joint, limit } in &self.joints {
            limit
                .validate()
                .map_err(|why| why.at("joint", usize::from(*joint)))?;
        }
        expect_in(
            "IkChain::tolerance_m",
            self.tolerance_m,
            f32::MIN_POSITIVE,
            f32::MAX,
        )?;
        expect_in("IkChain::iterations", self.iterations, 1.0, 1000.0)
    }

    fn check(&self, target: &ChainTarget) -> Result<()> {
        expect_in("ChainTarget::weight", target.weight, 0.0, 1.0)?;
        expect_finite("ChainTarget::position", &target.position.to_array())
    }

    fn run(&self, rig: &IkRig, target: &ChainTarget, pose: IkPose<'_>) -> ChainReport {
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
            for (own, solved) in self.joints.iter().zip(solved) {
                let rotation = &mut pose.local[own.joint.index()].rotation;
                *rotation = blend(*rotation, *solved, target.weight);
            }
            rig.recompute(first.joint, pose.local, pose.model);
        }
        let tip = Vec3::from(pose.model[last.joint.index()].translation);
        let distance = length(tip - target.position);
        ChainReport {
            // Adds a margin for the rounding of the model pose.
            reached: distance <= f64::from(self.tolerance_m) + 1e-6 * length(tip),
            distance_m: distance as f32,
            iterations,
        }
    }
}
