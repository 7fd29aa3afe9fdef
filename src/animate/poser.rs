//! Computes poses and palettes of many instances of one skeleton together.

use super::output::{Output, Starts};
use super::plan::Library;
use super::rig::Rig;
use super::scratch::Scratch;
use crate::character::Character;
use crate::clip::Clip;
use crate::error::{Error, Result, expect_len};
use crate::motion::SampleList;
use crate::palette::{PaletteEntry, WriteOnly};
use crate::simd::{Row, SimdLevel, Unit, WIDTH};
use crate::skeleton::{Mask, Transform};
use crate::spare::Spare;
use crate::threads::Threads;
use glam::Affine3A;

/// Computes the poses and palettes of many instances of a character.
///
/// Create one per character. It can be used for any number of instances, from any number of threads
/// at once.
///
/// It keeps no state of instances between calls. Any time costs the same, forward or back, and
/// instances may play any clips at any times, as documented at
/// [`ClipSample`](crate::motion::ClipSample). For a single clip, the result is that of
/// [`Clip::sample`], [`Skeleton::model_pose`](crate::skeleton::Skeleton::model_pose) and
/// [`Character::write_palette`], apart from rounding.
///
/// The best [`SimdLevel`] of the CPU is used. At a given level, an instance has the same bits
/// whatever else is in the batch, and on any number of threads.
///
/// After the first calls nothing is allocated: working memory is kept, once for each thread that
/// was ever in a call at the same time.
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
/// poser.palettes(character.clips(), &crowd, WriteOnly::over(&mut palettes))?;
/// assert_ne!(palettes[0], palettes[character.palette().len()]);
/// # Ok::<(), throng::Error>(())
/// ```
///
/// To change poses before the palettes are computed, for example by inverse kinematics, use
/// [`Self::model_poses`] and [`Self::finish`]:
///
/// ```
/// # use throng::animate::BatchPoser;
/// # use throng::motion::{ClipSample, SampleList};
/// # use throng::palette::{Mat3x4, WriteOnly};
/// # use throng::glam::{Affine3A, Vec3A};
/// # let character = throng::builtin::mannequin()?.character;
/// # let poser = BatchPoser::new(&character)?;
/// # let mut crowd = SampleList::new();
/// # crowd.push([]);
/// # let mut palettes = vec![Mat3x4::IDENTITY; character.palette().len()];
/// let mut models = vec![Affine3A::IDENTITY; crowd.len() * character.skeleton().len()];
/// poser.model_poses(&[], &crowd, &mut models)?;
/// models[0].translation += Vec3A::Y;
/// poser.finish(&models, WriteOnly::over(&mut palettes))?;
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BatchPoser {
    pub(super) rig: Rig,
    pub(crate) unit: Unit,
    pub(crate) masks: Vec<Vec<Row>>,
    pub(crate) threshold: f32,
    pub(crate) threads: Threads,
    pub(crate) spare: Spare<Scratch>,
}

impl BatchPoser {
    /// Creates a poser for instances of `character`.
    ///
    /// # Errors
    /// None at present. The rest pose is converted to a clip, which can fail in general.
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

    /// Sets the masks that [`ClipSample::mask`](crate::motion::ClipSample::mask) refers to.
    ///
    /// # Errors
    /// [`Error::At`] with the first mask that does not have one weight per joint.
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

    /// Sets the weight threshold of the first level. The default is 0.1.
    ///
    /// If the weights of an instance's clips sum to less than the threshold, the rest pose fills
    /// the difference.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is not positive and finite.
    pub fn with_threshold(self, threshold: f32) -> Result<Self> {
        if !(threshold > 0.0 && threshold.is_finite()) {
            return Err(Error::invalid("threshold", "must be positive and finite"));
        }
        Ok(Self { threshold, ..self })
    }

    /// Sets another SIMD level than the best, for tests and comparisons.
    ///
    /// # Errors
    /// [`Error::Argument`] if this CPU cannot run it.
    pub fn with_simd_level(self, level: SimdLevel) -> Result<Self> {
        let unit = Unit::of(level)?;
        Ok(Self { unit, ..self })
    }

    /// The SIMD level in use.
    #[must_use]
    pub const fn simd_level(&self) -> SimdLevel {
        self.unit.level()
    }

