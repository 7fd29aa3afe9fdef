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

/// A step is not larger unless keys are so large that they would have too many bits.
const LARGEST_STEP: f32 = 1e30;

/// The encoding of the eight fields of a row, decoded and ready for use.
///
/// A row is one component of one block of joints.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
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
        let mut row = Self::default();
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
        self.mask[lane].trailing_zeros() % u32::BITS
    }

    /// The step of a lane's field.
    pub(crate) fn scale(&self, lane: usize) -> f32 {
        self.scale[lane] * (1_u32 << self.shift(lane)) as f32
    }

    /// The number of bits in each lane's field.
    #[cfg(feature = "vulkan")]
    pub(crate) fn widths(&self) -> [u8; WIDTH] {
        self.mask.map(|mask| mask.count_ones() as u8)
    }

    /// Writes a lane's field into its row's window, in which the bits are still 0.
    pub(crate) fn write(&self, window: &mut [u8], lane: usize, field: u32) {
        let bytes = (field << self.shift(lane)).to_le_bytes();
        let first = usize::from(self.bytes[lane][0]);
        for (byte, bits) in window[first..].iter_mut().zip(bytes) {
            *byte |= bits;
        }
    }

    /// The bits of a lane's field, not shifted down. `bytes` starts with the row's window.
    fn bits(&self, bytes: &[u8], lane: usize) -> u32 {
        let bytes = bytes[usize::from(self.bytes[lane][0])..].first_chunk();
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes) & self.mask[lane])
    }

    /// Decodes one key, as [`Self::keys`] without a CPU's vector unit.
    fn key(&self, bytes: &[u8], lane: usize) -> f32 {
        self.min[lane] + self.scale[lane] * self.bits(bytes, lane) as f32
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
    /// Packs the columns `[row][lane]`. `None` if the fields of a row do not fit into a window, or
    /// keys are not exact.
    pub(super) fn new(columns: &[[Column; WIDTH]], frames: usize) -> Option<Self> {
        let (mut rows, mut windows, mut bits) = (Vec::new(), Vec::new(), 0);
        for columns in columns {
            let mut widths = [0; WIDTH];
            for (column, width) in columns.iter().zip(&mut widths) {
                if let Column::Steps(step, steps) = column {
                    let [least, most] = ends(steps);
                    *width = 32 - most.abs_diff(least).leading_zeros();
                    step.holds(steps).then_some(())?;
                }
            }
            let (mut row, window, end) = PackedRow::lay_out(widths, bits)?;
            for (lane, column) in columns.iter().enumerate() {
                (row.min[lane], row.scale[lane]) = match column {
                    Column::Fixed(value) => (*value, 0.0),
                    Column::Steps(step, steps) => {
                        let [least, _] = ends(steps);
                        let scale = step.value() / (1_u32 << row.shift(lane)) as f32;
                        (step.value() * least as f32, scale)
                    }
                };
            }
            rows.push(row);
            windows.push(window);
            bits = end;
            // Positions of bits and bytes have 32 bits.
            if bits >= u32::MAX / 2 {
                return None;
            }
        }
        let stride = bits.div_ceil(8) as usize;
        let mut bytes = vec![0; stride.checked_mul(frames)?.checked_add(PADDING)?];
        for (columns, (row, window)) in columns.iter().zip(rows.iter().zip(&windows)) {
            for (lane, column) in columns.iter().enumerate() {
                let Column::Steps(_, steps) = column else {
                    continue;
                };
                let [least, _] = ends(steps);
                let frames = bytes[*window as usize..].chunks_mut(stride.max(1));
                for (step, window) in steps.iter().zip(frames) {
                    row.write(window, lane, (step - least) as u32);
                }
            }
        }
        Some(Self {
            rows,
            windows,
            bytes,
            stride,
        })
    }

    /// The keys of one lane of a row.
    pub(super) fn column(&self, row: usize, lane: usize) -> Column {
        let own = &self.rows[row];
        let scale = own.scale(lane);
        let Some(step) = Step::from_upper((scale.to_bits() >> 16) as u16) else {
            return Column::Fixed(own.min[lane]);
        };
        // Exact, as all keys are.
        let least = (own.min[lane] / scale) as i32;
        let frames = self.bytes[..self.bytes.len() - PADDING].len() / self.stride.max(1);
        let fields = (0..frames.max(1)).map(|frame| least + self.field(frame, row, lane) as i32);
        Column::Steps(step, fields.collect())
    }

    /// The bytes from a row's window in a frame on.
    fn window(&self, frame: usize, row: usize) -> &[u8] {
        &self.bytes[frame * self.stride + self.windows[row] as usize..]
    }

    pub(crate) fn key(&self, frame: usize, row: usize, lane: usize) -> f32 {
        self.rows[row].key(self.window(frame, row), lane)
    }

    pub(crate) fn keys(&self, frame: usize, row: usize) -> [f32; WIDTH] {
        let (own, window) = (&self.rows[row], self.window(frame, row));
        core::array::from_fn(|lane| own.key(window, lane))
    }

    pub(crate) fn field(&self, frame: usize, row: usize, lane: usize) -> u32 {
        let own = &self.rows[row];
        own.bits(self.window(frame, row), lane) >> own.shift(lane)
    }

    /// The least and the greatest key of a lane of a row.
    pub(super) fn range(&self, frames: usize, row: usize, lane: usize) -> [f32; 2] {
        let own = &self.rows[row];
        let fields = (0..frames).map(|frame| own.bits(self.window(frame, row), lane));
        // The field of the least key is 0.
        let most = fields.max().unwrap_or(0);
        [own.min[lane], own.min[lane] + own.scale[lane] * most as f32]
    }

    /// Size in memory, in bytes.
    pub(crate) fn size(&self) -> usize {
        size_of_val(&self.rows[..]) + size_of_val(&self.windows[..]) + self.bytes.len()
    }
}

