//! A buffer with its memory.

use crate::error::Check;
use crate::{Handles, Result, StandaloneError};
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::ptr::NonNull;
use std::rc::Rc;

/// A buffer with its memory.
pub struct Buffer {
    pub(crate) handles: Rc<Handles>,
    name: String,
    handle: vk::Buffer,
    size: u64,
    memory: vk::DeviceMemory,
    mapped: Option<NonNull<u8>>,
}

impl Buffer {
    /// Creates a buffer. Its bytes are undefined.
    ///
    /// - `name` is its debug name, and its name in errors.
    /// - `size` is in bytes, at least 1.
    /// - `usage` may have all flags of Vulkan 1.0 and `SHADER_DEVICE_ADDRESS`, but no flags of
    ///   extensions. Transfer source and destination are always added.
    /// - `location` is the kind of memory. `CpuToGpu` and `GpuToCpu` buffers are mapped.
    ///
    /// # Errors
    ///
    /// Returns an error if:
    ///
    /// - the size is zero, or exceeds the device's limit or every suitable memory heap,
    /// - the usage needs an extension,
    /// - a Vulkan call fails.
    pub fn new(
        context: &Rc<Handles>,
        name: &str,
        size: u64,
        usage: vk::BufferUsageFlags,
        location: MemoryLocation,
    ) -> Result<Self> {
        let max = context.max_buffer_bytes;
        let refuse = || StandaloneError::Buffer {
            name: name.to_owned(),
            size,
            usage,
            max,
        };
        if !(1..=max).contains(&size) || !CORE.contains(usage) {
            return Err(refuse());
        }
        // An error drops it, which destroys what there is.
        let mut buffer = Self {
            handles: context.clone(),
            name: name.to_owned(),
            handle: vk::Buffer::null(),
            size,
            memory: vk::DeviceMemory::null(),
            mapped: None,
        };
        let copied = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default()
            .size(size)
            .usage(usage | copied);
        let device = &context.device;
        // SAFETY: the device is alive, size and usage were just checked, and the buffer is new. Its
        // memory is made for it and lives as long. Host-visible memory is mapped once.
        unsafe {
            buffer.handle = device.create_buffer(&info, None).check("vkCreateBuffer")?;
            context.set_name(buffer.handle, name)?;
            let needs = device.get_buffer_memory_requirements(buffer.handle);
            let memory = context.allocate(&needs, location)?;
            buffer.memory = memory.ok_or_else(refuse)?;
            let bound = device.bind_buffer_memory(buffer.handle, buffer.memory, 0);
            bound.check("vkBindBufferMemory")?;
            let is_mapped = [MemoryLocation::CpuToGpu, MemoryLocation::GpuToCpu];
            if is_mapped.contains(&location) {
                let (all, flags) = (vk::WHOLE_SIZE, Default::default());
                let start = device.map_memory(buffer.memory, 0, all, flags);
                buffer.mapped = NonNull::new(start.check("vkMapMemory")?.cast());
            }
        }
        Ok(buffer)
    }

    /// The Vulkan handle, which lives as long as this object.
    #[must_use]
    pub fn handle(&self) -> vk::Buffer {
        self.handle
    }

    /// The size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Copies bytes from the CPU into a mapped buffer, starting at byte `offset`.
    ///
    /// Work submitted later sees them. Work that still uses these bytes may see old and new bytes
    /// mixed, so wait for it first.
    ///
    /// # Errors
    ///
    /// Returns an error if the buffer is not mapped, or if the bytes do not fit.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let to = self.mapped(offset, bytes.len())?;
        // SAFETY: `mapped` checked the range, and the memory stays mapped as long as the buffer
        // lives. No Rust reference into mapped memory exists.
        unsafe { to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        Ok(())
    }

    /// Copies bytes out of a mapped buffer, starting at byte `offset`, and waits for nothing.
    ///
    /// The GPU's writes must have been made visible to the host, and waited for, to be seen.
    /// [`Buffer::read`] does both, for any kind of memory.
    ///
    /// # Errors
    ///
    /// Returns an error if the buffer is not mapped, or if the range is out of bounds.
    pub fn read_mapped(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let from = self.mapped(offset, out.len())?;
        // SAFETY: as in `write`. `out` is borrowed mutably, so it is not mapped memory.
        unsafe { from.copy_to_nonoverlapping(NonNull::from(&mut *out).cast(), out.len()) };
        Ok(())
    }

    /// The start of a range of the mapped memory. A buffer that is not mapped has none.
    fn mapped(&self, offset: u64, size: usize) -> Result<NonNull<u8>> {
        let len = self.mapped.map_or(0, |_| self.size);
        self.check_range(offset, size as u64, len)?;
        // SAFETY: the memory has the buffer's size, and `offset` is at most that. It fits into an
        // address, because the memory is mapped. Without memory, it is 0.
        Ok(unsafe {
            self.mapped
                .unwrap_or(NonNull::dangling())
                .add(offset as usize)
        })
    }

    pub(crate) fn check_range(&self, offset: u64, size: u64, len: u64) -> Result<()> {
        match offset.checked_add(size) {
            Some(end) if end <= len => Ok(()),
            _ => Err(StandaloneError::Range {
                name: self.name.clone(),
                offset,
                size,
                len,
            }),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.handles.may_destroy(&self.name) {
            // SAFETY: the handles are of this device, which is idle. Null is ignored.
            unsafe {
                self.handles.device.destroy_buffer(self.handle, None);
                self.handles.device.free_memory(self.memory, None);
            }
        }
    }
}

/// Usage that needs no extension.
const CORE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    // The nine flags of Vulkan 1.0.
    0x1ff | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);
