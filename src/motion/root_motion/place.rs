//! The place of an instance in the world, in `f64`.

use super::delta::{RootDelta, rounded, turned, without_turns};
use crate::skeleton::Affine;
use core::f64::consts::PI;
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};

/// The position and heading of an instance.
///
/// It sums up motions without drift. Within 8 km of the origin, a step rounds the position by at
/// most 1e-12 m, where `f32` would round it by 2e-4 m. It rounds the yaw by at most 5e-16 rad.
///
/// ```
/// use throng::glam::{DVec3, Vec3};
/// use throng::motion::{RootDelta, RootPlace};
///
/// let step = RootDelta { translation: DVec3::Z, yaw_rad: core::f64::consts::FRAC_PI_2 };
/// let mut place = RootPlace::default();
/// for _ in 0..4 {
///     place.advance(&step, 1.0);
/// }
/// assert!(place.position.length() < 1e-12); // round a square
/// let world_from_model = place.to_affine(DVec3::ZERO, Vec3::ONE);
/// # let _ = world_from_model;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RootPlace {
    /// Position in metres, in world space.
    pub position: DVec3,
    /// Heading in radians about +Y from the world's axes, kept within ±π.
    pub yaw_rad: f64,
}

impl RootPlace {
    /// Moves by `delta`, with its translation times `scale`.
    ///
    /// `scale` is the uniform scale of the instance, or 1.
    pub fn advance(&mut self, delta: &RootDelta, scale: f64) {
        self.position += turned(delta.translation * scale, self.yaw_rad);
        let yaw_rad = self.yaw_rad + delta.yaw_rad;
        self.yaw_rad = if yaw_rad.abs() > PI {
            without_turns(yaw_rad)
        } else {
            yaw_rad
        };
    }

    /// The instance's transform, relative to `origin` in world space.
    ///
    /// The origin is subtracted before rounding. So the result is accurate anywhere in the world,
    /// if each part is drawn relative to a point near it.
    #[must_use]
    pub fn to_affine(&self, origin: DVec3, scale: Vec3) -> Affine {
        let turn = DMat3::from_quat(DQuat::from_rotation_y(self.yaw_rad));
        rounded(&DAffine3 {
            matrix3: turn * DMat3::from_diagonal(scale.as_dvec3()),
            translation: self.position - origin,
        })
    }
}
