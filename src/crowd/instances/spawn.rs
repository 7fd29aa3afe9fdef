//! Spawning, moving and despawning instances.

use crate::animator::{ActorId, NameOrId, Play, RootMotionMode, SpringMode};
use crate::crowd::Crowd;
use crate::crowd::characters::loaded::NewInstance;
use crate::crowd::instances::state::Colors;
use crate::crowd::{Attachment, CharacterId, InstanceId, SkinningStage};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, expect_placement};
use crate::mesh::{PartId, VariantId};
use crate::state_machine::Value;
use glam::Affine3A;

/// Options for spawning an instance.
///
/// The defaults are a character at the origin, in its rest pose, that every view shows.
///
/// ```
/// use throng::glam::Affine3A;
/// use throng::{Attachment, InstanceId, Play, Spawn};
///
/// # fn spawns(horse: InstanceId) {
/// let knight = Spawn {
///     play: Play::new("Ride").offset_s(0.3),
///     layers: &[Play::new("Wave").layer(1).mask("upper body")],
///     hidden_parts: &["helmet".into(), "cape".into()],
///     tint: [1.0, 0.8, 0.8, 1.0],
///     attachment: Some(Attachment::new(horse, "saddle")),
///     ..Spawn::default()
/// };
/// # let _ = knight;
/// # }
/// ```
///
/// Inverse kinematics targets and poses set by the caller take calls on the
/// [instance](crate::Instance).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spawn<'a> {
    /// World space from character space.
    pub world_from_model: Affine3A,
    /// Linear RGBA that multiplies the base colour. See
    /// [`Instance::set_tint`](crate::Instance::set_tint).
    pub tint: [f32; 4],
    /// Linear RGB for where a material takes the second colour. See
    /// [`Instance::set_second_tint`](crate::Instance::set_second_tint).
    pub second_tint: [f32; 3],
    /// A word for the engine's own shaders.
    pub user_data: u32,
    /// The clip that it plays. By default it stands in its rest pose.
    pub play: Play<'a>,
    /// More that it plays, on further layers.
    pub layers: &'a [Play<'a>],
    /// True if the character's state machine drives it.
    ///
    /// Then `play` and `layers` are for layers above the machine's.
    pub state_machine: bool,
    /// Values of state machine parameters, by name.
    ///
    /// The machine has them when it enters its initial states, in the first update. Transitions
    /// that they allow are taken at once, with their fades.
    ///
    /// Values are as in [`Actor::set_parameter`](crate::Actor::set_parameter): `1.4.into()`, or
    /// `true.into()` for a trigger, too.
    pub parameters: &'a [(&'a str, Value)],
    /// The root motion mode.
    pub root_motion: RootMotionMode,
    /// The stage that deforms its vertices.
    pub skinning_stage: SkinningStage,
    /// False to hide it. See [`Instance::set_visible`](crate::Instance::set_visible).
    pub visible: bool,
    /// The views that show it. See
    /// [`Instance::set_view_mask`](crate::Instance::set_view_mask).
    pub view_mask: u32,
    /// The parts that it hides, by name or id.
    pub hidden_parts: &'a [NameOrId<'a, PartId>],
    /// Its material variant, by name or id. See
    /// [`Instance::set_variant`](crate::Instance::set_variant).
    pub variant: Option<NameOrId<'a, VariantId>>,
    /// The instance that it is attached to.
    ///
    /// Its transform follows from that instance's at once.
    pub attachment: Option<Attachment<'a>>,
    /// Weights of expressions, by name.
    pub expressions: &'a [(&'a str, f32)],
    /// Overrides of all its morph weights, or empty for none.
    ///
    /// See [`Actor::set_morph_weights`](crate::Actor::set_morph_weights).
    pub morph_weights: &'a [Option<f32>],
    /// True to start with its time stopped. See [`Actor::set_paused`](crate::Actor::set_paused).
    pub paused: bool,
    /// The speed of its time, from 0 to a million. 1 is normal.
    pub time_scale: f32,
    /// The clock that its spring bones swing by.
    ///
    /// See [`Actor::set_springs`](crate::Actor::set_springs).
    pub springs: SpringMode,
    /// False to start without events. See [`Actor::set_events`](crate::Actor::set_events).
    pub events: bool,
}

impl Default for Spawn<'_> {
    fn default() -> Self {
        Self {
            world_from_model: Affine3A::IDENTITY,
            tint: [1.0; 4],
            second_tint: [1.0; 3],
            user_data: 0,
            play: Play::REST,
            layers: &[],
            state_machine: false,
            parameters: &[],
            root_motion: RootMotionMode::Ignore,
            skinning_stage: SkinningStage::Vertex,
            visible: true,
            view_mask: u32::MAX,
            hidden_parts: &[],
            variant: None,
            attachment: None,
            expressions: &[],
            morph_weights: &[],
            paused: false,
            time_scale: 1.0,
            springs: SpringMode::default(),
            events: true,
        }
    }
}

