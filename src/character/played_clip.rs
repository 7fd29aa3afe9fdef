//! A clip of a character in whichever form it is there.

use super::{Character, CurveClip, Transform};
use crate::error::{Error, Result};
use crate::pose::{Clip, animate, animate_weights};

/// A clip of a character: the file's curves where they are kept, which are exact, else the packed clip.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PlayedClip<'a> {
    Packed(&'a Clip),
    Curves(&'a CurveClip),
}

impl Character {
    /// How many clips there are.
    pub(crate) fn clip_count(&self) -> usize {
        self.clips.len().max(self.curves.len())
    }

    /// The names of the clips, in order.
    pub(crate) fn clip_names(&self) -> impl Iterator<Item = &str> + Clone {
        let packed = self.clips.iter().map(Clip::name);
        // Where both are kept, they bear the same names.
        let curves = self.curves.iter().skip(self.clips.len());
        packed.chain(curves.map(CurveClip::name))
    }

    /// One of the clips.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a clip that the character lacks.
    pub(crate) fn played_clip(&self, index: usize) -> Result<PlayedClip<'_>> {
        let curves = self.curves.get(index).map(PlayedClip::Curves);
        let found = curves.or_else(|| self.clips.get(index).map(PlayedClip::Packed));
        found.ok_or(Error::NotFound {
            what: "clip",
            index: index as u64,
            count: self.clip_count() as u64,
        })
    }
}

impl PlayedClip<'_> {
    /// Its time of the last key, in seconds.
    pub(crate) fn duration_s(&self) -> f64 {
        match self {
            Self::Packed(clip) => clip.duration_s(),
            Self::Curves(clip) => clip.duration_s().into(),
        }
    }

    /// The times of all keys of joints, ascending, each once.
    pub(crate) fn key_times(&self) -> Vec<f64> {
        match self {
            Self::Packed(clip) => clip.key_times(),
            Self::Curves(clip) => {
                let all = clip
                    .tracks()
                    .iter()
                    .flat_map(|track| track.values.times_s());
                let mut times: Vec<f64> = all.map(|time_s| f64::from(*time_s)).collect();
                times.sort_unstable_by(f64::total_cmp);
                times.dedup();
                times
            }
        }
    }

    /// Writes the local pose at a time over `local`, which holds the rest pose: one transform a joint.
    ///
    /// # Errors
    /// [`Error::Argument`] or [`Error::NotFound`] if `local` is for another skeleton.
    pub(crate) fn animate(&self, time_s: f64, local: &mut [Transform]) -> Result<()> {
        match self {
            Self::Packed(clip) => clip.sample(time_s, local),
            Self::Curves(clip) => animate(clip, time_s, local),
        }
    }

    /// Writes the morph weights at a time over `weights`, which holds those at rest.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it drives a weight that `weights` does not have.
    pub(crate) fn animate_weights(&self, time_s: f64, weights: &mut [f32]) -> Result<()> {
        match self {
            Self::Packed(clip) => {
                if let Some(last) = clip.driven_weights().last()
                    && last.end > weights.len()
                {
                    return Err(Error::NotFound {
                        what: "morph weight",
                        index: last.end as u64 - 1,
                        count: weights.len() as u64,
                    });
                }
                clip.sample_weights(time_s, |index, value| weights[index] = value);
                Ok(())
            }
            Self::Curves(clip) => animate_weights(clip, time_s, weights),
        }
    }
}
