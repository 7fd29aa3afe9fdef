//! The JSON of morph targets: their attributes in compact form, and their names.

use super::json_lenient::{Form, Lenient, Text};
use super::json_values::{MAX_ATTRIBUTES, MAX_LIST, Whole};
use core::fmt::Formatter;
use core::num::NonZeroU32;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The accessors of one morph target. Text can define a target in a few bytes, so each is stored
/// compactly, as the accessor's index plus 1.
#[derive(Debug, Default)]
pub(super) struct Target {
    position: Option<NonZeroU32>,
    normal: Option<NonZeroU32>,
    tangent: Option<NonZeroU32>,
    last_other: Option<NonZeroU32>,
    /// The number of attributes with other names.
    pub(super) others: u16,
}

impl Target {
    /// The accessor of `POSITION`, `NORMAL` or `TANGENT`.
    pub(super) fn get(&self, name: &str) -> Option<u64> {
        let number = match name {
            "POSITION" => self.position,
            "NORMAL" => self.normal,
            "TANGENT" => self.tangent,
            _ => None,
        };
        number.map(|number| u64::from(number.get()) - 1)
    }

    /// The largest of all indices.
    pub(super) fn greatest(&self) -> Option<u64> {
        let all = [self.position, self.normal, self.tangent, self.last_other];
        let greatest = all.into_iter().flatten().max();
        greatest.map(|number| u64::from(number.get()) - 1)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Target;

            fn expecting(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Target, A::Error> {
                let mut target = Target::default();
                while let Some((name, Whole(index))) = map.next_entry::<String, _>()? {
                    let after = u32::try_from(index).ok().and_then(|i| i.checked_add(1));
                    let Some(number) = after.and_then(NonZeroU32::new) else {
                        return Err(A::Error::custom("an index of more than 4294967294"));
                    };
                    match name.as_str() {
                        "POSITION" => target.position = Some(number),
                        "NORMAL" => target.normal = Some(number),
                        "TANGENT" => target.tangent = Some(number),
                        _ if usize::from(target.others) == MAX_ATTRIBUTES => {
                            return Err(A::Error::custom("more than 4096 attributes"));
                        }
                        _ => {
                            target.others += 1;
                            target.last_other = target.last_other.max(Some(number));
                        }
                    }
                }
                Ok(target)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// The names of a mesh's morph targets, in `extras.targetNames`. Most writers follow this
/// convention. Extras may have any form, so everything that has another form is ignored.
#[derive(Debug, Default)]
pub(super) struct MeshExtras {
    pub(super) target_names: Vec<String>,
}

impl<'de> Deserialize<'de> for MeshExtras {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Lenient(all) = Lenient::<Extras>::deserialize(deserializer)?;
        let names = all.and_then(|Extras(names)| names).unwrap_or_default();
        Ok(Self {
            target_names: names.0,
        })
    }
}

struct Extras(Option<Names>);
#[derive(Default)]
struct Names(Vec<String>);

impl<'de> Form<'de> for Extras {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut names = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == "targetNames" {
                names = map.next_value::<Lenient<Names>>()?.0;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Some(Self(names)))
    }
}

impl<'de> Form<'de> for Names {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut names = Vec::new();
        while let Some(Lenient(name)) = list.next_element::<Lenient<Text>>()? {
            // There are no more targets than this.
            if names.len() < MAX_LIST {
                names.push(name.map_or_else(String::new, |Text(name)| name));
            }
        }
        Ok(Some(Self(names)))
    }
}
