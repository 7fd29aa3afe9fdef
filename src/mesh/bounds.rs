//! Boxes and spheres around characters.

use super::winding::linear;
use glam::{Affine3A, BVec3, DMat3, DVec2, DVec3, DVec4, Mat4, Vec2, Vec3, Vec4Swizzles as _};

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

    /// The eight corners.
    ///
    /// Bits 0, 1 and 2 of the index choose `max` instead of `min` in x, y and z. They mean nothing
    /// for an empty box.
    #[must_use]
    pub fn corners(&self) -> [Vec3; 8] {
        core::array::from_fn(|at| {
            let bit = |axis: usize| at >> axis & 1 == 1;
            Vec3::select(BVec3::new(bit(0), bit(1), bit(2)), self.max, self.min)
        })
    }

    /// The smallest rectangle on the screen around the part of the box that is in a view's range
    /// of depth: for box selection, labels and scissors.
    ///
    /// `clip_from_world` is a view-projection matrix for depth 0..1, normal or reversed, such as
    /// [`Eye::clip_from_world`](crate::Eye::clip_from_world). The box is in the matrix's world.
    ///
    /// The result is the least and the greatest corner in normalised device coordinates: the
    /// picture is −1..1 in x and y, and the rectangle may reach beyond. y points as in the clip
    /// space of the matrix: down in Vulkan, up in wgpu. With y down, `(corner * 0.5 + 0.5) * size`
    /// is in pixels from the upper left.
    ///
    /// Parts in front of the near plane, behind the eye, or beyond the far plane do not count.
    /// `None` if nothing is left, or the box is empty.
    ///
    /// ```
    /// use throng::glam::{Vec2, Vec3, camera::rh};
    /// use throng::mesh::Aabb;
    ///
    /// let camera = rh::proj::vulkan::perspective(1.0, 1.0, 0.1, 100.0);
    /// let guard = Aabb { min: Vec3::new(-0.5, -1.0, -6.0), max: Vec3::new(0.5, 1.0, -5.0) };
    /// let selection = [Vec2::splat(-0.3), Vec2::splat(0.3)];
    /// let selected = guard.screen_rect(&camera).is_some_and(|[least, greatest]| {
    ///     least.cmple(selection[1]).all() && greatest.cmpge(selection[0]).all()
    /// });
    /// assert!(selected);
    /// ```
    #[must_use]
    #[doc(alias("project", "select", "clip"))]
    pub fn screen_rect(&self, clip_from_world: &Mat4) -> Option<[Vec2; 2]> {
        if self.is_empty() {
            return None;
        }
        let matrix = clip_from_world.as_dmat4();
        let corners = self.corners().map(|at| matrix * at.as_dvec3().extend(1.0));
        let (mut least, mut greatest) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        // The planes of depth are parallel, so the part between them has its corners on the edges
        // of the box.
        for axis in [1, 2, 4] {
            for from in (0..8).filter(|from| from & axis == 0) {
                let ends = clipped(corners[from], corners[from | axis]);
                for end in ends.into_iter().flatten().filter(|end| end.w > 0.0) {
                    let at = end.xy() / end.w;
                    (least, greatest) = (least.min(at), greatest.max(at));
                }
            }
        }
        let rect = [least.as_vec2(), greatest.as_vec2()];
        rect.iter().all(|corner| corner.is_finite()).then_some(rect)
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

/// The ends of the part of a line in clip space whose depth is in 0..1.
fn clipped(a: DVec4, b: DVec4) -> Option<[DVec4; 2]> {
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    for [from, to] in [[a.z, b.z], [a.w - a.z, b.w - b.z]] {
        match (from < 0.0, to < 0.0) {
            (true, true) => return None,
            (true, false) => start = start.max(from / (from - to)),
            (false, true) => end = end.min(from / (from - to)),
            (false, false) => {}
        }
    }
    (start <= end).then(|| [a.lerp(b, start), a.lerp(b, end)])
}

/// The smallest box around a sphere. It is infinite for one that contains everything.
impl From<Sphere> for Aabb {
    fn from(sphere: Sphere) -> Self {
        if sphere.is_empty() {
            return Self::EMPTY;
        }
        let radius = Vec3::splat(sphere.radius);
        Self {
            min: sphere.center - radius,
            max: sphere.center + radius,
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
