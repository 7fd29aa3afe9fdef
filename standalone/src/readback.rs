//! Reads buffers and images back to the CPU.
//!
//! Each function copies into a mapped buffer in its own submission, waits for it, and destroys the
//! buffer. The copy happens after all work submitted before.

use super::image::{barrier, transition};
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
    let copied = (
        vk::PipelineStageFlags2::COPY,
        vk::AccessFlags2::TRANSFER_READ,
        vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    );
    let everything = vk::PipelineStageFlags2::ALL_COMMANDS;
    let all = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
    let written = (everything, vk::AccessFlags2::MEMORY_WRITE, read.layout);
    let range = vk::ImageSubresourceRange {
        aspect_mask: read.aspect,
        base_mip_level: read.mip_level,
        level_count: 1,
        base_array_layer: read.layer,
        layer_count: 1,
    };
    let of =
        |before, after| transition(read.image, read.aspect, before, after).subresource_range(range);
    let before = of(written, copied);
    let after = of(copied, (everything, all, read.layout));
    let region = vk::BufferImageCopy::default()
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: read.aspect,
            mip_level: read.mip_level,
            base_array_layer: read.layer,
            layer_count: 1,
        })
        .image_extent(read.extent.into());
    let texels = u64::from(read.extent.width) * u64::from(read.extent.height);
    // SAFETY: the caller guarantees that the image matches `read`, so the buffer has its bytes.
    copy(
        context,
        texels * u64::from(read.texel_bytes),
        |device, cmd, to| unsafe {
            barrier(device, cmd, &[before]);
            device.cmd_copy_image_to_buffer(cmd, read.image, copied.2, to, &[region]);
            barrier(device, cmd, &[after]);
        },
    )
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
    let region = vk::BufferCopy {
        src_offset: offset,
        dst_offset: 0,
        size,
    };
    let (everything, copy_stage) = (
        vk::PipelineStageFlags2::ALL_COMMANDS,
        vk::PipelineStageFlags2::COPY,
    );
    let read = vk::AccessFlags2::TRANSFER_READ;
    // SAFETY: the caller guarantees that the buffer has the range.
    copy(context, size, |device, cmd, to| unsafe {
        make_visible(device, cmd, everything, (copy_stage, read));
        device.cmd_copy_buffer(cmd, buffer, to, &[region]);
    })
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
        context.check_own(&self.owner, &self.object())?;
        let end = offset.checked_add(size);
        if size == 0 || end.is_none_or(|end| end > self.size) {
            return Err(self.range(offset, size));
        }
        // SAFETY: the buffer is of this context, as `check_own` checked. `build` added the usage
        // `TRANSFER_SRC`, and the range was just compared with the size.
        unsafe { read_buffer(context, self.handle(), offset, size) }
    }
}

/// Runs commands that copy to a mapped buffer of this size, and returns its bytes.
fn copy(
    context: &mut Context,
    size: u64,
    record: impl FnOnce(&ash::Device, vk::CommandBuffer, vk::Buffer),
) -> Result<Vec<u8>> {
    let desc = BufferDesc {
        name: "readback",
        size,
        usage: vk::BufferUsageFlags::empty(),
        location: MemoryLocation::GpuToCpu,
    };
    let mut to = Buffer::new(context, &desc)?;
    let copied = context.submit_and_wait(|device, cmd| {
        record(device, cmd, to.handle());
        let host = (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);
        // SAFETY: `submit_and_wait` has begun `cmd`.
        unsafe { make_visible(device, cmd, vk::PipelineStageFlags2::COPY, host) };
    });
    if let Err(error) = copied {
        // The copy may have been submitted.
        to.destroy(context);
        return Err(error);
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
    let result = to.read_mapped(context, 0, &mut bytes);
    to.release(&mut context.idle());
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
    (stage, access): (vk::PipelineStageFlags2, vk::AccessFlags2),
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
