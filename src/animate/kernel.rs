//! A group of instances together: what they are, and the loop over the blocks.

use super::compose::compose_block;
use super::plan::Distinct;
use super::rig::Rig;
use super::sample::{local_blocks, sample_block};
use super::write::{write_entries, write_model};
use crate::clip::{COMPONENTS, Clip, Place};
use crate::palette::PaletteFormat;
use crate::simd::{Eight, Plain, Row, SimdLevel, Unit, WIDTH, Wide};
use crate::skeleton::{Affine, Transform};

#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512, Pair, Sse2};
#[cfg(target_arch = "aarch64")]
use crate::simd::{Neon, Pair};

/// How many instances are evaluated together, at most: two registers of AVX2, one of AVX-512.
pub(crate) const GROUP: usize = 16;

/// A clip of an instance, at its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Played<'a> {
    pub(crate) clip: &'a Clip,
    pub(crate) place: Place,
    pub(super) rig: &'a Rig,
    pub(crate) weight: f32,
    pub(crate) mask: Option<u16>,
    pub(crate) level: u8,
}

/// What an instance plays: a range of the group's, not empty.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Instance {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// With masks, levels or additive clips; else the weights sum to 1.
    pub(crate) layered: bool,
}

/// What is made of the poses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    /// `Transform`s, one a joint.
    Local,
    /// `Affine`s, one a joint.
    Model,
    /// Entries of this format, one a palette entry.
    Palette(PaletteFormat),
}

/// Up to [`GROUP`] instances, and where what is made of them goes.
pub(crate) struct Group<'a> {
    pub(crate) played: &'a [Played<'a>],
    pub(crate) clips: Distinct<'a>,
    pub(crate) instances: [Instance; GROUP],
    /// How many there are.
    pub(crate) count: usize,
    /// `[mask][block]`, joints in the lanes.
    pub(crate) masks: &'a [Vec<Row>],
    pub(crate) threshold: f32,
    pub(crate) product: Product,
    /// Aligned to 16 bytes. Those from number `count` on are the scratch's spill.
    pub(crate) out: [*mut u8; GROUP],
    /// How far into a line of 64 bytes each of them points, if all point equally far.
    pub(crate) phase: Option<usize>,
}

impl<'a> Group<'a> {
    /// What an instance plays.
    ///
    /// # Safety
    /// It is one of the group's.
    #[inline(always)]
    pub(crate) unsafe fn played_by(&self, instance: &Instance) -> &'a [Played<'a>] {
        let range = instance.start as usize..instance.end as usize;
        // SAFETY: the caller's contract.
        unsafe { self.played.get_unchecked(range) }
    }
}

impl Product {
    /// Bytes that an instance of a rig takes.
    pub(super) fn bytes(self, rig: &Rig) -> usize {
        match self {
            Self::Local => rig.joints.len() * size_of::<Transform>(),
            Self::Model => rig.joints.len() * size_of::<Affine>(),
            Self::Palette(format) => rig.entries.len() * format.entry_bytes(),
        }
    }
}

/// Sixteen numbers: a row of the widest unit.
#[repr(C, align(64))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line(pub(crate) [f32; GROUP]);

impl Line {
    pub(crate) const ZERO: Self = Self([0.0; GROUP]);
}

/// What the kernel needs besides: made for one rig, kept from call to call. The rows of `local` and
/// `model` are as long as the unit takes them.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// `[component][instance]`, joints in the lanes.
    pub(crate) sampled: [[Row; GROUP]; COMPONENTS],
    /// `[component][joint]`, instances in the lanes.
    pub(crate) local: [[Line; WIDTH]; COMPONENTS],
    /// For each slot a matrix by rows, instances in the lanes.
    pub(crate) model: Vec<[Line; 12]>,
    /// Where lanes without an instance write: as much as one instance takes of any product, and a
    /// line.
    pub(crate) spill: Vec<Line>,
    /// Of the group at hand.
    pub(crate) played: Vec<Played<'static>>,
}

impl Scratch {
    pub(crate) fn new(rig: &Rig) -> Box<Self> {
        let line = Line::ZERO;
        let most = rig.joints.len().max(rig.entries.len()) * size_of::<Affine>();
        Box::new(Self {
            sampled: [[Row::default(); GROUP]; COMPONENTS],
            local: [[line; WIDTH]; COMPONENTS],
            model: vec![[line; 12]; rig.slots],
            spill: vec![line; most.div_ceil(size_of::<Line>()) + 1],
            played: Vec::new(),
        })
    }
}

