//! The crowd that the main world and the render world share.

use crate::asset::CharacterAsset;
use bevy::asset::{AssetId, Handle};
use bevy::ecs::entity::{EntityHashMap, EntityHashSet};
use bevy::ecs::prelude::*;
use bevy::platform::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use throng::character::Character;
use throng::{Capacity, CharacterDesc, CharacterId, InstanceId, SkinningStage};
use throng_wgpu::Crowd;

/// The crowd of the app.
///
/// [`Self::lock`] gives everything that a [`throng_wgpu::Crowd`] has, such as instances without
/// entities, queries, IK targets and snapshots. Instances of entities are despawned with their
/// entities, which do not notice if they lose them here.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_throng::{CharacterAsset, Play, Spawn, Throng};
///
/// /// Spawns people without entities.
/// fn spectators(throng: Res<Throng>, seats: &[Vec3], asset: &Handle<CharacterAsset>) -> Result {
///     let mut crowd = throng.lock()?;
///     let Some(person) = crowd.character(asset) else { return Ok(()) }; // not loaded yet
///     crowd.reserve_instances(asset, seats.len())?;
///     for seat in seats {
///         crowd.spawn(person, &Spawn {
///             world_from_model: throng::glam::Affine3A::from_translation(seat.to_array().into()),
///             play: Play::new("Wave"),
///             ..Spawn::default()
///         })?;
///     }
///     Ok(())
/// }
/// # let _ = spectators;
/// ```
#[derive(Resource, Clone, Default)]
pub struct Throng(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// The thread that has a [`ThrongLock`], or 0.
    holder: AtomicUsize,
}

/// A number of this thread, which no other one has while it lives.
fn thread() -> usize {
    thread_local!(static PLACE: u8 = const { 0 });
    PLACE.with(|place| core::ptr::from_ref(place).addr())
}

impl Throng {
    /// The crowd, until the result is dropped.
    ///
    /// The renderer needs it a few times in each frame, shortly. So a system may hold it, but keep
    /// it out of resources and tasks.
    ///
    /// # Errors
    /// - [`LockError::NoDevice`] before the app runs, and if there is no device for throng, with
    ///   which the app ends.
    /// - [`LockError::Held`] if this thread has an earlier result.
    pub fn lock(&self) -> Result<ThrongLock<'_>, LockError> {
        let (holder, thread) = (&self.0.holder, thread());
        // Only this thread writes its own number.
        if holder.load(Ordering::Relaxed) == thread {
            return Err(LockError::Held);
        }
        let state = self.state();
        if state.crowd.is_none() {
            return Err(LockError::NoDevice);
        }
        holder.store(thread, Ordering::Relaxed);
        Ok(ThrongLock { holder, state })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reason why [`Throng::lock`] gives nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// There is no device, so there is no crowd.
    #[error("there is no crowd, because the app has no device for throng")]
    NoDevice,
    /// This thread has locked the crowd, and would wait for itself.
    #[error("this thread has locked the crowd already")]
    Held,
}

/// The locked crowd. It dereferences to a [`throng_wgpu::Crowd`].
pub struct ThrongLock<'a> {
    holder: &'a AtomicUsize,
    state: MutexGuard<'a, State>,
}

impl Drop for ThrongLock<'_> {
    fn drop(&mut self) {
        self.holder.store(0, Ordering::Relaxed);
    }
}

impl ThrongLock<'_> {
    /// The character of an asset, once it is loaded.
    #[must_use]
    pub fn character(&self, asset: &Handle<CharacterAsset>) -> Option<CharacterId> {
        self.state
            .characters
            .get(&asset.id())
            .map(|loaded| loaded.id)
    }

    /// The entity of an instance, if it has one.
    #[must_use]
    pub fn entity(&self, id: InstanceId) -> Option<Entity> {
        self.state.entities.get(&id).copied()
    }

    /// Grows the crowd for this many more instances of a character, now.
    ///
    /// Entities need no such call. The frame that is being drawn may lack its people.
    ///
    /// # Errors
    /// As [`throng::Crowd::reserve`].
    pub fn reserve_instances(
        &mut self,
        asset: &Handle<CharacterAsset>,
        more: usize,
    ) -> Result<(), throng_wgpu::Error> {
        let state = &mut *self.state;
        state.want(asset.id(), more);
        state.grow()
    }
}

