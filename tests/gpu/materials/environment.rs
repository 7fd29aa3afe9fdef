//! Light from all around: spherical harmonics and environment maps.

use super::made::ball;
use super::{HERE, Stage, camera, one};
use crate::cube_image::CubeImage;
use crate::engine::Engine;
use crate::support::frames::EXTENT;
use crate::support::{Setup, each, each_with_features, view};
use throng::ash::vk;
use throng::glam::{Quat, Vec3};
use throng::import::Imported;
use throng::mesh::Material;
use throng::{Environment, EnvironmentLight, Error, Lighting, PassDesc, ShadowMap, View};
use throng_standalone::EnvironmentImage;

/// A ball of a white material.
fn white(metallic: f32, roughness: f32) -> Imported {
    let material = Material {
        metallic,
        roughness,
        ..Material::default()
    };
    one(ball(), material)
}

/// A camera in front of the ball, without a sun.
fn front() -> View {
    View {
        lighting: Lighting {
            sun_color: Vec3::ZERO,
            ..camera().lighting
        },
        ..view(Vec3::new(0.0, 0.0, 3.6), Vec3::ZERO, EXTENT)
    }
}

/// A texel near the middle of a picture, as parts of one.
fn middle(picture: &[u8]) -> Vec3 {
    let at = (EXTENT.height / 2 * EXTENT.width + EXTENT.width / 2) as usize * 4;
    Vec3::from_array([0, 1, 2].map(|channel| f32::from(picture[at + channel]) / 255.0))
}

/// An image whose radiance depends on the direction.
fn image(radiance: impl Fn(Vec3) -> Vec3) -> Vec<Vec3> {
    let texel = |at: u32| {
        let (u, v) = ((at % 64) as f32 / 64.0, (at / 64) as f32 / 32.0);
        let around = (u + 0.5 / 64.0) * std::f32::consts::TAU - std::f32::consts::PI;
        let (ring, height) = ((v + 0.5 / 32.0) * std::f32::consts::PI).sin_cos();
        radiance(Vec3::new(around.cos() * ring, height, around.sin() * ring))
    };
    (0..64 * 32).map(texel).collect()
}

/// The value of 16 bits of a float.
fn number(half: u16) -> f32 {
    f32::from_bits((u32::from(half) << 13) + (112 << 23))
}

/// Gives the stage a pass with an environment map of 16 x 16 texels in five levels.
fn with_map(setup: &mut Setup, stage: &mut Stage, texels: &[Vec3]) -> CubeImage {
    let image = EnvironmentImage::new(64, 32, texels).unwrap();
    let faces = image.prefiltered(16, 5, 32).unwrap();
    let cube = CubeImage::new(&mut setup.context, (16, 5), &faces).unwrap();
    let desc = PassDesc {
        environment: EnvironmentLight::Map,
        ..stage.target.pass_desc()
    };
    stage.pass = unsafe {
        stage.crowd.set_environment_map(&cube.map()).unwrap();
        stage.crowd.create_pass(&desc).unwrap()
    };
    cube
}

/// The crowd goes first, because it samples the map.
fn destroy(setup: &mut Setup, stage: Stage, cube: CubeImage) {
    stage.frames_in_flight.destroy(&setup.context);
    unsafe { stage.crowd.destroy(&mut setup.context.allocator()) };
    cube.destroy(&mut setup.context);
}

/// The projection of an image has the coefficients that integrals give, and its first level the
/// image itself.
#[test]
fn an_image_is_projected_and_filtered() {
    let texels = image(|d| Vec3::splat(0.5) + 0.5 * d);
    let image = EnvironmentImage::new(64, 32, &texels).unwrap();
    let environment = image.environment();
    for d in [Vec3::X, Vec3::NEG_Y, Vec3::Z, Vec3::new(0.48, 0.6, -0.64)] {
        // Lambert's law keeps two thirds of a linear part.
        let wanted = Vec3::splat(0.5) + d / 3.0;
        let got = environment.reflected(d);
        // Texels of a 32nd of the height: squares of their size, about 0.01, are lost.
        assert!(got.abs_diff_eq(wanted, 5e-3), "{d}: {got} for {wanted}");
        let turn = Quat::from_rotation_x(0.7) * Quat::from_rotation_z(-1.1);
        let turned = Environment {
            world_from_environment: turn,
            intensity: 2.0,
            ..environment
        };
        let got = turned.reflected(turn * d);
        assert!(got.abs_diff_eq(wanted * 2.0, 1e-2), "{d}: {got}");
    }
    let faces = image.prefiltered(16, 5, 256).unwrap();
    assert_eq!(faces.len(), 6 * (256 + 64 + 16 + 4 + 1));
    let faces_of_vulkan = [
        Vec3::X,
        Vec3::NEG_X,
        Vec3::Y,
        Vec3::NEG_Y,
        Vec3::Z,
        Vec3::NEG_Z,
    ];
    for (face, d) in faces_of_vulkan.into_iter().enumerate() {
        let [r, g, b, alpha] = faces[face * 256 + 8 * 16 + 8].map(number);
        let wanted = Vec3::splat(0.5) + 0.5 * d;
        let got = Vec3::new(r, g, b);
        // The texel lies a sixteenth beside the middle of the face, and half of that counts.
        assert!(got.abs_diff_eq(wanted, 0.05), "{face}: {got} for {wanted}");
        assert_eq!(alpha, 1.0);
        // The widest lobe keeps the mean, and less of the direction.
        let last = faces[6 * (256 + 64 + 16 + 4) + face].map(number);
        let along = (Vec3::from_slice(&last[..3]) - 0.5).dot(d);
        assert!(along > 0.2 && along < 0.4, "{face}: {along}");
    }
}

