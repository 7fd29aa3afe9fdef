//! Packing clips for a character: its own curves, or others for its skeleton.

use super::Character;
use crate::clip::{
    AdditiveReference, Clip, ClipOptions, CurveClip, PackCount, PackProgress, curves,
};
use crate::error::Result;
use rayon::prelude::*;

impl Clip {
    /// `clip`, one of `character` or another for its skeleton.
    ///
    /// # Errors
    /// [`Error::NotFound`](crate::error::Error::NotFound) if the clip drives a joint or a morph weight
    /// that the character lacks; [`Error::Argument`](crate::error::Error::Argument) if the error bound is
    /// not positive and finite.
    pub fn new(character: &Character, clip: &CurveClip, options: &ClipOptions) -> Result<Self> {
        Self::pack(character.model(), clip, options)
    }

    /// The difference of `clip` from a reference pose, to be added to what other clips make of a
    /// character: a recoil, a breath, a lean. What the clip does not drive is no difference.
    ///
    /// The differences are taken of the file's keys, exactly but for rounding, and packed as any
    /// clip's; the error is that of the clip put back onto its reference. Its morph weights are
    /// differences from the reference's: those at rest, or of the clip itself at the reference's
    /// time; a pose has none, and stands for those at rest.
    ///
    /// ```
    /// use throng::clip::{AdditiveReference, Clip, ClipOptions};
    ///
    /// let options = throng::import::ImportOptions::curves_only();
    /// let character = throng::builtin::mannequin_with(&options)?.character;
    /// let first = AdditiveReference::Frame { time_s: 0.0 };
    /// let clip = Clip::additive(&character, &character.curves()[0], &first, &ClipOptions::default())?;
    /// assert!(clip.is_additive());
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::At`](crate::error::Error::At) with the first joint that the clip
    /// drives and whose reference is not finite, or has a scale of 0 where the clip drives the
    /// scale; [`Error::Argument`](crate::error::Error::Argument) for a reference pose that does not have
    /// one transform a joint.
    pub fn additive(
        character: &Character,
        clip: &CurveClip,
        reference: &AdditiveReference,
        options: &ClipOptions,
    ) -> Result<Self> {
        let (curves, reference) = curves(character.model(), clip, reference)?;
        Self::of_difference(character.model(), &curves, &reference, options)
    }
}

/// Packs `curves`, of `character` or for its skeleton, on the threads of rayon's current pool, and
/// tells `progress` after each. The clips are in the order of the curves, and the same whatever the
/// number of threads.
///
/// ```
/// use throng::character::pack_clips;
/// use throng::clip::ClipOptions;
///
/// let options = throng::import::ImportOptions::curves_only();
/// let character = throng::builtin::mannequin_with(&options)?.character;
/// let clips = pack_clips(&character, character.curves(), &ClipOptions::default(), |progress| {
///     println!("{}/{}: {}", progress.done, progress.total, progress.clip);
/// })?;
/// assert_eq!(clips.len(), character.curves().len());
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// As [`Clip::new`], of the first clip that cannot be packed.
pub fn pack_clips(
    character: &Character,
    curves: &[CurveClip],
    options: &ClipOptions,
    progress: impl Fn(PackProgress<'_>) + Sync,
) -> Result<Vec<Clip>> {
    let told = PackCount::new(curves.len());
    let pack = |curve: &CurveClip| {
        let clip = Clip::new(character, curve, options)?;
        told.add(curve.name(), &progress);
        Ok(clip)
    };
    // One by one, since clips are of very different lengths.
    let packed: Vec<Result<Clip>> = curves.par_iter().with_max_len(1).map(pack).collect();
    packed.into_iter().collect()
}
