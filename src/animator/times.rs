//! The times that updates and pictures can have.

use crate::error::{ArgumentFault, Error, Result, expect_finite, expect_in};
use crate::state_machine::StateMachine;

/// The longest time after the last update that a pose can be evaluated for, in seconds.
pub(super) const MAX_AHEAD_S: f64 = 1.0;

/// Checks the time of an update.
pub(crate) fn check_time(now_s: f64) -> Result<()> {
    let most_s = StateMachine::MAX_TIME_S;
    expect_in("now_s", now_s, -most_s, most_s)
}

/// Checks the time of a picture after an update at `now_s`.
pub(crate) fn check_shown(time_s: f64, now_s: f64) -> Result<()> {
    let ahead_s = expect_finite("time_s", time_s).map(|()| time_s - now_s)?;
    if (0.0..=MAX_AHEAD_S).contains(&ahead_s) {
        return Ok(());
    }
    let (value, updated) = (time_s, now_s);
    let why = ArgumentFault::NotUpdated { value, updated };
    Err(Error::argument("time_s", why))
}
