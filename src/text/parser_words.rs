//! Messages of parsers, in words of the format.

use core::fmt::Write as _;

/// A text format, with its words for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    #[cfg(any(feature = "gltf", feature = "wgl"))]
    Json,
    #[cfg(feature = "toml")]
    Toml,
}

impl Format {
    /// A value with named fields.
    const fn map(self) -> &'static str {
        match self {
            #[cfg(any(feature = "gltf", feature = "wgl"))]
            Self::Json => "an object",
            #[cfg(feature = "toml")]
            Self::Toml => "a table",
        }
    }
}

/// The message of a parser that serde drives, without the names of Rust's types.
///
/// It says what was expected and what was found. A message of an unknown form stays as it is.
pub(crate) fn plain(message: &str, format: Format) -> String {
    let starts = ["invalid type: ", "invalid value: "];
    let mismatch = starts.iter().find_map(|start| message.strip_prefix(start));
    if let Some((found, expected)) = mismatch.and_then(|rest| rest.rsplit_once(", expected ")) {
        let (expected, found) = (self::expected(expected, format), self::found(found, format));
        return format!("must be {expected}, but is {found}");
    }
    let length = message.strip_prefix("invalid length ");
    if let Some((length, expected)) = length.and_then(|rest| rest.split_once(", expected ")) {
        let expected = self::expected(expected, format);
        return format!("must be {expected}, but has {length}");
    }
    if let Some(name) = quoted(message, "missing field `", "`") {
        return format!("missing field \"{name}\"");
    }
    if let Some(name) = quoted(message, "duplicate field `", "`") {
        return format!("field \"{name}\" appears twice");
    }
    for (start, is_field) in [("unknown field `", true), ("unknown variant `", false)] {
        let Some(rest) = message.strip_prefix(start) else {
            continue;
        };
        if let Some((name, allowed)) = rest.rsplit_once("`, expected ") {
            let allowed = allowed.replace('`', "\"");
            let fields = allowed.strip_prefix("one of ").unwrap_or(&allowed);
            return match is_field {
                true => format!("unknown field \"{name}\": there are {fields}"),
                false => format!("must be {allowed}, but is \"{name}\""),
            };
        }
        if let Some((name, _)) = rest.rsplit_once("`, there are no") {
            return format!("unknown field \"{name}\": there are none");
        }
    }
    syntax(message).unwrap_or(message).to_owned()
}

/// The text between `start` and `end`, if the message is nothing else.
fn quoted<'a>(message: &'a str, start: &str, end: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.strip_suffix(end)
}

/// A value that was found.
fn found(words: &str, format: Format) -> String {
    for (start, name) in [
        ("boolean `", ""),
        ("integer `", ""),
        ("floating point `", ""),
        ("character `", "the character "),
    ] {
        if let Some(value) = quoted(words, start, "`") {
            return format!("{name}{value}");
        }
    }
    if words.starts_with("string ") {
        return format!("the {words}");
    }
    match words {
        "map" => format.map().into(),
        "sequence" => "an array".into(),
        "unit value" | "null" => "null".into(),
        "byte array" => "bytes".into(),
        "enum" | "unit variant" | "newtype variant" | "tuple variant" | "struct variant" => {
            "a name with a value".into()
        }
        other => other.into(),
    }
}

/// The values that are allowed.
fn expected(words: &str, format: Format) -> String {
    let of_size = |size: &str| format!("an array of {size} elements");
    for start in ["an array of length ", "a tuple of size "] {
        if let Some(size) = words.strip_prefix(start) {
            return of_size(size);
        }
    }
    if words.starts_with("struct ") || words.starts_with("tuple struct ") {
        let size = words.rsplit_once(" with ").map(|(_, size)| size);
        let size = size.and_then(|size| size.strip_suffix(" elements"));
        return size.map_or_else(|| format.map().into(), of_size);
    }
    if words.starts_with("enum ") {
        return "one of the known names".into();
    }
    let mut text = String::new();
    for (index, word) in words.split(" or ").enumerate() {
        let word = match word {
            "f32" | "f64" | "a float" => "a number",
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number of at least 0",
            "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "integer" => "a whole number",
            "a sequence" | "a list" | "sequence" | "array" => "an array",
            "a map" | "map" | "table" | "object" => format.map(),
            "string" | "a borrowed string" | "variant identifier" | "field identifier" => {
                "a string"
            }
            "option" => "a value",
            "unit" => "null",
            "bool" => "a boolean",
            other => other,
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{word}", if index > 0 { " or " } else { "" });
    }
    text
}

/// A fault in the syntax of JSON.
fn syntax(message: &str) -> Option<&'static str> {
    Some(match message {
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
        // With text after the end, the parser is at the end of the document.
        "trailing characters" => "the array has too many elements",
        "recursion limit exceeded" => "is nested too deeply: at most 128 levels are read",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "a string has a control character, which must be escaped"
        }
        "invalid unicode code point" | "lone leading surrogate in hex escape" => {
            "a string has an invalid \\u escape"
        }
        "unexpected end of hex escape" | "invalid escape" => "a string has an invalid escape",
        "invalid number" => "a number is malformed",
        "number out of range" => "a number is too large",
        _ => return None,
    })
}