    /// Sets the threads to use. The default is the calling thread alone.
    #[must_use]
    pub fn with_threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }

    /// Sets the threads for later calls.
    pub fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Computes the palettes of the instances of `list`, one after the other.
    ///
    /// `clips` are the clips that the samples refer to. The format is that of the elements of
    /// `out`. Anything that it cannot represent is dropped as by [`PaletteEntry::project`].
    ///
    /// Up to sixteen palettes are written concurrently, each in ascending order. `out` is never
    /// read.
    ///
    /// # Errors
    /// - [`Error::At`] with the first instance that is invalid: it plays a clip or uses a mask that
    ///   does not exist ([`Error::NotFound`]), it plays a clip of another skeleton, or it has a
    ///   weight that is negative or not finite, or a descending level ([`Error::Argument`]).
    /// - [`Error::Argument`] if the length of `out` is not that of all palettes, or if it is not
    ///   aligned for its elements.
    ///
    /// Nothing is written then.
    pub fn palettes<E: PaletteEntry>(
        &self,
        clips: &[Clip],
        list: &SampleList,
        out: WriteOnly<'_, E>,
    ) -> Result<()> {
        out.expect_aligned("palettes")?;
        // SAFETY: `out` is exclusively borrowed, so it is valid for writing its length.
        unsafe { self.run(self.library(clips), list, Output::palettes(out)) }
    }

    /// Computes the local poses of the instances of `list`.
    ///
    /// They follow one after the other, with one transform per joint.
    ///
    /// # Errors
    /// The errors of [`Self::palettes`].
    pub fn local_poses(
        &self,
        clips: &[Clip],
        list: &SampleList,
        out: &mut [Transform],
    ) -> Result<()> {
        // SAFETY: `out` is exclusively borrowed, so it is valid for writing its length.
        unsafe { self.run(self.library(clips), list, Output::local(out)) }
    }

    /// Computes the model poses of the instances of `list`.
    ///
    /// They follow one after the other, with one matrix per joint. It maps the joint's space to
    /// character space.
    ///
    /// # Errors
    /// The errors of [`Self::palettes`].
    pub fn model_poses(
        &self,
        clips: &[Clip],
        list: &SampleList,
        out: &mut [Affine3A],
    ) -> Result<()> {
        // SAFETY: `out` is exclusively borrowed, so it is valid for writing its length.
        unsafe { self.run(self.library(clips), list, Output::models(out)) }
    }

    /// Computes the palettes of model poses, one instance after the other.
    ///
    /// This is the last step of [`Self::palettes`] alone, for poses that were changed. For
    /// unchanged poses, the result has the same bits.
    ///
    /// # Errors
    /// [`Error::Argument`] if the length of `models` is not a multiple of the number of joints, if
    /// the length of `out` is not that of all palettes, or if `out` is not aligned for its
    /// elements.
    pub fn finish<E: PaletteEntry>(
        &self,
        models: &[Affine3A],
        mut out: WriteOnly<'_, E>,
    ) -> Result<()> {
        let (joints, entries) = (self.rig.joints.len(), self.rig.entries.len());
        // Without joints there are no entries, and nothing defines the number of instances.
        let instances = models.len().checked_div(joints).unwrap_or(0);
        expect_len("model poses", models.len(), instances * joints)?;
        // No slice is as long as a product that exceeds the address space.
        expect_len("palettes", out.len(), instances.saturating_mul(entries))?;
        out.expect_aligned("palettes")?;
        let starts = Starts::Even(out.as_mut_ptr().cast(), entries * size_of::<E>());
        // SAFETY: `out` is exclusively borrowed, and its length was checked against all instances.
        unsafe { self.finish_to(models, E::FORMAT, starts, &self.threads) };
        Ok(())
    }

    /// The number of matrices that the kernel keeps for each instance.
    ///
    /// A matrix is reused once its joint is no longer needed.
    #[must_use]
    pub const fn matrices(&self) -> usize {
        self.rig.slots
    }

    pub(crate) fn library<'a>(&'a self, clips: &'a [Clip]) -> Library<'a> {
        Library {
            rig: &self.rig,
            clips,
            masks: self.masks.len(),
        }
    }
}
