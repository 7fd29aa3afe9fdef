//! Humanoid roles and expressions: from nodes to joints, and from their weights to the character's.

use super::fault::unusable;
use super::morphs::Morphs;
use crate::error::AssetFault;
use crate::id::Id;
use crate::import::RawCharacter;
use crate::import::fault::cut;
use crate::import::repair::Repair;
use crate::mesh::Expression;
use crate::order;
use crate::skeleton::Joint;
use crate::skeleton::joints::Roles;
use crate::skeleton::role::Role;
use std::collections::HashSet;

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
            let driven = match morphs.of_node(*node) {
                None => Err(AssetFault::Invalid("the node has no morph weights")),
                Some(driven) if *index >= driven.count => {
                    Err(AssetFault::dangling("target", *index, driven.count))
                }
                Some(_) if !driven_before.insert((node, index)) => {
                    Err(AssetFault::Invalid("the weight occurs twice"))
                }
                Some(_) if !weight.is_finite() => {
                    Err(AssetFault::Invalid("the weight is not finite"))
                }
                Some(driven) => Ok(driven.first),
            };
            match driven {
                Ok(Some(first)) => found.push((Id::new(first.0 + *index as u16), *weight)),
                Ok(None) => {}
                Err(why) => {
                    let part = part() + &format!(", weight {index} of node {node}");
                    unusable(repairs, part, why);
                }
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

/// The joints that are parts of a humanoid.
pub(super) fn roles(
    raw: &RawCharacter,
    joint_of: &[Option<u16>],
    repairs: &mut Vec<Repair>,
) -> Roles {
    let mut roles: Vec<(Role, Id<Joint>)> = Vec::new();
    for (role, node) in &raw.roles {
        let why = match joint_of.get(*node) {
            None => AssetFault::dangling("node", *node, joint_of.len()),
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
    order::sort(&mut roles);
    roles.into()
}
