//! Meshes, materials and images made for the tests of shading.

use crate::reference::raws;
use throng::glam::{Affine2, Vec2, Vec3, Vec4};
use throng::import::{ImportOptions, Imported, RawCharacter, RawPrimitive};
use throng::mesh::{AlphaMode, Filter, Image, Material, TextureRef};
use throng::skeleton::Transform;

/// A character of rigid parts. Part `n` has material `n`.
pub(super) fn character(
    parts: Vec<RawPrimitive>,
    materials: Vec<Material>,
    images: Vec<Image>,
) -> Imported {
    let root = raws::node("root", None, Transform::IDENTITY);
    let primitives = (0..).zip(parts).map(|(number, part)| RawPrimitive {
        number,
        material: part
            .material
            .or(Some(number))
            .filter(|at| *at < materials.len()),
        ..part
    });
    let raw = RawCharacter {
        name: "made".into(),
        nodes: vec![root],
        primitives: primitives.collect(),
        materials,
        images,
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions {
        curves: true,
        ..ImportOptions::default()
    })
    .unwrap()
}

/// A square from -1 to 1 in x and y that faces +Z.
///
/// Texture coordinates start at the upper left. Tangents point to +X.
pub(super) fn square() -> RawPrimitive {
    let corners =
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| Vec2::new(x, y));
    RawPrimitive {
        name: "square".into(),
        positions: corners.map(|at| at.extend(0.0)).to_vec(),
        normals: vec![Vec3::Z; 4],
        tangents: vec![Vec4::new(1.0, 0.0, 0.0, 1.0); 4],
        uvs: corners
            .map(|at| Vec2::new(0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y))
            .to_vec(),
        indices: vec![0, 1, 2, 0, 2, 3],
        ..RawPrimitive::default()
    }
}

/// A ball of radius 1 with smooth normals and tangents along its circles of latitude.
pub(super) fn ball() -> RawPrimitive {
    const AROUND: u32 = 24;
    const DOWN: u32 = 12;
    let mut mesh = RawPrimitive {
        name: "ball".into(),
        ..RawPrimitive::default()
    };
    for row in 0..=DOWN {
        for column in 0..=AROUND {
            let uv = Vec2::new(column as f32 / AROUND as f32, row as f32 / DOWN as f32);
            let (sin, cos) = (uv.x * std::f32::consts::TAU).sin_cos();
            let (ring, height) = (uv.y * std::f32::consts::PI).sin_cos();
            let normal = Vec3::new(ring * sin, height, ring * cos).normalize();
            mesh.positions.push(normal);
            mesh.normals.push(normal);
            mesh.tangents.push(Vec3::new(cos, 0.0, -sin).extend(1.0));
            mesh.uvs.push(uv);
        }
    }
    for row in 0..DOWN {
        for column in 0..AROUND {
            let a = row * (AROUND + 1) + column;
            let (b, c, d) = (a + 1, a + AROUND + 1, a + AROUND + 2);
            mesh.indices.extend([a, c, d, a, d, b]);
        }
    }
    mesh
}

/// An image without filters, by the first texture coordinates.
pub(super) fn sharp(image: u32) -> TextureRef {
    TextureRef {
        magnify: Filter::Nearest,
        minify: Filter::Nearest,
        mip: None,
        ..TextureRef::new(image)
    }
}

/// The same by the second texture coordinates, rotated, stretched and moved.
pub(super) fn turned(image: u32) -> TextureRef {
    let transform =
        Affine2::from_scale_angle_translation(Vec2::new(1.7, 0.6), 0.4, Vec2::new(0.3, -0.2));
    TextureRef {
        uv_set: 1,
        transform,
        ..sharp(image)
    }
}

/// Rows of texels from the top.
pub(super) fn image(width: u32, texels: &[[u8; 4]]) -> Image {
    Image::new("made", width, texels.len() as u32 / width, texels.concat())
}

/// 16 colours with several alphas.
pub(super) fn colors() -> Image {
    let texel = |at: u32| {
        [
            40 + at * 13,
            250 - at * 9,
            60 + (at * 71) % 190,
            15 + at * 16,
        ]
        .map(|v| v as u8)
    };
    image(4, &(0..16).map(texel).collect::<Vec<_>>())
}

/// Normals that lean in all directions.
pub(super) fn bumps() -> Image {
    let texel = |at: u32| {
        let lean = Vec2::from_angle(at as f32 * 1.3) * (0.15 + 0.03 * at as f32);
        let normal = lean.extend((1.0 - lean.length_squared()).sqrt());
        let [x, y, z] = normal
            .to_array()
            .map(|v| ((v * 0.5 + 0.5) * 255.0).round() as u8);
        [x, y, z, 255]
    };
    image(4, &(0..16).map(texel).collect::<Vec<_>>())
}

/// Occlusion, roughness and metallic.
pub(super) fn surfaces() -> Image {
    let texel = |at: u32| [255 - at * 12, 90 + at * 11, at % 4 * 85, 255].map(|v| v as u8);
    image(4, &(0..16).map(texel).collect::<Vec<_>>())
}

/// The images of [`balls`].
#[allow(dead_code, reason = "for the programs that share this file")]
pub(super) fn images() -> Vec<Image> {
    let checks: Vec<[u8; 4]> = (0..64_u32)
        .map(|at| match (at / 8 + at) % 2 {
            0 => [240, 230, 210, 255],
            _ => [150, 60, 40, 60],
        })
        .collect();
    vec![colors(), bumps(), surfaces(), image(8, &checks)]
}

/// A ball for each feature of materials.
#[allow(dead_code, reason = "for the programs that share this file")]
pub(super) fn balls() -> Vec<(RawPrimitive, Material)> {
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
