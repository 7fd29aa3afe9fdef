//! Constructors of skeletons from joints: checked, or sorted and checked.

use super::joints::{Joint, NO_PARENT, Skeleton, Transform};
use crate::error::{Error, Result, expect_cap};
use crate::id::Id;
use std::ops::Range;

impl Skeleton {
    /// Creates a skeleton from joints in breadth-first order.
    ///
    /// The order is breadth first if roots come first and the parents' indices never decrease. The
    /// joints are checked and kept in this order. [`Self::sorted`] accepts joints in any order.
    ///
    /// # Errors
    /// - [`Error::Capacity`] for more than [`Self::MAX_JOINTS`].
    /// - [`Error::At`] with the index of the first joint that does not come after its parent, is
    ///   out of order, or whose rest transform is not finite or has a rotation whose length is not
    ///   1 to within 1 %.
    pub fn new(joints: Vec<Joint>) -> Result<Self> {
        expect_count(joints.len())?;
        let mut depths: Vec<usize> = Vec::with_capacity(joints.len());
        let mut levels: Vec<Range<u16>> = Vec::new();
        let mut before = 0;
        for (index, joint) in joints.iter().enumerate() {
            check_rest(index, &joint.rest)?;
            // Roots are treated as children of a joint that comes before all others.
            let (parent, depth) = match joint.parent {
                None => (0, 0),
                Some(parent) => match depths.get(parent.index()) {
                    Some(depth) => (parent.index() + 1, depth + 1),
                    None => return Err(at_joint(index, "Joint::parent", PARENTS_FIRST)),
                },
            };
            if parent < before {
                return Err(at_joint(index, "joint order", BREADTH_FIRST));
            }
            before = parent;
            depths.push(depth);
            let at = index as u16;
            if levels.len() == depth {
                levels.push(at..at);
            }
            if let Some(level) = levels.get_mut(depth) {
                level.end = at + 1;
            }
        }
        Ok(Self {
            joints: joints.into(),
            levels,
            roles: std::sync::Arc::default(),
            vrm: None,
        })
    }

    /// Creates a skeleton from joints in any order, sorted breadth first.
    ///
    /// The children of each parent keep the order given. Also returns the new index of each joint,
    /// in the order given.
    ///
    /// # Errors
    /// - [`Error::Capacity`] for more than [`Self::MAX_JOINTS`].
    /// - [`Error::At`] with the index of a joint whose parent does not exist, that is its own
    ///   ancestor, or whose rest transform is invalid as described at [`Self::new`].
    pub fn sorted(joints: Vec<Joint>) -> Result<(Self, Vec<Id<Joint>>)> {
        let count = joints.len();
        expect_count(count)?;
        let mut order = Vec::with_capacity(count);
        let mut children = vec![Vec::new(); count];
        for (index, joint) in joints.iter().enumerate() {
            check_rest(index, &joint.rest)?;
            let Some(parent) = joint.parent else {
                order.push(index);
                continue;
            };
            match children.get_mut(parent.index()) {
                Some(children) => children.push(index),
                None => {
                    return Err(
                        Error::not_found("parent", parent.index(), count).at("joint", index)
                    );
                }
            }
        }
        let mut done = 0;
        while let Some(joint) = order.get(done).copied() {
            order.append(&mut children[joint]);
            done += 1;
        }
        let mut index_of = vec![Id::new(NO_PARENT); count];
        for (index, joint) in order.iter().enumerate() {
            index_of[*joint] = Id::new(index as u16);
        }
        if let Some(joint) = index_of.iter().position(|id| id.0 == NO_PARENT) {
            return Err(at_joint(
                joint,
                "Joint::parent",
                "makes the joint its own ancestor",
            ));
        }
        let moved = |joint: &usize| {
            let mut joint = joints[*joint].clone();
            joint.parent = joint.parent.map(|parent| index_of[parent.index()]);
            joint
        };
        let sorted = Self::new(order.iter().map(moved).collect())?;
        Ok((sorted, index_of))
    }

    /// The skeleton of some joints, whose parents are among them. Their indices ascend.
    pub(crate) fn of_some(&self, indices: &[u16]) -> Self {
        let number = |joint: Id<Joint>| {
            let at = indices.binary_search(&joint.0).ok()?;
            Some(Id::new(at as u16))
        };
        let joint = |index: &u16| {
            let joint = &self.joints[usize::from(*index)];
            Joint {
                parent: joint.parent.and_then(number),
                ..joint.clone()
            }
        };
        let before = |end: u16| indices.partition_point(|index| *index < end) as u16;
        let levels = self
            .levels
            .iter()
            .map(|of| before(of.start)..before(of.end));
        let roles = self.roles.iter();
        let roles = roles.filter_map(|(role, joint)| Some((*role, number(*joint)?)));
        Self {
            joints: indices.iter().map(joint).collect(),
            levels: levels.filter(|level| !level.is_empty()).collect(),
            roles: roles.collect(),
            vrm: self.vrm,
        }
    }
}

const PARENTS_FIRST: &str = "must be the index of a joint before this one";
const BREADTH_FIRST: &str =
    "must be breadth first: roots first, then parents that never decrease (see `Skeleton::sorted`)";

fn expect_count(count: usize) -> Result<()> {
    expect_cap("joints of a skeleton", count, Skeleton::MAX_JOINTS)
}

fn check_rest(index: usize, rest: &Transform) -> Result<()> {
    if !rest.is_finite() {
        return Err(at_joint(index, "Joint::rest", "is not finite"));
    }
    if !(0.99..=1.01).contains(&rest.rotation.length()) {
        let why = "must have a rotation of length 1";
        return Err(at_joint(index, "Joint::rest", why));
    }
    Ok(())
}

fn at_joint(index: usize, what: &'static str, why: &'static str) -> Error {
    Error::invalid(what, why).at("joint", index)
}
