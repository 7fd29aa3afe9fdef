//! Visibility of nodes, which they inherit.

use ufbx::PropFlags;

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
