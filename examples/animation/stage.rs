//! What stands around: a slab under each, a ball, steps. Boxes and a ball, as a character that does not move.

use throng::character::{Character, Material, Transform};
use throng::glam::{Vec3, vec3};
use throng::import::{ImportOptions, RawCharacter, RawNode, RawPrimitive, RawTransform};

use super::reach::{After, BALL, STEPS_M};

/// # Errors
/// None in practice; what [`RawCharacter::build`] says.
pub(crate) fn props(act: After) -> throng::Result<Character> {
    let mut mesh = RawPrimitive {
        material: Some(0),
        ..RawPrimitive::default()
    };
    cuboid(
        &mut mesh,
        vec3(-0.5, -0.06, -0.6),
        vec3(0.5, -0.002, 0.6),
        Vec3::splat(0.40),
    );
    match act {
        After::Look | After::LookAndReach => ball(&mut mesh, BALL, 0.07, vec3(0.9, 0.2, 0.15)),
        After::Stand => {
            // The left foot stands where x is positive.
            for (height, [from, to]) in STEPS_M.into_iter().zip([[0.0, 0.4], [-0.4, 0.0]]) {
                if height > 0.0 {
                    cuboid(
                        &mut mesh,
                        vec3(from, 0.0, -0.3),
                        vec3(to, height, 0.4),
                        vec3(0.5, 0.4, 0.3),
                    );
                }
            }
        }
        After::Nothing => {}
    }
    let raw = RawCharacter {
        name: "props".into(),
        nodes: vec![RawNode {
            name: "props".into(),
            parent: None,
            transform: RawTransform::Trs(Transform::IDENTITY),
        }],
        primitives: vec![mesh],
        materials: vec![Material {
            metallic: 0.0,
            roughness: 0.8,
            ..Material::default()
        }],
        ..RawCharacter::default()
    };
    Ok(raw.build(&ImportOptions::default())?.character)
}

fn quad(mesh: &mut RawPrimitive, corners: [Vec3; 4], normals: [Vec3; 4], color: Vec3) {
    let first = mesh.positions.len() as u32;
    mesh.positions.extend(corners);
    mesh.normals.extend(normals);
    mesh.colors.extend([color.extend(1.0).to_array(); 4]);
    mesh.indices
        .extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
}

fn cuboid(mesh: &mut RawPrimitive, min: Vec3, max: Vec3, color: Vec3) {
    let (center, half) = ((min + max) * 0.5, (max - min) * 0.5);
    for (normal, u) in [(Vec3::X, Vec3::Y), (Vec3::Y, Vec3::Z), (Vec3::Z, Vec3::X)] {
        for normal in [normal, -normal] {
            let v = normal.cross(u);
            let corner = |a: f32, b: f32| center + (normal + u * a + v * b) * half;
            let corners = [
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ];
            quad(mesh, corners, [normal; 4], color);
        }
    }
}

fn ball(mesh: &mut RawPrimitive, center: Vec3, radius: f32, color: Vec3) {
    use std::f32::consts::{PI, TAU};
    const AROUND: u32 = 20;
    const DOWN: u32 = 10;
    let point = |i: u32, j: u32| {
        let (around, down) = (TAU * i as f32 / AROUND as f32, PI * j as f32 / DOWN as f32);
        vec3(
            down.sin() * around.sin(),
            down.cos(),
            down.sin() * around.cos(),
        )
    };
    for (i, j) in (0..AROUND).flat_map(|i| (0..DOWN).map(move |j| (i, j))) {
        let normals = [
            point(i, j),
            point(i, j + 1),
            point(i + 1, j + 1),
            point(i + 1, j),
        ];
        quad(mesh, normals.map(|n| center + n * radius), normals, color);
    }
}
