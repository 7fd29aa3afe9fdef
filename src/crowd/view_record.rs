//! The records of a view: the one that shaders read, and what draws need on the CPU.

use super::history::Past;
use super::view::{View, corners};
use crate::gpu::layout::GpuView;
use ash::vk;
use glam::{Mat3, Mat4, Vec3};

impl View {
    /// The GPU record of the view. `ring_palettes` is the address of the frame's palettes.
    /// `shadow_edge` is the width of the crowd's shadow map in texels, or 0 if there is none.
    pub(super) fn record(
        &self,
        past: &Past,
        ring_palettes: vk::DeviceAddress,
        shadow_edge: u32,
    ) -> GpuView {
        let light = &self.lighting;
        let steady = self.clip_from_world.to_cols_array_2d();
        let jitter = Mat4::from_translation(self.jitter.extend(0.0));
        let shadow = self.shadow.filter(|_| shadow_edge > 0).unwrap_or_default();
        GpuView {
            clip_from_world: (jitter * self.clip_from_world).to_cols_array_2d(),
            steady_clip_from_world: steady,
            previous_clip_from_world: past
                .clip_from_world
                .map_or(steady, |clip| clip.to_cols_array_2d()),
            history: past.addresses,
            ring_palettes,
            history_instances: past.instances,
            shadow_layers: shadow.layers,
            shadow_from_world: shadow
                .clip_from_world
                .map(|clip| (map_from_clip(shadow.flip_y) * clip).to_cols_array_2d()),
            eye: self.eye_point().to_array(),
            sun_direction: light.sun_direction.normalize_or(Vec3::Y).to_array(),
            shadow_texel: 1.0 / shadow_edge.max(1) as f32,
            sun_color: light.sun_color.to_array(),
            shadow_bias: shadow.bias_texels,
            sky_color: light.sky_color.to_array(),
            jitter_x: self.jitter.x,
            ground_color: light.ground_color.to_array(),
            jitter_y: self.jitter.y,
        }
    }
}

/// Shadow map coordinates from clip space.
fn map_from_clip(flipped: bool) -> Mat4 {
    let y = if flipped { -0.5 } else { 0.5 };
    Mat4::from_translation(Vec3::new(0.5, 0.5, 0.0)) * Mat4::from_scale(Vec3::new(0.5, y, 1.0))
}

/// The data of a view that draws need.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prepared {
    pub(super) viewport: vk::Viewport,
    pub(super) scissor: vk::Rect2D,
    /// True if triangles that are counter-clockwise in the world are clockwise in the framebuffer,
    /// for depth that grows with distance.
    flipped: bool,
    /// True if the clip space's w is constant, so z alone says what lies in front.
    pub(super) orthographic: bool,
}

impl Prepared {
    pub(super) fn new(view: &View) -> Self {
        // Handedness of (right, down, forward) in the framebuffer. The rows of the matrix are the
        // gradients of clip x, y and of depth or w in world space.
        let [right, down, depth, w] =
            [0, 1, 2, 3].map(|row| view.clip_from_world.row(row).truncate());
        let orthographic = view.is_orthographic();
        let forward = if orthographic { depth } else { w };
        let handedness = Mat3::from_cols(right, down, forward).determinant();
        Self {
            viewport: viewport(view),
            scissor: scissor(view.viewport),
            flipped: (handedness < 0.0) ^ view.flip_y,
            orthographic,
        }
    }

    /// The winding of front faces in this view's framebuffer. In glTF they are counter-clockwise.
    pub(super) fn front_face(&self, reversed_z: bool, flipped: bool) -> vk::FrontFace {
        if self.flipped ^ (self.orthographic && reversed_z) ^ flipped {
            vk::FrontFace::CLOCKWISE
        } else {
            vk::FrontFace::COUNTER_CLOCKWISE
        }
    }
}

/// Vulkan's viewport of a view.
fn viewport(view: &View) -> vk::Viewport {
    let ([left, top], [right, bottom]) = corners(view.viewport);
    let (start, end) = match view.flip_y {
        false => (top, bottom),
        true => (bottom, top),
    };
    vk::Viewport {
        x: left as f32,
        y: start as f32,
        width: (right - left) as f32,
        height: (end - start) as f32,
        min_depth: 0.0,
        max_depth: 1.0,
    }
}

/// The rectangle, clipped at the origin.
fn scissor(rect: vk::Rect2D) -> vk::Rect2D {
    let (min, max) = corners(rect);
    let ([left, top], [right, bottom]) = (min.map(|at| at.max(0)), max.map(|at| at.max(0)));
    vk::Rect2D {
        offset: vk::Offset2D {
            x: left as i32,
            y: top as i32,
        },
        extent: vk::Extent2D {
            width: (right - left) as u32,
            height: (bottom - top) as u32,
        },
    }
}
