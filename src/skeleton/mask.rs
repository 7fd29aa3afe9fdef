//! Masks: the weight that each joint takes of a layer.

use super::joints::{Joint, Skeleton};
use crate::id::Id;

/// The fraction of a layer's weight that applies to each joint.
///
/// A character has the masks that its description states, see
/// [`AnimationDesc::masks`](crate::character::AnimationDesc::masks).
///
/// ```
/// use throng::character::AnimationDesc;
/// use throng::state_machine::{MaskBranchDesc, MaskDesc};
///
/// let arm = MaskBranchDesc { joint: "LeftUpperArm".into(), weight: 1.0, feather: 0 };
/// let desc = AnimationDesc {
///     masks: vec![MaskDesc { name: "left arm".into(), branches: vec![arm] }],
///     ..AnimationDesc::default()
/// };
/// let character = throng::builtin::mannequin()?.character.with_animation(&desc)?;
/// let mask = &character.masks()[character.mask("left arm")?.index()];
/// let hand = character.skeleton().joint("LeftHand")?;
/// assert_eq!(mask.weights[hand.index()], 1.0);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Mask {
    /// The name, which is unique among the masks of a character.
    pub name: Box<str>,
    /// One weight per joint, each in 0..=1.
    pub weights: Vec<f32>,
}

impl Mask {
    /// Weight 0 for all joints.
    pub(crate) fn none(name: &str, skeleton: &Skeleton) -> Self {
        Self {
            name: name.into(),
            weights: vec![0.0; skeleton.len()],
        }
    }

    /// Sets the weight of a joint and its descendants, with a gradual transition at the top.
    ///
    /// Joints `feather` levels or more below `top` get `weight`. Joints above them, down from
    /// `top`, change from the weight they had to `weight` in even steps. `top` itself takes the
    /// first step. A layer on the upper body then bends the spine gradually instead of breaking it
    /// at one joint.
    pub(crate) fn set_subtree(
        &mut self,
        skeleton: &Skeleton,
        top: Id<Joint>,
        weight: f32,
        feather: u16,
    ) {
        // Levels below `top`. Parents come first.
        let mut below: Vec<Option<u32>> = vec![None; skeleton.len()];
        for (index, joint) in skeleton.joints().iter().enumerate().skip(top.index()) {
            let above = below
                .get(usize::from(joint.parent_index()))
                .copied()
                .flatten();
            let steps = if index == top.index() {
                0
            } else if let Some(above) = above {
                above + 1
            } else {
                continue;
            };
            below[index] = Some(steps);
            let own = &mut self.weights[index];
            *own = if steps >= u32::from(feather) {
                weight
            } else {
                let part = (steps + 1) as f32 / (f32::from(feather) + 1.0);
                *own + (weight - *own) * part
            };
        }
    }
}
