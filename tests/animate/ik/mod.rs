//! Inverse kinematics, compared with plain `f64` forward kinematics of the resulting pose.

mod aim;
mod aim_near;
pub(crate) mod bodies;
mod chain;
mod contract;
mod feet;
mod models;
mod refusals;
mod two_bone;
