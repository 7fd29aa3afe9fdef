//! Converts skinning matrices to palette entries of every format, one matrix per lane.

use super::compose::row;
use super::poser::Line;
use super::rig::Entry;
use crate::palette::{DualQuat, DualQuatStretch, Mat3x4, PaletteEntry, QuatOffset};
use crate::simd::Wide;

/// Rows of four numbers of an entry: two or three. If two, the last row is unused.
pub(super) type Rows<W> = [[W; 4]; 3];

/// A format whose entries are computed in lanes.
///
/// Entries agree with [`PaletteEntry::project`] up to the sign of the quaternion: the matrices that
/// they represent differ by at most 5e-6 of their largest number (1.6e-6 was measured). The bits of
/// a lane do not depend on the other lanes.
pub(super) trait LaneFormat: PaletteEntry {
    /// Number of rows of an entry.
    const ROWS: usize;
    /// True if the rows are those of the skinning matrix, so that each can be computed separately.
    const BY_ROWS: bool = false;

    /// Converts matrices, given by their rows, to entries.
    ///
    /// Also returns one bit per lane: a lane with its bit set has a degenerate matrix and must go
    /// through [`PaletteEntry::project`] instead.
    ///
    /// # Safety
    /// The CPU has the instructions that `W` needs.
    unsafe fn entries<W: Wide>(matrix: &Rows<W>) -> (Rows<W>, u32);
}

impl LaneFormat for Mat3x4 {
    const ROWS: usize = 3;
    const BY_ROWS: bool = true;

    #[inline(always)]
    unsafe fn entries<W: Wide>(matrix: &Rows<W>) -> (Rows<W>, u32) {
        (*matrix, 0)
    }
}

impl LaneFormat for DualQuat {
    const ROWS: usize = 2;

    #[inline(always)]
    unsafe fn entries<W: Wide>(matrix: &Rows<W>) -> (Rows<W>, u32) {
        // SAFETY: the caller guarantees the CPU features.
        unsafe {
            let own = split(matrix);
            let dual = half_product(own.translation, own.rotation);
            ([own.rotation, dual, dual], own.degenerate)
        }
    }
}

impl LaneFormat for DualQuatStretch {
    const ROWS: usize = 3;

    #[inline(always)]
    unsafe fn entries<W: Wide>(matrix: &Rows<W>) -> (Rows<W>, u32) {
        // SAFETY: the caller guarantees the CPU features.
        unsafe {
            let own = split(matrix);
            let dual = half_product(own.translation, own.rotation);
            let [x, y, z] = own.squares;
            let stretch = [x.sqrt(), y.sqrt(), z.sqrt(), W::splat(0.0)];
            ([own.rotation, dual, stretch], own.degenerate)
        }
    }
}

impl LaneFormat for QuatOffset {
    const ROWS: usize = 2;

    #[inline(always)]
    unsafe fn entries<W: Wide>(matrix: &Rows<W>) -> (Rows<W>, u32) {
        // SAFETY: the caller guarantees the CPU features.
        unsafe {
            let own = split(matrix);
            let [x, y, z] = own.squares;
            let scale = x.sqrt().add(y.sqrt()).add(z.sqrt()).div(W::splat(3.0));
            let [x, y, z] = own.translation;
            let offset = [x, y, z, scale];
            ([own.rotation, offset, offset], own.degenerate)
        }
    }
}

/// The parts of matrices, as `split` of `src/palette/project.rs` has them.
struct Split<W> {
    /// Unit quaternions.
    rotation: [W; 4],
    translation: [W; 3],
    /// Squared lengths of the columns.
    squares: [W; 3],
    /// The lanes whose other parts are invalid.
    degenerate: u32,
}

/// Limits of the squared lengths of columns that are not degenerate. They ensure that no column is
/// shorter than 1e-6 of another one, at which the scalar code sees no direction.
const LEAST: f32 = 1e-6;
const MOST: f32 = 1e6;
/// The least part of the second column's square that must remain perpendicular to the first.
const ACROSS: f32 = 0.01;

