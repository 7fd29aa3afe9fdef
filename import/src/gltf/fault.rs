//! Errors about the contents of a glTF file.

pub(super) use crate::fault::{cut, malformed, message, not_allowed};
use throng::error::{AssetFault, Error, Object, Result};

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
        None => Err(Error::asset(
            referrer(),
            AssetFault::Dangling {
                what,
                index,
                count: list.len() as u64,
            },
        )),
    }
}

/// Checks that `length` bytes from `start` lie within `len`.
pub(super) fn check_range(
    object: Object,
    what: &'static str,
    start: u64,
    length: u64,
    len: u64,
) -> Result<()> {
    match start.checked_add(length) {
        Some(end) if end <= len => Ok(()),
        end => {
            let why = AssetFault::OutOfBounds {
                what,
                start,
                end: end.unwrap_or(u64::MAX),
                len,
            };
            Err(Error::asset(object, why))
        }
    }
}

/// The error of an image that is not decoded.
pub(super) fn image_failed(object: &Object, why: &str) -> Error {
    Error::asset(object.clone(), AssetFault::Image(message(why)))
}
