//! The palette stage: from a model pose to skinning matrices, in every palette format.
//!
//! A palette has one entry for each distinct pair of joint and inverse bind matrix.
//! [`Character::write_palette`](crate::character::Character::write_palette) computes the palette of
//! one pose, and [`Animator::palettes`](crate::animator::Animator::palettes) those of many
//! instances.

mod entry;
mod format;
mod held;
mod matrices;
mod method;
mod project;
mod write_only;

pub use entry::PaletteEntry;
pub(crate) use entry::{rotate, translation};
pub use format::{DualQuat, DualQuatStretch, Mat3x4, PaletteFormat, QuatOffset, SkinningMethod};
pub(crate) use format::{PaletteRef, with_entries, with_entry};
pub(crate) use held::DISPLACEMENT;
pub(crate) use matrices::rest_palette;
pub use write_only::WriteOnly;
