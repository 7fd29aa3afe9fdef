//! Characters as targets of `bevy_picking`.

use crate::components::{Character3d, Instance};
use crate::convert::layers;
use crate::said::log_seldom;
use crate::state::Throng;

use bevy::camera::Camera;
use bevy::camera::visibility::RenderLayers;
use bevy::ecs::prelude::*;
use bevy::math::Vec3;
use bevy::picking::Pickable;
use bevy::picking::backend::ray::RayMap;
use bevy::picking::backend::{HitData, PointerHits};
use log::Level;
use throng::InstanceHit;
use throng::mesh::PartId;
use throng::skin::{CullMode, Ray};

/// The part of a character that a pointer hits, in [`HitData::extra_as`].
///
/// ```
/// use bevy::picking::events::{Pointer, Press};
/// use bevy::prelude::*;
/// use bevy_throng::{Character3d, CharacterHit};
///
/// /// An observer: `app.add_observer(pressed)`, or of one entity.
/// fn pressed(press: On<Pointer<Press>>, people: Query<&Name, With<Character3d>>) {
///     let Ok(name) = people.get(press.entity) else { return };
///     let part = press.hit.extra_as::<CharacterHit>().and_then(|hit| hit.part);
///     println!("{name} was pressed, on part {part:?}");
/// }
/// # let _ = pressed;
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CharacterHit {
    /// The part of the character, if the primitive belongs to one.
    pub part: Option<PartId>,
    /// The primitive, and the triangle in it.
    pub triangle: (usize, usize),
}

/// Finds the characters under all pointers: their triangles, as they are posed.
pub(crate) fn pick(
    rays: Res<RayMap>,
    cameras: Query<(&Camera, Option<&RenderLayers>)>,
    characters: Query<Option<&Pickable>, (With<Character3d>, With<Instance>)>,
    throng: Res<Throng>,
    mut hits: MessageWriter<PointerHits>,
) {
    if rays.map.is_empty() || characters.is_empty() {
        return;
    }
    let Ok(mut lock) = throng.lock() else {
        return;
    };
    // True if it hides what is behind it. Rays pass if it is no character, or cannot be hovered.
    let blocks = |entity: Entity| match characters.get(entity).ok()? {
        None => Some(true),
        Some(it) => it.is_hoverable.then_some(it.should_block_lower),
    };
    for (id, ray) in &rays.map {
        let Ok((camera, own)) = cameras.get(id.camera) else {
            continue;
        };
        let line = Ray {
            origin: ray.origin.to_array().into(),
            direction: ray.direction.to_array().into(),
        };
        let mask = layers(own);
        let mut find = || -> Result<Vec<InstanceHit>, throng_wgpu::Error> {
            let nearest = lock.pick(&line, CullMode::default(), mask)?;
            let entity = nearest.and_then(|hit| lock.entity(hit.instance));
            // All others are posed only if the nearest one does not hide them.
            match nearest.is_none() || entity.and_then(blocks) == Some(true) {
                true => Ok(nearest.into_iter().collect()),
                false => lock.pick_all(&line, CullMode::default(), mask),
            }
        };
        let found = match find() {
            Ok(found) => found,
            Err(why) => {
                log_seldom(Level::Error, &format!("characters cannot be picked: {why}"));
                continue;
            }
        };
        let mut picks: Vec<(Entity, HitData)> = Vec::new();
        for found in found {
            let entity = lock.entity(found.instance);
            let Some((entity, blocks)) = entity.and_then(|it| Some((it, blocks(it)?))) else {
                continue;
            };
            // A character has a hit for each triangle, the nearest one first.
            if picks.iter().any(|(other, _)| *other == entity) {
                continue;
            }
            let at = Vec3::from_array(found.position.to_array());
            let extra = CharacterHit {
                part: found.part,
                triangle: (found.hit.primitive, found.hit.triangle),
            };
            let depth = found.hit.distance as f32;
            let data = HitData::new_with_extra(id.camera, depth, Some(at), None, extra);
            picks.push((entity, data));
            if blocks {
                break;
            }
        }
        if !picks.is_empty() {
            hits.write(PointerHits::new(id.pointer, picks, camera.order as f32));
        }
    }
}
