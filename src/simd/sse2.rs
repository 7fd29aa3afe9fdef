//! Four lanes in an SSE2 register.

use super::intrinsics::one_intrinsic_each;
use super::lanes::{Four, Lanes, Row, Wide};
use core::arch::x86_64::*;

/// Four numbers, with fused multiply-add if `FUSED`, in which case the CPU has FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sse2<const FUSED: bool>(__m128);

impl Four for Sse2<false> {
    #[inline(always)]
    unsafe fn fields(from: *const u8, bytes: *const [u8; 4], mask: *const u32) -> Self {
        // SAFETY: the caller guarantees 20 readable bytes, and the last one read is byte 18 at
        // most.
        Self(unsafe {
            let at = |lane: usize| {
                from.add(usize::from((*bytes.add(lane))[0] & 15))
                    .cast::<i32>()
            };
            let bits = _mm_setr_epi32(
                at(0).read_unaligned(),
                at(1).read_unaligned(),
                at(2).read_unaligned(),
                at(3).read_unaligned(),
            );
            _mm_cvtepi32_ps(_mm_and_si128(bits, _mm_load_si128(mask.cast())))
        })
    }

    // After "3D Vector Normalization Using 256-Bit Intel Advanced Vector Extensions", Intel, 2011.
    #[inline(always)]
    unsafe fn write_packed3([x, y, z]: [Self; 3], to: *mut f32) {
        // SAFETY: the vectors exist, so the CPU has SSE2. The caller guarantees that `to` is valid
        // for writing 12 numbers.
        unsafe {
            let xy = _mm_shuffle_ps::<0b10_00_10_00>(x.0, y.0); // x0 x2 y0 y2
            let yz = _mm_shuffle_ps::<0b11_01_11_01>(y.0, z.0); // y1 y3 z1 z3
            let zx = _mm_shuffle_ps::<0b11_01_10_00>(z.0, x.0); // z0 z2 x1 x3
            _mm_storeu_ps(to, _mm_shuffle_ps::<0b10_00_10_00>(xy, zx)); // x0 y0 z0 x1
            _mm_storeu_ps(to.add(4), _mm_shuffle_ps::<0b11_01_10_00>(yz, xy)); // y1 z1 x2 y2
            _mm_storeu_ps(to.add(8), _mm_shuffle_ps::<0b11_01_11_01>(zx, yz)); // z2 x3 y3 z3
        }
    }

    #[inline(always)]
    unsafe fn write_packed4(vectors: [Self; 4], to: *mut f32) {
        for (lane, row) in Self::transposed(vectors).into_iter().enumerate() {
            // SAFETY: the vectors exist, so the CPU has SSE2. The caller guarantees that `to` is
            // valid for writing 16 numbers.
            unsafe { _mm_storeu_ps(to.add(lane * 4), row.0) };
        }
    }
}

// SAFETY of the intrinsics: every x86-64 CPU has SSE2, and a value of `Sse2<true>` exists only on
// CPUs with FMA.
impl<const FUSED: bool> Lanes for Sse2<FUSED> {
    const WIDTH: usize = 4;

    one_intrinsic_each! {
        load: _mm_load_ps,
        splat: _mm_set1_ps,
        store: _mm_store_ps,
        add(other): _mm_add_ps,
        sub(other): _mm_sub_ps,
        mul(other): _mm_mul_ps,
        div(other): _mm_div_ps,
        min(other): _mm_min_ps,
        max(other): _mm_max_ps,
        sqrt(): _mm_sqrt_ps,
    }

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        if FUSED {
            // SAFETY: `FUSED` is true and `self` exists, so the CPU has FMA.
            Self(unsafe { _mm_fmadd_ps(self.0, a.0, b.0) })
        } else {
            self.mul(a).add(b)
        }
    }

    #[inline(always)]
    fn neg_mul_add(self, a: Self, b: Self) -> Self {
        if FUSED {
            // SAFETY: `FUSED` is true and `self` exists, so the CPU has FMA.
            Self(unsafe { _mm_fnmadd_ps(self.0, a.0, b.0) })
        } else {
            b.sub(self.mul(a))
        }
    }

    #[inline(always)]
    fn flipped_by(self, by: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has SSE2.
        Self(unsafe {
            let negative = _mm_cmplt_ps(by.0, _mm_setzero_ps());
            _mm_xor_ps(self.0, _mm_and_ps(negative, _mm_set1_ps(-0.0)))
        })
    }

    #[inline(always)]
    fn choose(self, negative: Self, other: Self) -> Self {
        // SAFETY: `self` exists, so the CPU has SSE2.
        Self(unsafe {
            let below = _mm_cmplt_ps(self.0, _mm_setzero_ps());
            _mm_or_ps(_mm_and_ps(below, negative.0), _mm_andnot_ps(below, other.0))
        })
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        // SAFETY: `self` exists, so the CPU has SSE2.
        unsafe { _mm_movemask_ps(_mm_cmplt_ps(self.0, other.0)) as u32 }
    }
}

impl<const FUSED: bool> Wide for Sse2<FUSED> {
    #[inline(always)]
    fn transposed(rows: [Self; 4]) -> [Self; 4] {
        // SAFETY: the vectors exist, so the CPU has SSE2.
        unsafe {
            let a = _mm_unpacklo_ps(rows[0].0, rows[1].0); // x0 x1 y0 y1
            let b = _mm_unpackhi_ps(rows[0].0, rows[1].0); // z0 z1 w0 w1
            let c = _mm_unpacklo_ps(rows[2].0, rows[3].0); // x2 x3 y2 y3
            let d = _mm_unpackhi_ps(rows[2].0, rows[3].0); // z2 z3 w2 w3
            [
                Self(_mm_movelh_ps(a, c)),
                Self(_mm_movehl_ps(c, a)),
                Self(_mm_movelh_ps(b, d)),
                Self(_mm_movehl_ps(d, b)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn load_rows(rows: *const Row, row: usize, half: usize) -> Self {
        // SAFETY: the caller guarantees the vector unit, the rows and `half`. Rows have 32 bytes
        // and are aligned to that.
        Self(unsafe { _mm_load_ps(rows.add(row).cast::<f32>().add(half)) })
    }

    #[inline(always)]
    unsafe fn write4(columns: [Self; 4], to: *const *mut u8, offset: usize) {
        // SAFETY: vectors exist, so the CPU has the unit; the caller guarantees the pointers.
        unsafe {
            for (lane, row) in Self::transposed(columns).iter().enumerate() {
                _mm_store_ps((*to.add(lane)).add(offset).cast(), row.0);
            }
        }
    }
}
