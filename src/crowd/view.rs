//! Views: camera, light, viewport, and which instances they show.

use super::ListId;
use crate::error::{Error, Result};
use crate::gpu::Limits;
use crate::gpu::layout::GpuView;
use ash::vk;
use glam::{Mat3, Mat4, Vec2, Vec3};

/// Bytes of a view's record.
pub(super) const VIEW_BYTES: u64 = size_of::<GpuView>() as u64;

/// One directional light and a sky.
///
/// Colours are linear and include the intensity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lighting {
    /// Direction towards the sun, with any length but zero.
    pub sun_direction: Vec3,
    /// Light of the sun on a surface that faces it.
    pub sun_color: Vec3,
    /// Light from straight above.
    pub sky_color: Vec3,
    /// Light from straight below. In between, the normal's height mixes the two.
    pub ground_color: Vec3,
}

impl Default for Lighting {
    fn default() -> Self {
        Self {
            sun_direction: Vec3::new(0.4, 0.8, 0.45),
            sun_color: Vec3::new(0.95, 0.9, 0.8),
            sky_color: Vec3::new(0.32, 0.37, 0.45),
            ground_color: Vec3::new(0.16, 0.14, 0.12),
        }
    }
}

/// A camera or a light that looks at the crowd.
///
/// ```
/// use throng::View;
/// use throng::ash::vk::Extent2D;
/// use throng::glam::{Vec3, camera::rh, vec3};
///
/// let eye = vec3(0.0, 2.0, 6.0);
/// let clip_from_view = rh::proj::vulkan::perspective(0.8, 16.0 / 9.0, 0.1, 100.0);
/// let view_from_world = rh::view::look_at_mat4(eye, vec3(0.0, 1.0, 0.0), Vec3::Y);
/// let extent = Extent2D { width: 1280, height: 720 };
/// let view = View::new(clip_from_view * view_from_world, eye, extent);
/// # let _ = view;
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Vulkan clip space from world space.
    ///
    /// It uses column vectors, depth 0 to 1, and +Y down in clip space.
    pub clip_from_world: Mat4,
    /// The eye, in world space.
    ///
    /// For an orthographic view, any point far back along the view: it gives the direction.
    pub eye: Vec3,
    /// The part of the attachments that the view fills, in pixels.
    ///
    /// The scissor is the same rectangle. The rectangle may extend past the left and upper edges of
    /// the attachments.
    pub viewport: vk::Rect2D,
    /// Flips the picture vertically: Vulkan's viewport of negative height.
    ///
    /// The view fills the same pixels.
    pub flipped: bool,
    /// The lighting.
    pub lighting: Lighting,
    /// Jitter for temporal filters.
    ///
    /// It is added to x and y of normalised device coordinates.
    ///
    /// Motion vectors do not include it.
    pub jitter: Vec2,
    /// The index of this view's history, which motion vectors are measured against.
    ///
    /// The index is below [`Capacity::histories`](crate::Capacity::histories). Motion vectors are
    /// measured against the last frame that was prepared with the same index. In a frame, at most
    /// one view uses an index. With `None`, no history is kept and motion vectors are zero.
    pub history: Option<u32>,
    /// The contents of the crowd's shadow map, for passes that sample it.
    pub shadow: Option<Shadow>,
    /// The view's mask: it shows instances whose mask has a bit in common.
    ///
    /// See [`InstanceMut::set_view_mask`](super::InstanceMut::set_view_mask).
    pub mask: u32,
    /// The list of the only instances that it shows, from
    /// [`Frame::make_list`](super::Frame::make_list).
    ///
    /// With `None`, there is no such restriction.
    pub list: Option<ListId>,
}

/// The layers of a shadow map.
///
/// Each is a view from the light.
///
/// A point uses the first layer that covers it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shadow {
    /// Vulkan clip space of each layer from world space.
    ///
    /// These are the matrices of the [`View`]s that the layers were drawn with.
    pub clip_from_world: [Mat4; Self::MAX_LAYERS],
    /// The number of layers.
    pub layers: u32,
    /// True if the layers were drawn with [`View::flipped`].
    pub flipped: bool,
    /// Bias in texels: how far points are moved off their surface before the lookup.
    ///
    /// It is up to four times as much where the light grazes the surface.
    pub bias_texels: f32,
}

impl Shadow {
    /// The largest number of layers of a shadow map.
    pub const MAX_LAYERS: usize = GpuView::SHADOW_LAYERS;
}

impl Default for Shadow {
    fn default() -> Self {
        Self {
            clip_from_world: [Mat4::IDENTITY; Self::MAX_LAYERS],
            layers: 0,
            flipped: false,
            bias_texels: 1.0,
        }
    }
}

