//! The serde form of a tree.

use super::tree::{Kind, Tree, Value};
use core::fmt;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.kind() {
            Kind::Null => serializer.serialize_unit(),
            Kind::Bool => serializer.serialize_bool(self.raw() == "true"),
            Kind::Number => match self.raw().parse() {
                Ok(whole) => serializer.serialize_i64(whole),
                Err(_) => serializer.serialize_f64(self.number().unwrap_or_default()),
            },
            Kind::List => serializer.collect_seq(self.items()),
            Kind::Map => {
                let entries = self.entries();
                serializer.collect_map(entries.map(|(key, value)| (key.raw(), value)))
            }
            _ => serializer.serialize_str(self.raw()),
        }
    }
}

impl<'de> Deserialize<'de> for Tree<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tree = Self::new(Cow::Borrowed(""), "a map");
        Next(&mut tree).deserialize(deserializer)?;
        Ok(tree)
    }
}

/// Adds the next value to a tree.
struct Next<'t>(&'t mut Tree<'static>);

impl Next<'_> {
    fn add<E: Error>(self, kind: Kind, text: &str) -> Result<(), E> {
        self.0.add(0, kind, text);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Next<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Next<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("plain data")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.add(Kind::Null, "")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.add(Kind::Null, "")
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.add(Kind::Bool, &value.to_string())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.add(Kind::Number, &value.to_string())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.add(Kind::Number, &value.to_string())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.add(Kind::Number, &format!("{value:?}"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.add(Kind::Text, value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<(), A::Error> {
        let list = self.0.open(0, Kind::List);
        while from.next_element_seed(Next(self.0))?.is_some() {}
        self.0.close(list);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<(), A::Error> {
        let map = self.0.open(0, Kind::Map);
        while let Some(key) = from.next_key::<Cow<'de, str>>()? {
            self.0.add(0, Kind::Text, &key);
            from.next_value_seed(Next(self.0))?;
        }
        self.0.close(map);
        Ok(())
    }
}
