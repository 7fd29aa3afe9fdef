//! The node hierarchy.

use super::convert::transform;
use super::fault::of_file;
use crate::fault::{check_cap, cut, file_part};
use throng::error::{AssetFault, Result};
use throng::import::{ImportOptions, RawLevelGroup, RawNode};

/// The nodes of a scene, and their numbers.
pub(super) struct Nodes {
    pub(super) raw: Vec<RawNode>,
    /// By ufbx's number of the node. `None` for a root that is left out.
    numbers: Vec<Option<usize>>,
}

impl Nodes {
    /// Reads all nodes.
    ///
    /// The root, which ufbx adds above the nodes of the file, is left out unless a skin uses it.
    pub(super) fn read(scene: &ufbx::Scene, options: &ImportOptions) -> Result<Self> {
        let (count, cap) = (scene.nodes.len() as u64, options.max_nodes as u64);
        check_cap(|| file_part("Objects"), "nodes", count, cap)?;
        let mut numbers = vec![None; scene.nodes.len()];
        let mut bones = scene.skin_clusters.iter().map(|cluster| &cluster.bone_node);
        let has_root = bones.any(|bone| bone.as_ref().is_some_and(|bone| bone.is_root));
        let kept = || scene.nodes.iter().filter(|node| has_root || !node.is_root);
        for (number, node) in kept().enumerate() {
            match numbers.get_mut(node.element.typed_id as usize) {
                Some(own) => *own = Some(number),
                None => return Err(of_file(AssetFault::Invalid("has nodes without a number"))),
            }
        }
        let mut nodes = Self {
            raw: Vec::new(),
            numbers,
        };
        for node in kept() {
            let parent = node.parent.as_ref().and_then(|parent| nodes.number(parent));
            nodes.raw.push(RawNode {
                name: cut(&node.element.name),
                parent,
                transform: transform(node.local_transform),
                matrix: None,
            });
        }
        Ok(nodes)
    }

    /// The LOD groups. Each child of a group is a level, finest first.
    pub(super) fn level_groups(&self, scene: &ufbx::Scene) -> Vec<RawLevelGroup> {
        let nodes = scene.lod_groups.iter().flat_map(|of| &of.element.instances);
        let group = |node: &ufbx::Node| {
            let children = of_file_node(node).children.iter();
            let is_own = |child: &&ufbx::Node| !is_added(child);
            let children = children.map(|child| &**child).filter(is_own);
            let levels = children.filter_map(|child| self.number(child));
            RawLevelGroup {
                levels: levels.map(|level| vec![level]).collect(),
            }
        };
        nodes.map(group).collect()
    }

    /// The nodes that are meshes, cameras or lights, or that ufbx adds.
    pub(super) fn objects(&self, scene: &ufbx::Scene) -> Vec<usize> {
        let is_object = |node: &&ufbx::Node| {
            let is_seen = node.mesh.is_some() || node.camera.is_some() || node.light.is_some();
            is_seen || is_added(node)
        };
        let nodes = scene.nodes.iter().map(|node| &**node);
        let objects = nodes.filter(is_object);
        objects.filter_map(|node| self.number(node)).collect()
    }

    /// The number of a node. `None` for a root that is left out.
    pub(super) fn number(&self, node: &ufbx::Node) -> Option<usize> {
        self.of_typed_id(node.element.typed_id)
    }

    /// The number of the node with this number in ufbx's list.
    pub(super) fn of_typed_id(&self, typed_id: u32) -> Option<usize> {
        self.numbers.get(typed_id as usize).copied().flatten()
    }
}

/// A node that carries something, and those above it up to the node of the file.
///
/// ufbx adds nodes for scales that children do not inherit. Then these carry it.
pub(super) fn up_to_file(node: &ufbx::Node) -> impl Iterator<Item = &ufbx::Node> {
    std::iter::successors(Some(node), |node| {
        node.parent.as_deref().filter(|_| is_added(node))
    })
}

/// The node of the file that carries something.
pub(super) fn of_file_node(node: &ufbx::Node) -> &ufbx::Node {
    up_to_file(node).last().unwrap_or(node)
}

/// Returns true for a node that ufbx adds.
fn is_added(node: &ufbx::Node) -> bool {
    node.is_scale_helper
}
