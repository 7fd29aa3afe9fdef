//! Model poses: local poses composed along the hierarchy.

use super::joints::{NO_PARENT, Skeleton, Transform};
use crate::error::{Result, expect_len};
use glam::Affine3A;

impl Skeleton {
    /// Computes the model pose: `model[j] = model[parent(j)] × local[j]`, roots unchanged.
    ///
    /// ```
    /// use throng::glam::Affine3A;
    ///
    /// let character = throng::builtin::mannequin()?.character;
    /// let skeleton = character.skeleton();
    /// let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    /// skeleton.model_pose(&skeleton.rest_pose(), &mut model)?;
    /// let head = model[skeleton.joint("Head")?.index()];
    /// assert!(head.translation.y > 1.0);
    /// # Ok::<(), throng::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if a slice does not have one element per joint.
    /// In that case nothing is written.
    #[doc(alias = "local_to_model")]
    pub fn model_pose(&self, local: &[Transform], model: &mut [Affine3A]) -> Result<()> {
        let joints = self.joints();
        expect_len("local pose", local.len(), joints.len())?;
        expect_len("model pose", model.len(), joints.len())?;
        for (index, (joint, local)) in joints.iter().zip(local).enumerate() {
            let parent_from_local = local.to_affine();
            model[index] = if joint.parent_index() == NO_PARENT {
                parent_from_local
            } else {
                model[usize::from(joint.parent_index())] * parent_from_local
            };
        }
        Ok(())
    }
}

/// The model pose of the rest pose.
///
/// # Errors
/// Never fails, because the slices have the right lengths.
pub(crate) fn rest_model_pose(skeleton: &Skeleton) -> Result<Vec<Affine3A>> {
    let mut model = vec![Affine3A::IDENTITY; skeleton.len()];
    skeleton.model_pose(&skeleton.rest_pose(), &mut model)?;
    Ok(model)
}
