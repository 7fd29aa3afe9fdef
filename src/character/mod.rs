//! The asset: a character with its meshes, its packed clips and its animation set.
//!
//! A [`Character`] is made by [`crate::import`] or [`crate::builtin`]. It is immutable. Its
//! invariants are listed at [`Character`], and later stages do not check them again.

mod added_clips;
mod animation_set;
mod asset;
mod clip_names;
mod cut;
mod extras;
mod flips;
mod pack_clips;
mod packing;
mod pieces;
mod ranges;
mod reach;
mod repack;
mod root_motion;
mod save;
mod scale_ranges;
mod split;
mod state_machine;
mod triangles;

#[cfg(all(
    feature = "toml",
    any(feature = "gltf", feature = "ezm", feature = "wgl")
))]
pub(crate) use animation_set::AnimationText;
pub use animation_set::{
    AdditiveDesc, AdditiveReferenceDesc, AnimationDesc, AnimationSet, BlendAt, BlendSpaceDesc,
    ClipDesc, EventDesc, Gait, RootMotionDesc, SocketDesc,
};
pub(crate) use animation_set::{AnimationSource, ClipDraft, NamedTimes};
pub use asset::Character;
pub(crate) use flips::mark_flips;
pub use packing::ClipImport;
pub(crate) use packing::Packing;
pub(crate) use pieces::Bounds;
pub(crate) use reach::reaches;
pub(crate) use repack::{Offer, Policy, bound, repack};
pub(crate) use scale_ranges::ScaleRanges;
pub use split::SplitReport;
pub(crate) use triangles::Facing;

// For the tests and benches of this crate: not part of the API.
#[doc(hidden)]
pub use split::Split;
