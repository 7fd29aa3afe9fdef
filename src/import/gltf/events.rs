//! Events of animations, which stand where anything may stand: in their `extras`.

use super::json::{List, MAX_LIST};
use super::json_morph::{Form, Lenient, Text};
use super::{container, fault, parse};
use crate::error::{AssetFault, Error, ObjectKind, Result};
use crate::import::ImportOptions;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess};

/// The events of an animation: names and times in seconds, in the file's order.
pub type NamedTimes = Vec<(Box<str>, f64)>;

/// The events of the animations of a `.glb` or `.gltf` file: for each animation, in the file's order, which is that of
/// [`Character::clips`](crate::character::Character::clips), names and times in seconds, as
/// [`ClipEvents`](crate::pose::ClipEvents) takes them.
///
/// glTF has no events of its own. Read is a list in an animation's `extras`, as exporters write custom properties:
/// `"extras": {"events": [{"name": "left foot", "time": 0.4}]}`. Extras may be of any form, so what is of
/// another one is passed over; times are not checked here. Only the JSON is read: nothing else of the file needs to
/// be valid.
///
/// ```
/// use throng::import::{ImportOptions, gltf_events};
/// use throng::pose::ClipEvents;
///
/// let file = br#"{"asset": {"version": "2.0"}, "animations": [{"channels": [], "samplers": [],
///     "extras": {"events": [{"name": "left foot", "time": 0.4}]}}]}"#;
/// let of_all = gltf_events(file, &ImportOptions::default())?;
/// let duration_s = 1.1; // of the clip
/// let events = ClipEvents::new(duration_s, of_all[0].iter().cloned())?;
/// assert_eq!(events.iter().next(), Some(("left foot", 0.4)));
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// [`Error::Asset`] if the container or the JSON is broken, or has more events in all than
/// [`ImportOptions::max_keys`].
pub fn gltf_events(bytes: &[u8], options: &ImportOptions) -> Result<Vec<NamedTimes>> {
    let run = || {
        let parts = container::split(bytes)?;
        let text = parse::text(parts.json, parts.json_start, options)?;
        let of_file = |why| fault(ObjectKind::File, None, "", why);
        let doc: Document =
            serde_json::from_str(text).map_err(|error| of_file(parse::json_fault(&error)))?;
        let lists = doc.animations.iter().map(|animation| &animation.extras.0);
        let asked = lists.clone().map(Vec::len).sum::<usize>() as u64;
        let cap = options.max_keys as u64;
        if asked > cap {
            let what = "events";
            return Err(of_file(AssetFault::Cap { what, asked, cap }));
        }
        Ok(lists.cloned().collect())
    };
    run().map_err(|error: Error| error.in_file(&options.name))
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    animations: List<Animation>,
}

#[derive(Deserialize)]
struct Animation {
    #[serde(default)]
    extras: Events,
}

#[derive(Default)]
struct Events(NamedTimes);

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
