//! Actions of entities: plays, parameters and so on, for the steps of the game.

use super::people::{Changes, People, attachment, play, root_motion};
use crate::components::{
    AttachedTo, Character3d, Instance, Parameters, Plays, RootMotion, TimeScale, Walked,
};
use crate::convert::{affine, thick_transform};
use crate::state::{State, Throng};
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::ecs::system::{SystemChangeTick, SystemParam};
use bevy::transform::components::{GlobalTransform, Transform};
use log::Level;
use throng::InstanceId;

/// Characters that others carry.
#[derive(SystemParam)]
pub(crate) struct Riders<'w, 's> {
    changed: Changes<'w, 's, AttachedTo>,
    all: Query<'w, 's, (NameOrEntity, &'static Instance, &'static AttachedTo)>,
    /// All that may carry.
    characters: Query<'w, 's, (), (With<Character3d>, Allow<Disabled>)>,
    arrived: Query<'w, 's, Entity, Added<Instance>>,
}

/// The filter for a change of a character that has root motion.
type WalkChanged = Or<(Added<RootMotion>, Changed<ChildOf>)>;
/// The filter for characters that walk, and moved since the last step or in it.
type WalkerMoved = (
    With<RootMotion>,
    Without<ChildOf>,
    Without<AttachedTo>,
    Or<(Changed<Transform>, Added<RootMotion>)>,
);
type WalkerPlace = (&'static Instance, &'static Transform, &'static mut Walked);

/// Characters that walk by themselves.
#[derive(SystemParam)]
pub(crate) struct Walkers<'w, 's> {
    all: Query<'w, 's, (NameOrEntity, Has<ChildOf>), (With<RootMotion>, WalkChanged)>,
    instances: Query<'w, 's, &'static Instance>,
    moved: Query<'w, 's, (NameOrEntity, WalkerPlace), WalkerMoved>,
}

impl Walkers<'_, '_> {
    fn act(&mut self, people: &mut People<'_>) {
        for (name, has_parent) in &self.all {
            if has_parent {
                let why = "an entity with a parent does not walk by RootMotion";
                people.faults.add(Level::Error, "", &name, &why);
            }
            if let Ok(id) = self.instances.get(name.entity) {
                people.change(&Some(name), id.0, |it| {
                    it.set_root_motion(root_motion(true, has_parent));
                    Ok(())
                });
            }
        }
        for (name, (id, place, mut walked)) in &mut self.moved {
            if walked.0 != Some(*place) {
                walked.0 = None;
                let world = affine(&GlobalTransform::from(thick_transform(*place)));
                people.change(&Some(name), id.0, |it| it.set_transform(&world));
            }
        }
    }
}

/// The instance of an entity, and the character that it should have.
#[derive(QueryData)]
pub(crate) struct Since {
    id: Ref<'static, Instance>,
    character: Ref<'static, Character3d>,
}

/// Hands what entities do to their instances, for the next step of the game.
pub(crate) fn act(
    plays: Query<(NameOrEntity, Since, Ref<Plays>), Changed<Plays>>,
    characters: Query<Since>,
    (scales, riders, mut walkers): (Changes<TimeScale>, Riders, Walkers),
    mut parameters: Query<(NameOrEntity, Since, &mut Parameters), Changed<Parameters>>,
    ticks: SystemChangeTick,
    throng: Res<Throng>,
) {
    let mut state = throng.state();
    let State {
        crowd, instances, ..
    } = &mut *state;
    let Some(crowd) = crowd else { return };
    let mut people = People::of(crowd);
    // A spawn has the plays that were there, and the state machine.
    let this_run = ticks.this_run();
    // Another character means another instance soon, which has them, too.
    let is_left = |since: &SinceItem<'_, '_>| {
        let changed = since.character.last_changed();
        changed.is_newer_than(since.id.added(), this_run)
    };
    for (name, since, plays) in &plays {
        let is_known = since
            .id
            .added()
            .is_newer_than(plays.last_changed(), this_run);
        if !is_known && !is_left(&since) {
            people.change(&Some(name), since.id.0, |it| play(it, &plays.0));
        }
    }
    for (name, id, scale) in &scales {
        people.change(&Some(name), id.0, |it| it.set_time_scale(scale.0));
    }
    let is_left_by = |carrier| characters.get(carrier).is_ok_and(|it| is_left(&it));
    attach(&riders, instances, is_left_by, &mut people);
    walkers.act(&mut people);
    for (name, since, mut parameters) in &mut parameters {
        let (name, id) = (Some(name), &since.id);
        let starts =
            parameters.is_added() && !id.added().is_newer_than(parameters.added(), this_run);
        if is_left(&since) || starts && !people.change(&name, id.0, |it| it.start_state_machine()) {
            continue;
        }
        let parameters = parameters.bypass_change_detection();
        parameters.hand_over(starts, |parameter, value| {
            people.change(&name, id.0, |it| it.set_parameter(parameter, value));
        });
    }
}

/// Attaches riders whose attachment is new, or whose carrier has a new instance.
fn attach(
    riders: &Riders,
    instances: &EntityHashMap<InstanceId>,
    is_left: impl Fn(Entity) -> bool,
    people: &mut People<'_>,
) {
    for (name, id, to) in &riders.changed {
        // The new instance of the carrier arrives soon.
        if is_left(to.character) {
            continue;
        }
        if let Some(carrier) = instances.get(&to.character) {
            people.change(&Some(name), id.0, |it| {
                it.attach_to(attachment(*carrier, to))
            });
        } else if !riders.characters.contains(to.character) {
            let why = "its carrier is no character";
            people.faults.add(Level::Warn, "", &name, &why);
        }
    }
    if riders.all.is_empty() {
        return;
    }
    let arrived: EntityHashSet = riders.arrived.iter().collect();
    if arrived.is_empty() {
        return;
    }
    let waiting = riders.all.iter();
    for (name, id, to) in waiting.filter(|(_, _, to)| arrived.contains(&to.character)) {
        let Some(carrier) = instances.get(&to.character) else {
            continue;
        };
        let has = people.crowd.instance(id.0).map(|it| it.attachment());
        if has.is_ok_and(|has| has.is_none_or(|has| has.parent != *carrier)) {
            people.change(&Some(name), id.0, |it| {
                it.attach_to(attachment(*carrier, to))
            });
        }
    }
}
