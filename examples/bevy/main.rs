//! A crowd in Bevy: the scene is Bevy's, the people throng's.

use bevy::camera::{Hdr, RenderTarget};
use bevy::render::render_resource::TextureFormat;
use bevy::render::view::screenshot::{Captured, Screenshot, save_to_disk};
use bevy::{app::ScheduleRunnerPlugin, color::palettes::tailwind::*, prelude::*};
use bevy::{core_pipeline::tonemapping::Tonemapping, diagnostic::FrameCount, winit::WinitPlugin};
use bevy::{light::CascadeShadowConfigBuilder, time::TimeUpdateStrategy, window::ExitCondition};
use bevy_throng::{Character3d, CharacterAsset, Play, Plays, ThrongPlugin, Tint};
use std::f32::consts::TAU;

const USAGE: &str = "usage: bevy [--headless [--out FILE.png]] [--frames COUNT]";
const SHIRTS: [Srgba; 7] = [RED_400, AMBER_400, TEAL_600, SKY_800, STONE_200, LIME_700, ROSE_700];
/// The clip, the number of people, and the radius and speed of their circle, in m and m/s.
#[rustfmt::skip]
const CIRCLES: [(&str, usize, f32, f32); 8] = [
    ("Wave", 22, 4.6, 0.0), ("Idle", 34, 6.0, 0.0), ("Wave", 40, 7.3, 0.0), ("Walk", 36, 9.4, 1.2),
    ("Walk", 42, 11.0, -1.2), ("Walk", 44, 12.6, 1.2), ("Run", 24, 16.8, 3.1),
    ("Run", 20, 18.4, 3.1),
];

fn main() -> Result<AppExit> {
    let (mut headless, mut out, mut frames) = (false, "bevy.png".to_owned(), None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match &*arg {
            "--headless" => headless = true,
            "--out" => out = args.next().ok_or(USAGE)?,
            "--frames" => frames = Some(args.next().ok_or(USAGE)?.parse()?),
            _ => return Err(USAGE.into()),
        }
    }
    let last = move |frame: Res<FrameCount>| Some(frame.0) == frames.or(headless.then_some(20));
    let exit = |mut exit: MessageWriter<AppExit>| _ = exit.write(AppExit::Success);
    let mut app = App::new();
    app.add_plugins(ThrongPlugin::default()) // before Bevy's plugins, which open the device
        .add_systems(Startup, (scene, people))
        .add_systems(Update, walk);
    if headless {
        let (primary_window, exit_condition) = (None, ExitCondition::DontExit);
        let no_window = WindowPlugin { primary_window, exit_condition, ..default() };
        app.add_plugins(DefaultPlugins.set(no_window).disable::<WinitPlugin>());
        let picture = Image::new_target_texture(960, 540, TextureFormat::Rgba8UnormSrgb, None);
        let target = RenderTarget::from(app.world_mut().add_asset(picture));
        let aim = move |mut camera: Single<&mut RenderTarget>| **camera = target.clone();
        let save = move |target: Single<&RenderTarget>, mut commands: Commands| {
            commands.spawn(Screenshot(target.clone())).observe(save_to_disk(out.clone()));
        };
        app.add_plugins(ScheduleRunnerPlugin::run_loop(default()))
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
            .add_systems(PostStartup, aim)
            .add_systems(Update, save.run_if(last))
            .add_systems(Last, exit.run_if(any_with_component::<Captured>));
    } else {
        app.add_plugins(DefaultPlugins).add_systems(Update, exit.run_if(last));
    }
    Ok(app.run())
}

