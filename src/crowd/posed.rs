//! Poses that the engine provides.

use super::state::Crowd;
use super::{CharacterId, InstanceId};
use crate::animator::ShowPose;
use crate::error::{Result, expect_len};
use crate::gpu::palettes;
use crate::skeleton::Transform;
use glam::Affine3A;

impl Crowd {
    /// Shows a model pose that the engine provides.
    ///
    /// The pose has one transform for each joint of its character's skeleton: character space from
    /// the joint's space. It replaces what the layer plays, with a cross-fade, and stays until it
    /// is set again or something else is played on the layer.
    ///
    /// Front faces depend on the rest pose and the clips, as
    /// [`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip) says. A pose that flips a
    /// joint that no clip flips shows its back faces.
    ///
    /// # Errors
    /// - As [`Animator::show_model_pose`](crate::animator::Animator::show_model_pose).
    /// - [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the palette format of the
    ///   character's skinning method cannot represent the pose.
    ///
    /// The instance is then unchanged.
    #[doc(alias = "ragdoll")]
    pub fn show_model_pose(
        &mut self,
        id: InstanceId,
        model: &[Affine3A],
        show: &ShowPose<'_>,
    ) -> Result<()> {
        self.check_pose(id, model)?;
        self.with_actor(id, |animator, actor| {
            animator.show_model_pose(actor, model, show)
        })
    }

    /// Shows a local pose that the engine provides: one transform for each joint.
    ///
    /// See [`Self::show_model_pose`].
    ///
    /// # Errors
    /// As [`Self::show_model_pose`].
    pub fn show_pose(
        &mut self,
        id: InstanceId,
        local: &[Transform],
        show: &ShowPose<'_>,
    ) -> Result<()> {
        self.check_local(id, local)?;
        self.with_actor(id, |animator, actor| animator.show_pose(actor, local, show))
    }

    /// Replaces the model pose that an instance shows.
    ///
    /// If it shows none, the pose is shown at once, on layer 0.
    ///
    /// # Errors
    /// As [`Self::show_model_pose`].
    pub fn set_model_pose(&mut self, id: InstanceId, model: &[Affine3A]) -> Result<()> {
        self.check_pose(id, model)?;
        self.with_actor(id, |animator, actor| {
            if animator.shows_pose(actor)? {
                animator.set_model_pose(actor, model)
            } else {
                animator.show_model_pose(actor, model, &ShowPose::default())
            }
        })
    }

    /// Replaces the pose that an instance shows with a local pose.
    ///
    /// If it shows none, the pose is shown at once, on layer 0.
    ///
    /// # Errors
    /// As [`Self::show_model_pose`].
    pub fn set_pose(&mut self, id: InstanceId, local: &[Transform]) -> Result<()> {
        self.check_local(id, local)?;
        self.with_actor(id, |animator, actor| {
            if animator.shows_pose(actor)? {
                animator.set_pose(actor, local)
            } else {
                animator.show_pose(actor, local, &ShowPose::default())
            }
        })
    }

    fn check_local(&mut self, id: InstanceId, local: &[Transform]) -> Result<()> {
        let character = CharacterId(self.instances.get(id)?.record.character);
        let skeleton = self.entry(character)?.rig.skeleton();
        expect_len("local pose", local.len(), skeleton.len())?;
        let mut model = vec![Affine3A::IDENTITY; local.len()];
        skeleton.model_pose(local, &mut model)?;
        self.check_pose(id, &model)
    }

    /// Checks that the format of the character's palettes can represent a model pose.
    fn check_pose(&mut self, id: InstanceId, model: &[Affine3A]) -> Result<()> {
        let character = CharacterId(self.instances.get(id)?.record.character);
        let (format, scratch) = (self.entry(character)?.mesh.format(), &mut self.scratch);
        let mut taken = core::mem::take(scratch);
        let rig = &self.entry(character)?.rig;
        let finite = model.iter().all(|matrix| matrix.is_finite());
        let checked = if finite && model.len() == rig.skeleton().len() {
            palettes::check(rig, format, model, &mut taken)
        } else {
            // The animator reports this error.
            Ok(())
        };
        self.scratch = taken;
        checked
    }
}
