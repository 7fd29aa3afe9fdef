//! What each instance of a batch plays.

use super::super::play_list::ClipSample;
use super::clip::Clip;
use crate::error::{ArgumentFault, Error, Result};

/// The most clips that are blended in one instance.
pub const MAX_SAMPLES: usize = 3;

/// One instance of a batch: up to [`MAX_SAMPLES`] clips, blended.
///
/// The blend is that of local poses: weighted means of translations and scales; rotations are unit quaternions, each
/// turned to the half space of the sum of those before it, added by weight and brought to length 1. A sample of
/// weight 0 takes no part and is not looked at. Where all are 0, the instance is in the rest pose.
///
/// ```
/// use throng::pose::{BatchInstance, ClipSample};
///
/// let walking = BatchInstance::of(0, 1.25);
/// let both = BatchInstance::blend(&[
///     ClipSample::new(0, 1.25).weighted(0.75),
///     ClipSample::new(1, 0.5).weighted(0.25),
/// ])?;
/// assert_ne!(walking, both);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchInstance {
    /// In the order in which they are added up.
    pub samples: [ClipSample; MAX_SAMPLES],
}

impl BatchInstance {
    /// In the rest pose.
    pub const REST: Self = Self {
        samples: [ClipSample::new(0, 0.0).weighted(0.0); MAX_SAMPLES],
    };

    /// In clip `clip` at its time `time_s`.
    #[must_use]
    pub const fn of(clip: usize, time_s: f64) -> Self {
        let mut one = Self::REST;
        one.samples[0] = ClipSample::new(clip, time_s);
        one
    }

    /// In a blend of `samples`.
    ///
    /// # Errors
    /// [`Error::Capacity`] if there are more than [`MAX_SAMPLES`].
    pub fn blend(samples: &[ClipSample]) -> Result<Self> {
        let mut blend = Self::REST;
        let Some(room) = blend.samples.get_mut(..samples.len()) else {
            return Err(Error::Capacity {
                what: "clips blended in one instance",
                asked: samples.len() as u64,
                cap: MAX_SAMPLES as u64,
            });
        };
        room.copy_from_slice(samples);
        Ok(blend)
    }

    /// Whether every sample that takes part can be had.
    pub(super) fn check(&self, clips: &[Clip], skeleton: u64, joints: usize) -> Result<()> {
        for sample in &self.samples {
            let weight = sample.weight;
            if !weight.is_finite() {
                return Err(argument("weight", ArgumentFault::NotFinite(weight.into())));
            }
            if weight < 0.0 {
                let out_of_range = ArgumentFault::OutOfRange {
                    value: weight.into(),
                    min: 0.0,
                    max: f32::MAX.into(),
                };
                return Err(argument("weight", out_of_range));
            }
            if weight == 0.0 {
                continue;
            }
            let clip = clips.get(sample.clip).ok_or(Error::NotFound {
                what: "clip",
                index: sample.clip as u64,
                count: clips.len() as u64,
            })?;
            if clip.skeleton != skeleton || clip.rest.len() != joints {
                let other = ArgumentFault::Invalid("was made for another skeleton");
                return Err(argument("clip", other));
            }
        }
        Ok(())
    }
}

fn argument(what: &'static str, why: ArgumentFault) -> Error {
    Error::Argument { what, why }
}
