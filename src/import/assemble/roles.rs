//! Humanoid roles: from nodes to joints.

use super::fault::unusable;
use crate::error::AssetFault;
use crate::id::Id;
use crate::import::repair::Repair;
use crate::import::{RawCharacter, RawRole};
use crate::order;
use crate::skeleton::Joint;
use crate::skeleton::joints::Roles;
use crate::skeleton::role::Role;

/// The joints that are parts of a humanoid.
pub(super) fn roles(
    raw: &RawCharacter,
    joint_of: &[Option<u16>],
    repairs: &mut Vec<Repair>,
) -> Roles {
    let mut roles: Vec<(Role, Id<Joint>)> = Vec::new();
    for RawRole { role, node } in &raw.roles {
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
