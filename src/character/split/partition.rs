//! Partitioning of triangles into pieces that each use few joints.

use std::collections::{HashMap, VecDeque};

/// The triangle or group is in no piece yet.
const NONE: u32 = u32::MAX;
/// The budget of steps through the lists of groups, per joint of a group. When it is spent, the cut
/// continues in index order. Real meshes need a few steps.
const PATIENCE: u64 = 64;

/// The joints that each triangle follows. Triangles that follow the same joints are one group.
#[derive(Debug, Default)]
pub(super) struct JointSets {
    numbers: HashMap<Box<[u16]>, u32>,
    /// The joints of all groups, concatenated. Those of one group are ascending.
    list: Vec<u16>,
    ends: Vec<usize>,
    group_of: Vec<u32>,
}

impl JointSets {
    /// Adds the next triangle, with an ascending list of its joints.
    pub(super) fn push(&mut self, joints: &[u16]) {
        let next = self.ends.len() as u32;
        let group = match self.numbers.get(joints) {
            Some(group) => *group,
            None => {
                self.numbers.insert(joints.into(), next);
                self.list.extend(joints);
                self.ends.push(self.list.len());
                next
            }
        };
        self.group_of.push(group);
    }

    fn of(&self, group: u32) -> &[u16] {
        let group = group as usize;
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.list[start..self.ends[group]]
    }
}

/// One piece: its triangles and the joints that they follow, both ascending.
#[derive(Debug, Default)]
pub(super) struct JointPiece {
    pub(super) triangles: Vec<u32>,
    pub(super) joints: Vec<u16>,
}

/// Cuts into pieces of at most `max_joints` joints.
///
/// `joints` is the number of joints that exist. No triangle may follow more than `max_joints`.
///
/// Each piece grows greedily: it takes the group of triangles that adds the fewest joints and,
/// among equals, the group that was reached first. While it can still hold more joints, it then
/// takes groups that have no joint in common with it. The next piece starts beside it.
///
/// The cost of a step is the number of groups that follow the added joints, so the whole is
/// near-linear as long as there are few pieces. A budget of [`PATIENCE`] steps keeps it linear in
/// every case. If the triangles are already in a good order, filling one piece after the other in
/// that order may give a better cut, which is then used.
pub(super) fn partition(sets: JointSets, joints: usize, max_joints: usize) -> Vec<JointPiece> {
    let filled = fill(&sets, joints, max_joints);
    let grown = Grower::new(sets, joints, max_joints);
    let (sets, grown) = grown.run(filled.joints.len());
    let better = match grown {
        Some(grown) if grown.cost() <= filled.cost() => grown,
        _ => filled,
    };
    let piece = |joints| JointPiece {
        joints,
        triangles: Vec::new(),
    };
    let mut pieces: Vec<JointPiece> = better.joints.into_iter().map(piece).collect();
    for (triangle, group) in sets.group_of.iter().enumerate() {
        let piece = better.piece_of[*group as usize] as usize;
        pieces[piece].triangles.push(triangle as u32);
    }
    pieces
}

/// One candidate cut: the piece of each group, and the joints of each piece, ascending.
#[derive(Debug, Default)]
struct Way {
    piece_of: Vec<u32>,
    joints: Vec<Vec<u16>>,
}

impl Way {
    /// Prefers few pieces, then few joints in all pieces together.
    fn cost(&self) -> (usize, usize) {
        let listed = self.joints.iter().map(Vec::len).sum();
        (self.joints.len(), listed)
    }
}

/// Fills one piece after the other with the groups in their order.
fn fill(sets: &JointSets, joints: usize, max_joints: usize) -> Way {
    let mut way = Way::default();
    let mut has = vec![NONE; joints];
    let mut current = Vec::new();
    for group in 0..sets.ends.len() as u32 {
        let of = sets.of(group).iter();
        let piece = way.joints.len() as u32;
        let adds = of.filter(|joint| has[usize::from(**joint)] != piece);
        if current.len() + adds.count() > max_joints {
            way.joints.push(std::mem::take(&mut current));
        }
        let piece = way.joints.len() as u32;
        way.piece_of.push(piece);
        for joint in sets.of(group) {
            if std::mem::replace(&mut has[usize::from(*joint)], piece) != piece {
                current.push(*joint);
            }
        }
    }
    way.joints.push(current);
    way.joints
        .iter_mut()
        .for_each(|piece| piece.sort_unstable());
    way
}

struct Grower {
    sets: JointSets,
    max_joints: usize,
    piece_of: Vec<u32>,
    /// The groups that follow each joint. Groups of finished pieces are removed from time to time.
    groups: Vec<Vec<u32>>,
    /// The latest piece that contains each joint.
    has: Vec<u32>,
    /// The number of joints that each group would add to the piece in `counted`.
    missing: Vec<u32>,
    counted: Vec<u32>,
    /// Groups by the number of joints that they would have added when they were queued.
    queues: Vec<VecDeque<u32>>,
    piece: u32,
    joints: Vec<u16>,
    /// The first group that may not belong to a piece yet.
    first: u32,
    steps_left: u64,
}

