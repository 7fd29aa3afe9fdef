//! The app of a case: its camera, light, ground and foxes, as in Bevy's example `many_foxes`.

use crate::Outcome;
use bevy::camera::RenderTarget;
use bevy::ecs::schedule::{Schedules, SingleThreadedExecutor};
use bevy::prelude::*;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::TextureFormat;
use bevy::render::{ExtractSchedule, RenderApp, RenderPlugin};
use bevy::time::TimeUpdateStrategy;
use bevy::world_serialization::WorldInstanceReady;
use bevy_throng::{Character3d, CharacterAsset, Instance, Play, Plays, ThrongPlugin};
use std::f32::consts::{PI, TAU};
use std::fmt::{Display, Formatter};
use std::time::Duration;

/// The crate that draws the foxes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// There are none, and no plugin of throng.
    Nobody,
    Bevy,
    Throng,
}

/// A load that is measured.
#[derive(Clone, Resource)]
pub(crate) struct Case {
    pub(crate) by: By,
    foxes: usize,
    /// True if the camera sees them.
    seen: bool,
    /// True if they run around. Otherwise, they run on the spot.
    moving: bool,
    shadows: bool,
}

impl Case {
    pub(crate) fn all(test: bool) -> Vec<Self> {
        let nobody = Self {
            by: By::Nobody,
            foxes: 0,
            seen: true,
            moving: true,
            shadows: false,
        };
        let mut all = vec![nobody.clone()];
        let counts: &[usize] = if test { &[10] } else { &[1_000, 10_000] };
        for &foxes in counts {
            for by in [By::Throng, By::Bevy] {
                let drawn = Self {
                    by,
                    foxes,
                    ..nobody
                };
                let away = Self {
                    seen: false,
                    ..drawn.clone()
                };
                let still = Self {
                    moving: false,
                    ..drawn.clone()
                };
                let shadowed = Self {
                    shadows: true,
                    ..drawn.clone()
                };
                all.extend([drawn, away, still]);
                all.extend((foxes <= 1_000).then_some(shadowed));
            }
        }
        all
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.by {
            By::Nobody => return write!(f, "empty Bevy"),
            By::Bevy => write!(f, "Bevy, {} foxes", self.foxes)?,
            By::Throng => write!(f, "throng, {} foxes", self.foxes)?,
        }
        let words = [
            (!self.seen, ", camera looks away"),
            (!self.moving, ", on the spot"),
            (self.shadows, ", with shadows"),
        ];
        for (_, word) in words.into_iter().filter(|(is, _)| *is) {
            f.write_str(word)?;
        }
        Ok(())
    }
}

