//! Levels of detail for far away: one mesh of the whole character, with vertices of its own.
//!
//! There are two sources: the character's own surface, and a closed surface around all its pieces.
//! meshoptimizer-rs simplifies both to some hundred triangles. Then edges collapse one by one, as
//! the poses suffer least. Between these steps, vertices move to where they fit best by weighted
//! least squares. At each wanted number of triangles, the mesh is moved outwards until it covers
//! the area of the full level, and is compared in all poses. Those in which it fits worst count
//! from then on. The better of both meshes is taken.
//!
//! - `mesh`: such a mesh.
//! - `source`: the surface that is simplified: the character's own, or one around all its pieces.
//! - `remesh`: that surface around all pieces.
//! - `posing`, `track`: the poses that meshes are fitted to.
//! - `fit`: vertices move to where they fit all poses.
//! - `reduce`: edges collapse one by one.
//! - `maker`: the best mesh for each number of triangles.
//! - `paint`, `seen`: its colours and its material, from what is seen of the surface.

mod fit;
mod maker;
mod mesh;
mod paint;
mod posing;
mod reduce;
mod remesh;
mod seen;
mod source;
mod track;

pub(super) use maker::Maker;
pub(super) use paint::Painter;
