//! Spring bones that fit a skeleton, in the order of simulation.

use super::bones::{SpringBones, SpringChain, SpringCollider, SpringJoint};
use crate::error::{Error, Result, expect_all_finite, expect_cap, expect_in, expect_index};
use crate::hash;
use crate::id::Id;
use crate::skeleton::{Joint, NO_PARENT, Skeleton};
use glam::Vec3;
use std::ops::Range;

/// Stands for "none" among indices.
pub(super) const NONE: u32 = u32::MAX;

/// Spring bones that fit a skeleton.
///
/// The simulation keeps one matrix per *slot*. First come the anchors: joints that do not swing,
/// but that the simulation reads. Then come all joints that swing, and all joints below them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SpringRig {
    pub(super) bones: SpringBones,
    /// Joint indices, or [`NO_PARENT`] for the origin of character space.
    pub(super) anchors: Vec<u16>,
    /// In the skeleton's order, parents first.
    pub(super) moved: Vec<Moved>,
    pub(super) links: Vec<Link>,
    /// For each link with a joint as its tail, the joints from below its head to its tail.
    pub(super) paths: Vec<u16>,
    pub(super) colliders: Vec<Collider>,
    /// The slots of colliders that swing, ascending.
    pub(super) late: Vec<u32>,
}

/// A joint that swings, or lies below one that does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moved {
    pub(super) joint: u16,
    pub(super) parent: u32,
    /// The joint index of its parent, or [`NO_PARENT`].
    pub(super) parent_joint: u16,
    /// Its link, or [`NONE`].
    pub(super) link: u32,
}

/// A joint that swings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Link {
    pub(super) joint: SpringJoint,
    /// Range of [`SpringRig::paths`].
    pub(super) path: Range<u32>,
    /// The tail in the space of the path's last joint, or of the head.
    pub(super) tail_m: Vec3,
    pub(super) chain: u32,
    /// The slot of the center, or [`NONE`] for the world.
    pub(super) center: u32,
}

/// A collider in the space of a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Collider {
    pub(super) slot: u32,
    pub(super) offset_m: Vec3,
    pub(super) tail_m: Option<Vec3>,
    pub(super) radius_m: f32,
}

impl SpringRig {
    /// Checks spring bones against a skeleton.
    pub(crate) fn new(skeleton: &Skeleton, bones: SpringBones) -> Result<Self> {
        check_counts(&bones)?;
        for (index, collider) in bones.colliders.iter().enumerate() {
            let checked = check_collider(skeleton, collider);
            checked.map_err(|why| why.at("spring collider", index))?;
        }
        let mut swings = vec![NONE; skeleton.len()];
        let mut heads: Vec<(u16, u32, usize)> = Vec::new();
        for (index, chain) in bones.chains.iter().enumerate() {
            let checked = check_chain(skeleton, chain, bones.colliders.len());
            checked.map_err(|why| why.at("spring chain", index))?;
            for (number, joint) in chain.swinging().enumerate() {
                let at = &mut swings[joint.joint.index()];
                if *at != NONE {
                    let why = Error::invalid("joint", "already swings in another chain");
                    return Err(why.at("joint", number).at("spring chain", index));
                }
                *at = 0;
                heads.push((joint.joint.0, index as u32, number));
            }
        }
        heads.sort_unstable();
        for (link, (joint, ..)) in heads.iter().enumerate() {
            swings[usize::from(*joint)] = link as u32;
        }
        Builder::new(skeleton, &swings).build(bones, &heads)
    }

    /// The number of joints that swing, and a hash of what a saved state depends on.
    pub(crate) fn fingerprint(&self) -> (u32, u64) {
        let counts = [self.anchors.len() as u64, self.late.len() as u64];
        let joints = self.links.iter().map(|link| u64::from(link.joint.joint.0));
        let hash = counts
            .into_iter()
            .chain(joints)
            .fold(hash::EMPTY, hash::add);
        (self.links.len() as u32, hash >> 1)
    }

    /// The plain data.
    pub(crate) fn bones(&self) -> &SpringBones {
        &self.bones
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    pub(crate) fn swinging(&self) -> impl Iterator<Item = usize> + '_ {
        self.links.iter().map(|link| link.joint.joint.index())
    }

    /// True if the joint swings or lies below one that does.
    pub(crate) fn moves(&self, joint: usize) -> bool {
        let found = self
            .moved
            .binary_search_by_key(&joint, |moved| moved.joint.into());
        found.is_ok()
    }
}

struct Builder<'a> {
    skeleton: &'a Skeleton,
    /// For each joint, its link.
    swings: &'a [u32],
    /// For each joint, its slot.
    slots: Vec<u32>,
    rig: SpringRig,
}

impl<'a> Builder<'a> {
    fn new(skeleton: &'a Skeleton, swings: &'a [u32]) -> Self {
        Self {
            skeleton,
            swings,
            slots: vec![NONE; skeleton.len()],
            rig: SpringRig::default(),
        }
    }

    fn parent(&self, joint: usize) -> u16 {
        self.skeleton.joints()[joint].parent_index()
    }

