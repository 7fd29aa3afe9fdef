//! Reads images back.

use throng::ash::vk;
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, Context, StandaloneError};

/// One mip level of one layer of an image to read back.
#[derive(Clone, Copy)]
pub struct ImageRead {
    /// The image. Its usage includes `TRANSFER_SRC`.
    pub image: vk::Image,
    pub aspect: vk::ImageAspectFlags,
    /// The layout of the image, before and after the read.
    pub layout: vk::ImageLayout,
    pub layer: u32,
    pub extent: vk::Extent2D,
    /// Bytes per texel of that aspect.
    pub texel_bytes: u32,
}

/// Reads an image as tightly packed rows, from the top, after all work submitted before.
///
/// # Safety
///
/// The image belongs to this device, has one sample, and matches the description in `read`.
pub unsafe fn read_image(context: &Context, read: &ImageRead) -> Result<Vec<u8>, StandaloneError> {
    use vk::{AccessFlags2 as Access, ImageLayout as Layout, PipelineStageFlags2 as Stage};
    let texels = u64::from(read.extent.width) * u64::from(read.extent.height);
    let size = texels * u64::from(read.texel_bytes);
    let (usage, location) = (vk::BufferUsageFlags::empty(), MemoryLocation::GpuToCpu);
    let to = Buffer::new(context, "read back", size, usage, location)?;
    let layers = vk::ImageSubresourceLayers {
        aspect_mask: read.aspect,
        mip_level: 0,
        base_array_layer: read.layer,
        layer_count: 1,
    };
    let region = vk::BufferImageCopy::default()
        .image_subresource(layers)
        .image_extent(read.extent.into());
    let range = vk::ImageSubresourceRange {
        aspect_mask: read.aspect,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: read.layer,
        layer_count: 1,
    };
    let copied = (
        Stage::COPY,
        Access::TRANSFER_READ,
        Layout::TRANSFER_SRC_OPTIMAL,
    );
    let all = (Stage::ALL_COMMANDS, Access::MEMORY_WRITE, read.layout);
    let after = (
        Stage::ALL_COMMANDS,
        Access::MEMORY_READ | Access::MEMORY_WRITE,
        read.layout,
    );
    let transition = |before: (Stage, Access, Layout), after: (Stage, Access, Layout)| {
        vk::ImageMemoryBarrier2::default()
            .image(read.image)
            .subresource_range(range)
            .src_stage_mask(before.0)
            .src_access_mask(before.1)
            .old_layout(before.2)
            .dst_stage_mask(after.0)
            .dst_access_mask(after.1)
            .new_layout(after.2)
    };
    // SAFETY: `cmd` is recording, the image is as `read` describes it, by this function's contract,
    // and the buffer has space for it.
    context.submit_and_wait(|device, cmd| unsafe {
        let barriers = [transition(all, copied)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        device.cmd_pipeline_barrier2(cmd, &info);
        device.cmd_copy_image_to_buffer(cmd, read.image, copied.2, to.handle(), &[region]);
        let barriers = [transition(copied, after)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        device.cmd_pipeline_barrier2(cmd, &info);
    })?;
    to.read(0, size)
}
