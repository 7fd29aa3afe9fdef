//! The playback of an actor at a moment, as samples of clips.

use crate::animate::{PlanSource, Planner};
use crate::animator::library::Library;
use crate::animator::record::PlayRecord;
use crate::clip::Clip;
use crate::motion::{ClipSample, blend_weights};

/// The records of an actor at a time of its own.
///
/// Library, pose and records are of one animator: then the samples fit the animator's poser.
#[derive(Clone, Copy)]
pub(crate) struct Playback<'a> {
    pub(crate) library: &'a Library,
    /// The pose that the caller gave, as a clip.
    pub(crate) own: Option<&'a Clip>,
    pub(crate) records: &'a [PlayRecord],
    pub(crate) local_s: f64,
}

impl<'a> Playback<'a> {
    /// The samples of the records that are visible, ascending in layer.
    #[inline]
    pub(crate) fn samples(self) -> impl Iterator<Item = ClipSample<'a>> + Clone {
        let Self {
            library,
            own,
            records,
            local_s,
        } = self;
        records.iter().filter_map(move |record| {
            let weight = record.weight_at(local_s);
            if weight <= 0.0 {
                return None;
            }
            let clip: &Clip = if record.has(PlayRecord::FLAG_POSE) {
                own?
            } else {
                library.clips.get(usize::from(record.clip))?
            };
            Some(ClipSample {
                clip,
                time_s: record.clip_time_s(local_s, clip.duration_s()),
                weight,
                mask: record.mask(),
                layer: record.layer,
            })
        })
    }

    pub(crate) fn morph_weights(self, out: &mut [f32]) {
        out.copy_from_slice(&self.library.morph_weights);
        blend_weights(self.samples(), out);
    }
}

// SAFETY: library, own pose and records are of the animator whose poser evaluates them.
// - The clips are those of the library, or a pose that `BatchPoser::single_clip` made. The library
//   and the poser's rig are of the same character, whose clips have the joints of its skeleton.
//   `Animator::replace` replaces library and poser together, and makes the clips of poses anew.
// - The records' masks come from `Library::mask` or the set's `machine_masks`, so they are among
//   the masks of the set, which `Animator::new` gave the poser. `Layers::adopt` maps them to those
//   of a character that replaces theirs. Those of a snapshot were checked by `Library::check_mask`.
unsafe impl PlanSource for Playback<'_> {
    fn len(&self) -> usize {
        1
    }

    #[inline]
    fn plan<'a>(&'a self, _: usize, planner: &mut Planner<'_, 'a>) {
        self.samples().for_each(|sample| planner.push(sample));
    }
}
