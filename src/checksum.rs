//! A checksum that is computed piece by piece, just ahead of what reads the bytes.

use crate::hash;

/// The words of eight bytes that one step of the checksum takes.
const LANES: usize = 8;
/// The bytes of a step.
const BLOCK: usize = 8 * LANES;
/// The bytes that are summed at once.
const PIECE: usize = 4 << 10;

/// A checksum that misses a change of any bytes with a probability of about 1 in 2⁶⁴.
///
/// It is FNV-1a over words of eight bytes. Each step rotates the value so that high bits affect low
/// bits. The words go to eight independent values in turn, which a processor computes at the same
/// time. The last 64 bytes, or as many as remain, are padded with zeros. The result is the checksum
/// of the eight values and of the number of bytes, in this order.
#[derive(Debug)]
pub(crate) struct Checksum<'a> {
    rest: &'a [u8],
    length: u64,
    lanes: [u64; LANES],
}

impl<'a> Checksum<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            length: bytes.len() as u64,
            lanes: [hash::EMPTY; LANES],
        }
    }

    pub(crate) fn of(bytes: &[u8]) -> u64 {
        Checksum::new(bytes).finish()
    }

    /// Sums all whole pieces that start before the last `left` bytes. The end is summed later.
    #[inline]
    pub(crate) fn advance(&mut self, left: usize) {
        while self.rest.len() > left
            && let Some((piece, rest)) = self.rest.split_at_checked(PIECE)
        {
            self.add(piece);
            self.rest = rest;
        }
    }

    pub(crate) fn finish(mut self) -> u64 {
        self.advance(0);
        let (whole, end) = self.rest.split_at(self.rest.len() / BLOCK * BLOCK);
        self.add(whole);
        let mut last = [0; BLOCK];
        last[..end.len()].copy_from_slice(end);
        self.add(&last);
        let words = self.lanes.into_iter().chain([self.length]);
        words.fold(hash::EMPTY, step)
    }

    #[inline(never)]
    fn add(&mut self, bytes: &[u8]) {
        let mut lanes = self.lanes;
        for block in bytes.as_chunks::<BLOCK>().0 {
            for (lane, word) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
                *lane = step(*lane, u64::from_le_bytes(*word));
            }
        }
        self.lanes = lanes;
    }
}

fn step(hash: u64, word: u64) -> u64 {
    hash::add(hash, word).rotate_left(23)
}
