//! Blend spaces: weights of clips from where a parameter, such as a velocity, lies among theirs.
//!
//! - [`BlendSpace1`]: points on a line; [`BlendSpace2`]: points in a plane, by the triangles of
//!   `delaunay`, which stands on the exact predicates of `grid`;
//! - [`GradientBands`]: points in a plane, by how far the parameter has gone from each towards all
//!   others.

mod delaunay;
mod gradient_bands;
mod grid;
mod one;
mod points;
mod two;

pub use gradient_bands::GradientBands;
pub use one::BlendSpace1;
pub use points::MAX_BLEND_POINTS;
pub use two::BlendSpace2;
mod shape;
pub use shape::{BlendShape, BlendSpace};
