//! Limits of the JSON of glTF, and the lists that keep them.

use crate::json::{self, Read, ReadFault, Value};
use core::ops::Deref;
use std::collections::BTreeMap;

/// The most elements of any list. Otherwise a file with a few bytes per element could take a
/// hundred times its size in memory.
pub(super) const MAX_LIST: usize = 1 << 18;

/// The most attributes of one primitive. They are visited once for each node that carries it.
pub(super) const MAX_ATTRIBUTES: usize = 1 << 12;

/// A list of at most [`MAX_LIST`] elements.
pub(super) type List<T> = json::List<T, MAX_LIST>;

/// The accessors of a primitive's attributes by name, at most [`MAX_ATTRIBUTES`] of them.
#[derive(Debug)]
pub(super) struct Attributes(BTreeMap<String, u64>);

impl Deref for Attributes {
    type Target = BTreeMap<String, u64>;

    fn deref(&self) -> &BTreeMap<String, u64> {
        &self.0
    }
}

impl Read for Attributes {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        if from.entries().len() > MAX_ATTRIBUTES {
            return Err(from.fault("more than 4096 attributes"));
        }
        Read::read(from).map(Self)
    }
}
