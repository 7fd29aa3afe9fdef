//! The depth image and multisampled colour image that targets and swapchains render into.
//!
//! Also records how rendering begins and ends.

use super::device_owner::Idle;
use super::image::{Image, whole};
use super::image_rules::{ImageDesc, aspect, check_depth_usage, check_formats};
use super::{Context, Formats, Result};
use ash::vk;

/// Clear values and flags for the start of rendering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Begin {
    /// Linear RGBA that colour is cleared to.
    pub color: [f32; 4],
    /// Value that depth is cleared to. The default is 0, which is the farthest depth in reversed-Z.
    /// Use 1 for a conventional depth range.
    pub depth: f32,
    /// Set this if rendering will be suspended and resumed. The default is false.
    ///
    /// Depth and multisampled colour are then kept from each `suspend` to the next `resume`, which
    /// costs memory bandwidth: 66 MB per frame at 1080p with four samples.
    pub suspends: bool,
    /// Rendering flags, needed for drawing from secondary command buffers.
    pub flags: vk::RenderingFlags,
}

impl Default for Begin {
    fn default() -> Self {
        Self {
            color: [0.0; 4],
            depth: 0.0,
            suspends: false,
            flags: vk::RenderingFlags::empty(),
        }
    }
}

/// The single-sampled image that a render pass resolves into.
#[derive(Clone, Copy)]
pub(super) struct Final {
    pub(super) image: vk::Image,
    pub(super) view: vk::ImageView,
}

/// The depth and multisampled colour images of one extent.
#[derive(Debug)]
pub(super) struct Attachments {
    pub(super) extent: vk::Extent2D,
    pub(super) formats: Formats,
    pub(super) multisampled: Option<Image>,
    pub(super) depth: Option<Image>,
    /// True if depth may be read after rendering.
    keeps_depth: bool,
    /// Stages, other than drawing, that have read the images before the next `begin`.
    readers: vk::PipelineStageFlags2,
}

/// Names and additional uses of the images.
pub(super) struct AttachmentsDesc<'a> {
    /// The owner of the images, for errors.
    pub(super) object: &'a str,
    pub(super) name: &'a str,
    pub(super) extent: vk::Extent2D,
    pub(super) formats: Formats,
    pub(super) color_usage: vk::ImageUsageFlags,
    pub(super) depth_usage: vk::ImageUsageFlags,
}

const DEPTH_STAGES: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::from_raw(
    vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
        | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw(),
);
/// The layout of the depth image from `begin` on.
const DEPTH_LAYOUT: vk::ImageLayout = vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
const COLOR_STAGE: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT;

impl Attachments {
    pub(super) fn new(context: &mut Context, desc: &AttachmentsDesc<'_>) -> Result<Self> {
        let samples = desc.formats.samples;
        check_formats(context, desc.object, desc.formats)?;
        check_depth_usage(context, desc.object, desc.depth_usage, samples)?;
        let mut attachments = Self {
            extent: desc.extent,
            formats: desc.formats,
            multisampled: None,
            depth: None,
            keeps_depth: !desc.depth_usage.is_empty()
                && !desc
                    .depth_usage
                    .contains(vk::ImageUsageFlags::TRANSIENT_ATTACHMENT),
            readers: readers(desc.color_usage | desc.depth_usage),
        };
        match attachments.build(context, desc) {
            Ok(()) => Ok(attachments),
            Err(error) => {
                attachments.release(&mut context.idle());
                Err(error)
            }
        }
    }

    fn build(&mut self, context: &mut Context, desc: &AttachmentsDesc<'_>) -> Result<()> {
        let Formats {
            color,
            depth,
            samples,
        } = desc.formats;
        let mut image = |kind: &str, format, usage| {
            Image::new(
                context,
                &ImageDesc {
                    name: &format!("{} {kind}", desc.name),
                    extent: desc.extent,
                    format,
                    samples,
                    usage,
                },
            )
        };
        if samples != vk::SampleCountFlags::TYPE_1 {
            // Only the resolved image is read.
            let usage =
                vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
            self.multisampled = Some(image("multisampled colour", color, usage)?);
        }
        if let Some(format) = depth {
            let mut usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | desc.depth_usage;
            if !self.keeps_depth {
                usage |= vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
            }
            self.depth = Some(image("depth", format, usage)?);
        }
        Ok(())
    }

    /// Destroys all images that exist. The device must no longer use them.
    pub(super) fn release(&mut self, idle: &mut Idle<'_>) {
        for mut image in self
            .multisampled
            .take()
            .into_iter()
            .chain(self.depth.take())
        {
            image.release(idle);
        }
    }

    /// Clears the attachments and begins rendering.
    ///
    /// # Safety
    ///
    /// `cmd` is recording outside of rendering, and all objects belong to one device.
    pub(super) unsafe fn begin(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        target: Final,
        begin: &Begin,
    ) {
        let mut barriers = vec![self.color_barrier(target.image, false)];
        barriers.extend(
            self.multisampled
                .as_ref()
                .map(|i| self.color_barrier(i.handle, false)),
        );
        barriers.extend(
            self.depth
                .as_ref()
                .map(|i| self.depth_barrier(i.handle, false)),
        );
        // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
        unsafe {
            barrier(device, cmd, &barriers);
            self.render(device, cmd, target, begin, vk::AttachmentLoadOp::CLEAR);
        }
    }

