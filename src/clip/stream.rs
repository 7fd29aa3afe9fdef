//! Lists of integers as few bits: what is saved of keys.
//!
//! Values follow each other smoothly, so each is predicted from those before it, and what is left
//! is written in Rice codes. A stretch of values has a parameter of its own.
//!
//! Source: Robinson, "SHORTEN: Simple lossless and near-lossless waveform compression", 1994: its
//! polynomial predictors and its codes.

use super::keys::MAX_BITS;
use crate::bytes::invalid;
use crate::error::{Error, Result};

/// The predictors: from the first value, the one before, and lines and parabolas through those
/// before.
const ORDERS: u32 = 4;
/// Stands in place of a predictor where all values are the same.
const SAME: u32 = ORDERS;
const ORDER_BITS: u32 = 3;
/// A stretch has 8, 16, 32 or 64 values.
const STRETCH: usize = 8;
const STRETCH_BITS: u32 = 2;
const PARAMETER_BITS: u32 = 5;
/// The parameter of a stretch without anything left.
const NOTHING: u32 = (1 << PARAMETER_BITS) - 1;
const MOST_PARAMETER: u32 = NOTHING - 1;
/// The number of ones before a value of [`WIDE`] bits.
const ESCAPE: u32 = 20;
/// Bits of what is left, with its sign, of values of up to [`MAX_BITS`] bits: at most eight times
/// as much.
const WIDE: u32 = MAX_BITS + 5;
/// Bits of the length of a number.
const LENGTH_BITS: u32 = 5;

/// Bits that are written one after the other, the lowest one first.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits of the last bytes that are not whole.
    open: u64,
    count: u32,
}

impl BitWriter {
    /// Writes the lowest `count` bits, at most 32.
    pub(super) fn put(&mut self, bits: u32, count: u32) {
        debug_assert!(count <= 32 && u64::from(bits) < 1 << count);
        self.open |= u64::from(bits) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.open as u8);
            self.open >>= 8;
            self.count -= 8;
        }
    }

    /// The number of bits so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() * 8 + self.count as usize
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let rest = (8 - self.count) % 8;
        self.put(0, rest);
        self.bytes
    }

    fn put_rice(&mut self, value: u32, parameter: u32) {
        let ones = value >> parameter;
        if ones >= ESCAPE {
            self.put((1 << ESCAPE) - 1, ESCAPE);
            self.put(value, WIDE);
            return;
        }
        self.put((1 << ones) - 1, ones + 1);
        self.put(value & ((1 << parameter) - 1), parameter);
    }

    fn put_number(&mut self, value: i32) {
        let value = folded(value);
        let length = 32 - value.leading_zeros();
        self.put(length, LENGTH_BITS);
        self.put(value, length);
    }

    /// Writes a list, whose length the reader knows. Each value has at most [`MAX_BITS`] bits and a
    /// sign.
    pub(super) fn put_list(&mut self, values: &[i32]) {
        let Some((first, rest)) = values.split_first() else {
            return;
        };
        if rest.iter().all(|value| value == first) {
            self.put(SAME, ORDER_BITS);
            return self.put_number(*first);
        }
        let ways = (0..ORDERS).map(|order| {
            let left = left(values, order);
            let sizes = (0..1 << STRETCH_BITS).map(|size| {
                let stretches = left.chunks(STRETCH << size);
                let costs = stretches.map(|left| cheapest(left).0 + PARAMETER_BITS);
                (costs.sum::<u32>(), size)
            });
            let (cost, size) = sizes.min().unwrap_or_default();
            (cost, order, size, left)
        });
        let Some((_, order, size, left)) = ways.min_by_key(|way| way.0) else {
            return;
        };
        self.put(order, ORDER_BITS);
        self.put(size, STRETCH_BITS);
        self.put_number(*first);
        for left in left.chunks(STRETCH << size) {
            let (_, parameter) = cheapest(left);
            self.put(parameter, PARAMETER_BITS);
            if parameter != NOTHING {
                left.iter().for_each(|left| self.put_rice(*left, parameter));
            }
        }
    }
}

/// The differences of all values but the first from their predictions, with the sign in the lowest
/// bit.
fn left(values: &[i32], order: u32) -> Vec<u32> {
    let all = (1..values.len()).map(|at| folded(values[at] - predicted(&values[..at], order)));
    all.collect()
}

