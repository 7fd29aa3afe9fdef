//! Plain data from a tree of values, and back.

use super::tree::{Kind, ReadFault, Tree, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Data that can be read from a value.
pub(crate) trait Read: Sized {
    fn read(from: Value<'_>) -> Result<Self, ReadFault>;

    /// The data of a field that is absent or null, if it may be.
    fn absent() -> Option<Self> {
        None
    }
}

/// Data that can be written as a value.
pub(crate) trait Write {
    fn write(&self, to: &mut Tree<'static>);

    /// True if a field with this data is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

#[cfg(feature = "serde")]
impl Tree<'_> {
    /// Reads data, with the path of the value in the message of a fault.
    pub(crate) fn read<T: Read>(&self) -> Result<T, String> {
        T::read(self.root()).map_err(|fault| {
            let path = super::tree::path_text(&self.value(&fault).path());
            let mark = if path.is_empty() { "" } else { ": " };
            format!("{path}{mark}{}", fault.what)
        })
    }
}

impl<'a> Value<'a> {
    pub(crate) fn map(self) -> Result<Self, ReadFault> {
        match self.kind() {
            Kind::Map => Ok(self),
            _ => Err(self.expected(self.tree.map)),
        }
    }

    /// Checks that the value is a map with no other keys.
    pub(crate) fn only(self, keys: &[&str]) -> Result<Self, ReadFault> {
        for (key, value) in self.map()?.entries() {
            if !keys.iter().any(|known| key.is_text(known)) {
                let name = key.raw();
                let known = keys.join("\", \"");
                return Err(value.fault(format!("unknown field \"{name}\": there are \"{known}\"")));
            }
        }
        Ok(self)
    }

    /// The value of a key, if it is there and not null.
    fn field(self, name: &str) -> Result<Option<Self>, ReadFault> {
        let mut found = None;
        for (_, value) in self.entries().filter(|(key, _)| key.is_text(name)) {
            if found.replace(value).is_some() {
                return Err(value.fault(format!("field \"{name}\" appears twice")));
            }
        }
        Ok(found.filter(|value| value.kind() != Kind::Null))
    }

    pub(crate) fn required<T: Read>(self, name: &str) -> Result<T, ReadFault> {
        match self.field(name)? {
            Some(value) => T::read(value),
            None => T::absent().ok_or_else(|| self.missing(name)),
        }
    }

    /// The value of a field that must be there.
    pub(crate) fn needed(self, name: &str) -> Result<Self, ReadFault> {
        self.field(name)?.ok_or_else(|| self.missing(name))
    }

    fn missing(self, name: &str) -> ReadFault {
        self.fault(format!("missing field \"{name}\""))
    }

    pub(crate) fn or<T: Read>(self, name: &str, default: T) -> Result<T, ReadFault> {
        self.field(name)?.map_or(Ok(default), T::read)
    }

    /// A string, or a map from one key to a value. The string or key is one of the names.
    pub(crate) fn variant<'n>(
        self,
        names: &[&'n str],
    ) -> Result<(&'n str, Option<Self>), ReadFault> {
        let mut entries = self.entries();
        let (key, value) = match (entries.next(), entries.next()) {
            (Some((key, value)), None) => (key, Some(value)),
            _ => (self, None),
        };
        let index = key.choice(names);
        let index = index.map_err(|why| value.map_or(self, |value| value).fault(why.what));
        Ok((names[index?], value))
    }

    /// The index of the string among those that are allowed.
    pub(crate) fn choice(self, names: &[&str]) -> Result<usize, ReadFault> {
        let found = names.iter().position(|name| self.is_text(name));
        found.ok_or_else(|| {
            let known = names.join("\", \"");
            let is = match self.text() {
                Some(text) => format!("\"{text}\""),
                None => self.raw().into(),
            };
            match self.kind() {
                Kind::List | Kind::Map => self.expected(&format!("one of \"{known}\"")),
                _ => self.fault(format!("must be one of \"{known}\", but is {is}")),
            }
        })
    }
}

impl Tree<'static> {
    pub(crate) fn of(data: &impl Write) -> Self {
        let mut tree = Self::new(Cow::Borrowed(""), "a map");
        data.write(&mut tree);
        tree
    }

    pub(crate) fn map_of(&mut self, fields: impl FnOnce(&mut Self)) {
        let map = self.open(0, Kind::Map);
        fields(self);
        self.close(map);
    }

    /// Writes a map from one key to a map.
    pub(crate) fn variant(&mut self, name: &str, fields: impl FnOnce(&mut Self)) {
        self.map_of(|to| {
            to.add(0, Kind::Text, name);
            to.map_of(fields);
        });
    }

    /// Writes a field of a map, unless it is absent.
    pub(crate) fn field(&mut self, name: &str, data: &impl Write) {
        if !data.is_absent() {
            self.add(0, Kind::Text, name);
            data.write(self);
        }
    }

    /// Writes a field of a map, unless it has its default.
    pub(crate) fn field_or<T: Write + PartialEq>(&mut self, name: &str, data: &T, default: &T) {
        if data != default {
            self.field(name, data);
        }
    }

    fn list_of<T: Write>(&mut self, list: &[T]) {
        let index = self.open(0, Kind::List);
        list.iter().for_each(|data| data.write(self));
        self.close(index);
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

impl Write for bool {
    fn write(&self, to: &mut Tree<'static>) {
        to.add(0, Kind::Bool, if *self { "true" } else { "false" });
    }
}

impl Read for String {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let text = from.text().map(Into::into);
        text.ok_or_else(|| from.expected("a string"))
    }
}

impl Write for String {
    fn write(&self, to: &mut Tree<'static>) {
        to.add(0, Kind::Text, self);
    }
}

impl Read for Box<str> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        String::read(from).map(Into::into)
    }
}

/// Floating-point numbers. Their shortest decimal form reads back as the same bits.
macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Read for $type {
            fn read(from: Value<'_>) -> Result<Self, ReadFault> {
                let number = (from.kind() == Kind::Number).then(|| from.raw().parse().ok());
                match number.flatten() {
                    // Only the word is infinite.
                    Some(number) if Self::is_infinite(number) => checked(from).map(|_| number),
                    Some(number) => Ok(number),
                    None => Err(from.expected("a number")),
                }
            }
        }

        impl Write for $type {
            fn write(&self, to: &mut Tree<'static>) {
                to.add(0, Kind::Number, &format!("{self:?}"));
            }
        }
    )*};
}

