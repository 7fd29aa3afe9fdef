//! A buffer with its memory.

use super::context::ContextId;
use super::{Check, Context, Result, StandaloneError, read_buffer};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};

/// What a [`Buffer`] is made from.
#[derive(Clone, Copy, Debug)]
pub struct BufferDesc<'a> {
    /// Its debug name, and its name in leak reports.
    pub name: &'a str,
    /// Its size in bytes; at least 1.
    pub size: u64,
    /// What it is used for. Copying from it and to it always belong to it.
    pub usage: vk::BufferUsageFlags,
    /// Where it lies: `CpuToGpu` and `GpuToCpu` are mapped.
    pub location: MemoryLocation,
}

/// A buffer with its memory.
#[derive(Debug)]
pub struct Buffer {
    owner: ContextId,
    name: String,
    handle: vk::Buffer,
    size: u64,
    allocation: Option<Allocation>,
}

impl Buffer {
    /// Makes a buffer. Its bytes are undefined.
    ///
    /// # Errors
    ///
    /// What the allocator and the Vulkan calls return, and an empty size.
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
        // Held before it is bound, so that an error frees it.
        let allocation = self.allocation.insert(allocation);
        // SAFETY: the memory was allocated for this buffer, and lives as long.
        unsafe {
            context
                .device
                .bind_buffer_memory(self.handle, allocation.memory(), allocation.offset())
        }
        .check("vkBindBufferMemory")
    }

    /// The handle, which lives until [`Buffer::destroy`].
    #[must_use]
    pub fn handle(&self) -> vk::Buffer {
        self.handle
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Writes bytes from the CPU, `offset` bytes into a mapped buffer. The GPU
    /// must not use them at that time.
    ///
    /// # Errors
    ///
    /// Where the buffer is not mapped, or the bytes don't fit.
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
            Some(frame_index) if end as u64 <= self.size => {
                frame_index.copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// The bytes of a mapped buffer, after the GPU's writes have been made
    /// visible to the host.
    ///
    /// # Errors
    ///
    /// Where the buffer is not mapped.
    pub fn bytes(&self) -> Result<&[u8]> {
        self.allocation
            .as_ref()
            .and_then(Allocation::mapped_slice)
            .and_then(|mapped| mapped.get(..usize::try_from(self.size).ok()?))
            .ok_or_else(|| StandaloneError::NotMapped {
                name: self.name.clone(),
            })
    }

    /// Reads `size` bytes from byte `offset` on, wherever the buffer lies, after
    /// all work submitted so far.
    ///
    /// # Errors
    ///
    /// Where the range is empty or outside, the context is not the one that the
    /// buffer was made with, and what the Vulkan calls return.
    pub fn read(&self, context: &mut Context, offset: u64, size: u64) -> Result<Vec<u8>> {
        context.check_own(self.owner, &self.object())?;
        let end = offset.checked_add(size);
        if size == 0 || end.is_none_or(|end| end > self.size) {
            return Err(self.range(offset, size));
        }
        // SAFETY: the buffer is alive, can be copied from, and has the range.
        unsafe { read_buffer(context, self.handle, offset, size) }
    }

    /// Waits for the device, and destroys the buffer. `context` is the one that
    /// it was made with; with another it is leaked, and that is logged.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(self.owner, &self.object()) {
            self.release(context);
        }
    }

    fn object(&self) -> String {
        format!("buffer `{}`", self.name)
    }

    fn range(&self, offset: u64, size: u64) -> StandaloneError {
        StandaloneError::Range {
            name: self.name.clone(),
            offset,
            size,
            len: self.size,
        }
    }

    /// Destroys what there is. The device does not use it any more.
    pub(super) fn release(&mut self, context: &mut Context) {
        // SAFETY: of this device, and unused; null is ignored.
        unsafe { context.device.destroy_buffer(self.handle, None) };
        self.handle = vk::Buffer::null();
        free(context, &self.name, &mut self.allocation);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.handle != vk::Buffer::null() {
            log::warn!("buffer `{}` was dropped and not destroyed", self.name);
        }
    }
}

/// Memory for a buffer (`linear`) or an image.
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

/// Gives memory back, and logs where the allocator does not know it.
pub(super) fn free(context: &mut Context, name: &str, allocation: &mut Option<Allocation>) {
    if let Some(allocation) = allocation.take()
        && let Err(error) = context.allocator.free(allocation)
    {
        log::error!("freeing the memory of `{name}`: {error}");
    }
}
