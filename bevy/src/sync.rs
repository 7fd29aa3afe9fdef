//! Entities to instances: spawns, changes and despawns, in the main world.

use crate::asset::CharacterAsset;
use crate::components::{
    AttachedTo, Character3d, HiddenParts, Instance, Parameters, Plays, RootMotion, TimeScale, Tint,
    UserData,
};
use crate::state::{Change, State, Throng};
use bevy::asset::{AssetEvent, Assets};
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{InheritedVisibility, RenderLayers};
use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::light::NotShadowCaster;
use bevy::transform::components::{GlobalTransform, Transform};
use throng::animator::RootMotionMode;
use throng::glam::{Affine3A, Mat3A, Vec3A};
use throng::state_machine::Value;
use throng::{Attachment, Error, InstanceId, Spawn};
use throng_wgpu::Crowd;

/// Of the bits of a view mask, those for shadows are above those for cameras.
pub(crate) const SHADOW_SHIFT: u32 = 16;

/// The first 16 render layers.
pub(crate) fn layers(layers: Option<&RenderLayers>) -> u32 {
    let all = layers.map_or(1, |layers| layers.bits().first().copied().unwrap_or(0));
    (all & 0xFFFF) as u32
}

/// Matrices of Bevy and of throng may be of two versions of glam.
pub(crate) fn affine(transform: &GlobalTransform) -> Affine3A {
    let affine = transform.affine();
    let [x, y, z] = [
        affine.matrix3.x_axis,
        affine.matrix3.y_axis,
        affine.matrix3.z_axis,
    ]
    .map(|axis| Vec3A::from_array(axis.to_array()));
    Affine3A {
        matrix3: Mat3A::from_cols(x, y, z),
        translation: Vec3A::from_array(affine.translation.to_array()),
    }
}

pub(crate) fn transform(affine: &Affine3A) -> Transform {
    let columns = throng::glam::Mat4::from(*affine).to_cols_array();
    Transform::from_matrix(bevy::math::Mat4::from_cols_array(&columns))
}

