//! Leaving out the meshes of some nodes.

use crate::error::Result;
use crate::id::unknown;
use crate::import::{RawCharacter, RawNode, RawPrimitive};

/// Removes the primitives of the nodes with these names, and of all nodes below them. These nodes
/// do not become joints for their names.
pub(super) fn apply(raw: &mut RawCharacter, names: &[Box<str>]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    for name in names {
        if !raw.nodes.iter().any(|node| node.name == *name) {
            let known = raw.nodes.iter().map(|node| &*node.name);
            return Err(unknown("node to leave out", name, known).not_in_file());
        }
    }
    let mut left_out = vec![false; raw.nodes.len()];
    for (index, _) in RawNode::breadth_first(&raw.nodes)? {
        let node = &raw.nodes[index];
        let is_below = node.parent.is_some_and(|parent| left_out[parent]);
        left_out[index] = is_below || names.contains(&node.name);
    }
    raw.objects.extend(
        (0..)
            .zip(&left_out)
            .filter_map(|(node, left)| left.then_some(node)),
    );
    let is_kept = |primitive: &RawPrimitive| left_out.get(primitive.node) != Some(&true);
    raw.primitives.retain(is_kept);
    Ok(())
}
