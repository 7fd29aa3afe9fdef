//! The finished surface of the mannequin.
//!
//! The refined cage is split where paint changes or an edge is sharp. Every vertex gets a normal, a
//! colour and its four strongest influences.

use super::cage::{Cage, Face, Paint};
use super::{arm, hand, head, leg, trunk};
use std::collections::BTreeMap;
use throng::glam::Vec3;
use throng::import::RawPrimitive;

/// Influences per vertex.
const INFLUENCES: usize = 4;
/// Cosine of 75°. Faces that meet at a larger angle do not share normals.
const SMOOTH_COSINE: f32 = 0.259;

/// Linear RGB, and in alpha the strength of an instance's tint: 1 on the shirt, 0 on skin.
fn color(paint: Paint) -> [f32; 4] {
    match paint {
        Paint::Skin => [0.62, 0.36, 0.245, 0.0],
        Paint::Shirt => [0.80, 0.80, 0.78, 1.0],
        Paint::Trousers => [0.075, 0.095, 0.145, 0.25],
        Paint::Shoe => [0.10, 0.075, 0.06, 0.0],
        Paint::Sole => [0.55, 0.53, 0.50, 0.0],
        Paint::Hair => [0.050, 0.030, 0.020, 0.0],
        Paint::Lips => [0.300, 0.105, 0.080, 0.0],
        Paint::Eye => [0.020, 0.018, 0.018, 0.0],
    }
}

/// The whole surface of the mannequin as one primitive.
pub(super) fn primitive() -> RawPrimitive {
    let mut cage = Cage::default();
    let openings = trunk::add(&mut cage);
    head::add(&mut cage, &openings.shoulders);
    let palm = arm::add(&mut cage, &openings.arm);
    hand::add(&mut cage, &palm);
    leg::add(&mut cage, &openings.hip);
    head::add_face(&mut cage);
    cage.mirror();
    head::add_nose(&mut cage);
    finish(&cage.refined())
}

/// The primitive of a refined surface.
fn finish(surface: &Cage) -> RawPrimitive {
    let triangles: Vec<_> = surface
        .faces
        .iter()
        .flat_map(|face| halves(surface, face))
        .collect();
    let normals = corner_normals(surface, &triangles);
    let mut out = RawPrimitive {
        name: "Mannequin".into(),
        skin: Some(0),
        material: Some(0),
        influences_per_vertex: INFLUENCES,
        ..RawPrimitive::default()
    };
    let mut known = BTreeMap::new();
    for (triangle, normals) in triangles.iter().zip(normals) {
        for (point, normal) in triangle.corners.into_iter().zip(normals) {
            let key = (
                point,
                triangle.paint,
                (normal * 512.0).round().to_array().map(|axis| axis as i32),
            );
            let index = *known
                .entry(key)
                .or_insert_with(|| add_vertex(&mut out, surface, point, normal, triangle.paint));
            out.indices.push(index);
        }
    }
    out
}

struct Triangle {
    corners: [usize; 3],
    paint: Paint,
}

/// Splits a quad along its shorter diagonal.
fn halves(surface: &Cage, face: &Face) -> [Triangle; 2] {
    let at = |k: usize| surface.points[face.corners[k]].position;
    let turn =
        usize::from((at(0) - at(2)).length_squared() > (at(1) - at(3)).length_squared() * 1.0001);
    let corner = |k: usize| face.corners[(k + turn) % 4];
    [[0, 1, 2], [0, 2, 3]].map(|t| Triangle {
        corners: t.map(corner),
        paint: face.paint,
    })
}

/// The normal of every corner of every triangle.
///
/// It is the mean of the normals of the triangles at that point that face about the same way,
/// weighted by their angles there.
fn corner_normals(surface: &Cage, triangles: &[Triangle]) -> Vec<[Vec3; 3]> {
    let mut around = vec![Vec::new(); surface.points.len()];
    let mut facing = Vec::with_capacity(triangles.len());
    for (index, triangle) in triangles.iter().enumerate() {
        let p = triangle.corners.map(|c| surface.points[c].position);
        let normal = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
        facing.push(normal);
        for k in 0..3 {
            let angle = (p[(k + 1) % 3] - p[k]).angle_between(p[(k + 2) % 3] - p[k]);
            around[triangle.corners[k]].push((index, angle));
        }
    }
    triangles
        .iter()
        .enumerate()
        .map(|(index, triangle)| {
            triangle.corners.map(|corner| {
                let near = around[corner]
                    .iter()
                    .filter(|(other, _)| facing[*other].dot(facing[index]) > SMOOTH_COSINE);
                let sum: Vec3 = near.map(|(other, angle)| facing[*other] * *angle).sum();
                sum.normalize_or(facing[index])
            })
        })
        .collect()
}

fn add_vertex(
    out: &mut RawPrimitive,
    surface: &Cage,
    point: usize,
    normal: Vec3,
    paint: Paint,
) -> u32 {
    let point = &surface.points[point];
    let mut influences: Vec<_> = point.weights.iter().copied().enumerate().collect();
    influences.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    influences.truncate(INFLUENCES);
    let total: f32 = influences.iter().map(|(_, weight)| weight).sum();
    for (joint, weight) in influences {
        let weight = weight / total;
        out.joints.push(if weight > 0.0 { joint as u32 } else { 0 });
        out.weights.push(weight);
    }
    out.positions.push(point.position);
    out.normals.push(normal);
    out.colors.push(color(paint));
    (out.positions.len() - 1) as u32
}
