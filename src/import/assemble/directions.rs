//! Normals and tangents: checked and normalised, and normals computed if requested.

use crate::error::Object;
use crate::import::RawPrimitive;
use crate::import::repair::{Repair, RepairKind};
use glam::{DVec3, Vec3, Vec4};
use std::borrow::Cow;
use std::collections::HashMap;

/// The largest deviation from length 1 of a normal or tangent that is not reported. Normalised
/// 8-bit components are off by up to 0.007.
const UNIT_TOLERANCE: f64 = 0.02;

/// Computes smooth normals.
///
/// The normal at a position is the sum of the normals of the triangles around it, each weighted by
/// the triangle's angle there (G. Thürmer and C. A. Wüthrich, Computing vertex normals from
/// polygonal facets, 1998). Vertices at the same position have the same normal. A vertex of only
/// degenerate triangles gets +Y.
pub(super) fn smooth_normals(positions: &[Vec3], indices: &[u32]) -> Vec<Vec3> {
    let mut groups = HashMap::new();
    let mut group_of = Vec::with_capacity(positions.len());
    for position in positions {
        // Adding 0 makes −0 and 0 the same.
        let key = (*position + Vec3::ZERO).to_array().map(f32::to_bits);
        let next = groups.len();
        group_of.push(*groups.entry(key).or_insert(next));
    }
    let mut sums = vec![DVec3::ZERO; groups.len()];
    for triangle in indices.as_chunks::<3>().0 {
        let corners = triangle.map(|index| positions[index as usize].as_dvec3());
        let normal = (corners[1] - corners[0])
            .cross(corners[2] - corners[0])
            .normalize_or_zero();
        for (at, index) in triangle.iter().enumerate() {
            let to_next = corners[(at + 1) % 3] - corners[at];
            let to_last = corners[(at + 2) % 3] - corners[at];
            let angle = to_next.cross(to_last).length().atan2(to_next.dot(to_last));
            sums[group_of[*index as usize]] += normal * angle;
        }
    }
    let normal = |group: &usize| sums[*group].normalize_or(DVec3::Y).as_vec3();
    group_of.iter().map(normal).collect()
}

/// Normalises all normals. Returns the number that were off by more than quantisation explains. A
/// normal of length 0 is replaced by the smooth normal at its position.
pub(super) fn normalise_normals(normals: &mut [Vec3], positions: &[Vec3], indices: &[u32]) -> u64 {
    let mut repaired = 0;
    let mut flat = Vec::new();
    for (vertex, normal) in normals.iter_mut().enumerate() {
        let wide = normal.as_dvec3();
        let length = wide.length();
        let off = (length - 1.0).abs();
        repaired += u64::from(off > UNIT_TOLERANCE);
        if length == 0.0 {
            flat.push(vertex);
        } else if off > 1e-7 {
            *normal = (wide / length).as_vec3();
        }
    }
    if !flat.is_empty() {
        let smooth = smooth_normals(positions, indices);
        for vertex in flat {
            normals[vertex] = smooth[vertex];
        }
    }
    repaired
}

/// The repaired tangents. Empty if the file has no normals, because computed normals may differ
/// from those that the tangents were made for.
pub(super) fn tangents<'a>(
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
        Repair::note(repairs, object, RepairKind::TangentsIgnored, 1);
        return Cow::Borrowed(&[]);
    }
    let count = normalise_tangents(tangents.to_mut(), normals);
    Repair::note(repairs, object, RepairKind::TangentNormalised, count);
    tangents
}

/// Normalises all directions and sets all signs to 1 or -1. Returns the number of vertices that
/// needed it by more than quantisation explains. A direction of length 0 is replaced by one
/// perpendicular to the normal. There must be as many normals, of unit length.
fn normalise_tangents(tangents: &mut [Vec4], normals: &[Vec3]) -> u64 {
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
