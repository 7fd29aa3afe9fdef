//! Instances in the lanes: local → model → palette.

use super::super::Mat3x4;
use super::Rig;
use super::clip::{Block, Property};
use super::kernel::{Group, Scratch};
use super::lanes::{Lanes, Row, WIDTH};
use crate::character::NO_PARENT;

/// A joint of a rig.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joint {
    pub(super) parent: u16,
    /// Whether its rest scale is exactly 1 in all axes.
    pub(super) unit: bool,
    /// Rotation, translation, scale.
    pub(super) rest: [f32; super::clip::COMPONENTS],
}

/// An entry of a rig's palette.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) joint: u16,
    pub(super) inverse_bind: [[f32; 4]; 3],
}

/// A joint's matrix in all instances: `model[parent] × local`.
///
/// # Safety
/// The CPU has what `L` needs; the joint exists, and its parent's matrix is there.
#[inline(always)]
pub(super) unsafe fn compose<L: Lanes>(
    rig: &Rig,
    joint: usize,
    resting: u8,
    scratch: &mut Scratch,
) {
    // SAFETY: the caller's contract.
    unsafe {
        let info = rig.joints.get_unchecked(joint);
        let local = local::<L>(info, joint % WIDTH, resting, scratch);
        let matrix = if info.parent == NO_PARENT {
            local
        } else {
            let parent = scratch.model.as_ptr().add(info.parent.into());
            product(rows(parent), local)
        };
        let model = scratch.model.get_unchecked_mut(joint);
        for (to, value) in model.iter_mut().zip(matrix.as_flattened()) {
            value.store(to);
        }
    }
}

/// A joint's local matrix by rows.
///
/// # Safety
/// As [`compose`].
#[inline(always)]
unsafe fn local<L: Lanes>(
    joint: &Joint,
    lane: usize,
    resting: u8,
    scratch: &Scratch,
) -> [[L; 4]; 3] {
    let rests = |property: Property| resting & (Block::REST << property as u8) != 0;
    // SAFETY: the caller's contract.
    unsafe {
        let turn = rests(Property::Rotation);
        let q = [
            value(joint, scratch, turn, 0, lane),
            value(joint, scratch, turn, 1, lane),
            value(joint, scratch, turn, 2, lane),
            value(joint, scratch, turn, 3, lane),
        ];
        let place = rests(Property::Translation);
        let t: [L; 3] = [
            value(joint, scratch, place, 4, lane),
            value(joint, scratch, place, 5, lane),
            value(joint, scratch, place, 6, lane),
        ];
        let mut axes: [[L; 3]; 3] = turned(q);
        let size = rests(Property::Scale);
        if !(size && joint.unit) {
            let s: [L; 3] = [
                value(joint, scratch, size, 7, lane),
                value(joint, scratch, size, 8, lane),
                value(joint, scratch, size, 9, lane),
            ];
            for row in &mut axes {
                *row = [row[0].times(s[0]), row[1].times(s[1]), row[2].times(s[2])];
            }
        }
        let [[a, b, c], [d, e, f], [g, h, i]] = axes;
        [[a, b, c, t[0]], [d, e, f, t[1]], [g, h, i, t[2]]]
    }
}

/// A component of the local pose: all instances', or that of the rest pose.
///
/// # Safety
/// The CPU has what `L` needs.
#[inline(always)]
unsafe fn value<L: Lanes>(
    joint: &Joint,
    scratch: &Scratch,
    rests: bool,
    component: usize,
    lane: usize,
) -> L {
    // SAFETY: the caller's contract.
    unsafe {
        if rests {
            L::splat(joint.rest[component])
        } else {
            L::load(&scratch.local[component][lane])
        }
    }
}

