//! Checks of arguments.

use super::{ArgumentFault, Error, Result};

pub(crate) fn expect_len(what: &'static str, got: usize, need: usize) -> Result<()> {
    if got == need {
        Ok(())
    } else {
        Err(Error::Argument {
            what,
            why: ArgumentFault::Length { got, need },
        })
    }
}
