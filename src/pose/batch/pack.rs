//! Keys as whole numbers of few bits: the format, and reading it in plain code.

use super::clip::{Block, Clip, Keys, Property};
use super::lanes::WIDTH;

/// Bytes behind the last frame, so that what reads 16 from any field's own reads nothing else.
const PADDING: usize = 32;
/// A row's fields lie in so many bits, from the first one's byte on: what a vector register of 16 bytes holds.
pub(super) const WINDOW_BITS: u32 = 128;
/// The widest field: `f32` has all its values, and with up to 7 bits before it, it lies in 32 bits.
pub(super) const MAX_BITS: u32 = 24;

/// Where the eight fields of a row lie in each frame, and what they mean; one component of one block of joints.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PackedRow {
    /// What a field of 0 stands for.
    pub(super) min: [f32; WIDTH],
    /// The upper half of the `f32` that a field is multiplied by: 8 significant bits, so that the product with a field of up to 16
    /// bits is exact, whether it is fused with the sum or not.
    pub(super) scale: [u16; WIDTH],
    /// Of the 32 bits that hold a lane's field, the first byte, in the row's window.
    pub(super) byte: [u8; WIDTH],
    /// By how much these bits are shifted up, to drop what lies above the field, and then down.
    pub(super) up: [u8; WIDTH],
    pub(super) down: [u8; WIDTH],
    /// The first byte of the window in a frame.
    pub(super) window: u32,
}

const _: () = assert!(size_of::<PackedRow>() == 76 && align_of::<PackedRow>() == 4);

/// The packed keys of a clip.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    /// Of each block's moving properties, component by component.
    pub(super) rows: Vec<PackedRow>,
    /// Frame by frame, padded.
    pub(super) bytes: Vec<u8>,
    /// Bytes a frame.
    pub(super) stride: usize,
}

impl PackedRow {
    /// A row of fields of `widths` bits, the first of them at bit `start_bit` of a frame, or at the next byte's first where they
    /// would not lie in a window else; and the bit behind them. None if that is not enough.
    pub(super) fn place(widths: [u32; WIDTH], start_bit: u32) -> Option<(Self, u32)> {
        let sum: u32 = widths.iter().sum();
        let start_bit = if start_bit % 8 + sum > WINDOW_BITS {
            start_bit.next_multiple_of(8)
        } else {
            start_bit
        };
        if sum > WINDOW_BITS || widths.iter().any(|width| *width > MAX_BITS) {
            return None;
        }
        let mut row = Self {
            min: [0.0; WIDTH],
            scale: [0; WIDTH],
            byte: [0; WIDTH],
            up: [0; WIDTH],
            down: [0; WIDTH],
            window: start_bit / 8,
        };
        let mut bit = start_bit % 8;
        for (lane, width) in widths.into_iter().enumerate() {
            // Nothing to read: any byte of the window will do.
            let at = if width > 0 { bit } else { 0 };
            row.byte[lane] = (at / 8) as u8;
            row.up[lane] = (32 - at % 8 - width) as u8;
            row.down[lane] = (32 - width) as u8;
            bit += width;
        }
        Some((row, row.window * 8 + bit))
    }

    pub(super) fn scale(&self, lane: usize) -> f32 {
        f32::from_bits(u32::from(self.scale[lane]) << 16)
    }

    /// What a lane's field stands for.
    pub(super) fn value(&self, lane: usize, field: u32) -> f32 {
        // No field has more than 24 bits.
        self.min[lane] + self.scale(lane) * field as f32
    }

    /// Writes a lane's field into a frame, whose bits there are 0.
    pub(super) fn write(&self, frame: &mut [u8], lane: usize, field: u32) {
        let shift = u32::from(self.down[lane] - self.up[lane]);
        let first = self.window as usize + usize::from(self.byte[lane]);
        for (byte, bits) in frame[first..]
            .iter_mut()
            .zip((field << shift).to_le_bytes())
        {
            *byte |= bits;
        }
    }

    /// A lane's field in a frame, which `bytes` starts with; some bytes follow it.
    fn field(&self, bytes: &[u8], lane: usize) -> u32 {
        let first = self.window as usize + usize::from(self.byte[lane]);
        let [a, b, c, d, ..] = bytes[first..] else {
            return 0;
        };
        let bits = u32::from_le_bytes([a, b, c, d]);
        // A field of no bits is shifted by 32.
        let up = u64::from(bits) << self.up[lane];
        u32::try_from((up & u64::from(u32::MAX)) >> self.down[lane]).unwrap_or(0)
    }
}

impl Packed {
    /// Frames of `bits` bits each, all 0.
    pub(super) fn empty(rows: Vec<PackedRow>, bits: u32, frames: usize) -> Self {
        let stride = bits.div_ceil(8) as usize;
        Self {
            rows,
            bytes: vec![0; stride * frames + PADDING],
            stride,
        }
    }

