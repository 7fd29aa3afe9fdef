//! Errors of the JSON parser.

use super::fault::{fault, message};
use crate::error::{AssetFault, ObjectKind, Result};
use crate::text::{Format, plain};

/// The fault that the parser found, in words of the format.
pub(super) fn json_fault(error: &serde_json::Error) -> AssetFault {
    // The parser's message ends with the position, which has its own fields here.
    let words = error.to_string();
    let end = words.rfind(" at line ").unwrap_or(words.len());
    AssetFault::Json {
        what: message(&plain(&words[..end], Format::Json)),
        line: error.line(),
        column: error.column(),
    }
}

/// Checks that nothing follows the document.
pub(super) fn json_end<'de>(
    parser: &mut serde_json::Deserializer<impl serde_json::de::Read<'de>>,
) -> Result<()> {
    parser.end().map_err(|error| {
        let why = AssetFault::Json {
            what: "text follows the end of the JSON".into(),
            line: error.line(),
            column: error.column(),
        };
        fault(ObjectKind::File, None, "", why)
    })
}
