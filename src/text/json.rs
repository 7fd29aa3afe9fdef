//! JSON to a tree of values.
//!
//! `serde_json` checks the syntax. Positions are noted afterwards, in text that is known to be
//! JSON, without recursion. So values that are skipped may be nested to any depth.

use super::tree::{Kind, Step, Tree, Value};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A fault of the syntax, or of a value.
#[derive(Debug)]
pub(crate) struct JsonFault {
    pub(crate) what: Box<str>,
    /// From 1.
    pub(crate) line: usize,
    /// From 1. 0 is the start of an empty text.
    pub(crate) column: usize,
}

/// Reads a text of fewer than 4 GiB.
///
/// # Errors
/// The fault, with the path of the value that it is in.
pub(crate) fn json(text: &str) -> Result<Tree<'_>, (JsonFault, Vec<Step<'static>>)> {
    let Err(error) = serde_json::from_str::<&RawValue>(text) else {
        return Ok(scan(text));
    };
    let (line, column) = (error.line(), error.column());
    let start: usize = text
        .split_inclusive('\n')
        .take(line - 1)
        .map(str::len)
        .sum();
    let before = text
        .get(..start + column.saturating_sub(1))
        .unwrap_or_default();
    let tree = scan(before);
    let last = tree.nodes.len().saturating_sub(1);
    let path = match tree.nodes.is_empty() {
        true => Vec::new(),
        false => Value {
            tree: &tree,
            index: last,
        }
        .path(),
    };
    let owned = |step| match step {
        Step::Key(key) => Step::Key(Cow::Owned(Cow::into_owned(key))),
        Step::Index(index) => Step::Index(index),
    };
    let path = path.into_iter().map(owned).collect();
    let words = error.to_string();
    // The parser's message ends with the position.
    let what = words
        .rfind(" at line ")
        .map_or(&*words, |end| &words[..end]);
    let closes = text[before.len()..].starts_with(['}', ']']);
    let what = match what {
        _ if closes && before.trim_end().ends_with(',') => "trailing comma",
        other => other,
    };
    let what = syntax(what).into();
    Err((JsonFault { what, line, column }, path))
}

/// Notes the values of a text that is JSON, or the start of such a text.
fn scan(text: &str) -> Tree<'_> {
    let bytes = text.as_bytes();
    let mut tree = Tree::new(Cow::Borrowed(text), "an object");
    let mut open = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = bytes[at..].iter();
        let (kind, length) = match byte {
            b'{' | b'[' => {
                let kind = if *byte == b'{' { Kind::Map } else { Kind::List };
                open.push(tree.open(at as u32, kind));
                at += 1;
                continue;
            }
            b'}' | b']' => {
                open.pop().into_iter().for_each(|index| tree.close(index));
                at += 1;
                continue;
            }
            b'"' => {
                at += string(&mut tree, at);
                continue;
            }
            b't' | b'f' => (Kind::Bool, 4 + usize::from(*byte == b'f')),
            b'n' => (Kind::Null, 4),
            b'-' | b'0'..=b'9' => {
                let is_number = |byte: &&u8| !matches!(byte, b',' | b']' | b'}' | b'\t'..=b' ');
                (Kind::Number, rest.take_while(is_number).count())
            }
            // Space, and the marks between values.
            _ => {
                at += 1;
                continue;
            }
        };
        let end = (at + length).min(bytes.len());
        tree.push(at as u32, kind, at..end);
        at = end;
    }
    open.into_iter().for_each(|index| tree.close(index));
    tree
}

/// Notes the string that begins at a byte, and returns its length with the quotes.
fn string(tree: &mut Tree<'_>, at: usize) -> usize {
    let bytes = tree.text.as_bytes();
    let (mut end, mut escaped) = (at + 1, false);
    while let Some(byte) = bytes.get(end)
        && *byte != b'"'
    {
        escaped |= *byte == b'\\';
        end += 1 + usize::from(*byte == b'\\');
    }
    let end = end.min(bytes.len());
    tree.push(at as u32, Kind::Text, at + 1..end);
    if let Some(node) = tree.nodes.last_mut() {
        node.escaped = escaped;
    }
    end + 1 - at
}

/// The parser's message, in words of the format.
fn syntax(message: &str) -> &str {
    match message {
        "expected value" => "is not JSON: a value must be here",
        "expected ident" => "is not JSON: a value must be here, such as true, false or null",
        "EOF while parsing a list" => "the text ends inside an array",
        "EOF while parsing an object" => "the text ends inside an object",
        "EOF while parsing a string" => "the text ends inside a string",
        "EOF while parsing a value" => "the text ends where a value must be",
        "expected `:`" => "a colon must be here",
        "expected `,` or `]`" => "a comma or the end of the array must be here",
        "expected `,` or `}`" => "a comma or the end of the object must be here",
        "key must be a string" => "the name of a field must be a string",
        "trailing comma" => "a comma is before the end of an array or object",
        "trailing characters" => "text follows the end of the JSON",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a string has a control character, which must be escaped"
        }
        "unexpected end of hex escape" | "invalid escape" => "a string has an invalid escape",
        "invalid number" => "a number is malformed",
        other => other,
    }
}
