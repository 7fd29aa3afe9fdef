//! Things that stand around in the examples: a ground, blocks, a ball, a hat.
#![allow(dead_code, reason = "no example uses all of them")]

use std::f32::consts::TAU;

use throng::character::Character;
use throng::glam::{Vec2, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawPrimitive};
use throng::mesh::{AlphaMode, Material};

/// Number of corners of round shapes.
const CORNERS: usize = 48;
const GROUND: [f32; 3] = [0.50, 0.49, 0.46];
const GROUND_M: f32 = 40.0;

/// A static character made of meshes with vertex colours.
///
/// A mesh that names material 1 is blended.
pub(crate) fn prop(meshes: Vec<RawPrimitive>) -> throng::Result<Character> {
    let opaque = Material {
        metallic: 0.0,
        roughness: 0.8,
        ..Material::default()
    };
    let blended = Material {
        alpha: AlphaMode::Blend,
        ..opaque.clone()
    };
    let raw = RawCharacter::rigid("prop", meshes, vec![opaque, blended]);
    Ok(raw.build(&ImportOptions::default())?.character)
}

/// A box between two corners.
pub(crate) fn cuboid(min: Vec3, max: Vec3, color: [f32; 4]) -> RawPrimitive {
    let cuboid = RawPrimitive::cuboid(max - min).translated((min + max) * 0.5);
    cuboid.colored(color)
}

/// A ground that fades into the background.
pub(crate) fn ground(height_m: f32) -> RawPrimitive {
    let [r, g, b] = GROUND;
    let ring = |radius_m, alpha| ((radius_m, height_m), [r, g, b, alpha]);
    let rings = [
        ring(GROUND_M, 0.0),
        ring(12.0, 0.3),
        ring(7.0, 0.75),
        ring(4.0, 1.0),
        ring(0.0, 1.0),
    ];
    RawPrimitive {
        material: Some(1),
        ..lathe(&rings)
    }
}

/// A ball with stripes in two colours.
pub(crate) fn striped_ball(radius_m: f32) -> RawPrimitive {
    let mut ball = RawPrimitive::sphere(radius_m, 24);
    let colors = ball.uvs.iter().map(|uv| match (uv.x * 8.0) as u32 % 2 {
        _ if !(0.06..0.94).contains(&uv.y) => [0.95, 0.9, 0.8, 1.0],
        0 => [0.85, 0.12, 0.08, 1.0],
        _ => [0.95, 0.9, 0.8, 1.0],
    });
    ball.colors = colors.collect();
    ball
}

/// A hat with a brim and a band, for the head of the built-in character.
///
/// Its brim is at the origin.
pub(crate) fn hat() -> RawPrimitive {
    let (felt, band) = ([0.10, 0.06, 0.04, 1.0], [0.55, 0.10, 0.06, 1.0]);
    lathe(&[
        ((0.10, -0.012), felt),
        ((0.215, -0.004), felt),
        ((0.215, 0.004), felt),
        ((0.130, 0.0), felt),
        ((0.130, 0.0), band),
        ((0.128, 0.035), band),
        ((0.128, 0.035), felt),
        ((0.112, 0.10), felt),
        ((0.090, 0.118), felt),
        ((0.0, 0.108), felt),
    ])
}

/// A surface of revolution around +Y.
///
/// The outline lists radii and heights in metres, and colours. Its direction puts the outside on
/// the right: upwards for a wall, inwards for a ground.
fn lathe(outline: &[((f32, f32), [f32; 4])]) -> RawPrimitive {
    let mut mesh = RawPrimitive::default();
    for segment in outline.windows(2) {
        let [from, to] = [segment[0].0, segment[1].0].map(|(radius, y)| Vec2::new(radius, y));
        let Some(along) = (to - from).try_normalize() else {
            continue;
        };
        let first = mesh.positions.len() as u32;
        for (ring, color) in [(from, segment[0].1), (to, segment[1].1)] {
            for corner in 0..=CORNERS {
                let (sin, cos) = (corner as f32 / CORNERS as f32 * TAU).sin_cos();
                let turned = |at: Vec2| Vec3::new(at.x * sin, at.y, at.x * cos);
                mesh.positions.push(turned(ring));
                mesh.normals.push(turned(Vec2::new(along.y, -along.x)));
                mesh.colors.push(color);
            }
        }
        for corner in 0..CORNERS as u32 {
            let [a, b] = [first + corner, first + corner + 1];
            let [c, d] = [a, b].map(|index| index + CORNERS as u32 + 1);
            mesh.indices.extend([a, b, d, a, d, c]);
        }
    }
    mesh
}
