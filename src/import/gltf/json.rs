//! The JSON of glTF 2.0, as far as it is used. Only its form is checked here.

use super::events::Events;
use super::json_attributes::Attributes;
use super::json_extensions::{
    BufferExtensions, NodeExtensions, PrimitiveExtensions, TargetExtensions, ViewExtensions,
};
use super::json_material::{Image, Material, Sampler, Texture};
use super::json_morph::{MeshExtras, Target as MorphTarget};
use super::json_node::NodeExtras;
use super::json_values::{List, Weights, whole, whole_if_any, wholes};
use crate::import::vrm::{self, SpringBone1, Vrm0, Vrm1, VrmAnimation};
use serde::Deserialize;
use serde::de::Deserializer;

/// A stride. Older formats and some writers use 0 for "no stride".
fn stride<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(whole_if_any(deserializer)?.filter(|stride| *stride != 0))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) asset: Asset,
    #[serde(default)]
    pub(super) extensions_used: List<String>,
    #[serde(default)]
    pub(super) extensions_required: List<String>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) scene: Option<u64>,
    #[serde(default)]
    pub(super) scenes: List<Scene>,
    #[serde(default)]
    pub(super) nodes: List<Node>,
    #[serde(default)]
    pub(super) meshes: List<Mesh>,
    #[serde(default)]
    pub(super) skins: List<Skin>,
    #[serde(default)]
    pub(super) animations: List<Animation>,
    #[serde(default)]
    pub(super) materials: List<Material>,
    #[serde(default)]
    pub(super) textures: List<Texture>,
    #[serde(default)]
    pub(super) samplers: List<Sampler>,
    #[serde(default)]
    pub(super) images: List<Image>,
    #[serde(default)]
    pub(super) accessors: List<Accessor>,
    #[serde(default)]
    pub(super) buffer_views: List<BufferView>,
    #[serde(default)]
    pub(super) buffers: List<Buffer>,
    #[serde(default)]
    pub(super) extensions: Extensions,
}

/// The extensions of the whole file.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Extensions {
    #[serde(default, rename = "VRM", deserialize_with = "vrm::extension")]
    pub(super) vrm0: Option<Vrm0>,
    #[serde(default, rename = "VRMC_vrm", deserialize_with = "vrm::extension")]
    pub(super) vrm1: Option<Vrm1>,
    #[serde(
        default,
        rename = "VRMC_vrm_animation",
        deserialize_with = "vrm::extension"
    )]
    pub(super) vrm_animation: Option<VrmAnimation>,
    #[serde(
        default,
        rename = "VRMC_springBone",
        deserialize_with = "vrm::extension"
    )]
    pub(super) springs: Option<SpringBone1>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    pub(super) version: String,
    pub(super) min_version: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default, deserialize_with = "wholes")]
    pub(super) nodes: List<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "wholes")]
    pub(super) children: List<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) mesh: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) skin: Option<u64>,
    pub(super) matrix: Option<[f32; 16]>,
    pub(super) translation: Option<[f32; 3]>,
    pub(super) rotation: Option<[f32; 4]>,
    pub(super) scale: Option<[f32; 3]>,
    #[serde(default)]
    pub(super) weights: Weights,
    pub(super) extensions: Option<Box<NodeExtensions>>,
    #[serde(default)]
    pub(super) extras: NodeExtras,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) weights: Weights,
    #[serde(default)]
    pub(super) extras: MeshExtras,
    pub(super) primitives: List<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub(super) attributes: Attributes,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) indices: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) material: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) mode: Option<u64>,
    #[serde(default)]
    pub(super) targets: List<MorphTarget>,
    pub(super) extensions: Option<Box<PrimitiveExtensions>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Skin {
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "wholes")]
    pub(super) joints: List<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) inverse_bind_matrices: Option<u64>,
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) skeleton: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Animation {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) channels: List<Channel>,
    #[serde(default)]
    pub(super) samplers: List<AnimationSampler>,
    #[serde(default)]
    pub(super) extras: Events,
}

#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    #[serde(deserialize_with = "whole")]
    pub(super) sampler: u64,
    pub(super) target: Target,
}

#[derive(Debug, Deserialize)]
pub(super) struct Target {
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) node: Option<u64>,
    pub(super) path: String,
    pub(super) extensions: Option<Box<TargetExtensions>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct AnimationSampler {
    #[serde(deserialize_with = "whole")]
    pub(super) input: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) output: u64,
    pub(super) interpolation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    #[serde(default, deserialize_with = "whole_if_any")]
    pub(super) buffer_view: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) component_type: u64,
    #[serde(default)]
    pub(super) normalized: bool,
    #[serde(deserialize_with = "whole")]
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    #[serde(deserialize_with = "whole")]
    pub(super) count: u64,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    #[serde(deserialize_with = "whole")]
    pub(super) buffer_view: u64,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) component_type: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    #[serde(deserialize_with = "whole")]
    pub(super) buffer_view: u64,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    #[serde(deserialize_with = "whole")]
    pub(super) buffer: u64,
    #[serde(default, deserialize_with = "whole")]
    pub(super) byte_offset: u64,
    #[serde(deserialize_with = "whole")]
    pub(super) byte_length: u64,
    #[serde(default, deserialize_with = "stride")]
    pub(super) byte_stride: Option<u64>,
    pub(super) extensions: Option<Box<ViewExtensions>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) uri: Option<String>,
    #[serde(deserialize_with = "whole")]
    pub(super) byte_length: u64,
    pub(super) extensions: Option<BufferExtensions>,
}

impl Buffer {
    /// True for a buffer without data, which stands in for compressed views.
    pub(super) fn is_empty_fallback(&self) -> bool {
        let is_fallback = self
            .extensions
            .as_ref()
            .is_some_and(|all| all.is_fallback());
        is_fallback && self.uri.is_none()
    }
}

impl Document {
    /// True if the file declares that it uses an extension.
    pub(super) fn uses(&self, extension: &str) -> bool {
        let used = self.extensions_used.iter();
        let mut declared = used.chain(self.extensions_required.iter());
        declared.any(|name| name == extension)
    }
}
