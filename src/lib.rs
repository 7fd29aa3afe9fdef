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

pub use error::{Error, Result};
pub use glam;
