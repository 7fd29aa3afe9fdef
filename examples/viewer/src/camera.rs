//! A camera that orbits around the character.

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec3};
use throng::mesh::Aabb;
use throng::{Lighting, View};

/// The vertical field of view at first, in degrees.
pub(crate) const FOV_DEGREES: f32 = 40.0;
/// Distance, relative to that at which the box just fits.
const MARGIN: f32 = 1.1;
/// The steepest angle above or below the horizon, in radians.
const STEEPEST: f32 = 1.55;
/// The limits of a distance in metres.
pub(crate) const NEAREST_M: f32 = 1e-3;
pub(crate) const FURTHEST_M: f32 = 1e9;
/// Radians per point of the mouse.
const ORBIT: f32 = 0.008;

#[derive(Clone, Debug)]
pub(crate) struct Camera {
    /// Angle around +Y from +Z, in radians.
    yaw: f32,
    /// Angle above the horizon, in radians.
    pitch: f32,
    distance: Distance,
    /// Vertical field of view in radians.
    fov: f32,
    /// Displacement by the user of the point that it looks at, in metres.
    moved: Vec3,
    /// Displacement with the character that it follows, in metres.
    pub(crate) followed: Vec3,
    /// The box to show.
    bounds: Aabb,
}

/// The distance of the eye from the point that it looks at.
#[derive(Clone, Copy, Debug)]
enum Distance {
    /// Relative to that at which everything is visible.
    Fit(f32),
    Metres(f32),
}

/// The direction and distance from which the camera looks at first, from the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Angle {
    /// Angle around +Y from +Z, in degrees.
    pub(crate) yaw: f32,
    /// Angle above the horizon, in degrees.
    pub(crate) pitch: f32,
    /// Distance in metres. `None`: everything is visible.
    pub(crate) distance_m: Option<f32>,
}

impl Camera {
    pub(crate) fn new(bounds: Aabb, fov_degrees: f32) -> Self {
        Self {
            yaw: 0.5,
            pitch: 0.2,
            distance: Distance::Fit(1.0),
            fov: fov_degrees.to_radians(),
            moved: Vec3::ZERO,
            followed: Vec3::ZERO,
            bounds,
        }
    }

    /// Changes the vertical field of view.
    pub(crate) fn set_fov(&mut self, degrees: f32) {
        if degrees.is_finite() {
            self.fov = degrees.clamp(1.0, 150.0).to_radians();
        }
    }

    /// Looks from this direction and distance.
    pub(crate) fn look_from(&mut self, angle: Angle) {
        self.yaw = angle.yaw.to_radians();
        self.pitch = angle.pitch.to_radians().clamp(-STEEPEST, STEEPEST);
        let metres = angle.distance_m.map(Distance::Metres);
        self.distance = metres.unwrap_or(Distance::Fit(1.0));
    }

    /// Changes what is shown, and keeps the direction.
    pub(crate) fn set_bounds(&mut self, bounds: Aabb) {
        self.bounds = bounds;
        self.moved = Vec3::ZERO;
        self.distance = Distance::Fit(1.0);
    }

    /// Orbits by points of the mouse.
    pub(crate) fn orbit(&mut self, right: f32, down: f32) {
        self.yaw -= right * ORBIT;
        self.pitch = (self.pitch + down * ORBIT).clamp(-STEEPEST, STEEPEST);
    }

    /// Moves sideways by points of the mouse. The size is that of the picture, in points.
    pub(crate) fn pan(&mut self, right: f32, down: f32, (width, height): (f32, f32)) {
        let height = height.max(1.0);
        let distance = self.distance(width.max(1.0) / height);
        let metres = 2.0 * distance * (0.5 * self.fov).tan() / height;
        let forward = -self.direction();
        let side = forward.cross(Vec3::Y).normalize_or_zero();
        self.moved += (side.cross(forward) * down - side * right) * metres;
    }

    /// Moves closer. Negative steps move away.
    pub(crate) fn approach(&mut self, steps: f32) {
        let factor = (-0.12 * steps).exp();
        self.distance = match self.distance {
            Distance::Fit(zoom) => Distance::Fit((zoom * factor).clamp(0.01, 20.0)),
            Distance::Metres(metres) => {
                Distance::Metres((metres * factor).clamp(NEAREST_M, FURTHEST_M))
            }
        };
    }

    /// The direction from the target to the eye.
    fn direction(&self) -> Vec3 {
        let (sin, cos) = self.pitch.sin_cos();
        Vec3::new(cos * self.yaw.sin(), sin, cos * self.yaw.cos())
    }

    /// The distance of the eye from the target. All corners of the box are then visible, unless
    /// the user has moved the camera.
    fn distance(&self, aspect: f32) -> f32 {
        let zoom = match self.distance {
            Distance::Fit(zoom) => zoom,
            Distance::Metres(metres) => return metres,
        };
        let back = self.direction();
        let right = Vec3::Y.cross(back).normalize_or(Vec3::X);
        let up = back.cross(right);
        let tangent = (0.5 * self.fov).tan();
        let half = 0.5 * self.bounds.size();
        let corners = (0..8).map(|bits: u32| {
            let sign = |bit: u32| if bits >> bit & 1 == 0 { -1.0 } else { 1.0 };
            half * Vec3::new(sign(0), sign(1), sign(2))
        });
        let needed = corners.map(|corner| {
            let beside = corner.dot(right).abs() / (tangent * aspect);
            corner.dot(back) + (corner.dot(up).abs() / tangent).max(beside)
        });
        (needed.fold(1e-4, f32::max) * MARGIN) * zoom
    }

    /// The point that it looks at.
    pub(crate) fn target(&self) -> Vec3 {
        self.bounds.center() + self.followed + self.moved
    }

    /// The view of a picture of this size.
    pub(crate) fn view(&self, extent: vk::Extent2D, lighting: Lighting) -> View {
        let aspect = extent.width.max(1) as f32 / extent.height.max(1) as f32;
        let distance = self.distance(aspect);
        let target = self.target();
        let eye = target + self.direction() * distance;
        let near = (0.005 * distance).max(1e-4);
        let clip = rh::proj::vulkan::perspective_infinite_reverse(self.fov, aspect, near);
        let view: Mat4 = rh::view::look_at_mat4(eye, target, Vec3::Y);
        View {
            lighting,
            ..View::new(clip * view, eye, extent)
        }
    }
}
