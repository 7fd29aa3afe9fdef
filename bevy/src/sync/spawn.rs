//! Spawns and despawns.

use super::people::{Wishes, WishesItem, attachment};
use crate::asset::CharacterAsset;
use crate::components::{
    AttachedTo, Character3d, HiddenParts, Instance, MaterialVariant, Parameters, Plays, SecondTint,
    TimeScale, Tint,
};
use crate::said::Faults;
use crate::state::{Change, State, Throng};
use bevy::asset::{AssetEvent, Assets};
use bevy::camera::primitives::Aabb;
use bevy::ecs::entity::EntityHashSet;
use bevy::ecs::entity_disabling::Disabled;
use bevy::ecs::prelude::*;
use bevy::transform::components::GlobalTransform;
use log::Level;
use throng::{Error, InstanceId, Play, Spawn};

/// Notes what changed of the assets, for the next frame.
pub(crate) fn follow_assets(
    mut events: MessageReader<AssetEvent<CharacterAsset>>,
    assets: Res<Assets<CharacterAsset>>,
    throng: Res<Throng>,
) {
    if events.is_empty() {
        return;
    }
    let mut state = throng.state();
    let changes = &mut state.changes;
    for event in events.read() {
        match event {
            AssetEvent::Added { id } | AssetEvent::Modified { id } => {
                if let Some(asset) = assets.get(*id) {
                    changes.push(Change::Put(*id, Box::new(asset.character().clone())));
                }
            }
            AssetEvent::Removed { id } => changes.push(Change::Remove(*id)),
            AssetEvent::Unused { .. } | AssetEvent::LoadedWithDependencies { .. } => {}
        }
    }
}

/// An entity that gets no instance, with the reason that was logged. It is tried again when one of
/// its components or its character changes.
#[derive(Component)]
pub(crate) struct Refused(String);

/// The filter for refused entities that changed, and are tried again.
type Retried = (
    With<Refused>,
    Or<(
        Changed<Character3d>,
        Changed<GlobalTransform>,
        Changed<Plays>,
        Changed<Parameters>,
        Changed<HiddenParts>,
        Changed<MaterialVariant>,
        Changed<Tint>,
        Changed<SecondTint>,
        Changed<TimeScale>,
        Changed<AttachedTo>,
    )>,
);

/// Spawns the instances of entities that have none yet, and whose character is loaded.
pub(crate) fn spawn(
    waiting: Query<(Wishes, Option<&Refused>), Without<Instance>>,
    characters: Characters,
    mut all: ParamSet<(Query<Entity, Retried>, Query<&mut Parameters>)>,
    throng: Res<Throng>,
    mut commands: Commands,
) {
    let state = &mut *throng.state();
    if waiting.is_empty() || state.crowd.is_none() {
        return;
    }
    let changed: EntityHashSet = all.p0().iter().collect();
    let mut parameters = all.p1();
    let mut faults = Faults::default();
    // Riders wait for their horses.
    for of_riders in [false, true] {
        for (wishes, refused) in &waiting {
            let asset = wishes.character.0.id();
            let has_new_carrier = wishes.attached.is_some_and(|to| {
                let carrier = characters.get(to.character);
                carrier.is_ok_and(|(character, _, instance)| {
                    state.replaced.contains(&character.0.id())
                        || instance.is_some_and(|it| it.is_added())
                })
            });
            let is_due = refused.is_none()
                || changed.contains(&wishes.entity)
                || state.replaced.contains(&asset)
                || has_new_carrier;
            if wishes.attached.is_some() != of_riders || !is_due {
                continue;
            }
            // By hand, for example.
            let had_instance = state.instances.contains_key(&wishes.entity);
            if had_instance {
                state.remove_instance(wishes.entity);
            }
            let parameters = parameters.get_mut(wishes.entity).ok();
            let mut entity = commands.entity(wishes.entity);
            match spawn_one(state, &wishes, parameters, &characters, &mut faults) {
                Ok(id) => {
                    let parts = (Instance(id), bounds(state, wishes.character));
                    entity.try_remove::<Refused>().try_insert(parts);
                }
                Err(Kept::Refused(why)) => {
                    if refused.is_none_or(|refused| refused.0 != why) {
                        faults.add(Level::Error, "no character for ", &wishes.name, &why);
                        entity.try_insert(Refused(why));
                    }
                }
                // It is tried in each frame.
                Err(kept) => {
                    if refused.is_some() {
                        entity.try_remove::<Refused>();
                    }
                    if matches!(kept, Kept::NoRoom) {
                        state.want(asset, 1);
                    }
                }
            }
        }
    }
}

/// The box of the rest pose.
pub(super) fn bounds(state: &State, character: &Character3d) -> Aabb {
    let loaded = state.characters.get(&character.0.id());
    let bounds = loaded.map_or(throng::mesh::Aabb::EMPTY, |it| it.character.rest_bounds());
    let corner = |at: throng::glam::Vec3| bevy::math::Vec3::from(at.to_array());
    Aabb::from_min_max(corner(bounds.min), corner(bounds.max))
}

/// All entities that may carry others, also those that are disabled, with their own carriers.
type Characters<'w, 's> = Query<'w, 's, Character, Allow<Disabled>>;
type Character = (
    &'static Character3d,
    Option<&'static AttachedTo>,
    Option<Ref<'static, Instance>>,
);

/// True if an entity carries itself, if its carrier is `carrier`.
fn carries_itself(entity: Entity, carrier: Entity, characters: &Characters) -> bool {
    let mut seen = EntityHashSet::default();
    let mut next = carrier;
    while next != entity {
        let Ok((_, Some(to), _)) = characters.get(next) else {
            return false;
        };
        // A circle further on.
        if !seen.insert(next) {
            return false;
        }
        next = to.character;
    }
    true
}

