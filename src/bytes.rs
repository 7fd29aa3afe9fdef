//! Conversion of numbers, lists and names to bytes and back.

use crate::checksum::Checksum;
use crate::error::{Error, Result, SavedFault};
use crate::id::Id;
use glam::{Affine2, Affine3A, DVec3, Quat, Vec2, Vec3, Vec4};
use std::ops::Range;

/// Values that can be written and read back. Loaded numbers may have any value and are checked
/// later.
pub(crate) trait Save: Sized {
    fn save(&self, to: &mut Vec<u8>);

    fn load(from: &mut Reader<'_>) -> Result<Self>;

    fn save_list(list: &[Self], to: &mut Vec<u8>) {
        list.iter().for_each(|one| one.save(to));
    }

    fn load_list(count: usize, from: &mut Reader<'_>) -> Result<Vec<Self>> {
        // Memory grows with the data that was read, not with the stated `count`.
        let mut list = Vec::with_capacity(count.min(64));
        for _ in 0..count {
            list.push(Self::load(from)?);
        }
        Ok(list)
    }

    fn load_array<const N: usize>(from: &mut Reader<'_>) -> Result<[Self; N]> {
        let list = Self::load_list(N, from)?;
        // The list has the requested length.
        list.try_into().map_err(|_| invalid("list", "is cut"))
    }
}

/// The bytes that remain to be read.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The checksum of what was read, and somewhat more.
    sum: Checksum<'a>,
}

/// Bytes that are summed and copied together. The copy finds them in the cache.
const PIECE: usize = 16 << 10;

impl<'a> Reader<'a> {
    /// The bytes of a range, with positions counted from the start of all `bytes`.
    pub(crate) fn within(bytes: &'a [u8], range: Range<usize>) -> Self {
        let at = range.start;
        let bytes = &bytes[range];
        let sum = Checksum::new(bytes);
        Self { bytes, at, sum }
    }

    /// The checksum of all bytes, also of those that were not read.
    pub(crate) fn checksum(self) -> u64 {
        self.sum.finish()
    }

    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some((taken, left)) = self.bytes.split_at_checked(count) else {
            return Err(Error::saved(SavedFault::Ends { at: self.at as u64 }));
        };
        self.bytes = left;
        self.at += count;
        self.sum.advance(left.len());
        Ok(taken)
    }

    /// Fails unless `count` bytes remain.
    pub(crate) fn expect(&self, count: usize) -> Result<()> {
        if self.bytes.len() < count {
            return Err(Error::saved(SavedFault::Ends { at: self.at as u64 }));
        }
        Ok(())
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

pub(crate) fn invalid(what: &'static str, why: &'static str) -> Error {
    Error::saved(SavedFault::Invalid { what, why })
}

/// Lists whose memory is copied directly.
macro_rules! plain_lists {
    () => {
        #[cfg(target_endian = "little")]
        fn save_list(list: &[Self], to: &mut Vec<u8>) {
            to.extend_from_slice(bytemuck::cast_slice(list));
        }

        #[cfg(target_endian = "little")]
        fn load_list(count: usize, from: &mut Reader<'_>) -> Result<Vec<Self>> {
            load_plain(count, from)
        }
    };
}

/// Plain numbers, whose lists are copied directly.
macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Save for $type {
            fn save(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }

            fn load(from: &mut Reader<'_>) -> Result<Self> {
                let mut bytes = [0; size_of::<Self>()];
                bytes.copy_from_slice(from.take(size_of::<Self>())?);
                Ok(Self::from_le_bytes(bytes))
            }

            plain_lists!();

            #[cfg(target_endian = "little")]
            fn load_array<const N: usize>(from: &mut Reader<'_>) -> Result<[Self; N]> {
                let mut array = [Self::default(); N];
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut array);
                bytes.copy_from_slice(from.take(bytes.len())?);
                Ok(array)
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i16 i32 f32 f64);

/// Vectors of numbers, whose lists are copied directly.
macro_rules! vectors {
    ($($type:ty, $part:ty, $count:literal;)*) => {$(
        impl Save for $type {
            fn save(&self, to: &mut Vec<u8>) {
                let parts: [$part; $count] = (*self).into();
                parts.save(to);
            }

            fn load(from: &mut Reader<'_>) -> Result<Self> {
                let parts: [$part; $count] = Save::load(from)?;
                Ok(Self::from(parts))
            }

            plain_lists!();
        }
    )*};
}

vectors! {
    Vec2, f32, 2;
    Vec3, f32, 3;
    Vec4, f32, 4;
    DVec3, f64, 3;
}

/// Types that are saved as arrays of numbers.
macro_rules! arrays {
    ($($type:ty, $count:literal, $to:ident, $from:expr;)*) => {$(
        impl Save for $type {
            fn save(&self, to: &mut Vec<u8>) {
                self.$to().save(to);
            }

            fn load(from: &mut Reader<'_>) -> Result<Self> {
                let numbers: [f32; $count] = Save::load(from)?;
                Ok($from(numbers))
            }
        }
    )*};
}

arrays! {
    Quat, 4, to_array, Self::from_array;
    Affine2, 6, to_cols_array, |numbers| Self::from_cols_array(&numbers);
    Affine3A, 12, to_cols_array, |numbers| Self::from_cols_array(&numbers);
}

#[cfg(target_endian = "little")]
fn load_plain<T: bytemuck::Pod>(count: usize, from: &mut Reader<'_>) -> Result<Vec<T>> {
    // If the product overflows, it is larger than any number of bytes.
    let size = count.saturating_mul(size_of::<T>());
    if size <= PIECE {
        return Ok(bytemuck::pod_collect_to_vec(from.take(size)?));
    }
    from.expect(size)?;
    let mut list: Vec<T> = Vec::with_capacity(count);
    let step = PIECE / size_of::<T>();
    while list.len() < count {
        let bytes = from.take((count - list.len()).min(step) * size_of::<T>())?;
        match bytemuck::try_cast_slice(bytes) {
            Ok(values) => list.extend_from_slice(values),
            // The bytes are not aligned for the type.
            Err(_) => list.extend_from_slice(&bytemuck::pod_collect_to_vec(bytes)),
        }
    }
    Ok(list)
}

impl<T: Save, const N: usize> Save for [T; N] {
    fn save(&self, to: &mut Vec<u8>) {
        T::save_list(self, to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        T::load_array(from)
    }
}

impl Save for usize {
    fn save(&self, to: &mut Vec<u8>) {
        (*self as u64).save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let number = u64::load(from)?;
        Self::try_from(number).map_err(|_| invalid("number", "is too large"))
    }
}

impl Save for bool {
    fn save(&self, to: &mut Vec<u8>) {
        u8::from(*self).save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        match u8::load(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(invalid("truth value", "is neither 0 nor 1")),
        }
    }
}

impl<T: Save> Save for Vec<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.len().save(to);
        T::save_list(self, to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let count = usize::load(from)?;
        T::load_list(count, from)
    }
}

impl<T: Save> Save for Option<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.is_some().save(to);
        if let Some(one) = self {
            one.save(to);
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        bool::load(from)?.then(|| T::load(from)).transpose()
    }
}

