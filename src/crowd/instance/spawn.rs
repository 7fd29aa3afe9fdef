//! Spawning, moving and despawning instances.

use super::control::check_tint;
use crate::animator::{ActorId, Play, RootMotionMode};
use crate::crowd::crowd::Crowd;
use crate::crowd::instances::state::{Allocation, InstanceState, morph_words};
use crate::crowd::scene::{animator_mut, is_flipped};
use crate::crowd::{CharacterId, InstanceId, SkinningStage};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, expect_transform};
use crate::gpu::GpuInstance;
use crate::palette::Mat3x4;
use bytemuck::Zeroable;
use glam::Affine3A;

/// Options for spawning an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spawn<'a> {
    /// World space from character space.
    pub world_from_model: Affine3A,
    /// Linear RGBA that multiplies the base colour. See
    /// [`InstanceMut::set_tint`](crate::InstanceMut::set_tint).
    pub tint: [f32; 4],
    /// A word for the engine's own shaders.
    pub user_data: u32,
    /// The clip that it plays. By default it stands in its rest pose.
    pub play: Play<'a>,
    /// True if the character's state machine drives it.
    ///
    /// Then `play` is for a layer above the machine's layers, or for nothing.
    pub driven: bool,
    /// The root motion mode.
    pub root_motion: RootMotionMode,
    /// The stage that deforms its vertices.
    pub skinning_stage: SkinningStage,
}

impl Default for Spawn<'_> {
    fn default() -> Self {
        Self {
            world_from_model: Affine3A::IDENTITY,
            tint: [1.0; 4],
            user_data: 0,
            play: Play::REST,
            driven: false,
            root_motion: RootMotionMode::Ignore,
            skinning_stage: SkinningStage::Vertex,
        }
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
    ///   [`CharacterDesc::cpu_skinning`](crate::CharacterDesc::cpu_skinning).
    pub fn spawn(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<InstanceId> {
        let loaded = self.scene.characters.get(character)?;
        let rows = loaded.palette_rows();
        let morphs = morph_words(loaded.rig.morph_weights().len());
        let skinned = loaded.skinned_words(spawn.skinning_stage)?;
        let member = loaded.members.len() as u32;
        let rest_palette = loaded.mesh.rest_palette();
        expect_transform("world_from_model", &spawn.world_from_model)?;
        check_tint(spawn.tint)?;
        let instances = &self.scene.instances;
        instances.check_capacity(rows, morphs, (spawn.skinning_stage, skinned))?;
        let actor = self.add_actor(character, spawn)?;
        let flipped = is_flipped(&spawn.world_from_model);
        let allocation = |size| Allocation { start: 0, size };
        let id = self.scene.instances.add(InstanceState {
            record: GpuInstance {
                world_from_model: Mat3x4::from_affine(&spawn.world_from_model),
                tint: spawn.tint,
                character: character.0,
                user: spawn.user_data,
                ..Zeroable::zeroed()
            },
            actor,
            in_ring: false,
            rest_palette,
            generation: 0,
            alive: true,
            dirty: false,
            flipped,
            member,
            skin: spawn.skinning_stage,
            rows: allocation(rows),
            morphs: allocation(morphs),
            skinned: allocation(skinned),
        });
        let loaded = self.scene.characters.get_mut(character)?;
        loaded.members.push(id.index);
        loaded.flipped += usize::from(flipped);
        let actor = actor.index as usize;
        if loaded.instance_of_actor.len() <= actor {
            loaded.instance_of_actor.resize(actor + 1, u32::MAX);
        }
        loaded.instance_of_actor[actor] = id.index;
        self.scene.animated.spawned(id.index);
        self.scene.visibility.spawned(id.index);
        self.scene.reserve_deformed();
        let mut instance = self.instance_mut(id)?;
        instance.put_first(&spawn.world_from_model);
        if spawn.root_motion != RootMotionMode::Ignore {
            instance.set_root_motion(spawn.root_motion);
        }
        Ok(id)
    }

    /// Adds the actor of an instance to its character's animator.
    fn add_actor(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<ActorId> {
        let animator = animator_mut(&mut self.animators, character)?;
        if !spawn.driven {
            return animator.add(spawn.play);
        }
        let actor = animator.add_driven()?;
        let plays = spawn.play.clip.is_some() || spawn.play.blend_space.is_some();
        if plays && let Err(why) = animator.actor_mut(actor)?.play(spawn.play) {
            animator.remove(actor)?;
            return Err(why);
        }
        Ok(actor)
    }

    /// Despawns an instance.
    ///
    /// Instances attached to it are despawned, too, or detached if
    /// [`set_outlives_parent`](crate::InstanceMut::set_outlives_parent)
    /// was set.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn despawn(&mut self, id: InstanceId) -> Result<()> {
        for attached in self.release_family(id)? {
            self.remove(attached)?;
        }
        self.remove(id)
    }

    fn remove(&mut self, id: InstanceId) -> Result<()> {
        let (flipped, actor) = {
            let instance = self.scene.instances.get(id)?;
            (instance.flipped, instance.actor)
        };
        let (character, member) = self.scene.instances.remove(id)?;
        let character = CharacterId(character);
        let hides = self.scene.visibility.despawned(id.index);
        animator_mut(&mut self.animators, character)?.remove(actor)?;
        let loaded = self.scene.characters.get_mut(character)?;
        loaded.flipped -= usize::from(flipped);
        loaded.hiding -= usize::from(hides);
        loaded.members.swap_remove(member as usize);
        if let Some(moved) = loaded.members.get(member as usize).copied() {
            self.scene.instances.set_member(moved, member);
        }
        Ok(())
    }

    /// Returns true if the instance is alive.
    #[must_use]
    pub fn is_alive(&self, id: InstanceId) -> bool {
        self.scene.instances.get(id).is_ok()
    }

    /// The number of living instances.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scene.instances.len()
    }

    /// Returns true if no instance is alive.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All instances that are alive, in the order of the instance table.
    pub fn instances(&self) -> impl Iterator<Item = InstanceId> + '_ {
        self.scene.instances.ids()
    }

    /// The instances of a character, in no particular order.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn instances_of(
        &self,
        character: CharacterId,
    ) -> Result<impl ExactSizeIterator<Item = InstanceId> + '_> {
        let members = self.scene.characters.get(character)?.members.iter();
        // Every member is alive, so the generation in the table is that of the member.
        Ok(members.map(|index| self.scene.instances.any_id(*index)))
    }

    /// The living instance at an index of the instance table.
    ///
    /// [`Instance::table_index`](crate::Instance::table_index) is the inverse.
    #[must_use]
    pub fn instance_at(&self, table_index: u32) -> Option<InstanceId> {
        self.scene.instances.id(table_index)
    }
}