floats!(f32 f64);

/// The number, unless its digits are too large for 64 bits.
fn checked(from: Value<'_>) -> Result<f64, ReadFault> {
    match from.number() {
        Some(number) if number.is_infinite() && !from.raw().contains("inf") => {
            Err(from.fault("a number is too large"))
        }
        Some(number) => Ok(number),
        None => Err(from.expected("a number")),
    }
}

/// Integers. Some formats of serde do not tell them apart from floats, and write `24.0`.
macro_rules! integers {
    ($($type:ty, $allowed:literal;)*) => {$(
        impl Read for $type {
            fn read(from: Value<'_>) -> Result<Self, ReadFault> {
                let whole = whole(from).and_then(|whole| whole.try_into().ok());
                whole.ok_or_else(|| from.expected($allowed))
            }
        }

        impl Write for $type {
            fn write(&self, to: &mut Tree<'static>) {
                to.add(0, Kind::Number, &self.to_string());
            }
        }
    )*};
}

integers! {
    u16, "an integer from 0 to 65535";
    i32, "an integer of 32 bits";
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

impl<T: Write> Write for Option<T> {
    fn write(&self, to: &mut Tree<'static>) {
        match self {
            Some(data) => data.write(to),
            None => to.add(0, Kind::Null, ""),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Read> Read for Box<T> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        T::read(from).map(Self::new)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        if from.kind() != Kind::List {
            return Err(from.expected("an array"));
        }
        let mut list = Self::new();
        for item in from.items() {
            list.push(T::read(item)?);
        }
        Ok(list)
    }
}

impl<T: Write> Write for Vec<T> {
    fn write(&self, to: &mut Tree<'static>) {
        to.list_of(self);
    }
}

impl<T: Read + Default, const N: usize> Read for [T; N] {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let (count, mut items) = (from.items().count(), from.items());
        if from.kind() != Kind::List {
            return Err(from.expected(&format!("an array of {N} elements")));
        }
        if count != N {
            let what = format!("must be an array of {N} elements, but has {count}");
            return Err(from.fault(what));
        }
        let mut fault = None;
        let array = core::array::from_fn(|_| {
            let item = items.next().map(T::read).transpose();
            item.unwrap_or_else(|why| {
                fault.get_or_insert(why);
                None
            })
            .unwrap_or_default()
        });
        fault.map_or(Ok(array), Err)
    }
}

impl<T: Write, const N: usize> Write for [T; N] {
    fn write(&self, to: &mut Tree<'static>) {
        to.list_of(self);
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let mut map = Self::new();
        for (key, value) in from.map()?.entries() {
            map.insert(String::read(key)?, T::read(value)?);
        }
        Ok(map)
    }
}

impl<T: Write> Write for BTreeMap<String, T> {
    fn write(&self, to: &mut Tree<'static>) {
        to.map_of(|to| self.iter().for_each(|(key, data)| to.field(key, data)));
    }
}

/// Reads a field: required, unless its type can be absent, or with a default.
macro_rules! read_field {
    ($from:ident, $name:expr) => {
        $from.required($name)
    };
    ($from:ident, $name:expr, $default:expr) => {
        $from.or($name, $default)
    };
}

/// Writes a field, unless it is absent or has its default.
macro_rules! write_field {
    ($to:ident, $name:expr, $data:expr) => {
        $to.field($name, &$data)
    };
    ($to:ident, $name:expr, $data:expr, $default:expr) => {
        $to.field_or($name, &$data, &$default)
    };
}

/// Reads and writes structs as maps: `field as "name in text" = default`.
///
/// A field with neither a default nor an optional type is required. Other keys are refused.
macro_rules! text_structs {
    ($($type:ty {$($field:ident $(as $name:literal)? $(= $default:expr)?),* $(,)?})*) => {$(
        impl $crate::text::Read for $type {
            fn read(
                from: $crate::text::Value<'_>,
            ) -> core::result::Result<Self, $crate::text::ReadFault> {
                from.only(&[$($crate::text::field_name!($field $($name)?)),*])?;
                Ok(Self {
                    $($field: $crate::text::read_field!(
                        from, $crate::text::field_name!($field $($name)?) $(, $default)?
                    )?,)*
                })
            }
        }

        impl $crate::text::Write for $type {
            fn write(&self, to: &mut $crate::text::Tree<'static>) {
                to.map_of(|to| {
                    $($crate::text::write_field!(
                        to, $crate::text::field_name!($field $($name)?), self.$field $(, $default)?
                    );)*
                });
            }
        }

        $crate::text::text_serde!($type);
    )*};
}

/// Reads and writes enums without fields as strings.
macro_rules! text_enums {
    ($($type:ty {$($variant:ident $name:literal),* $(,)?})*) => {$(
        impl $crate::text::Read for $type {
            fn read(
                from: $crate::text::Value<'_>,
            ) -> core::result::Result<Self, $crate::text::ReadFault> {
                let index = from.choice(&[$($name),*])?;
                Ok([$(Self::$variant),*][index])
            }
        }

        impl $crate::text::Write for $type {
            fn write(&self, to: &mut $crate::text::Tree<'static>) {
                let name = match self {
                    $(Self::$variant => $name,)*
                };
                to.add(0, $crate::text::Kind::Text, name);
            }
        }
    )*};
}

/// The name of a field in text.
macro_rules! field_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

/// The serde form of types, which is that of their text.
macro_rules! text_serde {
    ($($type:ty),*) => {$(
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(
                &self,
                serializer: S,
            ) -> core::result::Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&$crate::text::Tree::of(self).root(), serializer)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> core::result::Result<Self, D::Error> {
                let tree = <$crate::text::Tree<'static> as serde::Deserialize>::deserialize(
                    deserializer,
                )?;
                tree.read().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

pub(crate) use {field_name, read_field, text_enums, text_serde, text_structs, write_field};
