//! Converts the clips that a group of instances plays to the input of the kernel.

use super::group::{Instance, Played};
use super::rig::Rig;
use crate::clip::Clip;
use crate::error::{Error, Result, expect_in};
use crate::motion::{ClipSample, SampleList};

/// The rig, clips and masks that samples refer to.
#[derive(Clone, Copy)]
pub(crate) struct Library<'a> {
    pub(super) rig: &'a Rig,
    pub(crate) clips: &'a [Clip],
    /// Number of masks.
    pub(crate) masks: usize,
}

/// Largest sum of the weights in a level. Larger sums are scaled down to it, so that no sum of
/// products overflows.
const MOST: f64 = 1e18;

impl Library<'_> {
    /// Checks that the clips and masks of one instance exist and its weights and levels are valid.
    pub(crate) fn check(&self, samples: &[ClipSample]) -> Result<()> {
        let mut level = 0;
        for sample in samples {
            let weight = sample.weight;
            expect_in("weight", weight, 0.0, f32::MAX)?;
            if weight == 0.0 {
                continue;
            }
            let clip = self.clips.get(sample.clip.index()).ok_or(Error::NotFound {
                what: "clip",
                index: sample.clip.into(),
                count: self.clips.len() as u64,
            })?;
            if clip.skeleton != self.rig.skeleton || clip.rest.len() != self.rig.joints.len() {
                return Err(Error::invalid("clip", "was made for another skeleton"));
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
                return Err(Error::invalid(
                    "level",
                    "must not be less than that of the previous sample",
                ));
            }
            level = sample.level;
        }
        Ok(())
    }

    /// Checks `count` instances from number `first` on and returns their total number of samples.
    pub(crate) fn check_all(&self, list: &SampleList, first: usize, count: usize) -> Result<usize> {
        let mut samples = 0;
        for index in first..first + count {
            let all = list.samples(index);
            self.check(all).map_err(|why| Error::At {
                what: "instance",
                index: index as u64,
                why: Box::new(why),
            })?;
            samples += all.len();
        }
        Ok(samples)
    }
}

/// A checked list of samples, with the library that its indices refer to.
pub(super) struct Listed<'a> {
    library: Library<'a>,
    list: &'a SampleList,
}

impl<'a> Listed<'a> {
    /// # Safety
    /// [`Library::check_all`] has accepted every instance of the list.
    pub(super) unsafe fn new(library: Library<'a>, list: &'a SampleList) -> Self {
        Self { library, list }
    }
}

// SAFETY: `Library::check_all` has accepted the list, by the contract of `new`. It compares each
// clip with the rig, and each mask with the number of masks. The list is borrowed, so it is still
// the same.
unsafe impl PlanSource for Listed<'_> {
    fn len(&self) -> usize {
        self.list.len()
    }

    #[inline]
    fn plan<'a>(&'a self, index: usize, planner: &mut Planner<'_, 'a>) {
        for sample in self.list.samples(index) {
            if sample.weight > 0.0 {
                let clip = &self.library.clips[sample.clip.index()];
                let (weight, level) = (sample.weight, sample.level);
                let mask = sample.mask.map(u16::from);
                planner.push(clip, sample.time_s, weight, mask, level);
            }
        }
    }
}

/// The source of the clips that the instances of a batch play.
///
/// # Safety
/// The kernel reads clips and masks without further checks. Whatever [`Self::plan`] pushes fits the
/// [`BatchPoser`](super::BatchPoser) that evaluates the source:
///
/// - The clips have as many joints as its rig.
/// - It has the masks.
pub(crate) unsafe trait PlanSource: Sync {
    /// The number of instances.
    fn len(&self) -> usize;

    /// Pushes the clips that instance `index`, which is less than [`Self::len`], plays.
    fn plan<'a>(&'a self, index: usize, planner: &mut Planner<'_, 'a>);
}

/// Collects the clips that one instance plays, one by one, in ascending order of level.
pub(crate) struct Planner<'p, 'a> {
    rig: &'a Rig,
    /// Threshold of the first level.
    threshold: f32,
    played: &'p mut Vec<Played<'a>>,
    start: usize,
    /// Sum of the weights, in `f64` so that it does not overflow.
    sum: f64,
    layered: bool,
}

impl<'p, 'a> Planner<'p, 'a> {
    #[inline]
    pub(super) fn new(rig: &'a Rig, threshold: f32, played: &'p mut Vec<Played<'a>>) -> Self {
        Self {
            rig,
            threshold,
            start: played.len(),
            played,
            sum: 0.0,
            layered: false,
        }
    }

    /// Adds a clip at a time.
    ///
    /// Clip and mask are as [`PlanSource`] says. The weight is positive and finite, and the level
    /// is not less than that of the clip before: otherwise the pose is wrong, but nothing worse.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        clip: &'a Clip,
        time_s: f64,
        weight: f32,
        mask: Option<u16>,
        level: u8,
    ) {
        self.sum += f64::from(weight);
        self.layered |= level > 0 || mask.is_some() || clip.additive;
        self.played.push(Played {
            clip,
            place: clip.timing.place(time_s),
            rig: self.rig,
            weight,
            mask,
            level,
        });
    }

    /// Finishes the instance and returns the range of its clips.
    #[inline(always)]
    pub(crate) fn finish(mut self) -> Instance {
        if self.layered {
            bound(&mut self.played[self.start..]);
        } else {
            self.normalize();
        }
        Instance {
            start: self.start as u32,
            end: self.played.len() as u32,
            layered: self.layered,
        }
    }

    /// Normalises the weights of one level to a sum of 1. If they are less than the threshold, the
    /// rest pose fills the difference.
    #[inline(always)]
    fn normalize(&mut self) {
        let threshold = f64::from(self.threshold);
        if self.sum >= threshold && self.played.len() == self.start + 1 {
            // The weight of a single clip makes no difference.
            return;
        }
        self.normalize_all(threshold);
    }

    fn normalize_all(&mut self, threshold: f64) {
        let by = 1.0 / self.sum.max(threshold);
        for one in &mut self.played[self.start..] {
            one.weight = (f64::from(one.weight) * by) as f32;
        }
        if self.sum < threshold {
            let weight = ((threshold - self.sum) * by) as f32;
            let rest = Played {
                clip: &self.rig.rest,
                place: self.rig.rest.timing.place(0.0),
                rig: self.rig,
                weight,
                mask: None,
                level: 0,
            };
            self.played.insert(self.start, rest);
        }
    }
}

/// Scales down the weights of levels whose sum exceeds [`MOST`].
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
