//! A buffer with its memory.

use super::context::ContextId;
use super::error::Check;
use super::{Context, Result, StandaloneError};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

/// Settings for a new [`Buffer`].
#[derive(Clone, Copy, Debug)]
pub struct BufferDesc<'a> {
    /// Its debug name, and its name in leak reports.
    pub name: &'a str,
    /// Size in bytes, at least 1.
    pub size: u64,
    /// Usage flags. Transfer source and destination are always added.
    pub usage: vk::BufferUsageFlags,
    /// Kind of memory. `CpuToGpu` and `GpuToCpu` buffers are mapped.
    pub location: MemoryLocation,
}

/// A buffer with its memory.
#[derive(Debug)]
pub struct Buffer {
    pub(super) owner: ContextId,
    name: String,
    handle: vk::Buffer,
    pub(super) size: u64,
    allocation: Option<Allocation>,
}

impl Buffer {
    /// Creates a buffer. Its bytes are undefined.
    ///
    /// # Errors
    ///
    /// Returns the errors of the allocator and of the Vulkan calls, and an error if the size is
    /// zero.
    pub fn new(context: &mut Context, desc: &BufferDesc<'_>) -> Result<Self> {
        let mut buffer = Self {
            owner: context.id(),
            name: desc.name.to_owned(),
            handle: vk::Buffer::null(),
            size: desc.size,
            allocation: None,
        };
        match buffer.build(context, desc) {
            Ok(()) => Ok(buffer),
            Err(error) => {
                buffer.release(context);
                Err(error)
            }
        }
    }

    fn build(&mut self, context: &mut Context, desc: &BufferDesc<'_>) -> Result<()> {
        if desc.size == 0 {
            return Err(self.range(0, 0));
        }
        let usage =
            desc.usage | vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(desc.size).usage(usage);
        // SAFETY: the device is alive; the size is not zero.
        self.handle =
            unsafe { context.device.create_buffer(&info, None) }.check("vkCreateBuffer")?;
        // SAFETY: the buffer is new.
        unsafe { context.set_name(self.handle, desc.name) }?;
        // SAFETY: the buffer is of this device.
        let requirements = unsafe { context.device.get_buffer_memory_requirements(self.handle) };
        let allocation = allocate(context, desc.name, requirements, desc.location, true)?;
        // Stored before it is bound, so that an error frees it.
        let allocation = self.allocation.insert(allocation);
        // SAFETY: the memory was allocated for this buffer, and lives as long as the buffer.
        unsafe {
            context
                .device
                .bind_buffer_memory(self.handle, allocation.memory(), allocation.offset())
        }
        .check("vkBindBufferMemory")
    }

    /// The Vulkan handle, valid until [`Buffer::destroy`].
    #[must_use]
    pub fn handle(&self) -> vk::Buffer {
        self.handle
    }

    /// The size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Writes bytes from the CPU to a mapped buffer, starting at byte `offset`.
    ///
    /// The GPU must not use these bytes at the same time.
    ///
    /// # Errors
    ///
    /// Returns an error if the buffer is not mapped, or if the bytes do not fit.
    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let error = self.range(offset, bytes.len() as u64);
        let unmapped = StandaloneError::NotMapped {
            name: self.name.clone(),
        };
        let mapped = self
            .allocation
            .as_mut()
            .and_then(Allocation::mapped_slice_mut)
            .ok_or(unmapped)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(bytes.len());
        match mapped.get_mut(start..end) {
            Some(range) if end as u64 <= self.size => {
                range.copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// The bytes of a mapped buffer.
    ///
    /// The GPU's writes must have been made visible to the host first.
    ///
    /// # Errors
    ///
    /// Returns an error if the buffer is not mapped.
    pub fn bytes(&self) -> Result<&[u8]> {
        self.allocation
            .as_ref()
            .and_then(Allocation::mapped_slice)
            .and_then(|mapped| mapped.get(..usize::try_from(self.size).ok()?))
            .ok_or_else(|| StandaloneError::NotMapped {
                name: self.name.clone(),
            })
    }

    /// Waits for the device, then destroys the buffer.
    ///
    /// `context` must be the one that the buffer was created with. If it is another, the buffer is
    /// leaked and an error is logged.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(self.owner, &self.object()) {
            self.release(context);
        }
    }

    pub(super) fn object(&self) -> String {
        format!("buffer `{}`", self.name)
    }

    pub(super) fn range(&self, offset: u64, size: u64) -> StandaloneError {
        StandaloneError::Range {
            name: self.name.clone(),
            offset,
            size,
            len: self.size,
        }
    }

    /// Destroys all handles that exist. The device must no longer use them.
    pub(super) fn release(&mut self, context: &mut Context) {
        // SAFETY: the buffer belongs to this device and is no longer used. Null is ignored.
        unsafe { context.device.destroy_buffer(self.handle, None) };
        self.handle = vk::Buffer::null();
        free(context, &self.name, &mut self.allocation);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.handle != vk::Buffer::null() {
            log::warn!("buffer `{}` was dropped without destroy", self.name);
        }
    }
}

/// Allocates memory for a buffer (`linear`) or an image.
pub(super) fn allocate(
    context: &mut Context,
    name: &str,
    requirements: vk::MemoryRequirements,
    location: MemoryLocation,
    linear: bool,
) -> Result<Allocation> {
    context
        .allocator
        .allocate(&AllocationCreateDesc {
            name,
            requirements,
            location,
            linear,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        })
        .map_err(|source| StandaloneError::Allocator {
            name: name.to_owned(),
            source,
        })
}

/// Frees memory, and logs an error if the allocator does not know it.
pub(super) fn free(context: &mut Context, name: &str, allocation: &mut Option<Allocation>) {
    if let Some(allocation) = allocation.take()
        && let Err(error) = context.allocator.free(allocation)
    {
        log::error!("cannot free the memory of `{name}`: {error}");
    }
}
