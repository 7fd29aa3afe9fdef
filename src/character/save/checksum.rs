//! The checksum of saved characters.

use crate::hash;

/// The words of eight bytes that one step of the checksum takes.
const LANES: usize = 4;

/// A checksum that misses a change of any bytes with a probability of about 1 in 2⁶⁴.
///
/// It is FNV-1a over words of eight bytes. Each step rotates the value so that high bits affect low
/// bits. The words of the body go to four independent values in turn, which a processor computes
/// at the same time; the last words are padded with zeros. The checksum of the header's words and
/// of the four values, in order, is the result.
pub(super) fn checksum(header: &[u8], body: &[u8]) -> u64 {
    let (blocks, rest) = body.as_chunks::<{ 8 * LANES }>();
    let mut lanes = [hash::EMPTY; LANES];
    for block in blocks {
        add(&mut lanes, block);
    }
    let mut last = [0; 8 * LANES];
    last[..rest.len()].copy_from_slice(rest);
    add(&mut lanes, &last);
    let (words, _) = header.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words.chain(lanes).fold(hash::EMPTY, step)
}

fn add(lanes: &mut [u64; LANES], block: &[u8; 8 * LANES]) {
    let (words, _) = block.as_chunks::<8>();
    for (lane, word) in lanes.iter_mut().zip(words) {
        *lane = step(*lane, u64::from_le_bytes(*word));
    }
}

fn step(hash: u64, word: u64) -> u64 {
    hash::add(hash, word).rotate_left(23)
}
