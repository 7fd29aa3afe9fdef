//! A crowd in Bevy: the scene is Bevy's, the people throng's.

mod scene;

use bevy::camera::RenderTarget;
use bevy::color::palettes::tailwind::*;
use bevy::render::view::screenshot::{Captured, Screenshot, save_to_disk};
use bevy::{app::ScheduleRunnerPlugin, prelude::*, time::TimeUpdateStrategy, winit::WinitPlugin};
use bevy::{diagnostic::FrameCount, render::render_resource::TextureFormat, window::ExitCondition};
use bevy_throng::{Character3d, CharacterAsset, Play, Plays, ThrongPlugin, Tint};
use scene::turned;
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
    let frames = frames.unwrap_or(if headless { 20 } else { u32::MAX });
    let last = move |frame: Res<FrameCount>| frame.0 == frames;
    let exit = |mut exit: MessageWriter<AppExit>| _ = exit.write(AppExit::Success);
    let mut app = App::new();
    app.add_plugins(ThrongPlugin::default()) // before Bevy's plugins, which open the device
        .add_systems(Startup, (scene::view, scene::boxes, people))
        .add_systems(Update, (walk, orbit));
    if headless {
        let (primary_window, exit_condition) = (None, ExitCondition::DontExit);
        let no_window = WindowPlugin { primary_window, exit_condition, ..default() };
        let save = move |picture: Single<&RenderTarget>, mut commands: Commands| {
            commands.spawn(Screenshot(picture.clone())).observe(save_to_disk(out.clone()));
        };
        app.add_plugins(DefaultPlugins.set(no_window).disable::<WinitPlugin>())
            .add_plugins(ScheduleRunnerPlugin::run_loop(default()))
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
            .add_systems(PostStartup, draw_into_picture)
            .add_systems(Update, save.run_if(last))
            .add_systems(Last, exit.run_if(any_with_component::<Captured>));
    } else {
        app.add_plugins(DefaultPlugins).add_systems(Update, exit.run_if(last));
    }
    Ok(app.run())
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
        let turn = turned(start_rad + speed_m_s * time.elapsed_secs() / radius_m);
        let back = if speed_m_s == 0.0 { Vec3::Z } else { Vec3::X * -speed_m_s };
        let at = Transform::from_xyz(0.0, 0.0, radius_m).looking_to(back, Vec3::Y);
        place.set_if_neq(turn * at);
    }
}

fn orbit(time: Res<Time>, mut camera: Single<&mut Transform, With<Camera3d>>) {
    let from = Transform::from_xyz(4.0, 15.0, 37.0).looking_at(Vec3::Y * -0.4, Vec3::Y);
    **camera = turned(0.05 * time.elapsed_secs()) * from;
}

fn draw_into_picture(mut camera: Single<&mut RenderTarget>, mut images: ResMut<Assets<Image>>) {
    let picture = Image::new_target_texture(960, 540, TextureFormat::Rgba8UnormSrgb, None);
    **camera = RenderTarget::Image(images.add(picture).into());
}
