//! Animate and palette, fast: many instances of one skeleton together.

use super::plan::Library;
use super::rig::Rig;
use super::run::{Output, Spare, Starts};
use crate::character::Character;
use crate::clip::Clip;
use crate::error::{ArgumentFault, Error, Result, expect_len};
use crate::motion::SampleList;
use crate::palette::{PaletteEntry, WriteOnly};
use crate::simd::{Row, SimdLevel, Unit, WIDTH};
use crate::skeleton::{Affine, Mask, Transform};
use crate::threads::Threads;

/// Computes the poses and palettes of many instances of a character: made once for it, then used
/// for any number of instances, from any number of threads at once.
///
/// It keeps nothing from call to call: any time costs the same, forward or back, and instances may
/// play whatever clips at whatever times, as [`ClipSample`](crate::motion::ClipSample) says. For one clip,
/// the result is that of [`Clip::sample`], [`model_pose`](crate::skeleton::model_pose()) and
/// [`palette`](crate::palette::palette()) but for rounding. The best [`SimdLevel`] of the CPU is used. With
/// one level, an instance has the same bits whatever else is in the batch, and on any number of
/// threads.
///
/// After the first calls nothing is allocated: what a call needs besides its output is kept, once
/// for each thread that was ever in a call at the same time.
///
/// ```
/// use throng::animate::BatchPoser;
/// use throng::motion::{ClipSample, SampleList};
/// use throng::palette::{Mat3x4, WriteOnly};
///
/// let character = throng::builtin::mannequin()?.character;
/// let poser = BatchPoser::new(&character)?;
/// let walk = character.clip("Walk")?;
///
/// let mut crowd = SampleList::new();
/// for instance in 0..100 {
///     crowd.push([ClipSample::new(walk, 0.01 * f64::from(instance))]);
/// }
/// let mut palettes = vec![Mat3x4::IDENTITY; crowd.len() * character.palette().len()];
/// poser.palettes(character.clips(), &crowd, WriteOnly::div(&mut palettes))?;
/// assert_ne!(palettes[0], palettes[character.palette().len()]);
/// # Ok::<(), throng::Error>(())
/// ```
///
/// In between, poses can be changed: by inverse kinematics, say.
///
/// ```
/// # use throng::animate::BatchPoser;
/// # use throng::motion::{ClipSample, SampleList};
/// # use throng::palette::{Mat3x4, WriteOnly};
/// # use throng::{character::Affine, glam::Vec3A};
/// # let character = throng::builtin::mannequin()?.character;
/// # let poser = BatchPoser::new(&character)?;
/// # let mut crowd = SampleList::new();
/// # crowd.push([]);
/// # let mut palettes = vec![Mat3x4::IDENTITY; character.palette().len()];
/// let mut models = vec![Affine::IDENTITY; crowd.len() * character.skeleton().len()];
/// poser.model_poses(&[], &crowd, &mut models)?;
/// models[0].translation += Vec3A::Y;
/// poser.finish(&models, WriteOnly::div(&mut palettes))?;
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug)]
pub struct BatchPoser {
    pub(super) rig: Rig,
    pub(crate) unit: Unit,
    pub(crate) masks: Vec<Vec<Row>>,
    pub(crate) threshold: f32,
    pub(crate) threads: Threads,
    pub(crate) spare: Spare,
}

impl BatchPoser {
    /// For instances of `character`.
    ///
    /// # Errors
    /// None now; the rest pose goes the way of a clip, which can be refused.
    pub fn new(character: &Character) -> Result<Self> {
        Ok(Self {
            rig: Rig::new(character)?,
            unit: Unit::best(),
            masks: Vec::new(),
            threshold: crate::motion::BLEND_THRESHOLD,
            threads: Threads::One,
            spare: Spare::default(),
        })
    }

    /// The same with masks for [`ClipSample::mask`](crate::motion::ClipSample::mask).
    ///
    /// # Errors
    /// [`Error::At`] with the first mask that does not have one weight a joint.
    pub fn with_masks(mut self, masks: &[Mask]) -> Result<Self> {
        self.masks.clear();
        for (index, mask) in masks.iter().enumerate() {
            let weights = mask.weights();
            let same = expect_len("weights", weights.len(), self.rig.joints.len());
            same.map_err(|why| Error::At {
                what: "mask",
                index: index as u64,
                why: Box::new(why),
            })?;
            let blocks = weights.chunks(WIDTH).map(|weights| {
                let mut row = Row::default();
                row.0[..weights.len()].copy_from_slice(weights);
                row
            });
            self.masks.push(blocks.collect());
        }
        Ok(self)
    }

