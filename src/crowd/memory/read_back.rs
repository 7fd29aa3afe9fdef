//! Counters of the GPU, which the CPU reads some frames later.

use crate::error::Result;
use crate::gpu::{Buffer, BufferDesc, Device, Gpu, Guard, destroy_fields, host_types};
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use core::ptr::NonNull;
use gpu_allocator::MemoryLocation;

/// Words that the GPU writes, apart for each frame in flight, in host memory.
#[derive(Debug)]
pub(crate) struct ReadBack {
    buffer: Buffer,
    mapped: NonNull<u32>,
    frames_in_flight: u32,
    /// The most words of a frame.
    words: usize,
}

destroy_fields!(ReadBack, Gpu<'a>: buffer);

// SAFETY: `mapped` is an address in memory that `buffer` owns, on any thread. Nothing writes it but
// the GPU.
unsafe impl Send for ReadBack {}
// SAFETY: it is only read, and only while the GPU does not write it, by the contract of
// `ReadBack::read`.
unsafe impl Sync for ReadBack {}

impl ReadBack {
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        name: &str,
        frames_in_flight: u32,
        words: usize,
    ) -> Result<Guard<'g, Self>> {
        let desc = BufferDesc {
            name,
            bytes: u64::from(frames_in_flight) * words as u64 * 4,
            usage: vk::BufferUsageFlags::TRANSFER_DST,
            location: MemoryLocation::GpuToCpu,
            types: host_types(gpu.device),
        };
        let buffer = Buffer::new(gpu, &desc)?;
        let mapped = buffer.mapped()?.cast();
        Ok(buffer.map(|buffer| Self {
            buffer,
            mapped,
            frames_in_flight,
            words,
        }))
    }

    /// Records the copy of so many words, from a byte of a buffer on, and makes them visible to the
    /// CPU.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass, behind a barrier after the writes of the words.
    pub(crate) unsafe fn record(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        frame_index: u32,
        (from, at): (vk::Buffer, u64),
        words: usize,
    ) {
        let region = vk::BufferCopy {
            src_offset: at,
            dst_offset: u64::from(frame_index) * self.words as u64 * 4,
            size: words.min(self.words) as u64 * 4,
        };
        let (to, host) = (self.buffer.handle, (Stage::HOST, Access::HOST_READ));
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the ranges
        // lie in the buffers.
        unsafe {
            device.raw.cmd_copy_buffer(cmd, from, to, &[region]);
            device.barrier(cmd, (Stage::TRANSFER, Access::TRANSFER_WRITE), host);
        }
    }

    /// The first `words` that the GPU wrote in the last frame of a frame index.
    ///
    /// # Safety
    /// The work of that frame index has ended, and it wrote that many. Until they are dropped, no
    /// other work of the frame index begins.
    pub(crate) unsafe fn read(&self, frame_index: u32, words: usize) -> &[u32] {
        if frame_index >= self.frames_in_flight {
            return &[];
        }
        // SAFETY: the buffer has `self.words` for each frame index, and is mapped at an address
        // that is a multiple of 64. The GPU has written them and does not write them now, by this
        // function's contract. The memory is coherent.
        unsafe {
            let first = self.mapped.add(frame_index as usize * self.words);
            core::slice::from_raw_parts(first.as_ptr(), words.min(self.words))
        }
    }
}
