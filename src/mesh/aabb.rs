//! Axis-aligned boxes.

use glam::{Affine3A, Vec3};

/// An axis-aligned box, in metres. Empty if `min > max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb {
    /// The corner with the smallest coordinates.
    pub min: Vec3,
    /// The corner with the largest coordinates.
    pub max: Vec3,
}

impl Aabb {
    /// The box that contains nothing.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// True if the box contains no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.min.cmpgt(self.max).any()
    }

    /// Grows the box to contain `point`.
    #[must_use]
    pub fn with_point(self, point: Vec3) -> Self {
        Self {
            min: self.min.min(point),
            max: self.max.max(point),
        }
    }

    /// The smallest box that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    /// The centre, or the origin for an empty box.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            self.min * 0.5 + self.max * 0.5
        }
    }

    /// Edge lengths in metres, zero for an empty box.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            self.max - self.min
        }
    }

    /// The box around this one after `transform`. It is exact for the box and conservative for its
    /// contents.
    #[must_use]
    pub fn transformed(&self, transform: &Affine3A) -> Self {
        if self.is_empty() {
            return *self;
        }
        let half = self.size() * 0.5;
        let center = transform.transform_point3(self.center());
        let m = transform.matrix3;
        let reach = Vec3::from(m.x_axis.abs()) * half.x
            + Vec3::from(m.y_axis.abs()) * half.y
            + Vec3::from(m.z_axis.abs()) * half.z;
        Self {
            min: center - reach,
            max: center + reach,
        }
    }
}
