//! BlockKeys as whole numbers of few bits: the format, and reading it in plain code.

use super::packed::{Block, BlockKeys, Clip, Property};
use crate::simd::{Eight, WIDTH};

/// Bytes behind the last frame, so that what reads 16 from any field's own reads nothing else.
const PADDING: usize = 32;
/// A row's fields lie in so many bits, from the first one's byte on: what a vector register of 16
/// bytes holds.
pub(crate) const WINDOW_BITS: u32 = 128;
/// The widest field: `f32` has all its values, and with up to 7 bits before it, it lies in 32 bits.
pub(crate) const MAX_BITS: u32 = 24;
/// The upper 16 bits of the least scale: a 128th of it still has all its bits.
pub(crate) const LEAST_SCALE: u16 = 0x0400;

/// What the eight fields of a row mean, ready to be read; one component of one block of joints. In
/// the format it takes [`ROW_BYTES`].
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PackedRow {
    /// What a field of 0 stands for.
    pub(crate) min: [f32; WIDTH],
    /// What a lane's masked bits are multiplied by. A field's own scale has 8 significant bits, so
    /// that the product with a field of up to 16 bits is exact, whether it is fused with the sum or
    /// not; this is that, less the bits below the field.
    scale: [f32; WIDTH],
    /// Which of the 32 bits are a lane's field, which no shift brings down: at most bits 0 to 30,
    /// of which 24 are converted exactly wherever they lie.
    mask: [u32; WIDTH],
    /// The four bytes that hold a lane's field, by their numbers in the row's window: one after the
    /// other.
    bytes: [[u8; 4]; WIDTH],
}

const _: () = assert!(size_of::<PackedRow>() == 128);

/// What a row takes in the format.
const ROW_BYTES: usize = 76;

/// The packed keys of a clip.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Packed {
    /// Of each block's moving properties, component by component.
    pub(crate) rows: Vec<PackedRow>,
    /// The first byte of each row's window in a frame.
    pub(crate) windows: Vec<u32>,
    /// Frame by frame, padded.
    pub(crate) bytes: Vec<u8>,
    /// Bytes a frame.
    pub(crate) stride: usize,
}

impl PackedRow {
    /// A row of fields of `widths` bits, the first of them at bit `start_bit` of a frame, or at the
    /// next byte's first where they would not lie in a window else; the window, and the bit behind
    /// the fields. None if that is not enough.
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
            // Nothing to read: any byte of the window will do.
            let at = if width > 0 { bit } else { 0 };
            let byte = (at / 8) as u8;
            row.bytes[lane] = [byte, byte + 1, byte + 2, byte + 3];
            row.mask[lane] = ((1 << width) - 1) << (at % 8);
            bit += width;
        }
        Some((row, window, window * 8 + bit))
    }

    /// By how many bits a lane's field is above the lowest.
    fn shift(&self, lane: usize) -> u32 {
        match self.mask[lane] {
            0 => 0,
            mask => mask.trailing_zeros(),
        }
    }

    /// What a field is multiplied by: see [`Self::set_scale`].
    pub(crate) fn scale(&self, lane: usize) -> f32 {
        self.scale[lane] * (1_u32 << self.shift(lane)) as f32
    }

    /// Sets what a field is multiplied by, of which these are the upper 16 bits: none, or at least
    /// [`LEAST_SCALE`].
    pub(crate) fn set_scale(&mut self, lane: usize, upper: u16) {
        let scale = f32::from_bits(u32::from(upper) << 16);
        self.scale[lane] = scale / (1_u32 << self.shift(lane)) as f32;
    }

    /// Whether these upper 16 bits are a scale that a lane may have.
    pub(crate) fn is_scale(upper: u16) -> bool {
        upper == 0 || (LEAST_SCALE..=0x7F7F).contains(&upper)
    }

    /// How many bits each lane's field has.
    pub(crate) fn widths(&self) -> [u8; WIDTH] {
        self.mask.map(|mask| mask.count_ones() as u8)
    }

    /// What a lane's field stands for.
    pub(crate) fn value(&self, lane: usize, field: u32) -> f32 {
        // No field has more than 24 bits.
        self.min[lane] + self.scale(lane) * field as f32
    }

    /// Writes a lane's field into its row's window, whose bits there are 0.
    pub(crate) fn write(&self, window: &mut [u8], lane: usize, field: u32) {
        let bytes = (field << self.shift(lane)).to_le_bytes();
        let first = usize::from(self.bytes[lane][0]);
        for (byte, bits) in window[first..].iter_mut().zip(bytes) {
            *byte |= bits;
        }
    }

    /// A lane's field in a window, which `bytes` starts with; some bytes follow it.
    fn field(&self, bytes: &[u8], lane: usize) -> u32 {
        let [a, b, c, d, ..] = bytes[usize::from(self.bytes[lane][0])..] else {
            return 0;
        };
        (u32::from_le_bytes([a, b, c, d]) & self.mask[lane]) >> self.shift(lane)
    }

    /// The keys in a window.
    ///
    /// # Safety
    /// The CPU has what `L` needs; `window` is valid for reading 20 bytes.
    #[inline(always)]
    pub(crate) unsafe fn keys<L: Eight>(&self, window: *const u8) -> L {
        // SAFETY: the caller's contract; rows are aligned.
        unsafe {
            let fields = L::fields(window, &self.bytes, &self.mask);
            fields.mul_add(L::load(self.scale.as_ptr()), L::load(self.min.as_ptr()))
        }
    }
}