/// Decomposes matrices by Gram–Schmidt orthonormalisation, as `split` of `src/palette/project.rs`.
///
/// # Safety
/// The CPU has the instructions that `W` needs.
#[inline(always)]
unsafe fn split<W: Wide>([i, j, k]: &Rows<W>) -> Split<W> {
    // SAFETY: the caller guarantees the CPU features.
    unsafe {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        let [a, b, c] = [[i[0], j[0], k[0]], [i[1], j[1], k[1]], [i[2], j[2], k[2]]];
        let translation = [i[3], j[3], k[3]];
        let squares = [dot(a, a), dot(b, b), dot(c, c)];
        let x = scaled(a, one.div(squares[0].sqrt()));
        let along = dot(x, b);
        let b = [
            x[0].neg_mul_add(along, b[0]),
            x[1].neg_mul_add(along, b[1]),
            x[2].neg_mul_add(along, b[2]),
        ];
        let across = dot(b, b);
        let y = scaled(b, one.div(across.sqrt()));
        let z = [
            x[2].neg_mul_add(y[1], x[1].mul(y[2])),
            x[0].neg_mul_add(y[2], x[2].mul(y[0])),
            x[1].neg_mul_add(y[0], x[0].mul(y[1])),
        ];
        // NaN in any part makes the sum NaN, which compares less than nothing.
        let far = dot(translation, translation).mul(W::splat(1e-30));
        let sum = squares[0].add(squares[1]).add(squares[2]).add(far);
        let least = W::splat(LEAST);
        let enough = squares[1].mul(W::splat(ACROSS)).max(least);
        let spare = squares[0].sub(least).min(across.sub(enough));
        let valid = sum.below(W::splat(MOST)) & zero.below(spare);
        Split {
            rotation: quaternion([x, y, z]),
            translation,
            squares,
            degenerate: !valid,
        }
    }
}

/// Converts a rotation matrix, given by its columns, to a unit quaternion.
///
/// First, it finds one of the four components that is at least a half (Mike Day, "Converting a
/// Rotation Matrix to a Quaternion", as in glam).
///
/// # Safety
/// The CPU has the instructions that `W` needs.
#[inline(always)]
unsafe fn quaternion<W: Wide>([x, y, z]: [[W; 3]; 3]) -> [W; 4] {
    // SAFETY: the caller guarantees the CPU features.
    let (zero, one) = unsafe { (W::splat(0.0), W::splat(1.0)) };
    // Select the pair that has the largest component, zw or xy, and then one of the pair.
    let upper = zero.sub(z[2]);
    let (sum, difference) = (y[1].add(x[0]), y[1].sub(x[0]));
    let inner = upper.choose(sum, difference);
    let second = zero.sub(inner);
    let four = one.add(z[2].flipped_by(z[2]));
    let four = four.add(inner.flipped_by(inner));
    let (xy, yx) = (x[1].add(y[0]), x[1].sub(y[0]));
    let (xz, zx) = (x[2].add(z[0]), z[0].sub(x[2]));
    let (yz, zy) = (y[2].add(z[1]), y[2].sub(z[1]));
    let mut q = [
        upper.choose(second.choose(zy, xz), second.choose(xy, four)),
        upper.choose(second.choose(zx, yz), second.choose(four, xy)),
        upper.choose(second.choose(yx, four), second.choose(yz, xz)),
        upper.choose(second.choose(four, yx), second.choose(zx, zy)),
    ];
    let low = q[0].mul_add(q[0], q[1].mul(q[1]));
    let high = q[2].mul_add(q[2], q[3].mul(q[3]));
    let inverse = one.div(low.add(high).sqrt());
    for component in &mut q {
        *component = component.mul(inverse);
    }
    q
}

/// Half the product of a pure quaternion and another: the dual part of a translation after a
/// rotation.
///
/// # Safety
/// The CPU has the instructions that `W` needs.
#[inline(always)]
unsafe fn half_product<W: Wide>(t: [W; 3], [x, y, z, w]: [W; 4]) -> [W; 4] {
    // SAFETY: the caller guarantees the CPU features.
    let (zero, half) = unsafe { (W::splat(0.0), W::splat(0.5)) };
    let [a, b, c] = scaled(t, half);
    [
        c.neg_mul_add(y, b.mul_add(z, a.mul(w))),
        a.neg_mul_add(z, c.mul_add(x, b.mul(w))),
        b.neg_mul_add(x, a.mul_add(y, c.mul(w))),
        c.neg_mul_add(z, b.neg_mul_add(y, a.neg_mul_add(x, zero))),
    ]
}

