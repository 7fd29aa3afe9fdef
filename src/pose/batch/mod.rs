//! Animate and palette, fast: many instances of one skeleton together.
//!
//! - [`Clip`]: keys at even times, in blocks of eight joints; `build`: how it is made from the file's curves, and
//!   `measure`: how far it is from them;
//! - `instance`: what an instance plays;
//! - `lanes`: what the kernel needs of a vector unit, in plain code, and `avx2`: in AVX2;
//! - `kernel`: the loop over blocks of joints; `fetch`: reading keys and `sample`: blending them, joints in the lanes; then a transpose puts eight
//!   instances into the lanes, and `compose` takes them from local to model to palette. Inside one skeleton that would be a chain of products that wait
//!   for each other.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod build;
mod clip;
mod compose;
mod fetch;
mod fold;
mod instance;
mod kernel;
mod lanes;
mod measure;
mod pack;
mod quantise;
mod rates;
mod sample;
mod timing;
mod widths;

pub use clip::{Clip, ClipOptions, ClipPacking, ClipReport};
pub use instance::{BatchInstance, MAX_SAMPLES};

use super::palette::expect_len;
use super::unit::Unit;
use super::{Mat3x4, WriteOnly};
use crate::character::Character;
use crate::error::{Error, Result};
use compose::{Entry, Joint};
use kernel::{Blend, Group, Played, Scratch};
use lanes::WIDTH;
use std::sync::{Mutex, PoisonError};

/// Computes the palettes of many instances of a character: made once for it, then used for any number of instances, from
/// any number of threads at once.
///
/// It keeps nothing from call to call: any time costs the same, forward or back, and instances may play whatever clips at
/// whatever times. The result is that of [`Clip::sample`], [`model_pose`](super::model_pose()) and
/// [`palette`](super::palette()) but for rounding. The code is chosen for the CPU where the program runs: AVX2 with FMA,
/// else plain code for any. One CPU gives an instance the same bits whatever else is in the batch.
///
/// After the first calls nothing is allocated: what a call needs besides its output is kept, once for each
/// thread that was ever in a call at the same time.
///
/// ```
/// use throng::pose::{BatchInstance, BatchPoser, Clip, ClipOptions, Mat3x4, WriteOnly};
///
/// let character = throng::builtin::mannequin()?.character;
/// let clips = character.clips().iter();
/// let clips = clips.map(|clip| Clip::new(&character, clip, &ClipOptions::default()));
/// let clips: Vec<Clip> = clips.collect::<throng::Result<_>>()?;
/// let poser = BatchPoser::new(&character)?;
///
/// let crowd: Vec<_> = (0..100).map(|i| BatchInstance::of(0, 0.01 * f64::from(i))).collect();
/// let mut palettes = vec![Mat3x4::IDENTITY; crowd.len() * character.palette().len()];
/// poser.palettes(&clips, &crowd, WriteOnly::over(&mut palettes))?;
/// assert_ne!(palettes[0], palettes[character.palette().len()]);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug)]
pub struct BatchPoser {
    rig: Rig,
    unit: Unit,
    spare: Mutex<Vec<Scratch>>,
}

/// A character as the kernel needs it.
#[derive(Debug)]
struct Rig {
    joints: Vec<Joint>,
    entries: Vec<Entry>,
    /// What an instance plays that plays nothing.
    rest: Clip,
    /// `[block][component][lane]`.
    rest_rows: Vec<lanes::Row>,
    skeleton: u64,
}

impl BatchPoser {
    /// For instances of `character`.
    ///
    /// # Errors
    /// None now; the rest pose goes the way of a clip, which can be refused.
    pub fn new(character: &Character) -> Result<Self> {
        let skeleton = character.skeleton();
        let joints = skeleton.joints().iter().map(|joint| Joint {
            parent: joint.parent,
            unit: joint.rest.scale == glam::Vec3::ONE,
            rest: clip::components(&joint.rest),
        });
        let entries = character.palette().iter().map(|entry| Entry {
            joint: entry.joint,
            inverse_bind: Mat3x4::from_affine(&entry.inverse_bind).rows,
        });
        Ok(Self {
            rig: Rig {
                joints: joints.collect(),
                entries: entries.collect(),
                rest: build::rest(character)?,
                rest_rows: clip::rest_rows(skeleton),
                skeleton: clip::fingerprint(skeleton),
            },
            unit: Unit::best(),
            spare: Mutex::default(),
        })
    }

