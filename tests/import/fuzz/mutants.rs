//! The number of mutants, and random numbers.

/// The factor for the number of mutants: the value of `THRONG_FUZZ`, or 1.
pub(crate) fn factor() -> usize {
    let text = std::env::var("THRONG_FUZZ").unwrap_or_default();
    text.parse().unwrap_or(1)
}

/// xorshift64*, so that all runs are the same.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed << 32 | factor() as u64)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}
