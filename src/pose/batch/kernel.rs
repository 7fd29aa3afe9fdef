//! Eight instances together: what they are, and the loop over the blocks.
//!
//! Here and in `sample` and `compose`, no closure takes or returns a vector: a function that the compiler does not inline has
//! no vector unit, and every operation in it becomes a call.

use super::super::Mat3x4;
use super::super::unit::Unit;
use super::clip::{Block, COMPONENTS, Clip, Property};
use super::compose::{compose, write};
use super::lanes::{Lanes, Plain, Row, WIDTH};
use super::sample::sample_block;
use super::timing::Place;
use super::{MAX_SAMPLES, Rig};

#[cfg(target_arch = "x86_64")]
use super::avx2::Avx2;

/// A clip of an instance, at its time.
#[derive(Clone, Copy)]
pub(super) struct Played<'a> {
    pub(super) clip: &'a Clip,
    pub(super) place: Place,
    /// The rest pose: `[block][component][lane]`.
    pub(super) rest: &'a [Row],
    pub(super) weight: f32,
}

/// What an instance plays: the first `count` of them, at least one.
#[derive(Clone, Copy)]
pub(super) struct Blend<'a> {
    pub(super) played: [Played<'a>; MAX_SAMPLES],
    pub(super) count: usize,
}

impl<'a> Blend<'a> {
    #[inline(always)]
    pub(super) fn all(&self) -> &[Played<'a>] {
        &self.played[..self.count]
    }

    /// All of them, or one where they all are in the rest pose: then the result has that one's bits, whatever other
    /// instances do.
    ///
    /// # Safety
    /// The clips have such a block.
    #[inline(always)]
    pub(super) unsafe fn moving(&self, block: usize, property: Property) -> &[Played<'a>] {
        let all = self.all();
        let rest = Block::REST << property as u8;
        // SAFETY: the caller's contract.
        let flags = |played: &Played<'_>| unsafe { played.clip.blocks.get_unchecked(block) }.flags;
        if all.len() > 1 && all.iter().all(|played| flags(played) & rest != 0) {
            &all[..1]
        } else {
            all
        }
    }
}

/// Eight instances, or fewer, and where their palettes go.
pub(super) struct Group<'a> {
    pub(super) blends: [Blend<'a>; WIDTH],
    pub(super) out: [*mut Mat3x4; WIDTH],
    /// How many instances there are.
    pub(super) count: usize,
}

/// What the kernel needs besides: made for one rig, kept from call to call.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// `[component][instance]`, joints in the lanes.
    pub(super) sampled: [[Row; WIDTH]; COMPONENTS],
    /// `[component][joint]`, instances in the lanes.
    pub(super) local: [[Row; WIDTH]; COMPONENTS],
    /// For each joint its matrix by rows, instances in the lanes.
    pub(super) model: Vec<[Row; 12]>,
}

/// Evaluates a group and writes its palettes, each in ascending order.
///
/// # Safety
/// The CPU has `unit`. The clips were made for the rig's skeleton. Each of the first `count` pointers is valid for writing
/// as many entries as the rig has.
pub(super) unsafe fn run(unit: Unit, rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    scratch.model.resize(rig.joints.len(), [Row::default(); 12]);
    // SAFETY: the caller's contract.
    unsafe {
        match unit {
            #[cfg(target_arch = "x86_64")]
            Unit::Avx2 => run_avx2(rig, group, scratch),
            Unit::Plain => run_lanes::<Plain>(rig, group, scratch),
        }
    }
}

/// # Safety
/// As [`run`]; the CPU has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn run_avx2(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller's contract.
    unsafe { run_lanes::<Avx2>(rig, group, scratch) }
}

/// # Safety
/// As [`run`]; the CPU has what `L` needs.
#[inline(always)]
unsafe fn run_lanes<L: Lanes>(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    let mut written = 0;
    for first in (0..rig.joints.len()).step_by(WIDTH) {
        let end = (first + WIDTH).min(rig.joints.len());
        // SAFETY: the caller's contract. Every clip has as many blocks as the rig; parents come before children.
        unsafe {
            let resting = sample_block::<L>(group, first / WIDTH, scratch);
            for joint in first..end {
                compose::<L>(rig, joint, resting, scratch);
            }
            while let Some(entry) = rig.entries.get(written)
                && (entry.joint as usize) < end
            {
                write::<L>(group, entry, &scratch.model[entry.joint as usize], written);
                written += 1;
            }
        }
    }
}
