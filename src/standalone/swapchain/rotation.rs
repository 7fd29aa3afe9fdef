//! The rotation between a window and the images that it shows.

use super::super::{Result, StandaloneError};
use ash::vk;
use glam::{Mat4, Vec4};

/// The rotation that a program applies to what it draws, as seen on the screen.
///
/// Phones keep the memory of their screen in one orientation. A window that is turned against it is
/// rotated by the system at a cost, or by the program for free. See
/// [`SwapchainDesc::pre_rotate`](super::SwapchainDesc::pre_rotate).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rotation {
    /// The images are shown as they are drawn.
    #[default]
    None,
    /// A quarter turn clockwise.
    Clockwise90,
    /// Half a turn.
    Clockwise180,
    /// A quarter turn counter-clockwise.
    Clockwise270,
}

impl Rotation {
    /// The matrix that turns the clip space of the window into that of the image.
    ///
    /// Multiply it from the left to a projection, whose aspect ratio is that of
    /// [`Swapchain::window_extent`](super::Swapchain::window_extent). It keeps depth and the facing
    /// of triangles.
    #[must_use]
    pub fn image_from_window(self) -> Mat4 {
        // The y-axis of Vulkan's clip space points down, so clockwise is from x to y.
        let (x, y) = match self {
            Self::None => (Vec4::X, Vec4::Y),
            Self::Clockwise90 => (Vec4::Y, Vec4::NEG_X),
            Self::Clockwise180 => (Vec4::NEG_X, Vec4::NEG_Y),
            Self::Clockwise270 => (Vec4::NEG_Y, Vec4::X),
        };
        Mat4::from_cols(x, y, Vec4::Z, Vec4::W)
    }

    /// Returns true for quarter turns, which exchange width and height.
    #[must_use]
    pub fn swaps_axes(self) -> bool {
        matches!(self, Self::Clockwise90 | Self::Clockwise270)
    }

    /// The extent of the image for a window's extent, and of the window for an image's.
    pub fn turned(self, extent: vk::Extent2D) -> vk::Extent2D {
        if !self.swaps_axes() {
            return extent;
        }
        vk::Extent2D {
            width: extent.height,
            height: extent.width,
        }
    }

    /// The rotation of a surface. `None` if it is mirrored.
    fn of(transform: vk::SurfaceTransformFlagsKHR) -> Option<Self> {
        match transform {
            vk::SurfaceTransformFlagsKHR::IDENTITY | vk::SurfaceTransformFlagsKHR::INHERIT => {
                Some(Self::None)
            }
            vk::SurfaceTransformFlagsKHR::ROTATE_90 => Some(Self::Clockwise90),
            vk::SurfaceTransformFlagsKHR::ROTATE_180 => Some(Self::Clockwise180),
            vk::SurfaceTransformFlagsKHR::ROTATE_270 => Some(Self::Clockwise270),
            _ => None,
        }
    }
}

/// Selects the transform of the images, and the rotation that it asks of the program.
///
/// This is the surface's rotation if `pre_rotate` is set or if the surface has no other choice.
/// Otherwise it is identity, and the window system rotates the images.
pub(super) fn choose_transform(
    capabilities: &vk::SurfaceCapabilitiesKHR,
    pre_rotate: bool,
) -> Result<(vk::SurfaceTransformFlagsKHR, Rotation)> {
    let current = capabilities.current_transform;
    let supported = capabilities.supported_transforms;
    let identity = vk::SurfaceTransformFlagsKHR::IDENTITY;
    let rotation = Rotation::of(current).filter(|_| supported.contains(current));
    let turned = rotation.is_some_and(|rotation| rotation != Rotation::None);
    if supported.contains(identity) && !(pre_rotate && turned) {
        return Ok((identity, Rotation::None));
    }
    rotation
        .map(|rotation| (current, rotation))
        .ok_or(StandaloneError::SurfaceTransform { current, supported })
}
