//! Inverse kinematics on model poses: limbs that reach, heads that look, chains that bend, feet
//! that stand.
//!
//! ```text
//! local pose, model pose ──TwoBone · Aim · IkChain · FootPlacement──▶ the same, with a few joints turned
//! ```
//!
//! - [`IkRig`]: what a skeleton needs for it, made once: below any joint, what has to be recomputed
//!   when that joint turns;
//! - [`TwoBone`]: a leg or an arm, in closed form; [`Aim`]: joints that look at something together;
//!   [`IkChain`]: any number of joints, with limits, by iteration; [`FootPlacement`]: pelvis and
//!   legs on uneven ground;
//! - [`IkJob`]: what they have in common. A job is plain data about a skeleton, made once for a
//!   character; a *target* is plain data about an instance in a frame. [`solve_many`] and
//!   [`solve_many_par`] take instances whose poses lie one after the other.
//!
//! A job changes local rotations (feet: the pelvis's translation, too), then recomputes the model
//! pose of those joints and of all below them, and of no others. Nothing is allocated. Everything,
//! targets too, is in character (model) space.
//!
//! # Weights
//! A weight blends each corrected local rotation with the animated one, by components on the
//! shorter arc (nlerp). 1 is the solution, at 0 nothing is touched.
//!
//! # Scales
//! Every step is solved in the space of a joint's parent, where a turn of the joint moves all below
//! it rigidly, whatever the scales above: uniform, uneven or mirrored. So solutions are exact but
//! for rounding, with one exception: inside a limb or a chain, below its first joint, an uneven
//! scale makes bones longer or shorter as joints turn. Those are solved by repetition, and the
//! report says what is left.
//!
//! # Bad input
//! What is wrong with a job or a target is a typed error, and nothing is touched. Where there is no
//! answer in numbers (a pose that is not finite, a parent of scale zero) the pose stays as it was,
//! and the report says that the target was not reached. No input makes a pose that is not finite
//! out of one that is.

mod aim;
mod aim_solve;
mod chain;
mod chain_solve;
mod feet;
mod job;
mod limb;
mod limit;
mod maths;
mod rig;
mod two_bone;

pub use aim::{Aim, AimJoint, AimReport, AimTarget, MAX_AIM_JOINTS};
pub use chain::{ChainJoint, ChainReport, ChainTarget, IkChain, MAX_CHAIN_JOINTS};
pub use feet::{FeetReport, FeetTarget, FootPlacement, GroundHit, Leg, MAX_LEGS};
pub use job::{IkJob, IkPose, solve_many, solve_many_par};
pub use limit::JointLimit;
pub use rig::IkRig;
pub use two_bone::{Pole, TwoBone, TwoBoneReport, TwoBoneTarget};
