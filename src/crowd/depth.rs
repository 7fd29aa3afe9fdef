//! Depth that the engine drew before the crowd, which hides instances.

use crate::crowd::View;
use crate::error::{Error, Result, expect, expect_in, expect_index};
use ash::vk;

/// Depth that the engine has drawn for an eye of a view: that of its walls, before the crowd.
///
/// [`Frame::record_prepare_behind`](super::Frame::record_prepare_behind) leaves out instances that
/// this depth hides: whose bounding volume, as a whole, is farther than everything in front of it.
/// Nothing that could be seen is left out, as long as these hold:
///
/// - The depth was drawn in this frame, with the matrix, the jitter, the viewport and the
///   [`flip_y`](View::flip_y) of the eye, and a depth range of 0 to 1.
/// - With several samples, all of them are there. After a resolve, each texel has the farthest of
///   its samples, not their average.
/// - What is drawn afterwards is tested against it: pipelines with a depth test, and without a bias
///   that moves instances towards the eye.
/// - Own vertex shaders move vertices by at most [`Self::margin_m`] from where throng's own have
///   them.
///
/// Views with [`Culling::Off`](super::Culling::Off) or [`Culling::Rays`](super::Culling::Rays) are
/// not tested.
#[derive(Debug, Clone, Copy, PartialEq)]
#[doc(alias = "occlusion")]
#[doc(alias = "Hi-Z")]
pub struct Depth {
    /// The index of the view.
    pub view: u32,
    /// The eye of the view, 0 for the first.
    pub eye: u32,
    /// A view of the image, of its depth aspect alone. The image has the usage `SAMPLED`.
    pub image: vk::ImageView,
    /// The layout of the image when the commands run, in which it can be sampled.
    pub layout: vk::ImageLayout,
    /// Width and height of the image in texels. The upper left one is that of the attachments.
    pub extent: vk::Extent2D,
    /// The samples of the image.
    pub samples: vk::SampleCountFlags,
    /// The format of the depth attachment that the view's instances are drawn to.
    pub format: vk::Format,
    /// True if depth decreases with distance.
    pub reversed_z: bool,
    /// Pixels of a texel in both directions: a power of two, 1 for depth attachments.
    ///
    /// An engine with a pyramid of its own can hand one of its levels. Each texel has the farthest
    /// depth of exactly these pixels.
    pub texel_px: u32,
    /// Metres by which own vertex shaders move vertices.
    pub margin_m: f32,
}

/// The layouts in which depth can be sampled.
const LAYOUTS: [vk::ImageLayout; 6] = [
    vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL,
    vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL,
    vk::ImageLayout::READ_ONLY_OPTIMAL,
    vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
    vk::ImageLayout::GENERAL,
];

impl Depth {
    /// Depth of the first eye of the first view, that increases with distance, with one sample, of
    /// the format `D32_SFLOAT`, in the layout `DEPTH_STENCIL_READ_ONLY_OPTIMAL`.
    #[must_use]
    pub fn new(image: vk::ImageView, extent: vk::Extent2D) -> Self {
        Self {
            view: 0,
            eye: 0,
            image,
            layout: vk::ImageLayout::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
            extent,
            samples: vk::SampleCountFlags::TYPE_1,
            format: vk::Format::D32_SFLOAT,
            reversed_z: false,
            texel_px: 1,
            margin_m: 0.0,
        }
    }

    /// The level of its texels.
    pub(crate) fn texel_level(&self) -> u32 {
        self.texel_px.trailing_zeros()
    }

    /// Half of the largest step of the format, or `None` if it has no depth.
    pub(crate) fn half_step(&self) -> Option<f32> {
        type Of = vk::Format;
        let bits = match self.format {
            Of::D16_UNORM | Of::D16_UNORM_S8_UINT => 16,
            Of::X8_D24_UNORM_PACK32 | Of::D24_UNORM_S8_UINT => 24,
            Of::D32_SFLOAT | Of::D32_SFLOAT_S8_UINT => return Some(0.0),
            _ => return None,
        };
        Some(0.5 / ((1 << bits) - 1) as f32)
    }

    /// Checks all depths of a frame with these views.
    pub(crate) fn check_all(depths: &[Self], views: &[View]) -> Result<()> {
        depths.iter().enumerate().try_for_each(|(index, depth)| {
            let earlier = depths.get(..index).unwrap_or_default();
            let checked = depth.check(views, earlier);
            checked.map_err(|why| why.at("depth", index))
        })
    }

    /// Checks it for a frame with these views. `earlier` are those before it.
    fn check(&self, views: &[View], earlier: &[Self]) -> Result<()> {
        let view = views.get(self.view as usize);
        let view =
            view.ok_or_else(|| Error::not_found("Depth::view", self.view as usize, views.len()))?;
        expect_index("Depth::eye", self.eye as usize, view.eye_count())?;
        let same = |other: &Self| (other.view, other.eye) == (self.view, self.eye);
        let why = "is already that of an earlier depth";
        expect("Depth::eye", !earlier.iter().any(same), why)?;
        let null = self.image == vk::ImageView::null();
        expect("Depth::image", !null, "must not be null")?;
        let why = "must be a layout in which depth can be sampled";
        expect("Depth::layout", LAYOUTS.contains(&self.layout), why)?;
        let one = self.samples.as_raw().is_power_of_two();
        expect("Depth::samples", one, "must be one number of samples")?;
        let why = "must be a format with depth";
        expect("Depth::format", self.half_step().is_some(), why)?;
        let fits = view
            .has_reversed_depth()
            .is_none_or(|reversed| reversed == self.reversed_z);
        let why = match self.reversed_z {
            true => "is set, but depth of the view grows with distance",
            false => "is not set, but depth of the view shrinks with distance",
        };
        expect("Depth::reversed_z", fits, why)?;
        expect_in("Depth::margin_m", self.margin_m, 0.0, f32::MAX)?;
        let why = "must be a power of two, up to 32,768";
        let fits = self.texel_px.is_power_of_two() && self.texel_px <= 1 << 15;
        expect("Depth::texel_px", fits, why)?;
        let vk::Rect2D { offset, extent } = view.viewport;
        let texels = |offset: i32, length: u32| {
            let end = (i64::from(offset) + i64::from(length)).max(0) as u64;
            end.div_ceil(self.texel_px.into())
        };
        let fits = texels(offset.x, extent.width) <= self.extent.width.into()
            && texels(offset.y, extent.height) <= self.extent.height.into();
        let why = "must cover the viewport of the view, except past its left and upper edges";
        expect("Depth::extent", fits, why)?;
        let whole = |offset: i32| offset.max(0).cast_unsigned().is_multiple_of(self.texel_px);
        let why = "must be a divisor of where the viewport of the view starts";
        expect("Depth::texel_px", whole(offset.x) && whole(offset.y), why)
    }
}
