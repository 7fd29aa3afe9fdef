//! The FBX reader: binary and text, versions 5 to 7.7, through the C library ufbx.
//!
//! ```text
//! bytes ──ufbx──▶ scene ──nodes, mesh, morph, animation, material──▶ RawCharacter
//! ```
//!
//! ufbx converts units and axes, and evaluates animation curves. This module only reads its scene,
//! through its safe interface.

mod animation;
mod convert;
mod geometric;
mod images;
mod keys;
mod material;
mod mesh;
mod morph;
mod nodes;
mod read;
mod skin;

pub(super) use read::read;
