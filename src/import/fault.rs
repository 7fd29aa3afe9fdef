//! Errors about objects of the file that is imported.

use crate::error::{AssetFault, Error, Object, ObjectKind};

/// An error about an object of the current file. The file's name is filled in later.
pub(super) fn fault(
    kind: ObjectKind,
    index: impl Into<Option<usize>>,
    part: impl Into<Box<str>>,
    why: AssetFault,
) -> Error {
    let object = Object {
        kind,
        index: index.into(),
        part: part.into(),
    };
    fault_of(object, why)
}

/// An error about this object of the current file.
pub(super) fn fault_of(object: Object, why: AssetFault) -> Error {
    Error::Asset {
        file: Box::default(),
        object,
        why,
    }
}

/// The object with this index in the file's list of such objects.
pub(super) fn object(kind: ObjectKind, index: usize, part: impl Into<Box<str>>) -> Object {
    Object {
        kind,
        index: Some(index),
        part: part.into(),
    }
}

/// The fault of an index past the end of a list with `count` elements.
pub(super) fn dangling(what: &'static str, index: usize, count: usize) -> AssetFault {
    AssetFault::Dangling {
        what,
        index: index as u64,
        count: count as u64,
    }
}
