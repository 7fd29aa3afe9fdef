//! Data of the animate and skin stages that is kept from frame to frame.

pub(in crate::crowd) mod cpu_skinning;
pub(in crate::crowd) mod gpu_poses;
pub(in crate::crowd) mod pose_scratch;
pub(in crate::crowd) mod shared_poses;
