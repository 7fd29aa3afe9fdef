//! Portable code, for targets without a vector unit of their own here.

use super::lanes::{Four, Lanes, Row, Wide};

/// Four numbers in an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain([f32; 4]);

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

impl Lanes for Plain {
    const WIDTH: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller guarantees that `from` is valid for reading four numbers.
        Self(unsafe { from.cast::<[f32; 4]>().read() })
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller guarantees that `to` is valid for writing four numbers.
        unsafe { to.cast::<[f32; 4]>().write(self.0) };
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
        for lane in 0..4 {
            self.0[lane] = self.0[lane] * a.0[lane] + b.0[lane];
        }
        self
    }

    #[inline(always)]
    fn neg_mul_add(mut self, a: Self, b: Self) -> Self {
        for lane in 0..4 {
            self.0[lane] = b.0[lane] - self.0[lane] * a.0[lane];
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
        for lane in 0..4 {
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
        for lane in 0..4 {
            bits |= u32::from(self.0[lane] < other.0[lane]) << lane;
        }
        bits
    }
}

impl Wide for Plain {
    #[inline(always)]
    fn transposed(rows: [Self; 4]) -> [Self; 4] {
        let mut columns = rows;
        for (lane, row) in rows.iter().enumerate() {
            for (column, value) in columns.iter_mut().zip(row.0) {
                column.0[lane] = value;
            }
        }
        columns
    }

    #[inline(always)]
    unsafe fn load_rows(rows: *const Row, row: usize, half: usize) -> Self {
        // SAFETY: the caller guarantees the rows and `half`.
        Self(unsafe {
            rows.add(row)
                .cast::<f32>()
                .add(half)
                .cast::<[f32; 4]>()
                .read()
        })
    }

    #[inline(always)]
    unsafe fn write4(columns: [Self; 4], to: *const *mut u8, offset: usize) {
        for (lane, row) in Self::transposed(columns).into_iter().enumerate() {
            // SAFETY: the caller guarantees a pointer per lane, valid for four numbers at `offset`.
            unsafe { (*to.add(lane)).add(offset).cast::<[f32; 4]>().write(row.0) };
        }
    }
}

impl Four for Plain {
    #[inline(always)]
    unsafe fn fields(from: *const u8, bytes: *const [u8; 4], mask: *const u32) -> Self {
        let mut fields = [0.0; 4];
        for (lane, field) in fields.iter_mut().enumerate() {
            // SAFETY: the caller guarantees tables of four, 20 readable bytes, and that the last
            // one read is byte 18 at most.
            unsafe {
                let at = from.add(usize::from((*bytes.add(lane))[0] & 15));
                let bits = u32::from_le(at.cast::<u32>().read_unaligned());
                // The numbers are positive, and signed integers convert faster.
                *field = (bits & *mask.add(lane)) as i32 as f32;
            }
        }
        Self(fields)
    }

    #[inline(always)]
    unsafe fn write_packed3([x, y, z]: [Self; 3], to: *mut f32) {
        for lane in 0..4 {
            let row = [x.0[lane], y.0[lane], z.0[lane]];
            // SAFETY: the caller guarantees that `to` is valid for writing 12 numbers.
            unsafe { to.cast::<[f32; 3]>().add(lane).write(row) };
        }
    }

    #[inline(always)]
    unsafe fn write_packed4(vectors: [Self; 4], to: *mut f32) {
        for (lane, row) in Self::transposed(vectors).into_iter().enumerate() {
            // SAFETY: the caller guarantees that `to` is valid for writing 16 numbers.
            unsafe { to.cast::<[f32; 4]>().add(lane).write(row.0) };
        }
    }
}