pub(crate) fn app(case: &Case) -> Outcome<App> {
    let folder = std::env::var("THRONG_ASSETS");
    let folder = folder.map_err(|_| "set THRONG_ASSETS to the folder that has Fox.glb")?;
    let file_path = std::path::absolute(folder)?.to_string_lossy().into_owned();
    let mut app = App::new();
    if case.by == By::Throng {
        app.add_plugins(ThrongPlugin::default());
    }
    app.add_plugins(
        DefaultPlugins
            .build()
            .disable::<bevy::log::LogPlugin>()
            .disable::<bevy::winit::WinitPlugin>()
            .disable::<PipelinedRenderingPlugin>()
            .set(AssetPlugin {
                file_path,
                ..default()
            })
            .set(WindowPlugin {
                primary_window: None,
                exit_condition: bevy::window::ExitCondition::DontExit,
                ..default()
            })
            .set(RenderPlugin {
                synchronous_pipeline_compilation: true,
                ..default()
            }),
    )
    .insert_resource(StaticTransformOptimizations::Disabled)
    .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
    .insert_resource(case.clone())
    .init_resource::<Playing>()
    .add_systems(Startup, (world, foxes))
    .add_systems(Update, turn);
    while app.plugins_state() == bevy::app::PluginsState::Adding {
        bevy::tasks::tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
    app.update();
    on_one_thread(&mut app);
    Ok(app)
}

/// Runs all systems on the thread of the app.
fn on_one_thread(app: &mut App) {
    let apps = app.sub_apps_mut();
    let render = apps
        .sub_apps
        .get_mut(&bevy::app::AppLabel::intern(&RenderApp));
    for app in render.into_iter().chain([&mut apps.main]) {
        let mut schedules = app.world_mut().resource_mut::<Schedules>();
        for (_, schedule) in schedules.iter_mut() {
            schedule.set_executor(SingleThreadedExecutor::new());
        }
        if let Some(extract) = schedules.get_mut(ExtractSchedule) {
            extract.set_apply_final_deferred(false);
        }
    }
}

/// Updates until all foxes run, and a little longer.
pub(crate) fn ready(app: &mut App, case: &Case) -> Outcome {
    const WARM: usize = 6;
    for _ in 0..20_000 {
        app.update();
        let playing = match case.by {
            By::Throng => app.world_mut().query::<&Instance>().iter(app.world()).len(),
            By::Bevy | By::Nobody => app.world().resource::<Playing>().0,
        };
        if playing == case.foxes {
            (0..WARM).for_each(|_| app.update());
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(format!("the foxes of '{case}' were not loaded").into())
}

/// Foxes of Bevy that run.
#[derive(Resource, Default)]
struct Playing(usize);

/// A ring of foxes: its radius in metres, and the speed of its turn in radians per second.
#[derive(Component)]
struct Ring(f32);

const SPACING_M: f32 = 2.0;
const SPEED_M_S: f32 = 2.0;

/// The radii of rings, and how many foxes each has.
fn rings(mut foxes: usize) -> impl Iterator<Item = (f32, usize)> {
    (1..).map_while(move |ring| {
        let radius_m = SPACING_M * ring as f32;
        let here = ((TAU * radius_m / SPACING_M) as usize).min(foxes);
        foxes -= here;
        (here > 0).then_some((radius_m, here))
    })
}

fn world(
    case: Res<Case>,
    mut commands: Commands,
    mut images: ResMut<Assets<Image>>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let radius_m = rings(case.foxes)
        .last()
        .map_or(SPACING_M, |(radius, _)| radius);
    let target = Image::new_target_texture(1280, 720, TextureFormat::Rgba8UnormSrgb, None);
    let from = 0.8 * radius_m * Vec3::new(1.25, 0.5, 1.5);
    let ahead = 0.2 * Vec3::new(from.x, 0.0, from.z) - from;
    let ahead = if case.seen { ahead } else { -ahead };
    commands.spawn((
        Camera3d::default(),
        RenderTarget::Image(images.add(target).into()),
        Msaa::Off,
        Transform::from_translation(from).looking_to(ahead, Vec3::Y),
    ));
    commands.spawn((
        Mesh3d(meshes.add(Plane3d::default().mesh().size(5000.0, 5000.0))),
        MeshMaterial3d(materials.add(Color::srgb(0.3, 0.5, 0.3))),
    ));
    commands.spawn((
        Transform::from_rotation(Quat::from_euler(EulerRot::ZYX, 0.0, 1.0, -PI / 4.0)),
        DirectionalLight {
            shadow_maps_enabled: case.shadows,
            ..default()
        },
        bevy::light::CascadeShadowConfigBuilder {
            first_cascade_far_bound: 0.9 * radius_m,
            maximum_distance: 2.8 * radius_m,
            ..default()
        }
        .build(),
    ));
}

fn foxes(
    case: Res<Case>,
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut graphs: ResMut<Assets<AnimationGraph>>,
) {
    if case.foxes == 0 {
        return;
    }
    let fox: Option<Handle<CharacterAsset>> =
        (case.by == By::Throng).then(|| assets.load("Fox.glb"));
    let own = (case.by == By::Bevy).then(|| {
        let run = assets.load(GltfAssetLabel::Animation(2).from_asset("Fox.glb"));
        let (graph, run) = AnimationGraph::from_clip(run);
        let scene = assets.load(GltfAssetLabel::Scene(0).from_asset("Fox.glb"));
        (AnimationGraphHandle(graphs.add(graph)), run, scene)
    });
    let mut number = 0;
    for (ring, (radius_m, count)) in rings(case.foxes).enumerate() {
        let direction = if ring % 2 == 0 { 1.0 } else { -1.0 };
        let turning = Ring(direction * SPEED_M_S / radius_m);
        let ring = commands
            .spawn((Transform::default(), Visibility::default(), turning))
            .id();
        for place in 0..count {
            let angle = TAU * place as f32 / count as f32;
            let facing = if direction > 0.0 { PI } else { 0.0 };
            let at = Transform::from_xyz(radius_m * angle.cos(), 0.0, radius_m * angle.sin())
                .with_scale(Vec3::splat(0.01))
                .with_rotation(Quat::from_rotation_y(facing - angle));
            number += 1;
            let start_s = number as f32 / 10.0;
            let mut entity = commands.spawn((ChildOf(ring), at));
            if let Some(fox) = &fox {
                let play = Play::new("Run").offset_s(f64::from(start_s));
                entity.insert((Character3d(fox.clone()), Plays::new(play)));
            }
            let Some((graph, run, scene)) = own.clone() else {
                continue;
            };
            let play = move |ready: On<WorldInstanceReady>,
                             mut commands: Commands,
                             children: Query<&Children>,
                             mut players: Query<&mut AnimationPlayer>,
                             mut playing: ResMut<Playing>| {
                for child in children.iter_descendants(ready.entity) {
                    if let Ok(mut player) = players.get_mut(child) {
                        player.play(run).repeat().seek_to(start_s);
                        let parts = (graph.clone(), AnimationTransitions::default());
                        commands.entity(child).insert(parts);
                        playing.0 += 1;
                    }
                }
            };
            entity.insert(WorldAssetRoot(scene)).observe(play);
        }
    }
}

fn turn(case: Res<Case>, time: Res<Time>, mut rings: Query<(&Ring, &mut Transform)>) {
    if !case.moving {
        return;
    }
    for (ring, mut transform) in &mut rings {
        transform.rotate_y(ring.0 * time.delta_secs());
    }
}
