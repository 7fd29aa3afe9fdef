//! The handle of an instance: what a crowd adds to the actor of an animator.

use super::instances::attachments::Attachment;
use super::instances::state::InstanceState;
use super::producers::skin::skinned_words;
use super::scene::{Scene, animator_mut};
use super::state::Crowd;
use super::visibility::marks::Marks;
use super::{CharacterId, InstanceId, SkinningStage};
use crate::animator::{Actor, Animator, JointRef};
use crate::error::{Error, Result, expect_transform};
use crate::gpu::GpuInstance;
use crate::mesh::PartId;
use core::ops::{Deref, DerefMut};
use glam::Affine3A;

/// An instance of a crowd, alive as long as this handle borrows the crowd.
///
/// [`Crowd::instance`] makes one that reads ([`InstanceRef`]), [`Crowd::instance_mut`] one that
/// also controls ([`InstanceMut`]). It dereferences to the instance's [`Actor`], which plays clips,
/// shows poses, sets parameters and so on.
///
/// ```no_run
/// use throng::glam::Affine3A;
/// use throng::{Crowd, InstanceId, Play, Result};
///
/// fn greet(crowd: &mut Crowd, guard: InstanceId, sword: InstanceId) -> Result<()> {
///     let mut guard = crowd.instance_mut(guard)?;
///     guard.set_tint([1.0, 0.8, 0.8, 1.0])?;
///     guard.play(Play::new("Idle").fade_s(0.25))?;
///     guard.play(Play::new("Wave").layer(1).once().fade_s(0.2))?;
///     guard.attach(sword, "hand.R", &Affine3A::IDENTITY)
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Instance<C> {
    actor: Actor<C>,
}

/// An instance, to read.
pub type InstanceRef<'a> = Instance<CrowdRef<'a>>;

/// An instance, to read and control.
pub type InstanceMut<'a> = Instance<CrowdMut<'a>>;

/// Access of an [`InstanceRef`] to its crowd.
#[derive(Debug, Clone, Copy)]
pub struct CrowdRef<'a> {
    animator: &'a Animator,
    scene: &'a Scene,
    id: InstanceId,
}

/// Access of an [`InstanceMut`] to its crowd.
#[derive(Debug)]
pub struct CrowdMut<'a> {
    pub(super) animator: &'a mut Animator,
    pub(super) scene: &'a mut Scene,
    pub(super) id: InstanceId,
}

impl Deref for CrowdRef<'_> {
    type Target = Animator;

    fn deref(&self) -> &Animator {
        self.animator
    }
}

impl Deref for CrowdMut<'_> {
    type Target = Animator;

    fn deref(&self) -> &Animator {
        self.animator
    }
}

impl DerefMut for CrowdMut<'_> {
    fn deref_mut(&mut self) -> &mut Animator {
        self.animator
    }
}

/// Access of an [`Instance`] to its crowd: [`CrowdRef`] or [`CrowdMut`].
pub trait InCrowd: Deref<Target = Animator> {
    /// The instances, and the id of this one, which is alive.
    #[doc(hidden)]
    fn member(&self) -> (&Scene, InstanceId);
}

impl InCrowd for CrowdRef<'_> {
    fn member(&self) -> (&Scene, InstanceId) {
        (self.scene, self.id)
    }
}

impl InCrowd for CrowdMut<'_> {
    fn member(&self) -> (&Scene, InstanceId) {
        (self.scene, self.id)
    }
}

impl<C> Deref for Instance<C> {
    type Target = Actor<C>;

    fn deref(&self) -> &Actor<C> {
        &self.actor
    }
}

impl<C> DerefMut for Instance<C> {
    fn deref_mut(&mut self) -> &mut Actor<C> {
        &mut self.actor
    }
}

