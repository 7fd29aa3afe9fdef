//! Writes palettes from the lanes, each instance's in ascending order.

use super::compose::at;
use super::group::{Group, Product};
use super::palette_lanes::{LaneFormat, Rows, entries, skinning_row};
use super::poser::Scratch;
use super::rig::Entry;
use crate::palette::{Mat3x4, with_entry};
use crate::simd::{Instructions, Wide, phase};

/// Writes some entries of every instance's palette, starting with number `first`.
///
/// # Safety
/// As for [`super::kernel::run`], for these entries, whose joints' matrices have been computed.
#[inline(always)]
pub(super) unsafe fn write_entries<K: Instructions, W: Wide, const ROW: usize>(
    group: &Group<'_>,
    list: List<'_>,
    scratch: &Scratch,
) {
    let Product::Palette(format) = group.product else {
        return;
    };
    // SAFETY: `write_as` has the same contract.
    unsafe { with_entry!(format, E => write_as::<K, W, E, ROW>(group, list, scratch)) }
}

/// Writes entries in one format: rows of 16 bytes in order, several per store if the unit can.
///
/// # Safety
/// As for [`write_entries`].
#[inline(always)]
unsafe fn write_as<K: Instructions, W: Wide, E: LaneFormat, const ROW: usize>(
    group: &Group<'_>,
    list: List<'_>,
    scratch: &Scratch,
) {
    for start in (0..group.count).step_by(W::WIDTH) {
        let chunk = Chunk {
            models: scratch.model.as_ptr().cast(),
            start,
            to: group.out.as_ptr().wrapping_add(start),
            live: live::<W>(group.count - start),
        };
        // SAFETY: the functions called have the same contract.
        unsafe {
            if const { W::ROWS_AT_ONCE == 4 && !E::BY_ROWS } {
                phase!(K, chunk.fours::<K, W, E, ROW>(list, group.phase));
            } else if const { W::ROWS_AT_ONCE == 4 } {
                phase!(K, chunk.rows::<W, ROW, 4>(list, group.phase));
            } else if const { W::ROWS_AT_ONCE == 2 && E::BY_ROWS } {
                phase!(K, chunk.rows::<W, ROW, 2>(list, group.phase));
            } else {
                phase!(K, chunk.each::<W, E, ROW>(list));
            }
        }
    }
}

const ROW_BYTES: usize = size_of::<[f32; 4]>();
const LINE_BYTES: usize = 64;

/// The instances of a group that share one register.
struct Chunk {
    models: *const f32,
    /// Number of the first instance.
    start: usize,
    /// One pointer per instance.
    to: *const *mut u8,
    /// One bit per lane, set if the lane has an instance.
    live: u32,
}

impl Chunk {
    /// Computes row `number` of an entry's skinning matrices.
    ///
    /// # Safety
    /// As for [`write_entries`]. This holds for all functions of this type.
    #[inline(always)]
    unsafe fn row<W: Wide, const ROW: usize>(&self, entry: &Entry, number: usize) -> [W; 4] {
        // SAFETY: the caller guarantees that the matrix of the entry's joint has been computed.
        unsafe {
            let from = at::<ROW>(self.models, entry.slot, self.start);
            skinning_row::<W, ROW>(from, entry, number)
        }
    }

    #[inline(always)]
    unsafe fn entry<W: Wide, E: LaneFormat, const ROW: usize>(&self, entry: &Entry) -> Rows<W> {
        // SAFETY: the caller guarantees that the matrix of the entry's joint has been computed.
        unsafe {
            let mut matrix = [[W::splat(0.0); 4]; 3];
            for (number, row) in matrix.iter_mut().enumerate() {
                *row = self.row::<W, ROW>(entry, number);
            }
            entries::<W, E>(matrix, self.live)
        }
    }

