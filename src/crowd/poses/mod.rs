//! The stages animate and palette: who poses an instance, and where its palette is.

mod choose;
pub(crate) mod gpu_poses;
pub(crate) mod pose_scratch;
mod posed_by;
mod record;
pub(crate) mod shared_poses;
mod write;

use crate::crowd::skin::cpu_skinning::CpuSkinning;
use gpu_poses::GpuPoses;
use pose_scratch::PoseScratch;

/// The processors that pose instances, and their working memory.
#[derive(Debug)]
pub(crate) struct Poses {
    pub(crate) scratch: PoseScratch,
    /// If the GPU poses instances.
    pub(crate) gpu: Option<GpuPoses>,
    /// The instances that the CPU also skins.
    pub(crate) skinning: CpuSkinning,
}
