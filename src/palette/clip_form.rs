//! A clip in either of its forms: packed, or as curves.

use crate::clip::{Clip, CurveClip};
use crate::error::Result;
use crate::skeleton::Transform;

/// A packed clip, or the curves of one.
#[derive(Debug, Clone, Copy)]
pub(super) enum ClipForm<'a> {
    Packed(&'a Clip),
    Curves(&'a CurveClip),
}

impl ClipForm<'_> {
    /// Returns the times of all joint keys, ascending and without duplicates.
    pub(super) fn key_times(&self) -> Vec<f64> {
        match self {
            Self::Packed(clip) => clip.key_times(),
            Self::Curves(clip) => {
                let all = clip
                    .tracks()
                    .iter()
                    .flat_map(|track| track.values.times_s());
                let mut times: Vec<f64> = all.map(|time_s| f64::from(*time_s)).collect();
                times.sort_by(f64::total_cmp);
                times.dedup();
                times
            }
        }
    }

    /// Samples the local pose at a time into `local`, one transform per joint.
    ///
    /// `local` must hold the rest pose, because curves overwrite only what they drive.
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::NotFound`] if `local` belongs to another skeleton.
    pub(super) fn sample(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        match self {
            Self::Packed(clip) => clip.sample(time_s, local),
            Self::Curves(clip) => clip.sample(time_s, local),
        }
    }
}
