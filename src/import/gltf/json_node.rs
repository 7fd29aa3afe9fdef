//! The `extras` of nodes.

use super::json_lenient::{Form, Lenient, Text};
use crate::import::COMMON_ROOT;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess};

/// The mark of a node that an export adds. Extras may have any form, so everything else is ignored.
#[derive(Debug, Default)]
pub(super) struct NodeExtras {
    /// True for the node above the roots of a character, which is not a joint.
    pub(super) is_common_root: bool,
}

impl<'de> Deserialize<'de> for NodeExtras {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Lenient(all) = Lenient::<Self>::deserialize(deserializer)?;
        Ok(all.unwrap_or_default())
    }
}

impl<'de> Form<'de> for NodeExtras {
    fn map<A: MapAccess<'de>>(mut map: A) -> Result<Option<Self>, A::Error> {
        let mut extras = Self::default();
        while let Some(key) = map.next_key::<String>()? {
            if key == "throng" {
                let Lenient(mark) = map.next_value::<Lenient<Text>>()?;
                extras.is_common_root = mark.is_some_and(|Text(mark)| mark == COMMON_ROOT);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Some(extras))
    }
}
