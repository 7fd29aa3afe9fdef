//! Lists and integers in the JSON of glTF 2.0, with limits.

use crate::import::json_list;
use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected, Visitor};

/// The most elements of any list. Otherwise a file with a few bytes per element could take a
/// hundred times its size in memory.
pub(super) const MAX_LIST: usize = 1 << 18;

/// The most attributes of one primitive. They are visited once for each node that carries it.
pub(super) const MAX_ATTRIBUTES: usize = 1 << 12;

/// A list of at most [`MAX_LIST`] elements.
pub(super) type List<T> = json_list::List<T, MAX_LIST>;

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
    let wholes = List::<Whole>::deserialize(deserializer)?.0;
    let wholes = wholes.into_iter().map(|whole| whole.0).collect();
    Ok(json_list::List(wholes))
}

/// Weights: a list that may be absent or empty, which means the same.
pub(super) type Weights = List<f32>;
