//! The views of a frame: cameras, and the shadow maps of their lights.

use crate::convert::{SHADOW_SHIFT, layers};
use crate::said::log_seldom;
use crate::state::Throng;
use crate::step::shown_s;

use bevy::camera::primitives::{CUBE_MAP_FACES, CubeMapFace};
use bevy::camera::visibility::{RenderLayers, ViewVisibility};
use bevy::camera::{Camera, Camera3d};
use bevy::core_pipeline::prepass::MotionVectorPrepass;
use bevy::diagnostic::FrameCount;
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use bevy::light::{
    Cascades, DirectionalLight, DirectionalLightShadowMap, PointLight, PointLightShadowMap,
    SpotLight, spot_light_clip_from_view, spot_light_world_from_view,
};
use bevy::math::{Mat4, URect, UVec2};
use bevy::platform::collections::HashMap;
use bevy::render::Extract;
use bevy::render::camera::TemporalJitter;
use bevy::render::sync_world::MainEntity;
use bevy::render::view::{RetainedViewEntity, WindowSurfaces};
use bevy::time::{Fixed, Time};
use bevy::transform::components::{GlobalTransform, Transform};
use core::f32::consts::FRAC_PI_2;
use log::Level;
use throng::ash::vk;
use throng::glam::{Vec2, Vec3};
use throng::{Culling, Receivers, View, ViewId};

/// The views of the frame that is prepared, by what Bevy calls them.
#[derive(Resource, Default)]
pub(crate) struct Prepared {
    pub(super) views: HashMap<RetainedViewEntity, ViewId>,
    /// The index of each camera's history.
    histories: HashMap<MainEntity, u32>,
}

type Cameras<'w, 's> = Query<
    'w,
    's,
    (
        Entity,
        &'static Camera,
        &'static GlobalTransform,
        Option<&'static RenderLayers>,
        Has<MotionVectorPrepass>,
        Has<TemporalJitter>,
    ),
    With<Camera3d>,
>;
type Suns<'w, 's> = Query<
    'w,
    's,
    (
        Entity,
        &'static DirectionalLight,
        &'static Cascades,
        Option<&'static RenderLayers>,
        &'static ViewVisibility,
    ),
>;

/// The lights whose shadow maps all cameras share.
#[derive(SystemParam)]
pub(super) struct Lamps<'w, 's> {
    points: Query<
        'w,
        's,
        (
            Entity,
            &'static PointLight,
            &'static GlobalTransform,
            Option<&'static RenderLayers>,
            &'static ViewVisibility,
        ),
    >,
    spots: Query<
        'w,
        's,
        (
            Entity,
            &'static SpotLight,
            &'static GlobalTransform,
            Option<&'static RenderLayers>,
            &'static ViewVisibility,
        ),
    >,
    point_map: Res<'w, PointLightShadowMap>,
    spot_map: Res<'w, DirectionalLightShadowMap>,
}

impl Lamps<'_, '_> {
    /// Their views, as Bevy makes them: not of those that no camera sees.
    fn views(&self) -> impl Iterator<Item = (RetainedViewEntity, View)> {
        let points = self
            .points
            .iter()
            .filter(|(_, light, .., seen)| light.shadow_maps_enabled && seen.get());
        let edge = self.point_map.size;
        let points = points.flat_map(move |(entity, light, place, own, _)| {
            let near = light.shadow_map_near_z;
            let at = place.translation();
            let projection = Mat4::perspective_infinite_reverse_rh(FRAC_PI_2, 1.0, near);
            (0..)
                .zip(CUBE_MAP_FACES)
                .map(move |(face, CubeMapFace { target, up })| {
                    let turned = Transform::from_translation(at).looking_to(target, up);
                    let clip = projection * turned.to_matrix().inverse();
                    let key = RetainedViewEntity::new(entity.into(), None, face);
                    (key, lamp(clip, at, edge, own))
                })
        });
        let spots = self
            .spots
            .iter()
            .filter(|(_, light, .., seen)| light.shadow_maps_enabled && seen.get());
        let spots = spots.map(|(entity, light, place, own, _)| {
            let world_from_view = Mat4::from(spot_light_world_from_view(place));
            let (angle, near) = (light.outer_angle, light.shadow_map_near_z);
            let clip = spot_light_clip_from_view(angle, near) * world_from_view.inverse();
            let key = RetainedViewEntity::new(entity.into(), None, 0);
            (
                key,
                lamp(clip, place.translation(), self.spot_map.size, own),
            )
        });
        points.chain(spots)
    }
}

fn lamp(clip: Mat4, at: bevy::math::Vec3, edge: usize, own: Option<&RenderLayers>) -> View {
    let rect = URect::from_corners(UVec2::ZERO, UVec2::splat(edge as u32));
    View {
        mask: layers(own) << SHADOW_SHIFT,
        flip_y: true,
        ..View::shadow_of(matrix(clip), vector(at), viewport(rect))
    }
}

