//! The surfaces that receive the shadows of a light.

use crate::error::{Error, Result, expect, expect_in, expect_index};
use glam::Vec4;

/// The camera that shows what receives the shadows of a light.
///
/// The [view](super::View::receivers) of the light, for a shadow map, then leaves out casters whose
/// shadow this camera does not show: if the bounding volume, swept along the light down to
/// [`Self::floor`], lies outside of the camera's view, or is hidden by its [`Depth`](super::Depth).
/// All eyes of the camera must agree. The light's view counts them:
/// [`ViewStats::hidden`](super::ViewStats::hidden).
///
/// This changes no pixel of the camera's picture, as long as everything that samples the shadow map
/// is shown by the camera, and opaque: blended surfaces and fog in front of walls may receive
/// shadows that the walls hide. If another camera samples the map, too, leave this out.
///
/// As with depth, nothing is tested if the CPU culls, or if
/// [`Capacity::depth_pixels`](super::Capacity::depth_pixels) is 0.
///
/// ```
/// use throng::glam::{Mat4, Vec3, Vec4};
/// use throng::ash::vk::Extent2D;
/// use throng::{Receivers, View};
///
/// let texels = Extent2D { width: 2048, height: 2048 };
/// let mut light = View::shadow_of(Mat4::IDENTITY, Vec3::Y, texels);
/// // The camera is the first view. Nothing that receives shadows is below a height of 0.
/// light.receivers = Some(Receivers { floor: Some(Vec4::Y), ..Receivers::of(0) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(alias = "shadow caster culling")]
pub struct Receivers {
    /// The index of the camera's view in the same frame.
    pub view: u32,
    /// A plane under everything that receives shadows, such as the lowest ground.
    ///
    /// Its product with (x, y, z, 1) of points above it is positive. The light is above it. With
    /// `None`, the far plane of the light, which is seldom near enough to leave anybody out.
    pub floor: Option<Vec4>,
    /// Texels of the shadow map between a point and the farthest texel that decides about its
    /// shadow: 5 unless set.
    ///
    /// The built-in shading reads texels up to 2.9 away, from a point that it moves by up to twice
    /// [`Shadow::bias_texels`](super::Shadow::bias_texels).
    pub filter_texels: f32,
}

impl Receivers {
    /// The receivers that the camera with this index sees, for the built-in shading with its usual
    /// bias.
    #[must_use]
    pub fn of(view: u32) -> Self {
        Self {
            view,
            floor: None,
            filter_texels: 5.0,
        }
    }

    /// Checks those of the view `light` of a frame with this number of views.
    pub(crate) fn check(&self, light: usize, views: usize) -> Result<()> {
        expect_index("Receivers::view", self.view as usize, views)?;
        let other = self.view as usize != light;
        expect("Receivers::view", other, "must be another view")?;
        let is_plane = |floor: Vec4| floor.is_finite() && floor.truncate().length() > 0.0;
        if !self.floor.is_none_or(is_plane) {
            let why = "must be finite, and its normal must not be zero";
            return Err(Error::invalid("Receivers::floor", why));
        }
        expect_in("Receivers::filter_texels", self.filter_texels, 0.0, 1e6)
    }
}
