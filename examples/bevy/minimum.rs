//! The character of a file in Bevy: `minimum FILE`.

use bevy::{asset::UnapprovedPathMode, core_pipeline::tonemapping::Tonemapping, prelude::*};
use bevy_throng::throng::{Id, clip::Clip};
use bevy_throng::{Character3d, Plays, ThrongPlugin};

fn main() -> AppExit {
    // The file may be anywhere, not only in the folder of assets.
    let unapproved_path_mode = UnapprovedPathMode::Allow;
    let assets = AssetPlugin { unapproved_path_mode, ..default() };
    let plugins = (ThrongPlugin::default(), DefaultPlugins.set(assets));
    App::new().add_plugins(plugins).add_systems(Startup, setup).run()
}

fn setup(mut commands: Commands, assets: Res<AssetServer>) -> Result {
    let file = std::env::args().nth(1).ok_or("usage: minimum FILE")?;
    // Bevy's default needs the feature `tonemapping_luts`.
    let camera = (Camera3d::default(), Tonemapping::AcesFitted);
    commands.spawn((camera, Transform::from_xyz(0.0, 1.0, 4.0)));
    commands.spawn(DirectionalLight::default());
    let character = Character3d(assets.load(std::path::absolute(file)?));
    commands.spawn((character, Plays::new(Id::<Clip>::new(0))));
    Ok(())
}
