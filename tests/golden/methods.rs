//! The skinning methods side by side: linear, dual quaternions, quaternions with offset.

use super::check;
use super::stage::picture;
use crate::reference::raws;
use crate::reference::raws::animation;
use throng::clip::Interpolation;
use throng::glam::{Affine3A, Mat4, Quat, Vec3};
use throng::import::{ImportOptions, Imported, RawChannel, RawCharacter, RawKeys, RawPrimitive};
use throng::mesh::Material;
use throng::palette::SkinningMethod;
use throng::{CharacterDesc, Spawn};

const METHODS: [SkinningMethod; 3] = [
    SkinningMethod::Linear,
    SkinningMethod::DualQuat,
    SkinningMethod::QuatOffset,
];

/// A tube between two joints. The upper joint turns by 170 degrees.
fn tube() -> Imported {
    const AROUND: u32 = 24;
    const UP: u32 = 16;
    let node = |name: &str, parent, y: f32| raws::node(name, parent, raws::at(Vec3::Y * y));
    let mut mesh = RawPrimitive {
        name: "tube".into(),
        skin: Some(0),
        material: Some(0),
        influences_per_vertex: 2,
        ..RawPrimitive::default()
    };
    for row in 0..=UP {
        for column in 0..AROUND {
            let height = row as f32 / UP as f32;
            let (sin, cos) = (column as f32 / AROUND as f32 * std::f32::consts::TAU).sin_cos();
            mesh.positions
                .push(Vec3::new(0.45 * sin, 2.0 * height, 0.45 * cos));
            mesh.normals.push(Vec3::new(sin, 0.0, cos));
            let stripe = if column % 6 < 3 {
                [0.9, 0.8, 0.6, 1.0]
            } else {
                [0.2, 0.4, 0.6, 1.0]
            };
            mesh.colors.push(stripe);
            mesh.joints.extend([0, 1]);
            let upper = ((height - 0.15) / 0.7).clamp(0.0, 1.0);
            mesh.weights.extend([1.0 - upper, upper]);
        }
    }
    for row in 0..UP {
        for column in 0..AROUND {
            let at = |row: u32, column: u32| row * AROUND + column % AROUND;
            let [a, b] = [at(row, column), at(row, column + 1)];
            let [c, d] = [at(row + 1, column), at(row + 1, column + 1)];
            mesh.indices.extend([a, b, d, a, d, c]);
        }
    }
    let turn = Quat::from_rotation_y(170_f32.to_radians());
    let twist = animation(
        "twist",
        vec![RawChannel {
            node: 1,
            times_s: vec![0.0],
            interpolation: Interpolation::Step,
            values: RawKeys::Rotation(vec![turn]),
        }],
    );
    let raw = RawCharacter {
        name: "tube".into(),
        nodes: vec![node("root", None, 0.0), node("top", Some(0), 2.0)],
        skins: vec![raws::skin(
            [0, 1],
            vec![Mat4::IDENTITY, Mat4::from_translation(Vec3::Y * -2.0)],
        )],
        primitives: vec![mesh],
        materials: vec![Material {
            roughness: 0.6,
            double_sided: true,
            ..Material::default()
        }],
        animations: vec![twist],
        ..RawCharacter::default()
    };
    raw.build(&with_curves()).expect("a character")
}

/// Draws the same character once for each method, from left to right.
fn side_by_side(name: &str, character: &Imported, clip: &str) {
    let eye = (Vec3::new(0.0, 1.6, 6.5), Vec3::new(0.0, 0.95, 0.0));
    let (drawn, _) = picture((480, 320), eye, None, |crowd, allocator| {
        for (x, method) in [-1.3, 0.0, 1.3].into_iter().zip(METHODS) {
            let desc = CharacterDesc {
                method,
                ..CharacterDesc::default()
            };
            let id = crowd.add_character(allocator, &character.character, &desc);
            let spawn = Spawn {
                world_from_model: Affine3A::from_translation(Vec3::X * x),
                play: clip.into(),
                ..Spawn::default()
            };
            crowd.spawn(id.expect("a character"), &spawn).expect("room");
        }
    });
    check(name, &drawn);
}

#[test]
fn twisted() {
    side_by_side("methods-twist", &tube(), "twist");
}

#[test]
fn mannequins() {
    let mannequin = RawCharacter::mannequin()
        .build(&with_curves())
        .expect("the mannequin");
    side_by_side("methods-mannequin", &mannequin, "Wave");
}

fn with_curves() -> ImportOptions {
    ImportOptions {
        curves: true,
        ..ImportOptions::default()
    }
}
