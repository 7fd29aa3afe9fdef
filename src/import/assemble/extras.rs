//! Humanoid roles, expressions and spring bones: from nodes to joints.

use super::morphs::Morphs;
use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::id::Id;
use crate::import::RawCharacter;
use crate::import::fault::{cut, dangling, fault};
use crate::import::repair::{Repair, RepairKind, note};
use crate::mesh::Expression;
use crate::skeleton::role::Role;
use crate::skeleton::{Joint, Skeleton};
use crate::spring::{SpringBones, SpringChain, SpringCollider, SpringJoint, SpringRig};
use glam::Vec3;
use std::collections::HashSet;

/// Marks the nodes of a humanoid, and those of chains that move something.
pub(super) fn want(raw: &RawCharacter, wanted: &mut [bool]) {
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
    let mut used: Vec<usize> = raw.roles.iter().map(|(_, node)| *node).collect();
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

fn object(part: String) -> Object {
    Object {
        kind: ObjectKind::File,
        index: None,
        part: cut(&part),
    }
}

fn clamped(repairs: &mut Vec<Repair>, part: String, count: u64) {
    note(repairs, &object(part), RepairKind::FactorClamped, count);
}

fn unusable(repairs: &mut Vec<Repair>, part: String, why: AssetFault) {
    note(repairs, &object(part), RepairKind::Unusable(why.into()), 1);
}

/// Gives the skeleton its humanoid roles.
pub(super) fn roles(
    raw: &RawCharacter,
    joint_of: &[Option<u16>],
    skeleton: &mut Skeleton,
    repairs: &mut Vec<Repair>,
) {
    let mut roles: Vec<(Role, Id<Joint>)> = Vec::new();
    for (role, node) in &raw.roles {
        let why = match joint_of.get(*node) {
            None => dangling("node", *node, joint_of.len()),
            Some(None) => continue,
            Some(Some(joint)) => {
                let joint = Id::new(*joint);
                if roles.iter().any(|(other, _)| other == role) {
                    AssetFault::Invalid("has a node already")
                } else if roles.iter().any(|(_, of)| *of == joint) {
                    AssetFault::Invalid("the node is that of another bone")
                } else {
                    roles.push((*role, joint));
                    continue;
                }
            }
        };
        unusable(repairs, format!("humanoid bone {role}"), why);
    }
    roles.sort_unstable();
    skeleton.roles = roles.into();
}

/// The most expressions of a character.
const MAX_EXPRESSIONS: usize = u16::MAX as usize;

/// The expressions, with the weights that drive something.
pub(super) fn expressions(
    raw: &RawCharacter,
    morphs: &Morphs,
    repairs: &mut Vec<Repair>,
) -> Vec<Expression> {
    let mut all: Vec<Expression> = Vec::new();
    let mut names = HashSet::new();
    for expression in &raw.expressions {
        let part = || format!("expression {:?}", cut(&expression.name));
        if !names.insert(&*expression.name) {
            let why = AssetFault::Invalid("has the name of another one");
            unusable(repairs, part(), why);
            continue;
        }
        if all.len() == MAX_EXPRESSIONS {
            let (what, asked) = ("expressions", names.len() as u64);
            let cap = MAX_EXPRESSIONS as u64;
            unusable(repairs, part(), AssetFault::Cap { what, asked, cap });
            continue;
        }
        let mut found = Vec::new();
        let mut driven_before = HashSet::new();
        for ((node, index), weight) in &expression.morphs {
            let part = || part() + &format!(", weight {index} of node {node}");
            let Some(driven) = morphs.of_node(*node) else {
                let why = AssetFault::Invalid("the node has no morph weights");
                unusable(repairs, part(), why);
                continue;
            };
            if *index >= driven.count {
                unusable(repairs, part(), dangling("target", *index, driven.count));
                continue;
            }
            if !driven_before.insert((node, index)) {
                let why = AssetFault::Invalid("the weight occurs twice");
                unusable(repairs, part(), why);
                continue;
            }
            if !weight.is_finite() {
                unusable(
                    repairs,
                    part(),
                    AssetFault::Invalid("the weight is not finite"),
                );
                continue;
            }
            let id = driven.first.map(|first| first as usize + index);
            if let Some(Ok(id)) = id.map(u16::try_from) {
                found.push((Id::new(id), *weight));
            }
        }
        all.push(Expression {
            morphs: found,
            name: expression.name.clone(),
            binary: expression.binary,
            blink: expression.blink,
            look: expression.look,
            mouth: expression.mouth,
        });
    }
    all
}

/// The spring bones. Chains and colliders that do not follow the rules are left out.
pub(super) fn springs(
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
    let mut places = Vec::with_capacity(raw.springs.colliders.len());
    for (index, collider) in raw.springs.colliders.iter().enumerate() {
        nodes.clamped = 0;
        let checked = nodes.collider(collider);
        places.push(match checked {
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
        let checked = nodes.chain(chain, &places);
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
    of_chains.sort_by_key(|(index, ..)| *index);
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

/// Removes centers that swing, and returns the indices of their chains. The first joint of a chain
/// stands for its parent.
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

/// The joints of nodes.
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
        let joint = joint.ok_or_else(|| dangling("node", node, count))?;
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
        places: &[Option<usize>],
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
            let place = places.get(*index);
            let place = place.ok_or_else(|| dangling("collider", *index, places.len()))?;
            colliders.extend(*place);
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
