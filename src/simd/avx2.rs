//! Eight lanes in an AVX2 register, with fused multiply-add.

use super::intrinsics::one_intrinsic_each;
use super::lanes::{Eight, Lanes, Row, WIDTH, Wide};
use core::arch::x86_64::*;

/// Eight numbers. A value exists only on CPUs with AVX2 and FMA, which every intrinsic below needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(pub(crate) __m256);

// SAFETY of the intrinsics: a value of this type exists only on CPUs with AVX2 and FMA, because the
// functions that create one from nothing require it in their contract.
impl Lanes for Avx2 {
    const WIDTH: usize = 8;

    one_intrinsic_each! {
        load: _mm256_load_ps,
        splat: _mm256_set1_ps,
        store: _mm256_store_ps,
        add(other): _mm256_add_ps,
        sub(other): _mm256_sub_ps,
        mul(other): _mm256_mul_ps,
        div(other): _mm256_div_ps,
        min(other): _mm256_min_ps,
        max(other): _mm256_max_ps,
        sqrt(): _mm256_sqrt_ps,
        mul_add(a, b): _mm256_fmadd_ps,
        neg_mul_add(a, b): _mm256_fnmadd_ps,
    }

    #[inline(always)]
    fn flipped_by(self, by: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2.
        Self(unsafe {
            let negative = _mm256_cmp_ps::<_CMP_LT_OQ>(by.0, _mm256_setzero_ps());
            _mm256_xor_ps(self.0, _mm256_and_ps(negative, _mm256_set1_ps(-0.0)))
        })
    }

    #[inline(always)]
    fn choose(self, negative: Self, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2.
        Self(unsafe {
            let below = _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, _mm256_setzero_ps());
            _mm256_blendv_ps(other.0, negative.0, below)
        })
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        // SAFETY: `self` exists, so the CPU has AVX2.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)) as u32 }
    }
}

impl Wide for Avx2 {
    #[inline(always)]
    fn transposed(rows: [Self; 4]) -> [Self; 4] {
        // SAFETY: the vectors exist, so the CPU has AVX2.
        unsafe {
            let a = _mm256_unpacklo_ps(rows[0].0, rows[1].0); // x0 x1 y0 y1
            let b = _mm256_unpackhi_ps(rows[0].0, rows[1].0); // z0 z1 w0 w1
            let c = _mm256_unpacklo_ps(rows[2].0, rows[3].0); // x2 x3 y2 y3
            let d = _mm256_unpackhi_ps(rows[2].0, rows[3].0); // z2 z3 w2 w3
            [
                Self(_mm256_shuffle_ps::<0b01_00_01_00>(a, c)),
                Self(_mm256_shuffle_ps::<0b11_10_11_10>(a, c)),
                Self(_mm256_shuffle_ps::<0b01_00_01_00>(b, d)),
                Self(_mm256_shuffle_ps::<0b11_10_11_10>(b, d)),
            ]
        }
    }

    // The halves are loaded directly from memory, which needs no shuffle.
    #[inline(always)]
    unsafe fn load_rows(rows: *const Row, row: usize, half: usize) -> Self {
        // SAFETY: the caller guarantees eight rows. Rows are 32 bytes and aligned to that.
        Self(unsafe {
            let low = rows.add(row).cast::<f32>().add(half);
            let high = rows.add(row + 4).cast::<f32>().add(half);
            _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(_mm_load_ps(low)), _mm_load_ps(high))
        })
    }

    #[inline(always)]
    unsafe fn write4(columns: [Self; 4], to: *const *mut u8, offset: usize) {
        // SAFETY: vectors exist, so the CPU has the unit; the caller guarantees the pointers.
        unsafe {
            for (lane, row) in Self::transposed(columns).iter().enumerate() {
                let (low, high) = (*to.add(lane), *to.add(lane + 4));
                _mm_store_ps(low.add(offset).cast(), _mm256_castps256_ps128(row.0));
                _mm_store_ps(high.add(offset).cast(), _mm256_extractf128_ps::<1>(row.0));
            }
        }
    }

    const ROWS_AT_ONCE: usize = 2;

    #[inline(always)]
    unsafe fn write8([a, b]: [[Self; 4]; 2], to: *const *mut u8, offset: usize) {
        // SAFETY: vectors exist, so the CPU has the unit; the caller guarantees the pointers.
        unsafe {
            let (a, b) = (Self::transposed(a), Self::transposed(b));
            for lane in 0..4 {
                let low = _mm256_permute2f128_ps::<0x20>(a[lane].0, b[lane].0);
                let high = _mm256_permute2f128_ps::<0x31>(a[lane].0, b[lane].0);
                _mm256_storeu_ps((*to.add(lane)).add(offset).cast(), low);
                _mm256_storeu_ps((*to.add(lane + 4)).add(offset).cast(), high);
            }
        }
    }
}

impl Eight for Avx2 {
    #[inline(always)]
    unsafe fn fields(from: *const u8, bytes: &[[u8; 4]; WIDTH], mask: &[u32; WIDTH]) -> Self {
        // SAFETY: the caller guarantees 20 readable bytes. The tables are 32 bytes each, and
        // aligned.
        Self(unsafe {
            let window = _mm256_broadcastsi128_si256(_mm_loadu_si128(from.cast()));
            let bits = _mm256_shuffle_epi8(window, _mm256_load_si256(bytes.as_ptr().cast()));
            let fields = _mm256_and_si256(bits, _mm256_load_si256(mask.as_ptr().cast()));
            _mm256_cvtepi32_ps(fields)
        })
    }
}
