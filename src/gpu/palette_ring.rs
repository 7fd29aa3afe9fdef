//! A ring of palettes that the CPU writes, with a part for each frame in flight.

use super::palettes::ROW_BYTES;
use super::ring::{Ring, RingDesc};
use super::{Device, Gpu, Guard, MemoryAllocator, destroy_fields, limit};
use crate::error::{Error, Result, expect, expect_frame};
use crate::palette::{Mat3x4, PaletteEntry, WriteOnly};
use ash::vk;
use core::cell::RefCell;
use core::ops::Range;

/// Options for creating a [`PaletteRing`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaletteRingDesc {
    /// Frames in flight, at least 1.
    pub frames_in_flight: u32,
    /// Palette entries of one frame, 48 bytes each.
    pub entries: u32,
    /// Puts the ring in host memory, even if the CPU could write device-local memory.
    ///
    /// The frame's own command buffer then copies it to device-local memory. If this is false,
    /// host memory is used only if no heap that is device-local and host-visible is large enough.
    pub staged: bool,
    /// A minimum alignment for the parts of frames: a power of two, or 0 for no minimum.
    ///
    /// Parts start at multiples of this, of what the device demands for storage buffers, and of 64.
    pub min_offset_alignment: u64,
}

impl Default for PaletteRingDesc {
    fn default() -> Self {
        Self {
            frames_in_flight: 2,
            entries: 65_536,
            staged: false,
            min_offset_alignment: 0,
        }
    }
}

/// A buffer of palettes, mapped as long as it lives.
///
/// It has one part for each frame in flight. The CPU writes the part of the frame index that it is
/// about to record. It writes straight into memory that the GPU reads; if the device has no such
/// memory, it writes host memory that [`Self::record_upload`] copies. Shaders see the part through
/// its [address](Self::address), so `maxStorageBufferRange` does not limit it.
///
/// The ring never waits. The part of a frame index may be written when the GPU has finished the
/// work that last read it.
///
/// ```no_run
/// use throng::Result;
/// use throng::ash::vk;
/// use throng::gpu::{Device, MemoryAllocator, PaletteRing, PaletteRingDesc};
/// use throng::palette::Mat3x4;
///
/// /// # Safety
/// /// `cmd` is being recorded. The last work of frame index 0 has ended.
/// unsafe fn upload(
///     (device, allocator): (&Device, &mut dyn MemoryAllocator),
///     cmd: vk::CommandBuffer,
///     palettes: &[Mat3x4],
/// ) -> Result<PaletteRing> {
///     let entries = palettes.len() as u32;
///     let desc = PaletteRingDesc { entries, ..Default::default() };
///     let mut ring = PaletteRing::new(device, allocator, &desc)?;
///     unsafe {
///         ring.writer(0, 0, entries)?.copy_from(palettes)?;
///         ring.record_upload(device, cmd, 0, entries);
///     }
///     Ok(ring)
/// }
/// ```
#[derive(Debug)]
pub struct PaletteRing {
    ring: Ring,
    entries: u32,
}

