//! Persistently mapped memory with a part for each frame in flight.

use super::{Buffer, BufferDesc, Destroy, Device, Gpu, Guard, MAPPED_ALIGNMENT, limit};
use crate::error::{Error, Result};
use ash::vk;
use core::ptr::NonNull;
use gpu_allocator::MemoryLocation;

/// Options for creating a ring.
pub(crate) struct RingDesc<'a> {
    pub(crate) name: &'a str,
    pub(crate) frames_in_flight: u32,
    /// Bytes of one frame, before rounding up to the alignment.
    pub(crate) frame_bytes: u64,
    /// Dynamic offsets are multiples of this and of what the device demands.
    pub(crate) alignment: u64,
    /// If it has `SHADER_DEVICE_ADDRESS`, shaders read the ring through [`Ring::address`].
    /// Otherwise they read it through a descriptor with a dynamic offset, and limits on these
    /// apply.
    pub(crate) usage: vk::BufferUsageFlags,
    /// Always host memory with a copy. Otherwise only if device-local memory cannot be mapped.
    pub(crate) staged: bool,
}

/// The ring uses a heap directly only if it takes at most 1 / `HEAP_DIVISOR` of it.
const HEAP_DIVISOR: u64 = 4;

const DEVICE_LOCAL: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::DEVICE_LOCAL;
const MAPPED: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw()
        | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

/// The mapped ring, and its copy in device memory if it is staged.
#[derive(Debug)]
pub(crate) struct Ring {
    host: Buffer,
    staged: Option<Buffer>,
    mapped: NonNull<u8>,
    frame_bytes: u64,
    frames_in_flight: u32,
}

// SAFETY: `mapped` is an address in memory that `host` owns, on any thread. Only `mapped_at`, which
// takes `&mut self`, gives it out.
unsafe impl Send for Ring {}
// SAFETY: methods that take `&self` only read handles and sizes, which do not change meanwhile.
unsafe impl Sync for Ring {}

impl Ring {
    pub(crate) fn new<'g>(gpu: Gpu<'g>, desc: &RingDesc<'_>) -> Result<Guard<'g, Self>> {
        let device = gpu.device;
        let alignment = desc
            .alignment
            .max(device.limits.offset_alignment)
            .max(MAPPED_ALIGNMENT);
        let frame_bytes = desc.frame_bytes.max(1).next_multiple_of(alignment);
        let bytes = frame_bytes.saturating_mul(desc.frames_in_flight.into());
        let by_address = vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        if !desc.usage.contains(by_address) {
            // A dynamic offset has 32 bits.
            limit("bytes of a frame ring", bytes, u32::MAX.into())?;
            limit(
                "bytes per frame in flight (maxStorageBufferRange)",
                frame_bytes,
                device.limits.max_storage_range,
            )?;
        }
        let location = MemoryLocation::CpuToGpu;
        let types = direct_types(device, bytes).filter(|_| !desc.staged);
        let direct = types.map(|types| {
            let (name, usage) = (desc.name, desc.usage);
            let desc = BufferDesc {
                name,
                bytes,
                usage,
                location,
                types,
            };
            Buffer::new(gpu, &desc)
        });
        let (host, staged) = match direct {
            Some(Ok(host)) => (host, None),
            // The heap may be full, but host memory still works.
            None | Some(Err(Error::Memory { .. })) => {
                let host = BufferDesc {
                    name: &format!("{} (host)", desc.name),
                    bytes,
                    usage: vk::BufferUsageFlags::TRANSFER_SRC,
                    location,
                    types: host_types(device),
                };
                let host = Buffer::new(gpu, &host)?;
                let usage = desc.usage | vk::BufferUsageFlags::TRANSFER_DST;
                let staged = Buffer::device_local(gpu, desc.name, bytes, usage)?;
                (host, Some(staged))
            }
            Some(Err(error)) => return Err(error),
        };
        let mapped = host.mapped()?;
        let ring = Self {
            host: host.keep(),
            staged: staged.map(Guard::keep),
            mapped,
            frame_bytes,
            frames_in_flight: desc.frames_in_flight,
        };
        Ok(Guard::new(gpu, ring))
    }

    /// The buffer that shaders read.
    pub(crate) fn buffer(&self) -> vk::Buffer {
        self.staged.as_ref().unwrap_or(&self.host).handle
    }

    /// The device address of a frame index's part, or of the last one for an index that does not
    /// exist. 0 if the ring has no address.
    pub(crate) fn address(&self, frame_index: u32) -> vk::DeviceAddress {
        let address = self.staged.as_ref().unwrap_or(&self.host).address;
        let start = if address == 0 {
            0
        } else {
            self.start(frame_index)
        };
        address + start
    }

