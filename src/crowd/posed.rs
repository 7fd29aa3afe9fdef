//! Poses that the engine makes itself.

use super::state::Crowd;
use super::{CharacterId, InstanceId};
use crate::animator::ShowPose;
use crate::error::{Result, expect_len};
use crate::gpu::palettes;
use crate::skeleton::{Affine, Transform, model_pose};

impl Crowd {
    /// Shows a model pose of the engine's own making: character space from each joint's space, one
    /// for each joint of its character's skeleton. It takes the place of what the layer plays, in a
    /// cross-fade, and stays until it is set again or something else is played on the layer.
    ///
    /// Front faces are told from the rest pose and the clips, as
    /// [`PaletteJoint::may_flip`](crate::mesh::PaletteJoint::may_flip) says: a pose that
    /// mirrors where no clip does shows its back faces.
    ///
    /// # Errors
    /// As [`Animator::show_model_pose`](crate::animator::Animator::show_model_pose);
    /// [`Error::Unrepresentable`](crate::Error::Unrepresentable) if the character's method cannot represent the pose.
    /// The instance stays as it was then.
    #[doc(alias = "ragdoll")]
    pub fn show_model_pose(
        &mut self,
        id: InstanceId,
        model: &[Affine],
        show: &ShowPose<'_>,
    ) -> Result<()> {
        self.check_pose(id, model)?;
        self.with_actor(id, |animator, actor| {
            animator.show_model_pose(actor, model, show)
        })
    }

    /// Shows a local pose of the engine's own making: one transform for each joint. As
    /// [`Self::show_model_pose`].
    ///
    /// # Errors
    /// As there.
    pub fn show_pose(
        &mut self,
        id: InstanceId,
        local: &[Transform],
        show: &ShowPose<'_>,
    ) -> Result<()> {
        self.check_local(id, local)?;
        self.with_actor(id, |animator, actor| animator.show_pose(actor, local, show))
    }

    /// Changes the pose that an instance shows; if it shows none, shows it at once, on layer 0.
    ///
    /// # Errors
    /// As [`Self::show_model_pose`].
    pub fn set_model_pose(&mut self, id: InstanceId, model: &[Affine]) -> Result<()> {
        self.check_pose(id, model)?;
        self.with_actor(id, |animator, actor| {
            if animator.shows_pose(actor)? {
                animator.set_model_pose(actor, model)
            } else {
                animator.show_model_pose(actor, model, &ShowPose::default())
            }
        })
    }

    /// Changes the pose that an instance shows; if it shows none, shows it at once, on layer 0.
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
        let mut model = vec![Affine::IDENTITY; local.len()];
        model_pose(skeleton, local, &mut model)?;
        self.check_pose(id, &model)
    }

    /// Whether the format of the character's palettes can represent a model pose.
    fn check_pose(&mut self, id: InstanceId, model: &[Affine]) -> Result<()> {
        let character = CharacterId(self.instances.get(id)?.record.character);
        let (format, scratch) = (self.entry(character)?.mesh.format(), &mut self.scratch);
        let mut taken = core::mem::take(scratch);
        let rig = &self.entry(character)?.rig;
        let finite = model.iter().all(|matrix| matrix.is_finite());
        let checked = if finite && model.len() == rig.skeleton().len() {
            palettes::check(rig, format, model, &mut taken)
        } else {
            // The animator says what is wrong.
            Ok(())
        };
        self.scratch = taken;
        checked
    }
}