    /// Begins rendering again and loads the existing contents.
    ///
    /// # Safety
    ///
    /// As [`Self::begin`]. The images are in their attachment layouts.
    pub(super) unsafe fn resume(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        target: Final,
        flags: vk::RenderingFlags,
    ) {
        // Rendering may be suspended again.
        let begin = Begin {
            flags,
            suspends: true,
            ..Begin::default()
        };
        let mut barriers = vec![self.color_barrier(target.image, true)];
        barriers.extend(
            self.multisampled
                .as_ref()
                .map(|i| self.color_barrier(i.handle, true)),
        );
        barriers.extend(
            self.depth
                .as_ref()
                .map(|i| self.depth_barrier(i.handle, true)),
        );
        // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
        unsafe {
            barrier(device, cmd, &barriers);
            self.render(device, cmd, target, &begin, vk::AttachmentLoadOp::LOAD);
        }
    }

    /// Sets viewport and scissor, and begins rendering.
    ///
    /// # Safety
    ///
    /// As [`Self::begin`]. The barriers to the attachment layouts are recorded.
    unsafe fn render(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        target: Final,
        begin: &Begin,
        load: vk::AttachmentLoadOp,
    ) {
        let mut color = vk::RenderingAttachmentInfo::default()
            .image_view(target.view)
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(load)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue {
                color: vk::ClearColorValue {
                    float32: begin.color,
                },
            });
        if let Some(image) = &self.multisampled {
            color = color
                .image_view(image.view)
                .store_op(store(begin.suspends))
                .resolve_image_view(target.view)
                .resolve_image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
                .resolve_mode(vk::ResolveModeFlags::AVERAGE);
        }
        let colors = [color];
        let depth = self.depth_attachment(begin, load);
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
        // SAFETY: `cmd` is recording outside of rendering, and the barriers are recorded, by this
        // function's contract. `self` and the caller's target are alive.
        unsafe {
            device.cmd_set_viewport(cmd, 0, &[viewport]);
            device.cmd_set_scissor(cmd, 0, &[area]);
            device.cmd_begin_rendering(cmd, &info);
        }
    }

    fn depth_attachment(
        &self,
        begin: &Begin,
        load: vk::AttachmentLoadOp,
    ) -> Option<vk::RenderingAttachmentInfo<'_>> {
        let image = self.depth.as_ref()?;
        let depth_stencil = vk::ClearDepthStencilValue {
            depth: begin.depth,
            stencil: 0,
        };
        let info = vk::RenderingAttachmentInfo::default()
            .image_view(image.view)
            .image_layout(DEPTH_LAYOUT)
            .load_op(load)
            .store_op(store(begin.suspends || self.keeps_depth))
            .clear_value(vk::ClearValue { depth_stencil });
        Some(info)
    }

    /// A barrier that transitions colour to its attachment layout.
    ///
    /// If `keep` is set, the image is in that layout already.
    fn color_barrier(&self, image: vk::Image, keep: bool) -> vk::ImageMemoryBarrier2<'static> {
        let layout = vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL;
        let access =
            vk::AccessFlags2::COLOR_ATTACHMENT_READ | vk::AccessFlags2::COLOR_ATTACHMENT_WRITE;
        vk::ImageMemoryBarrier2::default()
            .image(image)
            .subresource_range(whole(vk::ImageAspectFlags::COLOR))
            .src_stage_mask(COLOR_STAGE | self.readers)
            .src_access_mask(vk::AccessFlags2::COLOR_ATTACHMENT_WRITE)
            .dst_stage_mask(COLOR_STAGE)
            .dst_access_mask(access)
            .old_layout(if keep {
                layout
            } else {
                vk::ImageLayout::UNDEFINED
            })
            .new_layout(layout)
    }

    /// A barrier that transitions depth to its attachment layout.
    ///
    /// If `keep` is set, the image is in that layout already.
    fn depth_barrier(&self, image: vk::Image, keep: bool) -> vk::ImageMemoryBarrier2<'static> {
        let layout = DEPTH_LAYOUT;
        let format = self.formats.depth.unwrap_or_default();
        let write = vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE;
        vk::ImageMemoryBarrier2::default()
            .image(image)
            .subresource_range(whole(aspect(format)))
            .src_stage_mask(DEPTH_STAGES | self.readers)
            .src_access_mask(write)
            .dst_stage_mask(DEPTH_STAGES)
            .dst_access_mask(write | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ)
            .old_layout(if keep {
                layout
            } else {
                vk::ImageLayout::UNDEFINED
            })
            .new_layout(layout)
    }
}

/// Stores an attachment only if something reads it afterwards.
fn store(is_read: bool) -> vk::AttachmentStoreOp {
    if is_read {
        vk::AttachmentStoreOp::STORE
    } else {
        vk::AttachmentStoreOp::DONT_CARE
    }
}

/// Records image barriers.
///
/// # Safety
///
/// `cmd` is recording outside of rendering, and the images are in their old layouts.
pub(super) unsafe fn barrier(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    barriers: &[vk::ImageMemoryBarrier2<'_>],
) {
    let info = vk::DependencyInfo::default().image_memory_barriers(barriers);
    // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
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
