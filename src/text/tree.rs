//! A tree of plain values, read once from text, with the position of each value.
//!
//! ```text
//! TOML, serde, saved bytes ──▶ Tree ──Read──▶ plain data
//! plain data ──Write──▶ Tree ──▶ TOML, serde, saved bytes
//! ```
//!
//! A value takes 16 bytes, however long its text is. Numbers and strings are converted when they
//! are read, so only values that are used are checked.

use crate::bytes::{Reader, Save, invalid};
use crate::error::Result;
use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    Text,
    /// A date or a time, which only TOML has.
    #[cfg(feature = "toml")]
    Date,
    List,
    /// Keys and values in turn. The keys are texts.
    Map,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    /// The byte of the source at which the value begins, or the key before it.
    pub(super) at: u32,
    /// The range of a scalar's text. For a list or map, `end` is the node after its contents.
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: Kind,
}

/// Values in the order of the text, each list and map before its contents.
#[derive(Debug, Clone)]
pub(crate) struct Tree<'t> {
    /// The source. Text that is not in it as it is follows.
    pub(super) text: Cow<'t, str>,
    pub(super) nodes: Vec<Node>,
    /// The word of the format for a map.
    pub(super) map: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Value<'a> {
    pub(super) tree: &'a Tree<'a>,
    pub(super) index: usize,
}

/// The fault of a value that does not have the form of the data.
#[derive(Debug)]
pub(crate) struct ReadFault {
    /// The index of the value in its tree.
    index: usize,
    pub(crate) what: Box<str>,
}

/// A step of the path to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
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
    fn node(self) -> Node {
        self.tree.nodes[self.index]
    }

    pub(crate) fn kind(self) -> Kind {
        self.node().kind
    }

    /// The text of a scalar as it is written, without quotes.
    pub(crate) fn raw(self) -> &'a str {
        let Node { start, end, .. } = self.node();
        let range = start as usize..end as usize;
        self.tree.text.get(range).unwrap_or_default()
    }

    /// The string, or `None` for other values.
    pub(crate) fn text(self) -> Option<&'a str> {
        (self.kind() == Kind::Text).then(|| self.raw())
    }

    /// The number, or `None` for other values.
    pub(crate) fn number(self) -> Option<f64> {
        let number = (self.kind() == Kind::Number).then(|| self.raw().parse().ok());
        number.flatten()
    }

    /// The elements of a list. Other values have none.
    pub(crate) fn items(self) -> Children<'a> {
        self.children(Kind::List)
    }

    /// The keys and values of a map. Other values have none.
    pub(crate) fn entries(self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        let mut children = self.children(Kind::Map);
        core::iter::from_fn(move || children.next().zip(children.next()))
    }

    /// The value of a key, the last one if there are several.
    pub(crate) fn get(self, key: &str) -> Option<Value<'a>> {
        let found = self.entries().filter(|(name, _)| name.is_text(key));
        found.last().map(|(_, value)| value)
    }

    pub(super) fn is_text(self, text: &str) -> bool {
        self.text() == Some(text)
    }

    fn children(self, kind: Kind) -> Children<'a> {
        let node = self.node();
        Children {
            next: Value {
                index: self.index + 1,
                ..self
            },
            end: match node.kind == kind {
                true => node.end as usize,
                false => 0,
            },
        }
    }

    /// The index of the node after the value and its contents.
    fn after(self) -> usize {
        match self.node() {
            Node {
                kind: Kind::List | Kind::Map,
                end,
                ..
            } => end as usize,
            _ => self.index + 1,
        }
    }

    pub(crate) fn path(self) -> Vec<Step<'a>> {
        let mut path = Vec::new();
        let mut at = self.tree.root();
        while at.index < self.index {
            let has = |value: Value<'_>| value.after() > self.index;
            let item = at.items().enumerate().find(|(_, item)| has(*item));
            let entry = || at.entries().find(|(_, value)| has(*value));
            (at, path) = if let Some((index, item)) = item {
                path.push(Step::Index(index));
                (item, path)
            } else if let Some((key, value)) = entry() {
                path.push(Step::Key(key.raw()));
                (value, path)
            } else {
                break;
            };
        }
        path
    }

    /// The value at a path below this one, such as `points[1].at`, or the last one on the way.
    pub(crate) fn at(self, path: &str) -> Value<'a> {
        let mut at = self;
        let mut rest = path;
        loop {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let index = rest
                .strip_prefix('[')
                .and_then(|rest| rest.split_once(']'))
                .and_then(|(index, rest)| Some((at.items().nth(index.parse().ok()?)?, rest)));
            let key = || {
                at.entries().find_map(|(key, value)| {
                    let rest = rest.strip_prefix(key.raw())?;
                    (rest.is_empty() || rest.starts_with(['.', '['])).then_some((value, rest))
                })
            };
            match index.or_else(key) {
                Some(found) => (at, rest) = found,
                None => return at,
            }
        }
    }

    /// The line and the column, from 1, at which the value begins.
    pub(crate) fn line_column(self) -> (usize, usize) {
        self.tree.line_column(self.node().at as usize)
    }

    pub(crate) fn fault(self, what: impl Into<Box<str>>) -> ReadFault {
        let (index, what) = (self.index, what.into());
        ReadFault { index, what }
    }

    pub(crate) fn expected(self, what: &str) -> ReadFault {
        let found = match self.kind() {
            Kind::Text => format!("the string {:?}", self.raw()),
            Kind::List => "an array".into(),
            Kind::Map => self.tree.map.into(),
            _ => self.raw().into(),
        };
        self.fault(format!("must be {what}, but is {found}"))
    }
}

