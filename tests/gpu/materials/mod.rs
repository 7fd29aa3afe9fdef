//! Materials: every pixel of generated meshes is compared with the same formulas in `f64`.

mod blend;
mod compressed;
mod environment;
mod made;
mod normals;
mod passes;
mod pushed;
mod samplers;
mod sunlight;
mod tints;

use crate::reference::picture::different;
use crate::reference::precision::Grid;
use crate::reference::trace::{Traced, pixel, triangles};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, picture};
use crate::support::{SMALL, Setup, each, view};
use made::{ball, bumps, character, colors, image, sharp, square, surfaces, turned};
use std::io::Write as _;
use throng::ash::vk;
use throng::glam::{Affine2, Affine3A, DAffine3, Mat3, Quat, Vec2, Vec3, Vec4};
use throng::import::{Imported, RawPrimitive};
use throng::mesh::{AlphaMode, Material, TextureRef};
use throng::{CharacterId, Crowd, Lighting, PassId, Spawn, View};
use throng_standalone::{Begin, Target, TargetDesc};

/// One instance without a transform.
const HERE: [(Affine3A, [f32; 4]); 1] = [(Affine3A::IDENTITY, [1.0; 4])];
const BACKGROUND: Begin = Begin {
    color: [0.1, 0.2, 0.3, 1.0],
    ..NORMAL_Z
};

/// A crowd, and a linear target to draw it into.
struct Stage {
    crowd: Crowd,
    frames_in_flight: FramesInFlight,
    target: Target,
    pass: PassId,
}

impl Stage {
    fn new(setup: &mut Setup) -> Self {
        let crowd = setup.crowd(2, SMALL);
        Self::over(setup, crowd)
    }

    /// A stage over a crowd with two frames in flight.
    fn over(setup: &mut Setup, mut crowd: Crowd) -> Self {
        let desc = TargetDesc {
            extent: EXTENT,
            color_format: vk::Format::R8G8B8A8_UNORM,
            ..TargetDesc::default()
        };
        let target = Target::new(&setup.context, &desc).unwrap();
        let pass = pass(&mut crowd, &target, false);
        Self {
            frames_in_flight: FramesInFlight::new(&setup.context, 2),
            crowd,
            target,
            pass,
        }
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        setup.destroy(self.crowd);
    }

    fn add(&mut self, setup: &mut Setup, character: &Imported) -> CharacterId {
        setup.add(&mut self.crowd, &character.character)
    }

    fn picture(&mut self, setup: &mut Setup, view: &View) -> Vec<u8> {
        let on = (&self.target, self.pass, &BACKGROUND);
        picture(
            &mut setup.context,
            &mut self.crowd,
            &mut self.frames_in_flight,
            (0, 0.0),
            on,
            &[*view],
        )
    }

    /// Draws instances of a character, each with its tint, and despawns them.
    fn alone(
        &mut self,
        setup: &mut Setup,
        made: &Imported,
        instances: &[(Affine3A, [f32; 4])],
        view: &View,
    ) -> Vec<u8> {
        let id = self.add(setup, made);
        let spawn = |(world_from_model, tint): &(Affine3A, [f32; 4])| {
            let spawn = Spawn {
                world_from_model: *world_from_model,
                tint: *tint,
                ..Spawn::default()
            };
            self.crowd.spawn(id, &spawn).unwrap()
        };
        let alive: Vec<_> = instances.iter().map(spawn).collect();
        let drawn = self.picture(setup, view);
        for instance in alive {
            self.crowd.despawn(instance).unwrap();
        }
        self.crowd.remove_character(id).unwrap();
        drawn
    }

    /// Draws the same, and compares every pixel with the reference.
    ///
    /// Returns the number of pixels that could be compared.
    fn check(
        &mut self,
        setup: &mut Setup,
        name: &str,
        made: &Imported,
        instances: &[(Affine3A, [f32; 4])],
        view: &View,
    ) -> usize {
        let drawn = self.alone(setup, made, instances, view);
        let traced = traced(made, instances);
        compare(setup.grid(EXTENT), name, view, &traced, &drawn)
    }
}

