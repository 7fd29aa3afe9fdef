//! Random views.

use super::World;
use crate::reference::rng::Rng;
use crate::support::{reversed, view};
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::glam::{Vec2, Vec3};
use throng::{Culling, Detail, Eye, View};

/// Views whose levels of detail are remembered from frame to frame.
const REMEMBERED: usize = 10;

/// The views of a frame: the canvas of each, and the direction of its depth.
pub(super) struct Shot {
    pub(super) views: Vec<View>,
    /// The first view that is drawn.
    pub(super) first: usize,
    /// The shots of the views from there on.
    pub(super) canvases: Vec<usize>,
    pub(super) reversed_z: bool,
    /// Of these, the number with depth: for one eye each, or for two.
    pub(super) behind: usize,
    /// Instances that the test on the CPU hides in the first view.
    pub(super) hidden: Option<u32>,
}

impl World {
    /// An eye that sees part of a canvas.
    fn view(&mut self, canvas: usize, orthographic: bool, reversed_z: bool) -> View {
        let extent = self.canvases[canvas].target.extent();
        let rng = &mut self.rng;
        let mut point = |far: f32| {
            let mut within = || rng.range(-far, far);
            Vec3::new(within(), 0.2 * within(), within())
        };
        let (eye, at) = (point(14.0), point(4.0) + Vec3::Y);
        let side = |rng: &mut Rng, most: u32| match rng.below(4) {
            0 => {
                let first = rng.below(most as usize) as i32;
                (first, 1 + rng.below((most as i32 - first) as usize) as u32)
            }
            1 => {
                let cut = rng.below(20) as i32;
                (-cut, most + cut as u32)
            }
            _ => (0, most),
        };
        let ((x, width), (y, height)) = (side(rng, extent.width), side(rng, extent.height));
        let viewport = vk::Rect2D {
            offset: vk::Offset2D { x, y },
            extent: vk::Extent2D { width, height },
        };
        let mut seen = view(eye, at, viewport.extent);
        if orthographic {
            let half = rng.range(1.0, 8.0);
            let clip_from_view =
                rh::proj::vulkan::orthographic(-half, half, -half, half, 0.1, 60.0);
            let view_from_world = rh::view::look_at_mat4(eye, at, Vec3::Y);
            seen = View {
                detail: seen.detail,
                ..View::new(clip_from_view * view_from_world, eye, viewport)
            };
        }
        let seen = if reversed_z { reversed(&seen) } else { seen };
        let jitter = Vec2::new(rng.range(-0.02, 0.02), rng.range(-0.02, 0.02));
        View {
            viewport,
            eye: Eye { jitter, ..seen.eye },
            ..seen
        }
    }

    /// The views of a frame: a camera with one or two eyes, and maybe a light.
    pub(super) fn shot(&mut self) -> Shot {
        let (orthographic, reversed_z) = (self.rng.chance(4), self.rng.chance(2));
        let half = self.canvases.len() / 2;
        let first = self.rng.below(half);
        // Another one of the same size.
        let second = first + half;
        let mut camera = self.view(first, orthographic, reversed_z);
        let rng = &mut self.rng;
        camera.flip_y = rng.chance(4);
        camera.culling = [
            Culling::Frustum,
            Culling::Frustum,
            Culling::Sides,
            Culling::Off,
        ][rng.below(4)];
        camera.mask = [u32::MAX, u32::MAX, 1, 2][rng.below(4)];
        camera.detail = Detail {
            error_px: [0.0, 0.0, 0.5, 1.0, 3.0][rng.below(5)],
            pose_error_px: match rng.below(3) {
                _ if !self.motions.is_empty() => 1e9,
                number => [0.0, 0.5, 4.0][number],
            },
            level: [None, None, None, Some(2)][rng.below(4)],
            max_triangles: [None, None, None, Some(20_000), Some(3_000)][rng.below(5)],
        };
        let kind = rng.below(if self.multiview { 4 } else { 3 });
        self.build(camera.eye.position);
        let shot = Shot {
            views: vec![camera],
            first: 0,
            canvases: vec![first],
            reversed_z,
            behind: 1,
            hidden: None,
        };
        if camera.detail.max_triangles.is_some() {
            // Levels are not remembered for such a view: budgets may differ, and so would they.
            let nothing = View { mask: 0, ..camera };
            let mut views = vec![nothing; REMEMBERED];
            views.push(camera);
            let first = REMEMBERED;
            return Shot {
                views,
                first,
                ..shot
            };
        }
        if kind < 2 {
            return shot;
        }
        // A shared pose may stand in for an own one where the view that asked for that is hidden.
        if self.motions.is_empty() {
            camera.detail.pose_error_px = 0.0;
        }
        if kind == 2 {
            let mut light = self.view(second, false, reversed_z);
            light.culling = Culling::Off;
            if !self.motions.is_empty() {
                light.detail.pose_error_px = camera.detail.pose_error_px;
            }
            return Shot {
                views: vec![camera, light],
                canvases: vec![first, second],
                ..shot
            };
        }
        // A pass without a view mask shows the first eye: each is once the first.
        let (mut left, mut right) = (camera, camera);
        right.eye = self.view(first, orthographic, reversed_z).eye;
        left.more_eyes[0] = Some(right.eye);
        right.more_eyes[0] = Some(left.eye);
        Shot {
            views: vec![left, right],
            canvases: vec![first, second],
            behind: 2,
            ..shot
        }
    }
}
