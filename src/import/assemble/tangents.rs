//! Tangents: checked and normalised.

use super::normals::UNIT_TOLERANCE;
use crate::error::Object;
use crate::import::RawPrimitive;
use crate::import::repair::{Repair, RepairKind, note};
use glam::{Vec3, Vec4};
use std::borrow::Cow;

/// The repaired tangents. Empty if the file has no normals, because computed normals may differ
/// from those that the tangents were made for.
pub(super) fn read<'a>(
    raw: &'a RawPrimitive,
    normals: &[Vec3],
    object: &Object,
    repairs: &mut Vec<Repair>,
) -> Cow<'a, [Vec4]> {
    let mut tangents = Cow::Borrowed(raw.tangents.as_slice());
    if tangents.is_empty() {
        return tangents;
    }
    if raw.normals.is_empty() {
        note(repairs, object, RepairKind::TangentsIgnored, 1);
        return Cow::Borrowed(&[]);
    }
    let count = normalise(tangents.to_mut(), normals);
    note(repairs, object, RepairKind::TangentNormalised, count);
    tangents
}

/// Normalises all directions and sets all signs to 1 or -1. Returns the number of vertices that
/// needed it by more than quantisation explains. A direction of length 0 is replaced by one
/// perpendicular to the normal. There must be as many normals, of unit length.
fn normalise(tangents: &mut [Vec4], normals: &[Vec3]) -> u64 {
    let mut repaired = 0;
    for (tangent, normal) in tangents.iter_mut().zip(normals) {
        let wide = tangent.truncate().as_dvec3();
        let length = wide.length();
        let off = (length - 1.0).abs();
        repaired += u64::from(off > UNIT_TOLERANCE || tangent.w.abs() != 1.0);
        let direction = if length == 0.0 {
            normal.any_orthonormal_vector()
        } else if off > 1e-7 {
            (wide / length).as_vec3()
        } else {
            tangent.truncate()
        };
        let sign = if tangent.w < 0.0 { -1.0 } else { 1.0 };
        *tangent = direction.extend(sign);
    }
    repaired
}
