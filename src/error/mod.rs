//! The one error type of the crate.

#[cfg(feature = "vulkan")]
mod allocator;
mod argument;
mod asset;
mod expect;
mod names;
mod place;
mod unrepresentable;
mod variants;

#[cfg(feature = "vulkan")]
pub use allocator::AllocatorError;
pub use argument::ArgumentFault;
pub use asset::{AssetFault, Object, ObjectKind};
pub(crate) use expect::{
    MAX_EXTENT, expect_all_finite, expect_cap, expect_extent, expect_finite, expect_in,
    expect_index, expect_len, expect_transform,
};
#[cfg(feature = "vulkan")]
pub(crate) use expect::{expect, expect_frame, expect_placement, spans_space};
pub use names::Escaped;
pub(crate) use names::{cut, has_escaped, listed, nearest, nearest_or_id};
pub use unrepresentable::Unrepresentable;
#[cfg(feature = "toml")]
pub(crate) use variants::LFS_POINTER;
pub use variants::{DescFault, Error, Result, SavedFault};
