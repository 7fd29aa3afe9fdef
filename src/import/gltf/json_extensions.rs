//! The JSON of extensions that describe data: compressed views, instances, pointers.

use super::json_attributes::Attributes;
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

/// The extensions of a primitive.
#[derive(Debug, Deserialize)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub(super) draco: Option<Draco>,
}

/// A compressed primitive: its bytes, and the identifiers of its attributes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(
    not(feature = "draco"),
    allow(dead_code, reason = "only the decoder reads it")
)]
pub(super) struct Draco {
    #[serde(deserialize_with = "whole")]
    pub(super) buffer_view: u64,
    pub(super) attributes: Attributes,
}

/// The extensions of a node.
#[derive(Debug, Deserialize)]
pub(super) struct NodeExtensions {
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub(super) instancing: Option<Instancing>,
    #[serde(rename = "KHR_node_visibility")]
    visibility: Option<Visibility>,
}

/// The transforms of instances: accessors by name.
#[derive(Debug, Deserialize)]
pub(super) struct Instancing {
    pub(super) attributes: Attributes,
}

#[derive(Debug, Deserialize)]
struct Visibility {
    visible: Option<bool>,
}

impl NodeExtensions {
    /// True if the node and all nodes below it are invisible.
    pub(super) fn is_hidden(&self) -> bool {
        let visibility = self.visibility.as_ref();
        visibility.is_some_and(|visibility| visibility.visible == Some(false))
    }
}

/// The extensions of a channel's target.
#[derive(Debug, Deserialize)]
pub(super) struct TargetExtensions {
    #[serde(rename = "KHR_animation_pointer")]
    pub(super) pointer: Option<Pointer>,
}

/// The path of the property that a channel drives.
#[derive(Debug, Deserialize)]
pub(super) struct Pointer {
    #[serde(default)]
    pub(super) pointer: String,
}
