//! Inverse kinematics against plain `f64` forward kinematics: what was asked for is so in the pose that came out.

#[path = "ik/aim.rs"]
mod aim;
#[path = "ik/bodies.rs"]
mod bodies;
#[path = "ik/chain.rs"]
mod chain;
mod reference;
#[path = "ik/two_bone.rs"]
mod two_bone;
