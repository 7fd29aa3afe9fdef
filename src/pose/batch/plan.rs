//! What a group of instances plays: from the play list to what the kernel reads.

use super::clip::Clip;
use super::kernel::{Instance, Played};
use super::rig::Rig;
use crate::error::{ArgumentFault, Error, Result};
use crate::pose::sample_list::{ClipSample, SampleList};

/// What the samples of a list are looked up in.
#[derive(Clone, Copy)]
pub(super) struct Library<'a> {
    pub(super) rig: &'a Rig,
    pub(super) clips: &'a [Clip],
    /// How many masks there are.
    pub(super) masks: usize,
    /// Of the first level.
    pub(super) threshold: f32,
}

/// Weights that sum to more than this within a level are scaled down to it, so that no sum of products overflows.
const MOST: f64 = 1e18;

impl<'a> Library<'a> {
    /// Whether every sample of an instance that takes part can be had.
    pub(super) fn check(&self, samples: &[ClipSample]) -> Result<()> {
        let mut level = 0;
        for sample in samples {
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
            let clip = self.clips.get(sample.clip).ok_or(Error::NotFound {
                what: "clip",
                index: sample.clip as u64,
                count: self.clips.len() as u64,
            })?;
            if clip.skeleton != self.rig.skeleton || clip.rest.len() != self.rig.joints.len() {
                let other = ArgumentFault::Invalid("was made for another skeleton");
                return Err(argument("clip", other));
            }
            if let Some(mask) = sample.mask
                && usize::from(mask) >= self.masks
            {
                return Err(Error::NotFound {
                    what: "mask",
                    index: mask.into(),
                    count: self.masks as u64,
                });
            }
            if sample.level < level {
                let descends = ArgumentFault::Invalid("is below that of the sample before it");
                return Err(argument("level", descends));
            }
            level = sample.level;
        }
        Ok(())
    }

    /// The same of `count` instances from number `first` on; how many samples they have.
    pub(super) fn check_all(&self, list: &SampleList, first: usize, count: usize) -> Result<usize> {
        let mut samples = 0;
        for index in first..first + count {
            let all = list.samples(index);
            self.check(all).map_err(|why| Error::Each {
                what: "instance",
                index: index as u64,
                why: Box::new(why),
            })?;
            samples += all.len();
        }
        Ok(samples)
    }

    /// What an instance plays, appended to `played`. The samples were checked.
    #[inline]
    pub(super) fn plan(&self, samples: &[ClipSample], played: &mut Vec<Played<'a>>) -> Instance {
        let start = played.len();
        // In `f64`, so that no sum overflows.
        let (mut sum, mut layered) = (0.0, false);
        for sample in samples.iter().filter(|sample| sample.weight > 0.0) {
            let clip = &self.clips[sample.clip];
            sum += f64::from(sample.weight);
            layered |= sample.level > 0 || sample.mask.is_some() || clip.additive;
            played.push(Played {
                clip,
                place: clip.timing.place(sample.time_s),
                rest: &self.rig.rest_rows,
                weight: sample.weight,
                mask: sample.mask,
                level: sample.level,
            });
        }
        if layered {
            bound(&mut played[start..]);
        } else {
            self.normalize(sum, start, played);
        }
        Instance {
            start,
            end: played.len(),
            layered,
        }
    }

    /// Brings weights of one level to a sum of 1, with the rest pose where they are less than the threshold.
    #[inline]
    fn normalize(&self, sum: f64, start: usize, played: &mut Vec<Played<'a>>) {
        let threshold = f64::from(self.threshold);
        let by = 1.0 / sum.max(threshold);
        for one in &mut played[start..] {
            one.weight = (f64::from(one.weight) * by) as f32;
        }
        if sum < threshold {
            let weight = ((threshold - sum) * by) as f32;
            played.insert(start, self.at_rest(weight));
        }
    }

    /// The rest pose, as a clip.
    fn at_rest(&self, weight: f32) -> Played<'a> {
        Played {
            clip: &self.rig.rest,
            place: self.rig.rest.timing.place(0.0),
            rest: &self.rig.rest_rows,
            weight,
            mask: None,
            level: 0,
        }
    }
}

/// Scales down the weights of levels where they sum to more than [`MOST`].
fn bound(played: &mut [Played<'_>]) {
    for level in played.chunk_by_mut(|a, b| a.level == b.level) {
        let own = level.iter().filter(|one| !one.clip.additive);
        let sum: f64 = own.map(|one| f64::from(one.weight)).sum();
        if sum > MOST {
            for one in level.iter_mut().filter(|one| !one.clip.additive) {
                one.weight = (f64::from(one.weight) * (MOST / sum)) as f32;
            }
        }
    }
}

/// At most so many different clips of a group are told apart.
const DISTINCT: usize = 12;

/// The clips that a group plays, each once: their flags are asked for once a block. Where there are many, none.
#[derive(Clone, Copy)]
pub(super) struct Distinct<'a> {
    clips: [&'a Clip; DISTINCT],
    count: usize,
}

impl<'a> Distinct<'a> {
    pub(super) fn of(rest: &'a Clip, played: &[Played<'a>]) -> Self {
        let mut distinct = Self {
            clips: [rest; DISTINCT],
            count: 0,
        };
        for one in played {
            let known = &distinct.clips[..distinct.count];
            if known.iter().any(|clip| std::ptr::eq(*clip, one.clip)) {
                continue;
            }
            if distinct.count == DISTINCT {
                distinct.count = 0;
                return distinct;
            }
            distinct.clips[distinct.count] = one.clip;
            distinct.count += 1;
        }
        distinct
    }

    /// What the flags of a block have in common, and all that any of them has.
    ///
    /// # Safety
    /// The clips have such a block.
    #[inline(always)]
    pub(super) unsafe fn flags(&self, played: &[Played<'_>], block: usize) -> (u8, u8) {
        let (mut all, mut any) = (u8::MAX, 0);
        let mut add = |clip: &Clip| {
            // SAFETY: the caller's contract.
            let flags = unsafe { clip.blocks.get_unchecked(block) }.flags;
            all &= flags;
            any |= flags;
        };
        if self.count > 0 {
            for clip in &self.clips[..self.count] {
                add(clip);
            }
        } else {
            for one in played {
                add(one.clip);
            }
        }
        (all, any)
    }
}

fn argument(what: &'static str, why: ArgumentFault) -> Error {
    Error::Argument { what, why }
}