/// The rotation matrix of a quaternion of any length but 0, by rows. With the length in the factor 2 / |q|², no square root
/// is needed.
///
/// # Safety
/// The CPU has what `L` needs.
#[inline(always)]
unsafe fn turned<L: Lanes>([x, y, z, w]: [L; 4]) -> [[L; 3]; 3] {
    // SAFETY: the caller's contract.
    let (one, two) = unsafe { (L::splat(1.0), L::splat(2.0)) };
    let square = x.times_plus(x, y.times(y));
    let square = square.plus(z.times_plus(z, w.times(w)));
    let factor = two.over(square);
    let (fx, fy, fz) = (x.times(factor), y.times(factor), z.times(factor));
    let (wx, wy, wz) = (w.times(fx), w.times(fy), w.times(fz));
    let (yy, zz) = (y.times(fy), z.times(fz));
    let (xy, xz, yz) = (y.times(fx), z.times(fx), z.times(fy));
    let without_x = x.times_from(fx, one);
    [
        [one.minus(yy.plus(zz)), xy.minus(wz), xz.plus(wy)],
        [xy.plus(wz), without_x.minus(zz), yz.minus(wx)],
        [xz.minus(wy), yz.plus(wx), without_x.minus(yy)],
    ]
}

/// # Safety
/// The CPU has what `L` needs; `matrix` is valid for reading.
#[inline(always)]
unsafe fn rows<L: Lanes>(matrix: *const [Row; 12]) -> [[L; 4]; 3] {
    let from: *const Row = matrix.cast();
    // SAFETY: the caller's contract.
    unsafe { [row(from), row(from.add(4)), row(from.add(8))] }
}

/// # Safety
/// The CPU has what `L` needs; `from` is valid for reading four rows.
#[inline(always)]
unsafe fn row<L: Lanes>(from: *const Row) -> [L; 4] {
    // SAFETY: the caller's contract.
    unsafe {
        [
            L::load(from),
            L::load(from.add(1)),
            L::load(from.add(2)),
            L::load(from.add(3)),
        ]
    }
}

/// `a × b`, both affine.
#[inline(always)]
fn product<L: Lanes>(a: [[L; 4]; 3], b: [[L; 4]; 3]) -> [[L; 4]; 3] {
    [
        product_row(a[0], b),
        product_row(a[1], b),
        product_row(a[2], b),
    ]
}

#[inline(always)]
fn product_row<L: Lanes>([x, y, z, t]: [L; 4], b: [[L; 4]; 3]) -> [L; 4] {
    let a = z.times_plus(b[2][0], y.times_plus(b[1][0], x.times(b[0][0])));
    let c = z.times_plus(b[2][1], y.times_plus(b[1][1], x.times(b[0][1])));
    let d = z.times_plus(b[2][2], y.times_plus(b[1][2], x.times(b[0][2])));
    let e = z.times_plus(b[2][3], y.times_plus(b[1][3], x.times_plus(b[0][3], t)));
    [a, c, d, e]
}

/// Writes entry number `index` of every instance's palette: whole rows of 16 bytes in order.
///
/// # Safety
/// As [`super::kernel::run`], for this entry.
#[inline(always)]
pub(super) unsafe fn write<L: Lanes>(
    group: &Group<'_>,
    entry: &Entry,
    model: &[Row; 12],
    index: usize,
) {
    // SAFETY: the caller's contract.
    unsafe {
        if group.count == WIDTH {
            put::<L>(&group.out, index * size_of::<Mat3x4>(), entry, model);
        } else {
            let mut aside = [Mat3x4::IDENTITY; WIDTH];
            let start: *mut Mat3x4 = aside.as_mut_ptr();
            let to = std::array::from_fn(|lane| start.wrapping_add(lane));
            put::<L>(&to, 0, entry, model);
            for (out, entry) in group.out.iter().zip(&aside).take(group.count) {
                out.add(index).write(*entry);
            }
        }
    }
}

/// `model × inverse bind` to all lanes' pointers, `offset` bytes on.
///
/// # Safety
/// The CPU has what `L` needs. The pointers are valid for that.
#[inline(always)]
unsafe fn put<L: Lanes>(
    to: &[*mut Mat3x4; WIDTH],
    offset: usize,
    entry: &Entry,
    model: &[Row; 12],
) {
    // SAFETY: the caller's contract.
    unsafe {
        for number in 0..3 {
            let [x, y, z, t] = row::<L>(model.as_ptr().add(number * 4));
            let [a, b, c] = &entry.inverse_bind;
            let mut out = [t; 4];
            for (column, out) in out.iter_mut().enumerate() {
                let first = x.times(L::splat(a[column]));
                let two = y.times_plus(L::splat(b[column]), first);
                *out = z.times_plus(L::splat(c[column]), two);
            }
            out[3] = out[3].plus(t);
            L::write4(out, to, offset + number * size_of::<[f32; 4]>());
        }
    }
}
