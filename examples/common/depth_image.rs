//! A depth image that is drawn in one pass and read in a later one.

use std::error::Error;

use throng::ash::{self, vk};
use throng::gpu::{MemoryAllocator, MemoryBlock, MemoryRequest};
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::Context;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// Its format.
pub(crate) const FORMAT: vk::Format = vk::Format::D32_SFLOAT;
/// The layout in which it is read.
pub(crate) const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
const WRITTEN: vk::ImageLayout = vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL;

/// The uses of a depth image.
#[derive(Clone, Copy)]
pub(crate) struct DepthImageDesc {
    pub(crate) name: &'static str,
    pub(crate) extent: vk::Extent2D,
    pub(crate) view_type: vk::ImageViewType,
    /// The depth that it is cleared to: the farthest.
    pub(crate) farthest: f32,
    /// The stage that reads it.
    pub(crate) reader: vk::PipelineStageFlags2,
}

/// A depth image with one layer.
pub(crate) struct DepthImage {
    desc: DepthImageDesc,
    image: vk::Image,
    pub(crate) view: vk::ImageView,
    memory: Option<MemoryBlock>,
}

impl DepthImage {
    pub(crate) fn new(context: &mut Context, desc: DepthImageDesc) -> Result<Self> {
        let most = context.properties.limits.max_image_dimension2_d;
        let edge = desc.extent.width.max(desc.extent.height);
        if edge > most {
            let name = desc.name;
            return Err(format!("{name} of {edge} texels: the device has at most {most}").into());
        }
        let mut image = Self {
            desc,
            image: vk::Image::null(),
            view: vk::ImageView::null(),
            memory: None,
        };
        match image.build(context) {
            Ok(()) => Ok(image),
            Err(error) => {
                image.destroy(context);
                Err(error)
            }
        }
    }

    fn build(&mut self, context: &mut Context) -> Result<()> {
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(FORMAT)
            .extent(self.desc.extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        // SAFETY: every device supports this format with this usage, and the extent is within the
        // device's limit.
        unsafe {
            self.image = context.device.create_image(&info, None)?;
            let requirements = context.device.get_image_memory_requirements(self.image);
            let memory = context.allocator().allocate(&MemoryRequest {
                name: self.desc.name,
                requirements,
                location: MemoryLocation::GpuOnly,
                linear: false,
                device_address: false,
            });
            let memory = memory.map_err(|error| -> Box<dyn Error> { error })?;
            let (block, offset) = (memory.memory, memory.offset);
            self.memory = Some(memory);
            context
                .device
                .bind_image_memory(self.image, block, offset)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(self.image)
                .view_type(self.desc.view_type)
                .format(FORMAT)
                .subresource_range(DEPTH_LAYER);
            self.view = context.device.create_image_view(&info, None)?;
        }
        Ok(())
    }

    pub(crate) fn extent(&self) -> vk::Extent2D {
        self.desc.extent
    }

    /// Clears the image and begins rendering.
    ///
    /// # Safety
    /// `cmd` is recording outside of rendering, and [`Self::end`] follows.
    pub(crate) unsafe fn begin(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(self.view)
            .image_layout(WRITTEN)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue {
                    depth: self.desc.farthest,
                    stencil: 0,
                },
            });
        let info = vk::RenderingInfo::default()
            .render_area(self.extent().into())
            .layer_count(1)
            .depth_attachment(&depth);
        // SAFETY: the caller guarantees that `cmd` is recording outside of rendering. The old
        // contents are discarded, and the barrier waits for their last readers.
        unsafe {
            let layouts = (vk::ImageLayout::UNDEFINED, WRITTEN);
            self.barrier(device, cmd, layouts, self.reading(), TESTS);
            device.cmd_begin_rendering(cmd, &info);
        }
    }

    /// Ends rendering and makes the image visible to the stage that reads it.
    ///
    /// # Safety
    /// As [`Self::begin`], which must have been called before.
    pub(crate) unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: the caller guarantees that `cmd` is inside the rendering that `begin` began.
        unsafe {
            device.cmd_end_rendering(cmd);
            self.barrier(device, cmd, (WRITTEN, READ), TESTS, self.reading());
        }
    }

    fn reading(&self) -> Scope {
        (self.desc.reader, vk::AccessFlags2::SHADER_SAMPLED_READ)
    }

    /// Records a layout transition.
    ///
    /// # Safety
    /// `cmd` is recording, outside of rendering.
    unsafe fn barrier(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        (from, to): (vk::ImageLayout, vk::ImageLayout),
        before: Scope,
        after: Scope,
    ) {
        let barriers = [vk::ImageMemoryBarrier2::default()
            .image(self.image)
            .old_layout(from)
            .new_layout(to)
            .src_stage_mask(before.0)
            .src_access_mask(before.1)
            .dst_stage_mask(after.0)
            .dst_access_mask(after.1)
            .subresource_range(DEPTH_LAYER)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
        unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
    }

    /// Destroys the image. The device must be idle.
    pub(crate) fn destroy(mut self, context: &mut Context) {
        // SAFETY: nothing uses these handles any more. Null handles are ignored.
        unsafe {
            context.device.destroy_image_view(self.view, None);
            context.device.destroy_image(self.image, None);
        }
        // SAFETY: the memory is the context's, and the image that was bound to it is destroyed.
        let freed = self
            .memory
            .take()
            .map(|memory| unsafe { context.allocator().free(memory) });
        if let Some(Err(error)) = freed {
            log::error!("{}: {error}", self.desc.name);
        }
    }
}

type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

const TESTS: Scope = (
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
            | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw(),
    ),
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
            | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
    ),
);
const DEPTH_LAYER: vk::ImageSubresourceRange = vk::ImageSubresourceRange {
    aspect_mask: vk::ImageAspectFlags::DEPTH,
    base_mip_level: 0,
    level_count: 1,
    base_array_layer: 0,
    layer_count: 1,
};
