//! Crowds of skinned, animated characters in Bevy.
//!
//! [`ThrongPlugin`] comes before Bevy's plugins. A [`Character3d`] with its [`Plays`] or
//! [`Parameters`] is a character in the world. Bevy's cameras show it, lit by Bevy's lights.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_throng::{Character3d, Plays, ThrongPlugin};
//!
//! fn main() {
//!     App::new()
//!         .add_plugins((ThrongPlugin::default(), DefaultPlugins))
//!         .add_systems(Startup, setup)
//!         .run();
//! }
//!
//! fn setup(mut commands: Commands, assets: Res<AssetServer>) {
//!     commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 1.5, 5.0)));
//!     commands.spawn(DirectionalLight::default());
//!     let knight = assets.load("knight.glb");
//!     commands.spawn((Character3d(knight), Plays::new("Walk")));
//! }
//! ```
//!
//! # Time
//! Characters move in Bevy's fixed steps, in `FixedPostUpdate`: what they play, their state
//! machines, [events](CharacterEvent) and [`RootMotion`]. Pictures show them at the time of the
//! frame, however many steps there are.
//!
//! # Costs
//! Only what changed is handed over in a frame. The GPU poses, culls and draws.

#![allow(
    unused_qualifications,
    reason = "throng has the glam of Bevy or another one, as the program's lock says"
)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)
)]

pub use throng;
pub use throng::{InstanceId, Play, Spawn};
pub use throng_wgpu;

mod asset;
mod components;
mod convert;
mod device;
#[cfg(feature = "gizmos")]
mod gizmos;
#[cfg(feature = "picking")]
mod picking;
mod render;
mod said;
mod state;
mod step;
mod sync;
mod systems;

pub use asset::{CharacterAsset, CharacterLoadError, CharacterSettings};
pub use components::{
    AttachedTo, Character3d, Follows, HiddenParts, Instance, MaterialVariant, Parameters, Plays,
    RootMotion, SecondTint, TimeScale, Tint, UserData,
};
#[cfg(feature = "gizmos")]
pub use gizmos::{CharacterGizmos, ShowBounds, ShowSkeleton};
#[cfg(feature = "picking")]
pub use picking::CharacterHit;
pub use render::Shading;
pub use state::{LockError, Throng, ThrongLock};
pub use step::CharacterEvent;
pub use systems::{ThrongRenderSystems, ThrongSystems};

use bevy::app::{App, FixedPostUpdate, Plugin, PostUpdate};
use bevy::asset::{AssetApp, Assets};
use bevy::camera::visibility::VisibilitySystems;
use bevy::ecs::prelude::*;
use bevy::render::RenderApp;
use bevy::transform::TransformSystems;
use throng::{CrowdDesc, Stages};

/// Crowds in an app. Add it before Bevy's plugins.
///
/// Bevy opens the device as it always does, on Vulkan, and throng's features are added. If there is
/// no device with Vulkan 1.3, this logs why, and the app ends with an error. A program with
/// callbacks of its own in `RawVulkanInitSettings` adds them before this plugin.
#[derive(Debug, Clone)]
pub struct ThrongPlugin {
    /// The description of the crowd: threads, capacities to begin with, and so on.
    ///
    /// By default, the GPU poses and culls, and there are three frames in flight. Take other values
    /// as `CrowdDesc { threads, ..ThrongPlugin::default().crowd }`.
    pub crowd: CrowdDesc,
}

impl Default for ThrongPlugin {
    fn default() -> Self {
        Self {
            crowd: CrowdDesc {
                // One more than Bevy has in flight.
                frames_in_flight: 3,
                stages: Stages::Gpu,
                ..CrowdDesc::default()
            },
        }
    }
}

impl Plugin for ThrongPlugin {
    fn build(&self, app: &mut App) {
        if app.world().contains_resource::<Throng>() {
            log::warn!("ThrongPlugin was added twice; the first one counts");
            return;
        }
        if app.is_plugin_added::<bevy::render::RenderPlugin>() {
            log::error!("ThrongPlugin must be added before Bevy's RenderPlugin (DefaultPlugins)");
        }
        let device = device::prepare(app, &self.crowd);
        app.init_resource::<Throng>()
            .insert_resource(Opened(device))
            .add_message::<CharacterEvent>()
            .register_type::<Character3d>()
            .register_type::<HiddenParts>()
            .register_type::<MaterialVariant>()
            .register_type::<Tint>()
            .register_type::<SecondTint>()
            .register_type::<UserData>()
            .register_type::<TimeScale>()
            .register_type::<RootMotion>()
            .register_type::<AttachedTo>()
            .register_type::<Follows>()
            .configure_sets(
                FixedPostUpdate,
                (ThrongSystems::Act, ThrongSystems::Step).chain(),
            )
            .configure_sets(
                PostUpdate,
                (
                    ThrongSystems::Follow.before(TransformSystems::Propagate),
                    ThrongSystems::Show
                        .after(TransformSystems::Propagate)
                        .after(VisibilitySystems::VisibilityPropagate),
                ),
            )
            .add_systems(
                FixedPostUpdate,
                (
                    (sync::end, sync::act).chain().in_set(ThrongSystems::Act),
                    step::step.in_set(ThrongSystems::Step),
                ),
            )
            .add_systems(
                PostUpdate,
                (
                    (sync::despawn, step::follow)
                        .chain()
                        .in_set(ThrongSystems::Follow),
                    (
                        sync::follow_assets,
                        sync::end,
                        sync::renew,
                        sync::spawn,
                        sync::show,
                    )
                        .chain()
                        .in_set(ThrongSystems::Show),
                ),
            );
        #[cfg(feature = "picking")]
        app.add_systems(
            bevy::app::PreUpdate,
            picking::pick
                .in_set(bevy::picking::PickingSystems::Backend)
                .run_if(resource_exists::<bevy::picking::backend::ray::RayMap>),
        );
    }

    /// A second one does nothing.
    fn is_unique(&self) -> bool {
        false
    }

    /// Bevy's own plugins are there now.
    fn finish(&self, app: &mut App) {
        if !app.world().contains_resource::<Opened>()
            || app.world().contains_resource::<Assets<CharacterAsset>>()
        {
            return;
        }
        app.init_asset::<CharacterAsset>()
            .init_asset_loader::<asset::CharacterLoader>();
        #[cfg(feature = "gizmos")]
        gizmos::build(app);
        let throng = app.world().resource::<Throng>().clone();
        let device = app.world().resource::<Opened>().0.clone();
        let Some(render_app) = app.get_sub_app_mut(RenderApp) else {
            log::error!("throng needs Bevy's RenderPlugin");
            return;
        };
        render_app.insert_resource(throng);
        device::build(render_app, device);
        render::build(render_app);
    }

    /// The device is open now.
    fn cleanup(&self, app: &mut App) {
        if let Some(Opened(device)) = app.world_mut().remove_resource::<Opened>() {
            device::first(app, &device);
        }
    }
}

/// The device of [`ThrongPlugin::build`], for its later calls.
#[derive(Resource)]
struct Opened(device::Device);

/// The examples of README.md are compiled as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
