//! Events of animations, which are read from their `extras`.
//!
//! glTF has no events of its own. This reads a list in an animation's `extras`, as exporters write
//! custom properties: `"extras": {"events": [{"name": "left foot", "time": 0.4}]}`. Extras may have
//! any form, so everything that has another form is ignored.

use super::json_limits::MAX_LIST;
use crate::json::{Read, ReadFault, Value};
use throng::character::EventDesc;

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