/// A constant environment is the constant sky, and without an environment, passes that read one
/// have the sky.
#[test]
fn harmonics_of_a_sky_are_the_sky() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let desc = PassDesc {
            environment: EnvironmentLight::Irradiance,
            ..stage.target.pass_desc()
        };
        let passes = [stage.pass, unsafe {
            stage.crowd.create_pass(&desc).unwrap()
        }];
        let constant = Vec3::new(0.4, 0.3, 0.2);
        let mut flat = camera();
        (flat.lighting.sky_color, flat.lighting.ground_color) = (constant, constant);
        let given = View {
            environment: Some(Environment::uniform(constant)),
            ..camera()
        };
        let made = [white(0.0, 0.7), white(1.0, 0.4)];
        for (sky, read) in [(camera(), camera()), (flat, given)] {
            for made in &made {
                let [plain, lit] = [(sky, passes[0]), (read, passes[1])].map(|(view, pass)| {
                    stage.pass = pass;
                    stage.alone(setup, made, &HERE, &view)
                });
                let off = plain.iter().zip(&lit).map(|(a, b)| a.abs_diff(*b)).max();
                // Both are rounded to a 255th.
                assert!(off <= Some(1), "{off:?}");
            }
        }
        stage.destroy(setup);
    });
}

/// The furnace: in light of a half from everywhere, nothing white is brighter than a half. Plastic
/// reflects all of it, and metal all but what rough metal loses between its facets.
#[test]
fn nothing_is_brighter_than_its_surroundings() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let texels = image(|_| Vec3::ONE);
        let cube = with_map(setup, &mut stage, &texels);
        let view = View {
            environment: Some(Environment {
                intensity: 0.5,
                ..Environment::uniform(Vec3::ONE)
            }),
            ..front()
        };
        for (metallic, roughness, least) in [
            (0.0, 0.9, 127),
            (0.0, 0.2, 127),
            (1.0, 0.1, 118),
            (1.0, 0.5, 80),
            (1.0, 1.0, 50),
        ] {
            let drawn = stage.alone(setup, &white(metallic, roughness), &HERE, &view);
            let mut seen = drawn.chunks_exact(4).map(|texel| texel[1]);
            // The background has 51 in green.
            let mut balls = seen.by_ref().filter(|green| *green != 51);
            let first = balls.next().unwrap();
            let (low, high) = balls.fold((first, first), |(low, high), green| {
                (low.min(green), high.max(green))
            });
            // Half of 255 is 127.5, and 16-bit floats of the map are exact.
            assert!(
                low >= least && high <= 128,
                "{metallic} {roughness}: {low} {high}"
            );
        }
        destroy(setup, stage, cube);
    });
}

/// A mirror shows what the rotation brings in front of it, and so do the harmonics.
#[test]
fn an_environment_turns() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        // Bright along +X.
        let texels = image(|d| Vec3::splat(if d.x > 0.5 { 1.0 } else { 0.0 }));
        let cube = with_map(setup, &mut stage, &texels);
        let environment = EnvironmentImage::new(64, 32, &texels)
            .unwrap()
            .environment();
        let quarter = std::f32::consts::FRAC_PI_2;
        for (turn, bright) in [
            (Quat::IDENTITY, false),
            (Quat::from_rotation_y(quarter), false),
            (Quat::from_rotation_y(-quarter), true),
        ] {
            let view = View {
                environment: Some(Environment {
                    world_from_environment: turn,
                    ..environment
                }),
                ..front()
            };
            for made in [white(1.0, 0.05), white(0.0, 0.8)] {
                let seen = middle(&stage.alone(setup, &made, &HERE, &view));
                let fits = if bright { seen.x > 0.6 } else { seen.x < 0.25 };
                assert!(fits, "{turn}: {seen}");
            }
        }
        // Without an environment, a pass with a map has the sky.
        let seen = middle(&stage.alone(setup, &white(1.0, 0.05), &HERE, &front()));
        let sky = front().lighting;
        let wanted = (sky.sky_color + sky.ground_color) * 0.5;
        assert!(seen.abs_diff_eq(wanted, 0.03), "{seen} for {wanted}");
        destroy(setup, stage, cube);
    });
}