    fn build(mut self, bones: SpringBones, heads: &[(u16, u32, usize)]) -> Result<SpringRig> {
        let mut is_moved = vec![false; self.skeleton.len()];
        for joint in 0..is_moved.len() {
            let parent = self.parent(joint);
            let below = parent != NO_PARENT && is_moved[usize::from(parent)];
            is_moved[joint] = below || self.swings[joint] != NONE;
        }
        self.anchors(&bones, &is_moved)?;
        let first = self.rig.anchors.len() as u32;
        let origin = self
            .rig
            .anchors
            .iter()
            .position(|joint| *joint == NO_PARENT);
        for joint in (0..is_moved.len()).filter(|joint| is_moved[*joint]) {
            let parent = match self.parent(joint) {
                NO_PARENT => origin.map_or(0, |origin| origin as u32),
                parent => self.slots[usize::from(parent)],
            };
            self.slots[joint] = first + self.rig.moved.len() as u32;
            self.rig.moved.push(Moved {
                joint: joint as u16,
                parent,
                parent_joint: self.parent(joint),
                link: self.swings[joint],
            });
        }
        for (_, chain, number) in heads {
            self.link(&bones.chains[*chain as usize], *chain, *number);
        }
        for collider in &bones.colliders {
            let slot = self.slots[collider.joint.index()];
            self.rig.colliders.push(Collider {
                slot,
                offset_m: collider.offset_m,
                tail_m: collider.tail_m,
                radius_m: collider.radius_m,
            });
            if slot >= first {
                self.rig.late.push(slot);
            }
        }
        self.rig.late.sort_unstable();
        self.rig.late.dedup();
        Ok(SpringRig { bones, ..self.rig })
    }

    /// Gives a slot to each joint that does not swing and that the simulation reads.
    fn anchors(&mut self, bones: &SpringBones, is_moved: &[bool]) -> Result<()> {
        let mut wanted = vec![false; is_moved.len()];
        let mut origin = false;
        for joint in (0..is_moved.len()).filter(|joint| is_moved[*joint]) {
            match self.parent(joint) {
                NO_PARENT => origin = true,
                parent => wanted[usize::from(parent)] = true,
            }
        }
        for collider in &bones.colliders {
            wanted[collider.joint.index()] = true;
        }
        for (index, chain) in bones.chains.iter().enumerate() {
            let Some(center) = chain.center else { continue };
            if is_moved[center.index()] {
                let why = "must not swing, and must not lie below a joint that does";
                return Err(Error::invalid("center", why).at("spring chain", index));
            }
            wanted[center.index()] = true;
        }
        for joint in (0..is_moved.len()).filter(|joint| wanted[*joint] && !is_moved[*joint]) {
            self.slots[joint] = self.rig.anchors.len() as u32;
            self.rig.anchors.push(joint as u16);
        }
        if origin {
            self.rig.anchors.push(NO_PARENT);
        }
        Ok(())
    }

    fn link(&mut self, chain: &SpringChain, index: u32, number: usize) {
        let joint = chain.joints[number];
        let start = self.rig.paths.len();
        let tail_m = match chain.joints.get(number + 1) {
            None => chain.tail_m.unwrap_or_default(),
            Some(tail) => {
                let mut at = tail.joint.0;
                while at != joint.joint.0 && at != NO_PARENT {
                    self.rig.paths.push(at);
                    at = self.parent(usize::from(at));
                }
                self.rig.paths[start..].reverse();
                Vec3::ZERO
            }
        };
        let center = chain.center.map(|center| self.slots[center.index()]);
        self.rig.links.push(Link {
            joint,
            path: start as u32..self.rig.paths.len() as u32,
            tail_m,
            chain: index,
            center: center.unwrap_or(NONE),
        });
    }
}

fn check_counts(bones: &SpringBones) -> Result<()> {
    let colliders = bones.colliders.len();
    expect_cap("spring colliders", colliders, SpringBones::MAX_COLLIDERS)?;
    expect_cap("spring chains", bones.chains.len(), Skeleton::MAX_JOINTS)?;
    let pairs = |chain: &SpringChain| {
        let swinging = chain.swinging().count();
        swinging.saturating_mul(chain.colliders.len())
    };
    let pairs = bones.chains.iter().map(pairs);
    let pairs = pairs.fold(0, usize::saturating_add);
    let what = "pairs of a swinging joint and a collider";
    expect_cap(what, pairs, SpringBones::MAX_PAIRS)
}

fn check_collider(skeleton: &Skeleton, collider: &SpringCollider) -> Result<()> {
    expect_index("joint", collider.joint.into(), skeleton.len())?;
    expect_all_finite("offset_m", collider.offset_m.to_array())?;
    expect_all_finite("tail_m", collider.tail_m.unwrap_or_default().to_array())?;
    expect_in("radius_m", collider.radius_m, 0.0, f32::MAX)
}

fn check_chain(skeleton: &Skeleton, chain: &SpringChain, colliders: usize) -> Result<()> {
    let mut above: Option<Id<Joint>> = None;
    for (number, joint) in chain.joints.iter().enumerate() {
        let checked = check_spring(skeleton, joint).and_then(|()| match above {
            Some(above) if !skeleton.is_below(joint.joint, above, SpringBones::MAX_GAP) => {
                Err(Error::invalid(
                    "joint",
                    "must lie below the one before it, within 256 joints",
                ))
            }
            _ => Ok(()),
        });
        checked.map_err(|why| why.at("joint", number))?;
        above = Some(joint.joint);
    }
    if chain.swinging().next().is_none() {
        let why = "must be at least two, or one if there is a tail_m";
        return Err(Error::invalid("joints", why));
    }
    expect_all_finite("tail_m", chain.tail_m.unwrap_or_default().to_array())?;
    if let Some(center) = chain.center {
        expect_index("center", center.into(), skeleton.len())?;
    }
    let mut each = chain.colliders.iter();
    each.try_for_each(|index| expect_index("spring collider", *index, colliders))
}

fn check_spring(skeleton: &Skeleton, joint: &SpringJoint) -> Result<()> {
    expect_index("joint", joint.joint.into(), skeleton.len())?;
    expect_in("stiffness", joint.stiffness, 0.0, f32::MAX)?;
    expect_all_finite("gravity", joint.gravity.to_array())?;
    expect_in("drag", joint.drag, 0.0, 1.0)?;
    expect_in("radius_m", joint.radius_m, 0.0, f32::MAX)
}
