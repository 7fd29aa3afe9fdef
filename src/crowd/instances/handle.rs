//! The handle of an instance: what a crowd adds to the actor of an animator.

use crate::animator::{Actor, Animator, JointRef, NameOrId};
#[cfg(doc)]
use crate::character::Character;
use crate::crowd::Crowd;
use crate::crowd::instances::attachments::Link;
use crate::crowd::instances::state::InstanceState;
use crate::crowd::instances::world::Moment;
use crate::crowd::scene::Scene;
use crate::crowd::visibility::{Look, Marks};
use crate::crowd::{Attachment, CharacterId, InstanceId, SkinningStage};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::GpuInstance;
use crate::mesh::{Aabb, PartId, Sphere, VariantId};
use core::ops::{Deref, DerefMut};
use glam::Affine3A;

/// An instance of a crowd, alive as long as this handle borrows the crowd.
///
/// [`Crowd::instance`] makes an `Instance<&Crowd>`, which reads. [`Crowd::instance_mut`] makes an
/// `Instance<&mut Crowd>`, which also controls. Both dereference to the instance's [`Actor`], which
/// plays clips, shows poses, sets parameters and so on.
///
/// ```no_run
/// use throng::{Attachment, Crowd, InstanceId, Play, Result};
///
/// fn greet(crowd: &mut Crowd, guard: InstanceId, sword: InstanceId) -> Result<()> {
///     let mut it = crowd.instance_mut(guard)?;
///     it.set_tint([1.0, 0.8, 0.8, 1.0])?;
///     it.play(Play::new("Idle").fade_s(0.25))?;
///     it.play(Play::new("Wave").layer(1).once().fade_s(0.2))?;
///     crowd.instance_mut(sword)?.attach_to(Attachment::new(guard, "hand.R"))
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Instance<C> {
    pub(crate) actor: Actor<InCrowd<C>>,
}

/// The animator of an instance's character, in its crowd.
#[derive(Debug, Clone, Copy)]
pub struct InCrowd<C> {
    pub(crate) crowd: C,
    id: InstanceId,
    character: u32,
}

impl<C: Deref<Target = Crowd>> InCrowd<C> {
    /// An instance, which must be alive.
    fn instance(crowd: C, id: InstanceId) -> Result<Instance<C>> {
        let state = crowd.scene.instances.get(id)?;
        let (actor, character) = (state.actor, state.character);
        let access = Self {
            crowd,
            id,
            character,
        };
        let actor = Actor::new(access, actor)?;
        Ok(Instance { actor })
    }
}

impl<C: Deref<Target = Crowd>> Deref for InCrowd<C> {
    type Target = Animator;

    fn deref(&self) -> &Animator {
        &self.crowd.animators[self.character]
    }
}

impl<C: DerefMut<Target = Crowd>> DerefMut for InCrowd<C> {
    fn deref_mut(&mut self) -> &mut Animator {
        &mut self.crowd.animators[self.character]
    }
}

impl<C> Deref for Instance<C> {
    type Target = Actor<InCrowd<C>>;

    fn deref(&self) -> &Self::Target {
        &self.actor
    }
}

impl<C> DerefMut for Instance<C> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.actor
    }
}

impl Crowd {
    /// An instance, to read.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn instance(&self, id: InstanceId) -> Result<Instance<&Self>> {
        InCrowd::instance(self, id)
    }

    /// An instance, to read and control.
    ///
    /// # Errors
    /// [`Error::Stale`] or [`Error::NotFound`] if it is not alive.
    pub fn instance_mut(&mut self, id: InstanceId) -> Result<Instance<&mut Self>> {
        InCrowd::instance(self, id)
    }
}

/// Reads the state of an instance.
impl<C: Deref<Target = Crowd>> Instance<C> {
    pub(crate) fn scene(&self) -> &Scene {
        &self.actor.animator.crowd.scene
    }

    pub(crate) fn state(&self) -> &InstanceState {
        &self.scene().instances[self.id().index]
    }

    pub(crate) fn look(&self) -> Look {
        self.scene().visibility.look(self.id().index)
    }

