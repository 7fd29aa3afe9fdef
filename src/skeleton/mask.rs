//! Masks: the weight that each joint takes of a layer.

use super::joints::Skeleton;
use crate::error::{Result, expect_cap, expect_in, expect_len};

/// The fraction of a layer's weight that applies to each joint.
///
/// It holds one weight in 0..=1 per joint, in the order of the skeleton.
///
/// ```
/// use throng::skeleton::Mask;
///
/// let character = throng::builtin::mannequin()?.character;
/// let skeleton = character.skeleton();
/// let root = &skeleton.joints()[0].name;
/// let whole = Mask::none(skeleton).with_subtree(skeleton, root, 1.0)?;
/// assert!(whole.weights().iter().all(|weight| *weight == 1.0));
/// assert!(Mask::none(skeleton).with_joint(skeleton, "No such joint", 1.0).is_err());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mask {
    weights: Vec<f32>,
}

impl Mask {
    /// Weight 0 for all joints.
    #[must_use]
    pub fn none(skeleton: &Skeleton) -> Self {
        Self {
            weights: vec![0.0; skeleton.len()],
        }
    }

    /// Weight 1 for all joints.
    #[must_use]
    pub fn all(skeleton: &Skeleton) -> Self {
        Self {
            weights: vec![1.0; skeleton.len()],
        }
    }

    /// Creates a mask with one weight per joint, in skeleton order.
    ///
    /// # Errors
    /// - [`Error::At`](crate::Error::At) with the first weight that is not in 0..=1.
    /// - [`Error::Capacity`](crate::Error::Capacity) for more than [`Skeleton::MAX_JOINTS`].
    pub fn from_weights(weights: Vec<f32>) -> Result<Self> {
        expect_cap("joints of a mask", weights.len(), Skeleton::MAX_JOINTS)?;
        for (index, weight) in weights.iter().enumerate() {
            check(*weight).map_err(|why| why.at("joint", index))?;
        }
        Ok(Self { weights })
    }

    /// Sets the weight of the first joint with this name.
    ///
    /// # Errors
    /// - [`Error::UnknownName`](crate::Error::UnknownName) with the names that exist.
    /// - [`Error::Argument`](crate::Error::Argument) for a weight that is not in 0..=1, and for a
    ///   skeleton whose number of joints differs from the mask's.
    pub fn with_joint(mut self, skeleton: &Skeleton, name: &str, weight: f32) -> Result<Self> {
        check(weight)?;
        let joint = self.find(skeleton, name)?;
        self.weights[joint] = weight;
        Ok(self)
    }

    /// Sets the weight of the first joint with this name and its descendants.
    ///
    /// # Errors
    /// As [`Self::with_joint`].
    pub fn with_subtree(self, skeleton: &Skeleton, name: &str, weight: f32) -> Result<Self> {
        self.with_feathered_subtree(skeleton, name, weight, 0)
    }

    /// Sets the weight of a subtree, with a gradual transition at its top.
    ///
    /// Joints `depth` levels or more below the first joint with this name get `weight`. Joints
    /// above them, down from the named joint, change from the weight they had to `weight` in even
    /// steps. The named joint itself takes the first step. A layer on the upper body then bends the
    /// spine gradually instead of breaking it at one joint.
    ///
    /// # Errors
    /// As [`Self::with_joint`].
    pub fn with_feathered_subtree(
        mut self,
        skeleton: &Skeleton,
        name: &str,
        weight: f32,
        depth: u16,
    ) -> Result<Self> {
        check(weight)?;
        let top = self.find(skeleton, name)?;
        // Levels below the named joint. Parents come first.
        let mut below: Vec<Option<u32>> = vec![None; skeleton.len()];
        for (index, joint) in skeleton.joints().iter().enumerate().skip(top) {
            let above = below
                .get(usize::from(joint.parent_index()))
                .copied()
                .flatten();
            let steps = if index == top {
                0
            } else if let Some(above) = above {
                above + 1
            } else {
                continue;
            };
            below[index] = Some(steps);
            let own = &mut self.weights[index];
            *own = if steps >= u32::from(depth) {
                weight
            } else {
                let part = (steps + 1) as f32 / (f32::from(depth) + 1.0);
                *own + (weight - *own) * part
            };
        }
        Ok(self)
    }

    /// Inverts the mask: each weight becomes 1 minus itself.
    #[must_use]
    pub fn inverted(mut self) -> Self {
        for weight in &mut self.weights {
            *weight = 1.0 - *weight;
        }
        self
    }

    /// One weight per joint, each in 0..=1.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    fn find(&self, skeleton: &Skeleton, name: &str) -> Result<usize> {
        expect_len("mask", self.weights.len(), skeleton.len())?;
        skeleton.joint(name).map(usize::from)
    }
}

fn check(weight: f32) -> Result<()> {
    expect_in("mask weight", weight, 0.0, 1.0)
}
