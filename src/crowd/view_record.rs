//! The records of a view: the one that shaders read, and what draws need on the CPU.

use crate::crowd::Culling;
use crate::crowd::environment::Environment;
use crate::crowd::frame::history::Past;
use crate::crowd::view::{View, corners};
use crate::gpu::layout::{GpuEye, GpuView};
use ash::vk;
use glam::{Mat4, Vec3};

/// The properties of a crowd that records of views depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ViewInput {
    /// The width of the shadow map in texels, or 0 if there is none.
    pub(crate) shadow_edge: u32,
    /// The levels of the environment map, or 0 if there is none.
    pub(crate) map_levels: u32,
    /// A pass draws motion vectors.
    pub(crate) shows_motion: bool,
    /// A pass reads the environment.
    pub(crate) shows_environment: bool,
}

impl View {
    /// The GPU record of the view. `ring_palettes` is the address of the frame's palettes.
    pub(crate) fn record(
        &self,
        past: &Past,
        ring_palettes: vk::DeviceAddress,
        ViewInput {
            shadow_edge,
            map_levels,
            ..
        }: ViewInput,
    ) -> GpuView {
        let light = &self.lighting;
        // Without an environment, that of the sky: only the map's own light is missing.
        let sky = || Environment::gradient(light.sky_color, light.ground_color);
        let environment = self.environment.unwrap_or_else(sky);
        let turn = environment.environment_from_world();
        let map = self.environment.map_or(0.0, |own| own.intensity);
        let last_level = map_levels.saturating_sub(1) as f32;
        let row = |axis, w| turn.row(axis).extend(w).to_array();
        let eye = self.eye_record(past.clip_from_world[0]);
        let shadow = self.shadow.filter(|_| shadow_edge > 0).unwrap_or_default();
        GpuView {
            clip_from_world: eye.clip_from_world,
            steady_clip_from_world: eye.steady_clip_from_world,
            previous_clip_from_world: eye.previous_clip_from_world,
            history_origin: past.origin.as_vec3().extend(0.0).to_array(),
            history: past.addresses,
            ring_palettes,
            history_instances: past.instances,
            shadow_layers: shadow.layers,
            shadow_from_world: shadow
                .clip_from_world
                .map(|clip| (map_from_clip(shadow.flip_y) * clip).to_cols_array_2d()),
            eye: eye.eye,
            sun_direction: light.sun_direction.normalize_or(Vec3::Y).to_array(),
            shadow_texel: 1.0 / shadow_edge.max(1) as f32,
            sun_color: light.sun_color.to_array(),
            shadow_bias: shadow.bias_texels,
            sky_color: light.sky_color.to_array(),
            jitter_x: eye.jitter_x,
            ground_color: light.ground_color.to_array(),
            jitter_y: eye.jitter_y,
            environment_from_world: [row(0, map), row(1, last_level), row(2, 0.0)],
            environment: environment
                .factors()
                .map(|factor| factor.extend(0.0).to_array()),
        }
    }

    /// The GPU records of all eyes, if there are several.
    pub(crate) fn eye_records(&self, past: &Past) -> impl Iterator<Item = GpuEye> + '_ {
        let several = self.eye_count() > 1;
        let eyes = self.eyes().take(if several { Self::MAX_EYES } else { 0 });
        let before = past.clip_from_world;
        eyes.zip(before).map(|(eye, before)| eye.eye_record(before))
    }

    /// The GPU record of the first eye. `before` is its clip space in the last frame.
    fn eye_record(&self, before: Option<Mat4>) -> GpuEye {
        let steady = self.eye.clip_from_world.to_cols_array_2d();
        let jitter = Mat4::from_translation(self.eye.jitter.extend(0.0));
        GpuEye {
            clip_from_world: (jitter * self.eye.clip_from_world).to_cols_array_2d(),
            eye: self.eye_point().to_array(),
            jitter_x: self.eye.jitter.x,
            jitter_y: self.eye.jitter.y,
            reserved: [0; 2],
            steady_clip_from_world: steady,
            previous_clip_from_world: before.map_or(steady, |clip| clip.to_cols_array_2d()),
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
pub(crate) struct Prepared {
    pub(crate) viewport: vk::Viewport,
    pub(crate) scissor: vk::Rect2D,
    /// True if triangles that are counter-clockwise in the world are clockwise in the framebuffer,
    /// for depth that grows with distance.
    flipped: bool,
    /// True if the clip space's w is constant, so z alone says what lies in front.
    pub(crate) orthographic: bool,
    /// See [`View::has_reversed_depth`].
    pub(crate) reversed_depth: Option<bool>,
    /// The number of its eyes.
    pub(crate) eyes: u32,
    /// True with [`Culling::Rays`].
    pub(crate) of_rays: bool,
}

impl Prepared {
    pub(crate) fn new(view: &View) -> Self {
        Self {
            viewport: viewport(view),
            scissor: scissor(view.viewport),
            flipped: view.is_mirrored() ^ view.flip_y,
            orthographic: view.is_orthographic(),
            reversed_depth: view.has_reversed_depth(),
            eyes: view.eye_count() as u32,
            of_rays: view.culling == Culling::Rays,
        }
    }

    /// The winding of front faces in this view's framebuffer. In glTF they are counter-clockwise.
    pub(crate) fn front_face(&self, reversed_z: bool, flipped: bool) -> vk::FrontFace {
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
