//! Tells which processor poses an instance.

use crate::crowd::poses::choose::posed_by;
use crate::crowd::{Crowd, InstanceId};
use crate::error::Result;
use crate::gpu::{CpuReason, PosedBy};

impl Crowd {
    /// The processor that poses an instance, and if it is the CPU, the reason.
    ///
    /// This is what the next prepared frame will find, unless something changes until then.
    /// [`CpuReason::Memory`] is what the last one found. See
    /// [`Stages::Gpu`](crate::crowd::Stages::Gpu).
    ///
    /// ```
    /// use throng::gpu::{CpuReason, PosedBy};
    /// use throng::{Crowd, InstanceId, Result};
    ///
    /// /// The share of a crowd that costs the CPU nothing.
    /// fn share_on_gpu(crowd: &Crowd) -> Result<f32> {
    ///     let mut count = 0;
    ///     for id in crowd.instances() {
    ///         let free = [PosedBy::Gpu, PosedBy::Cpu(CpuReason::Rest)];
    ///         count += usize::from(free.contains(&crowd.posed_by(id)?));
    ///     }
    ///     Ok(count as f32 / crowd.instances().len().max(1) as f32)
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if the
    /// instance is not alive.
    pub fn posed_by(&self, id: InstanceId) -> Result<PosedBy> {
        let state = self.scene.instances.get(id)?;
        let Some(poses) = &self.scene.poses.gpu else {
            return Ok(PosedBy::Cpu(CpuReason::Chosen));
        };
        let mut plays = Vec::new();
        let can = posed_by(
            (&self.scene.characters[state.character], state),
            &self.animators[state.character],
            poses.epoch_s(self.shown_s),
            &mut plays,
        )?;
        let full = PosedBy::Cpu(CpuReason::Memory);
        Ok(match can {
            PosedBy::Gpu if poses.posed_by(id.index) == full => full,
            can => can,
        })
    }

    /// True if the frame prepared last shows an instance with a pose that others share.
    ///
    /// This repeats what the GPU decides: see
    /// [`Detail::pose_error_px`](crate::Detail::pose_error_px). It does not know of instances for
    /// whose palettes there was no memory.
    ///
    /// # Errors
    /// [`Error::Stale`](crate::Error::Stale) or [`Error::NotFound`](crate::Error::NotFound) if the
    /// instance is not alive.
    pub fn shares_pose(&self, id: InstanceId) -> Result<bool> {
        self.scene.instances.get(id)?;
        let poses = self.scene.poses.gpu.as_ref();
        let error_m = poses.map_or(0.0, |poses| f32::from_bits(poses.pose_error(id.index)));
        let placed = self.sphere(id.index);
        Ok(self.scene.may_share(id.index, &placed, error_m))
    }
}
