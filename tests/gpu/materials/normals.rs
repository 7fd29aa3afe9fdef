//! Normal maps and flat shading, from all sides.

use super::made::{ball, sharp, square};
use super::{HERE, Stage, camera, flipped, one, stands};
use crate::reference::picture::different;
use crate::support::frames::EXTENT;
use crate::support::{each, view};
use throng::glam::{Affine3A, Mat4, Vec2, Vec3, Vec4};
use throng::import::RawPrimitive;
use throng::mesh::Material;
use throng::{Eye, View};

/// Normal maps with and without tangents in the file, seen from all sides.
///
/// Texture coordinates are plain or flipped, and so are the instances. The view is from the front
/// and from behind, in flipped views and others.
#[test]
fn normal_maps_lean_the_right_way() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let material = Material {
            base_color: [0.7; 4],
            roughness: 0.7,
            normal_texture: Some(sharp(1)),
            normal_scale: 1.2,
            double_sided: true,
            ..Material::default()
        };
        let with = square();
        let without = RawPrimitive {
            tangents: Vec::new(),
            ..square()
        };
        let mirror = |part: &RawPrimitive| RawPrimitive {
            uvs: part
                .uvs
                .iter()
                .map(|uv| Vec2::new(1.0 - uv.x, uv.y))
                .collect(),
            tangents: part
                .tangents
                .iter()
                .map(|_| Vec4::new(-1.0, 0.0, 0.0, -1.0))
                .collect(),
            ..part.clone()
        };
        let behind = View {
            ..view(Vec3::new(0.3, 0.5, -3.6), Vec3::ZERO, EXTENT)
        };
        let behind = View {
            lighting: camera().lighting,
            ..behind
        };
        for (name, part) in [
            ("tangents", with.clone()),
            ("flipped tangents", mirror(&with)),
            ("derived", without.clone()),
            ("derived, mirrored", mirror(&without)),
        ] {
            let made = one(part, material.clone());
            for mirrored in [false, true] {
                for (side, view) in [("front", camera()), ("back", behind)] {
                    for view in [view, flipped(&view)] {
                        let flipped = view.flip_y;
                        let name =
                            format!("{name}, {side}, mirrored {mirrored}, flipped {flipped}");
                        stage.check(setup, &name, &made, &stands(mirrored), &view);
                    }
                }
            }
        }
        stage.destroy(setup);
    });
}

/// A normal map on a ball, where normals and tangent frames vary.
///
/// Without tangents, each triangle has one frame.
#[test]
fn normal_maps_follow_smooth_normals() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let material = Material {
            base_color: [0.7; 4],
            roughness: 0.7,
            normal_texture: Some(sharp(1)),
            ..Material::default()
        };
        let derived = RawPrimitive {
            tangents: Vec::new(),
            ..ball()
        };
        for (name, part) in [("ball, tangents", ball()), ("ball, derived", derived)] {
            stage.check(
                setup,
                name,
                &one(part, material.clone()),
                &stands(true),
                &camera(),
            );
        }
        stage.destroy(setup);
    });
}

/// Without normals, each triangle has its own normal, which faces the viewer.
///
/// This holds in flipped views and others, and from both sides.
#[test]
fn flat_normals_face_the_viewer() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let flat = |part: RawPrimitive| RawPrimitive {
            normals: Vec::new(),
            tangents: Vec::new(),
            ..part
        };
        let material = Material {
            base_color: [0.8; 4],
            double_sided: true,
            normal_texture: Some(sharp(1)),
            ..Material::default()
        };
        let behind = view(Vec3::new(-0.5, 0.3, -3.6), Vec3::ZERO, EXTENT);
        for (name, part) in [("flat ball", ball()), ("flat square", square())] {
            let made = one(flat(part), material.clone());
            for mirrored in [false, true] {
                for view in [
                    camera(),
                    View {
                        lighting: camera().lighting,
                        ..behind
                    },
                ] {
                    for view in [view, flipped(&view)] {
                        stage.check(setup, name, &made, &stands(mirrored), &view);
                    }
                }
            }
        }
        stage.destroy(setup);
    });
}

/// Degenerate inputs give finite numbers.
///
/// They are tangents along the normal, missing texture coordinates, and triangles of a millionth
/// of a metre.
#[test]
fn degenerate_frames_stay_finite() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let material = Material {
            normal_texture: Some(sharp(1)),
            ..Material::default()
        };
        let along = RawPrimitive {
            tangents: vec![Vec4::new(0.0, 0.0, 1.0, 1.0); 4],
            ..square()
        };
        let nowhere = RawPrimitive {
            tangents: Vec::new(),
            uvs: Vec::new(),
            ..square()
        };
        for part in [along, nowhere] {
            let drawn = stage.alone(setup, &one(part, material.clone()), &HERE, &camera());
            // NaN is written as 0.
            let black = drawn
                .chunks_exact(4)
                .filter(|texel| texel[..3] == [0; 3])
                .count();
            assert_eq!(black, 0);
        }
        // A small object from close by looks the same as a large one from afar.
        let tiny = 1e-6;
        let derived = RawPrimitive {
            tangents: Vec::new(),
            normals: Vec::new(),
            ..ball()
        };
        let made = one(derived, material);
        let mut pictures = Vec::new();
        for size in [1.0, tiny] {
            let small = [(Affine3A::from_scale(Vec3::splat(size)), [1.0; 4])];
            let near = camera();
            let scale = Mat4::from_scale(Vec3::splat(1.0 / size));
            let view = View {
                eye: Eye {
                    clip_from_world: near.eye.clip_from_world * scale,
                    position: near.eye.position * size,
                    ..near.eye
                },
                ..near
            };
            pictures.push(stage.alone(setup, &made, &small, &view));
        }
        assert_eq!(different(&pictures[0], &pictures[1], 2), 0);
        stage.destroy(setup);
    });
}
