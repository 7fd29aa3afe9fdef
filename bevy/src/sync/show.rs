//! The places and looks of entities, for pictures.

use super::people::{Changes, People, Wishes};
use crate::components::{
    AttachedTo, HiddenParts, Instance, MaterialVariant, SecondTint, Tint, UserData, Walked,
};
use crate::convert::affine;
use crate::state::{State, Throng};
use bevy::camera::visibility::{InheritedVisibility, RenderLayers};
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use bevy::light::NotShadowCaster;
use bevy::transform::components::{GlobalTransform, Transform};
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

/// Places, with those to which a step walked.
type Places<'w, 's> = Query<
    'w,
    's,
    (
        &'static Instance,
        &'static GlobalTransform,
        Option<(&'static Walked, &'static Transform)>,
        Has<ChildOf>,
    ),
    Moved,
>;

/// Hands the places and looks of entities to their instances, for the next picture.
pub(crate) fn show(
    moved: Places,
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
    places.extend(
        moved
            .iter()
            .filter_map(|(id, transform, walked, is_child)| {
                // The crowd itself moved those who walk.
                let walked = walked.filter(|_| !is_child);
                let has_place = walked.is_some_and(|(walked, place)| walked.0 == Some(*place));
                (!has_place).then(|| (id.0, affine(transform)))
            }),
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