/// Notes what changed of the assets, for the next frame.
pub(crate) fn follow_assets(
    mut events: MessageReader<AssetEvent<CharacterAsset>>,
    assets: Res<Assets<CharacterAsset>>,
    throng: Res<Throng>,
) {
    if events.is_empty() {
        return;
    }
    let mut lock = throng.lock();
    let changes = &mut lock.state().changes;
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

/// What an entity says of its instance.
#[derive(QueryData)]
pub(crate) struct Wishes {
    entity: Entity,
    character: &'static Character3d,
    transform: &'static GlobalTransform,
    visibility: &'static InheritedVisibility,
    layers: Option<&'static RenderLayers>,
    casts_not: Has<NotShadowCaster>,
    plays: Option<&'static Plays>,
    hidden: Option<&'static HiddenParts>,
    tint: Option<&'static Tint>,
    user: Option<&'static UserData>,
    scale: Option<&'static TimeScale>,
    walks: Has<RootMotion>,
    attached: Option<&'static AttachedTo>,
    machine: Has<Parameters>,
}

impl WishesItem<'_, '_> {
    fn mask(&self) -> u32 {
        let layers = layers(self.layers);
        match self.casts_not {
            true => layers,
            false => layers | layers << SHADOW_SHIFT,
        }
    }
}

/// Spawns the instances of entities that have none yet, and whose character is loaded.
pub(crate) fn spawn(
    waiting: Query<Wishes, Without<Instance>>,
    mut parameters: Query<&mut Parameters>,
    throng: Res<Throng>,
    mut commands: Commands,
) {
    if waiting.is_empty() {
        return;
    }
    let mut lock = throng.lock();
    let state = lock.state();
    if state.crowd.is_none() {
        return;
    }
    // Riders wait for their horses.
    for of_riders in [false, true] {
        for wishes in &waiting {
            if wishes.attached.is_some() != of_riders {
                continue;
            }
            let parameters = parameters.get_mut(wishes.entity).ok();
            match spawn_one(state, &wishes, parameters) {
                Ok(Some(id)) => {
                    let mut entity = commands.entity(wishes.entity);
                    entity.insert(Instance(id));
                    if let Some(loaded) = state.characters.get(&wishes.character.0.id()) {
                        let bounds = loaded.character.rest_bounds();
                        let corner = |at: throng::glam::Vec3| bevy::math::Vec3::from(at.to_array());
                        entity.insert(Aabb::from_min_max(corner(bounds.min), corner(bounds.max)));
                    }
                }
                Ok(None) => {}
                Err(throng_wgpu::Error::Throng(Error::Capacity { .. })) => {
                    state.want(wishes.character.0.id(), 1);
                }
                Err(why) => refuse(&mut commands, wishes.entity, &why),
            }
        }
    }
}

/// Says once why an entity has no instance.
fn refuse(commands: &mut Commands, entity: Entity, why: &throng_wgpu::Error) {
    log::error!("{entity} gets no character: {why}");
    commands.entity(entity).try_remove::<Character3d>();
}

fn spawn_one(
    state: &mut State,
    wishes: &WishesItem<'_, '_>,
    parameters: Option<Mut<'_, Parameters>>,
) -> Result<Option<InstanceId>, throng_wgpu::Error> {
    let (Some(crowd), Some(loaded)) = (
        &mut state.crowd,
        state.characters.get(&wishes.character.0.id()),
    ) else {
        return Ok(None);
    };
    let attachment = match wishes.attached {
        Some(attached) => match state.instances.get(&attached.character) {
            Some(parent) => Some(attachment(*parent, attached)),
            None => return Ok(None),
        },
        None => None,
    };
    let plays = wishes.plays.map_or(&[][..], |plays| &plays.0);
    let (first, layers) = plays.split_first().map_or((None, plays), |(first, rest)| {
        (Some(first.fade_s(0.0).inertial_s(0.0)), rest)
    });
    let hidden = wishes.hidden.map_or(&[][..], |hidden| &hidden.0);
    let hidden: Vec<_> = hidden.iter().map(|part| (&**part).into()).collect();
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
        user_data: wishes.user.map_or(0, |user| user.0),
        play: first.unwrap_or_default(),
        layers,
        state_machine: wishes.machine,
        parameters: &values,
        root_motion: match wishes.walks {
            true => RootMotionMode::Apply,
            false => RootMotionMode::Ignore,
        },
        visible: wishes.visibility.get(),
        view_mask: wishes.mask(),
        hidden_parts: &hidden,
        attachment,
        time_scale: wishes.scale.map_or(1.0, |scale| scale.0),
        ..Spawn::default()
    };
    let id = crowd.spawn(loaded.id, &spawn);
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
    Ok(Some(id))
}

fn attachment(parent: InstanceId, to: &AttachedTo) -> Attachment<'_> {
    let at = affine(&GlobalTransform::from(to.at));
    Attachment::new(parent, &*to.socket).at(at)
}

/// Despawns the instances of entities that are gone, or that have another character.
pub(crate) fn despawn(
    mut gone: RemovedComponents<Character3d>,
    changed: Query<(Entity, Ref<Character3d>), (Changed<Character3d>, With<Instance>)>,
    throng: Res<Throng>,
    mut commands: Commands,
) {
    let replaced = changed
        .iter()
        .filter(|(_, character)| !character.is_added());
    let replaced: Vec<_> = replaced.map(|(entity, _)| entity).collect();
    if gone.is_empty() && replaced.is_empty() {
        return;
    }
    let mut lock = throng.lock();
    for entity in gone.read().chain(replaced) {
        lock.state().remove_instance(entity);
        if let Ok(mut entity) = commands.get_entity(entity) {
            entity.try_remove::<(Instance, Aabb)>();
        }
    }
}

type Moved = (Changed<GlobalTransform>, Without<AttachedTo>);
type Seen = Or<(
    Changed<InheritedVisibility>,
    Changed<RenderLayers>,
    Changed<NotShadowCaster>,
)>;