fn traced<'a>(made: &'a Imported, instances: &[(Affine3A, [f32; 4])]) -> Vec<Traced<'a>> {
    let one = |(world_from_model, tint): &(Affine3A, [f32; 4])| Traced {
        character: &made.character,
        world_from_model: DAffine3::from_cols(
            world_from_model.matrix3.x_axis.as_dvec3(),
            world_from_model.matrix3.y_axis.as_dvec3(),
            world_from_model.matrix3.z_axis.as_dvec3(),
            world_from_model.translation.as_dvec3(),
        ),
        tint: Vec4::from(*tint).as_dvec4(),
    };
    instances.iter().map(one).collect()
}

fn compare(grid: Grid, name: &str, view: &View, traced: &[Traced<'_>], drawn: &[u8]) -> usize {
    let background = Vec3::from_slice(&BACKGROUND.color).as_dvec3();
    let triangles = triangles(view, traced);
    let (mut told, mut worst) = (0, (0.0, (0, 0)));
    let mut covered = 0;
    for at in (0..EXTENT.height).flat_map(|y| (0..EXTENT.width).map(move |x| (x, y))) {
        let Some(expected) = pixel(view, grid, &triangles, at, background) else {
            continue;
        };
        told += 1;
        covered += usize::from(expected.color != background);
        let texel = &drawn[((at.1 * EXTENT.width + at.0) * 4) as usize..][..3];
        let off = expected.off(texel);
        if off > worst.0 || off.is_nan() {
            worst = (off, at);
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{name}: {:.2} of the bound, {covered} of {told}",
        worst.0
    );
    let seen = &drawn[((worst.1.1 * EXTENT.width + worst.1.0) * 4) as usize..][..3];
    let wanted = pixel(view, grid, &triangles, worst.1, background);
    assert!(
        worst.0 < 1.0,
        "{name}: off by {} of the bound at {:?}: {seen:?} for {wanted:?}",
        worst.0,
        worst.1
    );
    assert!(covered > 500, "{name}: only {covered} pixels could be told");
    covered
}

fn camera() -> View {
    let lighting = Lighting {
        sun_direction: Vec3::new(0.5, 0.7, 0.6),
        sun_color: Vec3::new(0.6, 0.5, 0.45),
        sky_color: Vec3::new(0.2, 0.3, 0.5),
        ground_color: Vec3::new(0.25, 0.15, 0.1),
    };
    View {
        lighting,
        ..view(Vec3::new(0.3, 0.5, 3.6), Vec3::ZERO, EXTENT)
    }
}

/// The same view, upside down in memory.
fn flipped(view: &View) -> View {
    View {
        flip_y: true,
        ..*view
    }
}

/// A rotation, with a flip and a stretch if asked for.
fn stands(mirrored: bool) -> [(Affine3A, [f32; 4]); 1] {
    let turned = Quat::from_rotation_y(0.5) * Quat::from_rotation_x(-0.4);
    let scale = if mirrored {
        Vec3::new(-1.0, 0.8, 1.3)
    } else {
        Vec3::ONE
    };
    [(
        Affine3A::from_mat3(Mat3::from_quat(turned) * Mat3::from_diagonal(scale)),
        [1.0; 4],
    )]
}

fn one(part: RawPrimitive, material: Material) -> Imported {
    let images = vec![colors(), bumps(), surfaces()];
    character(vec![part], vec![material], images)
}

/// The factors of materials, from rough to shiny and from plastic to metal.
#[test]
fn factors_shade_as_the_formulas_say() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        for (metallic, roughness) in [(0.0, 1.0), (0.0, 0.35), (1.0, 1.0), (1.0, 0.3), (0.5, 0.6)] {
            let material = Material {
                base_color: [0.8, 0.5, 0.2, 1.0],
                metallic,
                roughness,
                emissive: [0.02, 0.0, 0.1],
                ..Material::default()
            };
            let name = format!("metallic {metallic}, roughness {roughness}");
            stage.check(
                setup,
                &name,
                &one(ball(), material),
                &stands(false),
                &camera(),
            );
        }
        stage.destroy(setup);
    });
}

