//! Methods of an instance's handle that change the instance.

#[cfg(doc)]
use crate::animator::Actor;
use crate::animator::NameOrId;
use crate::crowd::instances::attachments::Link;
use crate::crowd::instances::state::Colors;
use crate::crowd::scene::Scene;
use crate::crowd::{Attachment, CharacterId, Crowd, Instance, InstanceId, SkinningStage};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, expect_placement};
use crate::gpu::layout::GpuChange;
use crate::mesh::{PartId, VariantId};
use core::ops::DerefMut;
use glam::Affine3A;

impl Crowd {
    /// Moves an instance as the engine does, which [`Scene::check_move`] has allowed. `jump` leaves
    /// motion vectors out.
    #[inline]
    pub(crate) fn move_to(&mut self, id: InstanceId, world_from_model: &Affine3A, jump: bool) {
        let state = &self.scene.instances[id.index];
        let (animator, actor) = (&mut self.animators[state.character], state.actor);
        self.scene.put(animator, id, world_from_model, jump);
        animator.continue_root(actor);
    }
}

/// The controls that a crowd adds to those of an actor.
impl<C: DerefMut<Target = Crowd>> Instance<C> {
    pub(crate) fn scene_mut(&mut self) -> &mut Scene {
        &mut self.actor.animator.crowd.scene
    }

    fn change(&mut self, change: impl FnOnce(&mut GpuChange)) {
        let index = self.id().index;
        let instances = &mut self.scene_mut().instances;
        instances.change(index, |instance| change(&mut instance.record));
    }

    /// Moves the instance.
    ///
    /// Motion vectors include the motion from its transform in the view's last frame. To move it
    /// without motion vectors, use [`Self::teleport`]. Spring bones swing, and root motion
    /// continues from here.
    ///
    /// # Errors
    /// [`Error::At`] with the instance's [index](Self::table_index) and [`Error::Argument`], if the
    /// transform is not finite, if it is flat because a scale is 0 or its axes lie in a plane, or
    /// if the instance is [attached](Self::attach_to), because its transform then follows from its
    /// parent's.
    pub fn set_transform(&mut self, world_from_model: &Affine3A) -> Result<()> {
        self.move_to(world_from_model, false)
    }

    /// Moves the instance without motion vectors, and its spring bones without a swing.
    ///
    /// For motion vectors, it was at the new transform with the same pose in every view's last
    /// frame.
    ///
    /// # Errors
    /// As [`Self::set_transform`].
    pub fn teleport(&mut self, world_from_model: &Affine3A) -> Result<()> {
        self.move_to(world_from_model, true)
    }

    fn move_to(&mut self, world_from_model: &Affine3A, jump: bool) -> Result<()> {
        self.scene().check_move(self.id(), world_from_model)?;
        let id = self.id();
        if jump {
            self.scene_mut().attachments.teleport(id.index);
        }
        self.actor
            .animator
            .crowd
            .move_to(id, world_from_model, jump);
        Ok(())
    }

    fn change_colors(&mut self, change: impl FnOnce(&mut Colors)) -> Result<()> {
        let index = self.id().index;
        let instances = &mut self.scene_mut().instances;
        let mut colors = instances.colors(index);
        change(&mut colors);
        colors.check()?;
        instances.set_colors(index, colors);
        Ok(())
    }

    /// Sets its tint: linear RGBA that multiplies the base colour.
    ///
    /// [`Material::tint_weights`](crate::mesh::Material::tint_weights) says how much RGB applies.
    /// Alpha has an effect if the material is masked or blended. Shaders read the tint in half
    /// precision.
    ///
    /// # Errors
    /// [`Error::Argument`] for values that are negative, above 65,504 or not finite.
    pub fn set_tint(&mut self, tint: [f32; 4]) -> Result<()> {
        self.change_colors(|colors| colors.tint = tint)
    }

    /// Sets its second tint: linear RGB for team colours and the like.
    ///
    /// It shows on materials with a second weight in
    /// [`Material::tint_weights`](crate::mesh::Material::tint_weights).
    ///
    /// # Errors
    /// As [`Self::set_tint`].
    pub fn set_second_tint(&mut self, second_tint: [f32; 3]) -> Result<()> {
        self.change_colors(|colors| colors.second_tint = second_tint)
    }

    /// Sets the word that the engine's own shaders read.
    pub fn set_user_data(&mut self, user_data: u32) {
        self.change(|record| record.user = user_data);
    }

