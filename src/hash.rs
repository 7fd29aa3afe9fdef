//! FNV-1a, a hash that is the same on every machine and in every build.
//!
//! Source: <https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>.
//! It hashes words where the source hashes bytes.

/// The hash of nothing.
pub(crate) const EMPTY: u64 = 0xCBF2_9CE4_8422_2325;

/// The hash of the words behind `hash`, followed by `word`.
pub(crate) const fn add(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3)
}
