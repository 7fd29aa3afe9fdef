//! Spring bones: from nodes to joints. Parts that do not follow the rules are left out.

use super::fault::{clamped, unusable};
use crate::error::{AssetFault, Error, ObjectKind, Result};
use crate::id::Id;
use crate::import::RawCharacter;
use crate::import::fault::{cut, fault};
use crate::import::repair::Repair;
use crate::order;
use crate::skeleton::{Joint, Skeleton};
use crate::spring::{SpringBones, SpringChain, SpringCollider, SpringJoint, SpringRig};
use glam::Vec3;
use std::collections::HashSet;

/// The spring bones of the file.
pub(super) fn build(
    raw: &RawCharacter,
    joint_of: &[Option<u16>],
    skeleton: &Skeleton,
    repairs: &mut Vec<Repair>,
) -> Result<SpringRig> {
    let mut nodes = Nodes {
        joint_of,
        clamped: 0,
    };
    let mut bones = SpringBones::default();
    let mut colliders = Vec::with_capacity(raw.springs.colliders.len());
    for (index, collider) in raw.springs.colliders.iter().enumerate() {
        nodes.clamped = 0;
        let checked = nodes.collider(collider);
        colliders.push(match checked {
            Ok(Some(collider)) => {
                bones.colliders.push(collider);
                if nodes.clamped > 0 {
                    clamped(repairs, collider_part(raw, index), nodes.clamped);
                }
                Some(bones.colliders.len() - 1)
            }
            Ok(None) => None,
            Err(why) => {
                unusable(repairs, collider_part(raw, index), why);
                None
            }
        });
    }
    let mut swings = HashSet::new();
    // The index in `raw` of each chain that is kept.
    let mut kept = Vec::new();
    let mut of_chains: Vec<(usize, String, Result<u64, AssetFault>)> = Vec::new();
    for (index, chain) in raw.springs.chains.iter().enumerate() {
        nodes.clamped = 0;
        let checked = nodes.chain(chain, &colliders);
        let checked = checked.and_then(|chain| match chain {
            Some(chain) => checked_chain(skeleton, chain, &mut swings).map(Some),
            None => Ok(None),
        });
        match checked {
            Ok(Some(chain)) => {
                bones.chains.push(chain);
                kept.push(index);
                if nodes.clamped > 0 {
                    of_chains.push((index, chain_part(raw, index), Ok(nodes.clamped)));
                }
            }
            Ok(None) => {}
            Err(why) => of_chains.push((index, chain_part(raw, index), Err(why))),
        }
    }
    for number in free_centers(skeleton, &mut bones) {
        let index = kept[number];
        let part = chain_part(raw, index) + ", center";
        of_chains.push((index, part, Err(AssetFault::Invalid("the center swings"))));
    }
    // Centers are checked last, but repairs are listed in the order of the file.
    order::sort_by_key(&mut of_chains, |(index, ..)| *index);
    for (_, part, found) in of_chains {
        match found {
            Ok(count) => clamped(repairs, part, count),
            Err(why) => unusable(repairs, part, why),
        }
    }
    SpringRig::new(skeleton, bones).map_err(|why| {
        let why = match why {
            Error::Capacity { what, asked, cap } => AssetFault::Cap { what, asked, cap },
            _ => AssetFault::Invalid("do not follow the rules of spring bones"),
        };
        fault(ObjectKind::File, None, "spring bones", why)
    })
}

/// The name of a collider in repairs.
fn collider_part(raw: &RawCharacter, index: usize) -> String {
    match raw.spring_collider_parts.get(index) {
        Some(part) => part.to_string(),
        None => format!("spring collider {index}"),
    }
}

/// The name of a chain in repairs.
fn chain_part(raw: &RawCharacter, index: usize) -> String {
    let part = match raw.spring_chain_parts.get(index) {
        Some(part) => part.to_string(),
        None => format!("spring chain {index}"),
    };
    match &*raw.springs.chains[index].name {
        "" => part,
        name => format!("{part} {:?}", cut(name)),
    }
}