destroy_fields!(PaletteRing, Gpu<'a>: ring);

const ENTRY_BYTES: u64 = size_of::<Mat3x4>() as u64;

impl PaletteRing {
    /// Allocates the ring.
    ///
    /// # Errors
    /// - [`Error::Argument`] for no frames in flight, for an alignment that is not a power of two,
    ///   and for an allocator of another device.
    /// - [`Error::Capacity`] if the ring exceeds `maxBufferSize` or `maxMemoryAllocationSize`.
    /// - [`Error::Memory`] and [`Error::Vulkan`] from the device.
    pub fn new(
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        desc: &PaletteRingDesc,
    ) -> Result<Self> {
        let allocator = RefCell::new(allocator);
        Self::create(Gpu::new(device, &allocator)?, desc).map(Guard::keep)
    }

    /// [`Self::new`], guarded.
    pub(crate) fn create<'g>(gpu: Gpu<'g>, desc: &PaletteRingDesc) -> Result<Guard<'g, Self>> {
        let frames = desc.frames_in_flight;
        expect("frames in flight", frames > 0, "must be at least 1")?;
        let alignment = desc.min_offset_alignment;
        let fits = alignment == 0 || alignment.is_power_of_two();
        expect("min_offset_alignment", fits, "must be 0 or a power of two")?;
        let ring = RingDesc {
            name: "throng palettes (ring)",
            frames_in_flight: frames,
            frame_bytes: u64::from(desc.entries.max(1)) * ENTRY_BYTES,
            alignment,
            usage: vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS | vk::BufferUsageFlags::TRANSFER_SRC,
            staged: desc.staged,
        };
        let entries = desc.entries;
        Ok(Ring::new(gpu, &ring)?.map(|ring| Self { ring, entries }))
    }

    /// Returns true if [`Self::record_upload`] must be recorded every frame.
    ///
    /// This is so if the CPU cannot write the memory that the GPU reads.
    #[must_use]
    pub fn is_staged(&self) -> bool {
        self.ring.is_staged()
    }

    /// The device address of the part of `frame_index`.
    ///
    /// For an index that does not exist, it is that of the last one. The skin stage and shaders
    /// (`THRONG_RING_PALETTES`) take it. Instances may also have the address of their own palette
    /// in the part.
    ///
    /// It is valid until [`Self::destroy`].
    #[must_use]
    pub fn address(&self, frame_index: u32) -> vk::DeviceAddress {
        self.ring.address(frame_index)
    }

    /// The buffer that shaders read. It can be the source of copies.
    #[must_use]
    pub fn buffer(&self) -> vk::Buffer {
        self.ring.buffer()
    }

    /// The buffer that shaders read, and the first byte of the part of `frame_index` in it.
    pub(crate) fn source(&self, frame_index: u32) -> (vk::Buffer, u64) {
        (self.ring.buffer(), self.ring.start(frame_index))
    }

    /// A writer for `count` entries of `frame_index`, starting at entry `first`.
    ///
    /// They are entries of one palette format, such as [`Mat3x4`], and must be written in ascending
    /// order. The part of the frame has space for [`PaletteRingDesc::entries`] of 48 bytes each,
    /// and for one and a half times as many of 32 bytes.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the frame index does not exist.
    /// - [`Error::Capacity`] if the entries exceed the part of the frame.
    ///
    /// # Safety
    /// The GPU has finished all work that was submitted with this frame index.
    pub unsafe fn writer<E: PaletteEntry>(
        &mut self,
        frame_index: u32,
        first: u32,
        count: u32,
    ) -> Result<WriteOnly<'_, E>> {
        self.check_frame_index(frame_index)?;
        let [start, bytes] = [first, count].map(|it| u64::from(it) * size_of::<E>() as u64);
        let asked = (start + bytes).div_ceil(ENTRY_BYTES);
        let cap = u64::from(self.entries);
        limit("palette entries", asked, cap)?;
        let mapped = self
            .ring
            .mapped_at(frame_index, start, bytes)
            .ok_or(Error::Capacity {
                what: "palette entries",
                asked,
                cap,
            })?;
        // SAFETY: `mapped_at` checked the range; the frame's part is aligned to 64 bytes, and
        // entries start at whole rows, so they are aligned to 16; the borrow is exclusive on the
        // CPU, and the GPU has finished with this frame index, by this function's contract.
        Ok(unsafe { WriteOnly::from_raw(mapped.cast().as_ptr(), count as usize) })
    }

    fn check_frame_index(&self, frame_index: u32) -> Result<()> {
        let frames = self.ring.frames_in_flight();
        expect_frame(frame_index, frames, "PaletteRingDesc::frames_in_flight")
    }

    /// The mapped start of `frame_index`.
    pub(crate) fn mapped_start(&mut self, frame_index: u32) -> Option<core::ptr::NonNull<u8>> {
        self.ring.mapped_at(frame_index, 0, 0)
    }

    /// Records the copy to device memory, if the ring is staged.
    ///
    /// It copies the first `entries` entries of `frame_index`.
    ///
    /// Returns whether a copy was recorded. Then the caller must record a barrier from
    /// `COPY`/`TRANSFER_WRITE` to the shaders that read.
    ///
    /// # Safety
    /// - `device` is the one that the ring was made with, and `cmd` is one of its command buffers.
    /// - `cmd` is recording, outside a render pass, and is submitted after the part of this frame
    ///   index was written.
    /// - Earlier work with this frame index has ended.
    pub unsafe fn record_upload(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        frame_index: u32,
        entries: u32,
    ) -> bool {
        let part = (0, u64::from(entries.min(self.entries)) * ENTRY_BYTES);
        // SAFETY: this function has the same contract; the copied range lies in the part of the
        // frame.
        unsafe { self.ring.record_upload(device, cmd, frame_index, &[part]) }
    }

    /// Records the copy of ranges of rows to device memory, if the ring is staged. Otherwise as
    /// [`Self::record_upload`].
    ///
    /// # Safety
    /// As [`Self::record_upload`].
    pub(crate) unsafe fn record_rows(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        frame_index: u32,
        rows: &[Range<u32>],
    ) -> bool {
        let most = u64::from(self.entries) * ENTRY_BYTES;
        let mut any = false;
        for rows in rows {
            let [start, end] = [rows.start, rows.end].map(|row| u64::from(row) * ROW_BYTES);
            let part = (start.min(most), end.min(most) - start.min(most));
            // SAFETY: this function has the same contract; the copied range lies in the part of
            // the frame.
            any |= unsafe { self.ring.record_upload(device, cmd, frame_index, &[part]) };
        }
        any
    }

    /// Frees everything.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` and `allocator` are those that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device, allocator: &mut dyn MemoryAllocator) {
        // SAFETY: this function has the same contract.
        unsafe { Gpu::destroy(self, device, allocator) };
    }
}
