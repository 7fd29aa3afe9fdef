//! Blending: the samples that an instance plays, and their weighted means per joint and weight.

use crate::clip::Clip;
use crate::id::Id;
use crate::skeleton::{Mask, Transform};
use glam::{DQuat, DVec3};

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

pub(super) fn full_weight(layer: u8) -> f64 {
    if layer == 0 { FULL_WEIGHT.into() } else { 1.0 }
}

/// The contribution of one sample to a joint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) value: Transform,
    /// The sample's weight times the mask's.
    pub(crate) weight: f32,
    pub(crate) additive: bool,
    pub(crate) layer: u8,
}

impl Share {
    const NONE: Self = Self {
        value: Transform::IDENTITY,
        weight: 0.0,
        additive: false,
        layer: 0,
    };
}

/// Up to this many shares are stored, so that each is computed only once.
const FEW: usize = 8;

/// Blends one joint. Sums are computed in `f64`.
///
/// `shares` must ascend in layer, and their weights must be finite and not negative. If there are
/// many, they are iterated over several times.
pub(crate) fn blend_joint(
    rest: &Transform,
    shares: impl Iterator<Item = Share> + Clone,
) -> Transform {
    let (mut few, mut count) = ([Share::NONE; FEW], 0);
    for share in shares.clone() {
        let Some(free) = few.get_mut(count) else {
            return blend_shares(rest, shares);
        };
        (*free, count) = (share, count + 1);
    }
    blend_shares(rest, few[..count].iter().copied())
}

fn blend_shares(rest: &Transform, shares: impl Iterator<Item = Share> + Clone) -> Transform {
    let mut value = Value::from(rest);
    let mut left = shares.filter(|share| share.weight > 0.0);
    while let Some(Share { layer: number, .. }) = left.clone().next() {
        let layer = left.clone().take_while(|share| share.layer == number);
        let means = layer.clone().filter(|share| !share.additive);
        value = value.covered(full_weight(number), means);
        for share in layer.clone().filter(|share| share.additive) {
            value.add(&Value::from(&share.value), share.weight.into());
        }
        let last = layer.count() - 1;
        left.nth(last);
    }
    value.into()
}

/// A [`Transform`] in `f64`, in which weighted sums do not overflow.
#[derive(Debug, Clone, Copy)]
struct Value {
    translation: DVec3,
    rotation: DQuat,
    scale: DVec3,
}

impl Value {
    const ZERO: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        scale: DVec3::ZERO,
    };

    /// Adds `weight` times another. Its rotation is negated if it lies in the other half space.
    fn plus(self, other: &Self, weight: f64) -> Self {
        let away = self.rotation.dot(other.rotation) < 0.0;
        Self {
            translation: self.translation + other.translation * weight,
            rotation: self.rotation + other.rotation * if away { -weight } else { weight },
            scale: self.scale + other.scale * weight,
        }
    }

    /// A layer's weighted mean, applied over this value.
    fn covered(self, full: f64, shares: impl Iterator<Item = Share> + Clone) -> Self {
        let weight: f64 = shares.clone().map(|share| f64::from(share.weight)).sum();
        if weight <= 0.0 {
            return self;
        }
        let mut sum = Self::ZERO;
        if weight < full {
            sum = sum.plus(&self, full - weight);
        }
        for share in shares {
            sum = sum.plus(&Self::from(&share.value), share.weight.into());
        }
        let whole = weight.max(full);
        Self {
            translation: sum.translation / whole,
            rotation: unit(sum.rotation),
            scale: sum.scale / whole,
        }
    }

    /// Adds a difference.
    fn add(&mut self, difference: &Self, weight: f64) {
        self.translation += difference.translation * weight;
        let sign = if difference.rotation.w < 0.0 {
            -1.0
        } else {
            1.0
        };
        let turn = DQuat::IDENTITY * (1.0 - weight) + difference.rotation * (sign * weight);
        self.rotation *= unit(turn);
        self.scale *= (difference.scale - DVec3::ONE) * weight + DVec3::ONE;
    }
}