    /// The same with plain code, whatever the CPU has: for tests, and to see what the CPU's own is worth.
    #[must_use]
    pub fn portable(self) -> Self {
        Self {
            unit: Unit::Plain,
            ..self
        }
    }

    /// Which code runs: `AVX2 and FMA` or `portable`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.unit.name()
    }

    /// The palettes of `instances`, whose clips are of `clips`, one after the other in `out`. Eight palettes are written
    /// alongside each other, each in ascending order in rows of 16 bytes; nothing is read.
    ///
    /// # Errors
    /// [`Error::Each`] with the first instance that plays a clip that there is not ([`Error::NotFound`]) or one of another
    /// skeleton, or has a weight that is negative or not finite ([`Error::Argument`]); [`Error::Argument`] if `out` is
    /// not as long as all palettes. Nothing is written then.
    pub fn palettes(
        &self,
        clips: &[Clip],
        instances: &[BatchInstance],
        mut out: WriteOnly<'_, Mat3x4>,
    ) -> Result<()> {
        let entries = self.rig.entries.len();
        let need = entries.saturating_mul(instances.len());
        expect_len("palettes", out.len(), need)?;
        let (skeleton, joints) = (self.rig.skeleton, self.rig.joints.len());
        for (index, instance) in instances.iter().enumerate() {
            instance
                .check(clips, skeleton, joints)
                .map_err(|why| Error::Each {
                    what: "instance",
                    index: index as u64,
                    why: Box::new(why),
                })?;
        }
        let start = out.as_mut_ptr();
        self.with_scratch(|scratch| {
            for (number, instances) in instances.chunks(WIDTH).enumerate() {
                // SAFETY: `out` has room for the palettes of all instances.
                let first = unsafe { start.add(number * WIDTH * entries) };
                let group = Group {
                    blends: std::array::from_fn(|lane| {
                        // Lanes without an instance are not looked at.
                        self.blend(clips, &instances[lane.min(instances.len() - 1)])
                    }),
                    out: std::array::from_fn(|lane| first.wrapping_add(lane * entries)),
                    count: instances.len(),
                };
                // SAFETY: the unit was detected; all clips that are played were checked; the first `count` palettes lie in
                // `out`.
                unsafe { kernel::run(self.unit, &self.rig, &group, scratch) };
            }
        });
        Ok(())
    }

    /// What an instance plays, with weights that sum to 1.
    #[inline]
    fn blend<'a>(&'a self, clips: &'a [Clip], instance: &BatchInstance) -> Blend<'a> {
        let at_rest = Played {
            clip: &self.rig.rest,
            place: self.rig.rest.timing.place(0.0),
            rest: &self.rig.rest_rows,
            weight: 1.0,
        };
        let mut blend = Blend {
            played: [at_rest; MAX_SAMPLES],
            count: 0,
        };
        let samples = &instance.samples;
        // In `f64`, so that no sum overflows.
        let sum: f64 = samples.iter().map(|s| f64::from(s.weight)).sum();
        for sample in samples.iter().filter(|sample| sample.weight > 0.0) {
            let clip = &clips[sample.clip];
            blend.played[blend.count] = Played {
                clip,
                place: clip.timing.place(sample.time_s),
                rest: &self.rig.rest_rows,
                weight: (f64::from(sample.weight) / sum) as f32,
            };
            blend.count += 1;
        }
        blend.count = blend.count.max(1);
        blend
    }

    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = spare().pop().unwrap_or_default();
        let result = work(&mut scratch);
        spare().push(scratch);
        result
    }
}
