//! Packing of clips: a character's own, or others for its skeleton.

use super::Character;
use crate::clip::{Clip, ClipOptions, CurveClip, PackCount, Probes};
use crate::error::Result;
use rayon::prelude::*;

impl Clip {
    /// Packs `clip`, which is one of `character` or another for its skeleton.
    ///
    /// # Errors
    /// - [`Error::NotFound`](crate::error::Error::NotFound) if the clip drives a joint or a morph
    ///   weight that the character does not have.
    /// - [`Error::Argument`](crate::error::Error::Argument) if the error bound is not positive and
    ///   finite.
    pub fn new(character: &Character, clip: &CurveClip, options: &ClipOptions) -> Result<Self> {
        Self::pack(
            (character.model(), &character.probes()),
            clip,
            None,
            options,
        )
    }
}

impl Character {
    /// The points at which the error of packed clips is measured.
    pub(crate) fn probes(&self) -> Probes {
        Probes::new(&self.model, &self.animations.sockets)
    }

    /// Packs `curves` for this character, in parallel.
    ///
    /// The curves are the character's or others for its skeleton. The work runs on rayon's current
    /// pool. The clips are in the order of the curves and do not depend on the number of threads.
    ///
    /// `progress` is called after each clip, with the arguments of a
    /// [`PackObserver`](crate::clip::PackObserver): the clip's name, the number of packed clips and
    /// their total number.
    ///
    /// ```
    /// use throng::clip::ClipOptions;
    ///
    /// let options = throng::import::ImportOptions::curves_only();
    /// let character = throng::import::RawCharacter::mannequin().build(&options)?.character;
    /// let print = |clip: &str, done, total| println!("{done}/{total}: {clip}");
    /// let clips = character.pack(character.curves(), &ClipOptions::default(), print)?;
    /// assert_eq!(clips.len(), character.curves().len());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Clip::new`], for the first clip that cannot be packed.
    pub fn pack(
        &self,
        curves: &[CurveClip],
        options: &ClipOptions,
        progress: impl Fn(&str, usize, usize) + Sync,
    ) -> Result<Vec<Clip>> {
        let told = PackCount::new(curves.len());
        let probes = self.probes();
        let pack = |curve: &CurveClip| {
            let clip = Clip::pack((&self.model, &probes), curve, None, options)?;
            told.add(curve.name(), &progress);
            Ok(clip)
        };
        // One at a time, because the lengths of clips differ widely.
        let packed: Vec<Result<Clip>> = curves.par_iter().with_max_len(1).map(pack).collect();
        packed.into_iter().collect()
    }
}
