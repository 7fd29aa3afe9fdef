//! JSON documents: plain data from text, with the path and the position of errors.

mod read;
mod syntax;
mod value;

pub(crate) use read::{List, Read, file_structs, none, read_field};
#[cfg(feature = "gltf")]
pub(crate) use value::{Kind, Map};
pub(crate) use value::{ReadFault, Step, Value, path_text};

use crate::fault::message;
use serde_json::value::RawValue;
use throng::error::{AssetFault, Error, Object, Result};

/// Reads a document. `object` is the object at a path. If the JSON does not have the form of the
/// document, `other` may know a better error.
pub(crate) fn document<T: Read>(
    text: &str,
    object: fn(&[Step<'_>]) -> Object,
    other: fn(Value<'_>) -> Option<Error>,
) -> Result<T> {
    let error = |path: &[Step<'_>], what: &str, (line, column)| {
        let what = message(what);
        Error::asset(object(path), AssetFault::Json { what, line, column })
    };
    let root = match serde_json::from_str::<&RawValue>(text) {
        Ok(root) => Value::of(root),
        Err(why) => {
            let at = (why.line(), why.column());
            let (path, what) = syntax::fault(text, &why);
            return Err(error(&path, &what, at));
        }
    };
    T::read(root).map_err(|fault| {
        let at = fault.at - text.as_ptr() as usize;
        let own = || error(&root.path_to(fault.at), &fault.what, line_column(text, at));
        other(root).unwrap_or_else(own)
    })
}

/// The line and the column of a byte, from 1.
fn line_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n');
    (line, at - start.map_or(0, |start| start + 1) + 1)
}
