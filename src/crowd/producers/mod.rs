//! Data of the animate and skin stages that is kept from frame to frame.

pub(in crate::crowd) mod animated;
pub(in crate::crowd) mod deforms;
pub(in crate::crowd) mod gpu_places;
pub(in crate::crowd) mod gpu_poses;
pub(in crate::crowd) mod shared_poses;
