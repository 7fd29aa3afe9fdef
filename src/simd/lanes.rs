//! Numbers side by side: what the kernels of the pose level need of a vector unit. One source for

/// How many joints a block of keys has, and how many vertices a block of a mesh.
pub(crate) const WIDTH: usize = 8;

/// One number of each lane.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Row(pub(crate) [f32; WIDTH]);

/// `Self::WIDTH` numbers in a vector unit's registers.
///
/// A value proves that the CPU has that unit: what makes one from nothing is `unsafe` and demands
/// it.
pub(crate) trait Lanes: Copy {
    /// How many numbers there are.
    const WIDTH: usize;

    /// # Safety
    /// The CPU has the vector unit; `from` is valid for reading `WIDTH` numbers, and aligned to all
    /// of them.
    unsafe fn load(from: *const f32) -> Self;
    /// # Safety
    /// The CPU has the vector unit.
    unsafe fn splat(value: f32) -> Self;
    /// # Safety
    /// `to` is valid for writing `WIDTH` numbers, and aligned to all of them.
    unsafe fn store(self, to: *mut f32);

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// `self * a + b`, rounded once where the unit can.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `b - self * a`, rounded once where the unit can.
    fn neg_mul_add(self, a: Self, b: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// Negated where `by` is less than 0.
    fn flipped_by(self, by: Self) -> Self;
    /// In each lane `negative` if this is less than 0, else `other`.
    fn choose(self, negative: Self, other: Self) -> Self;
    /// Bit `i` is set if lane `i` is less than that of `other`.
    fn below(self, other: Self) -> u32;
}

/// Lanes of instances, of any width: what brings them together and apart.
pub(crate) trait Wide: Lanes {
    /// Lane `i` of result `j` is number `j` of row `i`.
    ///
    /// # Safety
    /// The CPU has the vector unit; there are `WIDTH` rows.
    unsafe fn columns(rows: *const Row) -> [Self; WIDTH];

    /// Writes the four numbers of each lane to where that lane's pointer goes, `offset` bytes on.
    ///
    /// # Safety
    /// There are `WIDTH` pointers, each valid for writing them, and aligned to 16 bytes with
    /// `offset`.
    unsafe fn write4(columns: [Self; 4], to: *const *mut u8, offset: usize);

    /// How many rows of four numbers are best written at once: 1, 2 with [`Self::write8`], or 4
    /// with [`Self::write16`] where that fills whole lines of 64 bytes. Stores that straddle two
    /// lines cost more than narrow ones.
    const ROWS_AT_ONCE: usize = 1;

    /// As [`Self::write4`], of two rows.
    ///
    /// # Safety
    /// As [`Self::write4`], with room for both.
    #[inline(always)]
    unsafe fn write8([a, b]: [[Self; 4]; 2], to: *const *mut u8, offset: usize) {
        // SAFETY: the caller's contract.
        unsafe {
            Self::write4(a, to, offset);
            Self::write4(b, to, offset + size_of::<[f32; 4]>());
        }
    }

    /// As [`Self::write4`], of four rows.
    ///
    /// # Safety
    /// As [`Self::write4`], with room for all four.
    #[inline(always)]
    unsafe fn write16([a, b, c, d]: [[Self; 4]; 4], to: *const *mut u8, offset: usize) {
        // SAFETY: the caller's contract.
        unsafe {
            Self::write8([a, b], to, offset);
            Self::write8([c, d], to, offset + size_of::<[f32; 8]>());
        }
    }
}

/// Lanes of a block of joints: as many as a [`Row`] has.
pub(crate) trait Eight: Lanes {
    /// For each lane, the 32 bits of the bytes with these numbers, one after the other from less
    /// than 16 on, as far as its mask has them: whole numbers of at most 24 bits between their
    /// lowest and their highest, less than 2³¹. What lies beyond 16 bytes is masked out.
    ///
    /// # Safety
    /// The CPU has the vector unit; `from` is valid for reading 20 bytes; the mask is aligned to
    /// all of it, and the numbers, too.
    unsafe fn fields(from: *const u8, bytes: &[[u8; 4]; WIDTH], mask: &[u32; WIDTH]) -> Self;
}