    /// Shows or hides the instance and everything attached to it.
    ///
    /// It applies to all views.
    ///
    /// A hidden instance is neither drawn nor animated. Its clips still advance with time, and it
    /// can be moved like any other.
    ///
    /// If no view showed an instance in the frame before, its first visible frame has no motion:
    /// for motion vectors, it had the same transform with the same pose in every view's last frame,
    /// as after [`Self::teleport`]. This also applies if [`Self::set_view_mask`] or
    /// [`Frame::make_list`](crate::Frame::make_list) kept it out of all views.
    #[doc(alias = "visibility")]
    pub fn set_visible(&mut self, visible: bool) {
        let index = self.id().index;
        let scene = self.scene_mut();
        scene
            .visibility
            .change(index, |marks| marks.visible = visible);
        scene.attachments.note(index);
    }

    /// Sets the mask that decides which views show the instance.
    ///
    /// A view shows it if its [`View::mask`](crate::View::mask) and `mask` have a bit in common.
    /// The default is [`u32::MAX`], so every view shows it. With 0, none does. An instance that no
    /// view of a frame shows is not animated.
    ///
    /// For example, the player's own body in a first-person game is seen only by its shadow:
    /// `crowd.instance_mut(body)?.set_view_mask(SHADOW)`, where the camera's view has a mask
    /// without the bit `SHADOW`.
    #[doc(alias = "cull")]
    pub fn set_view_mask(&mut self, mask: u32) {
        let index = self.id().index;
        let visibility = &mut self.scene_mut().visibility;
        visibility.change(index, |marks| marks.mask = mask);
    }

