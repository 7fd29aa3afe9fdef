//! Entities to instances: spawns, changes and despawns, in the main world.

use crate::asset::CharacterAsset;
use crate::components::{
    AttachedTo, Character3d, HiddenParts, Instance, MaterialVariant, Parameters, Plays, RootMotion,
    SecondTint, TimeScale, Tint, UserData,
};
use crate::said::{Faults, once};
use crate::state::{Change, State, Throng};
use bevy::asset::{AssetEvent, Assets};
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::{InheritedVisibility, RenderLayers};
use bevy::ecs::name::{NameOrEntity, NameOrEntityItem};
use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryData;
use bevy::ecs::system::{SystemChangeTick, SystemParam};
use bevy::light::NotShadowCaster;
use bevy::transform::components::{GlobalTransform, Transform};
use log::Level;
use std::borrow::Cow;
use throng::animator::RootMotionMode;
use throng::glam::{Affine3A, Mat3A, Vec3A};
use throng::{Attachment, Error, InstanceId, Play, Spawn};
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

/// The components of an entity, which say how its instance is.
#[derive(QueryData)]
pub(crate) struct Wishes {
    entity: Entity,
    name: NameOrEntity,
    character: &'static Character3d,
    transform: &'static GlobalTransform,
    visibility: &'static InheritedVisibility,
    layers: Option<&'static RenderLayers>,
    casts_not: Has<NotShadowCaster>,
    plays: Option<&'static Plays>,
    hidden: Option<&'static HiddenParts>,
    variant: Option<&'static MaterialVariant>,
    tint: Option<&'static Tint>,
    second_tint: Option<&'static SecondTint>,
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
    waiting: Query<Wishes, (Without<Instance>, Without<Refused>)>,
    mut parameters: Query<&mut Parameters>,
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
    let mut faults = Faults::default();
    // Riders wait for their horses.
    for of_riders in [false, true] {
        for wishes in &waiting {
            if wishes.attached.is_some() != of_riders {
                continue;
            }
            let parameters = parameters.get_mut(wishes.entity).ok();
            match spawn_one(state, &wishes, parameters, &mut faults) {
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
                Err(why) => {
                    faults.add(Level::Error, "no character for ", &wishes.name, &why);
                    commands.entity(wishes.entity).try_insert(Refused);
                }
            }
        }
    }
}

/// An entity that gets no instance until one of its components changes.
#[derive(Component)]
pub(crate) struct Refused;

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

/// Tries again with entities that changed.
pub(crate) fn retry(changed: Query<Entity, (With<Refused>, Other)>, mut commands: Commands) {
    for entity in &changed {
        commands.entity(entity).try_remove::<Refused>();
    }
}

fn spawn_one(
    state: &mut State,
    wishes: &WishesItem<'_, '_>,
    parameters: Option<Mut<'_, Parameters>>,
    faults: &mut Faults,
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
    let known = hidden.iter().filter(|part| {
        let found = loaded.character.part(part);
        found.inspect_err(|why| once(why.to_string())).is_ok()
    });
    let hidden: Vec<_> = known.map(|part| (&**part).into()).collect();
    let variant = wishes.variant.and_then(|variant| {
        let found = loaded.character.variant(&variant.0);
        found.inspect_err(|why| once(why.to_string())).ok()
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
    Ok(Some(id))
}

fn attachment(parent: InstanceId, to: &AttachedTo) -> Attachment<'_> {
    let at = affine(&GlobalTransform::from(to.at));
    Attachment {
        // Its entity lives on.
        outlives_parent: true,
        ..Attachment::new(parent, &*to.socket).at(at)
    }
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

type Moved = (Changed<GlobalTransform>, Without<AttachedTo>);
type Seen = Or<(
    Changed<InheritedVisibility>,
    Changed<RenderLayers>,
    Changed<NotShadowCaster>,
)>;

/// The instances of which a component changed.
type Changes<'w, 's, C> = Query<'w, 's, (NameOrEntity, &'static Instance, &'static C), Changed<C>>;

/// Components that say how entities look.
#[derive(SystemParam)]
pub(crate) struct Looks<'w, 's> {
    tints: Changes<'w, 's, Tint>,
    second_tints: Changes<'w, 's, SecondTint>,
    words: Changes<'w, 's, UserData>,
    hidden: Changes<'w, 's, HiddenParts>,
    variants: Changes<'w, 's, MaterialVariant>,
}

/// Hands the places and looks of entities to their instances, for the next picture.
pub(crate) fn show(
    moved: Query<(&Instance, &GlobalTransform), Moved>,
    seen: Query<(&Instance, Wishes), Seen>,
    looks: Looks,
    (mut removed, all, names): (Removed, Query<Wishes>, Query<NameOrEntity>),
    mut places: Local<Vec<(InstanceId, Affine3A)>>,
    throng: Res<Throng>,
) {
    let mut state = throng.state();
    let State {
        crowd,
        instances,
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
            .map(|(id, transform)| (id.0, affine(transform))),
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
    for entity in removed.layers.read().chain(removed.casts_not.read()) {
        if let (Some(id), Ok(wishes)) = (instances.get(&entity), all.get(entity))
            && let Ok(mut it) = people.crowd.instance_mut(*id)
        {
            it.set_view_mask(wishes.mask());
        }
    }
    for entity in removed.tints.read() {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, |it| it.set_tint([1.0; 4]));
        }
    }
    for entity in removed.second_tints.read() {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, |it| {
                it.set_second_tint([1.0; 3])
            });
        }
    }
    for entity in removed.hidden.read() {
        if let Some(id) = instances.get(&entity) {
            people.hide(&names.get(entity).ok(), *id, &[]);
        }
    }
    for entity in removed.variants.read() {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, |it| it.set_variant(None));
        }
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

