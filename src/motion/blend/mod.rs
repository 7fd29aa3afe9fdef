//! Blending: the samples that an instance plays, and their weighted means per joint and weight.

mod clip_sample;
mod joint;
mod morph_weights;

pub(crate) use clip_sample::{ClipSample, FULL_WEIGHT};
pub(crate) use joint::{Share, blend_joint};
pub(crate) use morph_weights::blend_weights;
