//! Errors about objects of the file that is imported.

pub(super) use crate::error::cut;
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};

/// An error about an object of the current file. The file's name is filled in later.
pub(super) fn fault(
    kind: ObjectKind,
    index: impl Into<Option<usize>>,
    part: impl Into<Box<str>>,
    why: AssetFault,
) -> Error {
    let (index, part) = (index.into(), part.into());
    fault_of(Object { kind, index, part }, why)
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
    let (index, part) = (Some(index), part.into());
    Object { kind, index, part }
}

/// A part of the file as a whole.
pub(super) fn file_part(part: impl Into<Box<str>>) -> Object {
    let (kind, index, part) = (ObjectKind::File, None, part.into());
    Object { kind, index, part }
}

/// Fails if a count exceeds its cap.
pub(super) fn check_cap(
    object: impl FnOnce() -> Object,
    what: &'static str,
    asked: u64,
    cap: u64,
) -> Result<()> {
    if asked <= cap {
        return Ok(());
    }
    Err(fault_of(object(), AssetFault::Cap { what, asked, cap }))
}

/// Fails unless a list has the length that it needs.
#[cfg(feature = "gltf")]
pub(super) fn expect_count(
    object: impl FnOnce() -> Object,
    what: &'static str,
    got: u64,
    need: u64,
) -> Result<()> {
    if got == need {
        return Ok(());
    }
    Err(fault_of(object(), AssetFault::Count { what, got, need }))
}

/// The fault of a list whose length is wrong.
pub(super) fn wrong_count(what: &'static str, got: usize, need: usize) -> AssetFault {
    let (got, need) = (got as u64, need as u64);
    AssetFault::Count { what, got, need }
}

/// The fault of a number that is not allowed.
pub(super) fn wrong_value(
    what: &'static str,
    index: usize,
    value: impl Into<f64>,
    allowed: &'static str,
) -> AssetFault {
    let (index, value) = (index as u64, value.into());
    AssetFault::Value {
        what,
        index,
        value,
        allowed,
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

#[cfg(any(feature = "gltf", feature = "ezm", feature = "wgl"))]
/// The message of a decoder or parser, on one line and cut to a length that fits an error message.
pub(super) fn message(text: &str) -> Box<str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    cut(&words.join(" "))
}

/// The fault of a value that is not one of the allowed ones.
pub(super) fn not_allowed(what: &'static str, got: &str, allowed: &'static str) -> AssetFault {
    AssetFault::NotAllowed {
        what,
        got: cut(got),
        allowed,
    }
}

#[cfg(any(feature = "gltf", feature = "ezm", feature = "wgl"))]
/// The error of a malformed container or text, at this byte of the file.
pub(super) fn malformed(what: &'static str, at: usize) -> Error {
    let at = at as u64;
    fault(
        ObjectKind::File,
        None,
        "",
        AssetFault::Malformed { what, at },
    )
}
