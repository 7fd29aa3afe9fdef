//! A camera that orbits around the character.

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec3};
use throng::mesh::Aabb;
use throng::{Lighting, View};

/// Vertical field of view in radians.
const FOV: f32 = 0.7;
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

    /// Moves sideways by points of the mouse. `height` is that of the picture, in points.
    pub(crate) fn pan(&mut self, right: f32, down: f32, height: f32) {
        let metres = 2.0 * self.distance() * (0.5 * FOV).tan() / height.max(1.0);
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

    fn radius(&self) -> f32 {
        (0.5 * self.bounds.size().length()).max(1e-4)
    }

    fn distance(&self) -> f32 {
        self.radius() / (0.5 * FOV).sin() * self.zoom
    }

    /// The view of a picture of this size.
    pub(crate) fn view(&self, extent: vk::Extent2D, lighting: Lighting) -> View {
        let aspect = extent.width.max(1) as f32 / extent.height.max(1) as f32;
        // A narrow picture needs more distance.
        let distance = self.distance() / aspect.min(1.0);
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
