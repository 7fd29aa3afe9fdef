//! The JSON of glTF 2.0, as far as it is used. Only its form is checked here.

use super::json_extensions::{
    BufferExtensions, NodeExtensions, Present, PrimitiveExtensions, TargetExtensions, Variants,
    ViewExtensions,
};
use super::json_limits::{Attributes, Events, List};
use super::json_material::{Image, Material, Sampler, Texture};
use super::json_morph::{MeshExtras, Target as MorphTarget};
use crate::json::{Read, ReadFault, Value, file_structs, none};
use crate::vrm::{SpringBone1, Vrm0, Vrm1, VrmAnimation, extension};
use core::ops::Range;

/// The marks of nodes that `throng-export` adds. Extras may have any form, so everything else is
/// ignored.
#[derive(Debug, Default)]
pub(super) struct NodeExtras {
    /// True for the node above the roots of a character, which is not a joint.
    pub(super) is_common_root: bool,
    /// True for a socket, which is not a joint either. The animation data has it.
    pub(super) is_socket: bool,
}

impl Read for NodeExtras {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let mark = from.get("throng").and_then(Value::text);
        let is_marked = |with: &str| mark.as_ref().is_some_and(|mark| &**mark == with);
        Ok(Self {
            is_common_root: is_marked("common root"),
            is_socket: is_marked("socket"),
        })
    }
}

/// The extensions of the whole file.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    pub(super) vrm0: Option<Vrm0>,
    pub(super) vrm1: Option<Vrm1>,
    pub(super) vrm_animation: Option<VrmAnimation>,
    pub(super) springs: Option<SpringBone1>,
    pub(super) variants: Option<Variants>,
}

impl Read for Extensions {
    fn read(from: Value<'_>) -> Result<Self, ReadFault> {
        let from = from.map()?;
        Ok(Self {
            vrm0: extension(&from, "VRM")?,
            vrm1: extension(&from, "VRMC_vrm")?,
            vrm_animation: extension(&from, "VRMC_vrm_animation")?,
            springs: extension(&from, "VRMC_springBone")?,
            variants: from.required(&["KHR_materials_variants"])?,
        })
    }
}

