//! Spheres that every pose of some clips keeps to, computed from lengths.
//!
//! A box around the poses of some clips does not bound their blends: half way between an arm that
//! hangs and one that is raised, the hand is outside both boxes. Lengths bound all of them:
//!
//! - A rotation changes no length. A mean of translations is no longer than the longest, and a mean
//!   of scales no larger than the largest.
//! - An additive clip adds its translation times its weight, and multiplies scales by up to
//!   1 + w |s − 1|.
//! - The solvers of inverse kinematics and spring bones only turn joints. Foot placement also moves
//!   the pelvis, by a distance that has a limit.
//! - An inertialised transition adds offsets, which have a largest length.
//! - A vertex is a convex combination of its images under its palette entries.
//!
//! So joints that turn or change their scale become *pivots*. What lies between two pivots is
//! rigid, apart from translations, which have a range. Then
//!
//! ```text
//! reach(pivot) = reach(parent pivot) + scale(parent pivot) × the largest distance between them
//! scale(pivot) = scale(parent pivot) × the largest scale of the joints between them
//! radius = the largest reach(pivot) + scale(pivot) × the largest distance of an entry's vertices
//! ```
//!
//! The first pivots of a character have a range of positions instead, and the sphere is around the
//! boxes of these positions, widened by their radii.

mod nodes;
mod poses;
mod rig;
mod sphere;

pub(crate) use nodes::Nodes;
pub(crate) use poses::Poses;
pub(crate) use rig::ReachRig;
pub(super) use rig::UNIT;
pub(crate) use sphere::{Posing, Reach};
