//! Levels of detail by the names of nodes, such as `Body_LOD0` and `Body_LOD1`.

use super::levels::named;
use crate::error::{AssetFault, Result};
use crate::import::repair::{Repair, RepairKind};
use crate::import::{RawCharacter, RawNode};
use std::collections::{BTreeMap, HashMap};

impl RawCharacter {
    /// Groups nodes whose names differ only by the number of a level of detail, and removes what is
    /// drawn only at coarser levels.
    ///
    /// Each group is as far down the hierarchy as possible, so that copies with the same names stay
    /// apart. Nodes of groups that the file states, and those below them, are left alone.
    ///
    /// # Errors
    /// [`Error::Asset`](crate::Error::Asset) for nodes that are not a forest.
    pub fn group_levels_by_name(&mut self) -> Result<()> {
        let names: Vec<Option<(String, u32)>> =
            self.nodes.iter().map(|of| number(&of.name)).collect();
        if names.iter().all(Option::is_none) {
            return Ok(());
        }
        let order = RawNode::breadth_first(&self.nodes)?;
        let order: Vec<usize> = order.into_iter().map(|(node, _)| node).collect();
        let (mut draws, mut stated) = (vec![false; names.len()], vec![false; names.len()]);
        let carriers = self.primitives.iter().map(|primitive| primitive.node);
        carriers.for_each(|node| mark(&mut draws, node));
        let levels = self.level_groups.iter().flatten();
        levels.flatten().for_each(|node| mark(&mut stated, *node));
        for node in &order {
            stated[*node] |= self.nodes[*node]
                .parent
                .is_some_and(|parent| stated[parent]);
        }
        let mut open = Open::default();
        for node in order.iter().rev() {
            let parent = self.nodes[*node].parent;
            let own = names[*node].as_ref();
            open.add(
                *node,
                own.filter(|_| draws[*node] && !stated[*node]),
                parent,
            );
            if let Some(parent) = parent {
                draws[parent] |= draws[*node];
            }
        }
        let (groups, coarser) = open.finish();
        leave_out(self, &order, &groups, &coarser);
        self.level_groups.extend(groups);
        Ok(())
    }
}

fn mark(marks: &mut [bool], node: usize) {
    marks.get_mut(node).into_iter().for_each(|it| *it = true);
}

/// The name before the number of a level, in lower case, and the number.
///
/// It is `Stem_LOD1` or `Stem_LOD_1`. The underscores may be hyphens, dots or spaces.
fn number(name: &str) -> Option<(String, u32)> {
    const SEPARATORS: [char; 4] = ['_', '-', '.', ' '];
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[word.len()..].parse().ok()?;
    let word = word.strip_suffix(SEPARATORS).unwrap_or(word);
    let (stem, lod) = word.split_at_checked(word.len().checked_sub(3)?)?;
    let is_level = lod.eq_ignore_ascii_case("lod");
    let is_alone = stem.is_empty() || stem.ends_with(SEPARATORS);
    (is_level && is_alone).then(|| (stem.to_lowercase(), number))
}

/// Nodes with one name and one number, below the same node.
#[derive(Default)]
struct Found {
    number: u32,
    nodes: Vec<usize>,
    /// Others with the same name. They become a group with the next node up.
    others: Vec<(u32, usize)>,
}

/// The nodes that are in no group yet. Nodes are visited from the leaves to the roots.
#[derive(Default)]
struct Open<'a> {
    /// By node, what is below it. `None` stands above the roots.
    below: HashMap<Option<usize>, HashMap<&'a str, Found>>,
    /// By node, the names with several numbers below it.
    mixed: HashMap<Option<usize>, Vec<&'a str>>,
    groups: Vec<Vec<Vec<usize>>>,
    /// The smallest number of all.
    finest: Option<u32>,
}

impl<'a> Open<'a> {
    /// Visits a node, after all nodes below it.
    fn add(&mut self, node: usize, own: Option<&'a (String, u32)>, parent: Option<usize>) {
        if let Some((stem, number)) = own {
            let finest = self.finest.unwrap_or(*number);
            self.finest = Some(finest.min(*number));
            let found = Found {
                number: *number,
                nodes: vec![node],
                others: Vec::new(),
            };
            self.put(Some(node), stem, found);
        }
        self.close(Some(node));
        let Some(below) = self.below.remove(&Some(node)) else {
            return;
        };
        // The smaller map moves into the larger one.
        let above = self.below.entry(parent).or_default();
        let smaller = match above.len() < below.len() {
            true => std::mem::replace(above, below),
            false => below,
        };
        for (stem, found) in smaller {
            self.put(parent, stem, found);
        }
    }

    fn put(&mut self, at: Option<usize>, stem: &'a str, mut new: Found) {
        let found = self.below.entry(at).or_default().entry(stem).or_default();
        if found.nodes.len() < new.nodes.len() {
            std::mem::swap(found, &mut new);
        }
        if found.number == new.number {
            found.nodes.extend(new.nodes);
        } else {
            let numbered = new.nodes.iter().map(|node| (new.number, *node));
            found.others.extend(numbered);
        }
        found.others.extend(new.others);
        if !found.others.is_empty() {
            self.mixed.entry(at).or_default().push(stem);
        }
    }

    /// Makes groups of the names with several numbers below a node.
    fn close(&mut self, at: Option<usize>) {
        for stem in self.mixed.remove(&at).unwrap_or_default() {
            let found = self.below.get_mut(&at).and_then(|below| below.remove(stem));
            let Some(found) = found else {
                continue;
            };
            let mut levels: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            levels.insert(found.number, found.nodes);
            for (number, node) in found.others {
                levels.entry(number).or_default().push(node);
            }
            let levels = levels.into_values().map(|mut nodes| {
                nodes.sort_unstable();
                nodes
            });
            self.groups.push(levels.collect());
        }
    }

    /// The groups, and the nodes that are in none and not of the finest level.
    fn finish(mut self) -> (Vec<Vec<Vec<usize>>>, Vec<usize>) {
        self.close(None);
        self.groups.sort_unstable();
        let alone = self.below.into_values().flat_map(HashMap::into_values);
        let coarser = alone.filter(|found| Some(found.number) > self.finest);
        let mut coarser: Vec<usize> = coarser.flat_map(|found| found.nodes).collect();
        coarser.sort_unstable();
        (self.groups, coarser)
    }
}

/// Removes what these nodes draw, without those of groups below them.
fn leave_out(raw: &mut RawCharacter, order: &[usize], groups: &[Vec<Vec<usize>>], nodes: &[usize]) {
    let mut grouped = vec![false; raw.nodes.len()];
    let all = groups.iter().chain(&raw.level_groups);
    let levels = all.flatten();
    levels.flatten().for_each(|node| mark(&mut grouped, *node));
    // By node, the one to leave out at or above it.
    let mut of = vec![None; raw.nodes.len()];
    nodes.iter().for_each(|node| of[*node] = Some(*node));
    for node in order {
        if let (None, false, Some(parent)) = (of[*node], grouped[*node], raw.nodes[*node].parent) {
            of[*node] = of[parent];
        }
    }
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    raw.primitives.retain(|primitive| {
        let node = of.get(primitive.node).copied().flatten();
        node.into_iter()
            .for_each(|node| *counts.entry(node).or_default() += 1);
        node.is_none()
    });
    for (node, count) in counts {
        let why = AssetFault::Invalid("there is no finer level with this name");
        let kind = RepairKind::LevelLeftOut(why.into());
        let object = named(&raw.nodes, node);
        Repair::note(&mut raw.repairs, &object, kind, count);
    }
}
