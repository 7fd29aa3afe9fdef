//! A group of instances, and the loop over its blocks of joints.

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

/// Most instances that are evaluated together: two AVX2 registers or one AVX-512 register.
pub(crate) const GROUP: usize = 16;

/// A clip that an instance plays, at its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Played<'a> {
    pub(crate) clip: &'a Clip,
    pub(crate) place: Place,
    pub(super) rig: &'a Rig,
    pub(crate) weight: f32,
    pub(crate) mask: Option<u16>,
    pub(crate) level: u8,
}

/// The range of the group's played clips that belongs to an instance. It is not empty.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Instance {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// True with masks, levels or additive clips. Otherwise the weights sum to 1.
    pub(crate) layered: bool,
}

/// The kind of output that is computed from the poses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    /// Local poses: one `Transform` per joint.
    Local,
    /// Model poses: one `Affine` per joint.
    Model,
    /// Palettes in this format: one element per palette entry.
    Palette(PaletteFormat),
}

/// Up to [`GROUP`] instances, and the addresses of their output.
pub(crate) struct Group<'a> {
    pub(crate) played: &'a [Played<'a>],
    pub(crate) clips: Distinct<'a>,
    pub(crate) instances: [Instance; GROUP],
    /// Number of instances.
    pub(crate) count: usize,
    /// Masks `[mask][block]`, joints in the lanes.
    pub(crate) masks: &'a [Vec<Row>],
    pub(crate) threshold: f32,
    pub(crate) product: Product,
    /// Output addresses, aligned to 16 bytes. Those from number `count` on point to the scratch's
    /// spill memory.
    pub(crate) out: [*mut u8; GROUP],
    /// Offset of all outputs into a line of 64 bytes, if it is the same for all.
    pub(crate) phase: Option<usize>,
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

impl Product {
    /// Output size of one instance of a rig, in bytes.
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

/// Working memory of the kernel for one rig, kept from call to call.
///
/// Rows of `local` and `model` have the length that the unit needs.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Samples `[component][instance]`, joints in the lanes.
    pub(crate) sampled: [[Row; GROUP]; COMPONENTS],
    /// Local poses `[component][joint]`, instances in the lanes.
    pub(crate) local: [[Line; WIDTH]; COMPONENTS],
    /// Model matrices by rows, instances in the lanes. Joints share this memory, see `Joint::slot`.
    pub(crate) model: Vec<[Line; 12]>,
    /// Output memory for lanes without an instance: the size of one instance of any product, and a
    /// line.
    pub(crate) spill: Vec<Line>,
    /// The clips played by the current group.
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

/// Number of instances in a group on this unit.
pub(crate) const fn group_size(unit: Unit) -> usize {
    match unit.level() {
        SimdLevel::Avx512 => GROUP,
        _ => 8,
    }
}

/// Evaluates a group and writes its output, each instance's in ascending order.
///
/// # Safety
/// - The CPU has `unit`.
/// - The group has no more instances than [`group_size`] returns.
/// - The clips were made for the rig's skeleton, and the scratch for the rig.
/// - Each output pointer is valid for writing one element of the product per joint or palette
///   entry, and aligned to 16 bytes (for local poses, to their elements).
pub(crate) unsafe fn run(unit: Unit, rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller guarantees `unit` and the group. No register is wider than the group's
    // rows.
    unsafe {
        match unit.level() {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => run_avx512(rig, group, scratch),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => run_avx2(rig, group, scratch),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Sse2 => run_sse2(rig, group, scratch),
            #[cfg(target_arch = "aarch64")]
            SimdLevel::Neon => run_either::<Pair<Neon>, Neon, 8>(rig, group, scratch),
            _ => run_portable(rig, group, scratch),
        }
    }
}

/// Evaluates a group with AVX-512.
///
/// A group that is not full uses narrower registers, so that few instances cost little.
///
/// # Safety
/// As for [`run`], and the CPU has everything that [`SimdLevel::Avx512`] lists.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")]
unsafe fn run_avx512(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller guarantees AVX-512 and all of AVX2, and the contract of `run`.
    unsafe {
        match group.count {
            _ if group.product == Product::Local => local_blocks::<Avx2>(rig, group, scratch),
            ..=4 => run_blocks::<Avx2, Sse2<true>, 16>(rig, group, scratch),
            5..=8 => run_blocks::<Avx2, Avx2, 16>(rig, group, scratch),
            _ => run_blocks::<Avx2, Avx512, 16>(rig, group, scratch),
        }
    }
}

/// Evaluates a group with AVX2.
///
/// # Safety
/// As for [`run`], and the CPU has AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn run_avx2(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller guarantees AVX2, FMA and the contract of `run`.
    unsafe {
        match group.count {
            _ if group.product == Product::Local => local_blocks::<Avx2>(rig, group, scratch),
            ..=4 => run_blocks::<Avx2, Sse2<true>, 8>(rig, group, scratch),
            _ => run_blocks::<Avx2, Avx2, 8>(rig, group, scratch),
        }
    }
}

// A function of its own for each, so that the optimiser sees one kernel at a time.

/// # Safety
/// As [`run`].
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn run_sse2(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller's contract; every x86-64 CPU has SSE2.
    unsafe { run_either::<Pair<Sse2<false>>, Sse2<false>, 8>(rig, group, scratch) }
}

/// # Safety
/// As [`run`].
#[inline(never)]
unsafe fn run_portable(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: the caller's contract.
    unsafe { run_either::<Plain<8>, Plain<8>, 8>(rig, group, scratch) }
}

/// Evaluates a group for its kind of product.
///
/// # Safety
/// As for [`run_blocks`].
#[inline(always)]
unsafe fn run_either<L: Eight, W: Wide, const ROW: usize>(
    rig: &Rig,
    group: &Group<'_>,
    scratch: &mut Scratch,
) {
    // SAFETY: the functions called have the same contract.
    unsafe {
        match group.product {
            Product::Local => local_blocks::<L>(rig, group, scratch),
            _ => run_blocks::<L, W, ROW>(rig, group, scratch),
        }
    }
}

/// Evaluates a group block by block.
///
/// Samples with joints in the lanes of `L`, and composes with instances in the lanes of `W`, in
/// rows of `ROW` instances.
///
/// # Safety
/// As for [`run`]. Also, the CPU has the instructions that `L` and `W` need, `W` is no wider than
/// `ROW`, and the group has at most `ROW` instances.
#[inline(always)]
unsafe fn run_blocks<L: Eight, W: Wide, const ROW: usize>(
    rig: &Rig,
    group: &Group<'_>,
    scratch: &mut Scratch,
) {
    let mut written = 0;
    for first in (0..rig.joints.len()).step_by(WIDTH) {
        let end = (first + WIDTH).min(rig.joints.len());
        // SAFETY: the caller guarantees the group and the scratch. Every clip has as many
        // blocks as the rig, and parents come before their children.
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
