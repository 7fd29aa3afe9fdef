//! Expressions, spring bones and humanoid roles as bytes.

use crate::bytes::{Reader, Save, invalid, save_enums, save_structs};
use crate::error::Result;
use crate::id::Id;
use crate::mesh::{Expression, ExpressionOverride};
use crate::skeleton::role::{Role, VrmKind};
use crate::skeleton::{Joint, Skeleton};
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
    VrmKind, "kind of VRM file", "is unknown":
        0 => Model, 1 => Animation;
}

/// The humanoid of a file: roles with their joints, and the kind of VRM file.
type HumanoidData = (Vec<(Role, Id<Joint>)>, Option<VrmKind>);

pub(super) fn save_humanoid(skeleton: &Skeleton, to: &mut Vec<u8>) {
    let roles = skeleton.roles().iter();
    let roles = roles.map(|(role, joint)| (role.to_string().into_boxed_str(), *joint));
    roles.collect::<Vec<_>>().save(to);
    skeleton.vrm.save(to);
}

pub(super) fn load_humanoid(from: &mut Reader<'_>) -> Result<HumanoidData> {
    let mut roles = Vec::new();
    for (name, joint) in Vec::<(Box<str>, Id<Joint>)>::load(from)? {
        let role = Role::from_name(&name);
        roles.push((role.ok_or_else(|| invalid("role", "is unknown"))?, joint));
    }
    Ok((roles, Save::load(from)?))
}
