//! Views: camera, light, viewport, and which instances they show.

use crate::crowd::ListId;
use crate::crowd::detail::{Culling, Detail};
use crate::crowd::environment::Environment;
use crate::crowd::receivers::Receivers;
use crate::error::{Error, Result, spans_space};
use crate::gpu::Limits;
use crate::gpu::layout::GpuView;
use crate::skin::Ray;
use ash::vk;
use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};

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
    /// The eye, or the first one of several.
    pub eye: Eye,
    /// Its further eyes, for passes with a [view mask](crate::PassDesc::view_mask) (multiview).
    ///
    /// All eyes share everything else, and one list: an instance is drawn for all of them if any
    /// eye shows it, at the finest level that an eye needs. Blended instances are sorted for the
    /// first eye. In a pass without a view mask, the view is that of its first eye.
    ///
    /// For example, the eyes are those of a headset, or the layers of a shadow map. They need
    /// [`Features::MULTIVIEW`](crate::gpu::Features::MULTIVIEW).
    ///
    /// ```
    /// use throng::ash::vk::Extent2D;
    /// use throng::glam::{Mat4, Vec3};
    /// use throng::{Eye, View};
    ///
    /// /// A view of both eyes of a headset. Each has its matrix and its position.
    /// fn stereo(left: (Mat4, Vec3), right: (Mat4, Vec3), extent: Extent2D) -> View {
    ///     let mut view = View::new(left.0, left.1, extent);
    ///     view.more_eyes[0] = Some(Eye::new(right.0, right.1));
    ///     view
    /// }
    /// # let both = stereo(Default::default(), Default::default(), Extent2D::default());
    /// # assert!(both.of_eye(1).is_some() && both.of_eye(2).is_none());
    /// ```
    #[doc(alias = "multiview")]
    #[doc(alias = "stereo")]
    pub more_eyes: [Option<Eye>; Self::MAX_EYES - 1],
    /// The part of the attachments that the view fills, in pixels.
    ///
    /// The scissor is the same rectangle. The rectangle may extend past the left and upper edges of
    /// the attachments.
    pub viewport: vk::Rect2D,
    /// Flips the picture vertically: Vulkan's viewport of negative height.
    ///
    /// The view fills the same pixels.
    pub flip_y: bool,
    /// The lighting.
    pub lighting: Lighting,
    /// The index of this view's history, which motion vectors are measured against.
    ///
    /// The index is below [`Capacity::histories`](crate::Capacity::histories). Motion vectors are
    /// measured against the last frame that was prepared with the same index. In a frame, at most
    /// one view uses an index, besides those of [`Culling::Rays`], for which
    /// `throng_hit_previous` (`shaders/include/throng_hit.glsl`) reads it. With `None`, no history
    /// is kept and motion vectors are zero.
    pub history: Option<u32>,
    /// The light of the surroundings, for passes with
    /// [`PassDesc::environment`](crate::PassDesc::environment).
    ///
    /// With `None`, these have the sky of [`Self::lighting`].
    pub environment: Option<Environment>,
    /// The contents of the crowd's shadow map, for passes that sample it.
    pub shadow: Option<Shadow>,
    /// For the view of a light: what receives its shadows.
    ///
    /// With `None`, it shows all casters that it has inside.
    pub receivers: Option<Receivers>,
    /// The view's mask: it shows instances whose mask has a bit in common.
    ///
    /// See [`Instance::set_view_mask`](super::Instance::set_view_mask).
    pub mask: u32,
    /// The list of the only instances that it shows, from
    /// [`Frame::make_list`](super::Frame::make_list).
    ///
    /// With `None`, there is no such restriction.
    pub list: Option<ListId>,
    /// The part of space whose instances it shows.
    pub culling: Culling,
    /// The detail of what it shows.
    pub detail: Detail,
    /// Holds back the instances that it did not see in the frame before, until
    /// [`Frame::record_reveal`](super::Frame::record_reveal) tests them against the depth of what
    /// it shows.
    ///
    /// It is for views where instances hide each other, such as a camera at eye level. The index of
    /// the view in its frame is below [`Capacity::late_views`](super::Capacity::late_views). It has
    /// no effect if the CPU culls.
    pub late: bool,
}

/// An eye of a [`View`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Eye {
    /// Vulkan clip space from world space.
    ///
    /// It uses column vectors, depth 0 to 1, and +Y down in clip space.
    pub clip_from_world: Mat4,
    /// The position, in world space.
    ///
    /// For an orthographic view, any point far back along the view: it gives the direction.
    pub position: Vec3,
    /// Jitter for temporal filters.
    ///
    /// It is added to x and y of normalised device coordinates.
    ///
    /// Motion vectors do not include it.
    pub jitter: Vec2,
}