impl Crowd {
    /// An instance, to read.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn instance(&self, id: InstanceId) -> Result<InstanceRef<'_>> {
        let state = self.scene.instances.get(id)?;
        let access = CrowdRef {
            animator: self.animator(CharacterId(state.record.character))?,
            scene: &self.scene,
            id,
        };
        let actor = Actor::new(access, state.actor)?;
        Ok(Instance { actor })
    }

    /// An instance, to read and control.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn instance_mut(&mut self, id: InstanceId) -> Result<InstanceMut<'_>> {
        let actor = self.scene.instances.get(id)?.actor;
        let actor = Actor::new(self.access(id)?, actor)?;
        Ok(Instance { actor })
    }

    pub(super) fn access(&mut self, id: InstanceId) -> Result<CrowdMut<'_>> {
        let character = CharacterId(self.scene.instances.get(id)?.record.character);
        Ok(CrowdMut {
            animator: animator_mut(&mut self.animators, character)?,
            scene: &mut self.scene,
            id,
        })
    }
}

/// What a crowd knows of an instance.
impl<C: InCrowd> Instance<C> {
    fn scene(&self) -> &Scene {
        self.actor.animator.member().0
    }

    fn state(&self) -> &InstanceState {
        let (scene, id) = self.actor.animator.member();
        scene.instances.alive(id)
    }

    fn marks(&self) -> Marks {
        self.scene().visibility.marks(self.id().index)
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> InstanceId {
        self.actor.animator.member().1
    }

    /// Its character.
    #[must_use]
    pub fn character(&self) -> CharacterId {
        CharacterId(self.state().record.character)
    }

    /// Its index in the instance table, for the engine's own shaders.
    ///
    /// [`Crowd::instance_at`] is the inverse.
    #[must_use]
    pub fn table_index(&self) -> u32 {
        self.id().index
    }

    /// Its record, as the next prepared frame has it.
    #[must_use]
    pub fn record(&self) -> GpuInstance {
        let mut next = self.state().clone();
        next.in_ring = !self.actor.animator.is_resting(next.actor);
        next.write_offsets();
        next.record
    }

    /// Its tint: linear RGBA that multiplies the base colour.
    #[must_use]
    pub fn tint(&self) -> [f32; 4] {
        self.state().record.tint
    }

    /// The word that the engine's own shaders read.
    #[must_use]
    pub fn user_data(&self) -> u32 {
        self.state().record.user
    }

    /// The stage that deforms its vertices.
    #[must_use]
    pub fn skinning_stage(&self) -> SkinningStage {
        self.state().skin
    }

    /// The flag that [`InstanceMut::set_visible`] set.
    ///
    /// The instance may still be hidden, because something that it is attached to is.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        self.marks().visible
    }

    /// The mask that decides which views show it.
    #[must_use]
    pub fn view_mask(&self) -> u32 {
        self.marks().mask
    }

    /// Returns true if it shows all primitives of a part.
    ///
    /// # Errors
    /// As [`InstanceMut::set_part_visible`].
    pub fn is_part_visible(&self, part: PartId) -> Result<bool> {
        let rig = &self.scene().entry(self.character())?.rig;
        Ok(self.marks().hidden & rig.part_bits(part)? == 0)
    }

