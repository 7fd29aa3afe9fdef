//! Ray tests against triangles and boxes, in `f64`.

use crate::order::greatest;
use glam::DVec3;

/// A half-line, prepared for the test of Woop, Benthin and Wald (2013).
///
/// It is sheared so that it runs along +Z.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    origin: DVec3,
    direction: DVec3,
    /// The axes that become x, y and z.
    ///
    /// z is the axis along which the direction is longest. The permutation is even, except that two
    /// axes are swapped if the direction is negative, so that windings stay the same.
    axes: [usize; 3],
    shear: [f64; 3],
}

/// The hit of a half-line on a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RayHit {
    /// Distance from the origin, in lengths of the direction.
    pub(super) distance: f64,
    /// Weights of the three corners.
    pub(super) barycentrics: [f64; 3],
    /// True if the ray comes from the back of the triangle.
    pub(super) back_face: bool,
}

impl Line {
    /// Prepares a half-line. `direction` must be finite and not zero.
    pub(super) fn new(origin: DVec3, direction: DVec3) -> Self {
        let z = greatest(direction.abs().to_array());
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            (x, y) = (y, x);
        }
        Self {
            origin,
            direction,
            axes: [x, y, z],
            shear: [
                direction[x] / direction[z],
                direction[y] / direction[z],
                1.0 / direction[z],
            ],
        }
    }

    /// The hit on a triangle, from either side.
    ///
    /// A ray that meets an edge hits both triangles that share it, because both round their points
    /// and products in the same way.
    pub(super) fn meets(&self, corners: [DVec3; 3]) -> Option<RayHit> {
        let [a, b, c] = corners.map(|corner| self.sheared(corner));
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        let any_negative = u < 0.0 || v < 0.0 || w < 0.0;
        let any_positive = u > 0.0 || v > 0.0 || w > 0.0;
        if any_negative && any_positive {
            return None;
        }
        let sum = u + v + w;
        let distance = (u * a.z + v * b.z + w * c.z) / sum;
        // Also rejects NaN. A triangle without area, or seen exactly from its side, has a sum of 0.
        if sum == 0.0 || !(distance >= 0.0 && distance.is_finite()) {
            return None;
        }
        let [p, q, r] = corners;
        if (q - p).cross(r - p) == DVec3::ZERO {
            return None;
        }
        Some(RayHit {
            distance,
            barycentrics: [u / sum, v / sum, w / sum],
            back_face: sum < 0.0,
        })
    }

    fn sheared(&self, point: DVec3) -> DVec3 {
        let p = point - self.origin;
        let ([x, y, z], [shear_x, shear_y, scale_z]) = (self.axes, self.shear);
        DVec3::new(p[x] - shear_x * p[z], p[y] - shear_y * p[z], scale_z * p[z])
    }

    /// True if the ray certainly misses the box, by the slab test.
    ///
    /// A ray that passes a corner by less than the rounding error does not count as a miss.
    pub(super) fn misses(&self, min: DVec3, max: DVec3) -> bool {
        // Far more than the rounding of a difference, a quotient and the triangle test.
        const SLACK: f64 = 1e-9;
        let (mut from, mut to) = (0.0_f64, f64::INFINITY);
        for axis in 0..3 {
            let (origin, direction) = (self.origin[axis], self.direction[axis]);
            let grown = SLACK * (origin.abs() + min[axis].abs() + max[axis].abs());
            let (low, high) = (min[axis] - grown - origin, max[axis] + grown - origin);
            if direction == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return true;
                }
                continue;
            }
            let (a, b) = (low / direction, high / direction);
            let (near, far) = if a < b { (a, b) } else { (b, a) };
            // NaN leaves the bounds unchanged.
            from = from.max(near - near.abs() * SLACK);
            to = to.min(far + far.abs() * SLACK);
        }
        from > to
    }

    /// [`Self::misses`] for the box around positions of three numbers each.
    ///
    /// Also true if there are no positions.
    pub(super) fn misses_all(&self, positions: &[f32]) -> bool {
        let (mut min, mut max) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for position in positions.chunks_exact(3) {
            for axis in 0..3 {
                min[axis] = position[axis].min(min[axis]);
                max[axis] = position[axis].max(max[axis]);
            }
        }
        min[0] > max[0]
            || self.misses(
                DVec3::from(min.map(f64::from)),
                DVec3::from(max.map(f64::from)),
            )
    }
}