impl Eye {
    /// An eye without jitter.
    #[must_use]
    pub fn new(clip_from_world: Mat4, position: Vec3) -> Self {
        Self {
            clip_from_world,
            position,
            jitter: Vec2::ZERO,
        }
    }

    fn is_finite(&self) -> bool {
        self.clip_from_world.is_finite() && self.position.is_finite() && self.jitter.is_finite()
    }
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
    /// True if the layers were drawn with [`View::flip_y`].
    pub flip_y: bool,
    /// Bias in texels: how far points are moved off their surface before the lookup.
    ///
    /// It is up to four times as much where the light grazes the surface.
    pub bias_texels: f32,
}

impl Shadow {
    /// The largest number of layers of a shadow map.
    pub const MAX_LAYERS: usize = GpuView::SHADOW_LAYERS;

    /// The layers that were drawn with these views: one for each of their eyes.
    ///
    /// They are all [flipped](View::flip_y) or not, as the first is. With more than
    /// [`Self::MAX_LAYERS`], a view with this shadow is refused.
    ///
    /// ```
    /// use throng::ash::vk::Extent2D;
    /// use throng::glam::{Mat4, Vec3};
    /// use throng::{Shadow, View};
    ///
    /// let texels = Extent2D { width: 1024, height: 1024 };
    /// let light = View::shadow_of(Mat4::IDENTITY, Vec3::Z, texels);
    /// let mut camera = View::new(Mat4::IDENTITY, Vec3::Z, Extent2D { width: 1280, height: 720 });
    /// camera.shadow = Some(Shadow::of(&[light]));
    /// ```
    #[must_use]
    pub fn of(views: &[View]) -> Self {
        let mut shadow = Self {
            flip_y: views.first().is_some_and(|view| view.flip_y),
            ..Self::default()
        };
        let further = |view: &View| view.more_eyes.into_iter().flatten();
        let eyes = views
            .iter()
            .flat_map(|view| core::iter::once(view.eye).chain(further(view)));
        for (layer, eye) in eyes.enumerate() {
            if let Some(clip_from_world) = shadow.clip_from_world.get_mut(layer) {
                *clip_from_world = eye.clip_from_world;
            }
            shadow.layers += 1;
        }
        shadow
    }
}

impl Default for Shadow {
    fn default() -> Self {
        Self {
            clip_from_world: [Mat4::IDENTITY; Self::MAX_LAYERS],
            layers: 0,
            flip_y: false,
            bias_texels: 1.0,
        }
    }
}

impl View {
    /// The largest number of eyes of a view.
    pub const MAX_EYES: usize = GpuView::EYES;

    /// A view of one eye, with the default light and detail.
    ///
    /// The viewport is a [`vk::Rect2D`], or a [`vk::Extent2D`] at the origin.
    #[must_use]
    pub fn new(clip_from_world: Mat4, eye: Vec3, viewport: impl Into<vk::Rect2D>) -> Self {
        Self {
            eye: Eye::new(clip_from_world, eye),
            more_eyes: [None; Self::MAX_EYES - 1],
            viewport: viewport.into(),
            flip_y: false,
            lighting: Lighting::default(),
            history: None,
            environment: None,
            shadow: None,
            receivers: None,
            mask: u32::MAX,
            list: None,
            culling: Culling::Frustum,
            detail: Detail::default(),
            late: false,
        }
    }

    /// The view of a light, of one eye, for a layer of a shadow map.
    ///
    /// It is [`Self::new`] with coarser detail, because a shadow hides errors that a surface shows:
    /// two texels of error for levels of detail ([`Detail::error_px`]), and one for shared poses
    /// ([`Detail::pose_error_px`]). `clip_from_world` and `light` are matrix and position of the
    /// light. For one with parallel rays, the position is any point far back along them.
    ///
    /// ```
    /// use throng::ash::vk::Extent2D;
    /// use throng::glam::{Vec3, camera::rh};
    /// use throng::{Shadow, View};
    ///
    /// let sun = Vec3::new(8.0, 16.0, 9.0);
    /// let clip_from_light = rh::proj::vulkan::orthographic(-9.0, 9.0, -9.0, 9.0, 1.0, 40.0);
    /// let light_from_world = rh::view::look_at_mat4(sun, Vec3::ZERO, Vec3::Y);
    /// let texels = Extent2D { width: 2048, height: 2048 };
    /// let light = View::shadow_of(clip_from_light * light_from_world, sun, texels);
    /// let shadow = Shadow::of(&[light]); // for View::shadow of the camera
    /// # assert_eq!((light.detail.error_px, light.detail.pose_error_px), (2.0, 1.0));
    /// # assert_eq!(shadow.layers, 1);
    /// ```
    #[must_use]
    pub fn shadow_of(clip_from_world: Mat4, light: Vec3, viewport: impl Into<vk::Rect2D>) -> Self {
        let detail = Detail {
            error_px: 2.0,
            pose_error_px: 1.0,
            ..Detail::default()
        };
        Self {
            detail,
            ..Self::new(clip_from_world, light, viewport)
        }
    }

