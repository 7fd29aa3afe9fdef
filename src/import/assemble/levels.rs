//! Levels of detail that are meshes of their own: which primitive is a level of which.

use super::fault::fault_at;
use crate::error::{AssetFault, Object, ObjectKind, Result};
use crate::import::fault::{cut, fault, wrong_count};
use crate::import::repair::{Repair, RepairKind};
use crate::import::{RawCharacter, RawKeys, RawNode, RawPrimitive};
use crate::mesh::MeshLevel;
use std::collections::{HashMap, HashSet};

/// The coarser levels of a primitive, finest first. `None`: it is not drawn at the level.
pub(super) type Coarser = Vec<Option<RawPrimitive>>;

/// The primitives that are levels of others.
#[derive(Debug)]
pub(super) struct Plan {
    /// By primitive.
    roles: Vec<PartRole>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum PartRole {
    /// It is drawn by itself, and has this number of coarser levels.
    Finest(usize),
    /// It is a coarser level.
    Level {
        finest: usize,
        number: usize,
    },
    LeftOut,
}

/// Matches the primitives of coarser levels to those of the finest, and removes those of levels
/// that cannot be used.
pub(super) fn plan(raw: &mut RawCharacter, repairs: &mut Vec<Repair>) -> Result<Plan> {
    let mut roles = vec![PartRole::Finest(0); raw.primitives.len()];
    if raw.level_groups.is_empty() {
        return Ok(Plan { roles });
    }
    let marks = marks(raw, repairs)?;
    let sized = |group: &Vec<Vec<usize>>| vec![Vec::new(); group.len()];
    let mut members: Vec<Vec<Vec<usize>>> = raw.level_groups.iter().map(sized).collect();
    for (index, primitive) in raw.primitives.iter().enumerate() {
        if let Some((group, level)) = marks.get(primitive.node).copied().flatten() {
            members[group][level].push(index);
        }
    }
    let mut moved = Vec::new();
    let still = Still::new(raw);
    for (group, levels) in raw.level_groups.iter().zip(&members) {
        let mut drawn = levels.iter().enumerate().filter(|(_, own)| !own.is_empty());
        let Some((_, finest)) = drawn.next() else {
            continue;
        };
        let mut done = 0;
        for (number, own) in drawn {
            let pairs = match matched(&raw.primitives, finest, own, done) {
                Ok(pairs) => pairs,
                Err(why) => {
                    own.iter().for_each(|at| roles[*at] = PartRole::LeftOut);
                    let first = group[number].first().copied().unwrap_or_default();
                    let kind = RepairKind::LevelLeftOut(why.into());
                    Repair::note(repairs, &named(&raw.nodes, first), kind, own.len() as u64);
                    continue;
                }
            };
            for (finest, own) in pairs {
                let number = done;
                roles[own] = PartRole::Level { finest, number };
                let (of, by) = (&raw.primitives[finest], &raw.primitives[own]);
                let rigid = of.skin.is_none() && by.skin.is_none();
                if rigid && still.together(&raw.nodes, by.node, of.node) {
                    moved.push((own, of.node));
                }
            }
            done += 1;
        }
        finest
            .iter()
            .for_each(|at| roles[*at] = PartRole::Finest(done));
    }
    for (primitive, node) in moved {
        raw.primitives[primitive].node = node;
    }
    remove(raw, &mut roles);
    Ok(Plan { roles })
}

/// The group and the level of each node: those of the nearest node of a group, at or above it.
fn marks(raw: &RawCharacter, repairs: &mut Vec<Repair>) -> Result<Vec<Option<(usize, usize)>>> {
    let count = raw.nodes.len();
    let mut marks = vec![None; count];
    for (index, group) in raw.level_groups.iter().enumerate() {
        for (level, nodes) in group.iter().enumerate() {
            for node in nodes {
                let Some(mark) = marks.get_mut(*node) else {
                    let part = format!("level_groups[{index}][{level}]");
                    let why = AssetFault::dangling("node", *node, count);
                    return Err(fault(ObjectKind::File, None, part, why));
                };
                if mark.is_some() {
                    let why = AssetFault::Invalid("the node is a level of something else");
                    let kind = RepairKind::LevelLeftOut(why.into());
                    Repair::note(repairs, &named(&raw.nodes, *node), kind, 1);
                    continue;
                }
                *mark = Some((index, level));
            }
        }
    }
    for (node, _) in RawNode::breadth_first(&raw.nodes)? {
        if let (None, Some(parent)) = (marks[node], raw.nodes[node].parent) {
            marks[node] = marks[parent];
        }
    }
    Ok(marks)
}

pub(super) fn named(nodes: &[RawNode], node: usize) -> Object {
    let name = nodes.get(node).map_or("", |node| &*node.name);
    Object::new(ObjectKind::Node, node, cut(name))
}

/// For each primitive of a level, the one of the finest level with the same material: the first
/// with the first, and so on. `before` levels come between the two.
fn matched(
    primitives: &[RawPrimitive],
    finest: &[usize],
    own: &[usize],
    before: usize,
) -> core::result::Result<Vec<(usize, usize)>, AssetFault> {
    if before == MeshLevel::MAX_COUNT {
        return Err(AssetFault::Invalid("there are more than are drawn"));
    }
    let mut open: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for at in finest.iter().rev() {
        open.entry(primitives[*at].material).or_default().push(*at);
    }
    let mut pairs = Vec::with_capacity(own.len());
    for at in own {
        let level = &primitives[*at];
        let Some(full) = open.get_mut(&level.material).and_then(Vec::pop) else {
            let why = "has a material that the finest level does not have, or more parts with it";
            return Err(AssetFault::Invalid(why));
        };
        let (got, need) = (level.targets.len(), primitives[full].targets.len());
        if got != 0 && got != need {
            return Err(wrong_count("the list of morph targets", got, need));
        }
        if !(level.levels.is_empty() && primitives[full].levels.is_empty()) {
            return Err(AssetFault::Invalid("a primitive has levels of its own"));
        }
        pairs.push((full, *at));
    }
    Ok(pairs)
}

/// The nodes that no animation moves.
struct Still(HashSet<usize>);

impl Still {
    fn new(raw: &RawCharacter) -> Self {
        let channels = raw.animations.iter().flat_map(|a| &a.channels);
        let moving = channels.filter(|channel| !matches!(channel.values, RawKeys::Weights(_)));
        Self(moving.map(|channel| channel.node).collect())
    }

