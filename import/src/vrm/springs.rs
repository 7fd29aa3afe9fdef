//! Spring bones of both versions.

use super::json::{Index, Joint1, Spring0, SpringBone1, Springs0};
use super::scene::VrmScene;
use crate::fault::{cut, fault};
use throng::error::{AssetFault, ObjectKind, Result};
use throng::glam::Vec3;
use throng::skeleton::Transform;
use throng::spring::{SpringBones, SpringChain, SpringCollider, SpringJoint};

/// The length of the last bone of a chain in version 0.x, in metres.
const LAST_BONE_M: f32 = 0.07;

/// Lists of colliders, which chains name.
struct Groups {
    groups: Vec<Vec<usize>>,
    /// The number of pairs of a swinging joint and a collider so far.
    pairs: usize,
}

impl Groups {
    fn new(mut groups: Vec<Vec<usize>>) -> Self {
        for group in &mut groups {
            group.sort_unstable();
            group.dedup();
        }
        Self { groups, pairs: 0 }
    }

    /// The colliders of these groups, each once, for this many swinging joints.
    fn colliders(
        &mut self,
        indices: &[Index],
        swinging: usize,
        part: &str,
        scene: &mut VrmScene<'_>,
    ) -> Result<Vec<usize>> {
        let mut used = Vec::new();
        for (number, Index(index)) in indices.iter().enumerate() {
            match *index {
                Some(index) if index < self.groups.len() => used.push(index),
                Some(index) => {
                    let why = AssetFault::dangling("collider group", index, self.groups.len());
                    scene.unusable(format!("{part}.colliderGroups[{number}]"), why);
                }
                None => {}
            }
        }
        used.sort_unstable();
        used.dedup();
        let mut all = Vec::new();
        if swinging > 0 {
            all.extend(used.into_iter().flat_map(|index| &self.groups[index]));
        }
        all.sort_unstable();
        all.dedup();
        self.take(swinging.saturating_mul(all.len()), part)?;
        Ok(all)
    }

    /// Counts pairs of a swinging joint and a collider.
    fn take(&mut self, pairs: usize, part: &str) -> Result<()> {
        self.pairs = self.pairs.saturating_add(pairs);
        if self.pairs <= SpringBones::MAX_PAIRS {
            return Ok(());
        }
        let what = "pairs of a swinging joint and a collider";
        let (asked, cap) = (self.pairs as u64, SpringBones::MAX_PAIRS as u64);
        let why = AssetFault::Cap { what, asked, cap };
        Err(fault(ObjectKind::File, None, part, why))
    }
}

/// Reads the spring bones of version 1.0.
pub(super) fn read1(bones: &SpringBone1, scene: &mut VrmScene<'_>) -> Result<()> {
    let root = "extensions.VRMC_springBone";
    // For each collider of the file, its index among those that are kept.
    let mut indices = Vec::new();
    for (index, collider) in bones.colliders.0.iter().enumerate() {
        let shape = &collider.shape;
        let found = match (collider.node, &shape.sphere, &shape.capsule) {
            (Index(None), ..) => Err("has no node"),
            (Index(Some(joint)), Some(round), _) => Ok((joint, round, None)),
            (Index(Some(joint)), None, Some(round)) => Ok((joint, round, Some(round.tail))),
            (_, None, None) => Err("is neither a sphere nor a capsule"),
        };
        let (joint, round, tail) = match found {
            Ok(found) => found,
            Err(why) => {
                let part = format!("{root}.colliders[{index}]");
                scene.unusable(part, AssetFault::Invalid(why));
                indices.push(None);
                continue;
            }
        };
        indices.push(Some(scene.raw.springs.colliders.len()));
        let collider = SpringCollider {
            joint,
            offset_m: round.offset.into(),
            tail_m: tail.map(Vec3::from),
            radius_m: round.radius,
        };
        scene.add_collider(format!("{root}.colliders[{index}]"), collider);
    }
    let mut groups = Vec::new();
    for (index, group) in bones.collider_groups.0.iter().enumerate() {
        let mut kept = Vec::new();
        for (number, Index(collider)) in group.colliders.0.iter().enumerate() {
            let Some(collider) = *collider else { continue };
            match indices.get(collider) {
                Some(index) => kept.extend(*index),
                None => {
                    let part = format!("{root}.colliderGroups[{index}].colliders[{number}]");
                    scene.unusable(
                        part,
                        AssetFault::dangling("collider", collider, indices.len()),
                    );
                }
            }
        }
        groups.push(kept);
    }
    let mut groups = Groups::new(groups);
    for (index, spring) in bones.springs.0.iter().enumerate() {
        let part = format!("{root}.springs[{index}]");
        let joints: Option<Vec<_>> = spring.joints.0.iter().map(joint1).collect();
        let Some(joints) = joints else {
            let why = AssetFault::Invalid("has a joint without a node");
            scene.unusable(part, why);
            continue;
        };
        // The last joint is only a tail.
        let swinging = joints.len().saturating_sub(1);
        let colliders = groups.colliders(&spring.collider_groups.0, swinging, &part, scene)?;
        let chain = SpringChain {
            name: cut(spring.name.as_deref().unwrap_or_default()),
            colliders,
            center: spring.center.0,
            ..SpringChain::new(joints)
        };
        scene.add_chain(part, chain);
    }
    Ok(())
}

fn joint1(raw: &Joint1) -> Option<SpringJoint<usize>> {
    let gravity = raw.gravity_dir.map_or(Vec3::NEG_Y, Vec3::from);
    Some(SpringJoint {
        joint: raw.node.0?,
        stiffness: raw.stiffness.unwrap_or(1.0),
        gravity: gravity * raw.gravity_power.unwrap_or(0.0),
        drag: raw.drag_force.unwrap_or(0.5),
        radius_m: raw.hit_radius.unwrap_or(0.0),
    })
}

