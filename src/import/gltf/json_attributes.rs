//! The JSON of attributes: accessors, or numbers of attributes, by name.

use super::json_values::{MAX_ATTRIBUTES, Whole};
use core::ops::Deref;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::collections::BTreeMap;

/// The accessors of a primitive's attributes by name, at most [`MAX_ATTRIBUTES`] of them.
#[derive(Debug)]
pub(super) struct Attributes(BTreeMap<String, u64>);

impl Deref for Attributes {
    type Target = BTreeMap<String, u64>;

    fn deref(&self) -> &BTreeMap<String, u64> {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Attributes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Attributes;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attributes, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some((name, Whole(accessor))) = map.next_entry()? {
                    if entries.len() == MAX_ATTRIBUTES {
                        return Err(A::Error::custom("more than 4096 attributes"));
                    }
                    entries.insert(name, accessor);
                }
                Ok(Attributes(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
