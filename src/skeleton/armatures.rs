//! Parts of a skeleton that repeat each other's names, as the armatures of a library of clips do.

use super::joints::{Joint, Skeleton};
use crate::id::Id;
use crate::order;
use core::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

/// The armatures of a skeleton: the largest subtrees in which no name occurs too often.
#[derive(Debug)]
pub(crate) struct Armatures {
    /// By joint. `None` for joints above several armatures.
    of: Vec<Option<u32>>,
    /// The joints of each armature, ascending. Empty if the whole skeleton is one armature.
    joints: Vec<Vec<u16>>,
}

impl Armatures {
    /// Splits a skeleton whose joints have these names.
    ///
    /// In an armature, a name may occur as often as in `others`. Names that do not occur there may
    /// occur `more` times. Joints without a name do not count.
    pub(crate) fn new<N: Hash + Eq>(
        skeleton: &Skeleton,
        names: impl Iterator<Item = Option<N>>,
        others: impl Iterator<Item = Option<N>>,
        more: usize,
    ) -> Self {
        let mut allowed: HashMap<N, usize> = HashMap::new();
        for name in others.flatten() {
            *allowed.entry(name).or_default() += 1;
        }
        let names: Vec<Option<N>> = names.collect();
        let count = skeleton.len();
        // By joint, and at last above the roots: how often names occur there and below.
        let mut counts: Vec<HashMap<&N, usize>> = (0..=count).map(|_| HashMap::new()).collect();
        let mut is_whole = vec![true; count + 1];
        let add = |to: &mut HashMap<_, usize>, name, times| {
            let all = to.entry(name).or_default();
            *all += times;
            *all <= allowed.get(name).copied().unwrap_or(more)
        };
        for (joint, name) in names.iter().enumerate().rev() {
            let mut below = core::mem::take(&mut counts[joint]);
            is_whole[joint] &= name.iter().all(|name| add(&mut below, name, 1));
            let parent = skeleton.joints()[joint].parent;
            let above = parent.map_or(count, |parent| parent.index());
            is_whole[above] &= is_whole[joint];
            let all = &mut counts[above];
            if !is_whole[above] {
                *all = HashMap::new();
                continue;
            }
            // The smaller map moves into the larger one.
            if all.len() < below.len() {
                core::mem::swap(all, &mut below);
            }
            is_whole[above] = below.into_iter().all(|(name, times)| add(all, name, times));
        }
        Self::of_whole(skeleton, &is_whole)
    }

    /// `is_whole` tells of each joint, and at last of all of them, if no name occurs too often.
    fn of_whole(skeleton: &Skeleton, is_whole: &[bool]) -> Self {
        let mut all = Self {
            of: Vec::with_capacity(skeleton.len()),
            joints: Vec::new(),
        };
        if is_whole.last() == Some(&true) {
            return all;
        }
        for (index, joint) in skeleton.joints().iter().enumerate() {
            let above = joint.parent.map(|parent| parent.index());
            let inherited = above.filter(|above| is_whole[*above]);
            let of = match inherited {
                Some(above) => all.of[above],
                None => is_whole[index].then(|| {
                    all.joints.push(Vec::new());
                    all.joints.len() as u32 - 1
                }),
            };
            if let Some(of) = of {
                all.joints[of as usize].push(index as u16);
            }
            all.of.push(of);
        }
        all
    }

    /// The armatures that a clip moves: those with most changes first.
    ///
    /// `moves` has the joint of each track, and true if it changes over time. Empty if the skeleton
    /// is one armature.
    pub(crate) fn moved_by(&self, moves: &[(Id<Joint>, bool)]) -> Vec<u32> {
        let mut moved: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
        for (joint, changes) in moves {
            if let Some(of) = self.of.get(joint.index()).copied().flatten() {
                let [changing, all] = moved.entry(of).or_default();
                *changing += usize::from(*changes);
                *all += 1;
            }
        }
        let mut moved: Vec<(u32, [usize; 2])> = moved.into_iter().collect();
        order::sort_by_key(&mut moved, |(of, counts)| (counts.map(Reverse), *of));
        moved.into_iter().map(|(of, _)| of).collect()
    }

    /// The joints of some armatures and those above them, ascending.
    pub(crate) fn joints(&self, skeleton: &Skeleton, armatures: &[u32]) -> Vec<u16> {
        let own = armatures
            .iter()
            .filter_map(|of| self.joints.get(*of as usize));
        let mut joints: Vec<u16> = own.clone().flatten().copied().collect();
        let mut above = HashSet::new();
        for first in own.filter_map(|own| own.first()) {
            let mut at = *first;
            while let Some(parent) = skeleton.joints()[usize::from(at)].parent
                && above.insert(parent.0)
            {
                at = parent.0;
            }
        }
        joints.extend(above);
        order::sort(&mut joints);
        joints
    }
}