impl Grower {
    fn new(sets: JointSets, joints: usize, max_joints: usize) -> Self {
        let count = sets.ends.len();
        let mut groups = vec![Vec::new(); joints];
        let mut most = 0;
        for group in 0..count as u32 {
            let of = sets.of(group);
            most = most.max(of.len());
            for joint in of {
                groups[usize::from(*joint)].push(group);
            }
        }
        Self {
            steps_left: PATIENCE * (sets.list.len() as u64 + 64),
            sets,
            max_joints,
            piece_of: vec![NONE; count],
            groups,
            has: vec![NONE; joints],
            missing: vec![0; count],
            counted: vec![NONE; count],
            queues: vec![VecDeque::new(); most + 1],
            piece: 0,
            joints: Vec::new(),
            first: 0,
        }
    }

    /// Cuts into at most `most` pieces, if possible. Also returns the sets.
    fn run(mut self, most: usize) -> (JointSets, Option<Way>) {
        let mut joints = Vec::new();
        while let Some(seed) = self.seed() {
            if joints.len() == most {
                return (self.sets, None);
            }
            joints.push(self.grow(seed));
        }
        let piece_of = self.piece_of;
        (self.sets, Some(Way { piece_of, joints }))
    }

    /// The first group of a new piece: one near the previous piece, or else the first group left.
    fn seed(&mut self) -> Option<u32> {
        let near = (1..self.queues.len()).find_map(|adds| self.waiting(adds));
        for queue in &mut self.queues {
            queue.clear();
        }
        near.or_else(|| self.first_left())
    }

    fn first_left(&mut self) -> Option<u32> {
        while self.piece_of.get(self.first as usize)? != &NONE {
            self.first += 1;
        }
        Some(self.first)
    }

    /// The group that has waited longest of those that add this many joints to the piece.
    fn waiting(&mut self, adds: usize) -> Option<u32> {
        // An entry is stale if a joint of its group was added to the piece later, or if the group
        // has a piece by now.
        let last = self.piece.checked_sub(1).unwrap_or(self.piece);
        while let Some(group) = self.queues[adds].pop_front() {
            let at = group as usize;
            let fresh = self.counted[at] == self.piece || self.counted[at] == last;
            if fresh && self.piece_of[at] == NONE && self.missing[at] as usize == adds {
                return Some(group);
            }
        }
        None
    }

    /// Makes the next piece and returns its joints, ascending.
    fn grow(&mut self, seed: u32) -> Vec<u16> {
        self.joints.clear();
        self.add(seed);
        while let Some(next) = self.next() {
            self.add(next);
        }
        self.piece += 1;
        let mut joints = self.joints.clone();
        joints.sort_unstable();
        joints
    }

    /// The next group for the piece, if one fits.
    fn next(&mut self) -> Option<u32> {
        let room = self.max_joints - self.joints.len();
        let most = room.min(self.queues.len() - 1);
        if let Some(near) = (1..=most).find_map(|adds| self.waiting(adds)) {
            return Some(near);
        }
        let far = self.first_left()?;
        let of = self.sets.of(far).iter();
        let adds = of.filter(|joint| self.has[usize::from(**joint)] != self.piece);
        (adds.count() <= room).then_some(far)
    }

    fn add(&mut self, group: u32) {
        self.piece_of[group as usize] = self.piece;
        for at in 0..self.sets.of(group).len() {
            let joint = self.sets.of(group)[at];
            if std::mem::replace(&mut self.has[usize::from(joint)], self.piece) != self.piece {
                self.joints.push(joint);
                self.reach(joint);
            }
        }
    }

    /// Updates the count of missing joints of every group that follows `joint`, which is now in the
    /// piece. Groups that miss no other joint join the piece.
    fn reach(&mut self, joint: u16) {
        let mut groups = std::mem::take(&mut self.groups[usize::from(joint)]);
        let left = self.steps_left.checked_sub(groups.len() as u64);
        self.steps_left = left.unwrap_or(0);
        if left.is_none() {
            // The budget is spent, so later counts would be wrong. The remaining groups follow in
            // index order.
            self.queues.iter_mut().for_each(VecDeque::clear);
            self.groups.iter_mut().for_each(Vec::clear);
            return;
        }
        groups.retain(|group| {
            let at = *group as usize;
            if self.piece_of[at] != NONE {
                return false;
            }
            if self.counted[at] != self.piece {
                self.counted[at] = self.piece;
                self.missing[at] = self.sets.of(*group).len() as u32;
            }
            self.missing[at] -= 1;
            let missing = self.missing[at] as usize;
            if missing == 0 {
                self.piece_of[at] = self.piece;
                return false;
            }
            self.queues[missing].push_back(*group);
            true
        });
        self.groups[usize::from(joint)] = groups;
    }
}