    /// Its parts that are hidden.
    pub fn hidden_parts(&self) -> impl Iterator<Item = PartId> + '_ {
        let hidden = self.marks().hidden;
        let rig = self.scene().entry(self.character()).ok();
        let rigs = rig.into_iter().map(|entry| &entry.rig);
        rigs.flat_map(move |rig| {
            let parts = rig.parts().map(|(part, _)| part);
            parts.filter(move |part| {
                let bits = rig.part_bits(*part).unwrap_or(0);
                bits != 0 && hidden & bits == bits
            })
        })
    }

    /// What it is attached to, with socket and offset. `None` if it is not attached.
    #[must_use]
    pub fn attachment(&self) -> Option<Attachment> {
        self.scene().attachments.of(self.id().index).copied()
    }

    /// The instances that are attached to it.
    pub fn attached(&self) -> impl Iterator<Item = InstanceId> + '_ {
        let (scene, id) = self.actor.animator.member();
        let children = scene.attachments.children(id.index);
        children.filter_map(|index| scene.instances.id(index))
    }

    /// World space from a joint's or a socket's space, at time `time_s`.
    ///
    /// The instance's present transform and what it plays now are used, as in
    /// [`Actor::joint_model`]. `time_s` is the engine's time and may be before or after that of the
    /// frame.
    ///
    /// For something attached to a joint, such as a sword:
    /// `crowd.instance(id)?.joint_transform("RightHand", time_s)? * hand_from_sword`.
    ///
    /// # Errors
    /// [`Error::NotFound`] or [`Error::UnknownName`] if its character lacks the joint or socket.
    #[doc(alias = "bone")]
    pub fn joint_transform<'j>(
        &self,
        joint: impl Into<JointRef<'j>>,
        time_s: f64,
    ) -> Result<Affine3A> {
        Ok(self.transform() * self.joint_model(joint, time_s)?)
    }
}

