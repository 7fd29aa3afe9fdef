//! The asset: a character with its meshes, its packed clips and its animation data.
//!
//! A [`Character`] is made by [`crate::import`] or [`crate::builtin`]. It is immutable. Its
//! invariants are listed at [`Character`], and later stages do not check them again.
//!
//! # Saved characters
//!
//! [`Character::save_file`] writes a character that is ready to be played, conventionally with the
//! extension `.throng`. [`Character::load_file`] checks everything that an import checks, but it
//! decodes, packs and measures nothing. A tool makes such files once, and a game loads them.
//!
//! All numbers are little-endian. The file starts with a header:
//!
//! | bytes | header |
//! |---:|---|
//! | 8 | signature: `throng`, carriage return, line feed |
//! | 8 | checksum of the rest of the header and of the table |
//! | 4 | version of header and table: 2 |
//! | 4 | number of sections, at most 64 |
//! | 8 | length of the file in bytes |
//!
//! The table follows, with an entry for each section, in the order of the sections:
//!
//! | bytes | entry |
//! |---:|---|
//! | 16 | name in ASCII, padded with zeros |
//! | 4 | flags: bit 0 is set if the section is required |
//! | 4 | version of the section's contents |
//! | 8 | offset from the start of the file, a multiple of 16 |
//! | 8 | length in bytes |
//! | 8 | checksum of the section |
//!
//! The sections follow without gaps, except for the zeros that align each to 16 bytes:
//!
//! | section | contents |
//! |---|---|
//! | `skeleton` | joints, skins, the range of each joint's scale |
//! | `mesh` | name, forms of clips to keep, packing options, palette, primitives with their streams, influences, morph targets and levels of detail, morph weights, bounds |
//! | `materials` | materials |
//! | `images` | images: texels, run-length encoded, or stored mip levels |
//! | `curves` | the curves of the imported file, if they were kept |
//! | `clips` | packed clips |
//! | `animations` | masks, sockets, blend spaces, state machine, events, root motion, gaits |
//! | `expressions` | expressions with their morph weights |
//! | `springs` | colliders and chains of spring bones |
//! | `humanoid` | the joints that are parts of a humanoid, and whether it is from a VRM file |
//! | `variants` | names of material variants, and the materials of primitives in them |
//! | `tints` | for each material: weights, reference colour and mask of tints |
//!
//! Later versions of the crate may add sections. A reader skips an unknown section, unless it is
//! required: then it refuses the file, and the error names the section. It also refuses a known
//! section of another version, one that exists twice, and a missing one. Only a character with
//! variants, or with other tints than by default, has their section. Nothing is converted: import
//! the original file again and save the result.
//!
//! The version of `mesh` is 4, those of `images`, `clips` and `animations` are 3, those of `curves`
//! and `humanoid` are 2, and those of all other sections are 1. An image is its name, its width and
//! height as two 32-bit numbers, its format in a byte and the number of its stored mip levels in 4
//! bytes. With levels, the number of their bytes in 8 bytes and the bytes follow, which are kept
//! and uploaded as they are. Without, the number of its runs in 8 bytes, the runs, and the literals
//! of all runs one after the other follow, 4 bytes each. This is run-length encoding of texels. A
//! run has two bytes: the number of its literals, at least 1, and the number of times that its last
//! literal is repeated. A loaded [`Image`](crate::mesh::Image) keeps its runs. Its texels are at
//! most 171 times as large.
//!
//! Lists of numbers, such as vertex streams and packed keys, are stored as they are in memory, and
//! loading copies them without a conversion.

mod animation_set;
mod asset;
mod avatar;
mod clips;
mod draft;
mod extent;
#[cfg(feature = "vulkan")]
mod extreme_scales;
mod flips;
mod levels;
mod save;
mod split;
mod state_machine;
mod triangles;

pub use animation_set::{
    AdditiveDesc, AnimationDesc, BlendAt, BlendSpaceDesc, ClipDesc, EventDesc, Gait, PoseReference,
    RootMotionDesc, SocketDesc,
};
pub(crate) use animation_set::{AnimationSet, AnimationSource, ClipDraft, ReadFile};
pub use asset::Character;
pub(crate) use asset::Packing;
pub(crate) use draft::CharacterDraft;
pub use levels::LevelInfo;
#[cfg(feature = "lod")]
pub use levels::LevelOptions;
pub use save::LoadOptions;
#[cfg(feature = "vulkan")]
pub(crate) use triangles::DrawGroup;
pub(crate) use triangles::Facing;
