//! Play records of the clips that a state machine plays.

use super::library::Library;
use super::record::PlayRecord;
use crate::state_machine::DrivenClip;

/// The record of a clip that a state machine plays.
pub(super) fn driven_record(library: &Library, clip: &DrivenClip) -> PlayRecord {
    let mut record = PlayRecord::new(clip.clip.0, clip.anchor_s);
    record.re_anchor(clip.anchor_s, clip.offset_s, [clip.speed; 2], 0.0);
    record.set_loop_mode(clip.loop_mode);
    record.set_ease(clip.weight.ease);
    record.from_weight = clip.weight.from;
    record.to_weight = clip.weight.to;
    record.fade_start_s = clip.weight.start_s;
    record.fade_s = clip.weight.duration_s as f32;
    let mask = clip
        .mask
        .and_then(|mask| library.set.machine_masks.get(usize::from(mask)));
    record.mask = mask.map_or(PlayRecord::NO_MASK, |mask| mask.0);
    record.layer = clip.layer;
    record.flags = PlayRecord::FLAG_STATE_MACHINE;
    if clip.begun {
        record.flags |= PlayRecord::FLAG_STARTED;
    }
    record
}
