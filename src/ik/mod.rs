//! Inverse kinematics on model poses: limbs, look-at, chains and feet.
//!
//! ```text
//! local pose, model pose ──TwoBone · Aim · IkChain · FootPlacement──▶ poses with joints turned
//! ```
//!
//! - [`TwoBone`]: a leg or an arm, solved in closed form.
//! - [`Aim`]: several joints that look at a target together.
//! - [`IkChain`]: any number of joints, with limits, solved by iteration.
//! - [`FootPlacement`]: pelvis and legs on uneven ground.
//!
//! A solver is plain data about a skeleton. A *target* is plain data about one instance in one
//! frame. [`Animator::add_solver`](crate::animator::Animator::add_solver) takes solvers, and
//! [`Actor::set_target`](crate::animator::Actor::set_target) gives targets to actors. A pose
//! from elsewhere can be shown on an actor first, see
//! [`Actor::set_pose`](crate::animator::Actor::set_pose), or be solved without an animator by
//! [`IkSolver::solve`](crate::IkSolver::solve).
//!
//! A solver changes local rotations; [`FootPlacement`] also changes the translation of the pelvis.
//! It then recomputes the model pose of those joints and of all joints below them, and of no
//! others. Nothing is allocated. All data, including targets, is in character (model) space.
//!
//! # Weights
//! A weight blends each corrected local rotation with the animated one, by components on the
//! shorter arc (nlerp). Weight 1 is the solution. Weight 0 changes nothing.
//!
//! # Scales
//! Every step is solved in the space of a joint's parent. There, a turn of the joint moves
//! everything below it rigidly, whatever the scales above: uniform, non-uniform or flipped.
//! Solutions are therefore exact up to rounding, with one exception. Inside a limb or a chain,
//! below its first joint, a non-uniform scale makes bones longer or shorter as joints turn. Such
//! limbs are solved repeatedly, and the [report](crate::ik::IkReport) gives the remaining
//! distance.
//!
//! # Bad input
//! An invalid solver or target is a typed error, and nothing is changed. If there is no numeric
//! solution (the pose is not finite, or a parent has scale zero), the pose stays unchanged and the
//! report says that the target was not reached. A finite pose never becomes non-finite, whatever
//! the input.

mod aim;
mod aim_solve;
mod chain;
mod chain_solve;
mod feet;
mod job;
mod limb;
mod limit;
mod maths;
mod report;
mod two_bone;

pub use aim::{Aim, AimTarget};
pub use chain::{ChainTarget, IkChain};
pub use feet::{FeetTarget, FootPlacement, GroundHit};
pub(crate) use job::{IkJob, IkPose};
pub use limit::JointLimit;
pub use report::IkReport;
pub use two_bone::{Pole, TwoBone, TwoBoneTarget};
