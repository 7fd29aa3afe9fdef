//! Plain data from values.

use super::value::{Kind, Map, ReadFault, Value};
use core::ops::Deref;
use std::collections::BTreeMap;

/// Data that can be read from a value.
pub(crate) trait Read: Sized {
    fn read(from: Value<'_>) -> Result<Self, ReadFault>;

    /// The data of a field that is absent or null, if it may be.
    fn absent() -> Option<Self> {
        None
    }
}

impl<'a> Map<'a> {
    /// The value of the first key, or of one of its other names, if it is there and not null.
    fn field(&self, names: &[&str]) -> Result<Option<Value<'a>>, ReadFault> {
        let mut found = None;
        for (key, value) in &self.entries {
            let Some(name) = names.iter().find(|name| key.is_text(name)) else {
                continue;
            };
            if found.replace(*value).is_some() {
                return Err(value.fault(format!("field \"{name}\" appears twice")));
            }
        }
        Ok(found.filter(|value| value.kind() != Kind::Null))
    }

    /// Reads the field with one of these names.
    pub(crate) fn required<T: Read>(&self, names: &[&str]) -> Result<T, ReadFault> {
        match self.field(names)? {
            Some(value) => T::read(value),
            None => T::absent().ok_or_else(|| {
                let name = names.first().copied().unwrap_or_default();
                self.value.fault(format!("missing field \"{name}\""))
            }),
        }
    }

    /// Reads the field with one of these names, or returns `default`.
    pub(crate) fn or<T: Read>(&self, names: &[&str], default: T) -> Result<T, ReadFault> {
        self.field(names)?.map_or(Ok(default), T::read)
    }
}

impl Read for bool {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        match from.kind() {
            Kind::Bool => Ok(from.raw() == "true"),
            _ => Err(from.expected("true or false")),
        }
    }
}

impl Read for String {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let text = from.text().map(Into::into);
        text.ok_or_else(|| match from.kind() {
            Kind::Text => from.fault("a string has an invalid \\u escape"),
            _ => from.expected("a string"),
        })
    }
}

impl Read for Box<str> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        String::read(from).map(Into::into)
    }
}

impl Read for f64 {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        match from.number() {
            Some(number) if number.is_infinite() => Err(from.fault("a number is too large")),
            Some(number) => Ok(number),
            None => Err(from.expected("a number")),
        }
    }
}

impl Read for f32 {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        f64::read(from)?;
        from.raw().parse().map_err(|_| from.expected("a number"))
    }
}

/// Integers. Some writers, which do not tell them apart, write `24.0`.
macro_rules! integers {
    ($($type:ty, $allowed:literal;)*) => {$(
        impl Read for $type {
            fn read(from: Value<'_>) -> Result<Self, ReadFault> {
                let whole = whole(from).and_then(|whole| whole.try_into().ok());
                whole.ok_or_else(|| from.expected($allowed))
            }
        }
    )*};
}

integers! {
    i64, "an integer";
    u64, "an integer of at least 0";
}

/// The number, if it is an integer.
fn whole(from: Value<'_>) -> Option<i128> {
    /// The largest number up to which 64-bit floats represent every integer.
    const MAX_FLOAT: f64 = (1_u64 << 53) as f64;
    let number = from.number()?;
    let of_float = (number.fract() == 0.0 && number.abs() <= MAX_FLOAT).then_some(number as i128);
    from.raw().parse().ok().or(of_float)
}

impl<T: Read> Read for Option<T> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        T::read(from).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Read> Read for Box<T> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        T::read(from).map(Self::new)
    }
}

impl<T: Read + Default + Copy, const N: usize> Read for [T; N] {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        if from.kind() != Kind::List {
            return Err(from.expected(&format!("an array of {N} elements")));
        }
        let items = from.items();
        if items.len() != N {
            let what = format!("must be an array of {N} elements, but has {}", items.len());
            return Err(from.fault(what));
        }
        let mut array = [T::default(); N];
        for (element, item) in array.iter_mut().zip(items) {
            *element = T::read(item)?;
        }
        Ok(array)
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let entries = from.map()?.entries.into_iter();
        let entries = entries.map(|(key, value)| Ok((Read::read(key)?, T::read(value)?)));
        entries.collect()
    }
}

/// A list of at most `MOST` elements.
///
/// So a file with a few bytes per element cannot take a hundred times its size in memory.
#[derive(Debug, Default)]
pub(crate) struct List<T, const MOST: usize>(pub(crate) Vec<T>);

impl<T, const MOST: usize> Deref for List<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Read, const MOST: usize> Read for List<T, MOST> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        if from.kind() != Kind::List {
            return Err(from.expected("an array"));
        }
        let items = from.items();
        if items.len() > MOST {
            return Err(from.fault(format!("a list of more than {MOST} elements")));
        }
        items.map(T::read).collect::<Result<_, _>>().map(Self)
    }
}

/// The default of a field that may be absent.
pub(crate) fn none<T: Default>() -> T {
    T::default()
}

/// Structs of a file format: `"name in the file" | "other name" => field: Type = default`.
///
/// A field with neither a default nor an optional type is required. Other keys are skipped.
macro_rules! file_structs {
    ($($(#[$meta:meta])* $vis:vis struct $type:ident {$(
        $(#[$doc:meta])*
        $name:literal $(| $other:literal)* => $field:ident: $of:ty $(= $default:expr)?
    ),* $(,)?})*) => {$(
        $(#[$meta])*
        #[derive(Debug, Default)]
        $vis struct $type {
            $($(#[$doc])* $vis $field: $of,)*
        }

        impl $crate::json::Read for $type {
            fn read(
                from: $crate::json::Value<'_>,
            ) -> core::result::Result<Self, $crate::json::ReadFault> {
                let from = from.map()?;
                Ok(Self {
                    $($field: $crate::json::read_field!(
                        from, [$name $(, $other)*] $(, $default)?
                    )?,)*
                })
            }
        }
    )*};
}

/// Reads a field: required, unless its type can be absent, or with a default.
macro_rules! read_field {
    ($from:ident, [$($name:expr),*]) => {
        $from.required(&[$($name),*])
    };
    ($from:ident, [$($name:expr),*], $default:expr) => {
        $from.or(&[$($name),*], $default)
    };
}

pub(crate) use {file_structs, read_field};
