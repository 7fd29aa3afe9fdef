//! Composes and writes one or two instances, one after the other.
//!
//! If all instances of a group play the same at the same time, they are one instance here, with
//! several outputs.
//!
//! Lanes of instances would be empty. So local matrices have joints in the lanes, and products of
//! matrices the four numbers of a row. The arithmetic, and thus every bit, is as in `compose` and
//! `palette_lanes`.

use super::compose::turned;
use super::group::{Group, Product, rests};
use super::palette_lanes::{LaneFormat, entries};
use super::poser::Scratch;
use super::rig::{Entry, Joint, Rig};
use super::write::live;
use crate::clip::{COMPONENTS, Property};
use crate::palette::with_entry;
use crate::simd::{Instructions, Wide, phase};

/// Most instances for which this takes less time than lanes of instances.
const FEW: usize = 2;

/// Returns true if a group of `count` instances is composed and written here.
pub(super) const fn is_few<W: Wide>(count: usize) -> bool {
    W::WIDTH == 4 && count <= FEW
}

/// The model matrix number `slot` of an instance: three rows of four numbers.
///
/// # Safety
/// The scratch has such a matrix.
#[inline(always)]
unsafe fn at(models: *mut f32, slot: u32, instance: usize) -> *mut f32 {
    // SAFETY: the caller guarantees the matrix. The scratch has memory for a whole group.
    unsafe { models.add((slot as usize * FEW + instance) * 12) }
}

/// Computes the matrices of a block's joints: `model[parent] × local`.
///
/// # Safety
/// - The CPU has the instructions that `W` needs, which has four lanes.
/// - The rig has `joints` as block number `block`, and the scratch was made for it. The matrices of
///   their parents have been computed.
/// - The instance is one of [`FEW`].
#[inline(always)]
pub(super) unsafe fn compose<W: Wide>(
    (rig, block, joints): (&Rig, usize, &[Joint]),
    instance: usize,
    resting: u8,
    scratch: &mut Scratch,
) {
    let models: *mut f32 = scratch.model.as_mut_ptr().cast();
    for (half, joints) in joints.chunks(W::WIDTH).enumerate() {
        // SAFETY: the caller guarantees the CPU features, block, instance and matrices. The rig has
        // ten rows of the rest pose for each block.
        unsafe {
            let mut value = [W::splat(0.0); COMPONENTS];
            for property in Property::ALL {
                for component in property.range() {
                    let row = if rests(resting, property) {
                        rig.rest_rows.get_unchecked(block * COMPONENTS + component)
                    } else {
                        &scratch.sampled[component][instance]
                    };
                    value[component] = W::load(row.0.as_ptr().add(half * W::WIDTH));
                }
            }
            let [x, y, z, w, tx, ty, tz, sx, sy, sz] = value;
            let [[a, b, c], [d, e, f], [g, h, i]] = turned([x, y, z, w]);
            let rows = [
                W::transposed([a.mul(sx), b.mul(sy), c.mul(sz), tx]),
                W::transposed([d.mul(sx), e.mul(sy), f.mul(sz), ty]),
                W::transposed([g.mul(sx), h.mul(sy), i.mul(sz), tz]),
            ];
            for (lane, joint) in joints.iter().enumerate() {
                let local = [rows[0][lane], rows[1][lane], rows[2][lane]];
                let to = at(models, joint.slot, instance);
                for (number, own) in local.iter().enumerate() {
                    let row = if joint.parent == Joint::ROOT {
                        *own
                    } else {
                        let from = at(models, joint.parent, instance).add(number * 4);
                        let first = W::splat(*from).mul_add(local[0], last(from));
                        let two = W::splat(*from.add(1)).mul_add(local[1], first);
                        W::splat(*from.add(2)).mul_add(local[2], two)
                    };
                    row.store(to.add(number * 4));
                }
            }
        }
    }
}

/// Loads the last number of a row into the last lane. The others have −0, which changes no sum.
///
/// # Safety
/// The CPU has the instructions that `W` needs, which has four lanes, and there is a row.
#[inline(always)]
unsafe fn last<W: Wide>(row: *const f32) -> W {
    /// Four numbers, aligned for any unit.
    #[repr(align(16))]
    struct Four([f32; 4]);
    const LAST: Four = Four([0.0, 0.0, 0.0, -1.0]);
    // SAFETY: the caller guarantees the CPU features and the row.
    unsafe { W::load(LAST.0.as_ptr()).choose(W::load(row), W::splat(-0.0)) }
}

/// Writes some entries of every instance's palette, starting with number `first`.
///
/// # Safety
/// As for [`super::write::write_entries`], for [`FEW`] instances whose matrices [`compose`] has
/// computed.
#[inline(always)]
pub(super) unsafe fn write<K: Instructions, W: Wide>(
    group: &Group<'_>,
    (list, first): (&[Entry], usize),
    scratch: &mut Scratch,
) {
    let Product::Palette(format) = group.product else {
        return;
    };
    for instance in 0..group.count {
        // SAFETY: `write_as` has the same contract. Each instance has as many outputs.
        unsafe {
            let to = group.out.get_unchecked(instance * group.copies..);
            let to = to.get_unchecked(..group.copies);
            with_entry!(format, E => {
                phase!(K, write_as::<W, E>((list, first), instance, to, scratch));
            });
        }
    }
}

/// Writes entries of an instance in one format, four at a time, to all its outputs.
///
/// # Safety
/// As for [`write`].
#[inline(always)]
unsafe fn write_as<W: Wide, E: LaneFormat>(
    (list, first): (&[Entry], usize),
    instance: usize,
    to: &[*mut u8],
    scratch: &mut Scratch,
) {
    let models: *mut f32 = scratch.model.as_mut_ptr().cast();
    for (list, first) in list.chunks(W::WIDTH).zip((first..).step_by(W::WIDTH)) {
        // SAFETY: the caller guarantees the CPU features, the matrices and the outputs.
        unsafe {
            let mut rows = [[W::splat(0.0); 4]; 3];
            for (lane, entry) in list.iter().enumerate() {
                let from = at(models, entry.slot, instance);
                for (number, row) in rows.iter_mut().enumerate() {
                    row[lane] = skinning_row(from.add(number * 4), entry);
                }
            }
            if const { !E::BY_ROWS } {
                for row in &mut rows {
                    *row = W::transposed(*row);
                }
                rows = entries::<W, E>(rows, live::<W>(list.len()));
                for row in &mut rows {
                    *row = W::transposed(*row);
                }
            }
            for to in to {
                let to: *mut f32 = to.add(first * size_of::<E>()).cast();
                for lane in 0..list.len() {
                    for (number, row) in rows.iter().take(E::ROWS).enumerate() {
                        row[lane].store(to.add((lane * E::ROWS + number) * 4));
                    }
                }
            }
        }
    }
}

/// Computes a row of `model × inverse bind` from that of the model matrix.
///
/// # Safety
/// The CPU has the instructions that `W` needs, which has four lanes, and there is a row.
#[inline(always)]
unsafe fn skinning_row<W: Wide>(from: *const f32, entry: &Entry) -> W {
    // SAFETY: the caller guarantees the CPU features and the row. A `Mat3x4` and its rows are
    // aligned to 16 bytes.
    unsafe {
        let [a, b, c] = &entry.inverse_bind.rows;
        let first = W::splat(*from).mul(W::load(a.as_ptr()));
        let two = W::splat(*from.add(1)).mul_add(W::load(b.as_ptr()), first);
        let three = W::splat(*from.add(2)).mul_add(W::load(c.as_ptr()), two);
        three.add(last(from))
    }
}
