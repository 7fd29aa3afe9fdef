//! Spring bones: hair, tails and cloth that swing behind the animation.
//!
//! ```text
//! local pose, model pose, world transform ──SpringBones──▶ poses whose chains of joints swing
//! ```
//!
//! - [`SpringBones`]: the chains of a character, and the colliders that they stay outside of.
//! - [`SpringChain`]: joints that swing one below the other, such as a strand of hair.
//! - [`SpringCollider`]: a sphere or a capsule on a joint.
//!
//! An import of a VRM file fills them in. [`Character::with_springs`] sets them for any character.
//! [`Animator`] and `Crowd` then simulate each instance on the CPU, after animation and inverse
//! kinematics.
//!
//! # Simulation
//! The formula is that of [VRMC_springBone
//! 1.0](https://github.com/vrm-c/vrm-specification/tree/master/specification/VRMC_springBone-1.0):
//! Verlet integration of the tail of each joint, at a distance from its head that stays the same.
//! The tail keeps `1 - drag` of its last movement, is drawn to its animated direction by
//! `stiffness`, and moved by `gravity`. There is one difference. The direction that a joint returns
//! to is that of the animated pose. It is the rest direction as long as no clip drives the joint.
//!
//! The formula depends on the length of a step, so steps always take [`SpringBones::STEP_S`],
//! whatever the frame rate. Within a frame, joints above the chains move evenly from the last pose
//! to the present one. What remains of a frame after its last full step is shown as a fraction of a
//! step, and is not kept. Poses are therefore smooth at any frame rate. All multiples of 60 Hz give
//! the same poses, up to rounding. Other frame rates give nearly the same.
//!
//! - A frame of more than [`SpringBones::MAX_STEPS`] steps takes only that many, for the whole
//!   movement. After a second without evaluation, chains start anew in the animated pose.
//! - Time that stands still, or goes back, takes no step.
//! - A joint collides with a collider that swings after it, in the skeleton's order, where the last
//!   step put that collider.
//! - Tails move in world space, so chains lag behind a character that walks. A teleport moves
//!   them along.
//! - Results have the same bits on any number of threads.
//! - The world transform may scale. Stiffness, gravity and radii scale with it.
//!
//! [`Character::with_springs`]: crate::character::Character::with_springs
//! [`Animator`]: crate::animator::Animator

mod bones;
mod rig;
mod state;
mod step;

pub use bones::{SpringBones, SpringChain, SpringCollider, SpringJoint};
pub(crate) use rig::SpringRig;
pub(crate) use state::SpringState;
