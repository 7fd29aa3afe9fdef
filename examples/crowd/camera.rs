//! A camera that sees the whole crowd, orbits and zooms.

use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Mat4, Vec3};
use throng::{Lighting, View};

/// Vertical field of view in radians.
const FOV: f32 = 0.80;
/// Target sum of the crowd's upper and lower edges, in half heights of the picture.
const BALANCE: f32 = -0.2;
/// The initial angle, in radians about +Y from +Z.
pub(crate) const YAW_RAD: f32 = 0.5;
/// Fraction of the picture that the crowd fills.
const FILL: f32 = 0.96;
/// The view of a plaza: the distance from the camera to the point that it looks at, in metres, its
/// angle above the horizon in radians, and how far it stands from the middle, relative to the edge.
const PLAZA_M: f32 = 15.0;
const PLAZA_PITCH_RAD: f32 = 0.24;
const PLAZA_FROM: f32 = 0.8;

/// A camera that looks at the middle of the crowd from outside.
#[derive(Clone, Debug)]
pub(crate) struct Camera {
    /// Angle around the crowd, in radians.
    yaw: f32,
    /// Angle above the horizon, in radians.
    pitch: f32,
    /// Factor for the distance.
    pub(crate) zoom: f32,
    /// True if it looks across a plaza.
    is_across: bool,
    /// The middle of the crowd, on the ground.
    center: Vec3,
    /// Points that must be visible.
    points: Vec<Vec3>,
    /// The fit for an aspect ratio: the distance, and how far beyond the middle to look, in metres.
    fitted: Option<(f32, (f32, f32))>,
}

impl Camera {
    /// Creates a camera that sees all of these points, if the factor for its distance is 1.
    ///
    /// Without a factor, it sees all of them, or looks across a plaza.
    pub(crate) fn new(points: &[Vec3], zoom: Option<f32>, is_plaza: bool) -> Self {
        let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
        let high = points.iter().copied().reduce(Vec3::max).unwrap_or_default();
        let mut camera = Self {
            yaw: YAW_RAD,
            pitch: 0.0,
            zoom: zoom.unwrap_or(1.0),
            is_across: is_plaza && zoom.is_none(),
            center: (0.5 * (low + high)).with_y(0.0),
            points: points.to_vec(),
            fitted: None,
        };
        // A few people are seen from about eye height, many from above.
        camera.pitch = (0.16 + 0.012 * camera.reach_m()).min(0.33);
        if camera.is_across {
            let back = -camera.towards();
            let edge_m = points
                .iter()
                .map(|point| (*point - camera.center).dot(back));
            let eye_m = PLAZA_FROM * edge_m.fold(0.0, f32::max);
            camera.center += back * (eye_m - PLAZA_M * PLAZA_PITCH_RAD.cos());
            camera.pitch = PLAZA_PITCH_RAD;
        }
        camera
    }

    /// Orbits by a fraction of a turn.
    pub(crate) fn orbit(&mut self, right: f32, up: f32) {
        self.yaw -= right;
        self.pitch = (self.pitch + up).clamp(0.03, 1.55);
    }

    /// Moves closer. Negative steps move away.
    pub(crate) fn approach(&mut self, steps: f32) {
        self.zoom = (self.zoom * (-0.12 * steps).exp()).clamp(0.02, 5.0);
    }

    /// The largest distance of a point from the middle, in metres.
    pub(crate) fn reach_m(&self) -> f32 {
        self.points
            .iter()
            .map(|point| point.distance(self.center))
            .fold(1.0, f32::max)
    }

    pub(crate) fn view(&mut self, extent: vk::Extent2D, lighting: Lighting) -> View {
        let aspect = extent.width as f32 / extent.height.max(1) as f32;
        let (distance, forward) = match self.fitted {
            Some((known, fit)) if known == aspect => fit,
            _ if self.is_across => (PLAZA_M, 0.0),
            _ => self.fit(aspect),
        };
        self.fitted = Some((aspect, (distance, forward)));
        let target = self.center
            + self.towards() * (forward * self.zoom)
            + Vec3::Y * (0.9 * (1.0 - self.zoom).max(0.0));
        let eye = target - self.direction() * (distance * self.zoom);
        // Stays above the ground.
        let eye = eye.with_y(eye.y.max(0.1));
        let near = (0.02 * distance * self.zoom).clamp(0.02, 0.5);
        let clip_from_view = rh::proj::vulkan::perspective_infinite_reverse(FOV, aspect, near);
        let view_from_world = rh::view::look_at_mat4(eye, target, Vec3::Y);
        View {
            lighting,
            ..View::new(clip_from_view * view_from_world, eye, extent)
        }
    }

    /// The viewing direction.
    fn direction(&self) -> Vec3 {
        let (sin, cos) = self.pitch.sin_cos();
        self.towards() * cos - Vec3::Y * sin
    }

    /// The viewing direction along the ground.
    fn towards(&self) -> Vec3 {
        -Vec3::new(self.yaw.sin(), 0.0, self.yaw.cos())
    }

    /// Fits the crowd into the picture.
    ///
    /// Returns the shortest distance from which everything is visible, and the point on the ground
    /// to look at then, in metres beyond the middle.
    fn fit(&self, aspect: f32) -> (f32, f32) {
        let (mut near, mut far) = (0.0, 100.0 * self.reach_m());
        for _ in 0..40 {
            let middle = 0.5 * (near + far);
            if self.sees(aspect, middle, self.level(aspect, middle)) {
                far = middle;
            } else {
                near = middle;
            }
        }
        (far, self.level(aspect, far))
    }

    /// The point to look at that leaves somewhat more space above than below.
    fn level(&self, aspect: f32, distance: f32) -> f32 {
        let (mut near, mut far) = (-0.99 * distance, self.reach_m());
        for _ in 0..24 {
            let middle = 0.5 * (near + far);
            let (low, high) = self.span(aspect, distance, middle);
            if low[1] + high[1] > BALANCE {
                near = middle;
            } else {
                far = middle;
            }
        }
        0.5 * (near + far)
    }

    fn sees(&self, aspect: f32, distance: f32, forward: f32) -> bool {
        let (low, high) = self.span(aspect, distance, forward);
        low.iter().all(|v| *v > -FILL) && high.iter().all(|v| *v < FILL)
    }

    /// The minimum and maximum coordinates in the picture, from -1 to 1, with y upwards.
    fn span(&self, aspect: f32, distance: f32, forward: f32) -> ([f32; 2], [f32; 2]) {
        let target = self.center + self.towards() * forward;
        let eye = target - self.direction() * distance;
        let view = rh::view::look_at_mat4(eye, target, Vec3::Y);
        let tangent = (0.5 * FOV).tan();
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for point in &self.points {
            let seen = Mat4::transform_point3(&view, *point);
            // Points behind the camera count as far outside.
            let depth = (-seen.z).max(1e-3);
            for (axis, value) in [seen.x / (tangent * aspect), seen.y / tangent]
                .into_iter()
                .enumerate()
            {
                low[axis] = low[axis].min(value / depth);
                high[axis] = high[axis].max(value / depth);
            }
        }
        (low, high)
    }
}
