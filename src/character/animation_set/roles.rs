//! The joints that a description names as parts of a humanoid.

use super::desc::AnimationDesc;
use super::fault::{At, Checked, Fault};
use crate::error::{DescFault, cut};
use crate::id::Id;
use crate::order;
use crate::skeleton::joints::Roles;
use crate::skeleton::role::Role;
use crate::skeleton::{Joint, Skeleton};
use crate::text::find;

/// The roles, ascending. `None` if the description names none.
///
/// # Errors
/// A fault that names the bone.
pub(super) fn of(desc: &AnimationDesc, skeleton: &Skeleton) -> Checked<Option<Roles>> {
    let mut roles: Vec<(Role, Id<Joint>)> = Vec::new();
    for (bone, joint) in &desc.humanoid {
        let field = format!("humanoid.{}", cut(bone));
        let Some(role) = Role::from_name(bone) else {
            let why = DescFault::Invalid("is no humanoid bone of VRM 1.0");
            return Err(Fault::new(At::Whole, field, why));
        };
        let names = || skeleton.joints().iter().map(|joint| &*joint.name);
        let joint = Id::new(find(At::Whole, &field, "joint", joint, names)?);
        if roles.iter().any(|(_, other)| *other == joint) {
            let why = DescFault::Invalid("is the joint of another bone");
            return Err(Fault::new(At::Whole, field, why));
        }
        roles.push((role, joint));
    }
    order::sort(&mut roles);
    Ok((!roles.is_empty()).then(|| roles.into()))
}
