//! A packed clip as 32-bit words, for shaders of engines. Nothing in the crate reads them: the
//! tests decode them as documented, and compare the result with the clip.

use super::keys::{PackedRow, ROW_BYTES};
use super::packed::{Block, BlockKeys, Clip, Property};
use crate::simd::WIDTH;

/// Table entry of [`Clip::packed_words`] for a property at rest.
const AT_REST: u32 = u32::MAX;
/// Table flag of a property that moves.
const MOVES: u32 = 1 << 31;
const HEADER_WORDS: usize = 11;

impl Clip {
    /// Returns the packed clip as 32-bit words, ready for upload.
    ///
    /// Any time can be looked up directly, with a few shifts. `None` unless the keys are
    /// [`quantised`](crate::clip::ClipReport::quantised).
    ///
    /// Bytes in words and bits in bytes are in little-endian order: bit `i` of the whole is bit
    /// `i % 32` of word `i / 32`. Joints are in blocks of eight: joint `j` is lane `j % 8` of block
    /// `j / 8`.
    ///
    /// | word | content |
    /// |---|---|
    /// | 0 | number of joints |
    /// | 1 | number of frames, `n` |
    /// | 2 | bytes per frame |
    /// | 3 | first word of the block table |
    /// | 4 | first word of the constants |
    /// | 5 | first word of the rows |
    /// | 6 | first word of the frames; each frame starts at a whole byte |
    /// | 7, 8 | the times in seconds of frame 0 and frame `n - 1`, as `f32` |
    /// | 9 | frames per second, as `f32`; 0 for a single frame |
    /// | 10 | first word of the offsets, or 0 if there are none |
    ///
    /// Frame `i` is at the time of frame 0 plus `(i + offset / 65536)` divided by word 9. The last
    /// frame is at the time in word 8. There is one offset per frame: a signed 16-bit number of
    /// magnitude less than 2¹⁵. So the frame before a time is the one found without offsets, or a
    /// neighbour of it.
    ///
    /// The block table has three words per block: for rotation (components x, y, z, w), translation
    /// (x, y, z) and scale (x, y, z).
    ///
    /// - `0xFFFFFFFF`: as in the rest pose, or no difference if the clip is additive.
    /// - Less than 2³¹: constant. The word is the number of the first of the property's constants,
    ///   one per component. Each constant has 8 words: the lanes' values as `f32`.
    /// - Otherwise the property moves. The word minus 2³¹ is the number of the first of its rows,
    ///   one per component.
    ///
    /// Tracks that are kept as curves
    /// ([`ClipReport::kept_tracks`](crate::clip::ClipReport::kept_tracks)) are not included. Ignore
    /// the table entries of the properties that they drive.
    ///
    /// A row has 19 words:
    ///
    /// | bytes | content |
    /// |---|---|
    /// | 0..32 | `min` of each lane, `f32` |
    /// | 32..48 | `scale` of each lane, the upper 16 bits of an `f32` |
    /// | 48..56 | `byte` of each lane |
    /// | 56..64 | `up` of each lane |
    /// | 64..72 | `down` of each lane |
    /// | 72..76 | `window` |
    ///
    /// A lane's field has `32 - down` bits, from 0 to 24. Its first bit in a frame is bit
    /// `(window + byte) * 8 + down - up`. To read it, take the 32 bits from byte `window + byte` on
    /// and shift them left by `up`, then right by `down`, where a shift by 32 gives 0. The key's
    /// value is `min + scale * field`.
    ///
    /// Let `a` and `b` be the keys before and after a time, and `u` the position between them, from
    /// 0 to 1. Translations and scales are `a + (b - a) u`. Rotations are normalised, and use
    /// `u + w (k / 3 + w k (0.14148876 - 0.2885359 u (1 - u)))` in place of `u`, where
    /// `w = 1 - a·b` and `k = u (1 - u) (1 - 2u)`.
    #[must_use]
    pub fn packed_words(&self) -> Option<Vec<u32>> {
        let BlockKeys::Packed(packed) = &self.keys else {
            return None;
        };
        let constants_at = HEADER_WORDS + 3 * self.blocks.len();
        let rows_at = constants_at + WIDTH * self.constants.len();
        let frames_at = rows_at + packed.rows.len() * ROW_BYTES / 4;
        let timing = &self.timing;
        let frame_words = packed.bytes.len().div_ceil(4);
        let offsets_at = if timing.offsets.is_empty() {
            0
        } else {
            frames_at + frame_words
        };
        let mut words = vec![
            self.rest.len() as u32,
            timing.frames as u32,
            packed.stride as u32,
            HEADER_WORDS as u32,
            constants_at as u32,
            rows_at as u32,
            frames_at as u32,
            (timing.start_s as f32).to_bits(),
            (timing.end_s as f32).to_bits(),
            (timing.rate as f32).to_bits(),
            offsets_at as u32,
        ];
        words.extend(self.blocks.iter().flat_map(Block::words));
        let constants = self.constants.iter().flat_map(|row| row.0);
        words.extend(constants.map(f32::to_bits));
        let rows = packed.rows.iter().zip(&packed.windows);
        words.extend(rows.flat_map(|(row, window)| row.words(*window)));
        let frames = packed.bytes.chunks(4).map(|bytes| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(word)
        });
        words.extend(frames);
        words.extend(timing.offsets.chunks(2).map(|pair| {
            let [low, high] = [pair[0], pair.get(1).copied().unwrap_or(0)];
            u32::from(low as u16) | u32::from(high as u16) << 16
        }));
        Some(words)
    }
}

impl Block {
    fn words(&self) -> [u32; 3] {
        Property::ALL.map(|property| {
            let row = self.rows[property as usize];
            match (self.moves(property), self.rests(property)) {
                (true, _) => row | MOVES,
                (false, true) => AT_REST,
                (false, false) => row,
            }
        })
    }
}

impl PackedRow {
    fn words(&self, window: u32) -> [u32; ROW_BYTES / 4] {
        let mut words = [window; ROW_BYTES / 4];
        let (mut scale, mut tables) = ([0; WIDTH], [[0; WIDTH]; 3]);
        for lane in 0..WIDTH {
            words[lane] = self.min[lane].to_bits();
            scale[lane] = self.scale(lane).to_bits() >> 16;
            let (shift, width) = (self.shift(lane), self.mask[lane].count_ones());
            tables[0][lane] = self.bytes[lane][0];
            tables[1][lane] = (32 - shift - width) as u8;
            tables[2][lane] = (32 - width) as u8;
        }
        for (pair, word) in scale.chunks_exact(2).zip(&mut words[8..12]) {
            *word = pair[0] | pair[1] << 16;
        }
        for (four, word) in tables
            .as_flattened()
            .chunks_exact(4)
            .zip(&mut words[12..18])
        {
            *word = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        }
        words
    }
}