impl Crowd {
    /// Spawns an instance of `character`.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::UnknownName`] if the character does not exist, or
    ///   something that [`Spawn`] names, such as a clip, a part, a variant, an expression or a
    ///   parameter.
    /// - [`Error::Stale`] if the instance that it is attached to is not alive.
    /// - [`Error::Capacity`] if there is no capacity for another instance, its palette, morph
    ///   weights or deformed vertices (see [`Crowd::reserve`]).
    /// - [`Error::Argument`] for values that are not finite, for a transform that is flat or beyond
    ///   [`Character::MAX_EXTENT`](crate::character::Character::MAX_EXTENT), for a tint that is
    ///   negative or beyond the range of half precision, and for [`SkinningStage::Cpu`] if the
    ///   character was added without
    ///   [`CharacterDesc::cpu_skinning`](crate::CharacterDesc::cpu_skinning).
    /// - As the methods of [`Instance`](crate::Instance) that set the same.
    ///
    /// If this fails, there is no new instance.
    pub fn spawn(&mut self, character: CharacterId, spawn: &Spawn<'_>) -> Result<InstanceId> {
        let loaded = self.scene.characters.get(character)?;
        loaded.check_stage(spawn.skinning_stage)?;
        let sizes = loaded.sizes();
        expect_placement("world_from_model", &spawn.world_from_model)?;
        let colors = Colors {
            tint: spawn.tint,
            second_tint: spawn.second_tint,
        };
        colors.check()?;
        let instances = &self.scene.instances;
        instances.check_new(&sizes, spawn.skinning_stage)?;
        let more = instances.capacity().instances as usize - instances.len();
        let actor = self.add_actor(character, spawn, more)?;
        self.scene.characters[character.0].expect_member(more);
        let new = NewInstance {
            actor,
            world_from_model: spawn.world_from_model,
            colors,
            user_data: spawn.user_data,
            skin: spawn.skinning_stage,
        };
        let id = self.scene.insert(character.0, &new, None);
        if let Err(why) = self.apply(id, spawn) {
            self.despawn(id)?;
            return Err(why);
        }
        Ok(id)
    }

    /// Sets everything of a new instance that has a call of its own.
    fn apply(&mut self, id: InstanceId, spawn: &Spawn<'_>) -> Result<()> {
        let mut it = self.instance_mut(id)?;
        if let Some(attachment) = spawn.attachment {
            it.attach_to(attachment)?;
        }
        if spawn.root_motion != RootMotionMode::Ignore {
            it.set_root_motion(spawn.root_motion);
        }
        for play in spawn.layers {
            it.play(play.fade_s(0.0).inertial_s(0.0))?;
        }
        for (name, value) in spawn.parameters {
            it.set_parameter(*name, *value)?;
        }
        it.set_visible(spawn.visible);
        it.set_view_mask(spawn.view_mask);
        for part in spawn.hidden_parts {
            it.set_part_visible(*part, false)?;
        }
        if spawn.variant.is_some() {
            it.set_variant(spawn.variant)?;
        }
        for (name, weight) in spawn.expressions {
            it.set_expression(*name, *weight)?;
        }
        if !spawn.morph_weights.is_empty() {
            it.set_morph_weights(spawn.morph_weights)?;
        }
        if spawn.time_scale != 1.0 {
            it.set_time_scale(spawn.time_scale)?;
        }
        if spawn.paused {
            it.set_paused(true);
        }
        if spawn.springs != SpringMode::default() {
            it.set_springs(spawn.springs);
        }
        if !spawn.events {
            it.set_events(false);
        }
        Ok(())
    }

    /// Moves many instances, as [`Instance::set_transform`](crate::Instance::set_transform).
    ///
    /// An instance that is listed twice gets the last transform.
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] for an instance that is not alive.
    /// - [`Error::At`] with an instance's [index](crate::Instance::table_index) and
    ///   [`Error::Argument`], if its transform is not finite or flat, or if it is attached.
    ///
    /// If this fails, no instance has moved.
    pub fn set_transforms(&mut self, transforms: &[(InstanceId, Affine3A)]) -> Result<()> {
        for (id, world_from_model) in transforms {
            self.scene.instances.get(*id)?;
            self.scene.check_move(*id, world_from_model)?;
        }
        for (id, world_from_model) in transforms {
            self.move_to(*id, world_from_model, false);
        }
        Ok(())
    }

    /// Adds the actor of an instance to its character's animator. `more` instances fit.
    fn add_actor(
        &mut self,
        character: CharacterId,
        spawn: &Spawn<'_>,
        more: usize,
    ) -> Result<ActorId> {
        let animator = self.animators.of_mut(character)?;
        animator.expect_actor(more);
        let actor = match spawn.state_machine {
            false => animator.add(spawn.play)?,
            true => animator.add_with_state_machine()?,
        };
        let plays = spawn.play.clip.is_some() || spawn.play.blend_space.is_some();
        if spawn.state_machine
            && plays
            && let Err(why) = animator.actor_mut(actor)?.play(spawn.play)
        {
            animator.remove(actor)?;
            return Err(why);
        }
        animator.put(actor, &spawn.world_from_model, true);
        Ok(actor)
    }

    /// Despawns an instance.
    ///
    /// Instances attached to it are despawned, too, or detached if
    /// [`Attachment::outlives_parent`] was set.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn despawn(&mut self, id: InstanceId) -> Result<()> {
        self.scene.instances.get(id)?;
        for attached in self.release_family(id)? {
            self.remove(attached)?;
        }
        self.remove(id)
    }

    fn remove(&mut self, id: InstanceId) -> Result<()> {
        let (character, actor) = self.scene.remove(id);
        self.animators[character].remove(actor)
    }

    /// Returns true if the instance is alive.
    #[must_use]
    pub fn is_alive(&self, id: InstanceId) -> bool {
        self.scene.instances.get(id).is_ok()
    }

    /// All instances that are alive, in the order of the instance table.
    pub fn instances(&self) -> impl ExactSizeIterator<Item = InstanceId> + '_ {
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
