//! Checks of descriptions: names, numbers and counts, with the location of errors.

use super::Write;
use super::tree::{Step, Tree, Value};
use crate::error::{DescFault, Error, cut, nearest};
use std::collections::HashMap;

/// The most bytes of a name.
const MAX_NAME: usize = 256;

/// The part of a description at a path, and the number of steps that lead to it.
pub(crate) type PartOf = fn(Value<'_>, &[Step<'_>]) -> (String, usize);

/// The location of a part: an element of a list of the description, or of a list of that element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At([Option<(&'static str, usize)>; 2]);

impl At {
    /// The description as a whole.
    pub(crate) const WHOLE: Self = Self([None; 2]);

    /// An element of a list of the description. Lists have their names in text.
    pub(crate) const fn of(list: &'static str, index: usize) -> Self {
        Self([Some((list, index)), None])
    }

    /// An element of a list of this part.
    pub(crate) const fn inside(self, list: &'static str, index: usize) -> Self {
        Self([self.0[0], Some((list, index))])
    }

    pub(crate) fn path(self) -> Vec<Step<'static>> {
        let steps = self.0.into_iter().flatten();
        steps
            .flat_map(|(list, index)| [Step::Key(list), Step::Index(index)])
            .collect()
    }
}

/// A fault whose part has no name yet.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: At,
    pub(crate) field: String,
    why: Box<DescFault>,
}

/// The result of a check that can find a fault.
pub(crate) type Checked<T> = Result<T, Fault>;

impl Fault {
    pub(crate) fn new(at: At, field: impl Into<String>, why: DescFault) -> Self {
        Self {
            at,
            field: field.into(),
            why: Box::new(why),
        }
    }

    /// The fault of a field whose value another check refused.
    pub(crate) fn refused(at: At, field: &str, why: Error) -> Self {
        Self::new(at, field, DescFault::Refused(Box::new(why)))
    }

    /// The error, with the name that the part has in the description.
    pub(crate) fn into_error(
        self,
        desc: &impl Write,
        part_of: PartOf,
        place: (Box<str>, Option<u32>),
    ) -> Error {
        let (part, _) = part_of(Tree::of(desc).root(), &self.at.path());
        Error::description(place, part, self.field, *self.why)
    }
}

/// The fault of a name that is not valid.
pub(crate) fn bad_name(at: At, name: &str, why: &'static str) -> Fault {
    let name = cut(name);
    Fault::new(at, "name", DescFault::Name { name, why })
}

/// Checks that each name of a list is valid and occurs once.
pub(crate) fn check_names<'d>(
    names: impl Iterator<Item = &'d str>,
    at: impl Fn(usize) -> At,
) -> Checked<()> {
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

pub(crate) fn find<'d, I: Iterator<Item = &'d str>>(
    at: At,
    field: &str,
    what: &'static str,
    name: &str,
    names: impl Fn() -> I,
) -> Checked<u16> {
    let found = names().position(|other| other == name);
    let index = found.and_then(|index| u16::try_from(index).ok());
    index.ok_or_else(|| unknown(at, field, what, name, names))
}

/// The fault of a name that does not exist.
pub(crate) fn unknown<'d, I: Iterator<Item = &'d str>>(
    at: At,
    field: &str,
    what: &'static str,
    name: &str,
    names: impl Fn() -> I,
) -> Fault {
    let (name, known) = (cut(name), nearest(name, names()));
    Fault::new(at, field, DescFault::Unknown { what, name, known })
}

/// Checks that a count does not exceed its cap.
pub(crate) fn check_cap(at: At, what: &'static str, asked: usize, cap: usize) -> Checked<()> {
    if asked <= cap {
        return Ok(());
    }
    Err(Fault::new(at, "", DescFault::Cap { what, asked, cap }))
}

pub(crate) fn check_value(
    at: At,
    field: &str,
    value: impl Into<f64>,
    ok: bool,
    allowed: &'static str,
) -> Checked<()> {
    if ok {
        return Ok(());
    }
    let value = value.into();
    Err(Fault::new(at, field, DescFault::Value { value, allowed }))
}
