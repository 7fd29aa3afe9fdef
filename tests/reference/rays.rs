//! Ray tests of every triangle by another algorithm, and the meshes to try it on.

use super::rng::Rng;
use crate::raws::node;
use throng::character::Character;
use throng::glam::{DVec3, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::Material;
use throng::palette::PaletteEntry;
use throng::skeleton::Transform;
use throng::skin::{CullMode, PosedVertices, Ray, Skinner};

/// T. Möller and B. Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997: distance and
/// side.
pub fn meet(origin: DVec3, direction: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, bool)> {
    let (ab, ac) = (b - a, c - a);
    let p = direction.cross(ac);
    let determinant = ab.dot(p);
    if determinant == 0.0 {
        return None;
    }
    let s = origin - a;
    let u = s.dot(p) / determinant;
    let q = s.cross(ab);
    let v = direction.dot(q) / determinant;
    let t = ac.dot(q) / determinant;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= 0.0).then_some((t, determinant < 0.0))
}

/// The deformed vertices of every primitive.
pub fn vertices<P: PaletteEntry>(
    skinner: &Skinner,
    palette: &[P],
    weights: &[f32],
) -> Vec<PosedVertices> {
    let primitives = 0..skinner.layout().primitives.len();
    let each = primitives.map(|primitive| {
        let mut out = PosedVertices::default();
        let skinned = skinner.skin_primitive(primitive, palette, weights, &mut out);
        skinned.unwrap();
        out
    });
    each.collect()
}

/// The nearest hit of all triangles of a character with these vertices.
pub fn brute(
    character: &Character,
    vertices: &[PosedVertices],
    ray: &Ray,
    cull: CullMode,
) -> Option<f64> {
    let mut best = None;
    for (primitive, vertices) in character.primitives().iter().zip(vertices) {
        let material = &character.materials()[primitive.material as usize];
        let both = match cull {
            CullMode::None => true,
            CullMode::Back => false,
            CullMode::Material => material.double_sided,
        };
        for triangle in primitive.indices.chunks_exact(3) {
            let corners = [0, 1, 2].map(|c| vertices.positions[triangle[c] as usize].as_dvec3());
            let direction = ray.direction.as_dvec3().normalize();
            if let Some((distance, back)) = meet(ray.origin.as_dvec3(), direction, corners)
                && (both || !back)
                && best.is_none_or(|best| distance < best)
            {
                best = Some(distance);
            }
        }
    }
    best
}

/// A ray from around the model to a point in its box.
pub fn ray_at(rng: &mut Rng, center: Vec3, size: Vec3) -> Ray {
    let reach = size.max_element();
    let to = center + rng.vector(-0.5, 0.5) * size;
    let origin = center + rng.direction() * reach * rng.range(0.0, 2.0);
    Ray {
        origin,
        direction: (to - origin) * rng.range(0.1, 10.0),
    }
}

/// A closed surface of uneven triangles on one joint: the divided faces of a cube, pushed out to an
/// uneven ball.
pub fn ball(double_sided: bool) -> Character {
    let (mut positions, mut indices) = (Vec::new(), Vec::new());
    const N: u32 = 9;
    for face in 0..6 {
        let start = positions.len() as u32;
        for row in 0..=N {
            for column in 0..=N {
                let [u, v] = [row, column].map(|at| at as f32 / N as f32 * 2.0 - 1.0);
                let side = if face % 2 == 0 { 1.0 } else { -1.0 };
                let on_cube = [
                    Vec3::new(side, u, v),
                    Vec3::new(u, side, v),
                    Vec3::new(u, v, side),
                ][face / 2];
                let crooked =
                    1.0 + 0.2 * (5.0 * on_cube.x + 3.0 * on_cube.y - 4.0 * on_cube.z).sin();
                positions.push(on_cube.normalize() * crooked);
            }
        }
        for row in 0..N {
            for column in 0..N {
                let at = start + row * (N + 1) + column;
                let quad = [at, at + 1, at + N + 2, at + N + 1];
                for mut triangle in [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]] {
                    let [a, b, c] = triangle.map(|i| positions[i as usize]);
                    if (b - a).cross(c - a).dot(a) < 0.0 {
                        triangle.swap(1, 2);
                    }
                    indices.extend(triangle);
                }
            }
        }
    }
    let raw = RawCharacter {
        nodes: vec![node("joint", None, Transform::IDENTITY)],
        materials: vec![Material {
            double_sided,
            ..Material::default()
        }],
        primitives: vec![RawPrimitive {
            positions,
            indices,
            material: Some(0),
            ..RawPrimitive::default()
        }],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::curves_only()).unwrap().character
}
