//! Inverse kinematics against plain `f64` forward kinematics: what was asked for is so in the pose
//! that came out.

mod aim;
mod aim_near;
mod bodies;
mod chain;
mod contract;
mod feet;
mod models;
mod refusals;
mod two_bone;
