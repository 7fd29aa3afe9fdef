//! Limits of the JSON of glTF, and the lists that keep them.
//!
//! One of them is of events. glTF has none of its own. This reads a list in an animation's
//! `extras`, as exporters write custom properties:
//! `"extras": {"events": [{"name": "left foot", "time": 0.4}]}`. Extras may have any form, so
//! everything that has another form is ignored.

use crate::json::{self, Read, ReadFault, Value};
use core::ops::Deref;
use std::collections::BTreeMap;
use throng::character::EventDesc;

/// The most elements of any list. Otherwise a file with a few bytes per element could take a
/// hundred times its size in memory.
pub(super) const MAX_LIST: usize = 1 << 18;

/// The most attributes of one primitive. They are visited once for each node that carries it.
pub(super) const MAX_ATTRIBUTES: usize = 1 << 12;

/// A list of at most [`MAX_LIST`] elements.
pub(super) type List<T> = json::List<T, MAX_LIST>;

/// The accessors of a primitive's attributes by name, at most [`MAX_ATTRIBUTES`] of them.
#[derive(Debug, Default)]
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

/// The events of an animation: names and times in seconds, in the file's order.
#[derive(Debug, Default)]
pub(super) struct Events(pub(super) Vec<EventDesc>);

impl Read for Events {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let mut events = Vec::new();
        for event in from.get("events").map(Value::items).into_iter().flatten() {
            let name = event.get("name").and_then(Value::text);
            let time_s = event.get("time").and_then(Value::number);
            if let Some((name, time_s)) = name.zip(time_s) {
                if events.len() == MAX_LIST {
                    return Err(event.fault("more than 262144 events of an animation"));
                }
                events.push(EventDesc {
                    name: name.into(),
                    time_s,
                });
            }
        }
        Ok(Self(events))
    }
}
