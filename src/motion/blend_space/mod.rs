//! Blend spaces: weights of clips from a parameter such as a velocity.
//!
//! Each clip has a position, and its weight depends on where the parameter lies among them.
//!
//! - `space`: points on a line, and points in a plane, which are blended by triangles.
//! - `delaunay`: makes the triangles, with the exact predicates of a grid.

mod delaunay;
mod space;

pub use space::BlendSpace;
pub(crate) use space::{BlendLine, BlendPlane, BlendShape};
