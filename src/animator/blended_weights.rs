//! Morph weights that the clips of an actor blend to.

use super::library::Library;
use super::own_pose::{OwnPose, clip_of};
use super::record::PlayRecord;
use crate::motion::{WeightSample, blend_weights};

/// The weight of layer 0 from which the rest pose is invisible: 1, with a margin for rounding.
pub(crate) const THRESHOLD: f32 = 0.999;

/// Blends the morph weights of records at a time of their actor.
pub(super) fn blend_records(
    library: &Library,
    own: Option<&OwnPose>,
    records: &[PlayRecord],
    local_s: f64,
    out: &mut [f32],
) {
    let samples = records.iter().filter_map(|record| {
        let clip = clip_of(library, own, record)?;
        Some(WeightSample {
            clip,
            time_s: record.clip_time_s(local_s, clip.duration_s()),
            weight: record.weight_at(local_s),
            level: record.layer,
        })
    });
    // The lengths are equal, so there is no error.
    let _ = blend_weights(&library.morph_weights, THRESHOLD, samples, out);
}
