//! The steps of the game: updates, their events, and what follows characters.

use crate::components::{Follows, Instance, RootMotion};
use crate::said::Faults;
use crate::state::Throng;
use crate::sync::{affine, transform};
use bevy::camera::visibility::InheritedVisibility;
use bevy::ecs::prelude::*;
use bevy::time::{Fixed, Time};
use bevy::transform::components::{GlobalTransform, Transform};
use log::Level;
use throng::AnimationEventKind;

/// Something happened to a character in a step: an event of a clip, or the end of a clip.
///
/// It is a message, and observers of the entity get it, too.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_throng::CharacterEvent;
///
/// fn steps(mut events: MessageReader<CharacterEvent>) {
///     for event in events.read().filter(|event| event.name == "step") {
///         println!("{} steps", event.entity);
///     }
/// }
///
/// fn falls(event: On<CharacterEvent>, mut commands: Commands) {
///     if event.is_finished() && event.name == "Die" {
///         commands.entity(event.entity).despawn();
///     }
/// }
/// # let _ = (steps, falls);
/// ```
#[derive(Message, EntityEvent, Debug, Clone, PartialEq)]
pub struct CharacterEvent {
    /// The character.
    pub entity: Entity,
    /// The name of the event of a clip, of the clip that ended, or of the state that was entered or
    /// left.
    pub name: String,
    /// The kind of event.
    pub kind: AnimationEventKind,
    /// The time of the game, in seconds.
    pub time_s: f64,
}

impl CharacterEvent {
    /// True if a clip that is played once has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.kind, AnimationEventKind::Finished { .. })
    }
}

/// The time of the picture, in seconds.
pub(crate) fn shown_s(time: &Time<Fixed>) -> f64 {
    time.elapsed_secs_f64() + time.overstep().as_secs_f64()
}

/// Moves the game by one step.
pub(crate) fn step(
    time: Res<Time<Fixed>>,
    throng: Res<Throng>,
    mut events: MessageWriter<CharacterEvent>,
    mut walkers: Query<(&Instance, &mut Transform), (With<RootMotion>, Without<ChildOf>)>,
    seen: Query<&InheritedVisibility>,
    mut commands: Commands,
) {
    let Ok(mut lock) = throng.lock() else {
        return;
    };
    if let Err(why) = lock.update(time.elapsed_secs_f64()) {
        log::error!("the step failed: {why}");
        return;
    }
    let happened = lock.events().filter_map(|event| {
        Some(CharacterEvent {
            entity: lock.entity(event.id)?,
            name: lock.event_name(&event).unwrap_or_default().to_owned(),
            kind: event.kind,
            time_s: event.time_s,
        })
    });
    for event in happened {
        commands.trigger(event.clone());
        events.write(event);
    }
    drop(lock);
    let state = &mut *throng.state();
    for entity in core::mem::take(&mut state.fresh) {
        let is_seen = seen.get(entity).is_ok_and(|seen| seen.get());
        if let (Some(id), Some(crowd)) = (state.instances.get(&entity), &mut state.crowd)
            && let Ok(mut it) = crowd.instance_mut(*id)
        {
            it.set_visible(is_seen);
        }
    }
    for (id, mut place) in &mut walkers {
        if let Some(crowd) = &state.crowd
            && let Ok(it) = crowd.instance(id.0)
        {
            place.set_if_neq(transform(&it.transform()));
        }
    }
}

/// Moves what follows a joint, to where the picture will have it.
pub(crate) fn follow(
    mut followers: Query<(&Follows, &mut Transform)>,
    time: Res<Time<Fixed>>,
    throng: Res<Throng>,
) {
    if followers.is_empty() {
        return;
    }
    let state = &mut *throng.state();
    let Some(crowd) = &state.crowd else { return };
    let time_s = shown_s(&time);
    let mut faults = Faults::default();
    for (follows, mut place) in &mut followers {
        let Some(id) = state.instances.get(&follows.character) else {
            continue;
        };
        let Ok(it) = crowd.instance(*id) else {
            continue;
        };
        let at = affine(&GlobalTransform::from(follows.at));
        match it.joint_transform(&*follows.socket, time_s) {
            Ok(joint) => _ = place.set_if_neq(transform(&(joint * at))),
            Err(why) => faults.add(Level::Error, "nobody follows ", &follows.character, &why),
        }
    }
}
