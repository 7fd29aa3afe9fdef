//! Additive clips.
//!
//! - [`made`]: the additive clips of the models.
//! - [`curves`]: put back onto their reference, they are the curves of the file, by `f64` code that
//!   shares nothing with the crate.
//! - [`refusals`]: references that are refused.

mod curves;
mod made;
mod refusals;
