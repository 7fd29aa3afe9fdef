//! Camera, sky, sun, ground and boxes.

use bevy::camera::Hdr;
use bevy::color::palettes::tailwind::*;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::prelude::*;
use std::f32::consts::TAU;

pub(crate) fn view(mut commands: Commands, mut images: ResMut<Assets<Image>>) {
    let (top, middle, bottom) = (BLUE_300, STONE_300, STONE_500);
    let mut sky = EnvironmentMapLight::hemispherical_gradient(&mut images, top, middle, bottom);
    sky.intensity = 1800.0;
    let lens = Projection::from(PerspectiveProjection { fov: 0.5, ..default() });
    commands.spawn((Camera3d::default(), Hdr, Tonemapping::AcesFitted, lens, sky));
    let sun = DirectionalLight { color: AMBER_100.into(), shadow_maps_enabled: true, ..default() };
    let cascades = CascadeShadowConfigBuilder { first_cascade_far_bound: 30.0, ..default() };
    let from = Transform::from_xyz(-9.0, 5.5, -3.0).looking_at(Vec3::ZERO, Vec3::Y);
    commands.spawn((sun, cascades.build(), from));
}

pub(crate) fn boxes(world: &mut World) {
    let mut add = |mesh: Mesh, color: Srgba, at: Transform| {
        let material = StandardMaterial { base_color: color.into(), reflectance: 0.1, ..default() };
        let (mesh, material) = (world.add_asset(mesh), world.add_asset(material));
        world.spawn((Mesh3d(mesh), MeshMaterial3d::<StandardMaterial>(material), at));
    };
    add(
        Plane3d::default().mesh().size(400.0, 400.0).into(),
        Srgba::rgb(0.63, 0.58, 0.51),
        default(),
    );
    let flat = Transform::from_xyz(0.0, 0.01, 0.0).looking_to(Vec3::NEG_Y, Vec3::Z);
    add(Annulus::new(15.6, 19.6).mesh().resolution(128).into(), Srgba::rgb(0.56, 0.3, 0.22), flat);
    for pillar in 0..12 {
        let place = turned(TAU * pillar as f32 / 12.0) * Transform::from_xyz(0.0, 1.5, 14.3);
        add(Cuboid::new(0.8, 3.0, 0.8).into(), STONE_200, place);
    }
    for step in [0.0, 1.0, 2.0, 3.0, 4.0] {
        let place = turned(0.5 * step) * Transform::from_xyz(0.0, 0.4 + 0.8 * step, 0.0);
        add(Cuboid::new(4.6 - step, 0.8, 4.6 - step).into(), ORANGE_400, place);
    }
}

/// A turn about the middle.
pub(crate) fn turned(angle_rad: f32) -> Transform {
    Transform::from_rotation(Quat::from_rotation_y(angle_rad))
}
