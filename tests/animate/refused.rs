//! The reasons for which descriptions are refused.

use throng::Error;
use throng::error::DescFault;

/// The error of the part of a description that was refused.
pub(crate) fn refused<T: core::fmt::Debug>(result: Result<T, Error>) -> Error {
    match result {
        Err(Error::Description { why, .. }) => match *why {
            DescFault::Refused(why) => *why,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}
