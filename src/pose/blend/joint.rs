//! The blend of one joint.

use crate::character::Transform;
use glam::{DQuat, DVec3};

/// What one layer has for a joint.
#[derive(Debug, Clone, Copy)]
pub(in crate::pose) struct JointPart {
    pub(in crate::pose) value: Transform,
    /// The layer's, times the mask's.
    pub(in crate::pose) weight: f32,
    pub(in crate::pose) additive: bool,
    pub(in crate::pose) level: u8,
}

/// [`blend`](super::blend()) for one joint: `parts` ascend in level, and their weights are finite and not negative.
pub(in crate::pose) fn blend_joint(
    rest: &Transform,
    threshold: f32,
    parts: impl Iterator<Item = JointPart>,
) -> Transform {
    let mut below = Value::from(rest);
    let mut level = Level::default();
    let mut number = 0;
    for part in parts.filter(|part| part.weight > 0.0) {
        if part.level != number {
            below = level.over(&below, number, threshold);
            (level, number) = (Level::default(), part.level);
        }
        let weight = f64::from(part.weight);
        if part.additive {
            level.add(&Value::from(&part.value), weight);
        } else {
            level.mean.put(&Value::from(&part.value), weight);
            level.weight += weight;
        }
    }
    level.over(&below, number, threshold).into()
}

/// A [`Transform`] in `f64`, in which no sum of weighted ones overflows.
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
    const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        scale: DVec3::ONE,
    };

    /// Adds `weight` times another; its rotation from the half space of this one's.
    fn put(&mut self, other: &Self, weight: f64) {
        self.translation += other.translation * weight;
        self.scale += other.scale * weight;
        let away = self.rotation.dot(other.rotation) < 0.0;
        self.rotation += other.rotation * if away { -weight } else { weight };
    }
}

/// What a level's layers come to for a joint.
struct Level {
    /// The sum of poses that are not additive, and of their weights.
    mean: Value,
    weight: f64,
    /// All additive ones after each other. None of them depends on what it is added to.
    added: Value,
}

impl Default for Level {
    fn default() -> Self {
        Self {
            mean: Value::ZERO,
            weight: 0.0,
            added: Value::IDENTITY,
        }
    }
}

impl Level {
    fn add(&mut self, difference: &Value, weight: f64) {
        self.added.translation += difference.translation * weight;
        self.added.scale *= (difference.scale - DVec3::ONE) * weight + DVec3::ONE;
        let sign = if difference.rotation.w < 0.0 {
            -1.0
        } else {
            1.0
        };
        let part = DQuat::IDENTITY * (1.0 - weight) + difference.rotation * (sign * weight);
        self.added.rotation *= unit(part);
    }

    /// The level laid over what is below it.
    fn over(mut self, below: &Value, number: u8, threshold: f32) -> Value {
        let mut value = *below;
        if self.weight > 0.0 {
            let threshold = if number == 0 { threshold.into() } else { 1.0 };
            if self.weight < threshold {
                self.mean.put(below, threshold - self.weight);
            }
            let whole = self.weight.max(threshold);
            value = Value {
                translation: self.mean.translation / whole,
                rotation: unit(self.mean.rotation),
                scale: self.mean.scale / whole,
            };
        }
        value.translation += self.added.translation;
        value.rotation *= self.added.rotation;
        value.scale *= self.added.scale;
        value
    }
}

/// `q` at length 1; the identity for what has no direction.
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
