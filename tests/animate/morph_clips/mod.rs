//! Morph weights inside packed clips, and their blend, against plain `f64` code.
//!
//! - [`made`]: characters and clips with morph weights, and their exact values.
//! - [`packing`]: clips hold the file's weights.
//! - [`blending`]: blends of weights.

mod blending;
mod made;
mod packing;
