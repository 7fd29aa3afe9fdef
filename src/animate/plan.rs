//! Converts the clips that a group of instances plays to the input of the kernel.

use super::group::{Instance, Played};
use super::rig::Rig;
use crate::motion::{ClipSample, FULL_WEIGHT};

/// Largest sum of the weights in a layer. Larger sums are scaled down to it, so that no sum of
/// products overflows.
const MOST: f64 = 1e18;

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

/// Collects the clips that one instance plays, one by one, in ascending order of layer.
pub(crate) struct Planner<'p, 'a> {
    rig: &'a Rig,
    played: &'p mut Vec<Played<'a>>,
    start: usize,
    /// Sum of the weights, in `f64` so that it does not overflow.
    sum: f64,
    layered: bool,
}

impl<'p, 'a> Planner<'p, 'a> {
    #[inline]
    pub(super) fn new(rig: &'a Rig, played: &'p mut Vec<Played<'a>>) -> Self {
        Self {
            rig,
            start: played.len(),
            played,
            sum: 0.0,
            layered: false,
        }
    }

    /// Adds a clip at a time.
    ///
    /// Clip and mask are as [`PlanSource`] says. The layer is not less than that of the clip
    /// before: otherwise the pose is wrong, but nothing worse.
    #[inline(always)]
    pub(crate) fn push(&mut self, sample: ClipSample<'a>) {
        let ClipSample {
            clip,
            weight,
            mask,
            layer,
            ..
        } = sample;
        self.sum += f64::from(weight);
        self.layered |= layer > 0 || mask.is_some() || clip.additive;
        self.played.push(Played {
            clip,
            moment: clip.timing.moment(sample.time_s),
            rig: self.rig,
            weight,
            mask: mask.map(u16::from),
            layer,
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

    /// Normalises the weights of one layer to a sum of 1. If they are less than the full weight,
    /// the rest pose fills the difference.
    #[inline(always)]
    fn normalize(&mut self) {
        let full = f64::from(FULL_WEIGHT);
        if self.sum >= full && self.played.len() == self.start + 1 {
            // The weight of a single clip makes no difference.
            return;
        }
        self.normalize_all(full);
    }

    fn normalize_all(&mut self, full: f64) {
        let by = 1.0 / self.sum.max(full);
        for one in &mut self.played[self.start..] {
            one.weight = (f64::from(one.weight) * by) as f32;
        }
        if self.sum < full {
            let weight = ((full - self.sum) * by) as f32;
            let rest = Played {
                clip: &self.rig.rest,
                moment: self.rig.rest.timing.moment(0.0),
                rig: self.rig,
                weight,
                mask: None,
                layer: 0,
            };
            self.played.insert(self.start, rest);
        }
    }
}

/// Scales down the weights of layers whose sum exceeds [`MOST`].
fn bound(played: &mut [Played<'_>]) {
    for layer in played.chunk_by_mut(|a, b| a.layer == b.layer) {
        let own = layer.iter().filter(|one| !one.clip.additive);
        let sum: f64 = own.map(|one| f64::from(one.weight)).sum();
        if sum > MOST {
            for one in layer.iter_mut().filter(|one| !one.clip.additive) {
                one.weight = (f64::from(one.weight) * (MOST / sum)) as f32;
            }
        }
    }
}