/// The controls that a crowd adds to those of an actor.
impl InstanceMut<'_> {
    fn change(&mut self, change: impl FnOnce(&mut GpuInstance)) {
        let index = self.id().index;
        let instances = &mut self.actor.animator.scene.instances;
        instances.change(index, |instance| change(&mut instance.record));
    }

    /// Moves the instance.
    ///
    /// Motion vectors include the motion from its transform in the view's last frame. To move it
    /// without motion vectors, use [`Self::teleport`]. Spring bones swing, and root motion
    /// continues from here.
    ///
    /// # Errors
    /// [`Error::Argument`] if the transform is not finite, or if the instance is
    /// [attached](Self::attach), because its transform then follows from its parent's.
    pub fn set_transform(&mut self, world_from_model: &Affine3A) -> Result<()> {
        self.place(world_from_model, false)
    }

    /// Moves the instance without motion vectors, and its spring bones without a swing.
    ///
    /// For motion vectors, it was at the new place with the same pose in every view's last frame.
    ///
    /// # Errors
    /// As [`Self::set_transform`].
    pub fn teleport(&mut self, world_from_model: &Affine3A) -> Result<()> {
        self.place(world_from_model, true)
    }

    fn place(&mut self, world_from_model: &Affine3A, jump: bool) -> Result<()> {
        expect_transform("world_from_model", world_from_model)?;
        if self.attachment().is_some() {
            return Err(Error::invalid(
                "world_from_model",
                "of an attached instance follows from its parent: see set_attach_offset and detach",
            ));
        }
        let actor = self.state().actor;
        let access = &mut self.actor.animator;
        if jump {
            access.scene.attachments.teleport(access.id.index);
        }
        access.put(world_from_model, jump)?;
        access.animator.continue_root(actor);
        Ok(())
    }

    /// Gives the actor of a new instance its transform.
    pub(super) fn place_first(&mut self, world_from_model: &Affine3A) {
        let actor = self.state().actor;
        let animator = &mut self.actor.animator.animator;
        animator.put(actor, world_from_model, true);
    }

    /// Sets its tint: linear RGBA that multiplies the base colour.
    ///
    /// Alpha has an effect if the material is masked or blended.
    ///
    /// # Errors
    /// [`Error::Argument`] for values that are not finite.
    pub fn set_tint(&mut self, tint: [f32; 4]) -> Result<()> {
        check_tint(tint)?;
        self.change(|record| record.tint = tint);
        Ok(())
    }

    /// Sets the word that the engine's own shaders read.
    pub fn set_user_data(&mut self, user_data: u32) {
        self.change(|record| record.user = user_data);
    }

    /// Shows or hides the instance and everything attached to it.
    ///
    /// It applies to all views.
    ///
    /// A hidden instance is neither drawn nor animated. Its clips advance with time all the same,
    /// and it can be moved like any other.
    ///
    /// If no view showed an instance in the frame before, its first visible frame has no motion:
    /// for motion vectors, it was at the same place with the same pose in every view's last frame,
    /// as after [`Self::teleport`]. This also applies if [`Self::set_view_mask`] or
    /// [`Frame::make_list`](super::Frame::make_list) kept it out of all views.
    #[doc(alias = "visibility")]
    pub fn set_visible(&mut self, visible: bool) {
        let index = self.id().index;
        let visibility = &mut self.actor.animator.scene.visibility;
        visibility.change(index, |marks| marks.visible = visible);
    }

    /// Sets the mask that decides which views show the instance.
    ///
    /// A view shows it if its [`View::mask`](super::View::mask) and `mask` have a bit in common.
    /// The default is [`u32::MAX`], so every view shows it. With 0, none does. An instance that no
    /// view of a frame shows is not animated.
    ///
    /// For example, the player's own body in a first-person game is seen only by its shadow:
    /// `crowd.instance_mut(body)?.set_view_mask(SHADOW)`, where the camera's view has a mask
    /// without the bit `SHADOW`.
    #[doc(alias = "cull")]
    pub fn set_view_mask(&mut self, mask: u32) {
        let index = self.id().index;
        let visibility = &mut self.actor.animator.scene.visibility;
        visibility.change(index, |marks| marks.mask = mask);
    }

    /// Shows or hides a part of the instance.
    ///
    /// It applies to all views and passes.
    ///
    /// A part is the primitives of a node, as
    /// [`Character::part`](crate::character::Character::part) gives it.
    ///
    /// A hidden part costs nothing on the GPU, because its draws leave the instance out. Instances
    /// that hide nothing cost no more than without this feature. For each set of hidden parts that
    /// occurs among the instances of a character, the primitives in question take up to one more
    /// draw call.
    ///
    /// In [`SkinningStage::Compute`] and [`SkinningStage::Cpu`], hidden vertices are deformed all
    /// the same, so a part that is shown again has the right motion at once.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if its character lacks the part.
    /// - [`Error::Capacity`] if the part has primitives past [`PartId::MAX_HIDEABLE`].
    pub fn set_part_visible(&mut self, part: PartId, visible: bool) -> Result<()> {
        let (index, character) = (self.id().index, self.character());
        let scene = &mut *self.actor.animator.scene;
        let entry = scene.entry_mut(character)?;
        let bits = entry.rig.part_bits(part)?;
        let [before, after] = scene.visibility.hide(index, bits, !visible);
        if before != after {
            let entry = scene.entry_mut(character)?;
            entry.hiding = entry.hiding + usize::from(after) - usize::from(before);
            let capacity = *scene.instances.capacity();
            scene.reserve_visibility(&capacity);
        }
        Ok(())
    }

    /// Sets the stage that deforms its vertices.
    ///
    /// It applies from the next frame on.
    ///
    /// [`SkinningStage::Compute`] and [`SkinningStage::Cpu`] pay off if the instance is drawn in
    /// several passes. They also give the engine its deformed vertices
    /// ([`Frame::skinned`](super::Frame::skinned)). They use
    /// [`Capacity::skinned_words`](crate::Capacity::skinned_words).
    ///
    /// # Errors
    /// - [`Error::Capacity`] if its deformed vertices do not fit (see [`Crowd::reserve`]).
    /// - [`Error::Argument`] for [`SkinningStage::Cpu`] if its character was added without
    ///   [`CharacterDesc::cpu_skinning`](crate::CharacterDesc::cpu_skinning).
    ///
    /// The instance is then unchanged.
    pub fn set_skinning_stage(&mut self, stage: SkinningStage) -> Result<()> {
        let (id, state) = (self.id(), self.state());
        let before = (state.skin, state.skinned.size);
        let words = skinned_words(self.scene().entry(self.character())?, stage)?;
        let scene = &mut *self.actor.animator.scene;
        scene.instances.check_skinned((stage, words), before)?;
        scene.instances.set_skin(id, stage, words);
        scene.reserve_deformed();
        Ok(())
    }

    /// Attaches another instance to a joint or a socket of this one.
    ///
    /// From the next prepared frame on, the child's transform is this instance's transform × the
    /// socket's model matrix × `socket_from_child`, at that frame's time. The caller has nothing
    /// else to do. If the child is attached already, this replaces the old attachment.
    ///
    /// - Attached instances may have others attached to them, for example a sword in the hand of a
    ///   rider on a horse.
    /// - Motion vectors include the motion, unless one of the instances above it is teleported.
    /// - The child follows even if no view shows the parent, so that the parent is not animated.
    /// - If the parent is hidden ([`Self::set_visible`]), the child is hidden, too.
    /// - Root motion does not move an attached instance, but [`Actor::root_delta`] still reports
    ///   it. After [`Self::detach`] root motion continues from the instance's transform.
    /// - If the product overflows, the child keeps its transform.
    /// - When the parent is despawned, so is the child, unless [`Self::set_outlives_parent`] says
    ///   otherwise.
    ///
    /// # Errors
    /// - [`Error::Stale`] or [`Error::NotFound`] if the child is not alive.
    /// - [`Error::NotFound`] or [`Error::UnknownName`] for a joint or socket that this instance's
    ///   character lacks.
    /// - [`Error::Argument`] if the offset is not finite, or if this instance is the child itself
    ///   or attached to it.
    pub fn attach<'j>(
        &mut self,
        child: InstanceId,
        socket: impl Into<JointRef<'j>>,
        socket_from_child: &Affine3A,
    ) -> Result<()> {
        let (parent, scene) = (self.id(), self.scene());
        scene.instances.get(child)?;
        let rig = &scene.entry(self.character())?.rig;
        let attachment = Attachment {
            parent,
            socket: socket.into().find(rig.skeleton(), rig.animation_set())?,
            socket_from_child: *socket_from_child,
            outlives_parent: false,
        };
        expect_transform("socket_from_child", socket_from_child)?;
        let attachments = &mut self.actor.animator.scene.attachments;
        attachments.attach(child.index, attachment)
    }

    /// Changes the offset of an attached instance, from the next prepared frame on.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is not attached, or if the offset is not finite.
    pub fn set_attach_offset(&mut self, socket_from_child: &Affine3A) -> Result<()> {
        expect_transform("socket_from_child", socket_from_child)?;
        self.attachment_mut()?.socket_from_child = *socket_from_child;
        Ok(())
    }

    /// Sets whether an attached instance stays alive when its parent is despawned.
    ///
    /// If `outlives` is true, the instance is detached at that moment and keeps its transform of
    /// the last prepared frame. By default it is despawned with its parent. [`Self::attach`] resets
    /// this.
    ///
    /// # Errors
    /// [`Error::Argument`] if it is not attached.
    pub fn set_outlives_parent(&mut self, outlives: bool) -> Result<()> {
        self.attachment_mut()?.outlives_parent = outlives;
        Ok(())
    }

    fn attachment_mut(&mut self) -> Result<&mut Attachment> {
        let index = self.id().index;
        let attachment = self.actor.animator.scene.attachments.of_mut(index);
        attachment.ok_or(Error::invalid("instance", "is not attached"))
    }

    /// Detaches the instance from its parent. Returns whether it was attached.
    ///
    /// It stays where the last prepared frame had it.
    pub fn detach(&mut self) -> bool {
        let attached = self.attachment().is_some();
        let actor = self.state().actor;
        let CrowdMut {
            animator,
            scene,
            id,
        } = &mut self.actor.animator;
        if attached {
            animator.continue_root(actor);
        }
        scene.attachments.unlink(id.index);
        scene
            .visibility
            .change(id.index, |marks| marks.parent_hidden = false);
        attached
    }
}

pub(super) fn check_tint(tint: [f32; 4]) -> Result<()> {
    match tint.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(Error::not_finite("tint", *value)),
    }
}
