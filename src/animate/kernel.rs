//! The loop over the blocks of joints of a group of instances.

use super::compose::compose_block;
use super::few;
use super::group::{GROUP, Group, Product};
use super::poser::Scratch;
use super::rig::Rig;
use super::sample::{local_blocks, sample_block};
use super::write::write_entries;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx2Fma, Avx512, Avx512All, Sse2};
use crate::simd::{
    Baseline, BaselineEight, BaselineFour, Eight, Instructions, SimdLevel, Unit, WIDTH, Wide, phase,
};

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
/// - The clips have as many joints as the rig, and `scratch` was made for it.
/// - The masks of the samples are among the group's, which have a row for each block of the rig.
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
            _ => run_baseline(rig, group, scratch),
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
            _ if group.product == Product::Local => {
                local_blocks::<Avx512All, Avx2>(rig, group, scratch)
            }
            ..=4 => run_blocks::<Avx512All, Avx2, Sse2<true>, 16>(rig, group, scratch),
            5..=8 => run_blocks::<Avx512All, Avx2, Avx2, 16>(rig, group, scratch),
            _ => run_blocks::<Avx512All, Avx2, Avx512, 16>(rig, group, scratch),
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
            _ if group.product == Product::Local => {
                local_blocks::<Avx2Fma, Avx2>(rig, group, scratch)
            }
            ..=4 => run_blocks::<Avx2Fma, Avx2, Sse2<true>, 8>(rig, group, scratch),
            _ => run_blocks::<Avx2Fma, Avx2, Avx2, 8>(rig, group, scratch),
        }
    }
}

/// Evaluates a group on any CPU.
///
/// # Safety
/// As for [`run`].
#[inline(never)]
unsafe fn run_baseline(rig: &Rig, group: &Group<'_>, scratch: &mut Scratch) {
    // SAFETY: every CPU of the target has these registers. The caller guarantees the contract of
    // `run`, so a group of this unit has at most eight instances.
    unsafe {
        match group.product {
            Product::Local => local_blocks::<Baseline, BaselineEight>(rig, group, scratch),
            _ => run_blocks::<Baseline, BaselineEight, BaselineFour, 8>(rig, group, scratch),
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
unsafe fn run_blocks<K: Instructions, L: Eight, W: Wide, const ROW: usize>(
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
            let resting = sample_block::<K, L, W, ROW>(rig, group, first / WIDTH, scratch);
            let joints = rig.joints.get_unchecked(first..end);
            let few = few::is_few::<W>(group.count);
            for part in (0..group.count).step_by(if few { 1 } else { W::WIDTH }) {
                phase!(
                    K,
                    if few {
                        let block = (rig, first / WIDTH, joints);
                        few::compose::<W>(block, part, resting, scratch);
                    } else {
                        compose_block::<W, ROW>(joints, part, resting, scratch);
                    }
                );
            }
            let left = rig.entries.get_unchecked(written..);
            let ready = left
                .iter()
                .take_while(|entry| usize::from(entry.joint) < end);
            let ready = ready.count();
            let list = left.get_unchecked(..ready);
            if few {
                few::write::<K, W>(group, (list, written), scratch);
            } else {
                write_entries::<K, W, ROW>(group, (list, written), scratch);
            }
            written += ready;
        }
    }
}
