//! Formats whose clips are lists of frames: EZMesh and WebGL models.

#[cfg(feature = "ezm")]
pub(in crate::import) mod ezm;
mod frames;
mod inverse_rest;
mod srgb;
#[cfg(feature = "wgl")]
pub(in crate::import) mod wgl;
