//! Matching of the joints of two skeletons by name.

use super::joints::{NO_PARENT, Skeleton};
use std::collections::{HashMap, VecDeque};

/// The joints of one skeleton, matched to joints with the same names in another.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct NameMatch {
    /// For each joint of the first skeleton, its match in the second.
    pub(crate) of: Vec<Option<u16>>,
    /// Names that several joints of either skeleton have, in the first skeleton's order.
    pub(crate) ties: Vec<Tie>,
}

/// A name that several joints have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tie {
    pub(crate) name: Box<str>,
    /// The number of joints with this name in the first skeleton, and in the second.
    pub(crate) bearers: [usize; 2],
    /// The number of them that were matched by their position in the hierarchy.
    pub(crate) matched: usize,
}

/// Matches joints with exactly the same name.
///
/// - A name that exactly one joint of each skeleton has is a match.
/// - Other names are decided by position in the hierarchy: children of matched joints (or roots)
///   that have a name in common are matched in order, if there are as many of them on both sides.
/// - Joints without a name are never matched. No joint is matched twice.
pub(crate) fn match_names(from: &Skeleton, to: &Skeleton) -> NameMatch {
    let (by_from, by_to) = (by_name(from), by_name(to));
    let mut found = Found {
        of: vec![None; from.len()],
        taken: vec![false; to.len()],
        open: VecDeque::new(),
    };
    let mut ties = Vec::new();
    for (index, joint) in from.joints().iter().enumerate() {
        let (Some(ours), Some(theirs)) = (by_from.get(&*joint.name), by_to.get(&*joint.name))
        else {
            continue;
        };
        match (ours.as_slice(), theirs.as_slice()) {
            ([_], [only]) => found.pair(index as u16, *only),
            _ if usize::from(ours[0]) == index => ties.push(Tie {
                name: joint.name.clone(),
                bearers: [ours.len(), theirs.len()],
                matched: 0,
            }),
            _ => {}
        }
    }
    if !ties.is_empty() {
        let (below_from, below_to) = (Children::new(from), Children::new(to));
        found.match_children(from, to, below_from.of(NO_PARENT), below_to.of(NO_PARENT));
        while let Some((ours, theirs)) = found.open.pop_front() {
            found.match_children(from, to, below_from.of(ours), below_to.of(theirs));
        }
    }
    for tie in &mut ties {
        let ours = by_from.get(&*tie.name).into_iter().flatten();
        tie.matched = ours
            .filter(|joint| found.of[usize::from(**joint)].is_some())
            .count();
    }
    NameMatch { of: found.of, ties }
}

struct Found {
    of: Vec<Option<u16>>,
    taken: Vec<bool>,
    /// Pairs whose children have not been visited.
    open: VecDeque<(u16, u16)>,
}

impl Found {
    fn pair(&mut self, ours: u16, theirs: u16) {
        self.of[usize::from(ours)] = Some(theirs);
        self.taken[usize::from(theirs)] = true;
        self.open.push_back((ours, theirs));
    }

    fn match_children(&mut self, from: &Skeleton, to: &Skeleton, ours: &[u16], theirs: &[u16]) {
        let mut named: HashMap<&str, [Vec<u16>; 2]> = HashMap::new();
        let mut order = Vec::new();
        for joint in ours.iter().filter(|j| self.of[usize::from(**j)].is_none()) {
            let name = &*from.joints()[usize::from(*joint)].name;
            let group = named.entry(name).or_default();
            if group[0].is_empty() {
                order.push(name);
            }
            group[0].push(*joint);
        }
        for joint in theirs.iter().filter(|j| !self.taken[usize::from(**j)]) {
            let name = &*to.joints()[usize::from(*joint)].name;
            if let Some(group) = named.get_mut(name) {
                group[1].push(*joint);
            }
        }
        for name in order.into_iter().filter(|name| !name.is_empty()) {
            if let Some([ours, theirs]) = named.get(name)
                && ours.len() == theirs.len()
            {
                for (ours, theirs) in ours.iter().zip(theirs) {
                    self.pair(*ours, *theirs);
                }
            }
        }
    }
}

/// The joints with each name. Joints without a name are left out.
fn by_name(skeleton: &Skeleton) -> HashMap<&str, Vec<u16>> {
    let mut named: HashMap<&str, Vec<u16>> = HashMap::new();
    for (index, joint) in skeleton.joints().iter().enumerate() {
        if !joint.name.is_empty() {
            named.entry(&joint.name).or_default().push(index as u16);
        }
    }
    named
}

/// The children of each joint, and the roots. In breadth-first order, the children of one joint are
/// contiguous.
pub(crate) struct Children {
    order: Vec<u16>,
    /// The children in row `r` are `order[starts[r]..starts[r + 1]]`.
    starts: Vec<usize>,
}

impl Children {
    pub(crate) fn new(skeleton: &Skeleton) -> Self {
        let count = skeleton.len();
        let mut starts = vec![0; count + 2];
        for joint in skeleton.joints() {
            starts[row(joint.parent_index()) + 1] += 1;
        }
        for at in 0..=count {
            starts[at + 1] += starts[at];
        }
        let mut order = vec![0; count];
        let mut next = starts.clone();
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let position = &mut next[row(joint.parent_index())];
            order[*position] = index as u16;
            *position += 1;
        }
        Self { order, starts }
    }

    /// The children of a joint, or the roots for [`NO_PARENT`].
    pub(crate) fn of(&self, parent: u16) -> &[u16] {
        let row = row(parent);
        &self.order[self.starts[row]..self.starts[row + 1]]
    }
}

/// Row 0 is for the roots, row j + 1 for the children of joint j.
fn row(parent: u16) -> usize {
    match parent {
        NO_PARENT => 0,
        parent => usize::from(parent) + 1,
    }
}
