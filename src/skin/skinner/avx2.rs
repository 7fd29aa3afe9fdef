//! Eight vertices in one AVX2 register.

use super::lanes::{Influence, Lanes};
use crate::palette::Mat3x4;
pub(super) use crate::simd::Avx2;
use crate::simd::Wide;
use core::arch::x86_64::*;

/// Row `row` of the entries of vertex `pair` and, in the upper half, of vertex `pair + 4`.
///
/// # Safety
/// The CPU must have AVX2. An entry must exist at every offset from `palette`.
#[inline(always)]
unsafe fn pair(palette: *const Mat3x4, influence: &Influence, pair: usize, row: usize) -> __m256 {
    // SAFETY: the caller guarantees AVX2 and an entry at each offset. An entry's rows are four
    // numbers each, aligned to 16 bytes, as `_mm_load_ps` requires.
    unsafe {
        let at = |vertex: usize| {
            let entry = palette.byte_add(influence.offsets[vertex] as usize);
            entry.cast::<f32>().add(row * 4)
        };
        let low = _mm256_castps128_ps256(_mm_load_ps(at(pair)));
        _mm256_insertf128_ps::<1>(low, _mm_load_ps(at(pair + 4)))
    }
}

/// Converts rows of vertices (0, 4), (1, 5), (2, 6), (3, 7) to columns of vertices 0 to 7.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn columns(rows: [__m256; 4]) -> [Avx2; 4] {
    let [a, b, c, d] = rows;
    Avx2::transposed([Avx2(a), Avx2(b), Avx2(c), Avx2(d)])
}

/// The blended rows of vertices `PAIR` and `PAIR + 4`.
///
/// Their weight is number `PAIR` of each half. `SPREAD` selects it for all four elements.
///
/// # Safety
/// As [`Lanes::blend`].
#[inline(always)]
unsafe fn blend_pair<const PAIR: usize, const SPREAD: i32>(
    palette: *const Mat3x4,
    influences: &[Influence],
) -> [__m256; 3] {
    // SAFETY: the caller guarantees AVX2 and FMA, at least one influence, and an entry at each
    // offset. A `Block` of weights is aligned to 32 bytes.
    unsafe {
        let first = influences.get_unchecked(0);
        let base = [
            pair(palette, first, PAIR, 0),
            pair(palette, first, PAIR, 1),
            pair(palette, first, PAIR, 2),
        ];
        let mut sum = base;
        for influence in influences.get_unchecked(1..) {
            let weights = _mm256_load_ps(influence.weights.0.as_ptr());
            let weight = _mm256_permute_ps::<SPREAD>(weights);
            for row in 0..3 {
                let entry = pair(palette, influence, PAIR, row);
                sum[row] = _mm256_fmadd_ps(weight, _mm256_sub_ps(entry, base[row]), sum[row]);
            }
        }
        sum
    }
}

