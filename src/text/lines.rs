//! Positions of the parts of a TOML text, for errors that name lines.

use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The largest depth of a part's field: `motion.blend_1d.points[2].clip`.
const MAX_DEPTH: usize = 4;
/// A length that the path of no such field exceeds.
const MAX_PATH: usize = 64;
/// If there are more fields than this, an error names the line of the part.
const MAX_FIELDS: usize = 1 << 18;

/// The byte position of each part and of each of its fields. `A` identifies the part, as data. Its
/// default is the text as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TextLines<A> {
    /// The empty field is the part itself.
    starts: BTreeMap<(A, String), usize>,
    /// The byte position of each line except the first.
    breaks: Vec<usize>,
}

impl<A: Copy + Ord + Default> TextLines<A> {
    /// Creates the index of a text in which no part is known yet.
    pub(crate) fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            breaks: ends.map(|(at, _)| at + 1).collect(),
            starts: BTreeMap::new(),
        }
    }

    /// Adds the parts that are the elements of a list of tables. For the fields in `lists`, only
    /// their start is stored.
    pub(crate) fn list(
        &mut self,
        table: &DeTable<'_>,
        list: &str,
        at: impl Fn(usize) -> A,
        lists: &[&str],
    ) {
        for (index, value) in elements(table, list).enumerate() {
            self.part(at(index), value, lists);
        }
    }

    /// Adds a part that is a single value.
    pub(crate) fn part(&mut self, at: A, value: &Spanned<DeValue<'_>>, lists: &[&str]) {
        self.starts.insert((at, String::new()), value.span().start);
        let DeValue::Table(part) = value.get_ref() else {
            return;
        };
        for (key, value) in part {
            let name = key.get_ref().as_ref();
            self.field(at, name.to_owned(), key.span().start);
            if !lists.contains(&name) {
                self.fields(at, name, value, 0);
            }
        }
    }

    /// Adds the fields inside a field of a part.
    pub(crate) fn fields(&mut self, at: A, path: &str, value: &Spanned<DeValue<'_>>, depth: usize) {
        // Fields inside a field whose path is too long have longer paths, so they are skipped.
        if depth == MAX_DEPTH || path.len() > MAX_PATH {
            return;
        }
        match value.get_ref() {
            DeValue::Table(table) => {
                for (key, value) in table {
                    let path = format!("{path}.{}", key.get_ref());
                    self.field(at, path.clone(), key.span().start);
                    self.fields(at, &path, value, depth + 1);
                }
            }
            DeValue::Array(array) => {
                for (index, value) in array.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    self.field(at, path.clone(), value.span().start);
                    self.fields(at, &path, value, depth + 1);
                }
            }
            _ => {}
        }
    }

    /// Adds a field of a part.
    pub(crate) fn field(&mut self, at: A, path: String, start: usize) {
        if path.len() <= MAX_PATH && self.starts.len() < MAX_FIELDS {
            self.starts.insert((at, path), start);
        }
    }

    /// The line, from 1, that contains a byte.
    pub(crate) fn line_of(&self, byte: usize) -> u32 {
        let line = self.breaks.partition_point(|start| *start <= byte) + 1;
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The line of a field, or of the field or part that contains it.
    pub(crate) fn line(&self, at: A, field: &str) -> Option<u32> {
        let mut path = field;
        loop {
            if let Some(start) = self.starts.get(&(at, path.to_owned())) {
                return Some(self.line_of(*start));
            }
            if path.is_empty() {
                return (at == A::default()).then_some(1);
            }
            path = &path[..path.rfind(['.', '[']).unwrap_or(0)];
        }
    }

    /// The part that contains a byte, which is the last one that begins before it. Also returns the
    /// field and its start.
    pub(crate) fn part_at(&self, byte: usize) -> Option<(A, String, usize)> {
        let before = self.starts.iter().filter(|(_, start)| **start <= byte);
        let last = before.max_by_key(|((_, field), start)| (**start, field.len()));
        last.map(|((at, field), start)| (*at, field.clone(), *start))
    }
}

/// The elements of a list in a table.
pub(crate) fn elements<'t, 'i>(
    table: &'t DeTable<'i>,
    list: &str,
) -> impl Iterator<Item = &'t Spanned<DeValue<'i>>> {
    let array = table.get(list).and_then(|value| value.get_ref().as_array());
    array.into_iter().flat_map(|array| array.iter())
}

/// The text that a table has for a key, cut to a length that fits an error.
pub(crate) fn text_of(value: &Spanned<DeValue<'_>>, key: &str) -> Box<str> {
    let table = value.get_ref().as_table();
    let value = table.and_then(|table| table.get(key));
    let text = value.and_then(|value| value.get_ref().as_str());
    crate::error::cut(text.unwrap_or_default())
}