    /// The same with another threshold of the first level than 0.1: where the weights of an
    /// instance's clips sum to less, the rest pose has what is missing.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is not positive and finite.
    pub fn with_threshold(self, threshold: f32) -> Result<Self> {
        if !(threshold > 0.0 && threshold.is_finite()) {
            return Err(Error::Argument {
                what: "threshold",
                why: ArgumentFault::Invalid("must be positive and finite"),
            });
        }
        Ok(Self { threshold, ..self })
    }

    /// The same with another SIMD level than the best: for tests and comparisons.
    ///
    /// # Errors
    /// [`Error::Argument`] if this CPU cannot run it.
    pub fn with_simd_level(self, level: SimdLevel) -> Result<Self> {
        let unit = Unit::of(level)?;
        Ok(Self { unit, ..self })
    }

    /// The SIMD level that runs.
    #[must_use]
    pub const fn simd_level(&self) -> SimdLevel {
        self.unit.level()
    }

    /// The same on these threads; without this, on the calling one.
    #[must_use]
    pub fn with_threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }

    /// Chooses the threads for later calls.
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// The palettes of the instances of `list`, whose clips are of `clips`, one after the other in
    /// `out`, in the format of its elements: what that cannot hold is left out, as
    /// [`PaletteEntry::project`] says.
    ///
    /// Up to sixteen palettes are written alongside each other, each in ascending order. Nothing is
    /// read.
    ///
    /// # Errors
    /// [`Error::At`] with the first instance that plays a clip or has a mask that does not exist
    /// ([`Error::NotFound`]), or a clip of another skeleton, or has a weight that is negative or
    /// not finite, or a level that descends ([`Error::Argument`]); [`Error::Argument`] if `out` is
    /// not as long as all palettes. Nothing is written then.
    pub fn palettes<E: PaletteEntry>(
        &self,
        clips: &[Clip],
        list: &SampleList,
        out: WriteOnly<'_, E>,
    ) -> Result<()> {
        // SAFETY: the output is borrowed for writing.
        unsafe { self.run(self.library(clips), list, Output::palettes(out)) }
    }

    /// The local poses of the instances of `list`, one transform a joint, one instance after the
    /// other.
    ///
    /// # Errors
    /// As [`Self::palettes`].
    pub fn local_poses(
        &self,
        clips: &[Clip],
        list: &SampleList,
        out: &mut [Transform],
    ) -> Result<()> {
        // SAFETY: the output is borrowed for writing.
        unsafe { self.run(self.library(clips), list, Output::local(out)) }
    }

    /// The model poses of the instances of `list`, one matrix a joint, one instance after the
    /// other: character space from each joint's.
    ///
    /// # Errors
    /// As [`Self::palettes`].
    pub fn model_poses(&self, clips: &[Clip], list: &SampleList, out: &mut [Affine]) -> Result<()> {
        // SAFETY: the output is borrowed for writing.
        unsafe { self.run(self.library(clips), list, Output::models(out)) }
    }

    /// The palettes of model poses, one instance after the other: the last step of
    /// [`Self::palettes`] alone, for poses that were changed. For poses that were not, the result
    /// has the same bits.
    ///
    /// # Errors
    /// [`Error::Argument`] if `models` is not a whole number of instances long, or `out` is not as
    /// long as their palettes.
    pub fn finish<E: PaletteEntry>(
        &self,
        models: &[Affine],
        mut out: WriteOnly<'_, E>,
    ) -> Result<()> {
        let (joints, entries) = (self.rig.joints.len(), self.rig.entries.len());
        // Without joints there are no entries, and nothing says how many instances there are.
        let instances = models.len().checked_div(joints).unwrap_or(0);
        expect_len("model poses", models.len(), instances * joints)?;
        expect_len("palettes", out.len(), instances * entries)?;
        let starts = Starts::Even(out.as_mut_ptr().cast(), entries * size_of::<E>());
        // SAFETY: the output is borrowed for writing, and there is room for all instances.
        unsafe { self.finish_to(models, E::FORMAT, starts, &self.threads) };
        Ok(())
    }

    pub(crate) fn library<'a>(&'a self, clips: &'a [Clip]) -> Library<'a> {
        Library {
            rig: &self.rig,
            clips,
            masks: self.masks.len(),
        }
    }
}
