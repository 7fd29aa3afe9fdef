//! The steps of the game: updates, their events, and what follows characters.

use crate::components::{AttachedTo, Character3d, Follows, Instance, RootMotion, Walked};
use crate::convert::{affine, placement, transform};
use crate::said::Faults;
use crate::state::{State, Throng};

use bevy::camera::visibility::InheritedVisibility;
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::name::NameOrEntity;
use bevy::ecs::prelude::*;
use bevy::math::Vec3;
use bevy::time::{Fixed, Time};
use bevy::transform::components::{GlobalTransform, Transform};
use bevy::transform::helper::TransformHelper;
use log::Level;
use throng::AnimationEventKind;
use throng::animator::Animator;
use throng::glam::Affine3A;
use throng_wgpu::Crowd;

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

/// The time of the picture, in seconds: at most as long after the last step as pictures can be.
pub(crate) fn shown_s(time: &Time<Fixed>, crowd: &Crowd) -> f64 {
    let last_s = crowd.time_s();
    let now_s = time.elapsed_secs_f64() + time.overstep().as_secs_f64();
    now_s.clamp(last_s, last_s + Animator::MAX_AHEAD_S)
}

/// A character that walks by itself.
type Walks = (With<RootMotion>, Without<ChildOf>, Without<AttachedTo>);

/// Moves the game by one step.
pub(crate) fn step(
    time: Res<Time<Fixed>>,
    throng: Res<Throng>,
    mut events: MessageWriter<CharacterEvent>,
    mut walkers: Query<(&Instance, &mut Transform, &mut Walked), Walks>,
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
    for (id, mut place, mut walked) in &mut walkers {
        if let Some(crowd) = &state.crowd
            && let Ok(it) = crowd.instance(id.0)
        {
            let mut to = transform(&it.transform());
            // An instance is not flat, and root motion scales nothing.
            if place.scale.cmpeq(Vec3::ZERO).any() {
                to.scale = place.scale;
            }
            walked.0 = Some(to);
            place.set_if_neq(to);
        }
    }
}

/// Entities that follow a joint.
type Followers<'w, 's> = Query<
    'w,
    's,
    (
        NameOrEntity,
        Ref<'static, Follows>,
        Option<&'static ChildOf>,
    ),
>;

/// Characters, whose joints others may follow.
type Characters<'w, 's> = Query<
    'w,
    's,
    (
        &'static GlobalTransform,
        Option<&'static AttachedTo>,
        Has<RootMotion>,
        Has<ChildOf>,
    ),
>;

/// Moves what follows a joint, to where the picture will have it.
pub(crate) fn follow(
    followers: Followers,
    characters: Characters,
    all: Query<(), (With<Character3d>, Allow<Disabled>)>,
    mut transforms: ParamSet<(TransformHelper, Query<&mut Transform>)>,
    time: Res<Time<Fixed>>,
    throng: Res<Throng>,
) {
    if followers.is_empty() {
        return;
    }
    let state = &*throng.state();
    let Some(crowd) = &state.crowd else { return };
    let mut faults = Faults::default();
    let mut places = Vec::new();
    let helper = transforms.p0();
    let joints = Joints {
        state,
        crowd,
        characters: &characters,
        helper: &helper,
        time_s: shown_s(&time, crowd),
    };
    for (name, follows, parent) in &followers {
        let at = (follows.character, &*follows.socket, &follows.at);
        match joints.world(at, MOST_CARRIERS) {
            Some(Ok(world)) => {
                let above = parent.map(|it| helper.compute_global_transform(it.parent()));
                let above = above.and_then(Result::ok).unwrap_or_default();
                places.push((name.entity, placement(&above).inverse() * world));
            }
            Some(Err(why)) => faults.add(Level::Error, "", &name, &why),
            None if follows.is_changed() && !all.contains(follows.character) => {
                faults.add(Level::Warn, "", &name, &"what it follows is no character");
            }
            // Its character is not drawn yet.
            None => {}
        }
    }
    let mut transforms = transforms.p1();
    for (entity, place) in places {
        if let Ok(mut own) = transforms.get_mut(entity) {
            own.set_if_neq(transform(&place));
        }
    }
}

/// A character may be carried by one that is carried, but no more often than this.
const MOST_CARRIERS: u32 = 16;

/// The joints of characters, where the next picture will have them.
struct Joints<'a, 'w, 's> {
    state: &'a State,
    crowd: &'a Crowd,
    characters: &'a Characters<'w, 's>,
    helper: &'a TransformHelper<'w, 's>,
    time_s: f64,
}

impl Joints<'_, '_, '_> {
    /// World space from a place at a joint or socket of a character, if that is drawn.
    fn world(
        &self,
        (character, socket, at): (Entity, &str, &Transform),
        most: u32,
    ) -> Option<throng::Result<Affine3A>> {
        let id_of = |character| self.state.instances.get(&character).copied();
        let it = self.crowd.instance(id_of(character)?).ok()?;
        let (before, attached, walks, has_parent) = self.characters.get(character).ok()?;
        let shown = it.transform_at(self.time_s);
        let carrier = it.attachment().map(|link| link.parent);
        let world = match attached {
            Some(to) if carrier.is_some() && carrier == id_of(to.character) && most > 0 => {
                match self.world((to.character, &*to.socket, &to.at), most - 1)? {
                    Ok(world) => world,
                    Err(why) => return Some(Err(why)),
                }
            }
            None if carrier.is_none() => {
                // What moved in this frame is handed to the crowd later.
                let now = self.helper.compute_global_transform(character).ok()?;
                match now == *before {
                    true => shown,
                    false if walks && !has_parent => {
                        placement(&now) * it.transform().inverse() * shown
                    }
                    false => placement(&now),
                }
            }
            _ => shown,
        };
        let joint = it.joint_model(socket, self.time_s);
        Some(joint.map(|joint| world * joint * affine(&GlobalTransform::from(*at))))
    }
}
