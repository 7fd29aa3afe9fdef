//! Expressions, spring bones and humanoid roles as bytes.

use crate::bytes::{Reader, Save, invalid, save_enums, save_structs};
use crate::error::Result;
use crate::id::Id;
use crate::mesh::{Expression, ExpressionOverride};
use crate::skeleton::Joint;
use crate::skeleton::role::Role;
use crate::spring::{SpringBones, SpringChain, SpringCollider, SpringJoint};

save_structs! {
    Expression { name, morphs, binary, blink, look, mouth }
    SpringBones { colliders, chains }
    SpringCollider { joint, offset_m, tail_m, radius_m }
    SpringChain { name, joints, tail_m, colliders, center }
    SpringJoint { joint, stiffness, gravity, drag, radius_m }
}

save_enums! {
    ExpressionOverride, "override of an expression", "is unknown":
        0 => None, 1 => Block, 2 => Blend;
}

pub(super) fn save_roles(roles: &[(Role, Id<Joint>)], to: &mut Vec<u8>) {
    let roles = roles.iter();
    let roles = roles.map(|(role, joint)| (role.to_string().into_boxed_str(), *joint));
    roles.collect::<Vec<_>>().save(to);
}

pub(super) fn load_roles(from: &mut Reader<'_>) -> Result<Vec<(Role, Id<Joint>)>> {
    let mut roles = Vec::new();
    for (name, joint) in Vec::<(Box<str>, Id<Joint>)>::load(from)? {
        let role = Role::from_name(&name);
        roles.push((role.ok_or_else(|| invalid("role", "is unknown"))?, joint));
    }
    Ok(roles)
}
