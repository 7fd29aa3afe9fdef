//! TOML to a tree of values, and back.

use super::check::PartOf;
use super::read::{Read, Write};
use super::tree::{Kind, Tree, Value, path_text};
use crate::error::{DescFault, Error, LFS_POINTER, Result, cut};
use crate::files::is_lfs_pointer;
use std::borrow::Cow;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The largest size of a text, in bytes.
pub(crate) const MAX_TOML_BYTES: usize = 1 << 20;

/// A description, and the text that it was read from.
#[derive(Debug, Clone)]
pub(crate) struct DescText<T> {
    pub(crate) file: Box<str>,
    pub(crate) desc: T,
    tree: Arc<Tree<'static>>,
    /// The path of the description in the text.
    root: &'static str,
}

impl<T: Read> DescText<T> {
    /// Reads a text. Errors name `file`.
    pub(crate) fn parse(file: &str, text: &str, part_of: PartOf) -> Result<Self> {
        let whole = |why| {
            let (part, _) = part_of(Tree::new(Cow::Borrowed(""), "").root(), &[]);
            Error::description((file.into(), None), part, "", why)
        };
        if text.len() > MAX_TOML_BYTES {
            let (what, asked, cap) = ("bytes", text.len(), MAX_TOML_BYTES);
            return Err(whole(DescFault::Cap { what, asked, cap }));
        }
        if is_lfs_pointer(text.as_bytes()) {
            return Err(whole(DescFault::Invalid(LFS_POINTER)));
        }
        let (root, errors) = DeTable::parse_recoverable(text);
        let mut tree = Tree::new(Cow::Owned(text.into()), "a table");
        add_table(&mut tree, 0, root.get_ref());
        let error = |value: Value<'_>, line, what: &str| {
            let path = value.path();
            let (part, steps) = part_of(tree.root(), &path);
            let (line, field) = (u32::try_from(line).ok(), cut(&path_text(&path[steps..])));
            Error::description((file.into(), line), part, field, DescFault::Text(cut(what)))
        };
        if let Some(first) = errors.first() {
            let at = first.span().map_or(0, |span| span.start);
            let (line, _) = tree.line_column(at);
            return Err(error(last_before(&tree, at), line, first.message()));
        }
        match T::read(tree.root()) {
            Ok(desc) => Ok(Self {
                file: file.into(),
                desc,
                tree: Arc::new(tree),
                root: "",
            }),
            Err(fault) => {
                let value = tree.value(&fault);
                Err(error(value, value.line_column().0, &fault.what))
            }
        }
    }
}

impl<T> DescText<T> {
    /// A description that is a part of this one, at a path in the text.
    pub(crate) fn inner<U>(&self, desc: U, root: &'static str) -> DescText<U> {
        DescText {
            file: self.file.clone(),
            desc,
            tree: self.tree.clone(),
            root,
        }
    }

    /// The line of a part and its field, or of what contains it.
    pub(crate) fn line(&self, part: &str, field: &str) -> Option<u32> {
        let value = self.tree.root().at(self.root).at(part).at(field);
        u32::try_from(value.line_column().0).ok()
    }
}

/// The last value that begins before a byte.
fn last_before<'a>(tree: &'a Tree<'_>, at: usize) -> Value<'a> {
    let nodes = tree.nodes.iter().enumerate();
    let before = nodes.filter(|(_, node)| node.at as usize <= at);
    let last = before.max_by_key(|(_, node)| node.at);
    Value {
        tree,
        index: last.map_or(0, |(index, _)| index),
    }
}

fn add_table(tree: &mut Tree<'static>, at: usize, table: &DeTable<'_>) {
    let map = tree.open(at as u32, Kind::Map);
    for (key, value) in table {
        let at = key.span().start;
        tree.add(at as u32, Kind::Text, key.get_ref());
        add_value(tree, at, value);
    }
    tree.close(map);
}