/// Every module fits its layout, and draws beside a shadow map.
#[test]
fn maps_go_with_shadows_eyes_and_all_textures() {
    each_with_features(|setup| {
        let mut stage = Stage::new(setup);
        let texels = image(|d| Vec3::splat(0.5 + 0.4 * d.y));
        let cube = with_map(setup, &mut stage, &texels);
        let mut engine = Engine::of_setup(setup);
        let (one, edge) = (vk::SampleCountFlags::TYPE_1, 16);
        let extent = vk::Extent2D {
            width: edge,
            height: edge,
        };
        let mut map = engine.image(vk::Format::D32_SFLOAT, extent, (2, one));
        let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let shadow = ShadowMap {
            view: engine.view(&mut map, 0, 2),
            layout,
            edge,
            reversed_z: false,
        };
        engine.run(|engine, cmd| {
            engine.transition(cmd, &map, vk::ImageLayout::UNDEFINED, layout);
        });
        unsafe { stage.crowd.set_shadow_map(&shadow) }.unwrap();
        let view = View {
            environment: Some(Environment::uniform(Vec3::splat(0.5))),
            ..front()
        };
        let made = white(1.0, 0.3);
        let plain = stage.alone(setup, &made, &HERE, &view);
        for (shadow_map, view_mask) in [(true, 0), (false, 0b11), (true, 0b11)] {
            let desc = PassDesc {
                shadow_map,
                view_mask,
                environment: EnvironmentLight::Map,
                ..stage.target.pass_desc()
            };
            let made_pass = unsafe { stage.crowd.create_pass(&desc) };
            let Ok(pass) = made_pass else {
                let missing = matches!(made_pass, Err(Error::NotEnabled { .. }));
                assert!(missing && view_mask != 0, "{made_pass:?}");
                continue;
            };
            if view_mask == 0 {
                stage.pass = pass;
                // No layer of the shadow map covers anything.
                assert!(stage.alone(setup, &made, &HERE, &view) == plain);
            } else {
                // Its pipelines are made.
                let id = stage.add(setup, &made);
                stage.crowd.remove_character(id).unwrap();
            }
        }
        destroy(setup, stage, cube);
        engine.destroy_image(map);
        engine.destroy();
    });
}

#[test]
fn wrong_environments_are_refused() {
    each(|setup| {
        let mut stage = Stage::new(setup);
        let told = |result: Result<_, Error>, wanted: &str| {
            let fits = matches!(&result, Err(Error::Argument { what, .. }) if *what == wanted);
            assert!(fits, "{wanted}: {result:?}");
        };
        let desc = PassDesc {
            environment: EnvironmentLight::Map,
            ..stage.target.pass_desc()
        };
        let pass = unsafe { stage.crowd.create_pass(&desc) }.unwrap();
        let nothing = throng::EnvironmentMap {
            view: vk::ImageView::null(),
            sampler: None,
            layout: vk::ImageLayout::GENERAL,
            levels: 0,
        };
        let set = unsafe { stage.crowd.set_environment_map(&nothing) };
        told(set, "EnvironmentMap::levels");
        let cmd = stage.frames_in_flight.begin(&setup.context, 0);
        let bad = [f32::NAN, -1.0].map(|intensity| Environment {
            intensity,
            ..Environment::uniform(Vec3::ONE)
        });
        let flat = Environment {
            world_from_environment: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            ..Environment::uniform(Vec3::ONE)
        };
        unsafe {
            let allocator = &mut setup.context.allocator();
            let mut frame = stage.crowd.begin_frame(allocator, 0, 0.0).unwrap();
            for environment in bad.into_iter().chain([flat]) {
                let view = View {
                    environment: Some(environment),
                    ..front()
                };
                let prepared = frame.record_prepare(cmd, &[view]).map(drop);
                assert!(prepared.is_err(), "{environment:?}");
            }
            let views = frame.record_prepare(cmd, &[front()]).unwrap();
            told(frame.record_draw(cmd, views[0], pass), "pass");
        }
        stage.frames_in_flight.submit(&setup.context, 0);
        stage.frames_in_flight.wait(&setup.context, 0);
        assert!(EnvironmentImage::new(2, 2, &[Vec3::ONE; 3]).is_err());
        assert!(EnvironmentImage::new(1, 1, &[Vec3::NEG_X]).is_err());
        let texels = [Vec3::ONE; 2];
        let image = EnvironmentImage::new(2, 1, &texels).unwrap();
        for (edge, levels, samples) in [(0, 1, 1), (8, 0, 1), (8, 5, 1), (2048, 1, 1), (8, 1, 0)] {
            assert!(image.prefiltered(edge, levels, samples).is_err());
        }
        stage.destroy(setup);
    });
}
