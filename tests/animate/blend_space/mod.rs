//! Blend spaces, compared with plain `f64` code: weights and triangles by their definitions.
//!
//! - [`plain`]: weights, sums of them, and random points.
//! - [`triangles`]: planes, by their triangles.
//! - [`weights`]: lines, and any positions.
//! - [`refusals`]: points that make no blend space.

pub(crate) mod plain;
mod refusals;
mod triangles;
mod weights;
