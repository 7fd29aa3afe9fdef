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
    let local = group.product == Product::Local;
    // SAFETY: the caller guarantees `unit` with all that its level lists, and the group. No
    // register is wider than the group's rows. A group that is not full uses narrower registers,
    // so that few instances cost little.
    unsafe {
        match unit.level() {
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx512 => phase!(
                Avx512All,
                match group.count {
                    _ if local => local_blocks::<Avx512All, Avx2>(rig, group, scratch),
                    ..=4 => run_blocks::<Avx512All, Avx2, Sse2<true>, 16>(rig, group, scratch),
                    5..=8 => run_blocks::<Avx512All, Avx2, Avx2, 16>(rig, group, scratch),
                    _ => run_blocks::<Avx512All, Avx2, Avx512, 16>(rig, group, scratch),
                }
            ),
            #[cfg(target_arch = "x86_64")]
            SimdLevel::Avx2 => phase!(
                Avx2Fma,
                match group.count {
                    _ if local => local_blocks::<Avx2Fma, Avx2>(rig, group, scratch),
                    ..=4 => run_blocks::<Avx2Fma, Avx2, Sse2<true>, 8>(rig, group, scratch),
                    _ => run_blocks::<Avx2Fma, Avx2, Avx2, 8>(rig, group, scratch),
                }
            ),
            _ => phase!(
                Baseline,
                if local {
                    local_blocks::<Baseline, BaselineEight>(rig, group, scratch)
                } else {
                    run_blocks::<Baseline, BaselineEight, BaselineFour, 8>(rig, group, scratch)
                }
            ),
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
