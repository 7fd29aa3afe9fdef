//! Reads buffers and images back to the CPU.
//!
//! Each function copies into a mapped buffer in its own submission and waits for it. The copy
//! happens after all work submitted before.

use crate::image::{barrier, transition};
use crate::{Buffer, Handles, Result};
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::rc::Rc;

/// An image with one level and layer to read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageRead {
    /// The image. Its usage includes `TRANSFER_SRC`.
    pub(crate) image: vk::Image,
    /// The aspect to read.
    pub(crate) aspect: vk::ImageAspectFlags,
    /// The layout of the image, before and after the read.
    pub(crate) layout: vk::ImageLayout,
    /// Its size in texels.
    pub(crate) extent: vk::Extent2D,
    /// Bytes per texel of that aspect.
    pub(crate) texel_bytes: u32,
}

const EVERYTHING: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

/// Reads an image as tightly packed rows, from the top.
///
/// # Errors
///
/// Returns the errors of the Vulkan calls.
///
/// # Safety
///
/// The image belongs to this device, has one sample, and matches the description in `read`.
pub(crate) unsafe fn read_image(context: &Rc<Handles>, read: &ImageRead) -> Result<Vec<u8>> {
    let copied = (
        vk::PipelineStageFlags2::COPY,
        vk::AccessFlags2::TRANSFER_READ,
        vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
    );
    let all = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
    let written = (EVERYTHING, vk::AccessFlags2::MEMORY_WRITE, read.layout);
    let layers = vk::ImageSubresourceLayers {
        aspect_mask: read.aspect,
        mip_level: 0,
        base_array_layer: 0,
        layer_count: 1,
    };
    let range = vk::ImageSubresourceRange {
        aspect_mask: read.aspect,
        base_mip_level: 0,
        level_count: 1,
        base_array_layer: 0,
        layer_count: 1,
    };
    let of =
        |before, after| transition(read.image, read.aspect, before, after).subresource_range(range);
    let before = of(written, copied);
    let after = of(copied, (EVERYTHING, all, read.layout));
    let region = vk::BufferImageCopy::default()
        .image_subresource(layers)
        .image_extent(read.extent.into());
    let texels = u64::from(read.extent.width) * u64::from(read.extent.height);
    let bytes = texels * u64::from(read.texel_bytes);
    // SAFETY: the caller guarantees that the image matches `read`, so the buffer has its bytes.
    copy(context, bytes, |device, cmd, to| unsafe {
        barrier(device, cmd, &[before]);
        device.cmd_copy_image_to_buffer(cmd, read.image, copied.2, to, &[region]);
        barrier(device, cmd, &[after]);
    })
}

impl Handles {
    /// Reads `size` bytes of any buffer, starting at byte `offset`.
    ///
    /// The read happens after all work submitted so far.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls.
    ///
    /// # Safety
    ///
    /// The buffer belongs to this device, its usage includes `TRANSFER_SRC`, and it contains the
    /// range, which is not empty.
    pub unsafe fn read_buffer(
        self: &Rc<Self>,
        buffer: vk::Buffer,
        offset: u64,
        size: u64,
    ) -> Result<Vec<u8>> {
        let region = vk::BufferCopy::default().src_offset(offset).size(size);
        let copied = (
            vk::PipelineStageFlags2::COPY,
            vk::AccessFlags2::TRANSFER_READ,
        );
        // SAFETY: the caller guarantees that the buffer has the range.
        copy(self, size, |device, cmd, to| unsafe {
            make_visible(device, cmd, EVERYTHING, copied);
            device.cmd_copy_buffer(cmd, buffer, to, &[region]);
        })
    }
}

impl Buffer {
    /// Reads `size` bytes, starting at byte `offset`, from any kind of memory.
    ///
    /// The read happens after all work submitted so far.
    ///
    /// # Errors
    ///
    /// Returns an error if the range is out of bounds. Errors of the Vulkan calls are
    /// returned too.
    pub fn read(&self, offset: u64, size: u64) -> Result<Vec<u8>> {
        self.check_range(offset, size, self.size())?;
        if size == 0 {
            return Ok(Vec::new());
        }
        // SAFETY: the buffer has the usage `TRANSFER_SRC` and contains the range.
        unsafe { self.handles.read_buffer(self.handle(), offset, size) }
    }
}

/// Runs commands that copy to a mapped buffer of this size, and returns its bytes.
fn copy(
    handles: &Rc<Handles>,
    size: u64,
    record: impl FnOnce(&ash::Device, vk::CommandBuffer, vk::Buffer),
) -> Result<Vec<u8>> {
    let (usage, location) = (vk::BufferUsageFlags::empty(), MemoryLocation::GpuToCpu);
    let to = Buffer::new(handles, "readback", size, usage, location)?;
    handles.submit_and_wait(|device, cmd| {
        record(device, cmd, to.handle());
        let host = (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);
        // SAFETY: `submit_and_wait` has begun `cmd`.
        unsafe { make_visible(device, cmd, vk::PipelineStageFlags2::COPY, host) };
    })?;
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
    to.read_mapped(0, &mut bytes)?;
    Ok(bytes)
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
