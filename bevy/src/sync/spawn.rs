//! Spawns and despawns.

use super::{Wishes, WishesItem, affine, attachment};
use crate::asset::CharacterAsset;
use crate::components::{
    AttachedTo, Character3d, HiddenParts, Instance, MaterialVariant, Parameters, Plays, SecondTint,
    TimeScale, Tint,
};
use crate::said::{Faults, log_seldom};
use crate::state::{Change, State, Throng};
use bevy::asset::{AssetEvent, Assets};
use bevy::camera::primitives::Aabb;
use bevy::ecs::entity::EntityHashSet;
use bevy::ecs::prelude::*;
use bevy::transform::components::GlobalTransform;
use log::Level;
use throng::animator::RootMotionMode;
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

/// The changes after which a refused entity is tried again.
type Other = Or<(
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
)>;

/// Spawns the instances of entities that have none yet, and whose character is loaded.
pub(crate) fn spawn(
    waiting: Query<(Wishes, Option<&Refused>), Without<Instance>>,
    characters: Query<(), With<Character3d>>,
    mut all: ParamSet<(
        Query<Entity, (With<Refused>, Other)>,
        Query<&mut Parameters>,
    )>,
    throng: Res<Throng>,
    mut commands: Commands,
) {
    if waiting.is_empty() {
        return;
    }
    let state = &mut *throng.state();
    if state.crowd.is_none() {
        return;
    }
    let changed: EntityHashSet = all.p0().iter().collect();
    let mut parameters = all.p1();
    let mut faults = Faults::default();
    // Riders wait for their horses.
    for of_riders in [false, true] {
        for (wishes, refused) in &waiting {
            let asset = wishes.character.0.id();
            // The carrier of a rider may have changed.
            let is_due = refused.is_none()
                || of_riders
                || changed.contains(&wishes.entity)
                || state.replaced.contains(&asset);
            if wishes.attached.is_some() != of_riders || !is_due {
                continue;
            }
            let mut entity = commands.entity(wishes.entity);
            let has_carrier = wishes
                .attached
                .is_none_or(|to| characters.contains(to.character));
            let parameters = parameters.get_mut(wishes.entity).ok();
            let spawned = match has_carrier {
                true => spawn_one(state, &wishes, parameters, &mut faults),
                false => Err(Kept::Refused("its carrier is no character".to_owned())),
            };
            match spawned {
                Ok(id) => {
                    entity.try_remove::<Refused>().try_insert(Instance(id));
                    if let Some(loaded) = state.characters.get(&asset) {
                        let bounds = loaded.character.rest_bounds();
                        let corner = |at: throng::glam::Vec3| bevy::math::Vec3::from(at.to_array());
                        let bounds = Aabb::from_min_max(corner(bounds.min), corner(bounds.max));
                        entity.try_insert(bounds);
                    }
                }
                Err(Kept::Waits) => {}
                Err(Kept::NoRoom) => state.want(asset, 1),
                Err(Kept::Refused(why)) => {
                    if refused.is_none_or(|refused| refused.0 != why) {
                        faults.add(Level::Error, "no character for ", &wishes.name, &why);
                        entity.try_insert(Refused(why));
                    }
                }
            }
        }
    }
}

/// The reason why an entity has no instance.
enum Kept {
    /// Its character, or the instance of its carrier, is not there yet.
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
    faults: &mut Faults,
) -> Result<InstanceId, Kept> {
    let (Some(crowd), Some(loaded)) = (
        &mut state.crowd,
        state.characters.get(&wishes.character.0.id()),
    ) else {
        return Err(Kept::Waits);
    };
    let attachment = match wishes.attached {
        Some(attached) => match state.instances.get(&attached.character) {
            Some(parent) => Some(attachment(*parent, attached)),
            None => return Err(Kept::Waits),
        },
        None => None,
    };
    let plays = wishes.plays.map_or(&[][..], |plays| &plays.0);
    let (first, layers) = plays.split_first().map_or((None, plays), |(first, rest)| {
        (Some(first.fade_s(0.0).inertial_s(0.0)), rest)
    });
    let hidden = wishes.hidden.map_or(&[][..], |hidden| &hidden.0);
    let known = hidden.iter().filter(|part| {
        let found = loaded.character.part(part);
        found
            .inspect_err(|why| log_seldom(Level::Error, &why.to_string()))
            .is_ok()
    });
    let hidden: Vec<_> = known.map(|part| (&**part).into()).collect();
    let variant = wishes.variant.and_then(|variant| {
        let found = loaded.character.variant(&variant.0);
        found
            .inspect_err(|why| log_seldom(Level::Error, &why.to_string()))
            .ok()
    });
    let mut parameters = parameters;
    let values = parameters.as_mut().map(|it| {
        let it = it.bypass_change_detection();
        core::mem::take(&mut it.pending)
    });
    let values = values.unwrap_or_default();
    let values: Vec<_> = values
        .iter()
        .map(|(name, value)| (&**name, *value))
        .collect();
    let spawn = Spawn {
        world_from_model: affine(wishes.transform),
        tint: wishes.tint.map_or([1.0; 4], |tint| tint.linear()),
        second_tint: wishes.second_tint.map_or([1.0; 3], |tint| tint.linear()),
        user_data: wishes.user.map_or(0, |user| user.0),
        play: first.unwrap_or_default(),
        layers,
        state_machine: wishes.machine,
        parameters: &values,
        root_motion: match wishes.walks {
            true => RootMotionMode::Apply,
            false => RootMotionMode::Ignore,
        },
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
    if let (Err(_), Some(parameters)) = (&id, &mut parameters) {
        // They are set when there is room.
        let pending = &mut parameters.bypass_change_detection().pending;
        pending.extend(
            values
                .iter()
                .map(|(name, value)| (name.to_string().into(), *value)),
        );
    }
    let id = id?;
    state.instances.insert(wishes.entity, id);
    state.entities.insert(id, wishes.entity);
    if wishes.machine {
        state.fresh.push(wishes.entity);
    }
    Ok(id)
}

/// Despawns the instances of entities that are gone, or that have another character.
pub(crate) fn despawn(
    mut gone: RemovedComponents<Character3d>,
    changed: Query<(Entity, Ref<Character3d>), Changed<Character3d>>,
    spawned: Query<(), With<Instance>>,
    throng: Res<Throng>,
    mut commands: Commands,
) {
    let replaced = changed
        .iter()
        .filter(|(entity, character)| !character.is_added() && spawned.contains(*entity));
    let replaced: Vec<_> = replaced.map(|(entity, _)| entity).collect();
    if gone.is_empty() && replaced.is_empty() {
        return;
    }
    let mut state = throng.state();
    for entity in gone.read().chain(replaced) {
        state.remove_instance(entity);
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<(Instance, Aabb)>();
        }
    }
}