impl Deref for ThrongLock<'_> {
    type Target = Crowd;

    fn deref(&self) -> &Crowd {
        match &self.state.crowd {
            Some(crowd) => crowd,
            None => unreachable!("Throng::lock found it"),
        }
    }
}

impl DerefMut for ThrongLock<'_> {
    fn deref_mut(&mut self) -> &mut Crowd {
        match &mut self.state.crowd {
            Some(crowd) => crowd,
            None => unreachable!("Throng::lock found it"),
        }
    }
}

/// A character in the crowd.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) id: CharacterId,
    pub(crate) character: Character,
}

/// The options of all characters: those that can be picked keep their vertices for the CPU.
pub(crate) fn character_desc() -> CharacterDesc {
    CharacterDesc {
        cpu_skinning: cfg!(feature = "picking"),
        ..CharacterDesc::default()
    }
}

/// A change of an asset that the next frame makes.
#[derive(Debug)]
pub(crate) enum Change {
    Put(AssetId<CharacterAsset>, Box<Character>),
    Remove(AssetId<CharacterAsset>),
}

impl Change {
    pub(crate) fn asset(&self) -> AssetId<CharacterAsset> {
        match self {
            Self::Put(asset, _) | Self::Remove(asset) => *asset,
        }
    }
}

/// All that the worlds share.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) crowd: Option<Crowd>,
    pub(crate) characters: HashMap<AssetId<CharacterAsset>, Loaded>,
    pub(crate) changes: Vec<Change>,
    /// The characters that the last frame replaced.
    pub(crate) replaced: Vec<AssetId<CharacterAsset>>,
    pub(crate) instances: EntityHashMap<InstanceId>,
    pub(crate) entities: HashMap<InstanceId, Entity>,
    /// Entities whose state machine enters its first states in the next step. They are hidden until
    /// then, because they stand in the rest pose.
    pub(crate) fresh: EntityHashSet,
    /// The number of frames that are prepared even if nobody sees them. A crowd frees in its frames
    /// what earlier ones used.
    pub(crate) frees: u32,
    /// The instances for which the next frame reserves.
    pub(crate) wanted: Vec<(CharacterId, u32, SkinningStage)>,
}

impl State {
    /// Notes that this many more instances of a character are needed.
    pub(crate) fn want(&mut self, asset: AssetId<CharacterAsset>, more: usize) {
        if let Some(loaded) = self.characters.get(&asset) {
            let more = u32::try_from(more).unwrap_or(u32::MAX);
            self.wanted.push((loaded.id, more, SkinningStage::Vertex));
        }
    }

    /// Reserves for the instances that are wanted.
    pub(crate) fn grow(&mut self) -> Result<(), throng_wgpu::Error> {
        let wanted = core::mem::take(&mut self.wanted);
        let Some(crowd) = self.crowd.as_mut().filter(|_| !wanted.is_empty()) else {
            return Ok(());
        };
        let (have, need) = (crowd.capacity(), crowd.needed_capacity(&wanted)?);
        // Twice as much, so that a crowd that grows one by one seldom stops for that.
        let grown = |have: u32, need: u32| match need > have {
            true => need.max(have.saturating_mul(2)),
            false => have,
        };
        let more = Capacity {
            instances: grown(have.instances, need.instances).min(throng::Crowd::MAX_INSTANCES),
            palette_entries: grown(have.palette_entries, need.palette_entries),
            morph_weights: grown(have.morph_weights, need.morph_weights),
            blended: grown(have.blended, need.blended),
            ..have
        };
        match crowd.reserve(&more) {
            Ok(()) => Ok(()),
            Err(_) => crowd.reserve(&need),
        }
    }

    /// Reserves for views and histories.
    pub(crate) fn grow_views(
        &mut self,
        views: u32,
        histories: u32,
    ) -> Result<(), throng_wgpu::Error> {
        let Some(crowd) = &mut self.crowd else {
            return Ok(());
        };
        let have = crowd.capacity();
        if have.views >= views && have.histories >= histories {
            return Ok(());
        }
        crowd.reserve(&Capacity {
            views: have.views.max(views),
            histories: have.histories.max(histories),
            ..have
        })
    }

    pub(crate) fn remove_instance(&mut self, entity: Entity) {
        if let Some(id) = self.instances.remove(&entity) {
            self.entities.remove(&id);
            self.fresh.remove(&entity);
            if let Some(crowd) = &mut self.crowd {
                // Its parent may have taken it along.
                let _ = crowd.despawn(id);
            }
        }
    }
}
