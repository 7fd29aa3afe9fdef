//! The stages animate and palette: who poses an instance, and where its palette is.

mod choose;
pub(crate) mod gpu_poses;
pub(crate) mod pose_scratch;
pub(crate) mod shared_poses;
mod write;