    /// Shows or hides a part of the instance.
    ///
    /// It applies to all views and passes.
    ///
    /// A part is the primitives of a node, by its name or as
    /// [`Character::part`](crate::character::Character::part) gives it.
    ///
    /// A hidden part costs nothing on the GPU, because its draws leave the instance out. Instances
    /// that hide nothing cost no more than without this feature. If the CPU culls, the primitives
    /// in question take up to one more draw call for each set of hidden parts that occurs among the
    /// instances of a character. If the GPU culls, each primitive has one more draw at each near
    /// level of detail, and its list takes 4 bytes for each view and instance that hides anything.
    ///
    /// In [`SkinningStage::Compute`] and [`SkinningStage::Cpu`], hidden vertices are deformed all
    /// the same, so a part that is shown again has the right motion at once.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::UnknownName`] if its character lacks the part.
    /// - [`Error::Capacity`] if the part has primitives past [`PartId::MAX_HIDEABLE`].
    pub fn set_part_visible<'n>(
        &mut self,
        part: impl Into<NameOrId<'n, PartId>>,
        visible: bool,
    ) -> Result<()> {
        let id = self.id();
        let loaded = self.scene().characters.get(self.character())?;
        let bits = loaded.part_bits(part.into())?;
        self.scene_mut().change_look(id, |look| match visible {
            true => look.hidden &= !bits,
            false => look.hidden |= bits,
        });
        Ok(())
    }

    /// Sets its material variant: other materials for some of its primitives, by one name.
    ///
    /// It applies to all views and passes. `None` means the materials of the file.
    /// [`Character::variants`](crate::character::Character::variants) has those of its character.
    ///
    /// Instances of all variants share the draws of a primitive if the device has
    /// [`Features::DESCRIPTOR_INDEXING`](crate::gpu::Features::DESCRIPTOR_INDEXING) and the
    /// materials are alike in alpha mode and sides. Otherwise there is a draw for each material.
    /// Levels of detail are those of an instance that hides parts.
    ///
    /// ```no_run
    /// # fn dress(crowd: &mut throng::Crowd, shoe: throng::InstanceId) -> throng::Result<()> {
    /// crowd.instance_mut(shoe)?.set_variant(Some("beach".into()))
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::UnknownName`] if its character lacks the variant.
    pub fn set_variant(&mut self, variant: Option<NameOrId<'_, VariantId>>) -> Result<()> {
        let id = self.id();
        let rig = &self.scene().characters.get(self.character())?.rig;
        let variant = match variant {
            None => 0,
            Some(variant) => variant.find("material variant", rig.variant_names())?.0 + 1,
        };
        self.scene_mut()
            .change_look(id, |look| look.variant = variant);
        Ok(())
    }

    /// Sets the stage that deforms its vertices.
    ///
    /// It applies from the next frame on.
    ///
    /// [`SkinningStage::Compute`] and [`SkinningStage::Cpu`] pay off if the instance is drawn in
    /// several passes. They also give the engine its deformed vertices
    /// ([`Frame::skinned`](crate::Frame::skinned)). They use
    /// [`Capacity::skinned_words`](crate::Capacity::skinned_words).
    ///
    /// # Errors
    /// - [`Error::Capacity`] if its deformed vertices do not fit (see [`Crowd::reserve`]).
    /// - [`Error::Argument`] for [`SkinningStage::Cpu`] if its character was added without
    ///   [`CharacterDesc::cpu_skinning`](crate::CharacterDesc::cpu_skinning).
    ///
    /// The instance is then unchanged.
    pub fn set_skinning_stage(&mut self, stage: SkinningStage) -> Result<()> {
        let id = self.id();
        let loaded = self.scene().characters.get(self.character())?;
        loaded.check_stage(stage)?;
        let scene = self.scene_mut();
        scene.instances.check_skin(id.index, stage)?;
        scene.set_skin(id, stage);
        Ok(())
    }

    /// Attaches the instance to a joint or a socket of another, its parent.
    ///
    /// From now on, its transform is the parent's transform × the socket's model matrix ×
    /// [`socket_from_child`](Attachment::socket_from_child): in the game at the time of the last
    /// update, and in a picture at that picture's. The caller has nothing else to do. If it is
    /// attached already, this replaces the old attachment, or only its offset:
    /// `it.attach_to(Attachment { socket_from_child, ..attachment })`, from the next prepared frame
    /// on.
    ///
    /// - Attached instances may have others attached to them, for example a sword in the hand of a
    ///   rider on a horse.
    /// - Motion vectors include the motion, unless one of the instances above it is teleported.
    /// - It follows even if no view shows the parent, so that the parent is not animated.
    /// - If the GPU poses the parent, it places this instance, too, up to four levels of
    ///   attachments deep and as many as
    ///   [`Capacity::attachments`](crate::Capacity::attachments). That costs the CPU nothing,
    ///   whatever moves. See [`Stats::placed_on_gpu`](crate::crowd::Stats::placed_on_gpu).
    /// - If the parent is hidden ([`Self::set_visible`]), it is hidden, too.
    /// - Root motion does not move an attached instance, but [`Actor::root_delta`] still reports
    ///   it. After [`Self::detach`] root motion continues from the instance's transform.
    /// - If the product overflows, it is where it was put last.
    /// - When the parent is despawned, so is this instance, unless
    ///   [`Attachment::outlives_parent`] says otherwise.
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if the parent is not alive.
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for a joint or socket that the parent's
    ///   character lacks.
    /// - [`Error::Argument`] if the offset is not finite or flat, or if the parent is this instance
    ///   or attached to it.
    pub fn attach_to(&mut self, attachment: Attachment<'_>) -> Result<()> {
        let Attachment {
            parent,
            socket,
            socket_from_child,
            outlives_parent,
        } = attachment;
        let scene = self.scene();
        let character = CharacterId(scene.instances.get(parent)?.character);
        let rig = &scene.characters.get(character)?.rig;
        let socket = socket.find(rig.skeleton(), rig.animation_set())?;
        expect_placement("socket_from_child", &socket_from_child)?;
        let link = Link {
            parent,
            socket,
            socket_from_child,
            outlives_parent,
        };
        let index = self.id().index;
        self.scene_mut().attachments.attach(index, link)
    }

    /// Detaches the instance from its parent. Returns whether it was attached.
    ///
    /// It stays where it is now: see [`Instance::transform`](Self::transform).
    pub fn detach(&mut self) -> bool {
        let world = self.transform();
        self.detach_at(&world)
    }

    /// Detaches the instance from its parent, and puts it where it is now, which the caller knows.
    pub(crate) fn detach_at(&mut self, world: &Affine3A) -> bool {
        if self.attachment().is_none() {
            return false;
        }
        let id = self.id();
        let attachments = &mut self.scene_mut().attachments;
        attachments.unlink(id.index);
        attachments.take_left_gpu(id.index);
        self.actor.animator.crowd.move_to(id, world, false);
        let scene = self.scene_mut();
        scene.attachments.note(id.index);
        scene
            .visibility
            .change(id.index, |marks| marks.parent_hidden = false);
        true
    }
}
