//! Eight numbers side by side: what the kernel needs of a vector unit, and plain code for it.

use super::super::Mat3x4;

/// How many instances are evaluated together, and how many joints a block of keys has.
pub(super) const WIDTH: usize = 8;

/// One number of each lane.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Row(pub(super) [f32; WIDTH]);

/// Eight numbers in a vector unit's registers.
///
/// A value proves that the CPU has that unit: what makes one from nothing is `unsafe` and demands it.
pub(super) trait Lanes: Copy {
    /// # Safety
    /// The CPU has the vector unit; `from` is valid for reading.
    unsafe fn load(from: *const Row) -> Self;
    /// # Safety
    /// The CPU has the vector unit.
    unsafe fn splat(value: f32) -> Self;
    /// # Safety
    /// The CPU has the vector unit.
    unsafe fn load_unaligned(from: &[f32; WIDTH]) -> Self;
    /// Numbers of which these are the upper 16 bits, the lower being 0.
    ///
    /// # Safety
    /// The CPU has the vector unit.
    unsafe fn upper_halves(from: &[u16; WIDTH]) -> Self;
    /// For each lane, the 32 bits at byte number `byte`, less than 16, shifted up and then down: whole numbers of at most 24 bits. A
    /// shift by 32 gives 0. What lies beyond 16 bytes is shifted out.
    ///
    /// # Safety
    /// The CPU has the vector unit; `from` is valid for reading 20 bytes.
    unsafe fn fields(
        from: *const u8,
        byte: &[u8; WIDTH],
        up: &[u8; WIDTH],
        down: &[u8; WIDTH],
    ) -> Self;
    fn store(self, to: &mut Row);

    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    /// `self * a + b`, rounded once where the CPU can.
    fn times_plus(self, a: Self, b: Self) -> Self;
    /// `b - self * a`, rounded once where the CPU can.
    fn times_from(self, a: Self, b: Self) -> Self;
    /// Negated where `by` is less than 0.
    fn flipped_by(self, by: Self) -> Self;

    /// Lane `i` of result `j` is lane `j` of row `i`.
    ///
    /// # Safety
    /// The CPU has the vector unit.
    unsafe fn transpose(rows: &[Row; WIDTH]) -> [Self; WIDTH];

    /// Writes the four numbers of each lane to where that lane's pointer goes, `offset` bytes on.
    ///
    /// # Safety
    /// Each pointer is valid for writing them, and aligned to 16 bytes with `offset`.
    unsafe fn write4(columns: [Self; 4], to: &[*mut Mat3x4; WIDTH], offset: usize);
}

/// Plain code, which compilers vectorise for SSE2 and NEON.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain([f32; WIDTH]);

/// `a * b + c`, in one instruction where that is a matter of course.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

impl Plain {
    #[inline(always)]
    fn zip(mut self, other: Self, each: impl Fn(f32, f32) -> f32) -> Self {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a = each(*a, b);
        }
        self
    }
}

impl Lanes for Plain {
    #[inline(always)]
    unsafe fn load(from: *const Row) -> Self {
        // SAFETY: the caller's contract.
        Self(unsafe { (*from).0 })
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self([value; WIDTH])
    }

    #[inline(always)]
    unsafe fn load_unaligned(from: &[f32; WIDTH]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    unsafe fn upper_halves(from: &[u16; WIDTH]) -> Self {
        Self(from.map(|bits| f32::from_bits(u32::from(bits) << 16)))
    }

    #[inline(always)]
    unsafe fn fields(
        from: *const u8,
        byte: &[u8; WIDTH],
        up: &[u8; WIDTH],
        down: &[u8; WIDTH],
    ) -> Self {
        let mut fields = [0.0; WIDTH];
        for (lane, field) in fields.iter_mut().enumerate() {
            let at = from.wrapping_add(usize::from(byte[lane] & 15));
            // SAFETY: the caller's contract: at most bytes 15 to 18.
            let bits = u32::from_le(unsafe { at.cast::<u32>().read_unaligned() });
            // Not more than 32, by the contract; a shift by 32 empties a number of 32 bits, but not one of 64.
            let bits = u64::from(bits) << (up[lane] & 63) & u64::from(u32::MAX);
            // The numbers are positive and small, and conversions of signed ones are faster.
            *field = (bits >> (down[lane] & 63)) as i32 as f32;
        }
        Self(fields)
    }

    #[inline(always)]
    fn store(self, to: &mut Row) {
        to.0 = self.0;
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    #[inline(always)]
    fn times_plus(mut self, a: Self, b: Self) -> Self {
        for lane in 0..WIDTH {
            self.0[lane] = fused(self.0[lane], a.0[lane], b.0[lane]);
        }
        self
    }

    #[inline(always)]
    fn times_from(mut self, a: Self, b: Self) -> Self {
        for lane in 0..WIDTH {
            self.0[lane] = fused(-self.0[lane], a.0[lane], b.0[lane]);
        }
        self
    }

    #[inline(always)]
    fn flipped_by(self, by: Self) -> Self {
        self.zip(by, |a, by| if by < 0.0 { -a } else { a })
    }

    #[inline(always)]
    unsafe fn transpose(rows: &[Row; WIDTH]) -> [Self; WIDTH] {
        std::array::from_fn(|j| Self(std::array::from_fn(|i| rows[i].0[j])))
    }

    #[inline(always)]
    unsafe fn write4(columns: [Self; 4], to: &[*mut Mat3x4; WIDTH], offset: usize) {
        for (lane, to) in to.iter().enumerate() {
            let row = columns.map(|column| column.0[lane]);
            // SAFETY: the caller's contract.
            unsafe { to.byte_add(offset).cast::<[f32; 4]>().write(row) };
        }
    }
}
