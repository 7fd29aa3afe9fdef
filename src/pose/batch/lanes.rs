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
