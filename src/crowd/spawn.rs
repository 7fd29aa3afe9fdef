//! Spawning, moving and despawning instances.

use super::instance_state::{Allocation, InstanceState, morph_words};
use super::skin::skinned_words;
use super::state::Crowd;
use super::{CharacterId, InstanceId, SkinningStage};
use crate::animator::{ActorId, Play, RootMotionMode};
use crate::error::{Error, Result, expect_transform};
use crate::gpu::GpuInstance;
use crate::palette::Mat3x4;
use bytemuck::Zeroable;
use glam::Affine3A;

/// Options for spawning an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spawn<'a> {
    /// World space from character space.
    pub world_from_model: Affine3A,
    /// Linear RGBA that multiplies the base colour. See [`Crowd::set_tint`].
    pub tint: [f32; 4],
    /// A word for the engine's own shaders.
    pub user: u32,
    /// The clip that it plays. By default it stands in its rest pose.
    pub play: Play<'a>,
    /// True if the character's state machine drives it.
    ///
    /// Then `play` is for a layer above the machine's layers, or for nothing.
    pub driven: bool,
    /// The root motion mode.
    pub root_motion: RootMotionMode,
    /// The stage that deforms its vertices.
    pub skin: SkinningStage,
}

impl Default for Spawn<'_> {
    fn default() -> Self {
        Self {
            world_from_model: Affine3A::IDENTITY,
            tint: [1.0; 4],
            user: 0,
            play: Play::REST,
            driven: false,
            root_motion: RootMotionMode::Ignore,
            skin: SkinningStage::Vertex,
        }
    }
}

fn check_tint(tint: [f32; 4]) -> Result<()> {
    match tint.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(Error::not_finite("tint", *value)),
    }
}

impl Crowd {
    /// Spawns an instance of `character`.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::UnknownName`] if the character or clip does not exist.
    /// - [`Error::Capacity`] if there is no capacity for another instance, its palette, morph
    ///   weights or deformed vertices (see [`Crowd::reserve`]).
    /// - [`Error::Argument`] for values that are not finite, for a transform beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT), and for
    ///   [`SkinningStage::Cpu`] if the character was added without
    ///   [`CharacterDesc::cpu_skinning`](super::CharacterDesc::cpu_skinning).
    pub fn spawn(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<InstanceId> {
        let entry = self.entry(character)?;
        let rows = entry.rig.palette().len() as u32 * entry.mesh.entry_rows();
        let morphs = morph_words(entry.rig.morph_weights().len());
        let skinned = skinned_words(entry, spawn.skin)?;
        let place = entry.members.len() as u32;
        let rest_palette = entry.mesh.rest_palette();
        expect_transform("world_from_model", &spawn.world_from_model)?;
        check_tint(spawn.tint)?;
        self.instances
            .check_capacity(rows, morphs, (spawn.skin, skinned))?;
        let actor = self.add_actor(character, spawn)?;
        let flipped = is_flipped(&spawn.world_from_model);
        let allocation = |size| Allocation { start: 0, size };
        let id = self.instances.add(InstanceState {
            record: GpuInstance {
                world_from_model: Mat3x4::from_affine(&spawn.world_from_model),
                tint: spawn.tint,
                character: character.0,
                user: spawn.user,
                ..Zeroable::zeroed()
            },
            actor,
            in_ring: false,
            rest_palette,
            rooted: None,
            generation: 0,
            alive: true,
            dirty: false,
            flipped,
            place,
            skin: spawn.skin,
            rows: allocation(rows),
            morphs: allocation(morphs),
            skinned: allocation(skinned),
        });
        if let Some(Some(entry)) = self.characters.get_mut(character.0 as usize) {
            entry.members.push(id.index);
            entry.flipped += usize::from(flipped);
            let (instance_actor, actor) = (actor, actor.index as usize);
            if entry.instance_of_actor.len() <= actor {
                entry.instance_of_actor.resize(actor + 1, u32::MAX);
            }
            entry.instance_of_actor[actor] = id.index;
            entry.move_springs(instance_actor, &spawn.world_from_model, true)?;
        }
        self.animated.spawned(id.index);
        self.visibility.spawned(id.index);
        if spawn.root_motion != RootMotionMode::Ignore {
            self.set_root_motion(id, spawn.root_motion)?;
        }
        self.deforms.reserve(self.instances.cpu_skinned());
        self.animated
            .reserve_deformed(self.instances.cpu_skinned().count as usize);
        Ok(id)
    }

    /// Adds the actor of an instance to its character's animator.
    fn add_actor(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<ActorId> {
        let count = self.characters.len() as u64;
        let entry = self.characters.get_mut(character.0 as usize);
        let entry = entry.and_then(Option::as_mut).ok_or(Error::NotFound {
            what: "character",
            index: character.0.into(),
            count,
        })?;
        let animator = &mut entry.animator;
        if !spawn.driven {
            return animator.add(spawn.play);
        }
        let actor = animator.add_driven()?;
        let plays = spawn.play.clip.is_some() || spawn.play.blend_space.is_some();
        if plays && let Err(why) = animator.play(actor, spawn.play) {
            animator.remove(actor)?;
            return Err(why);
        }
        Ok(actor)
    }

    /// Despawns an instance.
    ///
    /// Instances attached to it are despawned, too, or detached if [`Self::set_outlives_parent`]
    /// was set.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn despawn(&mut self, id: InstanceId) -> Result<()> {
        self.instances.get(id)?;
        for attached in self.release_family(id) {
            self.remove(attached)?;
        }
        self.remove(id)
    }

    fn remove(&mut self, id: InstanceId) -> Result<()> {
        let flipped = self.instances.get(id)?.flipped;
        let hides = self.visibility.hidden(id.index) != 0;
        let instance = self.instances.get(id)?;
        let (actor, rooted) = (instance.actor, instance.rooted.is_some());
        let (character, place) = self.instances.remove(id)?;
        self.visibility.despawned(id.index);
        if let Some(Some(entry)) = self.characters.get_mut(character as usize) {
            entry.flipped -= usize::from(flipped);
            entry.hiding -= usize::from(hides);
            entry.rooted -= usize::from(rooted);
            entry.animator.remove(actor)?;
            entry.members.swap_remove(place as usize);
            if let Some(moved) = entry.members.get(place as usize)
                && let Some(instance) = self.instances.states.get_mut(*moved as usize)
            {
                instance.place = place;
            }
        }
        Ok(())
    }

    /// Returns true if the instance is alive.
    #[must_use]
    pub fn is_alive(&self, id: InstanceId) -> bool {
        self.instances.get(id).is_ok()
    }

    /// The instance's index in the instance table, for the engine's own shaders.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn table_index(&self, id: InstanceId) -> Result<u32> {
        self.instances.get(id).map(|_| id.index)
    }

