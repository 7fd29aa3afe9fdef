//! throng: crowds of skinned, animated characters for Vulkan engines.
//!
//! # Conventions
//! Right-handed, +Y up, metres, seconds, radians, as in glTF. Column vectors, matrices named
//! `to_from`. Quaternions xyzw. Joints are stored parent first, breadth first.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]

pub mod error;

pub mod character;
pub mod pose;

pub mod import;

pub mod builtin;

#[cfg(feature = "vulkan")]
#[cfg_attr(docsrs, doc(cfg(feature = "vulkan")))]
pub mod gpu;

#[cfg(feature = "vulkan")]
mod pass;

#[cfg(feature = "vulkan")]
#[cfg_attr(docsrs, doc(cfg(feature = "vulkan")))]
pub mod crowd;

#[cfg(feature = "standalone")]
#[cfg_attr(docsrs, doc(cfg(feature = "standalone")))]
pub mod standalone;

#[cfg(feature = "vulkan")]
pub use ash;
#[cfg(feature = "vulkan")]
pub use crowd::{
    Capacity, CharacterId, Crowd, CrowdDesc, Frame, InstanceId, Lighting, PassId, Play, Spawn,
    View, ViewId,
};
pub use error::{Error, Result};
pub use glam;
#[cfg(feature = "vulkan")]
pub use gpu::Gpu;
#[cfg(feature = "vulkan")]
pub use gpu_allocator;
#[cfg(feature = "vulkan")]
pub use pass::draw::{PassDesc, PassKind};
