//! A camera that orbits around the character.

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec3};
use throng::mesh::Aabb;
use throng::{Lighting, View};

/// Vertical field of view in radians.
const FOV: f32 = 0.7;
/// Distance, relative to that at which the box just fits.
const MARGIN: f32 = 1.1;
/// Radians per point of the mouse.
const ORBIT: f32 = 0.008;

#[derive(Clone, Debug)]
pub(crate) struct Camera {
    /// Angle around +Y from +Z, in radians.
    yaw: f32,
    /// Angle above the horizon, in radians.
    pitch: f32,
    /// Factor for the distance at which everything is visible.
    zoom: f32,
    /// Displacement of the point that it looks at, in metres.
    moved: Vec3,
    /// The box to show.
    bounds: Aabb,
}

impl Camera {
    pub(crate) fn new(bounds: Aabb) -> Self {
        Self {
            yaw: 0.5,
            pitch: 0.2,
            zoom: 1.0,
            moved: Vec3::ZERO,
            bounds,
        }
    }

    /// Changes what is shown, and keeps the direction.
    pub(crate) fn set_bounds(&mut self, bounds: Aabb) {
        self.bounds = bounds;
        self.moved = Vec3::ZERO;
        self.zoom = 1.0;
    }

    /// Orbits by points of the mouse.
    pub(crate) fn orbit(&mut self, right: f32, down: f32) {
        self.yaw -= right * ORBIT;
        self.pitch = (self.pitch + down * ORBIT).clamp(-1.5, 1.5);
    }

    /// Moves sideways by points of the mouse. The size is that of the picture, in points.
    pub(crate) fn pan(&mut self, right: f32, down: f32, (width, height): (f32, f32)) {
        let height = height.max(1.0);
        let distance = self.distance(width.max(1.0) / height);
        let metres = 2.0 * distance * (0.5 * FOV).tan() / height;
        let forward = -self.direction();
        let side = forward.cross(Vec3::Y).normalize_or_zero();
        self.moved += (side.cross(forward) * down - side * right) * metres;
    }

    /// Moves closer. Negative steps move away.
    pub(crate) fn approach(&mut self, steps: f32) {
        self.zoom = (self.zoom * (-0.12 * steps).exp()).clamp(0.01, 20.0);
    }

    /// The direction from the target to the eye.
    fn direction(&self) -> Vec3 {
        let (sin, cos) = self.pitch.sin_cos();
        Vec3::new(cos * self.yaw.sin(), sin, cos * self.yaw.cos())
    }

    /// The distance of the eye from the target. All corners of the box are then visible, unless
    /// the user has moved the camera.
    fn distance(&self, aspect: f32) -> f32 {
        let back = self.direction();
        let right = Vec3::Y.cross(back).normalize_or(Vec3::X);
        let up = back.cross(right);
        let tangent = (0.5 * FOV).tan();
        let half = 0.5 * self.bounds.size();
        let corners = (0..8).map(|bits: u32| {
            let sign = |bit: u32| if bits >> bit & 1 == 0 { -1.0 } else { 1.0 };
            half * Vec3::new(sign(0), sign(1), sign(2))
        });
        let needed = corners.map(|corner| {
            let beside = corner.dot(right).abs() / (tangent * aspect);
            corner.dot(back) + (corner.dot(up).abs() / tangent).max(beside)
        });
        (needed.fold(1e-4, f32::max) * MARGIN) * self.zoom
    }

    /// The view of a picture of this size.
    pub(crate) fn view(&self, extent: vk::Extent2D, lighting: Lighting) -> View {
        let aspect = extent.width.max(1) as f32 / extent.height.max(1) as f32;
        let distance = self.distance(aspect);
        let target = self.bounds.center() + self.moved;
        let eye = target + self.direction() * distance;
        let near = (0.005 * distance).max(1e-4);
        let clip = rh::proj::vulkan::perspective_infinite_reverse(FOV, aspect, near);
        let view: Mat4 = rh::view::look_at_mat4(eye, target, Vec3::Y);
        View {
            lighting,
            ..View::new(clip * view, eye, extent)
        }
    }
}
