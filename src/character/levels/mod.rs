//! Levels of detail: their sizes and errors, and making them.
//!
//! - `info`: the levels that a character has.
//! - `poses`: the poses in which errors are measured.
//! - `whole`: all primitives as one list of vertices.
//! - `surface`: the nearest point of a triangle mesh.
//! - `measure`: the error of levels over all poses.
//! - `cover`: the area that levels cover.
//! - `simplify`: one primitive through the simplifier, a feature.
//! - `far`: meshes of the whole character for far away, a feature.
//! - `make`: new levels, a feature.

mod cover;
#[cfg(feature = "lod")]
mod far;
mod info;
#[cfg(feature = "lod")]
mod make;
mod measure;
mod poses;
#[cfg(feature = "lod")]
mod simplify;
mod surface;
mod whole;

pub use info::LevelInfo;
#[cfg(feature = "lod")]
pub use make::LevelOptions;
