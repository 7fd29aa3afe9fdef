//! A group of instances: the clips that they play, as the input of the kernel.

use super::rig::Rig;
use crate::clip::{Block, Clip, Moment, Property};
use crate::motion::{ClipSample, FULL_WEIGHT};
use crate::palette::PaletteFormat;
use crate::simd::Row;

/// Most instances that are evaluated together: two AVX2 registers or one AVX-512 register.
pub(crate) const GROUP: usize = 16;

/// A clip that an instance plays, at its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Played<'a> {
    pub(crate) clip: &'a Clip,
    pub(crate) moment: Moment,
    pub(super) rig: &'a Rig,
    pub(crate) weight: f32,
    pub(crate) mask: Option<u16>,
    pub(crate) layer: u8,
}

/// The range of the group's played clips that belongs to an instance. It is not empty.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Instance {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// True with masks, layers or additive clips. Otherwise the weights sum to 1.
    pub(crate) layered: bool,
}

/// The kind of output that is computed from the poses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    /// Local poses: one `Transform` per joint.
    Local,
    /// Palettes in this format: one element per palette entry.
    Palette(PaletteFormat),
}

/// The output addresses of the instances.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Starts<'a> {
    /// Contiguous outputs: the address of the first, and the size of each in bytes.
    Even(*mut u8, usize),
    /// A separate address for each instance.
    Each(&'a [*mut u8]),
}

// SAFETY: these are only addresses. The functions that write to them require that no two threads
// write to the same output.
unsafe impl Sync for Starts<'_> {}

impl Starts<'_> {
    #[inline]
    pub(crate) fn at(&self, index: usize) -> *mut u8 {
        match self {
            Self::Even(start, bytes) => start.wrapping_add(index * bytes),
            Self::Each(starts) => starts[index],
        }
    }
}

/// Up to [`GROUP`] instances, and the addresses of their output.
pub(crate) struct Group<'a> {
    pub(crate) played: &'a [Played<'a>],
    pub(crate) clips: Distinct<'a>,
    pub(crate) instances: [Instance; GROUP],
    pub(crate) count: usize,
    /// The number of outputs of each instance. If there are several, there is one instance.
    pub(crate) copies: usize,
    /// Masks `[mask][block]`, joints in the lanes.
    pub(crate) masks: &'a [Vec<Row>],
    pub(crate) product: Product,
    /// Output addresses, aligned to 16 bytes. Those from number `count` on point to the scratch's
    /// spill memory.
    pub(crate) out: [*mut u8; GROUP],
    /// Offset of all outputs into a line of 64 bytes; 0 if they differ.
    pub(crate) phase: usize,
}

impl Played<'_> {
    /// Returns the flags of a block.
    ///
    /// # Safety
    /// The clip has this block.
    #[inline(always)]
    pub(super) unsafe fn flags(&self, block: usize) -> u8 {
        // SAFETY: the caller guarantees that the clip has this block.
        unsafe { self.clip.blocks.get_unchecked(block) }.flags
    }

    /// Returns true if both have the same pose and effect.
    fn equals(&self, other: &Self) -> bool {
        std::ptr::eq(self.clip, other.clip)
            && self.moment.time_s == other.moment.time_s
            && self.weight == other.weight
            && (self.mask, self.layer) == (other.mask, other.layer)
    }
}

/// Returns true if all instances play the same at the same time.
pub(super) fn in_step(played: &[Played<'_>], instances: &[Instance]) -> bool {
    let of = |one: &Instance| &played[one.start as usize..one.end as usize];
    instances.iter().all(|one| {
        let (one, first) = (of(one), of(&instances[0]));
        one.len() == first.len() && one.iter().zip(first).all(|(a, b)| a.equals(b))
    })
}

impl<'a> Group<'a> {
    /// Returns the clips that an instance plays.
    ///
    /// # Safety
    /// The instance belongs to the group.
    #[inline(always)]
    pub(crate) unsafe fn played_by(&self, instance: &Instance) -> &'a [Played<'a>] {
        let range = instance.start as usize..instance.end as usize;
        // SAFETY: the caller guarantees that the instance belongs to the group, so its range is
        // valid.
        unsafe { self.played.get_unchecked(range) }
    }
}

/// Largest number of different clips per group that are tracked.
const DISTINCT: usize = 12;

/// The different clips that a group plays, so that their flags are read once per block. Empty if
/// there are too many.
#[derive(Clone, Copy)]
pub(crate) struct Distinct<'a> {
    clips: [&'a Clip; DISTINCT],
    count: usize,
}

impl<'a> Distinct<'a> {
    pub(crate) fn of(rest: &'a Clip, played: &[Played<'a>]) -> Self {
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

    /// Returns the flags of a block that all clips have, and those that any clip has.
    ///
    /// # Safety
    /// The clips have this block.
    #[inline(always)]
    pub(crate) unsafe fn flags(&self, played: &[Played<'_>], block: usize) -> (u8, u8) {
        let (mut all, mut any) = (u8::MAX, 0);
        let mut add = |clip: &Clip| {
            // SAFETY: the caller guarantees that the clips have this block.
            let flags = unsafe { clip.blocks.get_unchecked(block) }.flags;
            (all, any) = (all & flags, any | flags);
        };
        match &self.clips[..self.count] {
            [] => played.iter().for_each(|one| add(one.clip)),
            clips => clips.iter().for_each(|clip| add(clip)),
        }
        (all, any)
    }
}

#[inline(always)]
pub(super) const fn rests(flags: u8, property: Property) -> bool {
    flags & (Block::REST << property as u8) != 0
}

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
        let full = f64::from(FULL_WEIGHT);
        if self.layered {
            bound(&mut self.played[self.start..]);
        } else if self.sum < full || self.played.len() != self.start + 1 {
            // The weight of a single clip makes no difference.
            self.normalize(full);
        }
        Instance {
            start: self.start as u32,
            end: self.played.len() as u32,
            layered: self.layered,
        }
    }

    /// Normalises the weights of one layer to a sum of 1. If they are less than the full weight,
    /// the rest pose fills the difference.
    fn normalize(&mut self, full: f64) {
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
