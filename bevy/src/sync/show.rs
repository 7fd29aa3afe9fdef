//! The places and looks of entities, for pictures.

use super::{Changes, People, Wishes, affine};
use crate::components::{
    AttachedTo, HiddenParts, Instance, MaterialVariant, SecondTint, Tint, UserData,
};
use crate::state::{State, Throng};
use bevy::camera::visibility::{InheritedVisibility, RenderLayers};
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use bevy::light::NotShadowCaster;
use bevy::transform::components::GlobalTransform;
use throng::InstanceId;
use throng::glam::Affine3A;

type Moved = (Changed<GlobalTransform>, Without<AttachedTo>);
type Seen = Or<(
    Changed<InheritedVisibility>,
    Changed<RenderLayers>,
    Changed<NotShadowCaster>,
)>;

/// Components that say how entities look.
#[derive(SystemParam)]
pub(crate) struct Looks<'w, 's> {
    tints: Changes<'w, 's, Tint>,
    second_tints: Changes<'w, 's, SecondTint>,
    words: Changes<'w, 's, UserData>,
    hidden: Changes<'w, 's, HiddenParts>,
    variants: Changes<'w, 's, MaterialVariant>,
}

/// Components that entities lost.
#[derive(SystemParam)]
pub(crate) struct Removed<'w, 's> {
    attached: RemovedComponents<'w, 's, AttachedTo>,
    layers: RemovedComponents<'w, 's, RenderLayers>,
    casts_not: RemovedComponents<'w, 's, NotShadowCaster>,
    tints: RemovedComponents<'w, 's, Tint>,
    second_tints: RemovedComponents<'w, 's, SecondTint>,
    words: RemovedComponents<'w, 's, UserData>,
    hidden: RemovedComponents<'w, 's, HiddenParts>,
    variants: RemovedComponents<'w, 's, MaterialVariant>,
}

/// Hands the places and looks of entities to their instances, for the next picture.
pub(crate) fn show(
    moved: Query<(&Instance, &GlobalTransform), Moved>,
    seen: Query<(&Instance, Wishes), Seen>,
    looks: Looks,
    (mut removed, all, names): (Removed, Query<Wishes>, Query<NameOrEntity>),
    mut places: Local<Vec<(InstanceId, Affine3A)>>,
    throng: Res<Throng>,
) {
    let mut state = throng.state();
    let State {
        crowd,
        instances,
        entities,
        fresh,
        ..
    } = &mut *state;
    let Some(crowd) = crowd else { return };
    let mut people = People::of(crowd);
    // They are placed by their transforms again.
    for entity in removed.attached.read() {
        if let (Some(id), Ok(wishes)) = (instances.get(&entity), all.get(entity))
            && wishes.attached.is_none()
        {
            people.change(&Some(wishes.name), *id, |it| {
                it.detach();
                it.set_transform(&affine(wishes.transform))
            });
        }
    }
    places.clear();
    places.extend(
        moved
            .iter()
            .map(|(id, transform)| (id.0, affine(transform))),
    );
    if people.crowd.set_transforms(&places).is_err() {
        // One of them cannot be moved, or was despawned in the meantime.
        for (id, place) in &places {
            let name = entities.get(id).and_then(|entity| names.get(*entity).ok());
            people.change(&name, *id, |it| it.set_transform(place));
        }
    }
    for (id, wishes) in &seen {
        let is_fresh = wishes.machine && fresh.contains(&wishes.entity);
        let (visible, mask) = (wishes.visibility.get() && !is_fresh, wishes.mask());
        people.change(&Some(wishes.name), id.0, |it| {
            it.set_visible(visible);
            it.set_view_mask(mask);
            Ok(())
        });
    }
    for entity in removed.layers.read().chain(removed.casts_not.read()) {
        if let (Some(id), Ok(wishes)) = (instances.get(&entity), all.get(entity))
            && let Ok(mut it) = people.crowd.instance_mut(*id)
        {
            it.set_view_mask(wishes.mask());
        }
    }
    for entity in removed.tints.read() {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, |it| it.set_tint([1.0; 4]));
        }
    }
    for entity in removed.second_tints.read() {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, |it| {
                it.set_second_tint([1.0; 3])
            });
        }
    }
    for entity in removed.words.read() {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, |it| {
                it.set_user_data(0);
                Ok(())
            });
        }
    }
    for entity in removed.hidden.read() {
        if let Some(id) = instances.get(&entity) {
            people.hide(&names.get(entity).ok(), *id, &[]);
        }
    }
    for entity in removed.variants.read() {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, |it| it.set_variant(None));
        }
    }
    for (name, id, variant) in &looks.variants {
        let variant = Some((&*variant.0).into());
        people.change(&Some(name), id.0, |it| it.set_variant(variant));
    }
    for (name, id, tint) in &looks.tints {
        people.change(&Some(name), id.0, |it| it.set_tint(tint.linear()));
    }
    for (name, id, tint) in &looks.second_tints {
        people.change(&Some(name), id.0, |it| it.set_second_tint(tint.linear()));
    }
    for (name, id, user) in &looks.words {
        people.change(&Some(name), id.0, |it| {
            it.set_user_data(user.0);
            Ok(())
        });
    }
    for (name, id, hidden) in &looks.hidden {
        people.hide(&Some(name), id.0, &hidden.0);
    }
}
