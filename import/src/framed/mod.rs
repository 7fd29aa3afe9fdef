//! Formats whose clips are lists of frames: EZMesh and WebGL models.

#[cfg(feature = "ezm")]
pub(crate) mod ezm;
mod frames;
mod inverse_rest;
mod srgb;
#[cfg(feature = "wgl")]
pub(crate) mod wgl;