#[inline(always)]
fn dot<W: Wide>(a: [W; 3], b: [W; 3]) -> W {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0].mul(b[0])))
}

#[inline(always)]
fn scaled<W: Wide>([x, y, z]: [W; 3], by: W) -> [W; 3] {
    [x.mul(by), y.mul(by), z.mul(by)]
}

/// Converts matrices to entries, with [`PaletteEntry::project`] for degenerate ones.
///
/// Only lanes in `live` count.
///
/// # Safety
/// The CPU has the instructions that `W` needs, and `W` is at most as wide as a [`Line`].
#[inline(always)]
pub(super) unsafe fn entries<W: Wide, E: LaneFormat>(matrix: Rows<W>, live: u32) -> Rows<W> {
    // SAFETY: the caller guarantees the CPU features and the width. A line has the alignment of
    // every unit's registers.
    unsafe {
        let (mut found, degenerate) = E::entries(&matrix);
        if degenerate & live != 0 {
            let mut lines = [[Line::ZERO; 12]; 2];
            for (number, row) in matrix.iter().chain(&found).enumerate() {
                for (column, value) in row.iter().enumerate() {
                    let line = &mut lines[number / 3][number % 3 * 4 + column];
                    value.store(line.0.as_mut_ptr());
                }
            }
            repair::<E>(&mut lines, degenerate & live);
            for (number, row) in found.iter_mut().enumerate() {
                for (column, value) in row.iter_mut().enumerate() {
                    *value = W::load(lines[1][number * 4 + column].0.as_ptr());
                }
            }
        }
        found
    }
}

/// Replaces the entries of `lanes`, in the second array, by the projections of the matrices in the
/// first.
#[cold]
#[inline(never)]
fn repair<E: LaneFormat>([matrices, found]: &mut [[Line; 12]; 2], lanes: u32) {
    for lane in (0..u32::BITS as usize).filter(|lane| lanes >> lane & 1 == 1) {
        let mut numbers = [0.0; 12];
        for (number, line) in numbers.iter_mut().zip(&*matrices) {
            *number = line.0[lane];
        }
        let entry = E::project(&bytemuck::cast::<_, Mat3x4>(numbers).to_affine());
        let entry: &[f32] = bytemuck::cast_slice(std::slice::from_ref(&entry));
        for (number, line) in entry.iter().zip(&mut *found) {
            line.0[lane] = *number;
        }
    }
}

/// Computes row `number` of the skinning matrices of an entry: `model × inverse bind`.
///
/// # Safety
/// The CPU has the instructions that `W` needs, and `from` points to the model matrices of the
/// entry's joint: twelve rows of `ROW` instances.
#[inline(always)]
pub(super) unsafe fn skinning_row<W: Wide, const ROW: usize>(
    from: *const f32,
    entry: &Entry,
    number: usize,
) -> [W; 4] {
    // SAFETY: the caller guarantees the CPU features and twelve rows.
    unsafe {
        let mut bind = [[W::splat(0.0); 4]; 3];
        for (row, numbers) in bind.iter_mut().zip(&entry.inverse_bind.rows) {
            for (value, number) in row.iter_mut().zip(numbers) {
                *value = W::splat(*number);
            }
        }
        product_row(row::<W, ROW>(from, number), &bind)
    }
}

/// Multiplies a row of an affine matrix by another matrix.
#[inline(always)]
pub(super) fn product_row<W: Wide>([x, y, z, t]: [W; 4], [a, b, c]: &Rows<W>) -> [W; 4] {
    let mut out = [t; 4];
    for (column, out) in out.iter_mut().enumerate() {
        let first = x.mul(a[column]);
        let two = y.mul_add(b[column], first);
        *out = z.mul_add(c[column], two);
    }
    out[3] = out[3].add(t);
    out
}
