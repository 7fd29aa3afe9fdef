//! Packed keys: integers of few bits. The format, and the portable code that reads it.

use super::packed::{Block, BlockKeys, Clip, Property};
use crate::simd::{Eight, WIDTH};

/// Padding bytes after the last frame, so that 16-byte reads from any field stay in bounds.
const PADDING: usize = 32;
/// The fields of a row fit into this many bits, counted from the byte of the first field. It is the
/// size of a 16-byte vector register.
pub(crate) const WINDOW_BITS: u32 = 128;
/// The widest field. `f32` represents all its values, and with up to 7 bits before it, it fits into
/// 32 bits.
pub(crate) const MAX_BITS: u32 = 24;
/// Upper 16 bits of the smallest scale. A 128th of it is still a normal number.
pub(crate) const LEAST_SCALE: u16 = 0x0400;

/// The encoding of the eight fields of a row, decoded and ready for use.
///
/// A row is one component of one block of joints. In the packed format it takes [`ROW_BYTES`].
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PackedRow {
    /// The value of a field of 0.
    pub(crate) min: [f32; WIDTH],
    /// Factor for a lane's masked bits. A field's own scale has 8 significant bits, so its product
    /// with a field of up to 16 bits is exact, whether or not multiplication and addition are
    /// fused. This factor is that scale divided by the value of the field's lowest bit.
    scale: [f32; WIDTH],
    /// Mask of a lane's field in its 32 bits. The field is not shifted down: it uses at most bits 0
    /// to 30, and 24 of them convert exactly wherever they are.
    mask: [u32; WIDTH],
    /// Indices of the four consecutive bytes in the row's window that hold a lane's field.
    bytes: [[u8; 4]; WIDTH],
}

const _: () = assert!(size_of::<PackedRow>() == 128);

/// Size of a row in the packed format.
const ROW_BYTES: usize = 76;

/// The packed keys of a clip.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Packed {
    /// The rows of each block's moving properties, component by component.
    pub(crate) rows: Vec<PackedRow>,
    /// The first byte of each row's window in a frame.
    pub(crate) windows: Vec<u32>,
    /// The frames in order, with padding.
    pub(crate) bytes: Vec<u8>,
    /// Bytes per frame.
    pub(crate) stride: usize,
}

impl PackedRow {
    /// Lays out a row with fields of `widths` bits, starting at bit `start_bit` of a frame.
    ///
    /// If the fields would not fit into a window there, the row starts at the next byte. Returns
    /// the row, its window and the bit after its last field. `None` if the fields do not fit into
    /// any window, or one of them is too wide.
    pub(crate) fn place(widths: [u32; WIDTH], start_bit: u32) -> Option<(Self, u32, u32)> {
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
            scale: [0.0; WIDTH],
            mask: [0; WIDTH],
            bytes: [[0; 4]; WIDTH],
        };
        let window = start_bit / 8;
        let mut bit = start_bit % 8;
        for (lane, width) in widths.into_iter().enumerate() {
            // Nothing to read, so any byte of the window will do.
            let at = if width > 0 { bit } else { 0 };
            let byte = (at / 8) as u8;
            row.bytes[lane] = [byte, byte + 1, byte + 2, byte + 3];
            row.mask[lane] = ((1 << width) - 1) << (at % 8);
            bit += width;
        }
        Some((row, window, window * 8 + bit))
    }

    /// The number of bits below a lane's field.
    fn shift(&self, lane: usize) -> u32 {
        match self.mask[lane] {
            0 => 0,
            mask => mask.trailing_zeros(),
        }
    }

    /// The factor of a lane's field, see [`Self::set_scale`].
    pub(crate) fn scale(&self, lane: usize) -> f32 {
        self.scale[lane] * (1_u32 << self.shift(lane)) as f32
    }

    /// Sets the factor of a lane's field from the upper 16 bits of an `f32`, which are 0 or at
    /// least [`LEAST_SCALE`].
    pub(crate) fn set_scale(&mut self, lane: usize, upper: u16) {
        let scale = f32::from_bits(u32::from(upper) << 16);
        self.scale[lane] = scale / (1_u32 << self.shift(lane)) as f32;
    }

    /// Returns true if these upper 16 bits are a valid scale.
    pub(crate) fn is_scale(upper: u16) -> bool {
        upper == 0 || (LEAST_SCALE..=0x7F7F).contains(&upper)
    }

    /// The number of bits in each lane's field.
    pub(crate) fn widths(&self) -> [u8; WIDTH] {
        self.mask.map(|mask| mask.count_ones() as u8)
    }

    /// Decodes the value of a lane's field.
    pub(crate) fn value(&self, lane: usize, field: u32) -> f32 {
        // No field has more than 24 bits.
        self.min[lane] + self.scale(lane) * field as f32
    }

    /// Writes a lane's field into its row's window, in which the bits are still 0.
    pub(crate) fn write(&self, window: &mut [u8], lane: usize, field: u32) {
        let bytes = (field << self.shift(lane)).to_le_bytes();
        let first = usize::from(self.bytes[lane][0]);
        for (byte, bits) in window[first..].iter_mut().zip(bytes) {
            *byte |= bits;
        }
    }

    /// Reads a lane's field from the window at the start of `bytes`, which may be longer.
    fn field(&self, bytes: &[u8], lane: usize) -> u32 {
        let [a, b, c, d, ..] = bytes[usize::from(self.bytes[lane][0])..] else {
            return 0;
        };
        (u32::from_le_bytes([a, b, c, d]) & self.mask[lane]) >> self.shift(lane)
    }

    /// Decodes the keys in a window.
    ///
    /// # Safety
    /// The CPU has the instructions that `L` needs, and `window` is valid for reading 20 bytes.
    #[inline(always)]
    pub(crate) unsafe fn keys<L: Eight>(&self, window: *const u8) -> L {
        // SAFETY: the caller guarantees the CPU features and 20 readable bytes. The tables of a row
        // have the alignment that the loads need, because `PackedRow` is aligned to 32 bytes.
        unsafe {
            let fields = L::fields(window, &self.bytes, &self.mask);
            fields.mul_add(L::load(self.scale.as_ptr()), L::load(self.min.as_ptr()))
        }
    }
}

