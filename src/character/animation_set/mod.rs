//! What belongs to a character's animation besides its clips: masks, events, root motion, gaits,
//! blend spaces, sockets and a state machine.
//!
//! - `desc`: all of it as plain data; `text`: read from TOML, and `fault`: which part is wrong;
//! - `draft`: clips that are about to become a character's, with what belongs to each; `apply`:
//!   from data and drafts to what is proven; `parts`: its masks, sockets, blend spaces and state
//!   machine;
//! - `gait`: how fast the ground passes under a clip, measured.

mod apply;
mod clips;
mod desc;
mod draft;
mod fault;
mod gait;
#[cfg(test)]
mod made;
mod parts;
mod save;
mod set;
mod source;
#[cfg(feature = "toml")]
mod text;

pub use desc::{
    AdditiveDesc, AdditiveReferenceDesc, AnimationDesc, BlendAt, BlendPointDesc, BlendSpaceDesc,
    ClipDesc, EventDesc, Gait, RootMotionDesc, SocketDesc,
};
pub(crate) use draft::{ClipDraft, NamedTimes};
pub use set::{AnimationSet, NamedSocket};
pub(crate) use source::AnimationSource;
#[cfg(feature = "toml")]
pub use text::AnimationText;