/// The next value after these.
fn predicted(before: &[i32], order: u32) -> i32 {
    match (order, before) {
        (3, [.., a, b, c]) => a - 3 * b + 3 * c,
        (2.., [.., b, c]) => 2 * c - b,
        (1.., [.., c]) => *c,
        (_, [first, ..]) => *first,
        _ => 0,
    }
}

fn folded(value: i32) -> u32 {
    (value << 1 ^ value >> 31) as u32
}

fn unfolded(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

/// The fewest bits of a stretch, without those of its parameter, and the parameter.
fn cheapest(left: &[u32]) -> (u32, u32) {
    if left.iter().all(|left| *left == 0) {
        return (0, NOTHING);
    }
    let cost = |parameter: u32| {
        let costs = left.iter().map(|left| match left >> parameter {
            ESCAPE.. => ESCAPE + WIDE,
            ones => ones + 1 + parameter,
        });
        costs.sum::<u32>()
    };
    // The best one is near the mean.
    let mean = left.iter().map(|left| u64::from(*left)).sum::<u64>() / left.len() as u64;
    let near = mean.max(1).ilog2();
    let tried = near.saturating_sub(2)..=(near + 1).min(MOST_PARAMETER);
    let all = tried.map(|parameter| (cost(parameter), parameter));
    all.min().unwrap_or_default()
}

/// Reads what a [`BitWriter`] wrote.
#[derive(Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    open: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            open: 0,
            count: 0,
        }
    }

    /// Takes bytes in, as many as there is space for.
    fn fill(&mut self) {
        while self.count <= 56
            && let Some((byte, rest)) = self.bytes.split_first()
        {
            self.open |= u64::from(*byte) << self.count;
            (self.count, self.bytes) = (self.count + 8, rest);
        }
    }

    /// Reads `count` bits, at most 32.
    pub(super) fn take(&mut self, count: u32) -> Result<u32> {
        if self.count < count {
            self.fill();
        }
        let bits = self.open & ((1 << count) - 1);
        let Some(left) = self.count.checked_sub(count) else {
            return Err(invalid("clip", "has too few keys"));
        };
        (self.open, self.count) = (self.open >> count, left);
        Ok(bits as u32)
    }

    /// Fails unless everything was read.
    pub(super) fn finish(self) -> Result<()> {
        let all = self.bytes.is_empty() && self.open == 0 && self.count < 8;
        all.then_some(())
            .ok_or_else(|| invalid("clip", "has too many keys"))
    }

    fn take_rice(&mut self, parameter: u32) -> Result<u32> {
        self.fill();
        let ones = self.open.trailing_ones().min(ESCAPE);
        if ones == ESCAPE {
            self.take(ESCAPE)?;
            return self.take(WIDE);
        }
        self.take(ones + 1)?;
        Ok(ones << parameter | self.take(parameter)?)
    }

    fn take_number(&mut self) -> Result<i32> {
        let length = self.take(LENGTH_BITS)?;
        Ok(unfolded(self.take(length)?))
    }

    /// Reads a list of `count` values, at least one. If all of them are the same, the list has one.
    pub(super) fn take_list(&mut self, count: usize) -> Result<Vec<i32>> {
        let order = self.take(ORDER_BITS)?;
        if order > SAME {
            return Err(unknown());
        }
        let stretch = match order {
            SAME => 0,
            _ => STRETCH << self.take(STRETCH_BITS)?,
        };
        let mut values = vec![checked(self.take_number()?.into())?];
        while stretch > 0 && values.len() < count {
            let parameter = self.take(PARAMETER_BITS)?;
            for _ in 0..stretch.min(count - values.len()) {
                let left = match parameter {
                    NOTHING => 0,
                    parameter => unfolded(self.take_rice(parameter)?),
                };
                let value = i64::from(predicted(&values, order)) + i64::from(left);
                values.push(checked(value)?);
            }
        }
        Ok(values)
    }
}

fn unknown() -> Error {
    invalid("clip", "has keys of an unknown form")
}

/// A value of at most [`MAX_BITS`] bits and a sign.
fn checked(value: i64) -> Result<i32> {
    match value.unsigned_abs() >> MAX_BITS {
        0 => Ok(value as i32),
        _ => Err(unknown()),
    }
}
