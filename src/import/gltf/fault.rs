//! Errors about the contents of a glTF file.

use crate::error::{AssetFault, Object, Result};
use crate::import::fault::fault_of;
pub(super) use crate::import::fault::{cut, malformed, message, not_allowed};

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
            Err(fault_of(object, why))
        }
    }
}