/// Adds a value. The parser limits the depth.
fn add_value(tree: &mut Tree<'static>, at: usize, value: &Spanned<DeValue<'_>>) {
    let mut add = |kind, text: &str| tree.add(at as u32, kind, text);
    match value.get_ref() {
        DeValue::String(text) => add(Kind::Text, text),
        DeValue::Integer(number) => {
            match i128::from_str_radix(number.as_str(), number.radix()) {
                Ok(whole) => add(Kind::Number, &whole.to_string()),
                Err(_) => add(Kind::Number, number.as_str()),
            };
        }
        DeValue::Float(number) => add(Kind::Number, number.as_str()),
        DeValue::Boolean(truth) => add(Kind::Bool, if *truth { "true" } else { "false" }),
        DeValue::Datetime(date) => add(Kind::Date, &date.to_string()),
        DeValue::Array(array) => {
            let list = tree.open(at as u32, Kind::List);
            for value in array.iter() {
                add_value(tree, value.span().start, value);
            }
            tree.close(list);
        }
        DeValue::Table(table) => add_table(tree, at, table),
    }
}

/// The description as a TOML document. An error names it as `whole`.
pub(crate) fn to_toml<T: Read + Write + PartialEq>(
    desc: &T,
    whole: &str,
    part_of: PartOf,
) -> Result<String> {
    let mut text = String::new();
    write_table(Tree::of(desc).root(), "", &mut text);
    if DescText::<T>::parse("", &text, part_of)?.desc == *desc {
        return Ok(text);
    }
    let why = DescFault::Invalid("the text would read back as different data");
    Err(Error::description(Default::default(), whole, "", why))
}

/// Writes the fields of a table, then those that are tables themselves.
fn write_table(map: Value<'_>, path: &str, to: &mut String) {
    let is_map = |value: Value<'_>| value.kind() == Kind::Map;
    let is_tables = |value: Value<'_>| {
        is_map(value) || value.items().next().is_some() && value.items().all(is_map)
    };
    for (key, value) in map.entries().filter(|(_, value)| !is_tables(*value)) {
        write_key(key, to);
        to.push_str(" = ");
        write_value(value, to);
        to.push('\n');
    }
    for (key, value) in map.entries().filter(|(_, value)| is_tables(*value)) {
        let mut path = path.to_owned();
        if !path.is_empty() {
            path.push('.');
        }
        write_key(key, &mut path);
        let mut table = |map, [start, end]: [&str; 2]| {
            to.push_str(&format!("\n{start}{path}{end}\n"));
            write_table(map, &path, to);
        };
        if is_map(value) {
            table(value, ["[", "]"]);
        }
        value.items().for_each(|item| table(item, ["[[", "]]"]));
    }
}

/// Writes a value in one line.
fn write_value(value: Value<'_>, to: &mut String) {
    match value.kind() {
        Kind::List => {
            to.push('[');
            for (index, item) in value.items().enumerate() {
                to.push_str(if index > 0 { ", " } else { "" });
                write_value(item, to);
            }
            to.push(']');
        }
        Kind::Map => {
            to.push('{');
            for (index, (key, value)) in value.entries().enumerate() {
                to.push_str(if index > 0 { ", " } else { " " });
                write_key(key, to);
                to.push_str(" = ");
                write_value(value, to);
            }
            to.push_str(" }");
        }
        Kind::Text => write_string(value.raw(), to),
        // Not a number is lower case here.
        _ => to.push_str(&value.raw().to_ascii_lowercase()),
    }
}

fn write_key(key: Value<'_>, to: &mut String) {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match key.raw() {
        name if !name.is_empty() && name.chars().all(is_bare) => to.push_str(name),
        name => write_string(name, to),
    }
}

fn write_string(text: &str, to: &mut String) {
    to.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => to.extend(['\\', c]),
            c if c.is_control() => to.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => to.push(c),
        }
    }
    to.push('"');
}
