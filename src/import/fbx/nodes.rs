//! The node hierarchy.

use super::convert::transform;
use super::fault::of_file;
use crate::error::{AssetFault, Result};
use crate::import::RawNode;
use crate::import::fault::{check_cap, cut, file_part};
use crate::import::options::ImportOptions;

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

    /// The number of a node. `None` for a root that is left out.
    pub(super) fn number(&self, node: &ufbx::Node) -> Option<usize> {
        self.of_typed_id(node.element.typed_id)
    }

    /// The number of the node with this number in ufbx's list.
    pub(super) fn of_typed_id(&self, typed_id: u32) -> Option<usize> {
        self.numbers.get(typed_id as usize).copied().flatten()
    }
}