file_structs! {
    pub(super) struct Document {
        "asset" => asset: Asset,
        "extensionsUsed" => extensions_used: List<String> = none(),
        "extensionsRequired" => extensions_required: List<String> = none(),
        "scene" => scene: Option<u64>,
        "scenes" => scenes: List<Scene> = none(),
        "nodes" => nodes: List<Node> = none(),
        "meshes" => meshes: List<Mesh> = none(),
        "skins" => skins: List<Skin> = none(),
        "animations" => animations: List<Animation> = none(),
        "materials" => materials: List<Material> = none(),
        "textures" => textures: List<Texture> = none(),
        "samplers" => samplers: List<Sampler> = none(),
        "images" => images: List<Image> = none(),
        "accessors" => accessors: List<Accessor> = none(),
        "bufferViews" => buffer_views: List<BufferView> = none(),
        "buffers" => buffers: List<Buffer> = none(),
        "extensions" => extensions: Extensions = none(),
    }

    pub(super) struct Asset {
        "version" => version: String,
        "minVersion" => min_version: Option<String>,
    }

    pub(super) struct Scene {
        "nodes" => nodes: List<u64> = none(),
    }

    pub(super) struct Node {
        "name" => name: Option<String>,
        "children" => children: List<u64> = none(),
        "mesh" => mesh: Option<u64>,
        "skin" => skin: Option<u64>,
        "camera" => camera: Present = none(),
        "matrix" => matrix: Option<[f32; 16]>,
        "translation" => translation: Option<[f32; 3]>,
        "rotation" => rotation: Option<[f32; 4]>,
        "scale" => scale: Option<[f32; 3]>,
        "weights" => weights: List<f32> = none(),
        "extensions" => extensions: Option<Box<NodeExtensions>>,
        "extras" => extras: NodeExtras = none(),
    }

    pub(super) struct Mesh {
        "name" => name: Option<String>,
        "weights" => weights: List<f32> = none(),
        "extras" => extras: MeshExtras = none(),
        "primitives" => primitives: List<Primitive>,
    }

    pub(super) struct Primitive {
        "attributes" => attributes: Attributes,
        "indices" => indices: Option<u64>,
        "material" => material: Option<u64>,
        "mode" => mode: Option<u64>,
        "targets" => targets: List<MorphTarget> = none(),
        "extensions" => extensions: Option<Box<PrimitiveExtensions>>,
    }

    pub(super) struct Skin {
        "name" => name: Option<String>,
        "joints" => joints: List<u64>,
        "inverseBindMatrices" => inverse_bind_matrices: Option<u64>,
        "skeleton" => skeleton: Option<u64>,
    }

    pub(super) struct Animation {
        "name" => name: Option<String>,
        "channels" => channels: List<Channel> = none(),
        "samplers" => samplers: List<AnimationSampler> = none(),
        "extras" => extras: Events = none(),
    }

    pub(super) struct Channel {
        "sampler" => sampler: u64,
        "target" => target: Target,
    }

    pub(super) struct Target {
        "node" => node: Option<u64>,
        "path" => path: String,
        "extensions" => extensions: Option<Box<TargetExtensions>>,
    }

    pub(super) struct AnimationSampler {
        "input" => input: u64,
        "output" => output: u64,
        "interpolation" => interpolation: Option<String>,
    }

    pub(super) struct Accessor {
        "bufferView" => buffer_view: Option<u64>,
        "byteOffset" => byte_offset: u64 = 0,
        "componentType" => component_type: u64,
        "normalized" => normalized: bool = false,
        "count" => count: u64,
        "type" => kind: String,
        "sparse" => sparse: Option<Sparse>,
    }

    pub(super) struct Sparse {
        "count" => count: u64,
        "indices" => indices: SparseIndices,
        "values" => values: SparseValues,
    }

    pub(super) struct SparseIndices {
        "bufferView" => buffer_view: u64,
        "byteOffset" => byte_offset: u64 = 0,
        "componentType" => component_type: u64,
    }

    pub(super) struct SparseValues {
        "bufferView" => buffer_view: u64,
        "byteOffset" => byte_offset: u64 = 0,
    }

    pub(super) struct BufferView {
        "buffer" => buffer: u64,
        "byteOffset" => byte_offset: u64 = 0,
        "byteLength" => byte_length: u64,
        "byteStride" => byte_stride: Option<u64>,
        "extensions" => extensions: Option<Box<ViewExtensions>>,
    }

    pub(super) struct Buffer {
        "uri" => uri: Option<String>,
        "byteLength" => byte_length: u64,
        "extensions" => extensions: Option<BufferExtensions>,
    }
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
    /// For each node, true if it is one of these or lies below one.
    pub(super) fn at_or_below(&self, mut open: Vec<usize>) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                open.extend(
                    self.nodes[node]
                        .children
                        .iter()
                        .map(|child| *child as usize),
                );
            }
        }
        reached
    }

    /// For each node, the numbers of those at or below it, if all are numbered from the roots down.
    ///
    /// The nodes are a forest.
    pub(super) fn ranges(&self) -> Vec<Range<usize>> {
        let mut ranges = vec![0..0; self.nodes.len()];
        let mut is_child = vec![false; self.nodes.len()];
        let children = self.nodes.iter().flat_map(|node| node.children.iter());
        children.for_each(|child| is_child[*child as usize] = true);
        let roots = (0..self.nodes.len()).filter(|node| !is_child[*node]);
        // Nodes to enter, and to leave after all below them.
        let mut open: Vec<(usize, bool)> = roots.map(|root| (root, false)).collect();
        let mut number = 0;
        while let Some((node, is_done)) = open.pop() {
            if is_done {
                ranges[node].end = number;
                continue;
            }
            ranges[node].start = number;
            number += 1;
            open.push((node, true));
            let children = self.nodes[node].children.iter();
            open.extend(children.map(|child| (*child as usize, false)));
        }
        ranges
    }

    /// True if the file declares that it uses an extension.
    pub(super) fn uses(&self, extension: &str) -> bool {
        let used = self.extensions_used.iter();
        let mut declared = used.chain(self.extensions_required.iter());
        declared.any(|name| name == extension)
    }
}
