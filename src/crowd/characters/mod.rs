//! The characters of a crowd: added, replaced and removed between frames.

mod add;
pub(crate) mod desc;
pub(crate) mod loaded;
mod replace;
