//! Animation clips: the keyframes of a file, and the packed form that is played.
//!
//! [`CurveClip`] holds the curves of a file. [`Clip::new`] packs them: it samples at a uniform
//! rate, stores constant joints once, and quantises the rest. The error is measured against the
//! curves at all vertices, in model space, and kept below [`ClipOptions::error_m`].
//!
//! - `track`, `curve`, `curve_sample`: the file's curves and their evaluation at a time.
//! - `components`: the numbers of a transform.
//! - `packed`, `keys`, `weights`: the packed form. `weights_sample`: its weights at a time. `save`,
//!   `save_tracks`, `stream`: its serialisation.
//! - `build`, `build_weights`: conversion of curves to packed clips, with `rates`, `frames` and
//!   `quantise`.
//! - `probes`, `tested_times`: the points and times at which errors are measured.
//! - `measure`, `compare`, `steps`: the error of a packed clip there, and the steps of keys that
//!   stay below the bound.
//! - `moves`: clips that change something over time.
//! - `additive`: differences from a reference pose. `reach`: the ranges of a clip's values.
//! - `to_curves`: packed clips as curves again.

mod additive;
mod build;
mod build_weights;
mod compare;
mod components;
mod curve;
mod curve_sample;
mod frames;
mod keys;
mod measure;
mod moves;
mod octet;
mod pack_clips;
mod packed;
mod probes;
mod quantise;
mod rates;
mod reach;
mod save;
mod save_tracks;
mod steps;
mod stream;
mod tested_times;
mod timing;
mod to_curves;
mod track;
mod unpacked;
mod weights;
mod weights_sample;

pub(crate) use additive::{ReferencePose, difference_curves, put_onto};
pub(crate) use build::rest_clip;
pub(crate) use components::{COMPONENTS, Property, components, transform};
pub use curve::CurveClip;
pub(crate) use curve_sample::animate_tracks;
pub use pack_clips::PackObserver;
pub(crate) use pack_clips::counting;
pub(crate) use packed::{Block, BlockKeys, fingerprint, rest_rows, row};
pub use packed::{Clip, ClipOptions, ClipReport, ClipSizes, VertexError};
pub(crate) use probes::Probes;
pub(crate) use reach::{ClipReach, Hull};
pub(crate) use timing::Moment;
#[cfg(feature = "vulkan")]
pub(crate) use timing::Timing;
pub use track::{Interpolation, Keys, Track, TrackValues, WeightTrack};
pub(crate) use track::{align, is_opposite};
#[cfg(feature = "vulkan")]
pub(crate) use weights::EvenWeights;
pub(crate) use weights::WeightKeys;
