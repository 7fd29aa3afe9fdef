//! Bevy's lights on people, compared with Bevy's own meshes.

use crate::support::{self, SIZE, camera, messages, model, picture, sun};
use bevy::anti_alias::taa::TemporalAntiAliasing;
use bevy::camera::{Hdr, ScalingMode};
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::prelude::*;
use bevy::world_serialization::WorldAssetRoot;
use bevy_throng::{Character3d, Plays};

/// A model beside the camera's axis, drawn by Bevy or by throng.
fn shown(by_throng: bool, name: &str, change: &dyn Fn(&mut App, Entity)) -> Option<Vec<u8>> {
    let folder = model("")?;
    let mut app = support::with_assets(folder);
    let camera = camera(&mut app, Vec3::new(0.8, 1.3, 2.4), Vec3::new(0.0, 0.8, 0.0));
    let floor = Plane3d::default().mesh().size(20.0, 20.0);
    support::mesh(
        &mut app,
        floor,
        Color::srgb(0.6, 0.6, 0.6),
        Transform::IDENTITY,
    );
    change(&mut app, camera);
    let server = app.world().resource::<AssetServer>().clone();
    let entity = match by_throng {
        true => app
            .world_mut()
            .spawn((Character3d(server.load(name.to_owned())), Plays::default()))
            .id(),
        false => {
            let scene = server.load(format!("{name}#Scene0"));
            app.world_mut().spawn(WorldAssetRoot(scene)).id()
        }
    };
    for _ in 0..100 {
        app.update();
        std::thread::sleep(std::time::Duration::from_millis(3));
        let is_there = match by_throng {
            true => app.world().get::<bevy_throng::Instance>(entity).is_some(),
            false => app.world().get::<Children>(entity).is_some(),
        };
        if is_there {
            break;
        }
    }
    let shown = picture(&mut app, 12);
    messages::expect_none();
    Some(shown)
}

/// The mean difference of a channel of a pixel, and the pixels that differ by more than 32.
fn difference(a: &[u8], b: &[u8]) -> (f64, usize) {
    let sum: u64 = a
        .iter()
        .zip(b)
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum();
    let pixels = a.chunks_exact(4).zip(b.chunks_exact(4));
    let far = pixels.filter(|(a, b)| a.iter().zip(*b).any(|(a, b)| a.abs_diff(*b) > 32));
    (sum as f64 / a.len() as f64, far.count())
}

/// A sun that leaves no channel at its limit.
fn dim_sun(app: &mut App) {
    let sun = sun(app);
    let mut light = app.world_mut().get_mut::<DirectionalLight>(sun).unwrap();
    light.illuminance = 1500.0;
}

#[test]
fn people_are_lit_as_bevys_meshes_are() {
    type Change = &'static dyn Fn(&mut App, Entity);
    let cases: [(&str, Change); 6] = [
        ("sun", &|app, _| dim_sun(app)),
        ("lamps", &|app, _| {
            let lamp = PointLight {
                intensity: 100_000.0,
                shadow_maps_enabled: true,
                ..default()
            };
            let at = Transform::from_xyz(1.0, 2.0, 2.0);
            app.world_mut().spawn((lamp, at));
            let spot = SpotLight {
                intensity: 200_000.0,
                shadow_maps_enabled: true,
                ..default()
            };
            let place = Transform::from_xyz(-2.0, 2.0, 2.0).looking_at(Vec3::Y, Vec3::Y);
            app.world_mut().spawn((spot, place));
        }),
        ("fog, orthographic", &|app, camera| {
            dim_sun(app);
            let mut flat = OrthographicProjection::default_3d();
            flat.scaling_mode = ScalingMode::FixedVertical {
                viewport_height: 2.4,
            };
            let fog = DistanceFog {
                color: Color::srgb(0.2, 0.5, 0.9),
                falloff: FogFalloff::Linear {
                    start: 1.0,
                    end: 5.0,
                },
                ..default()
            };
            let mut camera = app.world_mut().entity_mut(camera);
            camera.insert((fog, Projection::from(flat)));
        }),
        ("environment, HDR", &|app, camera| {
            let mut images = app.world_mut().resource_mut::<Assets<Image>>();
            let colors = [
                Color::srgb(0.4, 0.6, 1.0),
                Color::WHITE,
                Color::srgb(0.5, 0.3, 0.1),
            ];
            let [top, middle, bottom] = colors;
            let sky = EnvironmentMapLight {
                intensity: 500.0,
                ..EnvironmentMapLight::hemispherical_gradient(&mut images, top, middle, bottom)
            };
            let mut camera = app.world_mut().entity_mut(camera);
            camera.insert((sky, Hdr, Tonemapping::AcesFitted));
        }),
        ("tone mapping by a table, dither", &|app, camera| {
            dim_sun(app);
            let mut camera = app.world_mut().entity_mut(camera);
            camera.insert((Tonemapping::TonyMcMapface, DebandDither::Enabled));
        }),
        // Equal only if both are moved by the same jitter.
        ("temporal anti-aliasing", &|app, camera| {
            dim_sun(app);
            let mut camera = app.world_mut().entity_mut(camera);
            camera.insert(TemporalAntiAliasing::default());
        }),
    ];
    for (name, change) in cases {
        // Its textures would be those of other mips: Bevy's have a bias.
        let model = match name {
            "temporal anti-aliasing" => "RiggedFigure.glb",
            _ => "Knight.glb",
        };
        let Some(by_bevy) = shown(false, model, change) else {
            return;
        };
        let Some(by_throng) = shown(true, model, change) else {
            return;
        };
        let file = name.replace(", ", "-").replace(' ', "-");
        support::save(&format!("{file}-bevy.png"), &by_bevy);
        support::save(&format!("{file}-throng.png"), &by_throng);
        let (mean, far) = difference(&by_bevy, &by_throng);
        println!(
            "{name}: {mean:.3} of 255, {far} pixels of {}",
            SIZE.element_product()
        );
        assert!(
            mean < 1.0 && far < 150,
            "{name}: mean {mean:.3}, {far} pixels are far off"
        );
    }
}
