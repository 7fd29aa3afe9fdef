//! The animation data of a character besides its clips.
//!
//! This is masks, events, root motion, gaits, blend spaces, sockets and a state machine.
//!
//! - `desc`: all of it as plain data.
//! - `text`: its form in text, and the parts that errors name. `toml`: reading and writing TOML.
//! - `draft`: clips that will be added to a character, with the data of each.
//! - `lookups`: the methods of a character that read the checked data.
//! - `apply`: from plain data and drafts to checked data.
//! - `parts`: masks, sockets, blend spaces, state machine and humanoid roles of the checked data.
//! - `gait`: measures the speed at which a clip walks.

mod apply;
mod clips;
mod desc;
mod draft;
mod gait;
mod lookups;
mod parts;
mod save;
mod set;
mod source;
mod text;
#[cfg(feature = "toml")]
mod toml;

pub use desc::{
    AdditiveDesc, AnimationDesc, BlendAt, BlendSpaceDesc, ClipDesc, EventDesc, Gait, PoseReference,
    RootMotionDesc, SocketDesc,
};
pub(crate) use draft::ClipDraft;
pub(crate) use set::AnimationSet;
pub(crate) use source::{AnimationSource, ReadFile};
