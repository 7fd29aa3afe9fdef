//! Blending local poses: levels of weighted means and added differences, joint by joint.

use super::joint::{JointPart, blend_joint};
use crate::error::{ArgumentFault, Error, Result, expect_len};
use crate::skeleton::{Mask, Transform};

/// The threshold of the first level where no other is given; ozz-animation's.
pub const BLEND_THRESHOLD: f32 = 0.1;

/// One of the poses that [`blend`] blends.
#[derive(Debug, Clone, Copy)]
pub struct PoseLayer<'a> {
    /// One transform a joint; of an additive layer, the difference from its reference pose: see
    /// [`difference`](crate::clip::difference()).
    pub pose: &'a [Transform],
    /// Its part in the blend: finite, not negative. With 0 it takes no part and is not looked at.
    pub weight: f32,
    /// How much of the weight counts for each joint. `None`: all of it, for all.
    pub mask: Option<&'a Mask>,
    /// Whether the pose is a difference that is added, or a pose of which a mean is taken.
    pub additive: bool,
    /// Which level it belongs to.
    pub level: u8,
}

impl<'a> PoseLayer<'a> {
    /// `pose` on the first level, with weight 1 for all joints.
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

    /// The same with this weight.
    #[must_use]
    pub const fn weighted(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// The same for the joints of a mask.
    #[must_use]
    pub const fn masked(self, mask: &'a Mask) -> Self {
        Self {
            mask: Some(mask),
            ..self
        }
    }

    /// The same as a difference.
    #[must_use]
    pub const fn added(self) -> Self {
        Self {
            additive: true,
            ..self
        }
    }

    /// The same on another level.
    #[must_use]
    pub const fn on_level(self, level: u8) -> Self {
        Self { level, ..self }
    }

    /// What is wrong with it, next to poses of so many joints.
    pub(crate) fn check(&self, joints: usize, level: u8) -> Result<()> {
        check_weight(self.weight)?;
        if self.weight == 0.0 {
            return Ok(());
        }
        if self.level < level {
            return Err(argument(
                "level",
                ArgumentFault::Invalid("is below that of the layer before"),
            ));
        }
        expect_len("pose", self.pose.len(), joints)?;
        match self.mask {
            Some(mask) => expect_len("mask", mask.weights().len(), joints),
            None => Ok(()),
        }
    }
}

/// Blends local poses into `out`, one transform a joint, as [`ClipSample`](crate::motion::ClipSample) says,
/// for each joint:
///
/// - The first level lies over `rest`, each level over the one below it. Its layers that are not
///   additive, with the weights `w` (the layer's, times the mask's for the joint), give the mean of
///   their poses where the `w` sum to the threshold or more; where they sum to less, what is below
///   has the weight that is missing. The threshold is `threshold` on level 0 and 1 on those above.
/// - Then additive layers: each adds `w` times its translation, turns by its rotation, in the
///   joint's own space, of which it takes the part `w` (normalised linear interpolation from none,
///   on the shorter arc), and scales by 1 + w · (its scale − 1).
///
/// Rotations are unit quaternions; in a mean, each is turned to the half space of the sum so far,
/// which starts with what lies below. Sums are `f64`. A pose blended with itself is that pose, and
/// a difference of none changes nothing. The order of layers in a level matters to rounding only,
/// unless rotations are half a turn or more apart, or added about different axes.
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
/// [`Error::Argument`] if `out` is not as long as `rest`, or the threshold is not positive and
/// finite; [`Error::At`] with the first layer whose pose or mask is not, whose weight is negative
/// or not finite, or whose level is below that of a layer before. Nothing is written then.
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

/// A finite weight that is not negative.
pub(crate) fn check_weight(weight: f32) -> Result<()> {
    let value = f64::from(weight);
    if !weight.is_finite() {
        return Err(argument("weight", ArgumentFault::NotFinite(value)));
    }
    if weight < 0.0 {
        let why = ArgumentFault::OutOfRange {
            value,
            min: 0.0,
            max: f32::MAX.into(),
        };
        return Err(argument("weight", why));
    }
    Ok(())
}

/// A threshold of the first level that there can be.
pub(crate) fn check_threshold(threshold: f32) -> Result<()> {
    if threshold > 0.0 && threshold.is_finite() {
        return Ok(());
    }
    let why = ArgumentFault::Invalid("must be positive and finite");
    Err(argument("threshold", why))
}

pub(crate) fn argument(what: &'static str, why: ArgumentFault) -> Error {
    Error::Argument { what, why }
}
