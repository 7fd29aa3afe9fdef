//! Message text for numbers and ranges.

use core::fmt::{Display, Formatter, Result};

/// A number in few digits, even if it is very large or very small.
///
/// A fraction that fits an `f32` is shown as one: as 1.1, not as 1.100000023841858.
pub(super) struct Number(pub(super) f64);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self(value) = *self;
        let is_plain = value == 0.0 || (1e-6..1e15).contains(&value.abs());
        let short = value as f32;
        // Integers below 1e15 have few digits anyway, and may be counts.
        let is_short = f64::from(short) == value && !(is_plain && value.fract() == 0.0);
        match (is_plain, is_short) {
            (true, true) => write!(f, "{short}"),
            (true, false) => write!(f, "{value}"),
            (false, true) => write!(f, "{short:e}"),
            (false, false) => write!(f, "{value:e}"),
        }
    }
}

/// The limits of a value. The text leaves out a limit that is infinite or the largest number of its
/// type.
pub(super) struct Limits {
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Display for Limits {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { min, max } = *self;
        // The smallest positive number means an open lower end at 0.
        let is_open = min == f64::MIN_POSITIVE || min == f64::from(f32::MIN_POSITIVE);
        let (low, high) = (Number(min), Number(max));
        match (is_limit(min), is_limit(max)) {
            (true, true) if is_open => write!(f, "must be more than 0 and at most {high}"),
            (true, true) => write!(f, "lies outside {low}..={high}"),
            (true, false) if is_open => write!(f, "must be more than 0"),
            (true, false) => write!(f, "must be at least {low}"),
            (false, true) => write!(f, "must be at most {high}"),
            (false, false) => write!(f, "must be finite"),
        }
    }
}

fn is_limit(end: f64) -> bool {
    let end = end.abs();
    end != f64::from(f32::MAX) && end < f64::MAX
}
