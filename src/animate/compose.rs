//! Composes local poses into model poses, with instances in the lanes.

use super::group::{GROUP, rests};
use super::poser::Scratch;
use super::rig::Joint;
use crate::clip::{COMPONENTS, Property};
use crate::simd::{WIDTH, Wide};

/// Computes the matrices of a block's joints: `model[parent] × local`.
///
/// It does so for the instances of one register, from number `part` on.
///
/// # Safety
/// - The CPU has the instructions that `W` needs.
/// - `joints` has at most one block of joints. They belong to the rig that the scratch was made
///   for, and the matrices of their parents have been computed.
/// - Rows have `ROW` instances, and `part` plus the width of `W` is at most `ROW`.
#[inline(always)]
pub(super) unsafe fn compose_block<W: Wide, const ROW: usize>(
    joints: &[Joint],
    part: usize,
    resting: u8,
    scratch: &mut Scratch,
) {
    let locals: *const f32 = scratch.local.as_ptr().cast();
    let models: *mut f32 = scratch.model.as_mut_ptr().cast();
    for (lane, joint) in joints.iter().enumerate() {
        // SAFETY: the caller guarantees the CPU features, the joints' scratch, and `part` within
        // `ROW`.
        unsafe {
            let local = local::<W>(joint, resting, locals.add(lane * ROW + part));
            let matrix = if joint.parent == Joint::ROOT {
                local
            } else {
                product(rows::<W, ROW>(at::<ROW>(models, joint.parent, part)), local)
            };
            let to = at::<ROW>(models, joint.slot, part).cast_mut();
            for (number, value) in matrix.as_flattened().iter().enumerate() {
                value.store(to.add(number * ROW));
            }
        }
    }
}

/// Address of matrix number `slot` in the scratch, for the instances from number `part` on.
///
/// # Safety
/// The scratch has such a matrix.
#[inline(always)]
pub(super) unsafe fn at<const ROW: usize>(
    models: *const f32,
    slot: u32,
    part: usize,
) -> *const f32 {
    // SAFETY: the caller guarantees that the matrix exists. It has 12 rows of `ROW` numbers.
    unsafe { models.add(slot as usize * 12 * ROW + part) }
}

/// Computes the matrix of a joint's local pose in all instances, by rows.
///
/// Properties that are at rest are copied to all lanes.
///
/// # Safety
/// As for [`compose_block`]. `rows` is the address of the first component in the scratch.
#[inline(always)]
unsafe fn local<W: Wide>(joint: &Joint, resting: u8, rows: *const f32) -> [[W; 4]; 3] {
    // SAFETY: the caller guarantees the CPU features and `part` within `ROW`. The lines of each
    // component follow those of the one before.
    unsafe {
        let mut value = [W::splat(0.0); COMPONENTS];
        for property in Property::ALL {
            for component in property.range() {
                value[component] = if rests(resting, property) {
                    W::splat(joint.rest[component])
                } else {
                    W::load(rows.add(component * LOCAL))
                };
            }
        }
        let [x, y, z, w, tx, ty, tz, sx, sy, sz] = value;
        let mut axes: [[W; 3]; 3] = turned([x, y, z, w]);
        if !(rests(resting, Property::Scale) && joint.unit) {
            for row in &mut axes {
                *row = [row[0].mul(sx), row[1].mul(sy), row[2].mul(sz)];
            }
        }
        let [[a, b, c], [d, e, f], [g, h, i]] = axes;
        [[a, b, c, tx], [d, e, f, ty], [g, h, i, tz]]
    }
}

/// Distance between two components of a local pose, counted in numbers.
const LOCAL: usize = WIDTH * GROUP;

/// Computes the rotation matrix of a quaternion of any length but 0, by rows.
///
/// The length is part of the factor 2 / |q|², so no square root is needed.
///
/// # Safety
/// The CPU has the instructions that `W` needs.
#[inline(always)]
pub(super) unsafe fn turned<W: Wide>([x, y, z, w]: [W; 4]) -> [[W; 3]; 3] {
    // SAFETY: the caller guarantees the CPU features.
    let (one, two) = unsafe { (W::splat(1.0), W::splat(2.0)) };
    let square = x.mul_add(x, y.mul(y));
    let square = square.add(z.mul_add(z, w.mul(w)));
    let factor = two.div(square);
    let (fx, fy, fz) = (x.mul(factor), y.mul(factor), z.mul(factor));
    let (wx, wy, wz) = (w.mul(fx), w.mul(fy), w.mul(fz));
    let (yy, zz) = (y.mul(fy), z.mul(fz));
    let (xy, xz, yz) = (y.mul(fx), z.mul(fx), z.mul(fy));
    let without_x = x.neg_mul_add(fx, one);
    [
        [one.sub(yy.add(zz)), xy.sub(wz), xz.add(wy)],
        [xy.add(wz), without_x.sub(zz), yz.sub(wx)],
        [xz.sub(wy), yz.add(wx), without_x.sub(yy)],
    ]
}

/// Loads a matrix by rows.
///
/// # Safety
/// The CPU has the instructions that `W` needs, and there are twelve rows of `ROW` instances.
#[inline(always)]
pub(super) unsafe fn rows<W: Wide, const ROW: usize>(from: *const f32) -> [[W; 4]; 3] {
    // SAFETY: the caller guarantees the CPU features and twelve rows, which contain rows 0 to 2.
    unsafe {
        let mut rows = [[W::splat(0.0); 4]; 3];
        for (number, to) in rows.iter_mut().enumerate() {
            *to = row::<W, ROW>(from, number);
        }
        rows
    }
}

/// Loads row `number` of a matrix.
///
/// # Safety
/// As for [`rows`].
#[inline(always)]
pub(super) unsafe fn row<W: Wide, const ROW: usize>(from: *const f32, number: usize) -> [W; 4] {
    // SAFETY: the caller guarantees twelve rows of numbers, four of them per matrix row.
    unsafe {
        let from = from.add(number * 4 * ROW);
        [
            W::load(from),
            W::load(from.add(ROW)),
            W::load(from.add(2 * ROW)),
            W::load(from.add(3 * ROW)),
        ]
    }
}

/// Computes `a × b`, both affine.
#[inline(always)]
fn product<W: Wide>(mut a: [[W; 4]; 3], b: [[W; 4]; 3]) -> [[W; 4]; 3] {
    for row in &mut a {
        *row = product_row(*row, b);
    }
    a
}

#[inline(always)]
fn product_row<W: Wide>([x, y, z, t]: [W; 4], b: [[W; 4]; 3]) -> [W; 4] {
    let a = z.mul_add(b[2][0], y.mul_add(b[1][0], x.mul(b[0][0])));
    let c = z.mul_add(b[2][1], y.mul_add(b[1][1], x.mul(b[0][1])));
    let d = z.mul_add(b[2][2], y.mul_add(b[1][2], x.mul(b[0][2])));
    let e = z.mul_add(b[2][3], y.mul_add(b[1][3], x.mul_add(b[0][3], t)));
    [a, c, d, e]
}
