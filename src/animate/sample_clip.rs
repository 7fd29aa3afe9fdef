//! Samples one clip into local poses, with joints in the lanes.

use super::fetch::{even, store};
use super::poser::BatchPoser;
use super::quaternion::dot;
use crate::clip::{COMPONENTS, Clip, Moment, Property, animate_tracks, transform};
use crate::error::{Result, expect_len};
use crate::id::Id;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx2Fma, SimdLevel, phase};
use crate::simd::{BaselineEight, Eight, Row, Unit, WIDTH};
use crate::skeleton::{Joint, Transform};

impl Clip {
    /// Samples the local pose at `time_s` into `local`, one transform per joint.
    ///
    /// `time_s` is clamped to the clip, and NaN counts as 0. All transforms are overwritten. For an
    /// additive clip, the result is the difference from its reference pose.
    ///
    /// It uses the best SIMD level of the CPU. Levels differ by rounding only, and
    /// [`Self::to_curves`] reads keys without SIMD.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `local` does not have one element per
    /// joint.
    pub fn sample(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        expect_len("local pose", local.len(), self.rest.len())?;
        self.sample_joints(Unit::best(), time_s, 0, local);
        Ok(())
    }

    /// Samples the local transform of one joint at `time_s`, as [`Self::sample`] does.
    ///
    /// The cost does not depend on the number of joints. Returns the identity if the skeleton does
    /// not have the joint.
    #[must_use]
    pub fn sample_joint(&self, joint: Id<Joint>, time_s: f64) -> Transform {
        self.sample_one(Unit::best(), joint, time_s)
    }

    fn sample_one(&self, unit: Unit, joint: Id<Joint>, time_s: f64) -> Transform {
        let mut one = [Transform::IDENTITY];
        if usize::from(joint) < self.rest.len() {
            self.sample_joints(unit, time_s, joint.into(), &mut one);
        }
        one[0]
    }

    /// Samples consecutive joints, starting with number `first`. The skeleton has all of them.
    fn sample_joints(&self, unit: Unit, time_s: f64, first: usize, local: &mut [Transform]) {
        assert!(first + local.len() <= self.rest.len());
        let moment = self.timing.moment(time_s);
        // SAFETY: a `Unit` proves that the CPU has it. The clip has a block for each eight of its
        // joints, and the moment is from its timing.
        unsafe {
            match unit.level() {
                #[cfg(target_arch = "x86_64")]
                SimdLevel::Avx512 | SimdLevel::Avx2 => {
                    phase!(Avx2Fma, joints::<Avx2>(self, &moment, first, local));
                }
                _ => joints::<BaselineEight>(self, &moment, first, local),
            }
        }
        let kept = self.kept_of(first..first + local.len());
        animate_tracks(kept, moment.time_s, first, local);
    }
}

impl BatchPoser {
    /// Does the same as [`Clip::sample_joint`], on the poser's SIMD level.
    pub(crate) fn sample_joint(&self, clip: &Clip, joint: Id<Joint>, time_s: f64) -> Transform {
        clip.sample_one(self.unit, joint, time_s)
    }
}

/// Samples consecutive joints from the uniform keys, block by block.
///
/// # Safety
/// The CPU has the instructions that `L` needs. The clip has these joints, and the moment is from
/// its timing.
#[inline(always)]
unsafe fn joints<L: Eight>(
    clip: &Clip,
    moment: &Moment,
    mut joint: usize,
    mut local: &mut [Transform],
) {
    while !local.is_empty() {
        let (block, lane) = (joint / WIDTH, joint % WIDTH);
        let (now, later) = local.split_at_mut(local.len().min(WIDTH - lane));
        let mut rows = [Row::default(); COMPONENTS];
        // SAFETY: the caller guarantees the CPU features, and that the clip has this block.
        // Properties at rest are not read.
        let info = unsafe {
            let info = clip.blocks.get_unchecked(block);
            if !info.rests(Property::Rotation) {
                let mut q: [L; 4] = even(clip, moment, info, Property::Rotation);
                let inverse = L::splat(1.0).div(dot(q, q).sqrt());
                for component in &mut q {
                    *component = component.mul(inverse);
                }
                store(q, &mut rows[Property::Rotation.range()]);
            }
            for property in [Property::Translation, Property::Scale] {
                if !info.rests(property) {
                    let vector: [L; 3] = even(clip, moment, info, property);
                    store(vector, &mut rows[property.range()]);
                }
            }
            info
        };
        for (number, to) in now.iter_mut().enumerate() {
            *to = clip.at_rest(joint + number);
            let own = transform(rows.map(|row| row.0[lane + number]));
            if !info.rests(Property::Rotation) {
                to.rotation = own.rotation;
            }
            if !info.rests(Property::Translation) {
                to.translation = own.translation;
            }
            if !info.rests(Property::Scale) {
                to.scale = own.scale;
            }
        }
        (joint, local) = (joint + now.len(), later);
    }
}