impl Packed {
    /// Frames of `bits` bits each, all 0.
    pub(crate) fn empty(rows: Vec<PackedRow>, windows: Vec<u32>, bits: u32, frames: usize) -> Self {
        let stride = bits.div_ceil(8) as usize;
        Self {
            rows,
            windows,
            bytes: vec![0; stride * frames + PADDING],
            stride,
        }
    }

    /// The same with the bytes of all frames, without the padding. None if they are not as many as
    /// that takes.
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

    /// The key of a lane of a row.
    pub(crate) fn key(&self, frame: usize, row: usize, lane: usize) -> f32 {
        let window = frame * self.stride + self.windows[row] as usize;
        let row = &self.rows[row];
        row.value(lane, row.field(&self.bytes[window..], lane))
    }

    /// Bytes in the format.
    pub(crate) fn size(&self) -> usize {
        self.rows.len() * ROW_BYTES + self.bytes.len()
    }

    /// Bytes in memory beyond that: rows are held ready to be read.
    pub(crate) fn unfolded(&self) -> usize {
        self.rows.len() * (size_of::<PackedRow>() + size_of::<u32>() - ROW_BYTES)
    }
}

/// The value of [`Clip::packed_words`] for a property that is at rest.
const AT_REST: u32 = u32::MAX;
/// The flag of one that moves.
const MOVES: u32 = 1 << 31;
const HEADER_WORDS: usize = 11;

impl Clip {
    /// All of the clip in 32-bit words, to be uploaded as it is: any time is found at once, with a
    /// few shifts. `None` unless its keys are
    /// [`ClipPacking::Quantised`](crate::clip::ClipPacking::Quantised).
    ///
    /// Bytes lie in words as little-endian machines have them, and bits in bytes: bit `i` of all is
    /// bit `i % 32` of word `i / 32`. Joints are in blocks of eight: joint `j` is lane `j % 8` of
    /// block `j / 8`.
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
    /// Frame `i` is at the time of frame 0 plus `(i + offset / 65536)` over word 9, but the last,
    /// which is at the time of word 8. Offsets are signed and of 16 bits, less than 2¹⁵ in size,
    /// one a frame. So a time lies after the frame that it would lie after without offsets, or
    /// after a neighbour of that.
    ///
    /// The table has three words a block: for rotation (components x, y, z, w), translation (x, y,
    /// z) and scale (x, y, z).
    ///
    /// - `0xFFFFFFFF`: as in the rest pose; no difference, if the clip is additive.
    /// - Less than 2³¹: constant. It is the number of the first of the components' constants, each
    ///   of 8 words, which are the lanes' values as `f32`.
    /// - Otherwise it moves, and less 2³¹ it is the number of the first of the components' rows.
    ///
    /// Tracks that are kept as the file has them
    /// ([`ClipReport::kept_tracks`](crate::clip::ClipReport::kept_tracks)) are not part of this, and what
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
    /// `(window + byte) * 8 + down - up`; or, take the 32 bits from byte `window + byte` on, shift
    /// them up by `up` and then down by `down`, where a shift by 32 gives 0. The key's value is
    /// `min + scale * field`.
    ///
    /// Between the frames before and after a time, with `u` the part of the way, translations and
    /// scales are `a + (b - a) u`. Rotations are that with `u + w (k / 3 + w k (0.14148876 - 0.2885359
    /// u (1 - u)))` instead, where `w = 1 - a·b` and `k = u (1 - u) (1 - 2u)`, brought to length 1.
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
