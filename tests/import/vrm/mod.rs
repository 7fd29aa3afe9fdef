//! VRM 0.x and 1.0, written by the tests.

mod animation;
mod expressions;
mod facing;
mod files;
mod hostile;
mod humanoid;
mod saved;
mod springs;

pub(crate) use files::{vrm0, vrm1};
