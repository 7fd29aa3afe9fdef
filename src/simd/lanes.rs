//! The vector operations that the kernels need, as traits over registers of any width.

/// Number of joints in a block of keys, and of vertices in a block of a mesh.
pub(crate) const WIDTH: usize = 8;

/// One number per lane.
#[repr(C, align(32))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Row(pub(crate) [f32; WIDTH]);

/// `Self::WIDTH` numbers in the registers of a vector unit.
///
/// A value proves that the CPU has that unit: functions that create one from nothing are `unsafe`
/// and require it.
pub(crate) trait Lanes: Copy {
    /// The number of lanes.
    const WIDTH: usize;

    /// Loads one number per lane.
    ///
    /// # Safety
    /// The CPU has the vector unit. `from` is valid for reading `Self::WIDTH` numbers and aligned
    /// to their total size.
    unsafe fn load(from: *const f32) -> Self;
    /// Copies a number to all lanes.
    ///
    /// # Safety
    /// The CPU has the vector unit.
    unsafe fn splat(value: f32) -> Self;
    /// Stores one number per lane.
    ///
    /// # Safety
    /// `to` is valid for writing `Self::WIDTH` numbers and aligned to their total size.
    unsafe fn store(self, to: *mut f32);

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// Computes `self * a + b`, rounded once if the unit supports it.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Computes `b - self * a`, rounded once if the unit supports it.
    fn neg_mul_add(self, a: Self, b: Self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// Negates the lanes in which `by` is less than 0.
    fn flipped_by(self, by: Self) -> Self;
    /// Selects `negative` in lanes where `self` is less than 0, and `other` in the others.
    fn choose(self, negative: Self, other: Self) -> Self;
    /// Compares lanes: bit `i` is set if lane `i` is less than that of `other`.
    fn below(self, other: Self) -> u32;
}

/// Lanes of instances, of any width, with the operations that gather and scatter them.
pub(crate) trait Wide: Lanes {
    /// Transposes the 4×4 numbers of each four lanes.
    fn transposed(rows: [Self; 4]) -> [Self; 4];

    /// Loads four numbers, from number `half` on, of row `row` and of every fourth row after it.
    ///
    /// # Safety
    /// The CPU has the vector unit, there are `Self::WIDTH` rows, `row < 4`, and `half` is 0 or 4.
    unsafe fn load_rows(rows: *const Row, row: usize, half: usize) -> Self;

    /// Loads rows as columns: lane `i` of result `j` is number `j` of row `i`.
    ///
    /// # Safety
    /// The CPU has the vector unit, and there are `Self::WIDTH` rows.
    #[inline(always)]
    unsafe fn columns(rows: *const Row) -> [Self; WIDTH] {
        // SAFETY: the caller guarantees the vector unit and the rows.
        unsafe {
            let [a, b, c, d] = Self::transposed([
                Self::load_rows(rows, 0, 0),
                Self::load_rows(rows, 1, 0),
                Self::load_rows(rows, 2, 0),
                Self::load_rows(rows, 3, 0),
            ]);
            let [e, f, g, h] = Self::transposed([
                Self::load_rows(rows, 0, 4),
                Self::load_rows(rows, 1, 4),
                Self::load_rows(rows, 2, 4),
                Self::load_rows(rows, 3, 4),
            ]);
            [a, b, c, d, e, f, g, h]
        }
    }

    /// Writes the four numbers of each lane to that lane's pointer, plus `offset` bytes.
    ///
    /// # Safety
    /// There are `Self::WIDTH` pointers. Each, plus `offset`, is valid for writing four numbers and
    /// aligned to 16 bytes.
    unsafe fn write4(columns: [Self; 4], to: *const *mut u8, offset: usize);

    /// The number of 4-number rows that are best written at once.
    ///
    /// It is 1, or 2 with [`Self::write8`], or 4 with [`Self::write16`] if that fills whole lines
    /// of 64 bytes. Stores that straddle two lines cost more than those that fill one.
    const ROWS_AT_ONCE: usize = 1;

    /// Does the same as [`Self::write4`] for two rows.
    ///
    /// # Safety
    /// As for [`Self::write4`], with enough memory for both rows.
    #[inline(always)]
    unsafe fn write8([a, b]: [[Self; 4]; 2], to: *const *mut u8, offset: usize) {
        // SAFETY: the caller guarantees pointers with memory for all rows.
        unsafe {
            Self::write4(a, to, offset);
            Self::write4(b, to, offset + size_of::<[f32; 4]>());
        }
    }

    /// Does the same as [`Self::write4`] for four rows.
    ///
    /// # Safety
    /// As for [`Self::write4`], with enough memory for all four rows.
    #[inline(always)]
    unsafe fn write16([a, b, c, d]: [[Self; 4]; 4], to: *const *mut u8, offset: usize) {
        // SAFETY: the caller guarantees pointers with memory for all rows.
        unsafe {
            Self::write8([a, b], to, offset);
            Self::write8([c, d], to, offset + size_of::<[f32; 8]>());
        }
    }
}

/// Four lanes in a register that every CPU of the target has, with what blocks of eight need.
pub(crate) trait Four: Wide {
    /// Does the same as [`Eight::fields`] for four lanes.
    ///
    /// # Safety
    /// As there, with four elements in each table.
    unsafe fn fields(from: *const u8, bytes: *const [u8; 4], mask: *const u32) -> Self;

    /// Writes x, y, z of each lane in ascending order: 12 numbers.
    ///
    /// # Safety
    /// `to` is valid for writing 12 numbers.
    unsafe fn write_packed3(vectors: [Self; 3], to: *mut f32);

    /// Writes x, y, z, w of each lane in ascending order: 16 numbers.
    ///
    /// # Safety
    /// `to` is valid for writing 16 numbers.
    unsafe fn write_packed4(vectors: [Self; 4], to: *mut f32);
}

/// Lanes of a block of joints: as many as a [`Row`] has.
pub(crate) trait Eight: Lanes {
    /// Extracts one packed integer per lane and converts it to `f32`.
    ///
    /// For each lane, `bytes` has the indices of four consecutive bytes, the first of them less
    /// than 16. They form 32 bits, which are masked with the lane's `mask`. The result is less than
    /// 2³¹ and has at most 24 bits between its lowest and its highest set bit. Bits beyond 16 bytes
    /// are masked out.
    ///
    /// # Safety
    /// The CPU has the vector unit. `from` is valid for reading 20 bytes. `mask` and `bytes` are
    /// aligned to their total size.
    unsafe fn fields(from: *const u8, bytes: &[[u8; 4]; WIDTH], mask: &[u32; WIDTH]) -> Self;
}