/// How many instances a group has on this unit.
pub(crate) const fn group_size(unit: Unit) -> usize {
    match unit.level() {
        SimdLevel::Avx512 => GROUP,
        _ => 8,
    }
}

/// Evaluates a group and writes what is made of it, each instance's in ascending order.
///
/// # Safety
/// The CPU has `unit`. The group has no more instances than [`group_size`] says. The clips were
/// made for the rig's skeleton, and so was the scratch for the rig. Each pointer is valid for
/// writing as many of the product as there are joints or entries, and aligned to 16 bytes (for
/// local poses, to their elements).
pub(crate) unsafe fn run(unit: Unit, rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller's contract. No part is wider than the group's rows.
    unsafe {
        match unit.level() {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => run_avx512(rig, group, scratch),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => run_avx2(rig, group, scratch),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Sse2 => run_either::<Pair<Sse2<false>>, Sse2<false>, 8>(rig, group, scratch),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => run_either::<Pair<Neon>, Neon, 8>(rig, group, scratch),
            _ => run_either::<Plain<8>, Plain<8>, 8>(rig, group, scratch),
        }
    }
}

/// A group that is not full takes narrower registers, so that few instances cost little.
///
/// # Safety
/// As [`run`]; the CPU has what [`SimdLevel::Avx512`] says.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn run_avx512(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller's contract.
    unsafe {
        match group.count {
            _ if group.product == Product::Local => local_blocks::<Avx2>(rig, group, scratch),
            ..=4 => run_blocks::<Avx2, Sse2<true>, 16>(rig, group, scratch),
            5..=8 => run_blocks::<Avx2, Avx2, 16>(rig, group, scratch),
            _ => run_blocks::<Avx2, Avx512, 16>(rig, group, scratch),
        }
    }
}

/// # Safety
/// As [`run`]; the CPU has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn run_avx2(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller's contract.
    unsafe {
        match group.count {
            _ if group.product == Product::Local => local_blocks::<Avx2>(rig, group, scratch),
            ..=4 => run_blocks::<Avx2, Sse2<true>, 8>(rig, group, scratch),
            _ => run_blocks::<Avx2, Avx2, 8>(rig, group, scratch),
        }
    }
}

/// # Safety
/// As [`run_blocks`].
#[inline(always)]
unsafe fn run_either<L: Eight, W: Wide, const ROW: usize>(
    rig: &Rig,
    group: &Group<'_>,
    scratch: &mut Scratch,
) {
    // SAFETY: the caller's contract.
    unsafe {
        match group.product {
            Product::Local => local_blocks::<L>(rig, group, scratch),
            _ => run_blocks::<L, W, ROW>(rig, group, scratch),
        }
    }
}

/// Samples with joints in the lanes of `L`, and composes with instances in those of `W`, in rows of
/// `ROW` instances.
///
/// # Safety
/// As [`run`]; the CPU has what `L` and `W` need; `W` is no wider than `ROW`, and the group no
/// larger.
#[inline(always)]
unsafe fn run_blocks<L: Eight, W: Wide, const ROW: usize>(
    rig: &Rig,
    group: &Group<'_>,
    scratch: &mut Scratch,
) {
    let mut written = 0;
    for first in (0..rig.joints.len()).step_by(WIDTH) {
        let end = (first + WIDTH).min(rig.joints.len());
        // SAFETY: the caller's contract. Every clip has as many blocks as the rig; parents come
        // before children.
        unsafe {
            let resting = sample_block::<L, W, ROW>(rig, group, first / WIDTH, scratch);
            let joints = rig.joints.get_unchecked(first..end);
            for part in (0..group.count).step_by(W::WIDTH) {
                compose_block::<W, ROW>(joints, part, resting, scratch);
            }
            if group.product == Product::Model {
                for (index, joint) in joints.iter().enumerate() {
                    write_model::<W, ROW>(group, joint, first + index, scratch);
                }
                continue;
            }
            let left = rig.entries.get_unchecked(written..);
            let ready = left
                .iter()
                .take_while(|entry| usize::from(entry.joint) < end);
            let ready = ready.count();
            let list = left.get_unchecked(..ready);
            write_entries::<W, ROW>(group, (list, written), scratch);
            written += ready;
        }
    }
}