    /// The instance's record, as the next prepared frame has it.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn instance(&self, id: InstanceId) -> Result<GpuInstance> {
        let instance = self.instances.get(id)?;
        let (animator, actor) = self.actor(id)?;
        let mut next = instance.clone();
        next.in_ring = !animator.is_resting(actor);
        next.write_offsets();
        Ok(next.record)
    }

    /// Moves an instance.
    ///
    /// Motion vectors include the motion from its transform in the view's last frame. To move it
    /// without motion vectors, use [`Self::teleport`].
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    /// - [`Error::Argument`] if the transform is not finite or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT), or if the instance is
    ///   [attached](Self::attach), because its transform then follows from its parent's.
    pub fn set_transform(&mut self, id: InstanceId, world_from_model: &Affine3A) -> Result<()> {
        self.place(id, world_from_model, false)
    }

    /// Moves an instance without motion vectors.
    ///
    /// For motion vectors, it was at the new place with the same pose in every view's last frame.
    ///
    /// # Errors
    /// As [`Self::set_transform`].
    pub fn teleport(&mut self, id: InstanceId, world_from_model: &Affine3A) -> Result<()> {
        self.place(id, world_from_model, true)
    }

    fn place(&mut self, id: InstanceId, world_from_model: &Affine3A, jump: bool) -> Result<()> {
        expect_transform("world_from_model", world_from_model)?;
        self.instances.get(id)?;
        self.check_free(id)?;
        if jump {
            self.teleport_attached(id.index);
        }
        self.put(id, world_from_model, jump)?;
        if self.instances.get(id)?.rooted.is_some() {
            self.root_at(id)?;
        }
        Ok(())
    }

    /// Sets the transform of an instance, which must be finite. `jump` leaves motion vectors out.
    pub(super) fn put(
        &mut self,
        id: InstanceId,
        world_from_model: &Affine3A,
        jump: bool,
    ) -> Result<()> {
        let instance = self.instances.get(id)?;
        let (before, now) = (instance.flipped, is_flipped(world_from_model));
        let (character, actor) = (instance.record.character, instance.actor);
        if let Some(Some(entry)) = self.characters.get_mut(character as usize) {
            entry.move_springs(actor, world_from_model, jump)?;
        }
        if before != now
            && let Some(Some(entry)) = self.characters.get_mut(character as usize)
        {
            entry.flipped = entry.flipped + usize::from(now) - usize::from(before);
        }
        let stamp = jump.then(|| self.instances.new_stamp());
        self.instances.change(id, |instance| {
            instance.record.world_from_model = Mat3x4::from_affine(world_from_model);
            instance.record.stamp = stamp.unwrap_or(instance.record.stamp);
            instance.flipped = now;
        })
    }

    /// Sets the tint of an instance: linear RGBA that multiplies the base colour.
    ///
    /// Alpha has an effect if the material is masked or blended.
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    /// - [`Error::Argument`] for values that are not finite.
    pub fn set_tint(&mut self, id: InstanceId, tint: [f32; 4]) -> Result<()> {
        check_tint(tint)?;
        self.instances
            .change(id, |instance| instance.record.tint = tint)
    }

    /// Sets the word that the engine's own shaders read.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn set_user(&mut self, id: InstanceId, user: u32) -> Result<()> {
        self.instances
            .change(id, |instance| instance.record.user = user)
    }
}

fn is_flipped(transform: &Affine3A) -> bool {
    transform.matrix3.determinant() < 0.0
}