impl Packed {
    /// Creates frames of `bits` bits each, all 0.
    pub(crate) fn empty(rows: Vec<PackedRow>, windows: Vec<u32>, bits: u32, frames: usize) -> Self {
        let stride = bits.div_ceil(8) as usize;
        Self {
            rows,
            windows,
            bytes: vec![0; stride * frames + PADDING],
            stride,
        }
    }

    /// Creates the keys from the bytes of all frames, without the padding. `None` if the number of
    /// bytes does not match.
    pub(crate) fn of_frames(
        rows: Vec<PackedRow>,
        windows: Vec<u32>,
        (bits, frames): (u32, usize),
        mut bytes: Vec<u8>,
    ) -> Option<Self> {
        let stride = bits.div_ceil(8) as usize;
        if stride.checked_mul(frames)? != bytes.len() {
            return None;
        }
        bytes.resize(bytes.len().checked_add(PADDING)?, 0);
        Some(Self {
            rows,
            windows,
            bytes,
            stride,
        })
    }

    /// The bytes of all frames, without the padding.
    pub(crate) fn frames_bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len().saturating_sub(PADDING)]
    }

    /// Decodes the key of one lane of a row.
    pub(crate) fn key(&self, frame: usize, row: usize, lane: usize) -> f32 {
        let window = frame * self.stride + self.windows[row] as usize;
        let row = &self.rows[row];
        row.value(lane, row.field(&self.bytes[window..], lane))
    }

    /// Size in the packed format, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.rows.len() * ROW_BYTES + self.bytes.len()
    }

    /// Additional bytes in memory, because rows are stored decoded.
    pub(crate) fn unfolded(&self) -> usize {
        self.rows.len() * (size_of::<PackedRow>() + size_of::<u32>() - ROW_BYTES)
    }
}

/// Table entry of [`Clip::packed_words`] for a property at rest.
const AT_REST: u32 = u32::MAX;
/// Table flag of a property that moves.
const MOVES: u32 = 1 << 31;
const HEADER_WORDS: usize = 11;

impl Clip {
    /// Returns the packed clip as 32-bit words, ready for upload.
    ///
    /// Any time can be looked up directly, with a few shifts. `None` unless the keys are
    /// [`ClipPacking::Quantised`](crate::clip::ClipPacking::Quantised).
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
