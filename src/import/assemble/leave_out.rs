//! Leaving out the meshes of some nodes.

use crate::error::Result;
use crate::id::unknown;
use crate::import::RawCharacter;

/// Removes the primitives of the nodes with these names, and of all nodes below them.
///
/// # Errors
/// [`Error::InFile`](crate::Error::InFile) with the names of the nodes, if no node has the name.
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
    // For each node, true if it is left out, once that is known.
    let mut left_out: Vec<Option<bool>> = raw
        .nodes
        .iter()
        .map(|node| names.contains(&node.name).then_some(true))
        .collect();
    let mut path = Vec::new();
    for start in 0..raw.nodes.len() {
        let mut at = Some(start);
        path.clear();
        let known = loop {
            let Some(node) = at.filter(|node| *node < raw.nodes.len()) else {
                break false;
            };
            // A hierarchy that is not a forest is rejected later.
            match left_out[node] {
                Some(known) => break known,
                None if path.len() > raw.nodes.len() => break false,
                None => path.push(node),
            }
            at = raw.nodes[node].parent;
        };
        for node in &path {
            left_out[*node] = Some(known);
        }
    }
    raw.primitives
        .retain(|primitive| left_out.get(primitive.node).copied().flatten() != Some(true));
    Ok(())
}
