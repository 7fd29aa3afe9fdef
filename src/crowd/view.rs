//! Views: camera, light, viewport, and which instances they show.

use super::ListId;
use crate::error::{Error, Result};
use crate::gpu::Limits;
use crate::gpu::layout::GpuView;
use ash::vk;
use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};

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

/// The part of the attachments that a view fills, in pixels.
///
/// A negative height flips it, as in Vulkan. Then `y` is the lower edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    /// Left edge.
    pub x: f32,
    /// Upper edge, or lower edge if the height is negative.
    pub y: f32,
    /// Width in pixels, more than 0.
    pub width: f32,
    /// Height in pixels, not 0.
    pub height: f32,
}

impl From<vk::Extent2D> for Viewport {
    fn from(extent: vk::Extent2D) -> Self {
        Self {
            x: 0.0,
            y: 0.0,
            width: extent.width as f32,
            height: extent.height as f32,
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
    /// The viewport. The scissor is the same rectangle.
    pub viewport: Viewport,
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
    /// See [`Crowd::set_view_mask`](super::Crowd::set_view_mask).
    pub mask: u32,
    /// The list of the only instances that it shows, from [`Frame::list`](super::Frame::list).
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
    /// True if the layers were drawn with a viewport of negative height.
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
    #[must_use]
    pub fn new(clip_from_world: Mat4, eye: Vec3, viewport: impl Into<Viewport>) -> Self {
        Self {
            clip_from_world,
            eye,
            viewport: viewport.into(),
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
        let Viewport {
            x,
            y,
            width,
            height,
        } = self.viewport;
        let fault = |what, why| Err(Error::invalid(what, why));
        if !self.clip_from_world.is_finite() || !self.eye.is_finite() {
            return fault("View", "matrix and eye must be finite");
        }
        if !Vec4::new(x, y, width, height).is_finite() || width <= 0.0 || height == 0.0 {
            return fault(
                "View::viewport",
                "must be finite, with a width above 0 and a height other than 0",
            );
        }
        let [least, most] = limits.viewport_bounds;
        let [max_width, max_height] = limits.max_viewport.map(|side| side as f32);
        let bounds = least..=most;
        if width > max_width
            || height.abs() > max_height
            || [x, y, x + width, y + height]
                .iter()
                .any(|edge| !bounds.contains(edge))
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
        let Viewport {
            x,
            y,
            width,
            height,
        } = view.viewport;
        let top = if height < 0.0 { y + height } else { y };
        // Handedness of (right, down, forward) in the framebuffer. The rows of the matrix are the
        // gradients of clip x, y and of depth or w in world space.
        let [right, down, depth, w] =
            [0, 1, 2, 3].map(|row| view.clip_from_world.row(row).truncate());
        let orthographic = view.is_orthographic();
        let forward = if orthographic { depth } else { w };
        let handedness = Mat3::from_cols(right, down, forward).determinant() * height.signum();
        Self {
            viewport: vk::Viewport {
                x,
                y,
                width,
                height,
                min_depth: 0.0,
                max_depth: 1.0,
            },
            scissor: scissor((x, top), (x + width, top + height.abs())),
            flipped: handedness < 0.0,
            orthographic,
        }
    }

    /// The winding of front faces in this view's framebuffer. In glTF they are counter-clockwise.
    pub(super) fn front_face(&self, reversed_z: bool, mirrored: bool) -> vk::FrontFace {
        if self.flipped ^ (self.orthographic && reversed_z) ^ mirrored {
            vk::FrontFace::CLOCKWISE
        } else {
            vk::FrontFace::COUNTER_CLOCKWISE
        }
    }
}

/// The pixels that a rectangle touches, clipped at the origin.
fn scissor(min: (f32, f32), max: (f32, f32)) -> vk::Rect2D {
    let span = |min: f32, max: f32| {
        let (start, end) = (min.max(0.0).floor() as u32, max.max(0.0).ceil() as u32);
        (start.min(end), end.saturating_sub(start))
    };
    let ((x, width), (y, height)) = (span(min.0, max.0), span(min.1, max.1));
    vk::Rect2D {
        offset: vk::Offset2D {
            x: x as i32,
            y: y as i32,
        },
        extent: vk::Extent2D { width, height },
    }
}