/// The keys of one component of one joint, in every frame.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Column {
    Fixed(f32),
    /// Multiples of a step: one for each frame, or one for all.
    Steps(Step, Vec<i32>),
}

impl Column {
    /// Writes the keys of all frames.
    pub(super) fn fill(&self, keys: &mut [f32]) {
        match self {
            Self::Fixed(value) => keys.fill(*value),
            Self::Steps(step, multiples) => {
                for (key, multiple) in keys.iter_mut().zip(multiples) {
                    *key = step.value() * *multiple as f32;
                }
            }
        }
    }
}

/// The least and the greatest multiple.
fn ends(multiples: &[i32]) -> [i32; 2] {
    let (least, most) = (multiples.iter().min(), multiples.iter().max());
    [least, most].map(|end| end.copied().unwrap_or(0))
}

/// The step of keys, which are multiples of it: the upper 16 bits of an `f32`.
///
/// It has so few significant bits that all keys are exact, whether or not a multiplication and an
/// addition are fused. So opposite keys are exact opposites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step(u16);

impl Step {
    /// The largest step that is at most `most`, for keys of at most `greatest`. Multiples of it
    /// have no more than [`MAX_BITS`] bits with a sign.
    pub(super) fn new(most: f32, greatest: f32) -> Self {
        // A key may be half a step beyond the range, and is finite.
        let most = most.min(LARGEST_STEP);
        // A multiple and the step together have 24 significant bits.
        let multiples = f64::from(greatest) / f64::from(most);
        let bits = (1..MAX_BITS - 1)
            .find(|bits| multiples < f64::from(1_u32 << bits))
            .unwrap_or(MAX_BITS - 1);
        // One more, because rounding the step down makes multiples larger.
        let spare = (MAX_BITS - (bits + 1)).clamp(1, 8);
        let mask = u32::MAX << (24 - spare);
        let least = greatest / (1_u32 << (MAX_BITS - 2)) as f32;
        let step = f32::from_bits(most.max(least).to_bits() & mask);
        let upper = (step.to_bits() >> 16) as u16;
        Self(upper.clamp(LEAST_SCALE, 0x7F00))
    }

    /// The step with these upper bits. `None` if it is not one.
    pub(super) fn from_upper(upper: u16) -> Option<Self> {
        (LEAST_SCALE..=0x7F7F)
            .contains(&upper)
            .then_some(Self(upper))
    }

    /// Returns true if these multiples of the step are exact and finite.
    fn holds(self, multiples: &[i32]) -> bool {
        // With the bit that is not written.
        let significant =
            |bits: u32| (32 - bits.leading_zeros()).saturating_sub(bits.trailing_zeros());
        let own = significant(u32::from(self.0 & 0x7F | 0x80));
        let exact = |multiple: &i32| {
            let bits = significant(multiple.unsigned_abs());
            own + bits <= MAX_BITS && (self.value() * *multiple as f32).is_finite()
        };
        multiples.iter().all(exact)
    }

    /// Twice the step. `None` if that is too large.
    pub(super) fn doubled(self) -> Option<Self> {
        Self::from_upper(self.0 + 0x80)
    }

    pub(super) const fn upper(self) -> u16 {
        self.0
    }

    pub(super) fn value(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}
