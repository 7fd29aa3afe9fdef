//! Four lanes in a NEON register, with fused multiply-add.

use super::intrinsics::one_intrinsic_each;
use super::lanes::{Four, Lanes, Row, Wide};
use core::arch::aarch64::*;

/// Four numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon(float32x4_t);

impl Four for Neon {
    #[inline(always)]
    unsafe fn fields(from: *const u8, bytes: *const [u8; 4], mask: *const u32) -> Self {
        // SAFETY: the caller guarantees readable bytes and tables of four. A table lookup gives 0
        // for bytes with indices from 16 on.
        Self(unsafe {
            let bits = vqtbl1q_u8(vld1q_u8(from), vld1q_u8(bytes.cast()));
            let fields = vandq_u32(vreinterpretq_u32_u8(bits), vld1q_u32(mask));
            vcvtq_f32_u32(fields)
        })
    }

    #[inline(always)]
    unsafe fn write_packed3([x, y, z]: [Self; 3], to: *mut f32) {
        // SAFETY: every AArch64 CPU has NEON. The caller guarantees that `to` is valid for writing
        // 12 numbers.
        unsafe { vst3q_f32(to, float32x4x3_t(x.0, y.0, z.0)) };
    }

    #[inline(always)]
    unsafe fn write_packed4([x, y, z, w]: [Self; 4], to: *mut f32) {
        // SAFETY: every AArch64 CPU has NEON. The caller guarantees that `to` is valid for writing
        // 16 numbers.
        unsafe { vst4q_f32(to, float32x4x4_t(x.0, y.0, z.0, w.0)) };
    }
}

// SAFETY of the intrinsics: every CPU that this is compiled for has NEON.
impl Lanes for Neon {
    const WIDTH: usize = 4;

    one_intrinsic_each! {
        load: vld1q_f32,
        splat: vdupq_n_f32,
        store: vst1q_f32,
        add(other): vaddq_f32,
        sub(other): vsubq_f32,
        mul(other): vmulq_f32,
        div(other): vdivq_f32,
        min(other): vminq_f32,
        max(other): vmaxq_f32,
        sqrt(): vsqrtq_f32,
    }

    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: every AArch64 CPU has NEON.
        Self(unsafe { vfmaq_f32(b.0, self.0, a.0) })
    }

    #[inline(always)]
    fn neg_mul_add(self, a: Self, b: Self) -> Self {
        // SAFETY: every AArch64 CPU has NEON.
        Self(unsafe { vfmsq_f32(b.0, self.0, a.0) })
    }

    #[inline(always)]
    fn flipped_by(self, by: Self) -> Self {
        // SAFETY: every AArch64 CPU has NEON.
        Self(unsafe {
            let negative = vcltzq_f32(by.0);
            let sign = vandq_u32(negative, vdupq_n_u32(1 << 31));
            vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(self.0), sign))
        })
    }

    #[inline(always)]
    fn choose(self, negative: Self, other: Self) -> Self {
        // SAFETY: every AArch64 CPU has NEON.
        Self(unsafe { vbslq_f32(vcltzq_f32(self.0), negative.0, other.0) })
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        // SAFETY: every AArch64 CPU has NEON, and the table has four numbers.
        unsafe {
            let bits = vld1q_u32([1, 2, 4, 8].as_ptr());
            vaddvq_u32(vandq_u32(vcltq_f32(self.0, other.0), bits))
        }
    }
}

impl Wide for Neon {
    #[inline(always)]
    fn transposed(rows: [Self; 4]) -> [Self; 4] {
        // SAFETY: every AArch64 CPU has NEON.
        unsafe {
            let a = vzip1q_f32(rows[0].0, rows[2].0); // x0 x2 y0 y2
            let b = vzip2q_f32(rows[0].0, rows[2].0); // z0 z2 w0 w2
            let c = vzip1q_f32(rows[1].0, rows[3].0); // x1 x3 y1 y3
            let d = vzip2q_f32(rows[1].0, rows[3].0); // z1 z3 w1 w3
            [
                Self(vzip1q_f32(a, c)),
                Self(vzip2q_f32(a, c)),
                Self(vzip1q_f32(b, d)),
                Self(vzip2q_f32(b, d)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn load_rows(rows: *const Row, row: usize, half: usize) -> Self {
        // SAFETY: the caller guarantees the vector unit, the rows and `half`.
        Self(unsafe { vld1q_f32(rows.add(row).cast::<f32>().add(half)) })
    }

    #[inline(always)]
    unsafe fn write4(columns: [Self; 4], to: *const *mut u8, offset: usize) {
        // SAFETY: vectors exist, so the CPU has the unit; the caller guarantees the pointers.
        unsafe {
            for (lane, row) in Self::transposed(columns).iter().enumerate() {
                vst1q_f32((*to.add(lane)).add(offset).cast(), row.0);
            }
        }
    }
}
