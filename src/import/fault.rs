//! Errors about objects of the raw data.

pub(super) use crate::error::cut;
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};

/// An error about an object of the current file. The file's name is filled in later.
pub(super) fn fault(
    kind: ObjectKind,
    index: impl Into<Option<usize>>,
    part: impl Into<Box<str>>,
    why: AssetFault,
) -> Error {
    Error::asset(Object::new(kind, index, part), why)
}

pub(super) fn file_part(part: impl Into<Box<str>>) -> Object {
    Object::new(ObjectKind::File, None, part)
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
    Err(Error::asset(object(), AssetFault::Cap { what, asked, cap }))
}

/// The fault of a list whose length is wrong.
pub(super) fn wrong_count(what: &'static str, got: usize, need: usize) -> AssetFault {
    let (got, need) = (got as u64, need as u64);
    AssetFault::Count { what, got, need }
}
