//! Images to draw into without a window.

use crate::attachments::{Attachments, DRAWN, Final, Formats};
use crate::image::{Image, ImageDesc, Use, barrier, transition};
use crate::readback::{ImageRead, read_image};
use crate::{Begin, Handles, Result, StandaloneError};
use ash::vk;
use std::rc::Rc;
use throng::PassDesc;

/// Settings for a new [`Target`].
#[derive(Clone, Copy, Debug)]
pub struct TargetDesc<'a> {
    /// Debug name.
    pub name: &'a str,
    /// Width and height in texels.
    pub extent: vk::Extent2D,
    /// Format of the colour image.
    pub color_format: vk::Format,
    /// Format of the depth image, if one is wanted.
    pub depth_format: Option<vk::Format>,
    /// Samples of colour and depth. With more than one, colour is resolved.
    pub samples: vk::SampleCountFlags,
    /// Usage of the resolved colour image, besides drawing and copying from it.
    ///
    /// `SAMPLED`, `STORAGE` and `INPUT_ATTACHMENT` are allowed if the device supports them.
    pub color_usage: vk::ImageUsageFlags,
    /// Usage of the depth image besides drawing, such as `SAMPLED` or `TRANSFER_SRC`.
    ///
    /// If this is empty, depth is discarded after rendering.
    pub depth_usage: vk::ImageUsageFlags,
}

impl Default for TargetDesc<'_> {
    fn default() -> Self {
        Self {
            name: "target",
            extent: vk::Extent2D {
                width: 256,
                height: 256,
            },
            color_format: vk::Format::R8G8B8A8_SRGB,
            depth_format: Some(vk::Format::D32_SFLOAT),
            samples: vk::SampleCountFlags::TYPE_1,
            color_usage: vk::ImageUsageFlags::empty(),
            depth_usage: vk::ImageUsageFlags::empty(),
        }
    }
}

/// A colour image and an optional depth image in device memory.
///
/// Between `end` and the next `begin`, the colour image is in `TRANSFER_SRC_OPTIMAL`. A new target
/// is in this layout too, and is transparent black. The depth image is in
/// `DEPTH_STENCIL_ATTACHMENT_OPTIMAL` from the first `begin` on.
pub struct Target {
    color: Image,
    attachments: Attachments,
}

/// The colour image between frames.
const RESTING: Use = (
    vk::PipelineStageFlags2::ALL_TRANSFER,
    vk::AccessFlags2::TRANSFER_READ,
    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
);

impl Target {
    /// Creates a target.
    ///
    /// # Errors
    ///
    /// Returns an error if the device does not support the combination of format, usage, samples
    /// and extent, or if a Vulkan call fails.
    pub fn new(context: &Rc<Handles>, desc: &TargetDesc<'_>) -> Result<Self> {
        let formats = Formats {
            color: desc.color_format,
            depth: desc.depth_format,
            samples: desc.samples,
        };
        let usage = (desc.color_usage, desc.depth_usage);
        let color = ImageDesc {
            name: &format!("{} colour", desc.name),
            extent: desc.extent,
            format: desc.color_format,
            samples: vk::SampleCountFlags::TYPE_1,
            attachment: vk::ImageUsageFlags::COLOR_ATTACHMENT,
            usage: desc.color_usage | vk::ImageUsageFlags::TRANSFER_SRC,
        };
        let target = Self {
            attachments: Attachments::new(context, desc.name, (desc.extent, formats), usage)?,
            color: Image::new(context, &color)?,
        };
        context.submit_and_wait(|device, cmd| {
            // SAFETY: `cmd` is recording outside of rendering, and the images are new.
            unsafe {
                target.begin(device, cmd, &Begin::default());
                target.end(device, cmd);
            }
        })?;
        Ok(target)
    }

    /// A colour pass with the formats and samples of the target. Kind and options can be changed.
    #[must_use]
    pub fn pass_desc(&self) -> PassDesc<'static> {
        self.attachments.formats.pass_desc()
    }

    /// Width and height in texels.
    pub fn extent(&self) -> vk::Extent2D {
        self.attachments.extent
    }

    /// The resolved colour image and its view.
    #[must_use]
    pub fn color(&self) -> (vk::Image, vk::ImageView) {
        (self.color.handle, self.color.view)
    }

    /// The depth image and its view, if there is one. It has the samples of the render pass.
    ///
    /// It keeps its contents after rendering only if [`TargetDesc::depth_usage`] asks for a usage.
    #[must_use]
    pub fn depth(&self) -> Option<(vk::Image, vk::ImageView)> {
        self.attachments.depth.as_ref().map(|i| (i.handle, i.view))
    }

    /// Clears, begins rendering, and sets viewport and scissor to the whole target.
    ///
    /// # Safety
    ///
    /// `cmd` belongs to this target's device and is recording outside of rendering. [`Target::end`]
    /// is recorded before `cmd` is submitted.
    pub unsafe fn begin(&self, device: &ash::Device, cmd: vk::CommandBuffer, begin: &Begin) {
        let target = Final {
            image: self.color.handle,
            view: self.color.view,
        };
        // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
        unsafe { self.attachments.begin(device, cmd, target, begin) };
    }

    /// Ends rendering and returns colour to `TRANSFER_SRC_OPTIMAL`.
    ///
    /// # Safety
    ///
    /// `cmd` is inside of the rendering that `begin` began.
    pub unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        let color = vk::ImageAspectFlags::COLOR;
        let rest = transition(self.color.handle, color, DRAWN, RESTING);
        // SAFETY: the caller guarantees that `cmd` is inside the rendering begun before.
        unsafe {
            device.cmd_end_rendering(cmd);
            barrier(device, cmd, &[rest]);
        }
    }

    /// Reads the resolved colour, after all work submitted so far.
    ///
    /// The rows are tightly packed, from the top. Each texel has four bytes in the order RGBA,
    /// encoded as the format says (sRGB unless another format was asked for).
    ///
    /// # Errors
    ///
    /// Returns an error if the format is not four 8-bit channels, and the errors of the Vulkan
    /// calls.
    pub fn read_rgba(&self) -> Result<Vec<u8>> {
        let format = self.attachments.formats.color;
        let swapped = match format {
            vk::Format::R8G8B8A8_SRGB | vk::Format::R8G8B8A8_UNORM => false,
            vk::Format::B8G8R8A8_SRGB | vk::Format::B8G8R8A8_UNORM => true,
            _ => return Err(StandaloneError::NotRgba8 { format }),
        };
        let read = ImageRead {
            image: self.color.handle,
            aspect: vk::ImageAspectFlags::COLOR,
            layout: RESTING.2,
            extent: self.extent(),
            texel_bytes: 4,
        };
        // SAFETY: the image is alive, has one sample, and is in this layout outside of rendering.
        let mut bytes = unsafe { read_image(&self.color.handles, &read) }?;
        if swapped {
            bytes.chunks_exact_mut(4).for_each(|texel| texel.swap(0, 2));
        }
        Ok(bytes)
    }
}