    /// The key of a lane of a row.
    pub(super) fn key(&self, frame: usize, row: usize, lane: usize) -> f32 {
        let row = &self.rows[row];
        row.value(lane, row.field(&self.bytes[frame * self.stride..], lane))
    }

    pub(super) fn size(&self) -> usize {
        size_of_val(&self.rows[..]) + self.bytes.len()
    }
}

/// The value of [`Clip::packed_words`] for a property that is at rest.
const AT_REST: u32 = u32::MAX;
/// The flag of one that moves.
const MOVES: u32 = 1 << 31;
const HEADER_WORDS: usize = 11;

impl Clip {
    /// All of the clip in 32-bit words, to be uploaded as it is: any time is found at once, with a few shifts. `None` unless
    /// its keys are [`ClipPacking::Quantised`](super::ClipPacking::Quantised).
    ///
    /// Bytes lie in words as little-endian machines have them, and bits in bytes: bit `i` of all is bit `i % 32` of word `i / 32`.
    /// Joints are in blocks of eight: joint `j` is lane `j % 8` of block `j / 8`.
    ///
    /// | word | what |
    /// |---|---|
    /// | 0 | joints |
    /// | 1 | frames, `n` |
    /// | 2 | bytes a frame |
    /// | 3 | first word of the blocks' table |
    /// | 4 | first word of the constants |
    /// | 5 | first word of the rows |
    /// | 6 | first word of the frames; each starts at a whole byte |
    /// | 7, 8 | the times in seconds of frame 0 and frame `n - 1`, as `f32` |
    /// | 9 | frames a second, as `f32`; 0 for a single frame |
    /// | 10 | first word of the offsets; 0: there are none |
    ///
    /// Frame `i` is at the time of frame 0 plus `(i + offset / 65536)` over word 9, but the last, which is at the time of word 8. Offsets
    /// are signed and of 16 bits, less than 2¹⁵ in size, one a frame. So a time lies after the frame that it would lie
    /// after without offsets, or after a neighbour of that.
    ///
    /// The table has three words a block: for rotation (components x, y, z, w), translation (x, y, z) and scale (x, y, z).
    ///
    /// - `0xFFFFFFFF`: as in the rest pose; no difference, if the clip is additive.
    /// - Less than 2³¹: constant. It is the number of the first of the components' constants, each of 8 words, which are the
    ///   lanes' values as `f32`.
    /// - Otherwise it moves, and less 2³¹ it is the number of the first of the components' rows.
    ///
    /// Tracks that are kept as the file has them ([`ClipReport::kept_tracks`](super::ClipReport::kept_tracks)) are not part of this, and what
    /// stands here for what they drive means nothing.
    ///
    /// A row has 19 words:
    ///
    /// | bytes | what |
    /// |---|---|
    /// | 0..32 | `min` of each lane, `f32` |
    /// | 32..48 | `scale` of each lane, the upper 16 bits of an `f32` |
    /// | 48..56 | `byte` of each lane |
    /// | 56..64 | `up` of each lane |
    /// | 64..72 | `down` of each lane |
    /// | 72..76 | `window` |
    ///
    /// A lane's field has `32 - down` bits, from none to 24. Its first bit in a frame is bit
    /// `(window + byte) * 8 + down - up`; or, take the 32 bits from byte `window + byte` on, shift them up by `up` and then down by
    /// `down`, where a shift by 32 gives 0. The key's value is `min + scale * field`.
    ///
    /// Between the frames before and after a time, with `u` the part of the way, translations and scales are `a + (b - a) u`.
    /// Rotations are that with `u + w (k / 3 + w k (0.14148876 - 0.2885359 u (1 - u)))` instead, where
    /// `w = 1 - a·b` and `k = u (1 - u) (1 - 2u)`, brought to length 1.
    #[must_use]
    pub fn packed_words(&self) -> Option<Vec<u32>> {
        let Keys::Packed(packed) = &self.keys else {
            return None;
        };
        let constants_at = HEADER_WORDS + 3 * self.blocks.len();
        let rows_at = constants_at + WIDTH * self.constants.len();
        let frames_at = rows_at + packed.rows.len() * size_of::<PackedRow>() / 4;
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
        words.extend(packed.rows.iter().flat_map(PackedRow::words));
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
    fn words(&self) -> [u32; 19] {
        let mut words = [self.window; 19];
        for (lane, word) in words[..8].iter_mut().enumerate() {
            *word = self.min[lane].to_bits();
        }
        for (pair, word) in words[8..12].iter_mut().enumerate() {
            *word = u32::from(self.scale[pair * 2]) | u32::from(self.scale[pair * 2 + 1]) << 16;
        }
        let bytes = [self.byte, self.up, self.down];
        for (four, word) in bytes.as_flattened().chunks_exact(4).zip(&mut words[12..18]) {
            *word = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        }
        words
    }
}