/// Normalises `q`. Returns the identity if it has no direction.
fn unit(q: DQuat) -> DQuat {
    let length = q.length();
    if length > 0.0 && length.is_finite() {
        q / length
    } else {
        DQuat::IDENTITY
    }
}

impl From<&Transform> for Value {
    fn from(transform: &Transform) -> Self {
        Self {
            translation: transform.translation.as_dvec3(),
            rotation: transform.rotation.as_dquat(),
            scale: transform.scale.as_dvec3(),
        }
    }
}

impl From<Value> for Transform {
    fn from(value: Value) -> Self {
        Self {
            translation: value.translation.as_vec3(),
            rotation: value.rotation.as_quat(),
            scale: value.scale.as_vec3(),
        }
    }
}

/// The number of weights that are blended at a time, on the stack.
const CHUNK: usize = 32;

/// Blends the morph weights of samples into `out`, which holds those of the rest pose.
///
/// For each of them:
///
/// 1. The first layer is applied over the weights at rest, and each layer over the one below it. A
///    layer gives the mean of its clips that are not additive, weighted by the samples' weights. A
///    clip that does not drive the morph weight counts with the value from below. If the samples'
///    weights sum to less than the full weight, the value from below gets the missing weight.
/// 2. Then each additive clip of the layer adds its difference, times its sample's weight.
///
/// So a fade between a clip without morph weights and one with them is even, as for a joint that
/// only one of the clips drives. Sums are computed in `f64`, and nothing is allocated. Masks have
/// no effect. Weights of a clip beyond the length of `out` are ignored.
pub(crate) fn blend_weights<'a>(
    samples: impl Iterator<Item = ClipSample<'a>> + Clone,
    out: &mut [f32],
) {
    if samples.clone().any(|sample| sample.clip.drives_weights()) {
        for (number, out) in out.chunks_mut(CHUNK).enumerate() {
            blend_chunk(number * CHUNK, samples.clone(), out);
        }
    }
}

/// Blends one chunk. `first` is the index of its first weight, and `out` holds the rest values.
fn blend_chunk<'a>(
    first: usize,
    samples: impl Iterator<Item = ClipSample<'a>> + Clone,
    out: &mut [f32],
) {
    let range = first..first + out.len();
    let mut value = [0.0_f64; CHUNK];
    for (value, rest) in value.iter_mut().zip(&*out) {
        *value = f64::from(*rest);
    }
    let mut left = samples;
    while let Some(ClipSample { layer: number, .. }) = left.clone().next() {
        let layer = left.clone().take_while(|sample| sample.layer == number);
        // Sums over the layer: weights of all clips, weights of those that drive each, and their
        // values.
        let mut whole = 0.0_f64;
        let (mut driven, mut sum) = ([0.0_f64; CHUNK], [0.0_f64; CHUNK]);
        for ClipSample {
            clip,
            time_s,
            weight,
            ..
        } in layer.clone()
        {
            if !clip.is_additive() {
                let weight = f64::from(weight);
                whole += weight;
                clip.sample_weights_in(time_s, range.clone(), |index, value| {
                    driven[index - first] += weight;
                    sum[index - first] += weight * f64::from(value);
                });
            }
        }
        let whole = whole.max(full_weight(number));
        for ((value, driven), sum) in value.iter_mut().zip(driven).zip(sum) {
            if driven >= whole {
                *value = sum / driven;
            } else if driven > 0.0 {
                *value = (sum + (whole - driven) * *value) / whole;
            }
        }
        for ClipSample {
            clip,
            time_s,
            weight,
            ..
        } in layer.clone()
        {
            if clip.is_additive() {
                clip.sample_weights_in(time_s, range.clone(), |index, difference| {
                    value[index - first] += f64::from(weight) * f64::from(difference);
                });
            }
        }
        let last = layer.count() - 1;
        left.nth(last);
    }
    for (out, value) in out.iter_mut().zip(value) {
        *out = value as f32;
    }
}
