//! Apps without a window, and the pictures of their cameras.

pub(crate) mod messages;

use bevy::camera::RenderTarget;
use bevy::core_pipeline::tonemapping::{DebandDither, Tonemapping};
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::render::render_resource::{TextureFormat, TextureUsages};
use bevy::time::TimeUpdateStrategy;
use bevy_throng::{Character3d, CharacterAsset, Instance, Play, Plays, ThrongPlugin, TimeScale};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const SIZE: UVec2 = UVec2::new(256, 192);

/// An app with throng, whose clock makes a step of the game in each update.
pub(crate) fn app() -> App {
    with_plugin(ThrongPlugin::default())
}

pub(crate) fn with_plugin(plugin: ThrongPlugin) -> App {
    with(plugin, "assets".into())
}

fn with(plugin: ThrongPlugin, assets: PathBuf) -> App {
    messages::catch();
    let mut app = App::new();
    app.add_plugins((
        plugin,
        DefaultPlugins
            .build()
            .disable::<bevy::log::LogPlugin>()
            .disable::<bevy::winit::WinitPlugin>()
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: bevy::window::ExitCondition::DontExit,
                ..default()
            })
            .set(AssetPlugin {
                file_path: assets.display().to_string(),
                ..default()
            })
            .set(RenderPlugin {
                synchronous_pipeline_compilation: true,
                ..default()
            }),
    ))
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
    .insert_resource(ClearColor(Color::srgb(0.5, 0.6, 0.8)))
    .init_resource::<Picture>();
    start(&mut app);
    app
}

fn start(app: &mut App) {
    while app.plugins_state() == bevy::app::PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
}

/// The last picture that was read back.
#[derive(Resource, Default)]
pub(crate) struct Picture {
    pub(crate) rgba: Vec<u8>,
    pub(crate) count: u32,
}

/// A camera at a place, and the picture that it draws into.
pub(crate) fn camera(app: &mut App, from: Vec3, at: Vec3) -> Entity {
    let mut images = app.world_mut().resource_mut::<Assets<Image>>();
    let mut image = Image::new_target_texture(SIZE.x, SIZE.y, TextureFormat::Rgba8UnormSrgb, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    let image = images.add(image);
    app.world_mut()
        .spawn(Readback::texture(image.clone()))
        .observe(|read: On<ReadbackComplete>, mut picture: ResMut<Picture>| {
            let stride = read.data.len() / SIZE.y as usize;
            let rows = read.data.chunks_exact(stride);
            picture.rgba = rows
                .flat_map(|row| &row[..SIZE.x as usize * 4])
                .copied()
                .collect();
            picture.count += 1;
        });
    let camera = (
        Camera3d::default(),
        RenderTarget::Image(image.into()),
        Msaa::Off,
        Tonemapping::None,
        DebandDither::Disabled,
        Transform::from_translation(from).looking_at(at, Vec3::Y),
    );
    app.world_mut().spawn(camera).id()
}

pub(crate) fn sun(app: &mut App) -> Entity {
    let light = DirectionalLight {
        illuminance: 8000.0,
        shadow_maps_enabled: true,
        ..default()
    };
    let place = Transform::from_xyz(3.0, 8.0, 5.0).looking_at(Vec3::ZERO, Vec3::Y);
    app.world_mut().spawn((light, place)).id()
}

pub(crate) fn mesh(app: &mut App, mesh: impl Into<Mesh>, color: Color, place: Transform) -> Entity {
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    let mut materials = app.world_mut().resource_mut::<Assets<StandardMaterial>>();
    let material = materials.add(color);
    let parts = (Mesh3d(mesh), MeshMaterial3d(material), place);
    app.world_mut().spawn(parts).id()
}

/// The character that is built in.
pub(crate) fn mannequin(app: &mut App) -> Character3d {
    let character = throng::builtin::mannequin().unwrap().character;
    let mut assets = app.world_mut().resource_mut::<Assets<CharacterAsset>>();
    Character3d(assets.add(CharacterAsset::new(character)))
}

/// Somebody who stands still in a pose of a clip.
pub(crate) fn person(
    app: &mut App,
    character: &Character3d,
    clip: &'static str,
    at: Vec3,
) -> Entity {
    let plays = Plays::new(Play::new(clip).offset_s(0.3));
    let place = Transform::from_translation(at);
    let parts = (character.clone(), plays, TimeScale(0.0), place);
    app.world_mut().spawn(parts).id()
}

/// The name of the last joint of the built-in character.
pub(crate) fn last_joint() -> String {
    let character = throng::builtin::mannequin().unwrap().character;
    let last = character.skeleton().joints().last();
    last.unwrap().name.to_string()
}

/// The id of somebody's instance.
pub(crate) fn id(app: &App, entity: Entity) -> throng::InstanceId {
    app.world().get::<Instance>(entity).unwrap().id()
}

/// A file of the shared models, or `None` where there are none.
pub(crate) fn model(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("THRONG_ASSETS");
    if folder.is_none() {
        println!("THRONG_ASSETS is not set: {name} is not tested");
    }
    folder.map(|folder| PathBuf::from(folder).join(name))
}

/// An app whose assets lie in a folder.
pub(crate) fn with_assets(folder: impl Into<PathBuf>) -> App {
    with(ThrongPlugin::default(), folder.into())
}

pub(crate) fn run(app: &mut App, updates: usize) {
    for _ in 0..updates {
        app.update();
    }
}

/// Runs this many updates, and on until a picture of one of the last ones is there.
pub(crate) fn picture(app: &mut App, updates: usize) -> Vec<u8> {
    run(app, updates);
    let from = app.world().resource::<Picture>().count + 3;
    for _ in 0..50 {
        app.update();
        std::thread::sleep(Duration::from_millis(1));
        let picture = app.world().resource::<Picture>();
        if picture.count >= from {
            return picture.rgba.clone();
        }
    }
    panic!("no picture was read back");
}

/// Writes a picture where `THRONG_PICTURES` says.
pub(crate) fn save(name: &str, rgba: &[u8]) {
    let Some(folder) = std::env::var_os("THRONG_PICTURES") else {
        return;
    };
    let file = std::fs::File::create(std::path::Path::new(&folder).join(name)).unwrap();
    let mut encoder = png::Encoder::new(file, SIZE.x, SIZE.y);
    encoder.set_color(png::ColorType::Rgba);
    encoder
        .write_header()
        .unwrap()
        .write_image_data(rgba)
        .unwrap();
}

/// A built-in person with these components.
pub(crate) fn spawn(app: &mut App, parts: impl Bundle) -> Entity {
    let character = mannequin(app);
    app.world_mut().spawn((character, parts)).id()
}

/// A handle of a character made by code.
pub(crate) fn asset(
    app: &mut App,
    character: throng::character::Character,
) -> Handle<CharacterAsset> {
    let assets = app.world_mut().resource_mut::<Assets<CharacterAsset>>();
    assets.into_inner().add(CharacterAsset::new(character))
}

/// The built-in character with a state machine that walks.
pub(crate) fn walking() -> throng::character::Character {
    let plain = throng::builtin::mannequin().unwrap().character;
    let text = r#"
        [[state_machine.layer]]
        name = "body"
        entry = "walk"
        state = [{ name = "walk", motion.clip = "Walk" }]
    "#;
    plain.with_animation_toml("test.toml", text).unwrap()
}
