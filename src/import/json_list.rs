//! Lists in JSON, with a limit on their length.

use core::marker::PhantomData;
use core::ops::Deref;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// A list of at most `MOST` elements.
///
/// So a file with a few bytes per element cannot take a hundred times its size in memory.
#[derive(Debug)]
pub(super) struct List<T, const MOST: usize>(pub(super) Vec<T>);

impl<T, const MOST: usize> Default for List<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MOST: usize> Deref for List<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for List<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T, const MOST: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Elements<T, MOST> {
            type Value = List<T, MOST>;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = from.next_element()? {
                    if list.len() == MOST {
                        let why = format_args!("a list of more than {MOST} elements");
                        return Err(A::Error::custom(why));
                    }
                    list.push(element);
                }
                Ok(List(list))
            }
        }
        deserializer.deserialize_seq(Elements(PhantomData))
    }
}
