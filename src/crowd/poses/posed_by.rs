//! Tells which processor poses an instance, and what its pose has in common with others.

use crate::crowd::poses::choose::posed_by;
use crate::crowd::scene::Scene;
use crate::crowd::{Crowd, InstanceId};
use crate::error::Result;
use crate::gpu::layout::GpuActor;
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
        let error_m = GpuActor::pose_error(self.scene.shared_error_m(id.index));
        let (error_m, placed) = (f32::from_bits(error_m), self.sphere(id.index));
        Ok(self.scene.may_share(id.index, &placed, error_m))
    }
}

impl Scene {
    /// The error in metres with which shared poses stand in for what an instance plays, if they do.
    pub(crate) fn shared_error_m(&self, index: u32) -> Option<f32> {
        self.shared_pose(index).0
    }

    /// The same, and the volume that contains the vertices of the instance, as the flags of
    /// [`GpuActor`] have it.
    #[inline]
    pub(crate) fn shared_pose(&self, index: u32) -> (Option<f32>, u32) {
        let state = &self.instances[index];
        let Some(poses) = self.poses.gpu.as_ref().filter(|_| state.alive) else {
            return (None, 0);
        };
        let Some(shared) = &self.characters[state.character].shared_poses else {
            return (None, 0);
        };
        let (clip, posed_by) = (poses.shared_clip(index), poses.posed_by(index));
        let volume = match (clip, posed_by) {
            // Morph targets move vertices out of every box.
            _ if state.has_morphs() => 0,
            (Some(_), PosedBy::Gpu) | (None, PosedBy::Cpu(CpuReason::Rest)) => shared.volume(clip),
            _ => 0,
        };
        (clip.and_then(|clip| shared.error_m(clip)), volume)
    }
}
