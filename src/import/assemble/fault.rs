//! Errors and repairs of primitives, joints and parts of the file.

use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::import::RawPrimitive;
use crate::import::fault::{cut, fault, file_part};
use crate::import::repair::{Repair, RepairKind};

pub(super) fn fault_at(primitive: &RawPrimitive, part: &str, why: AssetFault) -> Error {
    Error::asset(object(primitive, part), why)
}

/// A part of a primitive, or all of it, in errors and repairs.
pub(super) fn object(primitive: &RawPrimitive, part: &str) -> Object {
    let comma = if part.is_empty() { "" } else { ", " };
    let part = format!("primitives[{}]{comma}{part}", primitive.number);
    Object::new(ObjectKind::Mesh, primitive.mesh, part)
}

pub(super) fn joint_or_missing(joint: Option<u16>) -> Result<u16> {
    // The skeleton contains every requested node, so this error means a bug in this module.
    let why = AssetFault::Invalid("is not in the skeleton");
    joint.ok_or_else(|| fault(ObjectKind::Node, None, "", why))
}

/// Reports values of a part of the file that were clamped.
pub(super) fn clamped(repairs: &mut Vec<Repair>, part: String, count: u64) {
    Repair::note(
        repairs,
        &file_part(cut(&part)),
        RepairKind::FactorClamped,
        count,
    );
}

/// Reports a part of the file that is left out.
pub(super) fn unusable(repairs: &mut Vec<Repair>, part: String, why: AssetFault) {
    Repair::note(
        repairs,
        &file_part(cut(&part)),
        RepairKind::Unusable(why.into()),
        1,
    );
}
