//! JSON documents: their errors, and lists with a limit.

use super::fault::{fault_of, message};
use crate::error::{AssetFault, Error, Object, Result};
use crate::text::{JsonFault, Kind, Read, ReadFault, Step, Value, json};
use core::ops::Deref;

/// Reads a document. `object` is the object at a path. If the JSON does not have the form of the
/// document, `other` may know a better error.
pub(super) fn document<T: Read>(
    text: &str,
    object: fn(&[Step<'_>]) -> Object,
    other: fn(Value<'_>) -> Option<Error>,
) -> Result<T> {
    let error = |path: &[Step<'_>], JsonFault { what, line, column }| {
        let what = message(&what);
        fault_of(object(path), AssetFault::Json { what, line, column })
    };
    let tree = json(text).map_err(|(fault, path)| error(&path, fault))?;
    T::read(tree.root()).map_err(|fault| {
        let value = tree.value(&fault);
        let (what, (line, column)) = (fault.what, value.line_column());
        let own = || error(&value.path(), JsonFault { what, line, column });
        other(tree.root()).unwrap_or_else(own)
    })
}

/// A list of at most `MOST` elements.
///
/// So a file with a few bytes per element cannot take a hundred times its size in memory.
#[derive(Debug)]
pub(super) struct List<T, const MOST: usize>(pub(super) Vec<T>);

impl<T, const MOST: usize> Default for List<T, MOST> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MOST: usize> Deref for List<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Read, const MOST: usize> Read for List<T, MOST> {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        if from.kind() == Kind::List && from.items().nth(MOST).is_some() {
            return Err(from.fault(format!("a list of more than {MOST} elements")));
        }
        Read::read(from).map(Self)
    }
}

/// The default of a field that may be absent.
pub(super) fn none<T: Default>() -> T {
    T::default()
}
