//! Blend spaces: weights of clips from a parameter such as a velocity.
//!
//! Each clip has a position, and its weight depends on where the parameter lies among them.
//!
//! - [`BlendSpace1`]: points on a line.
//! - [`BlendSpace2`]: points in a plane, blended by triangles. `delaunay` makes the triangles, with
//!   the exact predicates of `grid`.

mod delaunay;
mod grid;
mod one;
mod points;
mod shape;
mod two;

pub use one::BlendSpace1;
pub use shape::{BlendShape, BlendSpace};
pub use two::BlendSpace2;