    /// Returns true if `node` is where `other` is at rest, and no animation moves it by itself.
    ///
    /// Then what it carries can follow `other`, which may be animated.
    fn together(&self, nodes: &[RawNode], node: usize, other: usize) -> bool {
        /// The most nodes that are compared.
        const DEPTH: usize = 64;
        let (mut own, mut theirs) = (node, other);
        for _ in 0..DEPTH {
            if own == theirs {
                return true;
            }
            let (Some(a), Some(b)) = (nodes.get(own), nodes.get(theirs)) else {
                return false;
            };
            let same = a.transform == b.transform && a.matrix == b.matrix;
            match (a.parent, b.parent) {
                _ if !same || self.0.contains(&own) => return false,
                (None, None) => return true,
                (Some(a), Some(b)) => (own, theirs) = (a, b),
                _ => return false,
            }
        }
        false
    }
}

/// Removes the primitives that are left out.
fn remove(raw: &mut RawCharacter, roles: &mut Vec<PartRole>) {
    let mut left = 0;
    let is_kept = |role: &PartRole| *role != PartRole::LeftOut;
    let number = |role: &PartRole| {
        left += usize::from(is_kept(role));
        left.saturating_sub(1)
    };
    let numbers: Vec<usize> = roles.iter().map(number).collect();
    let mut kept = roles.iter().map(is_kept);
    raw.primitives.retain(|_| kept.next().unwrap_or(true));
    roles.retain(is_kept);
    for role in roles {
        if let PartRole::Level { finest, .. } = role {
            *finest = numbers[*finest];
        }
    }
}

impl Plan {
    /// Moves coarser levels out of the list. Returns those of each primitive that stays.
    pub(super) fn split(self, primitives: &mut Vec<RawPrimitive>) -> Vec<Coarser> {
        let levels = |role: &PartRole| match role {
            PartRole::Finest(count) => vec![None; *count],
            _ => Vec::new(),
        };
        let mut coarser: Vec<Coarser> = self.roles.iter().map(levels).collect();
        let (mut kept, mut coarser_of) = (Vec::with_capacity(primitives.len()), Vec::new());
        for (index, primitive) in std::mem::take(primitives).into_iter().enumerate() {
            match self.roles[index] {
                PartRole::Level { finest, number } => coarser[finest][number] = Some(primitive),
                _ => kept.push(primitive),
            }
        }
        for (role, levels) in self.roles.iter().zip(coarser) {
            if matches!(role, PartRole::Finest(_)) {
                coarser_of.push(levels);
            }
        }
        *primitives = kept;
        coarser_of
    }
}

/// Fails if a primitive has more vertices with its levels than indices can address.
pub(super) fn check_total(raw: &RawPrimitive, before: usize, more: usize) -> Result<()> {
    let (what, asked) = ("vertices of all levels", before as u64 + more as u64);
    let cap = u64::from(u32::MAX) - 1;
    match asked <= cap {
        true => Ok(()),
        false => Err(fault_at(raw, "", AssetFault::Cap { what, asked, cap })),
    }
}
