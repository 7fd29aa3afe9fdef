//! Boxes and spheres around characters.

use super::winding::linear;
use glam::{Affine3A, DMat3, DVec3, Vec3};

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

/// A sphere, in metres. Empty if its radius is negative.
///
/// Every method that makes a sphere rounds up, so a sphere is never too small.
///
/// ```
/// use throng::glam::{Affine3A, Vec3};
/// use throng::mesh::Sphere;
///
/// let head = Sphere { center: Vec3::new(0.0, 1.7, 0.0), radius: 0.2 };
/// let feet = Sphere { center: Vec3::ZERO, radius: 0.3 };
/// let body = head.union(feet);
/// assert!(body.contains(Vec3::Y) && body.radius < 1.11);
/// let giant = body.transformed(&Affine3A::from_scale(Vec3::splat(2.0)));
/// assert!((giant.radius - 2.0 * body.radius).abs() < 1e-5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(alias = "bounding sphere")]
pub struct Sphere {
    /// The centre.
    pub center: Vec3,
    /// The radius. Infinite for a sphere that contains everything.
    pub radius: f32,
}

/// The largest relative error of one rounding.
const UNIT: f64 = 1.0 / 16_777_216.0;

impl Sphere {
    /// The sphere that contains nothing.
    pub const EMPTY: Self = Self {
        center: Vec3::ZERO,
        radius: f32::NEG_INFINITY,
    };

    /// The sphere that contains everything.
    pub const EVERYTHING: Self = Self {
        center: Vec3::ZERO,
        radius: f32::INFINITY,
    };

    /// A sphere, rounded up. [`Self::EVERYTHING`] if a number is NaN or out of range.
    pub(crate) fn around(center: DVec3, radius: f64) -> Self {
        if radius < 0.0 {
            return Self::EMPTY;
        }
        let range = 0.0..=f64::from(f32::MAX);
        let to = center.as_vec3();
        // The rounding of the centre, and a few roundings of 64 bits.
        let radius = radius * (1.0 + 1e-12) + to.as_dvec3().distance(center);
        if !range.contains(&radius) || !to.is_finite() {
            return Self::EVERYTHING;
        }
        Self {
            center: to,
            radius: (radius as f32).next_up(),
        }
    }

    /// The sphere with a radius that is larger by a distance.
    pub(crate) fn widened(self, by: f64) -> Self {
        if self.is_empty() || self.radius == f32::INFINITY || by == 0.0 {
            return self;
        }
        Self::around(self.center.as_dvec3(), f64::from(self.radius) + by)
    }

    /// Returns true if the sphere contains no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.radius < 0.0
    }

    /// Returns true if the point is in the sphere or on it.
    #[must_use]
    pub fn contains(&self, point: Vec3) -> bool {
        let distance = point.as_dvec3().distance(self.center.as_dvec3());
        distance <= f64::from(self.radius)
    }

    /// The smallest sphere that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (large, small) = if self.radius >= other.radius {
            (self, other)
        } else {
            (other, self)
        };
        if small.is_empty() || large.radius == f32::INFINITY {
            return large;
        }
        let way = small.center.as_dvec3() - large.center.as_dvec3();
        let (distance, radii) = (way.length(), [large.radius, small.radius].map(f64::from));
        if distance + radii[1] <= radii[0] {
            return large;
        }
        let radius = 0.5 * (distance + radii[0] + radii[1]);
        let center = large.center.as_dvec3() + way * ((radius - radii[0]) / distance);
        Self::around(center, radius)
    }

    /// A sphere around this one after `transform`.
    ///
    /// No length grows by more than the square root of the largest row sum of |MᵀM|, of the
    /// matrix M (the largest eigenvalue of MᵀM is at most that: S. Gershgorin, 1931). This is exact
    /// for rotations with a uniform scale.
    #[must_use]
    pub fn transformed(&self, transform: &Affine3A) -> Self {
        if self.is_empty() || self.radius == f32::INFINITY {
            return *self;
        }
        let (matrix, center) = (linear(transform), self.center.as_dvec3());
        let offset = Vec3::from(transform.translation).as_dvec3();
        let moved = matrix * center + offset;
        // The caller's own product in 32 bits rounds each coordinate up to four times.
        let sums = abs(&matrix) * center.abs() + offset.abs();
        let radius = f64::from(self.radius) * stretch(&matrix) + 4.0 * UNIT * sums.length();
        Self::around(moved, radius)
    }
}

/// Contains nothing.
impl Default for Sphere {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// The smallest sphere around a box that keeps its centre.
impl From<Aabb> for Sphere {
    fn from(bounds: Aabb) -> Self {
        if bounds.is_empty() {
            return Self::EMPTY;
        }
        let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
        Self::around(0.5 * (min + max), 0.5 * (max - min).length())
    }
}

/// The absolute values of a matrix.
pub(crate) fn abs(matrix: &DMat3) -> DMat3 {
    DMat3::from_cols(
        matrix.x_axis.abs(),
        matrix.y_axis.abs(),
        matrix.z_axis.abs(),
    )
}

/// A factor that no length grows by more than: see [`Sphere::transformed`].
pub(crate) fn stretch(matrix: &DMat3) -> f64 {
    let sums = abs(&(matrix.transpose() * *matrix)) * DVec3::ONE;
    sums.max_element().sqrt()
}
