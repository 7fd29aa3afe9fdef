//! The extent of tests that try many things.
//!
//! `cargo test` tries a part of them, so that it is quick. With `THRONG_THOROUGH` in the
//! environment, as before a release, it tries all.

/// `THRONG_THOROUGH` is set.
pub fn is_thorough() -> bool {
    std::env::var_os("THRONG_THOROUGH").is_some()
}

/// The number of rounds of a test with random values: all of them, or a quarter.
pub fn rounds(all: usize) -> usize {
    if is_thorough() { all } else { all.div_ceil(4) }
}