    pub(crate) fn marks(&self) -> Marks {
        self.scene().visibility.marks(self.id().index)
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> InstanceId {
        self.actor.animator.id
    }

    /// Its character.
    #[must_use]
    pub fn character(&self) -> CharacterId {
        CharacterId(self.state().character)
    }

    /// Its index in the instance table, for the engine's own shaders.
    ///
    /// [`Crowd::instance_at`] is the inverse.
    #[must_use]
    pub fn table_index(&self) -> u32 {
        self.id().index
    }

    /// Its record, as the next prepared frame has it.
    ///
    /// If the GPU poses it ([`Crowd::posed_by`](crate::Crowd::posed_by)), the GPU chooses its
    /// palette in each frame, and the one here is that of the rest pose.
    #[must_use]
    pub fn record(&self) -> GpuInstance {
        let in_ring = !self.actor.is_resting();
        let instances = &self.scene().instances;
        let mut record = instances.record_with(self.id().index, in_ring).instance();
        if self.attachment().is_some() {
            record.set_transform(&self.world(Moment::Picture));
        }
        record
    }

    /// World space from character space.
    ///
    /// It is what the instance was given last, or where its root motion took it in the last update.
    /// One that is attached is where its parent's joint was then: this evaluates the joint, and
    /// those that its parents are attached to. If the product of transforms overflows, it is where
    /// it was put last.
    ///
    /// [`Frame::transform`](crate::Frame::transform) has it in the picture.
    #[must_use]
    pub fn transform(&self) -> Affine3A {
        if self.attachment().is_none() {
            return self.actor.transform();
        }
        self.world(Moment::Game(self.actor.animator.crowd.time_s))
    }

    /// World space from character space at time `time_s`, as a picture of then shows it.
    ///
    /// It is [`Self::transform`], with root motion that goes on since the last update. Up to that
    /// update, it is where the game has it. `time_s` is the engine's time in seconds. Use it for
    /// what goes along with the instance in a picture that has not begun: a camera, or a sword with
    /// [`Actor::joint_model`].
    ///
    /// ```no_run
    /// # use throng::{Crowd, InstanceId, Result, glam::Affine3A};
    /// # fn sword(crowd: &Crowd, knight: InstanceId, hand_from_sword: Affine3A, time_s: f64)
    /// #     -> Result<Affine3A> {
    /// let it = crowd.instance(knight)?;
    /// let model_from_hand = it.joint_model("RightHand", time_s)?;
    /// let world_from_sword = it.transform_at(time_s) * model_from_hand * hand_from_sword;
    /// # Ok(world_from_sword)
    /// # }
    /// ```
    #[must_use]
    pub fn transform_at(&self, time_s: f64) -> Affine3A {
        self.world(Moment::Game(time_s))
    }

    /// World space from character space at a moment.
    pub(crate) fn world(&self, moment: Moment) -> Affine3A {
        self.actor.animator.crowd.world(moment, self.id().index)
    }

    /// Its tint: linear RGBA that multiplies the base colour.
    #[must_use]
    pub fn tint(&self) -> [f32; 4] {
        self.scene().instances.colors(self.id().index).tint
    }

    /// Its second tint: linear RGB for where a material takes the second colour.
    #[must_use]
    pub fn second_tint(&self) -> [f32; 3] {
        self.scene().instances.colors(self.id().index).second_tint
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

    /// The flag that [`Instance::set_visible`] set.
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
    /// As [`Instance::set_part_visible`].
    pub fn is_part_visible<'n>(&self, part: impl Into<NameOrId<'n, PartId>>) -> Result<bool> {
        let loaded = self.scene().characters.get(self.character())?;
        let hidden = self.look().hidden;
        Ok(hidden & loaded.part_bits(part.into())? == 0)
    }

    /// Its material variant. `None` means the materials of the file.
    #[must_use]
    pub fn variant(&self) -> Option<VariantId> {
        self.look().variant.checked_sub(1).map(VariantId::new)
    }

    /// The attachment: parent, socket and offset. `None` if it is not attached.
    #[must_use]
    pub fn attachment(&self) -> Option<Attachment<'static>> {
        let link = self.scene().attachments.of(self.id().index);
        link.map(Link::attachment)
    }

    /// The instances that are attached to it.
    pub fn attached(&self) -> impl Iterator<Item = InstanceId> + '_ {
        let scene = self.scene();
        let children = scene.attachments.children(self.id().index);
        children.filter_map(|index| scene.instances.id(index))
    }

    /// The bounding box in world space at time `time_s`, for culling, cameras and health bars.
    ///
    /// It is the box of [`Character::posed_bounds`] in the pose that the instance shows then, under
    /// its present transform. So it contains every vertex, up to the rounding of `f32`, usually
    /// with some space around it.
    ///
    /// - Parts count even if they are hidden, and so does an instance that is not visible.
    /// - With dual quaternions, vertices between strongly turned joints may lie slightly outside.
    /// - Spring bones that swing with pictures are stiff: see
    ///   [`SpringMode`](crate::animator::SpringMode).
    /// - What is attached to the instance has a box of its own.
    ///
    /// It is empty if the character has no vertices.
    ///
    /// # Cost
    /// It evaluates all joints one by one on the calling thread, and allocates. For many instances,
    /// such as all that may be selected, take [`Self::bounding_sphere`], which poses nothing, and
    /// this for the few whose sphere is not enough. `Aabb::from(sphere)` is the box around it.
    ///
    /// # Errors
    /// None for an instance of a character that an importer made.
    #[doc(alias = "aabb")]
    pub fn bounds(&self, time_s: f64) -> Result<Aabb> {
        let rig = &self.scene().characters.get(self.character())?.rig;
        let mut model = vec![Affine3A::IDENTITY; rig.skeleton().len()];
        let mut weights = vec![0.0; rig.morph_weights().len()];
        self.model_pose(time_s, &mut model)?;
        self.morph_weights(&mut weights)?;
        let bounds = rig.model_bounds(&model, &weights);
        Ok(bounds.transformed(&self.transform()))
    }

    /// A sphere in world space that contains the instance in every pose of what it plays.
    ///
    /// It is [`Actor::bounding_sphere`] under the instance's present transform, for the skinning
    /// method of its character. So it holds until the instance moves or something else is played.
    /// It costs next to nothing, while [`Self::bounds`] evaluates a pose. If the instance is
    /// attached, [`Self::transform`] evaluates a joint.
    ///
    /// - Parts count even if they are hidden, and so does an instance that is not visible.
    /// - What is attached to the instance has a sphere of its own.
    ///
    /// It is empty if the character has no vertices.
    #[must_use]
    pub fn bounding_sphere(&self) -> Sphere {
        let sphere = self.actor.bounding_sphere();
        sphere.transformed(&self.transform())
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
