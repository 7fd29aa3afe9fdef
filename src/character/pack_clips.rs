//! Packing of clips: a character's own, or others for its skeleton.

use super::Character;
use crate::clip::{AdditiveReference, Clip, ClipOptions, CurveClip, PackCount, Probes, curves};
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
        Ok(Self::pack_counted((character.model(), &character.probes()), clip, options)?.0)
    }

    /// Packs `clip` and returns the number of joint poses that were computed meanwhile.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    // For the tests of this crate: not part of the API.
    #[doc(hidden)]
    pub fn packing_poses(
        character: &Character,
        clip: &CurveClip,
        options: &ClipOptions,
    ) -> Result<u64> {
        Ok(Self::pack_counted((character.model(), &character.probes()), clip, options)?.1)
    }

    /// Packs the difference of `clip` from a reference pose, as an additive clip.
    ///
    /// An additive clip is added to the pose that other clips produce: a recoil, a breath, a lean.
    /// Joints and weights that the clip does not drive have no difference.
    ///
    /// The differences are computed from the file's keys, exactly except for rounding, and packed
    /// like any other clip. The reported error is that of the clip added back onto its reference.
    /// Morph weights are differences from the weights at rest, or from the clip's own weights at
    /// the reference time. A reference pose has no morph weights, so it uses those at rest.
    ///
    /// ```
    /// use throng::clip::{AdditiveReference, Clip, ClipOptions};
    ///
    /// let options = throng::import::ImportOptions::curves_only();
    /// let character = throng::import::RawCharacter::mannequin().build(&options)?.character;
    /// let first = AdditiveReference::Frame { time_s: 0.0 };
    /// let (curve, options) = (&character.curves()[0], ClipOptions::default());
    /// let clip = Clip::additive(&character, curve, &first, &options)?;
    /// assert!(clip.is_additive());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// - As [`Self::new`].
    /// - [`Error::At`](crate::error::Error::At) with the first driven joint whose reference is not
    ///   finite, or whose reference scale is 0 if the clip drives the scale.
    /// - [`Error::Argument`](crate::error::Error::Argument) for a reference pose that does not have
    ///   one transform per joint.
    #[doc(hidden)]
    pub fn additive(
        character: &Character,
        clip: &CurveClip,
        reference: &AdditiveReference,
        options: &ClipOptions,
    ) -> Result<Self> {
        let (curves, reference) = curves(character.model(), clip, reference)?;
        let of = (character.model(), &character.probes());
        Self::of_difference(of, &curves, &reference, options)
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
            let (clip, _) = Clip::pack_counted((&self.model, &probes), curve, options)?;
            told.add(curve.name(), &progress);
            Ok(clip)
        };
        // One at a time, because the lengths of clips differ widely.
        let packed: Vec<Result<Clip>> = curves.par_iter().with_max_len(1).map(pack).collect();
        packed.into_iter().collect()
    }
}
