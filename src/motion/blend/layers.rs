//! Blending of whole local poses.

use super::joint::{JointPart, blend_joint};
use crate::error::{Error, Result, expect_in, expect_len};
use crate::skeleton::{Mask, Transform};

/// The default threshold of the first level, the same as in ozz-animation.
pub const BLEND_THRESHOLD: f32 = 0.1;

/// One of the poses that [`blend`] blends.
#[derive(Debug, Clone, Copy)]
pub struct PoseLayer<'a> {
    /// One transform per joint.
    ///
    /// For an additive layer, it is the difference from its reference pose: see
    /// [`difference`](crate::clip::difference()).
    pub pose: &'a [Transform],
    /// Its weight in the blend: finite and not negative. With weight 0, the layer is ignored.
    pub weight: f32,
    /// Scales the weight for each joint. `None` means the full weight for all joints.
    pub mask: Option<&'a Mask>,
    /// True if the pose is a difference to add.
    ///
    /// If false, it takes part in the mean.
    pub additive: bool,
    /// The level that it belongs to.
    pub level: u8,
}

impl<'a> PoseLayer<'a> {
    /// Creates a layer with weight 1 on the first level.
    ///
    /// It affects all joints.
    #[must_use]
    pub const fn new(pose: &'a [Transform]) -> Self {
        Self {
            pose,
            weight: 1.0,
            mask: None,
            additive: false,
            level: 0,
        }
    }

    /// Sets the weight.
    #[must_use]
    pub const fn weighted(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Restricts it to the joints of a mask.
    #[must_use]
    pub const fn masked(self, mask: &'a Mask) -> Self {
        Self {
            mask: Some(mask),
            ..self
        }
    }

    /// Makes the layer additive: its pose is a difference.
    #[must_use]
    pub const fn added(self) -> Self {
        Self {
            additive: true,
            ..self
        }
    }

    /// Sets the level.
    #[must_use]
    pub const fn on_level(self, level: u8) -> Self {
        Self { level, ..self }
    }

    /// Checks the layer against the number of joints and the level of the layer before.
    pub(crate) fn check(&self, joints: usize, level: u8) -> Result<()> {
        check_weight(self.weight)?;
        if self.weight == 0.0 {
            return Ok(());
        }
        if self.level < level {
            return Err(Error::invalid(
                "level",
                "must not be less than that of the previous layer",
            ));
        }
        expect_len("pose", self.pose.len(), joints)?;
        match self.mask {
            Some(mask) => expect_len("mask", mask.weights().len(), joints),
            None => Ok(()),
        }
    }
}

/// Blends local poses into `out`, one transform per joint.
///
/// The rule is that of [`ClipSample`](crate::motion::ClipSample). The weight `w` of a layer for a
/// joint is the layer's weight times the mask's weight of the joint. For each joint:
///
/// 1. The first level is applied over `rest`, and each level over the one below it. If the weights
///    `w` of its layers that are not additive sum to the threshold or more, the level gives the
///    mean of their poses. If they sum to less, the pose below gets the missing weight. The
///    threshold is `threshold` on level 0, and 1 on the levels above.
/// 2. Then come additive layers. Each adds `w` times its translation, rotates by the fraction `w`
///    of its rotation, and scales by 1 + w · (its scale − 1). The rotation is in the joint's own
///    space. Its fraction is a normalised linear interpolation from the identity, on the shorter
///    arc.
///
/// Rotations must be unit quaternions. In a mean, each is negated if necessary, so that it lies in
/// the half space of the sum so far, which starts with the pose below. Sums are computed in `f64`.
///
/// A pose blended with itself is that pose, and an identity difference changes nothing. The order
/// of layers in a level only affects rounding, unless rotations are half a turn or more apart, or
/// are added about different axes.
///
/// ```
/// use throng::skeleton::Transform;
/// use throng::glam::Vec3;
/// use throng::motion::{BLEND_THRESHOLD, PoseLayer, blend};
///
/// let at = |x| [Transform { translation: Vec3::X * x, ..Transform::IDENTITY }];
/// let (walk, run) = (at(1.0), at(3.0));
/// let layers = [PoseLayer::new(&walk).weighted(0.75), PoseLayer::new(&run).weighted(0.25)];
/// let mut out = at(0.0);
/// blend(&at(0.0), &layers, BLEND_THRESHOLD, &mut out)?;
/// assert_eq!(out, at(1.5));
/// # Ok::<(), throng::Error>(())
/// ```
///
/// # Errors
/// If there is an error, nothing is written.
///
/// - [`Error::Argument`] if `out` and `rest` have different lengths, or if the threshold is not
///   positive and finite.
/// - [`Error::At`] with the index of the first layer whose pose or mask has another length, whose
///   weight is negative or not finite, or whose level is below that of a layer before.
pub fn blend(
    rest: &[Transform],
    layers: &[PoseLayer<'_>],
    threshold: f32,
    out: &mut [Transform],
) -> Result<()> {
    expect_len("local pose", out.len(), rest.len())?;
    check_threshold(threshold)?;
    let mut level = 0;
    for (index, layer) in layers.iter().enumerate() {
        layer.check(rest.len(), level).map_err(|why| Error::At {
            what: "layer",
            index: index as u64,
            why: Box::new(why),
        })?;
        if layer.weight > 0.0 {
            level = layer.level;
        }
    }
    for (joint, (out, rest)) in out.iter_mut().zip(rest).enumerate() {
        let taking_part = layers.iter().filter(|layer| layer.weight > 0.0);
        let parts = taking_part.map(|layer| JointPart {
            value: layer.pose[joint],
            weight: layer.weight * layer.mask.map_or(1.0, |mask| mask.weights()[joint]),
            additive: layer.additive,
            level: layer.level,
        });
        *out = blend_joint(rest, threshold, parts);
    }
    Ok(())
}

/// Checks that a weight is finite and not negative.
pub(crate) fn check_weight(weight: f32) -> Result<()> {
    expect_in("weight", weight, 0.0, f32::MAX)
}

/// Checks that a threshold of the first level is positive and finite.
pub(crate) fn check_threshold(threshold: f32) -> Result<()> {
    if threshold > 0.0 && threshold.is_finite() {
        return Ok(());
    }
    Err(Error::invalid("threshold", "must be positive and finite"))
}
