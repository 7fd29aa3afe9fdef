//! Sixteen lanes in an AVX-512 register.

use super::intrinsics::one_intrinsic_each;
use super::lanes::{Lanes, Row, WIDTH, Wide};
use core::arch::x86_64::*;

/// Sixteen numbers. A value exists only on CPUs with AVX-512 F and DQ, which every intrinsic below
/// needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(__m512);

/// Transposes the 4×4 matrix whose elements are quarters of registers.
///
/// # Safety
/// The CPU has AVX-512 F.
#[inline(always)]
unsafe fn transpose_quarters([a, b, c, d]: [__m512; 4]) -> [__m512; 4] {
    // SAFETY: the caller guarantees that the CPU has AVX-512.
    unsafe {
        let low = _mm512_shuffle_f32x4::<0b01_00_01_00>(a, b); // a0 a1 b0 b1
        let high = _mm512_shuffle_f32x4::<0b11_10_11_10>(a, b); // a2 a3 b2 b3
        let lower = _mm512_shuffle_f32x4::<0b01_00_01_00>(c, d); // c0 c1 d0 d1
        let higher = _mm512_shuffle_f32x4::<0b11_10_11_10>(c, d); // c2 c3 d2 d3
        [
            _mm512_shuffle_f32x4::<0b10_00_10_00>(low, lower),
            _mm512_shuffle_f32x4::<0b11_01_11_01>(low, lower),
            _mm512_shuffle_f32x4::<0b10_00_10_00>(high, higher),
            _mm512_shuffle_f32x4::<0b11_01_11_01>(high, higher),
        ]
    }
}

// SAFETY of the intrinsics: a value of this type exists only on CPUs with these extensions, because
// the functions that create one from nothing require it in their contract.
impl Lanes for Avx512 {
    const WIDTH: usize = 16;

    one_intrinsic_each! {
        load: _mm512_load_ps,
        splat: _mm512_set1_ps,
        store: _mm512_store_ps,
        add(other): _mm512_add_ps,
        sub(other): _mm512_sub_ps,
        mul(other): _mm512_mul_ps,
        div(other): _mm512_div_ps,
        min(other): _mm512_min_ps,
        max(other): _mm512_max_ps,
        sqrt(): _mm512_sqrt_ps,
        mul_add(a, b): _mm512_fmadd_ps,
        neg_mul_add(a, b): _mm512_fnmadd_ps,
    }

    #[inline(always)]
    fn flipped_by(self, by: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX-512.
        Self(unsafe {
            let negative = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(by.0, _mm512_setzero_ps());
            _mm512_mask_xor_ps(self.0, negative, self.0, _mm512_set1_ps(-0.0))
        })
    }

    #[inline(always)]
    fn choose(self, negative: Self, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX-512.
        Self(unsafe {
            let below = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, _mm512_setzero_ps());
            _mm512_mask_blend_ps(below, other.0, negative.0)
        })
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        // SAFETY: `self` exists, so the CPU has AVX-512.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0).into() }
    }
}

impl Wide for Avx512 {
    #[inline(always)]
    fn transposed(rows: [Self; 4]) -> [Self; 4] {
        // SAFETY: the vectors exist, so the CPU has AVX-512.
        unsafe {
            let a = _mm512_unpacklo_ps(rows[0].0, rows[1].0); // x0 x1 y0 y1
            let b = _mm512_unpackhi_ps(rows[0].0, rows[1].0); // z0 z1 w0 w1
            let c = _mm512_unpacklo_ps(rows[2].0, rows[3].0); // x2 x3 y2 y3
            let d = _mm512_unpackhi_ps(rows[2].0, rows[3].0); // z2 z3 w2 w3
            [
                Self(_mm512_shuffle_ps::<0b01_00_01_00>(a, c)),
                Self(_mm512_shuffle_ps::<0b11_10_11_10>(a, c)),
                Self(_mm512_shuffle_ps::<0b01_00_01_00>(b, d)),
                Self(_mm512_shuffle_ps::<0b11_10_11_10>(b, d)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn load_rows(rows: *const Row, row: usize, half: usize) -> Self {
        // SAFETY: the caller guarantees sixteen rows. Rows are 32 bytes and aligned to that.
        Self(unsafe {
            let start = rows.add(row).cast::<f32>().add(half);
            let one = _mm512_castps128_ps512(_mm_load_ps(start));
            let two = _mm512_insertf32x4::<1>(one, _mm_load_ps(start.add(4 * WIDTH)));
            let three = _mm512_insertf32x4::<2>(two, _mm_load_ps(start.add(8 * WIDTH)));
            _mm512_insertf32x4::<3>(three, _mm_load_ps(start.add(12 * WIDTH)))
        })
    }

    #[inline(always)]
    unsafe fn write4(columns: [Self; 4], to: *const *mut u8, offset: usize) {
        // SAFETY: vectors exist, so the CPU has the unit; the caller guarantees the pointers.
        unsafe {
            for (lane, row) in Self::transposed(columns).iter().enumerate() {
                let parts = [
                    _mm512_castps512_ps128(row.0),
                    _mm512_extractf32x4_ps::<1>(row.0),
                    _mm512_extractf32x4_ps::<2>(row.0),
                    _mm512_extractf32x4_ps::<3>(row.0),
                ];
                for (quarter, part) in parts.iter().enumerate() {
                    let to = *to.add(lane + 4 * quarter);
                    _mm_store_ps(to.add(offset).cast(), *part);
                }
            }
        }
    }

    const ROWS_AT_ONCE: usize = 4;

    #[inline(always)]
    unsafe fn write16(rows: [[Self; 4]; 4], to: *const *mut u8, offset: usize) {
        // SAFETY: vectors exist, so the CPU has the unit; the caller guarantees the pointers.
        unsafe {
            let [a, b, c, d] = rows;
            let (a, b) = (Self::transposed(a), Self::transposed(b));
            let (c, d) = (Self::transposed(c), Self::transposed(d));
            for lane in 0..4 {
                let lines = transpose_quarters([a[lane].0, b[lane].0, c[lane].0, d[lane].0]);
                for (quarter, line) in lines.iter().enumerate() {
                    let to = *to.add(lane + 4 * quarter);
                    _mm512_storeu_ps(to.add(offset).cast(), *line);
                }
            }
        }
    }
}
