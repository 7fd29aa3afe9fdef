//! Lists and integers in the JSON of glTF 2.0, with limits.

use core::marker::PhantomData;
use core::ops::Deref;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Unexpected, Visitor};

/// The most elements of any list. Otherwise a file with a few bytes per element could take a
/// hundred times its size in memory.
pub(super) const MAX_LIST: usize = 1 << 18;

/// The most attributes of one primitive. They are visited once for each node that carries it.
pub(super) const MAX_ATTRIBUTES: usize = 1 << 12;

/// A list of at most [`MAX_LIST`] elements.
#[derive(Debug)]
pub(super) struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Elements<T> {
            type Value = List<T>;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = seq.next_element()? {
                    if list.len() == MAX_LIST {
                        return Err(A::Error::custom("a list of more than 262144 elements"));
                    }
                    list.push(element);
                }
                Ok(List(list))
            }
        }
        deserializer.deserialize_seq(Elements(PhantomData))
    }
}

/// An integer. JSON does not distinguish `24` from `24.0`, and some writers use the latter.
pub(super) struct Whole(pub(super) u64);

/// The largest number up to which 64-bit floats represent every integer.
const MAX_WHOLE_FLOAT: f64 = (1_u64 << 53) as f64;

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Whole;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("an integer of at least 0")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Whole, E> {
                Ok(Whole(value))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Whole, E> {
                match u64::try_from(value) {
                    Ok(value) => Ok(Whole(value)),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
                }
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Whole, E> {
                if value.fract() != 0.0 {
                    return Err(E::invalid_type(Unexpected::Float(value), &self));
                }
                if !(0.0..=MAX_WHOLE_FLOAT).contains(&value) {
                    return Err(E::invalid_value(Unexpected::Float(value), &self));
                }
                Ok(Whole(value as u64))
            }
        }
        deserializer.deserialize_u64(Number)
    }
}

pub(super) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Whole::deserialize(deserializer).map(|whole| whole.0)
}

pub(super) fn whole_if_any<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    let whole = Option::<Whole>::deserialize(deserializer)?;
    Ok(whole.map(|whole| whole.0))
}

pub(super) fn wholes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<u64>, D::Error> {
    let List(wholes) = List::<Whole>::deserialize(deserializer)?;
    Ok(List(wholes.into_iter().map(|whole| whole.0).collect()))
}

/// Weights: a list that may be absent or empty, which means the same.
pub(super) type Weights = List<f32>;