    /// The number of its eyes.
    pub(crate) fn eye_count(&self) -> usize {
        1 + self.more_eyes.iter().flatten().count()
    }

    /// The same view for one of its eyes alone, 0 for the first.
    ///
    /// For [`Self::ray`], for example. `None` if there is no such eye.
    #[must_use]
    pub fn of_eye(&self, number: usize) -> Option<Self> {
        let alone = Self {
            more_eyes: [None; Self::MAX_EYES - 1],
            ..*self
        };
        if number == 0 {
            return Some(alone);
        }
        let eye = (*self.more_eyes.get(number - 1)?)?;
        Some(Self { eye, ..alone })
    }

    /// Each of its eyes as a view of its own.
    pub(crate) fn eyes(&self) -> impl Iterator<Item = Self> + '_ {
        (0..Self::MAX_EYES).map_while(|number| self.of_eye(number))
    }

    /// Each of its further eyes as a view of its own.
    pub(crate) fn further_eyes(&self) -> impl Iterator<Item = Self> + '_ {
        self.eyes().skip(1)
    }

    /// The ray from the eye through a point of the picture, in world space.
    ///
    /// `pixel` is in pixels of the attachments, from their upper left corner. The middle of the
    /// first pixel is at (0.5, 0.5). Use it with [`Crowd::pick`](super::Crowd::pick).
    ///
    /// ```
    /// use throng::View;
    /// use throng::ash::vk::Extent2D;
    /// use throng::glam::{Mat4, Vec2, Vec3};
    ///
    /// // Orthographic: the picture shows x and y in −1..1, from z = 1 on.
    /// let extent = Extent2D { width: 200, height: 100 };
    /// let clip_from_world = Mat4::from_scale_rotation_translation(
    ///     Vec3::new(1.0, -1.0, -0.1), Default::default(), Vec3::Z * 0.1);
    /// let view = View::new(clip_from_world, Vec3::Z * 9.0, extent);
    /// let ray = view.ray(Vec2::new(150.0, 25.0));
    /// assert!(ray.origin.abs_diff_eq(Vec3::new(0.5, 0.5, 1.0), 1e-5));
    /// assert!(ray.direction.normalize().abs_diff_eq(Vec3::NEG_Z, 1e-5));
    /// ```
    #[must_use]
    pub fn ray(&self, pixel: Vec2) -> Ray {
        let ([left, top], [right, bottom]) = corners(self.viewport);
        let [left, top, right, bottom] = [left, top, right, bottom].map(|edge| edge as f32);
        let x = (pixel.x - left) / (right - left) * 2.0 - 1.0;
        let y = (pixel.y - top) / (bottom - top) * 2.0 - 1.0;
        let y = if self.flip_y { -y } else { y };
        let world_from_clip = self.eye.clip_from_world.inverse();
        let at = |depth| world_from_clip.project_point3(Vec3::new(x, y, depth));
        let eye = self.eye_point();
        if eye.w != 0.0 {
            let origin = eye.truncate();
            return Ray {
                origin,
                direction: at(0.5) - origin,
            };
        }
        // The end of the depth range that is nearer to the eye.
        let (first, second) = (at(0.0), at(1.0));
        let towards = eye.truncate();
        let origin = if towards.dot(first - second) > 0.0 {
            first
        } else {
            second
        };
        Ray {
            origin,
            direction: -towards,
        }
    }

    /// Checks the further eyes.
    fn check_eyes(&self) -> Result<()> {
        let fault = |why| Err(Error::invalid("View::more_eyes", why));
        if self.further_eyes().count() + 1 < self.eye_count() {
            return fault("must have no gaps between eyes");
        }
        let kind = |view: &Self| (view.is_orthographic(), view.is_mirrored());
        for eye in self.further_eyes() {
            if !eye.eye.is_finite() {
                return fault("matrix, position and jitter must be finite");
            }
            if !eye.spans_space() {
                return fault(Self::SINGULAR);
            }
            if kind(&eye) != kind(self) {
                return fault(
                    "must be perspective or orthographic, and mirrored or not, like the first eye",
                );
            }
        }
        Ok(())
    }

    /// Checks the view against the device's limits.
    ///
    /// # Errors
    /// [`Error::Argument`] for values that are not finite, a singular matrix, an empty viewport,
    /// one that exceeds the device's limits, a sun without direction, eyes that do not fit
    /// together, or a late view of rays.
    pub(crate) fn check(&self, limits: &Limits) -> Result<()> {
        let fault = |what, why| Err(Error::invalid(what, why));
        if !self.eye.is_finite() {
            return fault("View::eye", "matrix, position and jitter must be finite");
        }
        if !self.spans_space() {
            return fault("Eye::clip_from_world", Self::SINGULAR);
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
        if self.late && self.culling == Culling::Rays {
            return fault("View::late", "must be false with Culling::Rays");
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
        if let Some(environment) = &self.environment {
            environment.check()?;
        }
        for (what, pixels) in [
            ("Detail::error_px", self.detail.error_px),
            ("Detail::pose_error_px", self.detail.pose_error_px),
        ] {
            if !pixels.is_finite() || pixels < 0.0 {
                return fault(what, "must be a number of pixels, or 0");
            }
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
            _ => self.check_eyes(),
        }
    }

    const SINGULAR: &str = "must not be singular: right, down and forward of the picture, which \
        are its first two rows and the last, or the third if orthographic, lie in a plane";

    /// The directions right, down and forward of the picture, with any lengths.
    ///
    /// The rows of the matrix are the gradients of clip x, y and of depth or w in world space.
    fn directions(&self) -> [Vec3; 3] {
        let [right, down, depth, w] =
            [0, 1, 2, 3].map(|row| self.eye.clip_from_world.row(row).truncate());
        [right, down, if self.is_orthographic() { depth } else { w }]
    }

    /// True if the picture's directions do not lie in a plane.
    fn spans_space(&self) -> bool {
        spans_space(self.directions().map(|along| along.as_dvec3()))
    }

    /// True if depth decreases with distance, and false if it increases. `None` if that cannot be
    /// told: for an orthographic view, if the near plane is at a slant, and if the numbers are too
    /// far from each other.
    pub(crate) fn has_reversed_depth(&self) -> Option<bool> {
        let [depth, w] = [2, 3].map(|row| self.eye.clip_from_world.row(row).as_dvec4());
        // Depth is a + b / w if both rows have one direction.
        let a = depth.truncate().dot(w.truncate()) / w.truncate().length_squared();
        let slant = (depth.truncate() - w.truncate() * a).length();
        let b = depth.w - a * w.w;
        let sure = slant <= 1e-4 * w.truncate().length()
            && b.abs() > 1e-5 * (depth.w.abs() + (a * w.w).abs());
        (sure && !self.is_orthographic()).then_some(b > 0.0)
    }

    /// Returns true if triangles that are counter-clockwise in the world are clockwise in the
    /// framebuffer, for depth that grows with distance and a viewport that is not flipped.
    pub(crate) fn is_mirrored(&self) -> bool {
        // Handedness of (right, down, forward) in the framebuffer.
        let [right, down, forward] = self.directions();
        Mat3::from_cols(right, down, forward).determinant() < 0.0
    }

    /// Returns true if the clip space's w is constant, so size does not depend on distance.
    pub(crate) fn is_orthographic(&self) -> bool {
        let [right, down, w] = [0, 1, 3].map(|row| self.eye.clip_from_world.row(row).truncate());
        // Composed or inverted matrices leave a small w where it should be 0.
        w.length() <= 1e-5 * right.length().max(down.length())
    }

    /// The direction towards the eye of an orthographic view.
    ///
    /// It is perpendicular to the view's right and down, and points to the eye's side of the middle
    /// of the depth range. `None` for other views, and if there is no such direction.
    fn eye_direction(&self) -> Option<Vec3> {
        if !self.is_orthographic() {
            return None;
        }
        let clip = &self.eye.clip_from_world;
        let [right, down] = [0, 1].map(|row| clip.row(row).truncate().try_normalize());
        let axis = right?.cross(down?).try_normalize()?;
        let eye = *clip * self.eye.position.extend(1.0);
        let side = (eye.z / eye.w - 0.5) * eye.w.signum() * clip.row(2).truncate().dot(axis);
        (side != 0.0 && side.is_finite()).then(|| axis * side.signum())
    }

    /// The eye with w = 1, or the direction towards it with w = 0.
    pub(crate) fn eye_point(&self) -> Vec4 {
        let towards = self.eye_direction().map(|towards| towards.extend(0.0));
        towards.unwrap_or(self.eye.position.extend(1.0))
    }

    /// A linear function of points that grows with their distance.
    ///
    /// The distance is that from the eye, or along the direction of an orthographic view.
    pub(crate) fn distance(&self) -> Vec4 {
        let along = self.eye_direction().map(|to_eye| -to_eye.extend(0.0));
        along.unwrap_or(self.eye.clip_from_world.row(3))
    }
}

/// The corners of a rectangle with the least and the greatest coordinates.
pub(crate) fn corners(rect: vk::Rect2D) -> ([i64; 2], [i64; 2]) {
    let min = [rect.offset.x, rect.offset.y].map(i64::from);
    let [width, height] = [rect.extent.width, rect.extent.height].map(i64::from);
    (min, [min[0] + width, min[1] + height])
}
