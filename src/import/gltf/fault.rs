//! Errors about the contents of a glTF file.

use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::import::fault::{fault, fault_of};

/// Looks up an index in a list.
pub(super) fn lookup<'a, T>(
    list: &'a [T],
    index: u64,
    what: &'static str,
    referrer: impl FnOnce() -> Object,
) -> Result<(usize, &'a T)> {
    let at = usize::try_from(index).ok();
    match at.and_then(|at| Some((at, list.get(at)?))) {
        Some(found) => Ok(found),
        None => Err(fault_of(
            referrer(),
            AssetFault::Dangling {
                what,
                index,
                count: list.len() as u64,
            },
        )),
    }
}

/// Text from a file, cut to a length that fits an error message or a listing.
pub(in crate::import) fn cut(text: &str) -> Box<str> {
    match text.char_indices().nth(200) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

pub(super) fn not_allowed(what: &'static str, got: &str, allowed: &'static str) -> AssetFault {
    AssetFault::NotAllowed {
        what,
        got: cut(got),
        allowed,
    }
}

pub(super) fn malformed(what: &'static str, at: usize) -> Error {
    let at = at as u64;
    fault(
        ObjectKind::File,
        None,
        "",
        AssetFault::Malformed { what, at },
    )
}
