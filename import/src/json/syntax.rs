//! Faults of the syntax: the path to them, and their messages.

use super::value::Step;
use core::fmt;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;

/// The path of the last value before a fault, and the message.
pub(super) fn fault(text: &str, why: &serde_json::Error) -> (Vec<Step<'static>>, String) {
    let mut path = Vec::new();
    let root = Walk {
        path: &mut path,
        depth: 0,
        step: None,
    };
    // The walk stops at the same fault, or at an earlier one of another kind.
    let _ = root.deserialize(&mut serde_json::Deserializer::from_str(text));
    let lines = text.split_inclusive('\n').take(why.line() - 1);
    let start: usize = lines.map(str::len).sum();
    let at = start + why.column().saturating_sub(1);
    let before = text.get(..at).unwrap_or_default();
    let closes = text[before.len()..].starts_with(['}', ']']);
    let words = why.to_string();
    // The parser's message ends with the position.
    let what = words
        .rfind(" at line ")
        .map_or(&*words, |end| &words[..end]);
    let what = match what {
        _ if closes && before.trim_end().ends_with(',') => "trailing comma",
        other => other,
    };
    (path, message(what).into())
}

/// Notes the path of each value when it begins.
struct Walk<'p> {
    path: &'p mut Vec<Step<'static>>,
    depth: usize,
    step: Option<Step<'static>>,
}

impl Walk<'_> {
    fn inside(&mut self, step: Step<'static>) -> Walk<'_> {
        Walk {
            path: self.path,
            depth: self.depth + usize::from(self.step.is_some()),
            step: Some(step),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.path.truncate(self.depth);
        self.path.extend(self.step.clone());
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut from: A) -> Result<(), A::Error> {
        let mut index = 0;
        while from
            .next_element_seed(self.inside(Step::Index(index)))?
            .is_some()
        {
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut from: A) -> Result<(), A::Error> {
        while let Some(key) = from.next_key::<String>()? {
            from.next_value_seed(self.inside(Step::Key(Cow::Owned(key))))?;
        }
        Ok(())
    }
}

/// The parser's message, in words of the format.
fn message(words: &str) -> &str {
    match words {
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
