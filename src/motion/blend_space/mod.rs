//! Blend spaces: weights of clips from a parameter such as a velocity.
//!
//! Each clip has a position, and its weight depends on where the parameter lies among them.
//!
//! - [`BlendSpace1`]: points on a line.
//! - [`BlendSpace2`]: points in a plane, blended by triangles. `delaunay` makes the triangles, with
//!   the exact predicates of `grid`.
//! - [`GradientBands`]: points in a plane. The weight of a point depends on how far the parameter
//!   has moved from it towards each other point.

mod delaunay;
mod gradient_bands;
mod grid;
mod one;
mod points;
mod shape;
mod two;

pub use gradient_bands::GradientBands;
pub use one::BlendSpace1;
pub use shape::{BlendShape, BlendSpace};
pub use two::BlendSpace2;
