//! The nodes that become joints.

use super::fault::fault_at;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::RawCharacter;
use crate::import::fault::{dangling, fault};
use crate::spring::SpringChain;

/// Marks the nodes that must become joints. Their ancestors are added later.
pub(super) fn nodes(raw: &RawCharacter) -> Result<Vec<bool>> {
    let mut wanted = posed(raw)?;
    add_rig(raw, &mut wanted);
    Ok(wanted)
}

/// Marks the nodes that draw or pose something. Their ancestors are added later.
pub(super) fn posed(raw: &RawCharacter) -> Result<Vec<bool>> {
    let count = raw.nodes.len();
    let is_skeleton = raw.primitives.is_empty() && raw.skins.is_empty();
    let mut wanted = vec![is_skeleton; count];
    let mut skin_used = vec![raw.primitives.is_empty(); raw.skins.len()];
    for primitive in &raw.primitives {
        let at = |what| fault_at(primitive, "", what);
        match primitive.skin {
            None => match wanted.get_mut(primitive.node) {
                Some(wanted) => *wanted = true,
                None => return Err(at(dangling("node", primitive.node, count))),
            },
            Some(skin) => match skin_used.get_mut(skin) {
                Some(used) => *used = true,
                None => return Err(at(dangling("skin", skin, raw.skins.len()))),
            },
        }
        if let Some(material) = primitive.material.filter(|m| *m >= raw.materials.len()) {
            return Err(at(dangling("material", material, raw.materials.len())));
        }
    }
    for (index, skin) in raw.skins.iter().enumerate() {
        for (number, joint) in skin.joints.iter().enumerate() {
            match wanted.get_mut(*joint) {
                Some(wanted) => *wanted |= skin_used[index],
                None => {
                    let (why, part) =
                        (dangling("node", *joint, count), format!("joints[{number}]"));
                    return Err(fault(ObjectKind::Skin, index, part, why));
                }
            }
        }
    }
    if raw.primitives.is_empty() {
        for channel in raw.animations.iter().flat_map(|a| &a.channels) {
            if let Some(wanted) = wanted.get_mut(channel.node) {
                *wanted = true;
            }
        }
    }
    if !wanted.contains(&true) {
        let why = AssetFault::Invalid("contains nothing to draw or pose");
        return Err(fault(ObjectKind::File, None, "", why));
    }
    Ok(wanted)
}

/// Marks the nodes of a humanoid.
pub(super) fn add_roles(raw: &RawCharacter, wanted: &mut [bool]) {
    for of in &raw.roles {
        if let Some(wanted) = wanted.get_mut(of.node) {
            *wanted = true;
        }
    }
}

/// Marks the nodes of a humanoid, and those of chains that move something.
fn add_rig(raw: &RawCharacter, wanted: &mut [bool]) {
    let mut matters = wanted.to_vec();
    for start in (0..wanted.len()).filter(|node| wanted[*node]) {
        let mut at = start;
        // An index that does not exist, and a cycle, are errors later.
        while let Some(parent) = raw.nodes[at].parent
            && matters.get(parent) == Some(&false)
        {
            matters[parent] = true;
            at = parent;
        }
    }
    let moves = |chain: &&SpringChain<usize>| {
        let first = chain.joints.first();
        first.is_some_and(|first| matters.get(first.joint) == Some(&true))
    };
    add_roles(raw, wanted);
    let mut used = Vec::new();
    for chain in raw.springs.chains.iter().filter(moves) {
        used.extend(chain.joints.iter().map(|joint| joint.joint));
        used.extend(chain.center);
        for collider in &chain.colliders {
            used.extend(raw.springs.colliders.get(*collider).map(|of| of.joint));
        }
    }
    for node in used {
        if let Some(wanted) = wanted.get_mut(node) {
            *wanted = true;
        }
    }
}
