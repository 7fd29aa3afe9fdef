//! Errors about primitives and joints.

use crate::error::{AssetFault, Error, Object, ObjectKind, Result};
use crate::import::RawPrimitive;
use crate::import::fault::fault_of;

/// An error about a part of a primitive.
pub(super) fn fault_at(primitive: &RawPrimitive, part: &str, why: AssetFault) -> Error {
    let mut object = object(primitive);
    if !part.is_empty() {
        object.part = format!("{}, {part}", object.part).into();
    }
    fault_of(object, why)
}

/// The name of a primitive in errors and repairs.
pub(super) fn object(primitive: &RawPrimitive) -> Object {
    Object {
        kind: ObjectKind::Mesh,
        index: Some(primitive.mesh),
        part: format!("primitives[{}]", primitive.number).into(),
    }
}

pub(super) fn joint_or_missing(joint: Option<u16>) -> Result<u16> {
    // The skeleton contains every requested node, so this error means a bug in this module.
    joint.ok_or(Error::Asset {
        file: Box::default(),
        object: Object {
            kind: ObjectKind::Node,
            index: None,
            part: Box::default(),
        },
        why: AssetFault::Invalid("is not in the skeleton"),
    })
}
