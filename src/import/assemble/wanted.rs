//! The nodes that become joints.

use super::fault::fault_at;
use crate::error::{AssetFault, ObjectKind, Result};
use crate::import::fault::{fault, file_part};
use crate::import::options::ImportOptions;
use crate::import::repair::{Repair, RepairKind};
use crate::import::{RawCharacter, RawKeys, RawNode};
use crate::skeleton::Skeleton;
use crate::spring::SpringChain;

/// Marks the nodes that must become joints, and their ancestors.
pub(super) fn nodes(
    raw: &RawCharacter,
    options: &ImportOptions,
    repairs: &mut Vec<Repair>,
) -> Result<Vec<bool>> {
    let mut wanted = posed(raw)?;
    add_rig(raw, &mut wanted);
    let order: Vec<usize> = RawNode::breadth_first(&raw.nodes)?
        .into_iter()
        .map(|(node, _)| node)
        .collect();
    let mut more = with_unseen(raw, &order, &wanted);
    for all in [&mut wanted, &mut more] {
        for node in order.iter().rev() {
            if let (true, Some(parent)) = (all[*node], raw.nodes[*node].parent) {
                all[parent] = true;
            }
        }
    }
    let count = |all: &[bool]| all.iter().filter(|wanted| **wanted).count();
    let of_clips = count(&more) as u64 * raw.animations.len() as u64;
    let fits_clips = options.packing.is_none() || of_clips <= options.limits.clip_joints;
    if count(&more) <= Skeleton::MAX_JOINTS && fits_clips {
        return Ok(more);
    }
    let left_out = (count(&more) - count(&wanted)) as u64;
    let object = file_part("nodes that draw nothing");
    Repair::note(repairs, &object, RepairKind::LeftOut, left_out);
    Ok(wanted)
}

/// Marks the nodes that draw nothing, too, but have a name or are animated: sockets, targets.
///
/// They are below nodes that draw or pose something, and below animated nodes above these. What is
/// beside them belongs to something else. If nothing is drawn, they may be anywhere, because clips
/// find joints by name.
fn with_unseen(raw: &RawCharacter, order: &[usize], wanted: &[bool]) -> Vec<bool> {
    let count = raw.nodes.len();
    let marked = |nodes: &mut dyn Iterator<Item = usize>| {
        let mut marked = vec![false; count];
        nodes.for_each(|node| marked.get_mut(node).into_iter().for_each(|it| *it = true));
        marked
    };
    let channels = raw
        .animations
        .iter()
        .flat_map(|animation| &animation.channels);
    let moving = channels.filter(|channel| !matches!(channel.values, RawKeys::Weights(_)));
    let animated = marked(&mut moving.map(|channel| channel.node));
    let is_object = marked(&mut raw.objects.iter().copied());
    let mut above = wanted.to_vec();
    for node in order.iter().rev() {
        if let (true, Some(parent)) = (above[*node], raw.nodes[*node].parent) {
            above[parent] = true;
        }
    }
    let mut all = wanted.to_vec();
    let draws = !raw.primitives.is_empty();
    let mut inside = vec![false; count];
    for node in order {
        let raw = &raw.nodes[*node];
        let is_inside = raw.parent.is_some_and(|parent| inside[parent]);
        let has_use = !raw.name.is_empty() || animated[*node];
        all[*node] |= has_use && !is_object[*node] && (is_inside || !draws);
        inside[*node] = is_inside || wanted[*node] || (above[*node] && animated[*node]);
    }
    all
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
                None => return Err(at(AssetFault::dangling("node", primitive.node, count))),
            },
            Some(skin) => match skin_used.get_mut(skin) {
                Some(used) => *used = true,
                None => return Err(at(AssetFault::dangling("skin", skin, raw.skins.len()))),
            },
        }
        if let Some(material) = primitive.material.filter(|m| *m >= raw.materials.len()) {
            return Err(at(AssetFault::dangling(
                "material",
                material,
                raw.materials.len(),
            )));
        }
    }
    for (index, skin) in raw.skins.iter().enumerate() {
        for (number, joint) in skin.joints.iter().enumerate() {
            match wanted.get_mut(*joint) {
                Some(wanted) => *wanted |= skin_used[index],
                None => {
                    let (why, part) = (
                        AssetFault::dangling("node", *joint, count),
                        format!("joints[{number}]"),
                    );
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
    for (_, node) in &raw.roles {
        if let Some(wanted) = wanted.get_mut(*node) {
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
