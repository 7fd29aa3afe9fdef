//! A clip at a time, with a weight: one of those that an instance plays.

use crate::clip::Clip;
use crate::id::Id;
use crate::skeleton::Mask;

/// The weight of layer 0 from which the rest pose is invisible: 1, with a margin for rounding.
pub(crate) const FULL_WEIGHT: f32 = 0.999;

/// A clip at a time, with a weight: one of the samples that an instance plays.
///
/// Samples of one layer are blended with each other, and each layer is applied over the one below
/// it, the first over the rest pose. For each joint, the weight `w` is the sample's weight times
/// the mask's weight of that joint.
///
/// 1. First come clips that are not additive. If their weights sum to the full weight or more, the
///    layer gives their weighted mean. If they sum to less, the pose below gets the missing weight.
///    The full weight is [`FULL_WEIGHT`] on layer 0, and 1 on the layers above.
/// 2. Then come additive clips, in their order. Each adds its difference from its reference pose,
///    times `w`: the translation times `w`, the fraction `w` of the rotation, a normalised linear
///    interpolation from the identity on the shorter arc, and 1 + w · (the scale − 1).
///
/// In a mean, a rotation is negated if necessary, so that it lies in the half space of the sum so
/// far, which starts with the pose below.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClipSample<'a> {
    pub(crate) clip: &'a Clip,
    /// The clip's own time in seconds, clamped to the clip. NaN counts as 0.
    pub(crate) time_s: f64,
    /// Positive and finite.
    pub(crate) weight: f32,
    /// Scales the weight for each joint. `None` means the full weight for all joints.
    pub(crate) mask: Option<Id<Mask>>,
    /// The samples of an instance ascend in layer.
    pub(crate) layer: u8,
}

/// The full weight of a layer.
pub(super) fn full_weight(layer: u8) -> f64 {
    if layer == 0 { FULL_WEIGHT.into() } else { 1.0 }
}
