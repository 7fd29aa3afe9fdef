//! Levels of detail of nodes: `MSFT_lod`.

use super::json::{Document, Node};
use std::collections::VecDeque;
use throng::error::{AssetFault, Object, ObjectKind};
use throng::import::{Repair, RepairKind};

/// The coarser levels of the nodes of a scene.
pub(super) struct Levels {
    pub(super) groups: Vec<Vec<Vec<usize>>>,
    /// For each node, true if it is a coarser level or below one.
    pub(super) is_coarser: Vec<bool>,
    /// Coarser levels that stand outside the scene without a parent, each with its finest level,
    /// which it replaces.
    pub(super) outside: Vec<(usize, usize)>,
}

/// The nodes that a node lists as its coarser levels.
pub(super) fn coarser(node: &Node) -> &[u64] {
    let extensions = node.extensions.as_ref();
    extensions.map_or(&[], |extensions| extensions.coarser())
}

/// The part of a node that lists one of its coarser levels.
pub(super) fn part(number: usize) -> String {
    format!("extensions.MSFT_lod.ids[{number}]")
}

impl Levels {
    /// Reads the levels of all nodes that are `reached`. The indices have been checked.
    ///
    /// A coarser level may list more of them. A node that is listed twice, or lists itself, is a
    /// level once.
    pub(super) fn read(
        doc: &Document,
        parents: &[Option<usize>],
        reached: &[bool],
        repairs: &mut Vec<Repair>,
    ) -> Self {
        let mut listed = vec![false; doc.nodes.len()];
        for id in doc.nodes.iter().flat_map(coarser) {
            listed[*id as usize] = true;
        }
        // Nodes that are not levels of others come first. Others remain if lists form a cycle.
        let has_levels = |node: &usize| reached[*node] && !coarser(&doc.nodes[*node]).is_empty();
        let with_levels: Vec<usize> = (0..doc.nodes.len()).filter(has_levels).collect();
        let (others, first): (Vec<usize>, Vec<usize>) =
            with_levels.into_iter().partition(|node| listed[*node]);
        let mut taken = vec![false; doc.nodes.len()];
        let mut groups = Vec::new();
        for finest in first.into_iter().chain(others) {
            if std::mem::replace(&mut taken[finest], true) {
                continue;
            }
            let mut levels = vec![vec![finest]];
            let mut open = VecDeque::from([finest]);
            while let Some(node) = open.pop_front() {
                for (number, id) in coarser(&doc.nodes[node]).iter().enumerate() {
                    let level = *id as usize;
                    if std::mem::replace(&mut taken[level], true) {
                        let why = AssetFault::Invalid("the node is a level of something already");
                        let kind = RepairKind::LevelLeftOut(why.into());
                        let at = Object::new(ObjectKind::Node, node, part(number));
                        Repair::note(repairs, &at, kind, 1);
                        continue;
                    }
                    levels.push(vec![level]);
                    open.push_back(level);
                }
            }
            groups.push(levels);
        }
        let pairs = || groups.iter().flat_map(|levels| pairs(levels));
        let roots = roots(parents);
        let is_outside = |(level, finest): &(usize, usize)| {
            parents[*level].is_none() && !reached[*level] && roots[*finest] != *level
        };
        Self {
            is_coarser: doc.at_or_below(pairs().map(|(level, _)| level).collect()),
            outside: pairs().filter(is_outside).collect(),
            groups,
        }
    }
}

/// The coarser levels of a group, each with the finest.
fn pairs(levels: &[Vec<usize>]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut nodes = levels.iter().flatten().copied();
    let finest = nodes.next();
    nodes.filter_map(move |level| Some((level, finest?)))
}

/// The root of the tree that each node is in.
fn roots(parents: &[Option<usize>]) -> Vec<usize> {
    let mut roots: Vec<Option<usize>> = vec![None; parents.len()];
    let mut path = Vec::new();
    for start in 0..parents.len() {
        let mut at = start;
        let root = loop {
            match (roots[at], parents[at]) {
                (Some(root), _) => break root,
                (None, None) => break at,
                (None, Some(parent)) => {
                    path.push(at);
                    at = parent;
                }
            }
        };
        for node in path.drain(..).chain([at]) {
            roots[node] = Some(root);
        }
    }
    roots.into_iter().flatten().collect()
}
