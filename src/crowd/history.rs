//! What views keep from frame to frame, for motion vectors: the instance table, the palettes, the morph weights and the
//! deformed vertices of the last frame that each was recorded in.

use super::CrowdDesc;
use crate::error::Result;
use crate::gpu::{Buffer, Device};
use ash::vk;
use gpu_allocator::vulkan::Allocator;

/// The histories of all views, in device memory.
#[derive(Debug)]
pub(super) struct History {
    buffer: Buffer,
}

impl History {
    pub(super) fn null() -> Self {
        Self {
            buffer: Buffer::null(),
        }
    }

    pub(super) fn new(
        device: &Device,
        allocator: &mut Allocator,
        _desc: &CrowdDesc,
    ) -> Result<Self> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::TRANSFER_SRC;
        let buffer = Buffer::device_local(device, allocator, "throng history", 16, usage)?;
        Ok(Self { buffer })
    }

    /// All of it.
    pub(super) fn descriptor(&self) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo {
            buffer: self.buffer.handle,
            offset: 0,
            range: vk::WHOLE_SIZE,
        }
    }

    /// # Safety
    /// Not in use by the GPU.
    pub(super) unsafe fn destroy(&mut self, device: &Device, allocator: &mut Allocator) {
        // SAFETY: the caller's word.
        unsafe { self.buffer.destroy(device, allocator) };
    }
}