    pub(crate) fn is_staged(&self) -> bool {
        self.staged.is_some()
    }

    pub(crate) fn frames_in_flight(&self) -> u32 {
        self.frames_in_flight
    }

    /// The first byte of a frame index's part, or of the last one for an index that does not exist.
    pub(crate) fn start(&self, frame_index: u32) -> u64 {
        let frame_index = frame_index.min(self.frames_in_flight.saturating_sub(1));
        u64::from(frame_index) * self.frame_bytes
    }

    /// The dynamic offset of a frame index: [`Self::start`]. `new` keeps a ring with dynamic
    /// offsets within 32 bits.
    pub(crate) fn offset(&self, frame_index: u32) -> u32 {
        self.start(frame_index) as u32
    }

    /// Start of `bytes` bytes of a frame index, from `at`, or `None` outside of its part.
    ///
    /// The part of a frame index starts at a multiple of [`MAPPED_ALIGNMENT`].
    pub(crate) fn mapped_at(
        &mut self,
        frame_index: u32,
        at: u64,
        bytes: u64,
    ) -> Option<NonNull<u8>> {
        let inside =
            frame_index < self.frames_in_flight && at.checked_add(bytes)? <= self.frame_bytes;
        let offset = usize::try_from(u64::from(frame_index) * self.frame_bytes + at).ok()?;
        // SAFETY: the offset lies in the mapped buffer, as was just checked.
        inside.then(|| unsafe { self.mapped.add(offset) })
    }

    /// The buffer that the CPU writes. It is that of [`Self::buffer`], unless the ring is staged.
    pub(crate) fn host_buffer(&self) -> vk::Buffer {
        self.host.handle
    }

    /// Copies ranges (start, bytes) of a frame index to device memory, if the ring is staged.
    ///
    /// Returns whether a copy was recorded. The caller records a barrier after it.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; the ranges lie in the part of this frame index,
    /// and its earlier work has ended.
    pub(crate) unsafe fn record_upload(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        frame_index: u32,
        parts: &[(u64, u64)],
    ) -> bool {
        let exists = frame_index < self.frames_in_flight;
        let Some(staged) = self.staged.as_ref().filter(|_| exists) else {
            return false;
        };
        let (from, to) = (self.host.handle, staged.handle);
        let mut any = false;
        for (start, size) in parts.iter().filter(|(_, size)| *size > 0) {
            let offset = self.start(frame_index) + start;
            let region = vk::BufferCopy {
                src_offset: offset,
                dst_offset: offset,
                size: *size,
            };
            // SAFETY: both buffers are as long as the whole ring; the ranges lie in the frame's
            // part, by this function's contract.
            unsafe { device.raw.cmd_copy_buffer(cmd, from, to, &[region]) };
            any = true;
        }
        any
    }
}

impl Destroy for Ring {
    type With<'a> = Gpu<'a>;

    unsafe fn destroy(&mut self, gpu: Gpu<'_>) {
        // From here on, `mapped_at` finds no range.
        (self.frames_in_flight, self.frame_bytes) = (0, 0);
        // SAFETY: this function has the same contract.
        unsafe {
            self.host.destroy(gpu);
            self.staged.destroy(gpu);
        }
        self.staged = None;
    }
}

/// The memory types that are device-local, host-visible and coherent, in a heap large enough for
/// `bytes`.
fn direct_types(device: &Device, bytes: u64) -> Option<u32> {
    let heaps = device.memory.memory_heaps_as_slice();
    let mask = types(device, |kind| {
        let heap = heaps.get(kind.heap_index as usize);
        let fits = heap.is_some_and(|heap| bytes <= heap.size / HEAP_DIVISOR);
        fits && kind.property_flags.contains(MAPPED | DEVICE_LOCAL)
    });
    (mask != 0).then_some(mask)
}

/// Host-visible and coherent memory types outside device-local memory, or all types if there are
/// none.
pub(crate) fn host_types(device: &Device) -> u32 {
    let mask = types(device, |kind| {
        kind.property_flags & (MAPPED | DEVICE_LOCAL) == MAPPED
    });
    if mask == 0 { u32::MAX } else { mask }
}

/// The memory types for which `wanted` returns true, as a mask.
fn types(device: &Device, wanted: impl Fn(&vk::MemoryType) -> bool) -> u32 {
    let types = device.memory.memory_types_as_slice().iter().enumerate();
    let wanted = types.filter(|(_, kind)| wanted(kind));
    wanted.fold(0, |mask, (index, _)| mask | 1 << index)
}
