//! The board of materials: a ball for each feature of materials.

#[allow(dead_code, reason = "shared with the tests of shading")]
#[path = "../gpu/materials/made.rs"]
mod made;

use super::reference::golden::{Area, leave_out};
use super::reference::precision::OUTLINE_BITS;
use super::stage::picture;
use super::{FOLDER, check};
use made::{ball, bumps, character, colors, image, sharp, surfaces, turned};
use throng::Spawn;
use throng::glam::{Affine3A, Vec2, Vec3};
use throng::import::RawPrimitive;
use throng::mesh::{AlphaMode, Image, Material, TextureRef};

const COLUMNS: usize = 6;
/// The only double-sided surface with a curved outline.
const BOWL: Area = Area {
    corner: (380, 228),
    size: (90, 68),
};

fn images() -> Vec<Image> {
    let checks: Vec<[u8; 4]> = (0..64_u32)
        .map(|at| match (at / 8 + at) % 2 {
            0 => [240, 230, 210, 255],
            _ => [150, 60, 40, 60],
        })
        .collect();
    vec![colors(), bumps(), surfaces(), image(8, &checks)]
}

/// The balls with their materials, row by row.
fn balls() -> Vec<(RawPrimitive, Material)> {
    let base = Material {
        base_color: [0.8, 0.35, 0.2, 1.0],
        ..Material::default()
    };
    let white = Material::default();
    let checks = Some(sharp(3));
    let factors = [
        (0.0, 0.15),
        (0.0, 0.45),
        (0.0, 1.0),
        (1.0, 0.15),
        (1.0, 0.45),
        (1.0, 1.0),
    ];
    let mut all: Vec<_> = factors
        .map(|(metallic, roughness)| {
            (
                ball(),
                Material {
                    metallic,
                    roughness,
                    ..base.clone()
                },
            )
        })
        .into();
    let bumpy = Material {
        normal_texture: Some(sharp(1)),
        roughness: 0.5,
        ..base.clone()
    };
    let plain = || RawPrimitive {
        tangents: Vec::new(),
        ..ball()
    };
    let flat = || RawPrimitive {
        normals: Vec::new(),
        ..plain()
    };
    let painted = |part: RawPrimitive| RawPrimitive {
        colors: part
            .positions
            .iter()
            .map(|p| (*p * 0.5 + 0.5).extend(1.0).to_array())
            .collect(),
        ..part
    };
    let second = |part: RawPrimitive| RawPrimitive {
        uvs1: part
            .uvs
            .iter()
            .map(|uv| *uv * Vec2::new(3.0, 2.0))
            .collect(),
        ..part
    };
    // The lower half of a ball, seen from above.
    let bowl = |mut part: RawPrimitive| {
        let below = |corners: &[u32]| {
            corners
                .iter()
                .all(|at| part.positions[*at as usize].y < 0.3)
        };
        let kept = part
            .indices
            .chunks_exact(3)
            .filter(|corners| below(corners));
        part.indices = kept.flatten().copied().collect();
        part
    };
    all.extend([
        (
            ball(),
            Material {
                base_color_texture: Some(TextureRef::new(3)),
                ..white.clone()
            },
        ),
        (ball(), bumpy.clone()),
        (plain(), bumpy),
        (
            ball(),
            Material {
                metallic: 1.0,
                metallic_roughness_texture: Some(sharp(2)),
                occlusion_texture: Some(sharp(2)),
                ..base.clone()
            },
        ),
        (
            ball(),
            Material {
                emissive: [0.3, 0.6, 0.9],
                emissive_texture: checks,
                ..base.clone()
            },
        ),
        (
            ball(),
            Material {
                unlit: true,
                base_color_texture: checks,
                ..white.clone()
            },
        ),
        (
            ball(),
            Material {
                base_color_texture: checks,
                alpha: AlphaMode::Mask { cutoff: 0.5 },
                double_sided: true,
                ..white.clone()
            },
        ),
        (
            ball(),
            Material {
                base_color_texture: checks,
                alpha: AlphaMode::Blend,
                ..white.clone()
            },
        ),
        (painted(ball()), white.clone()),
        (
            second(ball()),
            Material {
                base_color_texture: Some(turned(0)),
                ..white
            },
        ),
        (
            bowl(ball()),
            Material {
                double_sided: true,
                ..base.clone()
            },
        ),
        (flat(), base),
    ]);
    all
}

#[test]
fn materials() {
    let (mut drawn, sub_pixel_bits) = picture(
        (576, 320),
        (Vec3::new(0.0, 1.2, 15.0), Vec3::ZERO),
        |crowd, allocator| {
            for (at, (part, material)) in balls().into_iter().enumerate() {
                let made = character(vec![part], vec![material], images());
                let id = crowd
                    .add_character(allocator, &made.character)
                    .expect("a character");
                let (column, row) = ((at % COLUMNS) as f32, (at / COLUMNS) as f32);
                let place = Vec3::new(2.2 * (column - 2.5), 2.2 * (1.0 - row), 0.0);
                let spawn = Spawn {
                    world_from_model: Affine3A::from_translation(place),
                    ..Spawn::default()
                };
                crowd.spawn(id, &spawn).expect("room");
            }
        },
    );
    if sub_pixel_bits < OUTLINE_BITS {
        leave_out(FOLDER, "materials", &mut drawn, BOWL);
    }
    check("materials", &drawn);
}