/// Checks a chain, and that none of its joints swings in an earlier one.
fn checked_chain(
    skeleton: &Skeleton,
    chain: SpringChain,
    swings: &mut HashSet<Id<Joint>>,
) -> Result<SpringChain, AssetFault> {
    for pair in chain.joints.windows(2) {
        if !skeleton.is_below(pair[1].joint, pair[0].joint, SpringBones::MAX_GAP) {
            return Err(AssetFault::Invalid(
                "a joint does not lie below the one before it, within 256 joints",
            ));
        }
    }
    let swinging: Vec<Id<Joint>> = chain.swinging().map(|joint| joint.joint).collect();
    if swinging.is_empty() {
        return Err(AssetFault::Invalid("has fewer than two joints"));
    }
    if swinging.iter().any(|joint| swings.contains(joint)) {
        return Err(AssetFault::Invalid(
            "a joint already swings in another chain",
        ));
    }
    swings.extend(swinging);
    Ok(chain)
}

/// Removes centers that swing, and returns the indices of their chains. For the first joint of a
/// chain, its parent counts.
fn free_centers(skeleton: &Skeleton, bones: &mut SpringBones) -> Vec<usize> {
    let mut moved = vec![false; skeleton.len()];
    for joint in bones.chains.iter().flat_map(SpringChain::swinging) {
        moved[joint.joint.index()] = true;
    }
    for (index, joint) in skeleton.joints().iter().enumerate() {
        moved[index] |= joint.parent.is_some_and(|parent| moved[parent.index()]);
    }
    let mut removed = Vec::new();
    for (index, chain) in bones.chains.iter_mut().enumerate() {
        let first = chain.joints.first().map(|joint| joint.joint);
        if chain.center.is_some() && chain.center == first {
            chain.center = first.and_then(|first| skeleton.joints()[first.index()].parent);
        }
        if chain.center.is_some_and(|center| moved[center.index()]) {
            chain.center = None;
            removed.push(index);
        }
    }
    removed
}

struct Nodes<'a> {
    joint_of: &'a [Option<u16>],
    /// The number of values of the present chain or collider that were clamped.
    clamped: u64,
}

impl Nodes<'_> {
    /// `None` if the node is not a joint.
    fn joint(&self, node: usize) -> Result<Option<Id<Joint>>, AssetFault> {
        let count = self.joint_of.len();
        let joint = self.joint_of.get(node);
        let joint = joint.ok_or_else(|| AssetFault::dangling("node", node, count))?;
        Ok(joint.map(Id::new))
    }

    fn clamp(&mut self, value: f32, max: f32) -> f32 {
        let clamped = value.clamp(0.0, max);
        self.clamped += u64::from(clamped != value);
        clamped
    }

    fn collider(
        &mut self,
        raw: &SpringCollider<usize>,
    ) -> Result<Option<SpringCollider>, AssetFault> {
        check_point(raw.offset_m)?;
        check_point(raw.tail_m.unwrap_or_default())?;
        check_point(Vec3::splat(raw.radius_m))?;
        Ok(self.joint(raw.joint)?.map(|joint| SpringCollider {
            joint,
            offset_m: raw.offset_m,
            tail_m: raw.tail_m,
            radius_m: self.clamp(raw.radius_m, f32::MAX),
        }))
    }

    /// `None` if the chain moves nothing.
    fn chain(
        &mut self,
        raw: &SpringChain<usize>,
        all_colliders: &[Option<usize>],
    ) -> Result<Option<SpringChain>, AssetFault> {
        check_point(raw.tail_m.unwrap_or_default())?;
        let mut joints = Vec::with_capacity(raw.joints.len());
        for joint in &raw.joints {
            check_point(joint.gravity)?;
            check_point(Vec3::new(joint.stiffness, joint.drag, joint.radius_m))?;
            let Some(of) = self.joint(joint.joint)? else {
                return Ok(None);
            };
            joints.push(SpringJoint {
                joint: of,
                stiffness: self.clamp(joint.stiffness, f32::MAX),
                gravity: joint.gravity,
                drag: self.clamp(joint.drag, 1.0),
                radius_m: self.clamp(joint.radius_m, f32::MAX),
            });
        }
        let mut colliders = Vec::new();
        for index in &raw.colliders {
            let collider = all_colliders.get(*index);
            let count = all_colliders.len();
            colliders
                .extend(*collider.ok_or_else(|| AssetFault::dangling("collider", *index, count))?);
        }
        let center = raw.center.map(|center| self.joint(center)).transpose()?;
        Ok(Some(SpringChain {
            name: raw.name.clone(),
            joints,
            tail_m: raw.tail_m,
            colliders,
            center: center.flatten(),
        }))
    }
}

fn check_point(point: Vec3) -> Result<(), AssetFault> {
    if point.is_finite() {
        return Ok(());
    }
    Err(AssetFault::Invalid("has a value that is not finite"))
}
