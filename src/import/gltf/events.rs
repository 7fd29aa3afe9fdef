//! Events of animations, which are read from their `extras`.
//!
//! glTF has no events of its own. This reads a list in an animation's `extras`, as exporters write
//! custom properties: `"extras": {"events": [{"name": "left foot", "time": 0.4}]}`. Extras may have
//! any form, so everything that has another form is ignored.

use super::json_lenient::{Form, Lenient, Text};
use super::json_values::MAX_LIST;
use crate::character::NamedTimes;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess};

/// The events of an animation: names and times in seconds, in the file's order.
#[derive(Debug, Default)]
pub(super) struct Events(pub(super) NamedTimes);

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Lenient(all) = Lenient::<Extras>::deserialize(deserializer)?;
        Ok(all.and_then(|Extras(events)| events).unwrap_or_default())
    }
}

struct Extras(Option<Events>);
struct Event {
    name: String,
    time_s: f64,
}
struct Number(f64);

impl<'de> Form<'de> for Extras {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut events = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == "events" {
                events = map.next_value::<Lenient<Events>>()?.0;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Some(Self(events)))
    }
}

impl<'de> Form<'de> for Events {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut events = Vec::new();
        while let Some(Lenient(event)) = list.next_element::<Lenient<Event>>()? {
            if let Some(Event { name, time_s }) = event {
                if events.len() == MAX_LIST {
                    let why = "more than 262144 events of an animation";
                    return Err(serde::de::Error::custom(why));
                }
                events.push((name.into(), time_s));
            }
        }
        Ok(Some(Self(events)))
    }
}

impl<'de> Form<'de> for Event {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let (mut name, mut time_s) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => name = map.next_value::<Lenient<Text>>()?.0,
                "time" => time_s = map.next_value::<Lenient<Number>>()?.0,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let both = name.zip(time_s);
        Ok(both.map(|(Text(name), Number(time_s))| Self { name, time_s }))
    }
}

impl Form<'_> for Number {
    fn number(number: f64) -> Option<Self> {
        Some(Self(number))
    }
}
