//! Out of the lanes: palettes and model poses, each instance's in ascending order.

use super::compose::{at, rows};
use super::kernel::{Group, Product, Scratch};
use super::lanes::Wide;
use super::project::{LaneFormat, entries, skinning};
use super::rig::{Entry, Joint};
use crate::character::Affine;
use crate::pose::{DualQuat, DualQuatStretch, Mat3x4, PaletteFormat, QuatOffset};

/// Writes entries of every instance's palette, of which the first is number `first`.
///
/// # Safety
/// As [`super::kernel::run`], for these entries, whose joints' matrices are there.
#[inline(always)]
pub(super) unsafe fn write_entries<W: Wide, const ROW: usize>(
    group: &Group<'_>,
    (list, first): (&[Entry], usize),
    scratch: &Scratch,
) {
    let Product::Palette(format) = group.product else {
        return;
    };
    let list = (list, first);
    // SAFETY: the caller's contract.
    unsafe {
        match format {
            PaletteFormat::Mat3x4 => write_as::<W, Mat3x4, ROW>(group, list, scratch),
            PaletteFormat::DualQuat => write_as::<W, DualQuat, ROW>(group, list, scratch),
            PaletteFormat::DualQuatStretch => {
                write_as::<W, DualQuatStretch, ROW>(group, list, scratch);
            }
            PaletteFormat::QuatOffset => write_as::<W, QuatOffset, ROW>(group, list, scratch),
        }
    }
}

/// [`write_entries`] in one format: whole rows of 16 bytes in order.
///
/// # Safety
/// As [`write_entries`].
#[inline(always)]
unsafe fn write_as<W: Wide, E: LaneFormat, const ROW: usize>(
    group: &Group<'_>,
    (list, first): (&[Entry], usize),
    scratch: &Scratch,
) {
    let models: *const f32 = scratch.model.as_ptr().cast();
    for (entry, index) in list.iter().zip(first..) {
        for part in (0..group.count).step_by(W::WIDTH) {
            // SAFETY: the caller's contract.
            unsafe {
                let matrix = skinning::<W, ROW>(at::<ROW>(models, entry.slot, part), entry);
                let found = entries::<W, E>(matrix, live::<W>(group.count - part));
                let to = group.out.as_ptr().add(part);
                for (number, row) in found.into_iter().take(E::ROWS).enumerate() {
                    let offset = index * size_of::<E>() + number * size_of::<[f32; 4]>();
                    W::write4(row, to, offset);
                }
            }
        }
    }
}

/// A bit for each of the first `count` lanes.
#[inline(always)]
pub(super) const fn live<W: Wide>(count: usize) -> u32 {
    if count >= W::WIDTH {
        u32::MAX >> (u32::BITS as usize - W::WIDTH)
    } else {
        (1 << count) - 1
    }
}

/// Writes joint number `index` of every instance's model pose.
///
/// # Safety
/// As [`super::kernel::run`], for this joint, whose matrix is there.
#[inline(always)]
pub(super) unsafe fn write_model<W: Wide, const ROW: usize>(
    group: &Group<'_>,
    joint: &Joint,
    index: usize,
    scratch: &Scratch,
) {
    // Four columns of three numbers, each padded to 16 bytes.
    const { assert!(size_of::<Affine>() == 64 && align_of::<Affine>() == 16) };
    let models: *const f32 = scratch.model.as_ptr().cast();
    for part in (0..group.count).step_by(W::WIDTH) {
        // SAFETY: the caller's contract.
        unsafe {
            let [x, y, z] = rows::<W, ROW>(at::<ROW>(models, joint.slot, part));
            let to = group.out.as_ptr().add(part);
            for column in 0..4 {
                let column_of = [x[column], y[column], z[column], z[column]];
                let offset = index * size_of::<Affine>() + column * size_of::<[f32; 4]>();
                W::write4(column_of, to, offset);
            }
        }
    }
}
