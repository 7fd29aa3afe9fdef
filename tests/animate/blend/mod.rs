//! Masks, blends of poses, and additive clips, against plain `f64` code.
//!
//! - [`poses`]: random poses, and their distance.
//! - [`masks`]: masks by name and subtree.
//! - [`rule`]: blends follow their rule.
//! - [`refusals`]: masks, layers and poses that are refused.

mod masks;
mod poses;
mod refusals;
mod rule;
