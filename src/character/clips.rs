//! The clips of a character: their number and names, and more of them.

use super::animation_set::{ClipDraft, EventDesc};
use super::asset::Character;
use crate::clip::{Clip, ClipOptions, CurveClip, Probes};
use crate::error::{Error, Result};

impl Character {
    pub(crate) fn clip_count(&self) -> usize {
        self.clips.len().max(self.curves.len())
    }

    pub(crate) fn clip_names(&self) -> impl Iterator<Item = &str> + Clone {
        let packed = self.clips.iter().map(Clip::name);
        // If clips and curves are both kept, they have the same names.
        let curves = self.curves.iter().skip(self.clips.len());
        packed.chain(curves.map(CurveClip::name))
    }

    /// The same character with these clips appended, in order.
    ///
    /// The clips are packed as the character's own were at import, on rayon's current pool, and
    /// kept as curves if those were. Properties that depend on the clips are recomputed:
    /// [`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip) and, with it,
    /// [`flipping_triangles`](Self::flipping_triangles). The errors of
    /// [levels of detail](Self::levels) are measured in the new poses, too, which takes some tenths
    /// of a second for a large model that has levels.
    ///
    /// The clips keep their names. [`clip`](Self::clip) does not find a clip that comes after
    /// another one of the same name; use [`CurveClip::with_name`] to rename it. A character that
    /// was already added to a [`Crowd`](crate::Crowd) does not change: add the new character
    /// instead.
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
    /// [`Error::At`] with the clip's index in the list, around an [`Error::NotFound`] for a joint
    /// or morph weight that this character does not have.
    pub fn with_clips(self, clips: Vec<CurveClip>) -> Result<Self> {
        let clips = clips.into_iter().map(|clip| (clip, Vec::new()));
        self.with_clips_and_events(clips.collect())
    }

    /// [`Self::with_clips`], with the events of each clip, which lie within it.
    pub(crate) fn with_clips_and_events(
        mut self,
        clips: Vec<(CurveClip, Vec<EventDesc>)>,
    ) -> Result<Self> {
        for (index, (clip, _)) in clips.iter().enumerate() {
            self.check_clip(clip).map_err(|why| why.at("clip", index))?;
        }
        let before = self.clip_count();
        let drafts = clips.into_iter();
        let drafts = drafts.map(|(clip, events)| ClipDraft::new(clip, events));
        self.push_clips(drafts.collect(), None)?;
        self.measure_levels(before..self.clip_count())?;
        Ok(self)
    }

    /// Checks that the character has every joint and morph weight that the clip drives.
    ///
    /// Both kinds of tracks are sorted and do not overlap, so it is enough to check the last ones.
    fn check_clip(&self, clip: &CurveClip) -> Result<()> {
        let joint = clip.tracks().last().map(|track| u64::from(track.joint));
        let weight = clip.weight_tracks().last();
        let weight = weight.map(|track| u64::from(track.first_weight) + u64::from(track.count) - 1);
        let [joints, weights] = [self.model.skeleton.len(), self.model.morph_weights.len()];
        let has = [
            ("joint", joint, joints as u64),
            ("morph weight", weight, weights as u64),
        ];
        for (what, last, count) in has {
            if let Some(index) = last.filter(|last| *last >= count) {
                return Err(Error::NotFound { what, index, count });
            }
        }
        Ok(())
    }
}

impl Clip {
    /// Packs `clip`, which is one of `character` or another for its skeleton.
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::error::Error::NotFound) if the clip drives a joint or a morph
    ///   weight that the character does not have.
    /// - [`Error::Argument`](crate::error::Error::Argument) if the error bound is not positive and
    ///   finite.
    pub fn new(character: &Character, clip: &CurveClip, options: &ClipOptions) -> Result<Self> {
        let of = (character.model(), &character.probes());
        Self::pack(of, clip, None, options)
    }
}

impl Character {
    /// The points at which the error of packed clips is measured.
    pub(crate) fn probes(&self) -> Probes {
        Probes::new(&self.model, &self.animations.sockets)
    }
}
