//! Checks of descriptions: names, numbers and counts, with the location of errors.

use crate::error::{DescFault, cut, nearest};
use std::collections::HashMap;

/// The most bytes of a name.
const MAX_NAME: usize = 256;

/// A fault whose part has no name yet. `A` identifies the part, as data.
#[derive(Debug)]
pub(crate) struct Fault<A> {
    pub(crate) at: A,
    pub(crate) field: String,
    pub(crate) why: DescFault,
}

impl<A> Fault<A> {
    pub(crate) fn new(at: A, field: impl Into<String>, why: DescFault) -> Self {
        Self {
            at,
            field: field.into(),
            why,
        }
    }
}

/// The fault of a name that is not valid.
pub(crate) fn bad_name<A>(at: A, name: &str, why: &'static str) -> Fault<A> {
    let name = cut(name);
    Fault::new(at, "name", DescFault::Name { name, why })
}

/// Checks that each name of a list is valid and occurs once.
pub(crate) fn check_names<'d, A>(
    names: impl Iterator<Item = &'d str>,
    at: impl Fn(usize) -> A,
) -> Result<(), Fault<A>> {
    let mut seen = HashMap::new();
    for (index, name) in names.enumerate() {
        let why = if name.is_empty() {
            Some("it is empty")
        } else if name.len() > MAX_NAME {
            Some("it has more than 256 bytes")
        } else if name.chars().any(char::is_control) {
            Some("it has control characters")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(bad_name(at(index), name, why));
        }
        if let Some(of) = seen.insert(name, index) {
            return Err(Fault::new(at(index), "name", DescFault::Duplicate { of }));
        }
    }
    Ok(())
}

/// The index of the item with a name.
pub(crate) fn find<'d, A, I: Iterator<Item = &'d str>>(
    at: A,
    field: &str,
    what: &'static str,
    name: &str,
    names: impl Fn() -> I,
) -> Result<u16, Fault<A>> {
    let found = names().position(|other| other == name);
    let index = found.and_then(|index| u16::try_from(index).ok());
    index.ok_or_else(|| unknown(at, field, what, name, names))
}

/// The fault of a name that does not exist.
pub(crate) fn unknown<'d, A, I: Iterator<Item = &'d str>>(
    at: A,
    field: &str,
    what: &'static str,
    name: &str,
    names: impl Fn() -> I,
) -> Fault<A> {
    let (name, known) = (cut(name), nearest(name, names()));
    Fault::new(at, field, DescFault::Unknown { what, name, known })
}

/// Checks that a count does not exceed its cap.
pub(crate) fn check_cap<A>(
    at: A,
    what: &'static str,
    asked: usize,
    cap: usize,
) -> Result<(), Fault<A>> {
    if asked <= cap {
        return Ok(());
    }
    Err(Fault::new(at, "", DescFault::Cap { what, asked, cap }))
}

pub(crate) fn check_value<A>(
    at: A,
    field: &str,
    value: impl Into<f64>,
    ok: bool,
    allowed: &'static str,
) -> Result<(), Fault<A>> {
    if ok {
        return Ok(());
    }
    let value = value.into();
    Err(Fault::new(at, field, DescFault::Value { value, allowed }))
}