/// Prepares the picture: poses and lists of all views.
///
/// It submits, which nothing may do while Bevy drops the surface of a window: wgpu waits for the
/// device then, and does not lock the queue. So it takes the surfaces, as Bevy's system does.
pub(super) fn prepare(
    cameras: Extract<Cameras>,
    (suns, lamps): (Extract<Suns>, Extract<Lamps>),
    (fixed, count): (Extract<Res<Time<Fixed>>>, Extract<Res<FrameCount>>),
    throng: Res<Throng>,
    _surfaces: Option<Res<WindowSurfaces>>,
    mut prepared: ResMut<Prepared>,
) {
    prepared.views.clear();
    let state = &mut *throng.state();
    if state.crowd.is_none() {
        return;
    }
    let frees = state.frees > 0;
    state.frees = state.frees.saturating_sub(1);
    if state.characters.is_empty() && !frees {
        return;
    }
    let (mut keys, mut views) = (Vec::new(), Vec::new());
    let seen = &mut prepared.histories;
    seen.retain(|camera, _| cameras.get(camera.id()).is_ok_and(|camera| camera.4));
    for (entity, camera, place, own, moves, jitters) in &cameras {
        let Some(rect) = camera.physical_viewport_rect() else {
            continue;
        };
        if !camera.is_active || rect.is_empty() {
            continue;
        }
        let mask = layers(own);
        let clip_from_view = camera.clip_from_view();
        let clip_from_world = clip_from_view * place.to_matrix().inverse();
        let is_parallel = clip_from_view.w_axis.w == 1.0;
        let behind = if is_parallel { FAR_M } else { 0.0 };
        let eye = place.translation() + place.back() * behind;
        let mut view = View {
            mask,
            flip_y: true,
            ..View::new(matrix(clip_from_world), vector(eye), viewport(rect))
        };
        if moves {
            view.history = Some(history(seen, entity.into()));
        }
        if jitters && !is_parallel {
            view.eye.jitter = jitter(count.0, rect.size());
        }
        let receiver = views.len() as u32;
        keys.push(RetainedViewEntity::new(entity.into(), None, 0));
        views.push(view);
        for (light, sun, cascades, light_layers, seen_sun) in &suns {
            let light_mask = layers(light_layers);
            let has_maps = sun.shadow_maps_enabled && seen_sun.get();
            let own = cascades.cascades.get(&entity);
            let own = own.filter(|_| has_maps && light_mask & mask != 0);
            for (index, cascade) in own.into_iter().flatten().enumerate() {
                let edge = (2.0 / cascade.clip_from_cascade.x_axis.x / cascade.texel_size).round();
                let rect = URect::from_corners(UVec2::ZERO, UVec2::splat(edge as u32));
                let towards = -cascade.world_from_cascade.z_axis.truncate();
                let light_at = eye - towards * FAR_M;
                keys.push(RetainedViewEntity::new(
                    light.into(),
                    Some(entity.into()),
                    index as u32,
                ));
                let view = View::shadow_of(
                    matrix(cascade.clip_from_world),
                    vector(light_at),
                    viewport(rect),
                );
                views.push(View {
                    mask: light_mask << SHADOW_SHIFT,
                    flip_y: true,
                    culling: Culling::Sides,
                    receivers: Some(Receivers {
                        filter_texels: FILTER_TEXELS,
                        ..Receivers::of(receiver)
                    }),
                    ..view
                });
            }
        }
    }
    for (key, view) in lamps.views() {
        keys.push(key);
        views.push(view);
    }
    if views.is_empty() && !frees {
        return;
    }
    let most = throng::Crowd::MAX_VIEWS as usize;
    if views.len() > most {
        let count = views.len();
        let text = format!("{count} views show people, of which {most} are drawn");
        log_seldom(Level::Error, &text);
        keys.truncate(most);
        views.truncate(most);
    }
    let histories = seen.values().max().map_or(0, |last| last + 1);
    let grown = state.grow_views(views.len() as u32, histories);
    let Some(crowd) = &mut state.crowd else {
        return;
    };
    let time_s = shown_s(&fixed, crowd);
    let frame = || -> Result<throng::Views, throng_wgpu::Error> {
        grown?;
        crowd.wait_for_frame()?;
        crowd.begin_frame(time_s)?.prepare(&views)
    };
    match frame() {
        Ok(ids) => prepared
            .views
            .extend(keys.into_iter().zip(ids.iter().copied())),
        Err(why) => log_seldom(Level::Error, &format!("the crowd is not drawn: {why}")),
    }
}

/// The texels in which Bevy's shaders look for shadows: 2.5 around a point that is moved by up to
/// 1.8 times the diagonal of a texel, and half as much again.
const FILTER_TEXELS: f32 = 8.0;
/// A distance from which light of the sun is parallel.
const FAR_M: f32 = 1e5;

/// The index of a camera's history: a free one, if it is new.
fn history(histories: &mut HashMap<MainEntity, u32>, camera: MainEntity) -> u32 {
    let taken: Vec<_> = histories.values().copied().collect();
    let free = (0..).find(|index| !taken.contains(index)).unwrap_or(0);
    *histories.entry(camera).or_insert(free)
}

/// The jitter of Bevy's temporal anti-aliasing in a frame, in normalised device coordinates: that
/// of `prepare_taa_jitter`, which runs later.
fn jitter(frame: u32, size: UVec2) -> Vec2 {
    const OFFSETS: [[f32; 2]; 8] = [
        [0.0, 0.0],
        [0.0, -0.166_666_66],
        [-0.25, 0.166_666_69],
        [0.25, -0.388_888_9],
        [-0.375, -0.055_555_552],
        [0.125, 0.277_777_8],
        [-0.125, -0.277_777_8],
        [0.375, 0.055_555_582],
    ];
    let [x, y] = OFFSETS[frame as usize % OFFSETS.len()];
    Vec2::new(-2.0 * x / size.x as f32, 2.0 * y / size.y as f32)
}

fn matrix(of: Mat4) -> throng::glam::Mat4 {
    throng::glam::Mat4::from_cols_array(&of.to_cols_array())
}

fn vector(of: bevy::math::Vec3) -> Vec3 {
    Vec3::from_array(of.to_array())
}

fn viewport(rect: URect) -> vk::Rect2D {
    let size = rect.size();
    vk::Rect2D {
        offset: vk::Offset2D {
            x: rect.min.x as i32,
            y: rect.min.y as i32,
        },
        extent: vk::Extent2D {
            width: size.x,
            height: size.y,
        },
    }
}
