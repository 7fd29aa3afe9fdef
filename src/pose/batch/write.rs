//! Out of the lanes: skinning matrices and model poses, each instance's in ascending order.

use super::super::Mat3x4;
use super::compose::{at, row, rows};
use super::kernel::{GROUP, Group, Scratch};
use super::lanes::Wide;
use super::rig::{Entry, Joint};
use crate::character::Affine;

/// Room for an element of each instance.
#[repr(C, align(16))]
struct Aside([[u8; size_of::<Affine>()]; GROUP]);

/// Calls `put` for all instances, with pointers that it may write to: where there are fewer in a part than lanes, aside, from where
/// those that there are go on.
macro_rules! in_parts {
    ($W:ty, $group:expr, $element:ty, $index:expr, |$part:ident, $to:ident, $offset:ident| $put:expr) => {
        for $part in (0..$group.count).step_by(<$W>::WIDTH) {
            if $group.count - $part >= <$W>::WIDTH {
                let $to = $group.out.as_ptr().add($part);
                let $offset = $index * size_of::<$element>();
                $put;
            } else {
                let mut aside = Aside([[0; size_of::<Affine>()]; GROUP]);
                let start: *mut [u8; size_of::<Affine>()] = aside.0.as_mut_ptr();
                let mut lanes = [start.cast::<u8>(); GROUP];
                for (number, lane) in lanes.iter_mut().enumerate() {
                    *lane = start.wrapping_add(number).cast();
                }
                let ($to, $offset) = (lanes.as_ptr(), 0);
                $put;
                for (lane, to) in $group.out[$part..$group.count].iter().enumerate() {
                    let to = to.cast::<$element>().add($index);
                    to.write(lanes[lane].cast::<$element>().read());
                }
            }
        }
    };
}

/// Writes entry number `index` of every instance's palette: `model × inverse bind`, whole rows of 16 bytes in order.
///
/// # Safety
/// As [`super::kernel::run`], for this entry, whose joint's matrix is there.
#[inline(always)]
pub(super) unsafe fn write_entry<W: Wide, const ROW: usize>(
    group: &Group<'_>,
    entry: &Entry,
    index: usize,
    scratch: &Scratch,
) {
    let models: *const f32 = scratch.model.as_ptr().cast();
    // SAFETY: the caller's contract.
    unsafe {
        in_parts!(W, group, Mat3x4, index, |part, to, offset| {
            let from = at::<ROW>(models, entry.slot, part);
            for number in 0..3 {
                let skinning =
                    skinning_row::<W>(row::<W, ROW>(from, number), &entry.inverse_bind.rows);
                W::write4(skinning, to, offset + number * size_of::<[f32; 4]>());
            }
        });
    }
}

/// A row of a matrix times another matrix.
///
/// # Safety
/// The CPU has what `W` needs.
#[inline(always)]
unsafe fn skinning_row<W: Wide>([x, y, z, t]: [W; 4], [a, b, c]: &[[f32; 4]; 3]) -> [W; 4] {
    let mut out = [t; 4];
    for (column, out) in out.iter_mut().enumerate() {
        // SAFETY: the caller's contract.
        unsafe {
            let first = x.times(W::splat(a[column]));
            let two = y.times_plus(W::splat(b[column]), first);
            *out = z.times_plus(W::splat(c[column]), two);
        }
    }
    out[3] = out[3].plus(t);
    out
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
    // SAFETY: the caller's contract.
    unsafe {
        in_parts!(W, group, Affine, index, |part, to, offset| {
            let [x, y, z] = rows::<W, ROW>(at::<ROW>(models, joint.slot, part));
            for column in 0..4 {
                let column_of = [x[column], y[column], z[column], z[column]];
                W::write4(column_of, to, offset + column * size_of::<[f32; 4]>());
            }
        });
    }
}

/// The palette of an instance, from its model pose.
///
/// # Safety
/// The CPU has what `W`, of four lanes, needs. Every entry's joint is one of `model`; `to` is valid for writing all entries.
#[inline(always)]
pub(super) unsafe fn write_palette<W: Wide>(entries: &[Entry], model: &[Affine], to: *mut Mat3x4) {
    const { assert!(W::WIDTH == 4) };
    for (index, entry) in entries.iter().enumerate() {
        // SAFETY: the caller's contract.
        unsafe {
            let matrix: *const f32 = model.as_ptr().add(usize::from(entry.joint)).cast();
            let out: *mut f32 = to.add(index).cast();
            let [a, b, c] = &entry.inverse_bind.rows;
            let [a, b, c] = [
                W::load(a.as_ptr()),
                W::load(b.as_ptr()),
                W::load(c.as_ptr()),
            ];
            for row in 0..3 {
                let x = W::splat(*matrix.add(row)).times(a);
                let y = W::splat(*matrix.add(4 + row)).times_plus(b, x);
                let sum = W::splat(*matrix.add(8 + row)).times_plus(c, y);
                let mut last = Last([0.0; 4]);
                last.0[3] = *matrix.add(12 + row);
                sum.plus(W::load(last.0.as_ptr())).store(out.add(4 * row));
            }
        }
    }
}

/// The translation in the last column.
#[repr(C, align(16))]
struct Last([f32; 4]);
