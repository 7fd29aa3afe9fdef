//! Reads a block of joints from a clip, with joints in the lanes.

use super::group::Played;
use crate::clip::{Block, BlockKeys, COMPONENTS, Clip, Moment, Property};
use crate::simd::{Eight, Lanes, Row, WIDTH};

/// Reads a property of a block's joints, between two keys. It has `N` components.
///
/// Rotations may be a few percent shorter than 1.
///
/// # Safety
/// As for [`super::sample::sample_block`].
#[inline(always)]
pub(super) unsafe fn fetch<L: Eight, const N: usize>(
    played: &Played<'_>,
    block: usize,
    property: Property,
) -> [L; N] {
    // SAFETY: the caller guarantees the CPU features, and that clip and rig have this block. The
    // rig has ten rows of the rest pose for each.
    unsafe {
        let info = played.clip.blocks.get_unchecked(block);
        if info.rests(property) {
            let first = block * COMPONENTS + property.first();
            return load(played.rig.rest_rows.as_ptr().add(first));
        }
        let even = even(played.clip, &played.moment, info, property);
        if info.flags & Block::KEPT == 0 {
            return even;
        }
        let mut rows = [Row::default(); N];
        store::<L, N>(even, &mut rows);
        patch(played, block, property, &mut rows);
        load(rows.as_ptr())
    }
}

/// Reads a property from the uniform keys, without the kept tracks.
///
/// # Safety
/// The CPU has the instructions that `L` needs. The block is one of the clip, and the property is
/// not at rest there and has `N` components. The moment is from the clip's timing.
#[inline(always)]
pub(super) unsafe fn even<L: Eight, const N: usize>(
    clip: &Clip,
    moment: &Moment,
    info: &Block,
    property: Property,
) -> [L; N] {
    let first = info.rows[property as usize] as usize;
    // SAFETY:
    // - A property that is neither at rest nor moves has its rows among the constants: `push_block`
    //   and `folded` add them there, and `load_blocks` does so for a loaded clip.
    // - If it moves, the `N` rows from `first` on are less than the rows of a frame: `push_block`
    //   and `folded` number them consecutively, and `load_blocks` does so for a loaded clip.
    //   `Packed::new` has as many columns, and `Clip::load` compares plain keys.
    // - Both frames exist: the moment is from this clip's timing, and the keys have as many frames
    //   as that (`fill_keys`, `Packed::new`; for a loaded clip, `load_plain` compares the
    //   numbers). So each product is at most the length of the keys.
    // - A row's window starts in its frame or at its end (`PackedRow::lay_out`). From there, `keys`
    //   reads at most 20 bytes, and 32 bytes of padding follow the last frame.
    // - The caller guarantees the CPU features.
    unsafe {
        if !info.moves(property) {
            return load(clip.constants.as_ptr().add(first));
        }
        let [mut a, mut b] = [[L::splat(0.0); N]; 2];
        let pairs = a.iter_mut().zip(&mut b).enumerate();
        let (from, to) = (moment.from as usize, moment.to as usize);
        match &clip.keys {
            BlockKeys::Plain(keys, stride) => {
                let keys = keys.as_ptr().add(first);
                let (from, to) = (keys.add(from * stride), keys.add(to * stride));
                for (row, (a, b)) in pairs {
                    *a = L::load(from.add(row).cast());
                    *b = L::load(to.add(row).cast());
                }
            }
            BlockKeys::Packed(packed) => {
                let rows = packed.rows.as_ptr().add(first);
                let windows = packed.windows.as_ptr().add(first);
                let bytes = packed.bytes.as_ptr();
                let (from, to) = (
                    bytes.add(from * packed.stride),
                    bytes.add(to * packed.stride),
                );
                for (row, (a, b)) in pairs {
                    let window = *windows.add(row) as usize;
                    let row = &*rows.add(row);
                    *a = row.keys(from.add(window));
                    *b = row.keys(to.add(window));
                }
            }
        }
        let mut u = L::splat(moment.u);
        if N == 4 {
            // A rotation: the same formula as in `Slerp::part`.
            let slerp = &moment.slerp;
            let w = a[1].neg_mul_add(b[1], a[0].neg_mul_add(b[0], L::splat(1.0)));
            let w = a[3].neg_mul_add(b[3], a[2].neg_mul_add(b[2], w));
            let more = w.mul_add(L::splat(slerp.two), L::splat(slerp.one));
            u = w.mul_add(more, u);
        }
        for (a, b) in a.iter_mut().zip(b) {
            *a = b.sub(*a).mul_add(u, *a);
        }
        a
    }
}

/// Loads `N` rows.
///
/// # Safety
/// The CPU has the instructions that `L` needs, and `from` is valid for reading the rows.
#[inline(always)]
pub(super) unsafe fn load<L: Eight, const N: usize>(from: *const Row) -> [L; N] {
    // SAFETY: the caller guarantees the CPU features and the rows.
    unsafe {
        let mut rows = [L::splat(0.0); N];
        for (number, row) in rows.iter_mut().enumerate() {
            *row = L::load(from.add(number).cast());
        }
        rows
    }
}

/// Stores values to as many rows.
#[inline(always)]
pub(super) fn store<L: Lanes, const N: usize>(values: [L; N], rows: &mut [Row]) {
    for (value, row) in values.iter().zip(rows) {
        // SAFETY: a row has as many numbers as eight lanes and is aligned to them.
        unsafe { value.store(row.0.as_mut_ptr()) };
    }
}

/// Overwrites the values that kept tracks drive with the values of their curves.
#[cold]
#[inline(never)]
fn patch(played: &Played<'_>, block: usize, property: Property, rows: &mut [Row]) {
    let first = block * WIDTH;
    for track in played.clip.kept_of(first..first + WIDTH) {
        if track.values.property() != property {
            continue;
        }
        let values = track.at(played.moment.time_s);
        for (row, value) in rows.iter_mut().zip(&values[property.range()]) {
            row.0[usize::from(track.joint) - first] = *value;
        }
    }
}
