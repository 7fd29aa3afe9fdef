//! The JSON of extensions that describe data: compressed views, instances, pointers.

use super::json_limits::{Attributes, List};
use crate::json::{Read, ReadFault, Value, file_structs, none};

/// True for a field that is there, whatever it holds.
#[derive(Debug, Default)]
pub(super) struct Present(pub(super) bool);

impl Read for Present {
    fn read(_: Value<'_>) -> Result<Self, ReadFault> {
        Ok(Self(true))
    }
}

file_structs! {
    pub(super) struct ViewExtensions {
        "EXT_meshopt_compression" => ext_meshopt: Option<Meshopt>,
        "KHR_meshopt_compression" => khr_meshopt: Option<Meshopt>,
    }

    /// The compressed bytes of a view, and how they are encoded.
    #[cfg_attr(
        not(feature = "meshopt"),
        allow(dead_code, reason = "only the decoder reads it")
    )]
    pub(super) struct Meshopt {
        "buffer" => buffer: u64,
        "byteOffset" => byte_offset: u64 = 0,
        "byteLength" => byte_length: u64,
        "byteStride" => byte_stride: u64,
        "count" => count: u64,
        "mode" => mode: String,
        "filter" => filter: Option<String>,
    }

    pub(super) struct BufferExtensions {
        "EXT_meshopt_compression" => ext_meshopt: Option<Fallback>,
        "KHR_meshopt_compression" => khr_meshopt: Option<Fallback>,
    }

    pub(super) struct Fallback {
        "fallback" => fallback: bool = false,
    }

    pub(super) struct PrimitiveExtensions {
        "KHR_draco_mesh_compression" => draco: Option<Draco>,
        "KHR_materials_variants" => variants: Option<VariantMappings>,
    }

    /// The names of material variants.
    pub(super) struct Variants {
        "variants" => variants: List<Variant>,
    }

    pub(super) struct Variant {
        "name" => name: Option<String>,
    }

    /// The other materials of a primitive.
    pub(super) struct VariantMappings {
        "mappings" => mappings: List<VariantMapping>,
    }

    pub(super) struct VariantMapping {
        "material" => material: u64,
        "variants" => variants: List<u64>,
    }

    /// A compressed primitive: its bytes, and the identifiers of its attributes.
    #[cfg_attr(
        not(feature = "draco"),
        allow(dead_code, reason = "only the decoder reads it")
    )]
    pub(super) struct Draco {
        "bufferView" => buffer_view: u64,
        "attributes" => attributes: Attributes,
    }

    pub(super) struct NodeExtensions {
        "EXT_mesh_gpu_instancing" => instancing: Option<Instancing>,
        "KHR_lights_punctual" => light: Present = none(),
        "KHR_node_visibility" => visibility: Option<Visibility>,
        "MSFT_lod" => lod: Option<Lod>,
    }

    /// The transforms of instances: accessors by name.
    pub(super) struct Instancing {
        "attributes" => attributes: Attributes,
    }

    /// The coarser levels of detail of a node.
    pub(super) struct Lod {
        "ids" => ids: List<u64> = none(),
    }

    pub(super) struct Visibility {
        "visible" => visible: Option<bool>,
    }

    /// The extensions of a channel's target.
    pub(super) struct TargetExtensions {
        "KHR_animation_pointer" => pointer: Option<Pointer>,
    }

    /// The path of the property that a channel drives.
    pub(super) struct Pointer {
        "pointer" => pointer: String = none(),
    }
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

impl BufferExtensions {
    /// True if the buffer is only read by programs that cannot decompress. It may have no data.
    pub(super) fn is_fallback(&self) -> bool {
        let both = [&self.ext_meshopt, &self.khr_meshopt];
        both.into_iter().flatten().any(|meshopt| meshopt.fallback)
    }
}

impl NodeExtensions {
    /// The nodes that are coarser levels of this one, finest first.
    pub(super) fn coarser(&self) -> &[u64] {
        self.lod.as_ref().map_or(&[], |lod| &lod.ids)
    }

    /// True if the node and all nodes below it are invisible.
    pub(super) fn is_hidden(&self) -> bool {
        let visibility = self.visibility.as_ref();
        visibility.is_some_and(|visibility| visibility.visible == Some(false))
    }
}