impl<T: Save> Save for Range<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.start.save(to);
        self.end.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok(T::load(from)?..T::load(from)?)
    }
}

impl<A: Save, B: Save> Save for (A, B) {
    fn save(&self, to: &mut Vec<u8>) {
        self.0.save(to);
        self.1.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Ok((A::load(from)?, B::load(from)?))
    }
}

impl Save for String {
    fn save(&self, to: &mut Vec<u8>) {
        self.len().save(to);
        to.extend_from_slice(self.as_bytes());
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        Box::<str>::load(from).map(Into::into)
    }
}

impl<T> Save for Id<T> {
    fn save(&self, to: &mut Vec<u8>) {
        self.0.save(to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        u16::load(from).map(Self::new)
    }
}

impl Save for Box<str> {
    fn save(&self, to: &mut Vec<u8>) {
        self.len().save(to);
        to.extend_from_slice(self.as_bytes());
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let count = usize::load(from)?;
        let text = core::str::from_utf8(from.take(count)?);
        text.map(Into::into)
            .map_err(|_| invalid("name", "is not UTF-8"))
    }
}

/// Saves structs field by field. One after a semicolon is empty until something else loads it.
macro_rules! save_structs {
    ($($type:ty { $($field:ident),* $(,)? $(; $($later:ident: $value:expr),*)? })*) => {$(
        impl $crate::bytes::Save for $type {
            fn save(&self, to: &mut Vec<u8>) {
                $($crate::bytes::Save::save(&self.$field, to);)*
            }

            fn load(
                from: &mut $crate::bytes::Reader<'_>,
            ) -> $crate::error::Result<Self> {
                Ok(Self {
                    $($field: $crate::bytes::Save::load(from)?,)*
                    $($($later: $value,)*)?
                })
            }
        }
    )*};
}

/// Saves enums, as the numbers of their variants, each followed by its fields.
macro_rules! save_enums {
    ($($type:ty, $what:literal, $unknown:literal: $(
        $number:literal => $variant:ident $(($content:ident))? $({ $($field:ident),* })?
    ),*;)*) => {$(
        impl $crate::bytes::Save for $type {
            fn save(&self, to: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($content))? $({ $($field),* })? => {
                        to.push($number);
                        $($crate::bytes::Save::save($content, to);)?
                        $($($crate::bytes::Save::save($field, to);)*)?
                    })*
                }
            }

            fn load(
                from: &mut $crate::bytes::Reader<'_>,
            ) -> $crate::error::Result<Self> {
                Ok(match <u8 as $crate::bytes::Save>::load(from)? {
                    $($number => {
                        $(let $content = $crate::bytes::Save::load(from)?;)?
                        $($(let $field = $crate::bytes::Save::load(from)?;)*)?
                        Self::$variant $(($content))? $({ $($field),* })?
                    })*
                    _ => return Err($crate::bytes::invalid($what, $unknown)),
                })
            }
        }
    )*};
}

pub(crate) use {save_enums, save_structs};