// SAFETY of the intrinsics: a value of this type exists only if the CPU has AVX2 and FMA, because
// the functions that create one from nothing require them.
impl Lanes for Avx2 {
    #[inline(always)]
    fn root_inverse_or_1(self, tolerance: f32) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2.
        Self(unsafe {
            let one = _mm256_set1_ps(1.0);
            let inverse = _mm256_div_ps(one, _mm256_sqrt_ps(self.0));
            let off = _mm256_andnot_ps(_mm256_set1_ps(-0.0), _mm256_sub_ps(self.0, one));
            let near = _mm256_cmp_ps::<_CMP_LE_OQ>(off, _mm256_set1_ps(tolerance));
            _mm256_blendv_ps(inverse, one, near)
        })
    }

    #[inline(always)]
    fn where_above(self, by: Self, limit: f32, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has AVX2.
        Self(unsafe {
            let above = _mm256_cmp_ps::<_CMP_GT_OQ>(by.0, _mm256_set1_ps(limit));
            _mm256_blendv_ps(other.0, self.0, above)
        })
    }

    #[inline(always)]
    fn all_between(self, low: f32, high: f32) -> bool {
        // SAFETY: `self` exists, so the CPU has AVX2.
        unsafe {
            let above = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, _mm256_set1_ps(low));
            let below = _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, _mm256_set1_ps(high));
            _mm256_movemask_ps(_mm256_and_ps(above, below)) == 0xFF
        }
    }

    #[inline(always)]
    unsafe fn row(palette: *const Mat3x4, influence: &Influence, row: usize) -> [Self; 4] {
        // SAFETY: the caller guarantees AVX2 and an entry at each offset.
        unsafe {
            columns([
                pair(palette, influence, 0, row),
                pair(palette, influence, 1, row),
                pair(palette, influence, 2, row),
                pair(palette, influence, 3, row),
            ])
        }
    }

    #[inline(always)]
    unsafe fn blend(palette: *const Mat3x4, influences: &[Influence]) -> [[Self; 4]; 3] {
        // SAFETY: the caller guarantees AVX2 and FMA, an influence, and an entry at each offset.
        unsafe {
            let a = blend_pair::<0, 0b00_00_00_00>(palette, influences);
            let b = blend_pair::<1, 0b01_01_01_01>(palette, influences);
            let c = blend_pair::<2, 0b10_10_10_10>(palette, influences);
            let d = blend_pair::<3, 0b11_11_11_11>(palette, influences);
            [
                columns([a[0], b[0], c[0], d[0]]),
                columns([a[1], b[1], c[1], d[1]]),
                columns([a[2], b[2], c[2], d[2]]),
            ]
        }
    }

    // After "3D Vector Normalization Using 256-Bit Intel Advanced Vector Extensions", Intel, 2011.
    #[inline(always)]
    unsafe fn write3([x, y, z]: [Self; 3], to: *mut f32) {
        // SAFETY: the vectors exist, so the CPU has AVX2. The caller guarantees that `to` is valid
        // for writing 24 numbers.
        unsafe {
            let xy = _mm256_shuffle_ps::<0b10_00_10_00>(x.0, y.0); // x0 x2 y0 y2
            let yz = _mm256_shuffle_ps::<0b11_01_11_01>(y.0, z.0); // y1 y3 z1 z3
            let zx = _mm256_shuffle_ps::<0b11_01_10_00>(z.0, x.0); // z0 z2 x1 x3
            let a = _mm256_shuffle_ps::<0b10_00_10_00>(xy, zx); // x0 y0 z0 x1
            let b = _mm256_shuffle_ps::<0b11_01_10_00>(yz, xy); // y1 z1 x2 y2
            let c = _mm256_shuffle_ps::<0b11_01_11_01>(zx, yz); // z2 x3 y3 z3
            _mm256_storeu_ps(to, _mm256_permute2f128_ps::<0x20>(a, b));
            _mm256_storeu_ps(to.add(8), _mm256_permute2f128_ps::<0x30>(c, a));
            _mm256_storeu_ps(to.add(16), _mm256_permute2f128_ps::<0x31>(b, c));
        }
    }

    #[inline(always)]
    unsafe fn write4(vectors: [Self; 4], to: *mut f32) {
        // SAFETY: the vectors exist, so the CPU has AVX2. The caller guarantees that `to` is valid
        // for writing 32 numbers.
        unsafe {
            let [x, y, z, w] = vectors;
            // Transposing four columns gives four rows, of vertices (0, 4) and so on.
            let [a, b, c, d] = columns([x.0, y.0, z.0, w.0]);
            _mm256_storeu_ps(to, _mm256_permute2f128_ps::<0x20>(a.0, b.0));
            _mm256_storeu_ps(to.add(8), _mm256_permute2f128_ps::<0x20>(c.0, d.0));
            _mm256_storeu_ps(to.add(16), _mm256_permute2f128_ps::<0x31>(a.0, b.0));
            _mm256_storeu_ps(to.add(24), _mm256_permute2f128_ps::<0x31>(c.0, d.0));
        }
    }
}