/// Hands the places and looks of entities to their instances, for the next picture.
pub(crate) fn show(
    moved: Query<(Ref<Instance>, &GlobalTransform), Moved>,
    seen: Query<(Ref<Instance>, Wishes), Seen>,
    tinted: Query<(Ref<Instance>, &Tint), Changed<Tint>>,
    words: Query<(Ref<Instance>, &UserData), Changed<UserData>>,
    hidden: Query<(Ref<Instance>, &HiddenParts), Changed<HiddenParts>>,
    throng: Res<Throng>,
) {
    let mut lock = throng.lock();
    let Some(crowd) = &mut lock.state().crowd else {
        return;
    };
    for (id, transform) in &moved {
        with(crowd, &id, |it| it.set_transform(&affine(transform)));
    }
    for (id, wishes) in &seen {
        with(crowd, &id, |it| {
            it.set_visible(wishes.visibility.get());
            it.set_view_mask(wishes.mask());
            Ok(())
        });
    }
    for (id, tint) in &tinted {
        with(crowd, &id, |it| it.set_tint(tint.linear()));
    }
    for (id, user) in &words {
        with(crowd, &id, |it| {
            it.set_user_data(user.0);
            Ok(())
        });
    }
    for (id, hidden) in &hidden {
        let character = crowd.instance(id.0).map(|it| it.character());
        let parts = character.and_then(|it| crowd.character(it));
        let parts = parts.map_or(Vec::new(), |it| it.parts().map(|(part, _)| part).collect());
        with(crowd, &id, |it| {
            for part in parts {
                it.set_part_visible(part, true)?;
            }
            let hidden = &mut hidden.0.iter();
            hidden.try_for_each(|part| it.set_part_visible(&**part, false))
        });
    }
}

/// A layer fades out in this time if nothing plays on it any more.
const FADE_S: f32 = 0.2;

/// Hands what entities do to their instances, for the next step of the game.
pub(crate) fn act(
    plays: Query<(Ref<Instance>, &Plays), Changed<Plays>>,
    scales: Query<(Ref<Instance>, &TimeScale), Changed<TimeScale>>,
    attached: Query<(Ref<Instance>, &AttachedTo), Changed<AttachedTo>>,
    mut freed: RemovedComponents<AttachedTo>,
    mut parameters: Query<(&Instance, &mut Parameters), Changed<Parameters>>,
    throng: Res<Throng>,
) {
    let mut lock = throng.lock();
    let State {
        crowd, instances, ..
    } = lock.state();
    let Some(crowd) = crowd else { return };
    for (id, plays) in &plays {
        let now = crowd
            .instance(id.0)
            .map_or(Vec::new(), |it| it.playing().collect());
        with(crowd, &id, |it| {
            for play in &plays.0 {
                it.play(*play)?;
            }
            let ended = now
                .iter()
                .filter(|now| !now.by_state_machine && now.to_weight > 0.0);
            let mut ended = ended.map(|now| now.layer);
            ended.try_for_each(
                |layer| match plays.0.iter().any(|play| play.layer == layer) {
                    true => Ok(()),
                    false => it.stop(layer, FADE_S),
                },
            )
        });
    }
    for (id, scale) in &scales {
        with(crowd, &id, |it| it.set_time_scale(scale.0));
    }
    for (id, to) in &attached {
        if let Some(parent) = instances.get(&to.character) {
            with(crowd, &id, |it| it.attach_to(attachment(*parent, to)));
        }
    }
    for entity in freed.read() {
        if let Some(mut it) = instances
            .get(&entity)
            .and_then(|id| crowd.instance_mut(*id).ok())
        {
            it.detach();
        }
    }
    for (id, mut parameters) in &mut parameters {
        let pending = core::mem::take(&mut parameters.bypass_change_detection().pending);
        for (name, value) in pending {
            said(id.0, set(crowd, id.0, &name, value));
        }
    }
}

fn set(
    crowd: &mut Crowd,
    id: InstanceId,
    name: &str,
    value: Value,
) -> Result<(), throng_wgpu::Error> {
    Ok(crowd.instance_mut(id)?.set_parameter(name, value)?)
}

/// Changes an instance. One that was just spawned has everything already.
fn with(
    crowd: &mut Crowd,
    id: &Ref<'_, Instance>,
    change: impl FnOnce(&mut throng::Instance<&mut throng::Crowd>) -> throng::Result<()>,
) {
    if id.is_added() {
        return;
    }
    let changed = crowd
        .instance_mut(id.0)
        .and_then(|mut it| Ok(change(&mut it)?));
    said(id.0, changed);
}

/// Says what an instance refused.
fn said(id: InstanceId, result: Result<(), throng_wgpu::Error>) {
    match result {
        // It was despawned in the meantime.
        Ok(()) | Err(throng_wgpu::Error::Throng(Error::Stale { .. })) => {}
        Err(why) => log::warn!("{id:?}: {why}"),
    }
}