/// The elements of a list, or the keys and values of a map.
#[derive(Debug, Clone)]
pub(crate) struct Children<'a> {
    next: Value<'a>,
    end: usize,
}

impl<'a> Iterator for Children<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let value = self.next;
        let is_there = value.index < self.end;
        is_there.then(|| {
            self.next.index = value.after();
            value
        })
    }
}

impl<'t> Tree<'t> {
    pub(crate) const fn new(text: Cow<'t, str>, map: &'static str) -> Self {
        let nodes = Vec::new();
        Self { text, nodes, map }
    }

    pub(crate) fn root(&self) -> Value<'_> {
        Value {
            tree: self,
            index: 0,
        }
    }

    pub(crate) fn value(&self, fault: &ReadFault) -> Value<'_> {
        Value {
            tree: self,
            index: fault.index,
        }
    }

    pub(super) fn line_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n');
        (line, at - start.map_or(0, |start| start + 1) + 1)
    }

    pub(crate) fn open(&mut self, at: u32, kind: Kind) -> usize {
        self.push(at, kind, 0..0);
        self.nodes.len() - 1
    }

    /// Ends a list or a map.
    pub(crate) fn close(&mut self, index: usize) {
        self.nodes[index].end = self.nodes.len() as u32;
    }

    pub(crate) fn add(&mut self, at: u32, kind: Kind, text: &str) {
        let start = self.text.len();
        self.text.to_mut().push_str(text);
        self.push(at, kind, start..self.text.len());
    }

    /// Adds a scalar whose text the tree has already. Texts have fewer than 4 GiB.
    pub(super) fn push(&mut self, at: u32, kind: Kind, text: core::ops::Range<usize>) {
        self.nodes.push(Node {
            at,
            start: text.start as u32,
            end: text.end as u32,
            kind,
        });
    }
}

/// The most lists and maps inside each other in a saved tree.
const MAX_SAVED_DEPTH: usize = 32;

impl Save for Tree<'static> {
    fn save(&self, to: &mut Vec<u8>) {
        save(self.root(), to);
    }

    fn load(from: &mut Reader<'_>) -> Result<Self> {
        let mut tree = Tree::new(Cow::Borrowed(""), "a map");
        tree.load_value(from, 0)?;
        Ok(tree)
    }
}

fn save(value: Value<'_>, to: &mut Vec<u8>) {
    let scalar = |tag: u8, to: &mut Vec<u8>| {
        tag.save(to);
        Box::<str>::from(value.raw()).save(to);
    };
    match value.kind() {
        Kind::Null => 0_u8.save(to),
        Kind::Bool => scalar(1, to),
        Kind::Number => scalar(2, to),
        Kind::List => {
            (4_u8, value.items().count()).save(to);
            value.items().for_each(|item| save(item, to));
        }
        Kind::Map => {
            (5_u8, value.entries().count()).save(to);
            for (key, value) in value.entries() {
                save(key, to);
                save(value, to);
            }
        }
        _ => scalar(3, to),
    }
}

impl Tree<'static> {
    fn load_value(&mut self, from: &mut Reader<'_>, depth: usize) -> Result<Kind> {
        let (kind, each) = match u8::load(from)? {
            0 => (Kind::Null, 0),
            1 => (Kind::Bool, 0),
            2 => (Kind::Number, 0),
            3 => (Kind::Text, 0),
            4 => (Kind::List, 1),
            5 => (Kind::Map, 2),
            _ => return Err(invalid("description", "has a value of an unknown kind")),
        };
        if each == 0 {
            let text = match kind {
                Kind::Null => Box::default(),
                _ => Box::<str>::load(from)?,
            };
            self.add(0, kind, &text);
            return Ok(kind);
        }
        if depth == MAX_SAVED_DEPTH {
            return Err(invalid("description", "is nested too deeply"));
        }
        let index = self.open(0, kind);
        for _ in 0..usize::load(from)? {
            if each == 2 && self.load_value(from, depth + 1)? != Kind::Text {
                return Err(invalid("description", "has a key that is not a string"));
            }
            self.load_value(from, depth + 1)?;
        }
        self.close(index);
        Ok(kind)
    }
}
