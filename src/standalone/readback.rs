//! Reads buffers and images back to the CPU.
//!
//! Each function copies into a mapped buffer in its own submission, waits for it, and destroys the
//! buffer. The copy happens after all work submitted before.

use super::attachments::barrier;
use super::{Buffer, BufferDesc, Context, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;

/// One mip level of one layer of an image to read back.
#[derive(Clone, Copy, Debug)]
pub struct ImageRead {
    /// The image. Its usage includes `TRANSFER_SRC`.
    pub image: vk::Image,
    /// The aspect to read.
    pub aspect: vk::ImageAspectFlags,
    /// The layout of the image, before and after the read.
    pub layout: vk::ImageLayout,
    /// The mip level.
    pub mip_level: u32,
    /// The array layer.
    pub layer: u32,
    /// Size of that mip level in texels.
    pub extent: vk::Extent2D,
    /// Bytes per texel of that aspect.
    pub texel_bytes: u32,
}

/// Reads an image as tightly packed rows, from the top.
///
/// # Errors
///
/// Returns the errors of the allocator and of the Vulkan calls.
///
/// # Safety
///
/// The image belongs to this device, has one sample, and matches the description in `read`.
pub unsafe fn read_image(context: &mut Context, read: &ImageRead) -> Result<Vec<u8>> {
    let texels = u64::from(read.extent.width) * u64::from(read.extent.height);
    let to = staging(context, texels * u64::from(read.texel_bytes))?;
    let result = context.submit_and_wait(|device, cmd| {
        // SAFETY: `submit_and_wait` has begun `cmd`. The caller guarantees that the image matches
        // `read`, and `staging` made `to` for its bytes. Both live until the work has finished, or
        // `finish` waits.
        unsafe {
            record_image(device, cmd, read, to.handle());
            make_visible(device, cmd, vk::PipelineStageFlags2::COPY, READ_BY_HOST);
        }
    });
    finish(context, to, result)
}

/// Reads `size` bytes of a buffer, starting at byte `offset`.
///
/// # Errors
///
/// Returns the errors of the allocator and of the Vulkan calls.
///
/// # Safety
///
/// The buffer belongs to this device, its usage includes `TRANSFER_SRC`, and it contains the range,
/// which is not empty.
pub unsafe fn read_buffer(
    context: &mut Context,
    buffer: vk::Buffer,
    offset: u64,
    size: u64,
) -> Result<Vec<u8>> {
    let to = staging(context, size)?;
    let result = context.submit_and_wait(|device, cmd| {
        let region = vk::BufferCopy {
            src_offset: offset,
            dst_offset: 0,
            size,
        };
        // SAFETY: `submit_and_wait` has begun `cmd`. The caller guarantees that the buffer has the
        // range, and `staging` made `to` for its bytes. Both live until the work has finished, or
        // `finish` waits.
        unsafe {
            make_visible(
                device,
                cmd,
                vk::PipelineStageFlags2::ALL_COMMANDS,
                READ_BY_COPY,
            );
            device.cmd_copy_buffer(cmd, buffer, to.handle(), &[region]);
            make_visible(device, cmd, vk::PipelineStageFlags2::COPY, READ_BY_HOST);
        }
    });
    finish(context, to, result)
}

impl Buffer {
    /// Reads `size` bytes, starting at byte `offset`, from any kind of memory.
    ///
    /// The read happens after all work submitted so far.
    ///
    /// # Errors
    ///
    /// Returns an error if the range is empty or out of bounds, or if the buffer was created with
    /// another context. Errors of the Vulkan calls are returned too.
    pub fn read(&self, context: &mut Context, offset: u64, size: u64) -> Result<Vec<u8>> {
        context.check_own(self.owner.id, &self.object())?;
        let end = offset.checked_add(size);
        if size == 0 || end.is_none_or(|end| end > self.size) {
            return Err(self.range(offset, size));
        }
        // SAFETY: the buffer is of this context, as `check_own` checked. `build` added the usage
        // `TRANSFER_SRC`, and the range was just compared with the size.
        unsafe { read_buffer(context, self.handle(), offset, size) }
    }
}

type Reader = (vk::PipelineStageFlags2, vk::AccessFlags2);
const READ_BY_HOST: Reader = (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);
const READ_BY_COPY: Reader = (
    vk::PipelineStageFlags2::COPY,
    vk::AccessFlags2::TRANSFER_READ,
);

fn staging(context: &mut Context, size: u64) -> Result<Buffer> {
    let desc = BufferDesc {
        name: "readback",
        size,
        usage: vk::BufferUsageFlags::empty(),
        location: MemoryLocation::GpuToCpu,
    };
    Buffer::new(context, &desc)
}

fn finish(context: &mut Context, mut from: Buffer, result: Result<()>) -> Result<Vec<u8>> {
    if let Err(error) = result {
        // The copy may have been submitted.
        from.destroy(context);
        return Err(error);
    }
    let mut bytes = vec![0; usize::try_from(from.size).unwrap_or(usize::MAX)];
    let result = from.read_mapped(context, 0, &mut bytes);
    from.release(&mut context.idle());
    result.map(|()| bytes)
}

/// Records a barrier from all writes of some stages.
///
/// # Safety
///
/// `cmd` belongs to `device` and is recording outside of rendering.
unsafe fn make_visible(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    writers: vk::PipelineStageFlags2,
    (stage, access): Reader,
) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(writers)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(stage)
        .dst_access_mask(access)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: `cmd` is recording outside of rendering, by this function's contract.
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}

/// Records the copy of an image to a buffer.
///
/// # Safety
///
/// `cmd` belongs to `device` and is recording outside of rendering. The image matches `read`, and
/// `to` has all of its bytes.
unsafe fn record_image(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    read: &ImageRead,
    to: vk::Buffer,
) {
    let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    let range = vk::ImageSubresourceRange {
        aspect_mask: read.aspect,
        base_mip_level: read.mip_level,
        level_count: 1,
        base_array_layer: read.layer,
        layer_count: 1,
    };
    let (stage, access) = READ_BY_COPY;
    let everything = vk::PipelineStageFlags2::ALL_COMMANDS;
    let before = vk::ImageMemoryBarrier2::default()
        .image(read.image)
        .subresource_range(range)
        .src_stage_mask(everything)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(stage)
        .dst_access_mask(access)
        .old_layout(read.layout)
        .new_layout(source);
    let after = vk::ImageMemoryBarrier2::default()
        .image(read.image)
        .subresource_range(range)
        .src_stage_mask(stage)
        .dst_stage_mask(everything)
        .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
        .old_layout(source)
        .new_layout(read.layout);
    let region = vk::BufferImageCopy::default()
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: read.aspect,
            mip_level: read.mip_level,
            base_array_layer: read.layer,
            layer_count: 1,
        })
        .image_extent(read.extent.into());
    // SAFETY: `cmd` is recording outside of rendering, the image matches `read`, and the buffer has
    // its bytes, by this function's contract.
    unsafe {
        barrier(device, cmd, &[before]);
        device.cmd_copy_image_to_buffer(cmd, read.image, source, to, &[region]);
        barrier(device, cmd, &[after]);
    }
}
