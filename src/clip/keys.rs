//! Packed keys: integers of few bits. The format, and the portable code that reads it.

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
    pub(super) mask: [u32; WIDTH],
    /// Indices of the four consecutive bytes in the row's window that hold a lane's field.
    pub(super) bytes: [[u8; 4]; WIDTH],
}

const _: () = assert!(size_of::<PackedRow>() == 128);

/// Size of a row in the packed format.
pub(super) const ROW_BYTES: usize = 76;

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
    pub(crate) fn lay_out(widths: [u32; WIDTH], start_bit: u32) -> Option<(Self, u32, u32)> {
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
    pub(super) fn shift(&self, lane: usize) -> u32 {
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

    /// Decodes the keys in the window at the start of `bytes`, as [`Self::keys`] without a CPU's
    /// vector unit.
    fn values(&self, bytes: &[u8]) -> [f32; WIDTH] {
        core::array::from_fn(|lane| {
            let [a, b, c, d, ..] = bytes[usize::from(self.bytes[lane][0])..] else {
                return 0.0;
            };
            let field = u32::from_le_bytes([a, b, c, d]) & self.mask[lane];
            self.min[lane] + self.scale[lane] * field as f32
        })
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

    pub(crate) fn key(&self, frame: usize, row: usize, lane: usize) -> f32 {
        let window = frame * self.stride + self.windows[row] as usize;
        let row = &self.rows[row];
        row.value(lane, row.field(&self.bytes[window..], lane))
    }

    #[cfg(feature = "vulkan")]
    pub(crate) fn field(&self, frame: usize, row: usize, lane: usize) -> u32 {
        let window = frame * self.stride + self.windows[row] as usize;
        self.rows[row].field(&self.bytes[window..], lane)
    }

    pub(crate) fn keys(&self, frame: usize, row: usize) -> [f32; WIDTH] {
        let window = frame * self.stride + self.windows[row] as usize;
        self.rows[row].values(&self.bytes[window..])
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
