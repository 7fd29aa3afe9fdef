//! Inverse kinematics against plain `f64` forward kinematics: what was asked for is so in the pose
//! that came out.

#[path = "ik/aim.rs"]
mod aim;
#[path = "ik/aim_near.rs"]
mod aim_near;
#[path = "ik/bodies.rs"]
mod bodies;
#[path = "ik/chain.rs"]
mod chain;
#[path = "ik/contract.rs"]
mod contract;
#[path = "ik/feet.rs"]
mod feet;
#[path = "ik/models.rs"]
mod models;
mod reference;
#[path = "ik/refusals.rs"]
mod refusals;
#[path = "ik/two_bone.rs"]
mod two_bone;
