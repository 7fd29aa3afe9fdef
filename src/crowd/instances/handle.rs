//! The handle of an instance: what a crowd adds to the actor of an animator.

use crate::animator::{Actor, Animator, JointRef, NameOrId};
#[cfg(doc)]
use crate::character::Character;
use crate::crowd::Crowd;
use crate::crowd::characters::list::no_character;
use crate::crowd::instances::state::InstanceState;
use crate::crowd::instances::world::{Moment, OtherAnimators};
use crate::crowd::scene::Scene;
use crate::crowd::visibility::Marks;
use crate::crowd::{Attachment, CharacterId, InstanceId, SkinningStage};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::GpuInstance;
use crate::mesh::{Aabb, PartId, Sphere};
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
    pub(crate) actor: Actor<C>,
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
    others: OtherAnimators<'a>,
}

/// Access of an [`InstanceMut`] to its crowd.
#[derive(Debug)]
pub struct CrowdMut<'a> {
    pub(crate) animator: &'a mut Animator,
    pub(crate) scene: &'a mut Scene,
    pub(crate) id: InstanceId,
    others: OtherAnimators<'a>,
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
///
/// It is sealed: only this crate can name what its methods return.
pub trait CrowdAccess: Deref<Target = Animator> {
    /// The instances, and the id of this one, which is alive.
    #[doc(hidden)]
    fn member(&self) -> (&Scene, InstanceId);

    /// The animators of other characters.
    #[doc(hidden)]
    fn others(&self) -> OtherAnimators<'_>;
}

impl CrowdAccess for CrowdRef<'_> {
    fn member(&self) -> (&Scene, InstanceId) {
        (self.scene, self.id)
    }

    fn others(&self) -> OtherAnimators<'_> {
        self.others
    }
}

impl CrowdAccess for CrowdMut<'_> {
    fn member(&self) -> (&Scene, InstanceId) {
        (self.scene, self.id)
    }

    fn others(&self) -> OtherAnimators<'_> {
        self.others
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

impl CrowdMut<'_> {
    /// Moves the instance, as the engine does. [`Scene::check_move`] has allowed it.
    pub(crate) fn move_to(&mut self, world_from_model: &Affine3A, jump: bool) {
        self.put(world_from_model, jump);
        let actor = self.scene.instances[self.id.index].actor;
        self.animator.continue_root(actor);
    }

    /// Sets the transform, which must be finite. `jump` leaves motion vectors out.
    pub(crate) fn put(&mut self, world_from_model: &Affine3A, jump: bool) {
        let Self {
            animator,
            scene,
            id,
            ..
        } = self;
        scene.put(animator, *id, world_from_model, jump);
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
            animator: self.animator(CharacterId(state.character))?,
            scene: &self.scene,
            id,
            others: OtherAnimators {
                before: self.animators.as_slice(),
                after: &[],
                time_s: self.time_s,
            },
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

    pub(crate) fn access(&mut self, id: InstanceId) -> Result<CrowdMut<'_>> {
        let character = self.scene.instances.get(id)?.character;
        let count = self.animators.len();
        let missing = || no_character(CharacterId(character), count);
        let animators = self.animators.as_mut_slice();
        let split = animators.split_at_mut_checked(character as usize);
        let (before, after) = split.ok_or_else(missing)?;
        let (own, after) = after.split_first_mut().ok_or_else(missing)?;
        Ok(CrowdMut {
            animator: own.as_mut().ok_or_else(missing)?,
            scene: &mut self.scene,
            id,
            others: OtherAnimators {
                before,
                after,
                time_s: self.time_s,
            },
        })
    }
}

/// Reads the state of an instance.
impl<C: CrowdAccess> Instance<C> {
    pub(crate) fn scene(&self) -> &Scene {
        self.actor.animator.member().0
    }

    pub(crate) fn state(&self) -> &InstanceState {
        let (scene, id) = self.actor.animator.member();
        &scene.instances[id.index]
    }

    pub(crate) fn marks(&self) -> Marks {
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
        let (scene, id) = self.actor.animator.member();
        let in_ring = !self.actor.is_resting();
        let mut record = scene.instances.record_with(id.index, in_ring).instance();
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
        self.world(Moment::Game(self.actor.animator.others().time_s))
    }

    /// World space from character space at a moment.
    pub(crate) fn world(&self, moment: Moment) -> Affine3A {
        let access = &self.actor.animator;
        let (scene, id) = access.member();
        let own = (self.state().character, &**access);
        access.others().world((scene, moment), id.index, own)
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
    pub fn is_part_visible<'n>(&self, part: impl Into<NameOrId<'n, PartId>>) -> Result<bool> {
        let loaded = self.scene().characters.get(self.character())?;
        let hidden = self.scene().visibility.hidden(self.id().index);
        Ok(hidden & loaded.part_bits(part.into())? == 0)
    }

    /// Its parts that are hidden.
    pub fn hidden_parts(&self) -> impl Iterator<Item = PartId> + '_ {
        let hidden = self.scene().visibility.hidden(self.id().index);
        let loaded = self.scene().characters.get(self.character()).ok();
        let rigs = loaded.into_iter().map(|loaded| &loaded.rig);
        rigs.flat_map(move |rig| {
            let parts = rig.parts().map(|(part, _)| part);
            parts.filter(move |part| {
                let bits = rig.part_bits(*part).unwrap_or(0);
                bits != 0 && hidden & bits == bits
            })
        })
    }

    /// The attachment: parent, socket and offset. `None` if it is not attached.
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
