//! Counters of the GPU, which the CPU reads some frames later.

use crate::crowd::ViewStats;
use crate::crowd::stats::PoseTotals;
use crate::error::Result;
use crate::gpu::constants::COUNTER_WORDS;
use crate::gpu::{Buffer, BufferDesc, Gpu, Guard, destroy_fields, host_types};
use ash::vk;
use core::ptr::NonNull;
use gpu_allocator::MemoryLocation;

/// The counters of a view, or of all together.
type Counters = [u32; COUNTER_WORDS as usize];

/// Counters of all views together and of each, apart for each frame in flight, in host memory.
#[derive(Debug)]
pub(crate) struct ReadBack {
    pub(crate) buffer: Buffer,
    mapped: NonNull<Counters>,
    frames_in_flight: u32,
    views: u32,
}

destroy_fields!(ReadBack, Gpu<'a>: buffer);

// SAFETY: `mapped` is an address in memory that `buffer` owns, on any thread. Nothing writes it but
// the GPU.
unsafe impl Send for ReadBack {}
// SAFETY: it is only read, and only while the GPU does not write it, by the contract of
// `ReadBack::read`.
unsafe impl Sync for ReadBack {}

impl ReadBack {
    pub(crate) fn new(gpu: Gpu<'_>, frames_in_flight: u32, views: u32) -> Result<Guard<'_, Self>> {
        let all = u64::from(frames_in_flight) * (u64::from(views) + 1);
        let desc = BufferDesc {
            name: "throng read-back",
            bytes: all * size_of::<Counters>() as u64,
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
            views,
        }))
    }

    /// The first byte of a frame index.
    pub(crate) fn start(&self, frame_index: u32) -> u64 {
        u64::from(frame_index) * self.bytes(self.views)
    }

    /// The bytes of a frame with this many views.
    pub(crate) fn bytes(&self, views: u32) -> u64 {
        (u64::from(views) + 1) * size_of::<Counters>() as u64
    }

    /// Reads what the GPU counted of the first `views` views in the last frame of a frame index,
    /// and returns what it counted in all.
    ///
    /// # Safety
    /// The work of that frame index has ended, and it wrote the counters of that many views.
    pub(crate) unsafe fn read(
        &self,
        frame_index: u32,
        views: u32,
        to: &mut Vec<ViewStats>,
    ) -> PoseTotals {
        to.clear();
        let views = views.min(self.views) as usize;
        if frame_index >= self.frames_in_flight || views == 0 {
            return PoseTotals::default();
        }
        let first = frame_index as usize * (self.views as usize + 1);
        let read = |number: usize| {
            // SAFETY: the buffer has counters of `views` views and those before them for each frame
            // index, and is mapped at an address that is a multiple of 64. The GPU has written them
            // and does not write them now, by this function's contract. The memory is coherent.
            unsafe { self.mapped.add(first + number).read() }
        };
        to.extend((1..=views).map(|view| ViewStats::from_words(&read(view))));
        PoseTotals::from_words(&read(0))
    }
}
