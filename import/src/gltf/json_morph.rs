//! The JSON of morph targets: their attributes in compact form, and their names.

use super::json_limits::{MAX_ATTRIBUTES, MAX_LIST};
use crate::json::{Read, ReadFault, Value};
use core::num::NonZeroU32;

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

impl Read for Target {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let mut target = Self::default();
        for (name, value) in from.map()?.entries {
            let after = u32::try_from(u64::read(value)?).ok();
            let after = after.and_then(|index| index.checked_add(1));
            let Some(number) = after.and_then(NonZeroU32::new) else {
                return Err(value.fault("an index of more than 4294967294"));
            };
            match name.raw() {
                "POSITION" => target.position = Some(number),
                "NORMAL" => target.normal = Some(number),
                "TANGENT" => target.tangent = Some(number),
                _ if usize::from(target.others) == MAX_ATTRIBUTES => {
                    return Err(from.fault("more than 4096 attributes"));
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

/// The names of a mesh's morph targets, in `extras.targetNames`. Most writers follow this
/// convention. Extras may have any form, so everything that has another form is ignored.
#[derive(Debug, Default)]
pub(super) struct MeshExtras {
    pub(super) target_names: Vec<String>,
}

impl Read for MeshExtras {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let names = from
            .get("targetNames")
            .map(Value::items)
            .into_iter()
            .flatten();
        let names = names.map(|name| name.text().unwrap_or_default().into_owned());
        // There are no more targets than this.
        let target_names = names.take(MAX_LIST).collect();
        Ok(Self { target_names })
    }
}
