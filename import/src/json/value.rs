//! A value of a JSON text.
//!
//! It is a piece of the text, which `serde_json` has checked, and is split when it is used. So
//! numbers keep all their digits, and what is skipped may be nested to any depth.

use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    Text,
    List,
    Map,
}

/// A value: its text, which is JSON without spaces around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a>(&'a str);

/// The fault of a value that does not have the form of the data.
#[derive(Debug)]
pub(crate) struct ReadFault {
    /// The address of the value's text.
    pub(super) at: usize,
    pub(super) what: Box<str>,
}

/// A step of the path to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(Cow<'a, str>),
    Index(usize),
}

/// A path as text, such as `layers[2].name`.
pub(crate) fn path_text(path: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
        }
    }
    text
}

impl<'a> Value<'a> {
    pub(super) fn of(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }

    pub(crate) fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'{') => Kind::Map,
            Some(b'[') => Kind::List,
            Some(b'"') => Kind::Text,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The text of a scalar as it is written, without quotes.
    pub(crate) fn raw(self) -> &'a str {
        let inside = self.0.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        inside.unwrap_or(self.0)
    }

    /// The string, or `None` for other values and for escapes that are invalid.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self.kind() {
            Kind::Text if self.0.contains('\\') => serde_json::from_str(self.0).ok(),
            Kind::Text => Some(Cow::Borrowed(self.raw())),
            _ => None,
        }
    }

    pub(crate) fn is_text(self, text: &str) -> bool {
        match self.0.contains('\\') {
            false => self.kind() == Kind::Text && self.raw() == text,
            true => self.text().is_some_and(|own| own == text),
        }
    }

    /// The number, or `None` for other values.
    pub(crate) fn number(self) -> Option<f64> {
        let number = (self.kind() == Kind::Number).then(|| self.0.parse().ok());
        number.flatten()
    }

    /// The elements of a list. Other values have none.
    pub(crate) fn items(self) -> impl ExactSizeIterator<Item = Self> {
        let items = (self.kind() == Kind::List).then(|| self.contents());
        items.unwrap_or_default().into_iter()
    }

    /// The keys and values of a map. Other values have none.
    pub(crate) fn entries(self) -> Vec<(Self, Self)> {
        let contents = (self.kind() == Kind::Map).then(|| self.contents());
        let contents = contents.unwrap_or_default();
        let pairs = contents.as_chunks().0.iter();
        pairs.map(|[key, value]| (*key, *value)).collect()
    }

    /// The values in a list, or the keys and values of a map in turn.
    fn contents(self) -> Vec<Self> {
        let mut contents = Vec::new();
        // Without the brackets.
        let mut rest = self.0.get(1..self.0.len() - 1).unwrap_or_default();
        loop {
            rest = rest.trim_start_matches(BETWEEN);
            if rest.is_empty() {
                return contents;
            }
            let (value, after) = rest.split_at(length(rest));
            contents.push(Self(value));
            rest = after;
        }
    }

    pub(crate) fn map(self) -> Result<Map<'a>, ReadFault> {
        match self.kind() {
            Kind::Map => Ok(Map {
                value: self,
                entries: self.entries(),
            }),
            _ => Err(self.expected("an object")),
        }
    }

    /// The value of a key of a map, the last one if there are several.
    #[cfg(feature = "gltf")]
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        let mut entries = self.entries().into_iter();
        let found = entries.rfind(|(name, _)| name.is_text(key));
        found.map(|(_, value)| value)
    }

    /// The number of elements of the lists in the value, together. Numbers do not count.
    #[cfg(feature = "gltf")]
    pub(crate) fn element_count(self) -> usize {
        let (mut is_list, mut count, mut at) = (Vec::new(), 0, 0);
        while let Some(byte) = self.0.as_bytes().get(at) {
            let in_list = is_list.last() == Some(&true);
            at += match byte {
                b'"' => string_length(&self.0.as_bytes()[at..]),
                _ => 1,
            };
            match byte {
                b'{' | b'[' => is_list.push(*byte == b'['),
                b'}' | b']' => {
                    is_list.pop();
                    continue;
                }
                // Each of the words has one of these letters once.
                b'"' | b't' | b'f' | b'n' => {}
                _ => continue,
            }
            count += usize::from(in_list);
        }
        count
    }

    /// The address of the text.
    fn at(self) -> usize {
        self.0.as_ptr() as usize
    }

    pub(super) fn path_to(self, address: usize) -> Vec<Step<'a>> {
        let has = |value: Self| (value.at()..value.at() + value.0.len()).contains(&address);
        let (mut at, mut path) = (self, Vec::new());
        while at.at() < address {
            let item = at.items().enumerate().find(|(_, item)| has(*item));
            let mut entries = at.entries().into_iter();
            let step;
            (step, at) = match item {
                Some((index, item)) => (Step::Index(index), item),
                None => match entries.find(|(_, value)| has(*value)) {
                    Some((key, value)) => (Step::Key(key.text().unwrap_or_default()), value),
                    None => break,
                },
            };
            path.push(step);
        }
        path
    }

    pub(crate) fn fault(self, what: impl Into<Box<str>>) -> ReadFault {
        let (at, what) = (self.at(), what.into());
        ReadFault { at, what }
    }

    pub(crate) fn expected(self, what: &str) -> ReadFault {
        let found = match self.kind() {
            Kind::Text => format!("the string {:?}", self.text().unwrap_or_default()),
            Kind::List => "an array".into(),
            Kind::Map => "an object".into(),
            _ => self.0.into(),
        };
        self.fault(format!("must be {what}, but is {found}"))
    }
}

/// The characters between values.
const BETWEEN: [char; 6] = [' ', '\t', '\n', '\r', ',', ':'];

/// The length of the value with which a text begins. The text is part of JSON that was checked.
fn length(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => at += string_length(&text.as_bytes()[at..]),
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' if depth == 0 => return at,
            _ => at += 1,
        }
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {}
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    at.min(text.len())
}

/// The length of the string with which a text begins, with its quotes.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        at += 1 + usize::from(*byte == b'\\');
        if *byte == b'"' {
            break;
        }
    }
    at.min(text.len())
}

/// A map, split into its entries.
#[derive(Debug)]
pub(crate) struct Map<'a> {
    pub(crate) value: Value<'a>,
    pub(crate) entries: Vec<(Value<'a>, Value<'a>)>,
}
