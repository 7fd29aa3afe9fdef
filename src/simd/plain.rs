//! Portable code, which compilers vectorise for the baseline of the target.

use super::lanes::{Eight, Lanes, Row, WIDTH, Wide};

/// `N` numbers in an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<const N: usize>(pub(crate) [f32; N]);

/// Computes `a * b + c`, fused if the target always has such an instruction.
#[inline(always)]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

/// Methods that compute each lane from two numbers.
macro_rules! by_lane {
    ($($method:ident: |$a:ident, $b:ident| $result:expr,)*) => {$(
        #[inline(always)]
        fn $method(mut self, other: Self) -> Self {
            for (lane, $b) in self.0.iter_mut().zip(other.0) {
                let $a = *lane;
                *lane = $result;
            }
            self
        }
    )*};
}

impl<const N: usize> Lanes for Plain<N> {
    const WIDTH: usize = N;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reading `N` numbers.
        Self(unsafe { from.cast::<[f32; N]>().read() })
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self([value; N])
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller guarantees that `to` is valid for writing `N` numbers.
        unsafe { to.cast::<[f32; N]>().write(self.0) };
    }

    by_lane! {
        add: |a, b| a + b,
        sub: |a, b| a - b,
        mul: |a, b| a * b,
        div: |a, b| a / b,
        min: |a, b| if a < b { a } else { b },
        max: |a, b| if a > b { a } else { b },
        flipped_by: |a, by| if by < 0.0 { -a } else { a },
    }

    #[inline(always)]
    fn mul_add(mut self, a: Self, b: Self) -> Self {
        for lane in 0..N {
            self.0[lane] = fused(self.0[lane], a.0[lane], b.0[lane]);
        }
        self
    }

    #[inline(always)]
    fn neg_mul_add(mut self, a: Self, b: Self) -> Self {
        for lane in 0..N {
            self.0[lane] = fused(-self.0[lane], a.0[lane], b.0[lane]);
        }
        self
    }

    #[inline(always)]
    fn sqrt(mut self) -> Self {
        for a in &mut self.0 {
            *a = a.sqrt();
        }
        self
    }

    #[inline(always)]
    fn choose(mut self, negative: Self, other: Self) -> Self {
        for lane in 0..N {
            let below = self.0[lane] < 0.0;
            self.0[lane] = if below {
                negative.0[lane]
            } else {
                other.0[lane]
            };
        }
        self
    }

    #[inline(always)]
    fn below(self, other: Self) -> u32 {
        let mut bits = 0;
        for lane in 0..N {
            bits |= u32::from(self.0[lane] < other.0[lane]) << lane;
        }
        bits
    }
}

impl<const N: usize> Wide for Plain<N> {
    #[inline(always)]
    unsafe fn half_columns(rows: *const Row, half: usize) -> [Self; 4] {
        let mut columns = [Self([0.0; N]); 4];
        for lane in 0..N {
            // SAFETY: the caller guarantees one row per lane.
            let row = unsafe { (*rows.add(lane)).0 };
            for (column, value) in columns.iter_mut().zip(&row[half..]) {
                column.0[lane] = *value;
            }
        }
        columns
    }

    #[inline(always)]
    unsafe fn write4(columns: [Self; 4], to: *const *mut u8, offset: usize) {
        let [x, y, z, w] = columns;
        for lane in 0..N {
            let row = [x.0[lane], y.0[lane], z.0[lane], w.0[lane]];
            // SAFETY: the caller guarantees a pointer per lane, valid for four numbers at `offset`.
            unsafe { (*to.add(lane)).add(offset).cast::<[f32; 4]>().write(row) };
        }
    }
}

impl Eight for Plain<WIDTH> {
    #[inline(always)]
    unsafe fn fields(from: *const u8, bytes: &[[u8; 4]; WIDTH], mask: &[u32; WIDTH]) -> Self {
        let mut fields = [0.0; WIDTH];
        for (lane, field) in fields.iter_mut().enumerate() {
            let at = from.wrapping_add(usize::from(bytes[lane][0] & 15));
            // SAFETY: the caller guarantees 20 readable bytes, and the last one read is byte 18 at
            // most.
            let bits = u32::from_le(unsafe { at.cast::<u32>().read_unaligned() });
            // The numbers are positive, and signed integers convert faster.
            *field = (bits & mask[lane]) as i32 as f32;
        }
        Self(fields)
    }
}
