//! What entities do, for the steps of the game.

use super::{Changes, One, People, attachment};
use crate::components::{
    AttachedTo, Character3d, Instance, Parameters, Plays, RootMotion, TimeScale,
};
use crate::state::{State, Throng};
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::prelude::*;
use bevy::ecs::system::{SystemChangeTick, SystemParam};
use log::Level;
use throng::animator::RootMotionMode;
use throng::{InstanceId, Play};

/// Components that entities lost.
#[derive(SystemParam)]
pub(crate) struct Lost<'w, 's> {
    plays: RemovedComponents<'w, 's, Plays>,
    scales: RemovedComponents<'w, 's, TimeScale>,
    machines: RemovedComponents<'w, 's, Parameters>,
    walks: RemovedComponents<'w, 's, RootMotion>,
}

/// Characters that others carry.
#[derive(SystemParam)]
pub(crate) struct Riders<'w, 's> {
    changed: Changes<'w, 's, AttachedTo>,
    all: Query<'w, 's, (NameOrEntity, &'static Instance, &'static AttachedTo)>,
    /// Those who may carry.
    characters: Query<'w, 's, (), With<Character3d>>,
    arrived: Query<'w, 's, Entity, Added<Instance>>,
}

/// Those who walk by themselves from now on.
#[derive(SystemParam)]
pub(crate) struct Walkers<'w, 's> {
    new: Query<'w, 's, (NameOrEntity, &'static Instance), Added<RootMotion>>,
    have_parents: Query<
        'w,
        's,
        NameOrEntity,
        (
            With<RootMotion>,
            With<ChildOf>,
            Or<(Added<RootMotion>, Added<ChildOf>)>,
        ),
    >,
}

/// A layer fades out in this time if nothing plays on it any more.
const FADE_S: f32 = 0.2;

/// Hands what entities do to their instances, for the next step of the game.
pub(crate) fn act(
    plays: Query<(NameOrEntity, Ref<Instance>, Ref<Plays>), Changed<Plays>>,
    (scales, riders, walkers): (Changes<TimeScale>, Riders, Walkers),
    mut parameters: Query<(NameOrEntity, Ref<Instance>, &mut Parameters), Changed<Parameters>>,
    (mut lost, names): (Lost, Query<NameOrEntity>),
    ticks: SystemChangeTick,
    throng: Res<Throng>,
) {
    let mut state = throng.state();
    let State {
        crowd, instances, ..
    } = &mut *state;
    let Some(crowd) = crowd else { return };
    let mut people = People::of(crowd);
    let mut end = |entity: Entity, change: fn(&mut One<'_>) -> throng::Result<()>| {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, change);
        }
    };
    for entity in lost.plays.read() {
        end(entity, |it| play(it, &[]));
    }
    for entity in lost.scales.read() {
        end(entity, |it| it.set_time_scale(1.0));
    }
    for entity in lost.machines.read() {
        end(entity, |it| it.stop_state_machine(FADE_S));
    }
    for entity in lost.walks.read() {
        end(entity, |it| {
            it.set_root_motion(RootMotionMode::Ignore);
            Ok(())
        });
    }
    // A spawn has the plays that were there, and the state machine.
    let this_run = ticks.this_run();
    for (name, id, plays) in &plays {
        if plays.last_changed().is_newer_than(id.added(), this_run) {
            people.change(&Some(name), id.0, |it| play(it, &plays.0));
        }
    }
    for (name, id, scale) in &scales {
        people.change(&Some(name), id.0, |it| it.set_time_scale(scale.0));
    }
    attach(&riders, instances, &mut people);
    for (name, id) in &walkers.new {
        people.change(&Some(name), id.0, |it| {
            it.set_root_motion(RootMotionMode::Apply);
            Ok(())
        });
    }
    for name in &walkers.have_parents {
        let why = "an entity with a parent does not walk by RootMotion";
        people.faults.add(Level::Error, "", &name, &why);
    }
    for (name, id, mut parameters) in &mut parameters {
        let name = Some(name);
        if parameters.added().is_newer_than(id.added(), this_run) {
            people.change(&name, id.0, |it| it.start_state_machine());
        }
        let pending = core::mem::take(&mut parameters.bypass_change_detection().pending);
        for (parameter, value) in pending {
            people.change(&name, id.0, |it| it.set_parameter(&*parameter, value));
        }
    }
}

/// Plays these. Other layers fade out, except those of a state machine.
fn play(it: &mut One<'_>, plays: &[Play<'static>]) -> throng::Result<()> {
    let now: Vec<_> = it.playing().collect();
    plays.iter().try_for_each(|play| it.play(*play))?;
    let fades = |layer| plays.iter().all(|play| play.layer != layer);
    let mut ended = now
        .iter()
        .filter(|now| !now.by_state_machine && now.to_weight > 0.0 && fades(now.layer));
    ended.try_for_each(|now| it.stop(now.layer, FADE_S))
}

/// Attaches riders whose attachment is new, or whose carrier has a new instance.
fn attach(riders: &Riders, instances: &EntityHashMap<InstanceId>, people: &mut People<'_>) {
    for (name, id, to) in &riders.changed {
        if let Some(carrier) = instances.get(&to.character) {
            people.change(&Some(name), id.0, |it| {
                it.attach_to(attachment(*carrier, to))
            });
        } else if !riders.characters.contains(to.character) {
            let why = "its carrier is no character";
            people.faults.add(Level::Warn, "", &name, &why);
        }
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
