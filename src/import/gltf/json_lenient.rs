//! JSON values of any form. The wanted ones are read, and the others are ignored.

use core::fmt::Formatter;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

pub(super) struct Text(pub(super) String);

/// A value of the wanted form, or nothing.
pub(super) struct Lenient<T>(pub(super) Option<T>);

/// Converts one of the forms that a JSON value may have. Other forms become `None`.
pub(super) trait Form<'de>: Sized {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn text(_: &str) -> Option<Self> {
        None
    }
    fn number(_: f64) -> Option<Self> {
        None
    }
}

impl Form<'_> for Text {
    fn text(text: &str) -> Option<Self> {
        Some(Self(text.into()))
    }
}

impl<'de, T: Form<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(core::marker::PhantomData<T>);
        impl<'de, T: Form<'de>> Visitor<'de> for Any<T> {
            type Value = Lenient<T>;

            fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
                f.write_str("anything")
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Lenient(None))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Lenient(T::number(number as f64)))
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Lenient(T::number(number as f64)))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok(Lenient(T::number(number)))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Lenient(None))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Lenient(T::text(text)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::map(map).map(Lenient)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                T::list(list).map(Lenient)
            }
        }
        deserializer.deserialize_any(Any(core::marker::PhantomData))
    }
}
