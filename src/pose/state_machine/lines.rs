//! Where the parts of a text are.

use super::fault::{At, StateMachinePart, cut};
use std::collections::BTreeMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// How deep a field that a machine has can lie: `motion.blend_1d.points[2].clip`.
const MAX_DEPTH: usize = 4;
/// More than the path of any such field takes.
const MAX_PATH: usize = 64;
/// Past these, an error names the line of the part.
const MAX_FIELDS: usize = 1 << 18;

/// The byte at which each part and each of its fields begins, and the names of the parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Lines {
    /// The empty field is the part itself.
    starts: BTreeMap<(At, String), usize>,
    names: BTreeMap<At, [Box<str>; 2]>,
    /// The byte at which each line but the first begins.
    breaks: Vec<usize>,
}

impl Lines {
    /// Of a text, whole or broken: as much as can be read of it.
    pub(super) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let mut lines = Self {
            breaks: ends.map(|(at, _)| at + 1).collect(),
            ..Self::default()
        };
        let (root, _) = DeTable::parse_recoverable(text);
        let root = root.get_ref();
        lines.parts(root, "parameter", At::Parameter);
        lines.parts(root, "mask", At::Mask);
        lines.parts(root, "layer", At::Layer);
        for (layer, value) in elements(root, "layer").enumerate() {
            if let DeValue::Table(table) = value.get_ref() {
                lines.parts(table, "state", |index| At::State(layer, index));
                lines.parts(table, "transition", |index| At::Transition(layer, index));
            }
        }
        lines
    }

    fn parts(&mut self, table: &DeTable<'_>, list: &str, at: impl Fn(usize) -> At) {
        for (index, value) in elements(table, list).enumerate() {
            let at = at(index);
            self.starts.insert((at, String::new()), value.span().start);
            let DeValue::Table(part) = value.get_ref() else {
                continue;
            };
            let text = |key: &str| -> Box<str> {
                let value = part.get(key).and_then(|value| value.get_ref().as_str());
                cut(value.unwrap_or_default())
            };
            let names = match at {
                At::Transition(..) => [text("from"), text("to")],
                _ => [text("name"), Box::default()],
            };
            self.names.insert(at, names);
            for (key, value) in part {
                let key_name = key.get_ref().as_ref();
                // Of the lists of a layer's parts, only where they begin.
                let deep =
                    !(matches!(at, At::Layer(_)) && matches!(key_name, "state" | "transition"));
                self.field(at, key_name.to_owned(), key.span().start);
                if deep {
                    self.fields(at, key_name, value, 0);
                }
            }
        }
    }

    fn fields(&mut self, at: At, path: &str, value: &Spanned<DeValue<'_>>, depth: usize) {
        // What lies in a field of too long a path has a longer one: it is not even made.
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

    fn field(&mut self, at: At, path: String, start: usize) {
        if path.len() <= MAX_PATH && self.starts.len() < MAX_FIELDS {
            self.starts.insert((at, path), start);
        }
    }

    /// The line, from 1, in which a byte lies.
    pub(super) fn line_of(&self, byte: usize) -> u32 {
        let line = self.breaks.partition_point(|start| *start <= byte) + 1;
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The line of a field, or of what it lies in.
    pub(super) fn line(&self, at: At, field: &str) -> Option<u32> {
        let mut path = field;
        loop {
            if let Some(start) = self.starts.get(&(at, path.to_owned())) {
                return Some(self.line_of(*start));
            }
            if path.is_empty() {
                return (at == At::Whole).then_some(1);
            }
            path = &path[..path.rfind(['.', '[']).unwrap_or(0)];
        }
    }

    /// The part in which a byte lies: the last that begins before it; and the field.
    pub(super) fn part_at(&self, byte: usize) -> (At, String) {
        let before = self.starts.iter().filter(|(_, start)| **start <= byte);
        let last = before.max_by_key(|((_, field), start)| (**start, field.len()));
        last.map_or((At::Whole, String::new()), |((at, field), _)| {
            (*at, field.clone())
        })
    }

    /// A part's name, as far as the text could be read.
    pub(super) fn part(&self, at: At) -> StateMachinePart {
        let named = |at: At| self.names.get(&at).cloned().unwrap_or_default();
        let [name, to] = named(at);
        match at {
            At::Whole => StateMachinePart::Whole,
            At::Parameter(index) => StateMachinePart::Parameter { index, name },
            At::Mask(index) => StateMachinePart::Mask { index, name },
            At::Layer(index) => StateMachinePart::Layer { index, name },
            At::State(layer, index) => {
                let [layer, _] = named(At::Layer(layer));
                StateMachinePart::State { layer, index, name }
            }
            At::Transition(layer, index) => {
                let [layer, _] = named(At::Layer(layer));
                StateMachinePart::Transition {
                    layer,
                    index,
                    from: name,
                    to,
                }
            }
        }
    }
}

fn elements<'t, 'i>(
    table: &'t DeTable<'i>,
    list: &str,
) -> impl Iterator<Item = &'t Spanned<DeValue<'i>>> {
    let array = table.get(list).and_then(|value| value.get_ref().as_array());
    array.into_iter().flat_map(|array| array.iter())
}