/// Files without materials are metal by default. Metal reflects the sky, so nothing is black.
#[test]
fn default_metal_is_not_black() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let metal = Material {
            metallic: 1.0,
            ..Material::default()
        };
        let drawn = stage.alone(setup, &one(ball(), metal), &HERE, &camera());
        let darkest = drawn
            .chunks_exact(4)
            .map(|texel| texel[..3].iter().max().copied())
            .min();
        // The ground is the darkest reflection: 0.25 in red. Rough metal reflects four tenths of
        // it.
        assert!(darkest.flatten() >= Some(25), "{darkest:?}");
        stage.destroy(setup);
    });
}

/// Every texture, by both sets of coordinates, with and without a transform.
#[test]
fn textures_shade_as_the_formulas_say() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let whole = |look: fn(u32) -> TextureRef| Material {
            base_color: [0.9, 0.8, 0.7, 1.0],
            base_color_texture: Some(look(0)),
            metallic: 0.9,
            roughness: 0.8,
            metallic_roughness_texture: Some(look(2)),
            occlusion_texture: Some(look(2)),
            occlusion_strength: 0.7,
            emissive: [0.1, 0.2, 0.3],
            emissive_texture: Some(look(0)),
            ..Material::default()
        };
        let part = RawPrimitive {
            uvs1: square()
                .uvs
                .iter()
                .map(|uv| *uv * Vec2::new(1.3, 2.1) - 0.4)
                .collect(),
            colors: vec![
                [1.0, 0.5, 0.5, 1.0],
                [0.5, 1.0, 0.5, 1.0],
                [0.5, 0.5, 1.0, 1.0],
                [1.0; 4],
            ],
            ..square()
        };
        let tinted = [(stands(false)[0].0, [0.9, 0.7, 1.0, 1.0])];
        for (name, material) in [("textures", whole(sharp)), ("transformed", whole(turned))] {
            stage.check(
                setup,
                name,
                &one(part.clone(), material),
                &tinted,
                &camera(),
            );
        }
        let unlit = Material {
            unlit: true,
            ..whole(turned)
        };
        stage.check(
            setup,
            "unlit",
            &one(part.clone(), unlit),
            &tinted,
            &camera(),
        );
        let masked = Material {
            alpha: AlphaMode::Mask { cutoff: 0.5 },
            ..whole(sharp)
        };
        stage.check(setup, "masked", &one(part, masked), &tinted, &camera());
        stage.destroy(setup);
    });
}

/// A texture of one colour looks the same as that colour as a factor.
#[test]
fn a_white_texture_changes_nothing() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let plain = Material {
            base_color: [0.3, 0.6, 0.9, 1.0],
            ..Material::default()
        };
        let white = TextureRef::new(0);
        let textured = Material {
            base_color_texture: Some(white),
            metallic_roughness_texture: Some(white),
            occlusion_texture: Some(white),
            ..plain.clone()
        };
        let mut pictures = Vec::new();
        for material in [plain, textured] {
            let made = character(vec![ball()], vec![material], vec![image(1, &[[255; 4]])]);
            pictures.push(stage.alone(setup, &made, &HERE, &camera()));
        }
        assert_eq!(pictures[0], pictures[1]);
        stage.destroy(setup);
    });
}

/// The level of detail is that of the untransformed texture, also at the edges of triangles.
#[test]
fn a_texture_moved_by_its_whole_size_looks_the_same() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        // Halves of two colours: only in the smallest levels they mix.
        let texels: Vec<[u8; 4]> = (0..64 * 64)
            .map(|at| {
                if at % 64 < 32 {
                    [255, 0, 0, 255]
                } else {
                    [0, 0, 255, 255]
                }
            })
            .collect();
        let mut pictures = Vec::new();
        for moved in [Vec2::ZERO, Vec2::ONE] {
            let material = Material {
                base_color_texture: Some(TextureRef {
                    transform: Affine2::from_translation(moved),
                    ..TextureRef::new(0)
                }),
                ..Material::default()
            };
            let made = character(vec![ball()], vec![material], vec![image(64, &texels)]);
            pictures.push(stage.alone(setup, &made, &HERE, &camera()));
        }
        // Rounding of the coordinates changes some texels between the halves.
        let off = different(&pictures[0], &pictures[1], 8);
        assert!(off < 20, "{off} pixels differ");
        stage.destroy(setup);
    });
}
