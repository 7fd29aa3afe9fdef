//! Blending of a single joint, by the rule of [`ClipSample`](super::ClipSample).

use super::clip_sample::full_weight;
use crate::skeleton::Transform;
use glam::{DQuat, DVec3};

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
    fn put(&mut self, other: &Self, weight: f64) {
        self.translation += other.translation * weight;
        self.scale += other.scale * weight;
        let away = self.rotation.dot(other.rotation) < 0.0;
        self.rotation += other.rotation * if away { -weight } else { weight };
    }

    /// A layer's weighted mean, applied over this value.
    fn covered(self, full: f64, shares: impl Iterator<Item = Share> + Clone) -> Self {
        let weight: f64 = shares.clone().map(|share| f64::from(share.weight)).sum();
        if weight <= 0.0 {
            return self;
        }
        let mut sum = Self::ZERO;
        if weight < full {
            sum.put(&self, full - weight);
        }
        for share in shares {
            sum.put(&Self::from(&share.value), share.weight.into());
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
