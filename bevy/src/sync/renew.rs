//! Entities whose character was replaced: they have their components again.

use super::people::{People, Wishes, WishesItem, attachment, play_missing};
use super::spawn::bounds;
use crate::components::{Instance, Parameters};
use crate::state::{State, Throng};
use bevy::ecs::prelude::*;

/// Hands over again what the last version of a character lacked, such as a clip, and gives the
/// bounds of the new one.
///
/// Instances keep all that both versions have.
pub(crate) fn renew(
    drawn: Query<(Wishes, &Instance)>,
    mut parameters: Query<&mut Parameters>,
    throng: Res<Throng>,
    mut commands: Commands,
) {
    let mut state = throng.state();
    if state.replaced.is_empty() {
        return;
    }
    let is_replaced = |it: &WishesItem<'_, '_>| state.replaced.contains(&it.character.0.id());
    for (it, _) in drawn.iter().filter(|(it, _)| is_replaced(it)) {
        commands
            .entity(it.entity)
            .try_insert(bounds(&state, it.character));
    }
    let State {
        crowd,
        instances,
        replaced,
        ..
    } = &mut *state;
    let Some(crowd) = crowd else { return };
    let is_replaced = |it: &WishesItem<'_, '_>| replaced.contains(&it.character.0.id());
    let mut people = People::of(crowd);
    for (it, id) in &drawn {
        let has_new = is_replaced(&it);
        let (name, id) = (Some(it.name), id.0);
        if let Some(to) = it.attached
            && let Some(carrier) = instances.get(&to.character)
            && drawn
                .get(to.character)
                .is_ok_and(|(it, _)| is_replaced(&it))
            && let Ok(rider) = people.crowd.instance(id)
            && rider.attachment().is_none()
        {
            people.change(&name, id, |it| it.attach_to(attachment(*carrier, to)));
        }
        if !has_new {
            continue;
        }
        if it.machine {
            let runs = people
                .crowd
                .instance(id)
                .is_ok_and(|it| it.has_state_machine());
            if (runs || people.change(&name, id, |it| it.start_state_machine()))
                && let Ok(mut values) = parameters.get_mut(it.entity)
            {
                let values = values.bypass_change_detection();
                values.hand_over(true, |parameter, value| {
                    people.change(&name, id, |it| it.set_parameter(parameter, value));
                });
            }
        }
        if let Some(plays) = it.plays {
            people.change(&name, id, |it| play_missing(it, &plays.0));
        }
        if let Some(hidden) = it.hidden {
            people.hide(&name, id, &hidden.0);
        }
        if let Some(variant) = it.variant {
            let variant = Some((&*variant.0).into());
            people.change(&name, id, |it| it.set_variant(variant));
        }
    }
}
