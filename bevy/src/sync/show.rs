//! The places and looks of entities, for pictures.

use super::people::{Changes, People, Wishes};
use crate::components::{
    AttachedTo, HiddenParts, Instance, MaterialVariant, SecondTint, Tint, UserData, Walked,
};
use crate::convert::{affine, thick};
use crate::state::{State, Throng};
use bevy::camera::visibility::{InheritedVisibility, RenderLayers};
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use bevy::light::NotShadowCaster;
use bevy::platform::collections::HashMap;
use bevy::transform::components::{GlobalTransform, Transform};
use throng::InstanceId;
use throng::glam::Affine3A;

type Moved = (
    Changed<GlobalTransform>,
    Without<AttachedTo>,
    Without<Walked>,
);
type WalkerMoved = (Changed<GlobalTransform>, Without<AttachedTo>);
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

/// The places of entities.
#[derive(SystemParam)]
pub(crate) struct Places<'w, 's> {
    moved: Query<'w, 's, (&'static Instance, &'static GlobalTransform), Moved>,
    walkers: Query<'w, 's, Walker, WalkerMoved>,
}

type Walker = (
    &'static Instance,
    &'static GlobalTransform,
    &'static mut Walked,
    &'static Transform,
    Has<ChildOf>,
);

impl Places<'_, '_> {
    /// Calls `each` with those that the crowd does not have yet.
    fn each(&mut self, mut each: impl FnMut(InstanceId, &GlobalTransform)) {
        // Bevy is faster so than as an iterator.
        self.moved.iter().for_each(|(id, place)| each(id.0, place));
        for (id, place, mut walked, own, has_parent) in &mut self.walkers {
            // The crowd itself moved those who walk.
            if has_parent || walked.0 != Some(*own) {
                walked.0 = None;
                each(id.0, place);
            }
        }
    }
}

/// The places that are handed over at a time. They fit into the nearest cache.
const PLACES: usize = 256;

/// Hands the places and looks of entities to their instances, for the next picture.
pub(crate) fn show(
    mut moved: Places,
    seen: Query<(&Instance, Wishes), Seen>,
    looks: Looks,
    names: Query<NameOrEntity>,
    mut places: Local<Vec<(InstanceId, Affine3A)>>,
    throng: Res<Throng>,
) {
    let mut state = throng.state();
    let State {
        crowd,
        entities,
        fresh,
        ..
    } = &mut *state;
    let Some(crowd) = crowd else { return };
    let mut people = People::of(crowd);
    places.clear();
    moved.each(|id, place| {
        places.push((id, affine(place)));
        if places.len() == PLACES {
            hand_over(&mut people, &mut places, entities, &names);
        }
    });
    hand_over(&mut people, &mut places, entities, &names);
    for (id, wishes) in &seen {
        let is_fresh = wishes.machine && fresh.contains(&wishes.entity);
        let (visible, mask) = (wishes.visibility.get() && !is_fresh, wishes.mask());
        people.change(&Some(wishes.name), id.0, |it| {
            it.set_visible(visible);
            it.set_view_mask(mask);
            Ok(())
        });
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

fn hand_over(
    people: &mut People<'_>,
    places: &mut Vec<(InstanceId, Affine3A)>,
    entities: &HashMap<InstanceId, Entity>,
    names: &Query<NameOrEntity>,
) {
    if people.crowd.set_transforms(places).is_err() {
        // One of them is flat, cannot be moved, or was despawned in the meantime.
        for (id, place) in &*places {
            let name = entities.get(id).and_then(|entity| names.get(*entity).ok());
            people.change(&name, *id, |it| it.set_transform(&thick(*place)));
        }
    }
    places.clear();
}