/// The reason why an entity has no instance.
enum Kept {
    /// Its character is not loaded, or its carrier not spawned yet.
    Waits,
    /// The next frame makes room.
    NoRoom,
    Refused(String),
}

impl From<throng_wgpu::Error> for Kept {
    fn from(why: throng_wgpu::Error) -> Self {
        match why {
            throng_wgpu::Error::Throng(Error::Capacity { .. }) => Self::NoRoom,
            why => Self::Refused(why.to_string()),
        }
    }
}

fn spawn_one(
    state: &mut State,
    wishes: &WishesItem<'_, '_>,
    parameters: Option<Mut<'_, Parameters>>,
    characters: &Characters,
    faults: &mut Faults,
) -> Result<InstanceId, Kept> {
    let (Some(crowd), Some(loaded)) = (
        &mut state.crowd,
        state.characters.get(&wishes.character.0.id()),
    ) else {
        return Err(Kept::Waits);
    };
    let carrier = wishes.attached.map(|to| state.instances.get(&to.character));
    let attachment = match (wishes.attached, carrier.flatten()) {
        (Some(to), Some(carrier)) => Some(attachment(*carrier, to)),
        (Some(to), None) if characters.contains(to.character) => {
            if carries_itself(wishes.entity, to.character, characters) {
                let why = "its carriers carry each other, so none of them is spawned";
                faults.add(Level::Warn, "", &wishes.name, &why);
            }
            return Err(Kept::Waits);
        }
        (Some(_), None) => {
            // It is not carried, and may be later.
            let why = "its carrier is no character";
            faults.add(Level::Warn, "", &wishes.name, &why);
            None
        }
        (None, _) => None,
    };
    let plays = wishes.plays.map_or(&[][..], |plays| &plays.0);
    let (first, layers) = plays.split_first().map_or((None, plays), |(first, rest)| {
        (Some(first.fade_s(0.0).inertial_s(0.0)), rest)
    });
    let hidden = wishes.hidden.map_or(&[][..], |hidden| &hidden.0);
    let known = hidden.iter().filter(|part| {
        let found = loaded.character.part(part);
        found
            .inspect_err(|why| faults.add(Level::Warn, "", &wishes.name, why))
            .is_ok()
    });
    let hidden: Vec<_> = known.map(|part| (&**part).into()).collect();
    let variant = wishes.variant.and_then(|variant| {
        let found = loaded.character.variant(&variant.0);
        found
            .inspect_err(|why| faults.add(Level::Warn, "", &wishes.name, why))
            .ok()
    });
    let spawn = Spawn {
        world_from_model: wishes.place(),
        tint: wishes.tint.map_or([1.0; 4], |tint| tint.linear()),
        second_tint: wishes.second_tint.map_or([1.0; 3], |tint| tint.linear()),
        user_data: wishes.user.map_or(0, |user| user.0),
        play: first.unwrap_or_default(),
        layers,
        state_machine: wishes.machine,
        root_motion: wishes.root_motion(),
        visible: wishes.visibility.get() && !wishes.machine,
        view_mask: wishes.mask(),
        hidden_parts: &hidden,
        variant: variant.map(Into::into),
        attachment,
        time_scale: wishes.scale.map_or(1.0, |scale| scale.0),
        ..Spawn::default()
    };
    let mut id = crowd.spawn(loaded.id, &spawn);
    let no_room = matches!(&id, Err(throng_wgpu::Error::Throng(Error::Capacity { .. })));
    if let Err(why) = &id
        && wishes.machine
        && !no_room
        && !plays.is_empty()
    {
        let what = "no `Plays` beside the state machine of ";
        faults.add(Level::Warn, what, &wishes.name, why);
        id = crowd.spawn(
            loaded.id,
            &Spawn {
                play: Play::default(),
                layers: &[],
                ..spawn
            },
        );
    }
    let id = id?;
    if let Some(mut parameters) = parameters {
        let parameters = parameters.bypass_change_detection();
        parameters.hand_over(true, |parameter, value| {
            let it = crowd.instance_mut(id);
            let result = it.and_then(|mut it| Ok(it.set_parameter(parameter, value)?));
            if let Err(why) = result {
                faults.add(Level::Warn, "", &wishes.name, &why);
            }
        });
    }
    state.instances.insert(wishes.entity, id);
    state.entities.insert(id, wishes.entity);
    if wishes.machine {
        state.fresh.insert(wishes.entity);
    }
    Ok(id)
}

/// Despawns the instances of entities that are gone or disabled, or that have another character.
pub(crate) fn despawn(
    mut gone: RemovedComponents<Character3d>,
    changed: Query<(Entity, Ref<Character3d>), Changed<Character3d>>,
    spawned: Query<(), With<Instance>>,
    disabled: Query<Entity, (With<Instance>, With<Disabled>)>,
    throng: Res<Throng>,
    mut commands: Commands,
) {
    let replaced = changed
        .iter()
        .filter(|(entity, character)| !character.is_added() && spawned.contains(*entity));
    let replaced: Vec<_> = replaced.map(|(entity, _)| entity).collect();
    if gone.is_empty() && replaced.is_empty() && disabled.is_empty() {
        return;
    }
    let mut state = throng.state();
    for entity in gone.read().chain(replaced).chain(&disabled) {
        state.remove_instance(entity);
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<(Instance, Aabb)>();
        }
    }
}
