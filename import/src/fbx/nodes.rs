//! The node hierarchy, and the visibility that nodes inherit.

use super::convert::{of_file, transform};
use crate::fault::{check_cap, cut, file_part};
use throng::error::{AssetFault, Result};
use throng::import::{ImportOptions, RawNode};
use ufbx::PropFlags;

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
        let (count, cap) = (scene.nodes.len() as u64, options.limits.nodes as u64);
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
    pub(super) fn level_groups(&self, scene: &ufbx::Scene) -> Vec<Vec<Vec<usize>>> {
        let nodes = scene.lod_groups.iter().flat_map(|of| &of.element.instances);
        let group = |node: &ufbx::Node| {
            let children = of_file_node(node).children.iter();
            let is_own = |child: &&ufbx::Node| !is_added(child);
            let children = children.map(|child| &**child).filter(is_own);
            let levels = children.filter_map(|child| self.number(child));
            levels.map(|level| vec![level]).collect()
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

const VISIBILITY: &str = "Visibility";
const INHERITANCE: &str = "Visibility Inheritance";

/// For each of ufbx's nodes, true if it is visible, or a curve makes it so at some time.
///
/// A node is visible if it and all nodes above it are, up to one that does not inherit.
pub(super) fn visible(scene: &ufbx::Scene) -> Vec<bool> {
    let shown = shown_by_curves(scene);
    let mut visible: Vec<bool> = Vec::with_capacity(scene.nodes.len());
    // ufbx has sorted the nodes by depth.
    for node in &scene.nodes {
        let parent = node.parent.as_ref().filter(|_| is_set(node, INHERITANCE));
        let above = parent.and_then(|parent| visible.get(parent.element.typed_id as usize));
        let is_shown = shown.get(node.element.element_id as usize);
        let own = is_set(node, VISIBILITY) || is_shown.copied().unwrap_or_default();
        visible.push(own && above.copied().unwrap_or(true));
    }
    visible
}

/// True unless the node states that this property is 0.
fn is_set(node: &ufbx::Node, name: &str) -> bool {
    let Some(property) = node.element.props.find_prop(name) else {
        return true;
    };
    // ufbx adds properties that only a curve has, without a value.
    let has_value = property
        .flags
        .has_any(PropFlags::VALUE_INT | PropFlags::VALUE_REAL);
    let is_stated = has_value || !property.flags.has_any(PropFlags::SYNTHETIC);
    !is_stated || property.value_vec4.x != 0.0
}

/// For each of ufbx's elements, true if a key of a curve makes it visible.
fn shown_by_curves(scene: &ufbx::Scene) -> Vec<bool> {
    let curves = scene.anim_curves.iter();
    // Curves and values may have several users, so each is read once.
    let curves: Vec<bool> = curves
        .map(|curve| curve.keyframes.iter().any(|key| key.value != 0.0))
        .collect();
    let shows = |value: &ufbx::AnimValue| {
        let curves_of_value = value.curves.iter().flatten();
        let mut ids = curves_of_value.map(|curve| curve.element.typed_id as usize);
        ids.any(|id| curves.get(id).copied().unwrap_or_default())
    };
    let mut shown = vec![false; scene.elements.len()];
    let properties = scene.anim_layers.iter().flat_map(|layer| &layer.anim_props);
    for property in properties.filter(|property| &*property.prop_name == VISIBILITY) {
        if let Some(shown) = shown.get_mut(property.element.element_id as usize) {
            *shown |= shows(&property.anim_value);
        }
    }
    shown
}
