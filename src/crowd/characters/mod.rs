//! The characters of a crowd: added, replaced and removed between frames.

mod add;
pub(crate) mod desc;
pub(crate) mod level;
pub(crate) mod list;
pub(crate) mod loaded;
mod replace;
