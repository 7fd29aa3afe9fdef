//! Raw data, and its import into characters.
//!
//! A reader fills a [`RawCharacter`] with the contents of a file. Those of the crate
//! `throng-import` read glTF, VRM, FBX and others; an engine may have one of its own. Code that
//! generates characters starts from a [`RawCharacter`], too: [`RawPrimitive::build_rigid`] makes a
//! character from a static mesh, and [`RawCharacter::from_skeleton`] one from a skeleton alone.
//!
//! [`RawCharacter::build`] checks the raw data, repairs harmless faults, lists the repairs and
//! makes a [`Character`](crate::character::Character). [`RawCharacter::add_clips`] adds the clips
//! to an existing character instead, and matches joints by name. Contents that are left out are
//! each reported as a [`Repair`].
//!
//! For readers, [`RawCharacter::repairs`] takes what they repaired, [`ImportLimits`] what to
//! check, and [`Error::asset`](crate::Error::asset) makes errors about an object of the file.

mod add_clips;
mod assemble;
mod fault;
mod imported;
mod limits;
mod options;
mod raw;
mod repair;
mod resource_reader;
mod shapes;
mod weight_match;

pub use imported::{GeometryReport, Imported, InfluenceLoss, SpawnPoint};
pub use limits::ImportLimits;
pub use options::{ImportOptions, TextureTarget, UpAxis};
pub use raw::{
    RawAnimation, RawChannel, RawCharacter, RawKeys, RawLevel, RawMorph, RawNode, RawPrimitive,
    RawSkin,
};
pub use repair::{Repair, RepairKind};
pub use resource_reader::ResourceReader;
