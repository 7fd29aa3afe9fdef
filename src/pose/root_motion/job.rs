//! The motions of many instances at once.

use super::delta::{Mean, check_weight, each};
use super::{RootDelta, RootMotion};
use crate::error::{ArgumentFault, Error, Result};
use crate::pose::LoopMode;
use crate::pose::palette::expect_len;

/// A part of what an instance played in a frame: a clip, from where to where, with a weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RootPass {
    /// Index into [`RootMotionJob::motions`].
    pub motion: usize,
    /// Unwrapped clip time at the frame's start, in seconds; see [`ClipSpan`](crate::pose::ClipSpan).
    pub from_s: f64,
    /// The same at its end.
    pub to_s: f64,
    /// What happens at the ends of the clip.
    pub loop_mode: LoopMode,
    /// Its part in the blend: finite, not negative. With 0 it takes no part.
    pub weight: f32,
}

/// How each of many instances moves in a frame: the motions of what it plays, blended as [`RootDelta::blend`] does.
/// Plain data: nothing is allocated, and parts of a crowd can go to different threads.
///
/// ```
/// use throng::pose::{RootDelta, RootMotion, RootMotionJob, RootMotionOptions, RootPass, LoopMode};
///
/// let options = throng::import::ImportOptions::with_curves();
/// let character = throng::builtin::mannequin_with(&options)?.character;
/// let (character, motions) = RootMotion::extract_all(character, &RootMotionOptions::default())?;
/// let walk = character.clip("Walk")?.index();
/// let pass = RootPass { motion: walk, from_s: 0.0, to_s: 0.016, loop_mode: LoopMode::Loop, weight: 1.0 };
/// let mut deltas = [RootDelta::IDENTITY; 2];
/// // The first instance plays one clip, the second none.
/// RootMotionJob { motions: &motions, passes: &[pass], ends: &[1, 1], out: &mut deltas }.run()?;
/// assert_eq!(deltas[1], RootDelta::IDENTITY);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug)]
pub struct RootMotionJob<'a> {
    /// The motions of the clips.
    pub motions: &'a [RootMotion],
    /// What the instances play, one list after the other.
    pub passes: &'a [RootPass],
    /// For each instance, where its list ends in [`Self::passes`]: not descending, the last is the number of passes.
    pub ends: &'a [usize],
    /// For each instance, how it moves.
    pub out: &'a mut [RootDelta],
}

impl RootMotionJob<'_> {
    /// Whether [`Self::run`] will do.
    ///
    /// # Errors
    /// [`Error::Argument`] if `out` is not as long as `ends`, or `ends` descend or do not end at the number of passes;
    /// [`Error::Each`], naming the pass, with [`Error::NotFound`] for a motion that does not exist, and with
    /// [`Error::Argument`] for a weight that is not finite or is negative. What has the weight 0 is not looked at.
    pub fn validate(&self) -> Result<()> {
        expect_len("root motions", self.out.len(), self.ends.len())?;
        let last = self.ends.last().copied().unwrap_or(0);
        expect_len("root passes", self.passes.len(), last)?;
        if self.ends.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(Error::Argument {
                what: "ends of root passes",
                why: ArgumentFault::Invalid("must not descend"),
            });
        }
        for (index, pass) in self.passes.iter().enumerate() {
            check_weight(pass.weight)
                .and_then(|()| self.find(pass))
                .map_err(|why| each("root pass", index, why))?;
        }
        Ok(())
    }

    fn find(&self, pass: &RootPass) -> Result<()> {
        if pass.weight == 0.0 || pass.motion < self.motions.len() {
            return Ok(());
        }
        Err(Error::NotFound {
            what: "root motion",
            index: pass.motion as u64,
            count: self.motions.len() as u64,
        })
    }

    /// Writes how each instance moves; [`RootDelta::IDENTITY`] for one that plays nothing.
    ///
    /// # Errors
    /// As [`Self::validate`]; nothing is written then.
    pub fn run(self) -> Result<()> {
        self.validate()?;
        let mut start = 0;
        for (end, out) in self.ends.iter().zip(self.out) {
            let mut mean = Mean::default();
            for pass in self.passes.get(start..*end).unwrap_or(&[]) {
                if pass.weight > 0.0
                    && let Some(motion) = self.motions.get(pass.motion)
                {
                    let delta = motion.delta(pass.from_s, pass.to_s, pass.loop_mode);
                    mean.add(&delta, pass.weight);
                }
            }
            *out = mean.get();
            start = *end;
        }
        Ok(())
    }
}
