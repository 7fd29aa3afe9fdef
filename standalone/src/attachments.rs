//! The depth image and multisampled colour image that targets and swapchains render into.

use crate::image::{Image, ImageDesc, Use, aspect, barrier, transition};
use crate::{Handles, Result};
use ash::vk;
use std::rc::Rc;
use throng::PassDesc;

/// The formats and samples of attachments.
#[derive(Clone, Copy)]
pub(crate) struct Formats {
    pub(crate) color: vk::Format,
    pub(crate) depth: Option<vk::Format>,
    pub(crate) samples: vk::SampleCountFlags,
}

impl Formats {
    /// A colour pass into such attachments.
    pub(crate) fn pass_desc(self) -> PassDesc<'static> {
        PassDesc {
            color_formats: vec![self.color],
            depth_format: self.depth.unwrap_or_default(),
            samples: self.samples,
            ..PassDesc::default()
        }
    }
}

/// Clear values and flags for the start of rendering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Begin {
    /// Linear RGBA that colour is cleared to.
    pub color: [f32; 4],
    /// The value that depth is cleared to.
    ///
    /// The default is 1. With [`PassDesc::reversed_z`], it must be 0.
    pub depth: f32,
    /// Rendering flags, needed for drawing from secondary command buffers.
    pub flags: vk::RenderingFlags,
}

impl Default for Begin {
    fn default() -> Self {
        Self {
            color: [0.0; 4],
            depth: 1.0,
            flags: vk::RenderingFlags::empty(),
        }
    }
}

/// The single-sampled image that a render pass draws or resolves into.
#[derive(Clone, Copy)]
pub(crate) struct Final {
    pub(crate) image: vk::Image,
    pub(crate) view: vk::ImageView,
}

/// The depth and multisampled colour images of one extent.
pub(crate) struct Attachments {
    pub(crate) extent: vk::Extent2D,
    pub(crate) formats: Formats,
    pub(crate) multisampled: Option<Image>,
    pub(crate) depth: Option<Image>,
    /// True if depth is read after rendering.
    keeps_depth: bool,
    /// Stages, other than drawing, that have read the images before the next `begin`.
    readers: vk::PipelineStageFlags2,
}

const DEPTH_STAGES: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::from_raw(
    vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
        | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw(),
);

/// Colour, while it is drawn to.
pub(crate) const DRAWN: Use = (
    vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
    vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
    vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
);

/// Depth, while it is drawn to.
const TESTED: Use = (
    DEPTH_STAGES,
    vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE,
    vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
);

impl Attachments {
    /// `color_usage` and `depth_usage` are in addition to drawing.
    pub(crate) fn new(
        handles: &Rc<Handles>,
        name: &str,
        (extent, formats): (vk::Extent2D, Formats),
        (color_usage, depth_usage): (vk::ImageUsageFlags, vk::ImageUsageFlags),
    ) -> Result<Self> {
        let samples = formats.samples;
        let image = |kind, format, attachment, usage| {
            let name = &format!("{name} {kind}");
            let desc = ImageDesc {
                name,
                extent,
                format,
                samples,
                attachment,
                usage,
            };
            Image::new(handles, &desc)
        };
        let color = || {
            let (color, usage) = (vk::ImageUsageFlags::COLOR_ATTACHMENT, Default::default());
            image("multisampled colour", formats.color, color, usage)
        };
        let depth = |format| {
            let depth = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
            image("depth", format, depth, depth_usage)
        };
        let is_multisampled = samples != vk::SampleCountFlags::TYPE_1;
        Ok(Self {
            extent,
            formats,
            multisampled: is_multisampled.then(color).transpose()?,
            depth: formats.depth.map(depth).transpose()?,
            keeps_depth: !depth_usage.is_empty(),
            readers: readers(color_usage | depth_usage),
        })
    }

    /// Clears the attachments, begins rendering, and sets viewport and scissor.
    ///
    /// # Safety
    ///
    /// `cmd` is recording outside of rendering, and all objects belong to one device.
    pub(crate) unsafe fn begin(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        target: Final,
        begin: &Begin,
    ) {
        let clears = |image, aspect, (stages, write, layout): Use, read| {
            let before = (stages | self.readers, write, vk::ImageLayout::UNDEFINED);
            transition(image, aspect, before, (stages, write | read, layout))
        };
        let clears_color = |image| {
            let read = vk::AccessFlags2::COLOR_ATTACHMENT_READ;
            clears(image, vk::ImageAspectFlags::COLOR, DRAWN, read)
        };
        let mut barriers = vec![clears_color(target.image)];
        barriers.extend(self.multisampled.as_ref().map(|i| clears_color(i.handle)));
        barriers.extend(self.depth.as_ref().map(|depth| {
            let aspect = aspect(self.formats.depth.unwrap_or_default());
            let read = vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ;
            clears(depth.handle, aspect, TESTED, read)
        }));
        let mut color = vk::RenderingAttachmentInfo::default()
            .image_view(target.view)
            .image_layout(DRAWN.2)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue {
                color: vk::ClearColorValue {
                    float32: begin.color,
                },
            });
        if let Some(image) = &self.multisampled {
            color = color
                .image_view(image.view)
                .store_op(vk::AttachmentStoreOp::DONT_CARE)
                .resolve_image_view(target.view)
                .resolve_image_layout(DRAWN.2)
                .resolve_mode(vk::ResolveModeFlags::AVERAGE);
        }
        let colors = [color];
        let depth = self.depth.as_ref().map(|image| {
            let depth_stencil = vk::ClearDepthStencilValue {
                depth: begin.depth,
                stencil: 0,
            };
            vk::RenderingAttachmentInfo::default()
                .image_view(image.view)
                .image_layout(TESTED.2)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(match self.keeps_depth {
                    true => vk::AttachmentStoreOp::STORE,
                    false => vk::AttachmentStoreOp::DONT_CARE,
                })
                .clear_value(vk::ClearValue { depth_stencil })
        });
        let area = vk::Rect2D::default().extent(self.extent);
        let mut info = vk::RenderingInfo::default()
            .flags(begin.flags)
            .render_area(area)
            .layer_count(1)
            .color_attachments(&colors);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        let viewport = vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: self.extent.width as f32,
            height: self.extent.height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        // SAFETY: `cmd` is recording outside of rendering, by this function's contract. `self` and
        // the caller's target are alive.
        unsafe {
            barrier(device, cmd, &barriers);
            device.cmd_set_viewport(cmd, 0, &[viewport]);
            device.cmd_set_scissor(cmd, 0, &[area]);
            device.cmd_begin_rendering(cmd, &info);
        }
    }
}

/// The stages that read images with these usage flags.
///
/// The list is as short as possible, so that it cannot hide a barrier that is missing elsewhere.
fn readers(usage: vk::ImageUsageFlags) -> vk::PipelineStageFlags2 {
    let mut stages = vk::PipelineStageFlags2::empty();
    if usage.contains(vk::ImageUsageFlags::TRANSFER_SRC) {
        stages |= vk::PipelineStageFlags2::ALL_TRANSFER;
    }
    if usage.intersects(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::STORAGE) {
        stages |=
            vk::PipelineStageFlags2::COMPUTE_SHADER | vk::PipelineStageFlags2::FRAGMENT_SHADER;
    }
    stages
}