/// Reads the spring bones of version 0.x.
///
/// A bone represents all nodes below it. Each turns towards its first child, and the last one
/// towards a point [`LAST_BONE_M`] beyond it.
pub(super) fn read0(springs: &Springs0, scene: &mut VrmScene<'_>) -> Result<()> {
    let root = "extensions.VRM.secondaryAnimation";
    let mut groups = Vec::new();
    for (index, group) in springs.collider_groups.0.iter().enumerate() {
        let mut kept = Vec::new();
        match group.node {
            Index(Some(joint)) => {
                for (number, collider) in group.colliders.0.iter().enumerate() {
                    // The file's axes are left-handed.
                    let offset = Vec3::from(collider.offset) * Vec3::new(1.0, 1.0, -1.0);
                    kept.push(scene.raw.springs.colliders.len());
                    let collider = SpringCollider {
                        joint,
                        offset_m: offset,
                        tail_m: None,
                        radius_m: collider.radius,
                    };
                    let part = format!("{root}.colliderGroups[{index}].colliders[{number}]");
                    scene.add_collider(part, collider);
                }
            }
            Index(None) => {
                let part = format!("{root}.colliderGroups[{index}]");
                scene.unusable(part, AssetFault::Invalid("has no node"));
            }
        }
        groups.push(kept);
    }
    let mut groups = Groups::new(groups);
    let mut taken = vec![false; scene.raw.nodes.len()];
    for (index, spring) in springs.bone_groups.0.iter().enumerate() {
        let part = format!("{root}.boneGroups[{index}]");
        let mut chains = Vec::new();
        for (number, Index(bone)) in spring.bones.0.iter().enumerate() {
            let Some(bone) = *bone else { continue };
            let part = format!("{part}.bones[{number}]");
            match taken.get(bone) {
                None => scene.unusable(part, AssetFault::dangling("node", bone, taken.len())),
                Some(true) => {
                    let why = AssetFault::Invalid("already swings as a part of another bone");
                    scene.unusable(part, why);
                }
                Some(false) => {
                    let found = chains0(bone, spring, &mut taken, scene);
                    chains.extend(found.into_iter().map(|chain| (part.clone(), chain)));
                }
            }
        }
        let counts = chains.iter().map(|(_, chain)| swinging(chain));
        let swings = counts.sum();
        let colliders = groups.colliders(&spring.collider_groups.0, swings, &part, scene)?;
        for (part, mut chain) in chains {
            // A chain in which nothing swings needs no colliders.
            if swinging(&chain) > 0 {
                chain.colliders.clone_from(&colliders);
            }
            scene.add_chain(part, chain);
        }
    }
    Ok(())
}

/// The chains of a bone and of all nodes below it. Nodes that swing already are left out.
fn chains0(
    bone: usize,
    spring: &Spring0,
    taken: &mut [bool],
    scene: &VrmScene<'_>,
) -> Vec<SpringChain<usize>> {
    let settings = SpringJoint {
        stiffness: spring.stiffness.unwrap_or(1.0),
        gravity: gravity0(spring),
        drag: spring.drag_force.unwrap_or(0.4),
        radius_m: spring.hit_radius.unwrap_or(0.02),
        ..SpringJoint::new(bone)
    };
    let mut chains = Vec::new();
    let mut starts = vec![bone];
    while let Some(start) = starts.pop() {
        let mut joints = Vec::new();
        let mut next = Some(start);
        let mut last = None;
        while let Some(joint) = next {
            let Some(taken) = taken.get_mut(joint).filter(|taken| !**taken) else {
                break;
            };
            *taken = true;
            joints.push(SpringJoint { joint, ..settings });
            let mut children = (scene.children)(joint).iter().map(|child| *child as usize);
            next = children.next();
            starts.extend(children);
            last = Some(joint);
        }
        let tail_m = last.and_then(|last| last_tail(last, scene));
        if !joints.is_empty() {
            chains.push(SpringChain {
                name: cut(spring.comment.as_deref().unwrap_or_default()),
                tail_m,
                center: spring.center.0,
                ..SpringChain::new(joints)
            });
        }
    }
    chains
}

/// The gravity of version 0.x, whose world is left-handed and faces the other way.
fn gravity0(spring: &Spring0) -> Vec3 {
    let along = spring.gravity_dir.map_or(Vec3::NEG_Y, Vec3::from);
    Vec3::new(-along.x, along.y, along.z) * spring.gravity_power.unwrap_or(0.0)
}

/// The end of a bone without children, in its space: as far along as from its parent.
fn last_tail(node: usize, scene: &VrmScene<'_>) -> Option<Vec3> {
    let node = scene.raw.nodes.get(node)?;
    let local = match node.matrix {
        None => node.transform,
        Some(matrix) => {
            let (scale, rotation, translation) = matrix.to_scale_rotation_translation();
            Transform {
                translation,
                rotation,
                scale,
            }
        }
    };
    let along = local.translation.try_normalize()? * LAST_BONE_M;
    let tail = local.rotation.inverse() * along / local.scale;
    tail.is_finite().then_some(tail)
}

/// The number of joints of a chain that swing: all but the last, which is the tip, unless the chain
/// states a tail.
fn swinging<J>(chain: &SpringChain<J>) -> usize {
    let last = usize::from(chain.tail_m.is_none());
    chain.joints.len().saturating_sub(last)
}