fn hide(
    crowd: &mut Crowd,
    id: InstanceId,
    hidden: &[Cow<'static, str>],
) -> Result<(), throng_wgpu::Error> {
    let character = crowd.instance(id)?.character();
    let parts = crowd.character(character)?.parts();
    let parts: Vec<_> = parts.map(|(part, _)| part).collect();
    let mut it = crowd.instance_mut(id)?;
    for part in parts {
        it.set_part_visible(part, true)?;
    }
    for part in hidden {
        it.set_part_visible(&**part, false)?;
    }
    Ok(())
}

/// Components that entities lost.
#[derive(SystemParam)]
pub(crate) struct Removed<'w, 's> {
    layers: RemovedComponents<'w, 's, RenderLayers>,
    casts_not: RemovedComponents<'w, 's, NotShadowCaster>,
    tints: RemovedComponents<'w, 's, Tint>,
    second_tints: RemovedComponents<'w, 's, SecondTint>,
    hidden: RemovedComponents<'w, 's, HiddenParts>,
    variants: RemovedComponents<'w, 's, MaterialVariant>,
}

/// Components that entities lost, and that moved them.
#[derive(SystemParam)]
pub(crate) struct Ended<'w, 's> {
    attached: RemovedComponents<'w, 's, AttachedTo>,
    machines: RemovedComponents<'w, 's, Parameters>,
    walks: RemovedComponents<'w, 's, RootMotion>,
}

/// A layer fades out in this time if nothing plays on it any more.
const FADE_S: f32 = 0.2;

/// Hands what entities do to their instances, for the next step of the game.
pub(crate) fn act(
    plays: Query<(NameOrEntity, Ref<Instance>, Ref<Plays>), Changed<Plays>>,
    (scales, attached): (Changes<TimeScale>, Changes<AttachedTo>),
    (walkers, mut ended): (Query<(NameOrEntity, &Instance), Added<RootMotion>>, Ended),
    mut parameters: Query<(NameOrEntity, Ref<Instance>, &mut Parameters), Changed<Parameters>>,
    names: Query<NameOrEntity>,
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
    for (name, id, plays) in &plays {
        if !plays.last_changed().is_newer_than(id.added(), this_run) {
            continue;
        }
        let now = people
            .crowd
            .instance(id.0)
            .map_or(Vec::new(), |it| it.playing().collect());
        people.change(&Some(name), id.0, |it| {
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
    for (name, id, scale) in &scales {
        people.change(&Some(name), id.0, |it| it.set_time_scale(scale.0));
    }
    for (name, id, to) in &attached {
        match instances.get(&to.character) {
            Some(parent) => people.change(&Some(name), id.0, |it| {
                it.attach_to(attachment(*parent, to))
            }),
            None => {
                let why = format!("{} has no instance", to.character);
                people
                    .faults
                    .add(Level::Warn, "no carrier for ", &name, &why);
            }
        }
    }
    for (name, id) in &walkers {
        people.change(&Some(name), id.0, |it| {
            it.set_root_motion(RootMotionMode::Apply);
            Ok(())
        });
    }
    let mut lost = |entity: Entity, change: fn(&mut One<'_>) -> throng::Result<()>| {
        if let Some(id) = instances.get(&entity) {
            people.change(&names.get(entity).ok(), *id, change);
        }
    };
    for entity in ended.attached.read() {
        lost(entity, |it| {
            it.detach();
            Ok(())
        });
    }
    for entity in ended.machines.read() {
        lost(entity, |it| it.stop_state_machine(FADE_S));
    }
    for entity in ended.walks.read() {
        lost(entity, |it| {
            it.set_root_motion(RootMotionMode::Ignore);
            Ok(())
        });
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

type One<'a> = throng::Instance<&'a mut throng::Crowd>;

type Name<'a> = Option<NameOrEntityItem<'a, 'a>>;

/// The instances of entities, and what they refused in a run of a system.
struct People<'a> {
    crowd: &'a mut Crowd,
    faults: Faults,
}

impl<'a> People<'a> {
    fn of(crowd: &'a mut Crowd) -> Self {
        let faults = Faults::default();
        Self { crowd, faults }
    }

    fn change(
        &mut self,
        name: &Name<'_>,
        id: InstanceId,
        change: impl FnOnce(&mut One<'_>) -> throng::Result<()>,
    ) {
        let changed = self.crowd.instance_mut(id);
        let result = changed.and_then(|mut it| Ok(change(&mut it)?));
        self.note(name, result);
    }

    /// Hides these parts of an instance and no others.
    fn hide(&mut self, name: &Name<'_>, id: InstanceId, hidden: &[Cow<'static, str>]) {
        let result = hide(self.crowd, id, hidden);
        self.note(name, result);
    }

    fn note(&mut self, name: &Name<'_>, result: Result<(), throng_wgpu::Error>) {
        match (result, name) {
            // It was despawned in the meantime.
            (Ok(()) | Err(throng_wgpu::Error::Throng(Error::Stale { .. })), _) => {}
            (Err(why), Some(name)) => self.faults.add(Level::Warn, "", name, &why),
            (Err(why), None) => {
                let who = "an instance without an entity";
                self.faults.add(Level::Warn, "", &who, &why);
            }
        }
    }
}
