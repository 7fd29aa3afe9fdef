//! The JSON of extensions that describe data: compressed views, instances, pointers.

use super::json_values::whole;
use serde::Deserialize;

/// The extensions of a buffer view.
#[derive(Debug, Deserialize)]
pub(super) struct ViewExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    ext_meshopt: Option<Meshopt>,
    #[serde(rename = "KHR_meshopt_compression")]
    khr_meshopt: Option<Meshopt>,
}

impl ViewExtensions {
    /// The compressed contents of the view, and the name of the extension.
    pub(super) fn meshopt(&self) -> Option<(&'static str, &Meshopt)> {
        let named = |name| move |meshopt| (name, meshopt);
        let khr = self.khr_meshopt.as_ref().map(named(KHR_MESHOPT));
        khr.or(self.ext_meshopt.as_ref().map(named(EXT_MESHOPT)))
    }
}

pub(super) const EXT_MESHOPT: &str = "EXT_meshopt_compression";
pub(super) const KHR_MESHOPT: &str = "KHR_meshopt_compression";

/// The compressed bytes of a view, and how they are encoded.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    not(feature = "meshopt"),
    allow(dead_code, reason = "only the decoder reads it")
)]
pub(super) struct Meshopt {
    #[serde(deserialize_with = "whole")]
    pub(super) buffer: u64,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) byte_length: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) byte_stride: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) count: u64,
    pub(super) mode: String,
    pub(super) filter: Option<String>,
}

/// The extensions of a buffer.
#[derive(Debug, Default, Deserialize)]
pub(super) struct BufferExtensions {
    #[serde(rename = "EXT_meshopt_compression")]
    ext_meshopt: Option<Fallback>,
    #[serde(rename = "KHR_meshopt_compression")]
    khr_meshopt: Option<Fallback>,
}

#[derive(Debug, Deserialize)]
struct Fallback {
    #[serde(default)]
    fallback: bool,
}

impl BufferExtensions {
    /// True if the buffer is only read by programs that cannot decompress. It may have no data.
    pub(super) fn is_fallback(&self) -> bool {
        let both = [&self.ext_meshopt, &self.khr_meshopt];
        both.into_iter().flatten().any(|meshopt| meshopt.fallback)
    }
}