    /// Writes entry by entry, one row per store.
    #[inline(always)]
    unsafe fn each<W: Wide, E: LaneFormat, const ROW: usize>(&self, (list, first): List<'_>) {
        for (entry, index) in list.iter().zip(first..) {
            // SAFETY: the caller guarantees that the outputs have memory for these entries.
            unsafe {
                let found = self.entry::<W, E, ROW>(entry);
                for (number, row) in found.into_iter().take(E::ROWS).enumerate() {
                    W::write4(row, self.to, index * size_of::<E>() + number * ROW_BYTES);
                }
            }
        }
    }

    /// Writes matrices, `AT_ONCE` rows per store: two, because more do not fit into sixteen
    /// registers, or four, which are whole lines, except for the first and the last rows.
    ///
    /// If all outputs start at offset `phase` into a line, no store straddles two lines. If they
    /// start at different offsets, most do. On an Intel Xeon (Sapphire Rapids), four rows per store
    /// still take 0.9 times as long as a store per row then.
    #[inline(always)]
    unsafe fn rows<W: Wide, const ROW: usize, const AT_ONCE: usize>(
        &self,
        (list, first): List<'_>,
        phase: usize,
    ) {
        let start = first * size_of::<Mat3x4>();
        let (mut row, end) = (0, 3 * list.len());
        while row < end {
            let offset = start + row * ROW_BYTES;
            // SAFETY: the caller guarantees the outputs. Rows below `end` belong to entries of the
            // list.
            unsafe {
                let of = |row: usize| (list.get_unchecked(row / 3), row % 3);
                let (entry, number) = of(row);
                let one = self.row::<W, ROW>(entry, number);
                if !(phase + offset).is_multiple_of(AT_ONCE * ROW_BYTES) || row + AT_ONCE > end {
                    W::write4(one, self.to, offset);
                    row += 1;
                    continue;
                }
                let (entry, number) = of(row + 1);
                let two = self.row::<W, ROW>(entry, number);
                if AT_ONCE == 4 {
                    let [three, four] = [of(row + 2), of(row + 3)];
                    let three = self.row::<W, ROW>(three.0, three.1);
                    let four = self.row::<W, ROW>(four.0, four.1);
                    W::write16([one, two, three, four], self.to, offset);
                } else {
                    W::write8([one, two], self.to, offset);
                }
                row += AT_ONCE;
            }
        }
    }

    /// Writes entries of any format, four at a time: whole lines, except for the first and the last
    /// entries.
    #[inline(always)]
    unsafe fn fours<K: Instructions, W: Wide, E: LaneFormat, const ROW: usize>(
        &self,
        (mut list, mut index): List<'_>,
        phase: usize,
    ) {
        while let Some((entry, rest)) = list.split_first() {
            let offset = index * size_of::<E>();
            let aligned = (phase + offset).is_multiple_of(LINE_BYTES);
            // SAFETY: the caller guarantees that the outputs have memory for these entries.
            unsafe {
                if let Some((four, rest)) = list.split_first_chunk::<4>()
                    && aligned
                {
                    let mut found = [[[W::splat(0.0); 4]; 3]; 4];
                    for (found, entry) in found.iter_mut().zip(four) {
                        *found = self.entry::<W, E, ROW>(entry);
                    }
                    for line in 0..E::ROWS {
                        let mut rows = [[W::splat(0.0); 4]; 4];
                        for (row, number) in rows.iter_mut().zip(4 * line..) {
                            *row = found[number / E::ROWS][number % E::ROWS];
                        }
                        W::write16(rows, self.to, offset + line * LINE_BYTES);
                    }
                    (list, index) = (rest, index + 4);
                } else {
                    phase!(
                        K,
                        self.each::<W, E, ROW>((std::slice::from_ref(entry), index))
                    );
                    (list, index) = (rest, index + 1);
                }
            }
        }
    }
}

/// Entries, and the number of the first.
type List<'a> = (&'a [Entry], usize);

/// One bit for each of the first `count` lanes.
#[inline(always)]
pub(super) const fn live<W: Wide>(count: usize) -> u32 {
    if count >= W::WIDTH {
        u32::MAX >> (u32::BITS as usize - W::WIDTH)
    } else {
        (1 << count) - 1
    }
}
