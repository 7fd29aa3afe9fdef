//! Normals: checked, and computed if requested.

use glam::{DVec3, Vec3};
use std::collections::HashMap;

/// The largest deviation from length 1 of a normal or tangent that is not reported. Normalised
/// 8-bit components are off by up to 0.007.
pub(super) const UNIT_TOLERANCE: f64 = 0.02;

/// Computes smooth normals.
///
/// The normal at a position is the sum of the normals of the triangles around it, each weighted by
/// the triangle's angle there (G. Thürmer and C. A. Wüthrich, Computing vertex normals from
/// polygonal facets, 1998). Vertices at the same position have the same normal. A vertex of only
/// degenerate triangles gets +Y.
pub(super) fn smooth(positions: &[Vec3], indices: &[u32]) -> Vec<Vec3> {
    let mut places = HashMap::new();
    let mut place_of = Vec::with_capacity(positions.len());
    for position in positions {
        // Adding 0 makes −0 and 0 the same.
        let key = (*position + Vec3::ZERO).to_array().map(f32::to_bits);
        let next = places.len();
        place_of.push(*places.entry(key).or_insert(next));
    }
    let mut sums = vec![DVec3::ZERO; places.len()];
    for triangle in indices.as_chunks::<3>().0 {
        let corners = triangle.map(|index| positions[index as usize].as_dvec3());
        let normal = (corners[1] - corners[0])
            .cross(corners[2] - corners[0])
            .normalize_or_zero();
        for (at, index) in triangle.iter().enumerate() {
            let to_next = corners[(at + 1) % 3] - corners[at];
            let to_last = corners[(at + 2) % 3] - corners[at];
            let angle = to_next.cross(to_last).length().atan2(to_next.dot(to_last));
            sums[place_of[*index as usize]] += normal * angle;
        }
    }
    let normal = |place: &usize| sums[*place].normalize_or(DVec3::Y).as_vec3();
    place_of.iter().map(normal).collect()
}

/// Normalises all normals. Returns the number that were off by more than quantisation explains. A
/// normal of length 0 is replaced by the smooth normal at its position.
pub(super) fn normalise(normals: &mut [Vec3], positions: &[Vec3], indices: &[u32]) -> u64 {
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
        let smooth = smooth(positions, indices);
        for vertex in flat {
            normals[vertex] = smooth[vertex];
        }
    }
    repaired
}