impl View {
    /// A view with the default light.
    ///
    /// The viewport is a [`vk::Rect2D`], or a [`vk::Extent2D`] at the origin.
    #[must_use]
    pub fn new(clip_from_world: Mat4, eye: Vec3, viewport: impl Into<vk::Rect2D>) -> Self {
        Self {
            clip_from_world,
            eye,
            viewport: viewport.into(),
            flipped: false,
            lighting: Lighting::default(),
            jitter: Vec2::ZERO,
            history: None,
            shadow: None,
            mask: u32::MAX,
            list: None,
        }
    }

    /// Checks the view against the device's limits.
    ///
    /// # Errors
    /// [`Error::Argument`] for values that are not finite, an empty viewport, one that exceeds the
    /// device's limits, or a sun without direction.
    pub(super) fn check(&self, limits: &Limits) -> Result<()> {
        let fault = |what, why| Err(Error::invalid(what, why));
        if !self.clip_from_world.is_finite() || !self.eye.is_finite() {
            return fault("View", "matrix and eye must be finite");
        }
        let vk::Extent2D { width, height } = self.viewport.extent;
        if width == 0 || height == 0 {
            return fault("View::viewport", "must have a width and a height above 0");
        }
        let [least, most] = limits.viewport_bounds.map(f64::from);
        let [max_width, max_height] = limits.max_viewport;
        let ([left, top], [right, bottom]) = corners(self.viewport);
        let edges = [left, top, right, bottom].map(|edge| edge as f64);
        if width > max_width
            || height > max_height
            || edges.iter().any(|edge| !(least..=most).contains(edge))
        {
            return fault(
                "View::viewport",
                "must lie within maxViewportDimensions and viewportBoundsRange of the device",
            );
        }
        let Lighting {
            sun_direction,
            sun_color,
            sky_color,
            ground_color,
        } = self.lighting;
        let finite = [sun_direction, sun_color, sky_color, ground_color]
            .iter()
            .all(|v| v.is_finite());
        if !finite || sun_direction.try_normalize().is_none() {
            return fault(
                "View::lighting",
                "must be finite, and the sun's direction must not be zero",
            );
        }
        if !self.jitter.is_finite() {
            return fault("View::jitter", "must be finite");
        }
        match &self.shadow {
            Some(shadow) if shadow.layers as usize > Shadow::MAX_LAYERS => {
                fault("View::shadow", "must have at most 4 layers")
            }
            Some(shadow)
                if !(shadow.clip_from_world.iter().all(Mat4::is_finite)
                    && shadow.bias_texels.is_finite()) =>
            {
                fault("View::shadow", "must be finite")
            }
            _ => Ok(()),
        }
    }

    /// The GPU record of the view. `ring_palettes` is the address of the frame's palettes.
    /// `shadow_edge` is the width of the crowd's shadow map in texels, or 0 if there is none.
    pub(super) fn record(
        &self,
        past: &Past,
        ring_palettes: vk::DeviceAddress,
        shadow_edge: u32,
    ) -> GpuView {
        let light = &self.lighting;
        let color = |color: Vec3| color.extend(0.0).to_array();
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
            shadow_texel: 1.0 / shadow_edge.max(1) as f32,
            shadow_bias: shadow.bias_texels,
            reserved: [0; 2],
            shadow_from_world: shadow
                .clip_from_world
                .map(|clip| (map_from_clip(shadow.flipped) * clip).to_cols_array_2d()),
            eye: self.eye_point().to_array(),
            sun_direction: light
                .sun_direction
                .normalize_or(Vec3::Y)
                .extend(0.0)
                .to_array(),
            sun_color: color(light.sun_color),
            sky_color: color(light.sky_color),
            ground_color: color(light.ground_color),
        }
    }
}

/// The state of a view's last frame.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Past {
    /// Its clip space then, without jitter, or `None` if there was no such frame.
    pub(super) clip_from_world: Option<Mat4>,
    /// The number of records that the instance table had.
    pub(super) instances: u32,
    /// See [`GpuView::history`].
    pub(super) addresses: [vk::DeviceAddress; 4],
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
            flipped: (handedness < 0.0) ^ view.flipped,
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

/// The corners of a rectangle with the least and the greatest coordinates.
fn corners(rect: vk::Rect2D) -> ([i64; 2], [i64; 2]) {
    let min = [rect.offset.x, rect.offset.y].map(i64::from);
    let [width, height] = [rect.extent.width, rect.extent.height].map(i64::from);
    (min, [min[0] + width, min[1] + height])
}

/// Vulkan's viewport of a view.
fn viewport(view: &View) -> vk::Viewport {
    let ([left, top], [right, bottom]) = corners(view.viewport);
    let (start, end) = match view.flipped {
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