fn scene(world: &mut World) {
    let mut images = world.resource_mut::<Assets<Image>>();
    let (top, middle, bottom) = (BLUE_300, STONE_300, STONE_500);
    let mut sky = EnvironmentMapLight::hemispherical_gradient(&mut images, top, middle, bottom);
    sky.intensity = 1800.0;
    let lens = Projection::from(PerspectiveProjection { fov: 0.5, ..default() });
    let from = Transform::from_xyz(4.0, 15.0, 37.0).looking_at(Vec3::Y * -0.4, Vec3::Y);
    world.spawn((Camera3d::default(), Hdr, Tonemapping::AcesFitted, lens, sky, from));
    let sun = DirectionalLight { color: AMBER_100.into(), shadow_maps_enabled: true, ..default() };
    let cascades = CascadeShadowConfigBuilder { first_cascade_far_bound: 30.0, ..default() };
    let from = Transform::from_xyz(-9.0, 5.5, -3.0).looking_at(Vec3::ZERO, Vec3::Y);
    world.spawn((sun, cascades.build(), from));
    let mut add = |mesh: Mesh, color: Srgba, at: Transform| {
        let material = StandardMaterial { base_color: color.into(), reflectance: 0.1, ..default() };
        let (mesh, material) = (world.add_asset(mesh), world.add_asset(material));
        world.spawn((Mesh3d(mesh), MeshMaterial3d::<StandardMaterial>(material), at));
    };
    let flat = |y| Transform::from_xyz(0.0, y, 0.0).looking_to(Vec3::NEG_Y, Vec3::Z);
    add(Rectangle::new(400.0, 400.0).into(), Srgba::rgb(0.63, 0.58, 0.51), flat(0.0));
    let track = Annulus::new(15.6, 19.6).mesh().resolution(128).into();
    add(track, Srgba::rgb(0.56, 0.3, 0.22), flat(0.01));
    for pillar in 0..12 {
        let place = about_y(TAU * pillar as f32 / 12.0) * Transform::from_xyz(0.0, 1.5, 14.3);
        add(Cuboid::new(0.8, 3.0, 0.8).into(), STONE_200, place);
    }
    for step in [0.0, 1.0, 2.0, 3.0, 4.0] {
        let place = about_y(0.5 * step) * Transform::from_xyz(0.0, 0.4 + 0.8 * step, 0.0);
        add(Cuboid::new(4.6 - step, 0.8, 4.6 - step).into(), ORANGE_400, place);
    }
}

/// Someone on a circle around the boxes: the angle at first, the radius in m, the speed in m/s.
#[derive(Component)]
struct Circle(f32, f32, f32);

fn people(mut commands: Commands, mut characters: ResMut<Assets<CharacterAsset>>) -> Result {
    let mannequin = Character3d(characters.add(CharacterAsset::mannequin()?));
    let people = CIRCLES.into_iter().flat_map(|it| std::iter::repeat_n(it, it.1).enumerate());
    for (number, (at, (clip, count, radius_m, speed_m_s))) in people.enumerate() {
        let random = |seed: f32| (number as f32 * seed).fract();
        let plays = Plays::new(Play::new(clip).offset_s(f64::from(random(0.569))));
        let tint = Tint(SHIRTS[(random(0.381) * SHIRTS.len() as f32) as usize].into());
        let angle_rad = TAU * (at as f32 + 0.6 * random(0.618)) / count as f32;
        let circle = Circle(angle_rad, radius_m + 0.9 * random(0.754), speed_m_s);
        commands.spawn((mannequin.clone(), plays, tint, circle));
    }
    Ok(())
}

/// Moves those who walk. The others look at the boxes. Characters face +Z, Bevy's forward is -Z.
fn walk(time: Res<Time>, mut people: Query<(&Circle, &mut Transform)>) {
    for (&Circle(start_rad, radius_m, speed_m_s), mut place) in &mut people {
        let turn = about_y(start_rad + speed_m_s * time.elapsed_secs() / radius_m);
        let back = if speed_m_s == 0.0 { Vec3::Z } else { Vec3::X * -speed_m_s };
        place.set_if_neq(turn * Transform::from_xyz(0.0, 0.0, radius_m).looking_to(back, Vec3::Y));
    }
}

fn about_y(angle_rad: f32) -> Transform {
    Transform::from_rotation(Quat::from_rotation_y(angle_rad))
}
