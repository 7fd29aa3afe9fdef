//! Blend spaces: weights of clips from a parameter such as a velocity.
//!
//! Each clip has a position, and its weight depends on where the parameter lies among them.
//!
//! - `line`: points on a line.
//! - `plane`: points in a plane, blended by triangles. `delaunay` makes the triangles, with the
//!   exact predicates of `grid`.

mod delaunay;
mod grid;
mod line;
mod plane;
mod points;
mod space;

pub(crate) use line::BlendLine;
pub(crate) use plane::BlendPlane;
pub(crate) use space::BlendShape;
pub use space::BlendSpace;
