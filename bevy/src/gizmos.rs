//! Skeletons and bounds, drawn with Bevy's gizmos.

use crate::components::Instance;
use crate::state::Throng;
use crate::step::shown_s;
use crate::systems::ThrongSystems;
use bevy::app::{App, PostUpdate};
use bevy::color::Color;
use bevy::ecs::prelude::*;
use bevy::gizmos::AppGizmoBuilder;
use bevy::gizmos::config::{GizmoConfig, GizmoConfigGroup, GizmoConfigStore};
use bevy::gizmos::gizmos::Gizmos;
use bevy::math::{Isometry3d, Vec3};
use bevy::prelude::{Reflect, ReflectComponent};
use bevy::time::{Fixed, Time};
use throng::glam::Affine3A;

/// Draws the skeleton of a character: a line from each joint to its parent.
#[derive(Component, Reflect, Debug, Clone, Copy, PartialEq)]
#[reflect(Component, Debug, Clone, PartialEq)]
pub struct ShowSkeleton(pub Color);

/// Draws the sphere in which a character is culled.
#[derive(Component, Reflect, Debug, Clone, Copy, PartialEq)]
#[reflect(Component, Debug, Clone, PartialEq)]
pub struct ShowBounds(pub Color);

/// The gizmos of [`ShowSkeleton`] and [`ShowBounds`], for Bevy's [`GizmoConfigStore`].
///
/// By default, they are drawn in front of everything: skeletons lie inside of bodies.
#[derive(Reflect, GizmoConfigGroup, Debug, Clone, Copy, Default)]
pub struct CharacterGizmos;

pub(crate) fn build(app: &mut App) {
    app.register_type::<ShowSkeleton>()
        .register_type::<ShowBounds>();
    if app.world().contains_resource::<GizmoConfigStore>() {
        let in_front = GizmoConfig {
            depth_bias: -1.0,
            ..GizmoConfig::default()
        };
        app.insert_gizmo_config(CharacterGizmos, in_front)
            .add_systems(PostUpdate, draw.after(ThrongSystems::Show));
    }
}

fn draw(
    skeletons: Query<(&Instance, &ShowSkeleton)>,
    bounds: Query<(&Instance, &ShowBounds)>,
    time: Res<Time<Fixed>>,
    throng: Res<Throng>,
    mut gizmos: Gizmos<CharacterGizmos>,
) {
    if skeletons.is_empty() && bounds.is_empty() {
        return;
    }
    let Ok(lock) = throng.lock() else {
        return;
    };
    let time_s = shown_s(&time, &lock);
    for (id, show) in &skeletons {
        let Ok(it) = lock.instance(id.id()) else {
            continue;
        };
        let Ok(character) = throng::Crowd::character(&lock, it.character()) else {
            continue;
        };
        let joints = character.skeleton().joints();
        let mut pose = vec![Affine3A::IDENTITY; joints.len()];
        if it.model_pose(time_s, &mut pose).is_err() {
            continue;
        }
        let world = it.transform_at(time_s);
        let at = |joint: usize| pose.get(joint).map(|of| point(&(world * *of)));
        for (number, joint) in joints.iter().enumerate() {
            let parent = joint.parent.and_then(|parent| at(parent.index()));
            if let (Some(from), Some(to)) = (at(number), parent) {
                gizmos.line(from, to, show.0);
            }
        }
    }
    for (id, show) in &bounds {
        if let Ok(it) = lock.instance(id.id()) {
            let sphere = it.bounding_sphere();
            let moved = it.transform_at(time_s) * it.transform().inverse();
            let center = moved.transform_point3(sphere.center).to_array();
            let place = Isometry3d::from_translation(Vec3::from_array(center));
            gizmos.sphere(place, sphere.radius, show.0);
        }
    }
}

fn point(of: &Affine3A) -> Vec3 {
    Vec3::from_array(of.translation.to_array())
}
