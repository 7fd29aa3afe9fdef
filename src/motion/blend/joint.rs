//! Blending of a single joint.

use crate::skeleton::Transform;
use glam::{DQuat, DVec3};

/// The contribution of one layer to a joint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JointPart {
    pub(crate) value: Transform,
    /// The layer's weight times the mask's.
    pub(crate) weight: f32,
    pub(crate) additive: bool,
    pub(crate) level: u8,
}

impl JointPart {
    const NONE: Self = Self {
        value: Transform::IDENTITY,
        weight: 0.0,
        additive: false,
        level: 0,
    };
}

/// Up to this many parts are stored, so that each is computed only once.
const FEW: usize = 8;

/// [`blend`](crate::motion::blend()) for one joint.
///
/// `parts` must ascend in level, and their weights must be finite and not negative. If there are
/// many, they are iterated over several times.
pub(crate) fn blend_joint(
    rest: &Transform,
    threshold: f32,
    parts: impl Iterator<Item = JointPart> + Clone,
) -> Transform {
    let (mut few, mut count) = ([JointPart::NONE; FEW], 0);
    for part in parts.clone() {
        let Some(place) = few.get_mut(count) else {
            return blend_parts(rest, threshold, parts);
        };
        (*place, count) = (part, count + 1);
    }
    blend_parts(rest, threshold, few[..count].iter().copied())
}

fn blend_parts(
    rest: &Transform,
    threshold: f32,
    parts: impl Iterator<Item = JointPart> + Clone,
) -> Transform {
    let mut value = Value::from(rest);
    let mut left = parts.filter(|part| part.weight > 0.0);
    while let Some(JointPart { level: number, .. }) = left.clone().next() {
        let level = left.clone().take_while(|part| part.level == number);
        let threshold = if number == 0 { threshold.into() } else { 1.0 };
        let means = level.clone().filter(|part| !part.additive);
        value = value.covered(threshold, means);
        for part in level.clone().filter(|part| part.additive) {
            value.add(&Value::from(&part.value), part.weight.into());
        }
        let last = level.count() - 1;
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

    /// A level's weighted mean, applied over this value.
    fn covered(self, threshold: f64, parts: impl Iterator<Item = JointPart> + Clone) -> Self {
        let weight: f64 = parts.clone().map(|part| f64::from(part.weight)).sum();
        if weight <= 0.0 {
            return self;
        }
        let mut sum = Self::ZERO;
        if weight < threshold {
            sum.put(&self, threshold - weight);
        }
        for part in parts {
            sum.put(&Self::from(&part.value), part.weight.into());
        }
        let whole = weight.max(threshold);
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
        let part = DQuat::IDENTITY * (1.0 - weight) + difference.rotation * (sign * weight);
        self.rotation *= unit(part);
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
