//! The same character with more clips.

use super::animation_set::{ClipDraft, NamedTimes};
use super::asset::Character;
use crate::clip::CurveClip;
use crate::error::{Error, Result};

impl Character {
    /// The same character with these clips after its own, in order: packed as its own were at
    /// import, on rayon's current pool, and kept as curves if those were. What a character knows of
    /// its clips is found anew: [`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip), and with
    /// it [`facings`](Self::facings).
    ///
    /// The clips keep their names, so one may hide behind another of the same name at
    /// [`clip`](Self::clip): [`CurveClip::with_name`] gives another. A character that was added to
    /// a [`Crowd`](crate::Crowd) before is not changed by this: add the new one.
    ///
    /// ```
    /// use throng::builtin;
    /// use throng::clip::CurveClip;
    ///
    /// let character = builtin::mannequin()?.character;
    /// let nod = CurveClip::new("Nod", Vec::new(), character.skeleton())?;
    /// let more = character.clone().with_clips(vec![nod])?;
    /// assert_eq!(more.clip("Nod")?.index(), character.clips().len());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::At`] with the index of the clip in the list, around an [`Error::NotFound`] for a
    /// joint or a morph weight that this character lacks.
    pub fn with_clips(self, clips: Vec<CurveClip>) -> Result<Self> {
        let clips = clips.into_iter().map(|clip| (clip, Vec::new()));
        self.with_clips_and_events(clips.collect())
    }

    /// [`Self::with_clips`] with the events of each.
    ///
    /// # Errors
    /// As there; the events lie in their clips.
    pub(crate) fn with_clips_and_events(
        mut self,
        clips: Vec<(CurveClip, NamedTimes)>,
    ) -> Result<Self> {
        for (index, (clip, _)) in clips.iter().enumerate() {
            self.check_clip(clip).map_err(|why| Error::At {
                what: "clip",
                index: index as u64,
                why: Box::new(why),
            })?;
        }
        let drafts = clips
            .into_iter()
            .map(|(clip, events)| ClipDraft::new(clip, events));
        self.push_clips(drafts.collect(), None)?;
        Ok(self)
    }

    /// Whether the character has all that the clip drives. Both kinds of tracks are sorted and do
    /// not overlap: where the last one's joint or weights exist, all do.
    fn check_clip(&self, clip: &CurveClip) -> Result<()> {
        let joint = clip.tracks().last().map(|track| u64::from(track.joint));
        let weight = clip.weight_tracks().last();
        let weight = weight.map(|track| u64::from(track.first_weight) + u64::from(track.count) - 1);
        let has = [
            ("joint", joint, self.model.skeleton.len() as u64),
            (
                "morph weight",
                weight,
                self.model.morph_weights.len() as u64,
            ),
        ];
        for (what, last, count) in has {
            if let Some(index) = last.filter(|last| *last >= count) {
                return Err(Error::NotFound { what, index, count });
            }
        }
        Ok(())
    }
}
