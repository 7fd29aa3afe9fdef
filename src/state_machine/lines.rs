//! The locations and names of the parts of a state machine's text.

use super::fault::At;
use crate::error::DescPart;
use crate::text::{TextLines, elements, text_of};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// The start of each part and of each of its fields, and the names of the parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Lines {
    pub(crate) places: TextLines<At>,
    names: BTreeMap<At, [Box<str>; 2]>,
}

impl Lines {
    /// Reads a text, whole or broken, as far as it can be read.
    pub(crate) fn of(text: &str) -> Self {
        let (root, _) = DeTable::parse_recoverable(text);
        Self::of_table(text, root.get_ref())
    }

    /// Reads a state machine that is a table in a larger text.
    pub(crate) fn of_table(text: &str, root: &DeTable<'_>) -> Self {
        let mut lines = Self {
            places: TextLines::new(text),
            names: BTreeMap::new(),
        };
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
        let lists: &[&str] = match at(0) {
            At::Layer(_) => &["state", "transition"],
            _ => &[],
        };
        self.places.list(table, list, &at, lists);
        for (index, value) in elements(table, list).enumerate() {
            let at = at(index);
            let names = match at {
                At::Transition(..) => [text_of(value, "from"), text_of(value, "to")],
                _ => [text_of(value, "name"), Box::default()],
            };
            self.names.insert(at, names);
        }
    }

    /// The part and the field at a byte, and the start of that field.
    pub(crate) fn part_at(&self, byte: usize) -> Option<(DescPart, String, usize)> {
        let (at, field, start) = self.places.part_at(byte)?;
        Some((self.part(at), field, start))
    }

    /// The name of a part, as far as the text could be read.
    pub(crate) fn part(&self, at: At) -> DescPart {
        let named = |at: At| self.names.get(&at).cloned().unwrap_or_default();
        let [name, to] = named(at);
        match at {
            At::Whole => DescPart::StateMachine,
            At::Parameter(index) => DescPart::Parameter { index, name },
            At::Mask(index) => DescPart::Mask { index, name },
            At::Layer(index) => DescPart::Layer { index, name },
            At::State(layer, index) => {
                let [layer, _] = named(At::Layer(layer));
                DescPart::State { layer, index, name }
            }
            At::Transition(layer, index) => {
                let [layer, _] = named(At::Layer(layer));
                DescPart::Transition {
                    layer,
                    index,
                    from: name,
                    to,
                }
            }
        }
    }
}
