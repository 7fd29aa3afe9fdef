//! A buffer with its memory.

use super::error::Check;
use super::owner::{Destroy, DeviceOwner, Idle};
use super::{Context, Result, StandaloneError};
use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use std::ptr::NonNull;
use std::sync::Arc;

/// Settings for a new [`Buffer`].
#[derive(Clone, Copy, Debug)]
pub struct BufferDesc<'a> {
    /// Its debug name, and its name in leak reports.
    pub name: &'a str,
    /// Size in bytes, at least 1.
    pub size: u64,
    /// Usage flags. Transfer source and destination are always added.
    ///
    /// All flags of Vulkan 1.0 and `SHADER_DEVICE_ADDRESS` are allowed. Flags of extensions are not
    /// allowed.
    pub usage: vk::BufferUsageFlags,
    /// Kind of memory. `CpuToGpu` and `GpuToCpu` buffers are mapped.
    pub location: MemoryLocation,
}

/// A buffer with its memory.
///
/// The context owns the mapping, so the bytes are accessible only through the context:
///
/// ```compile_fail,E0382
/// # use throng_standalone::{Buffer, Context};
/// fn not_possible(context: Context, mut buffer: Buffer) {
///     drop(context);
///     buffer.write(&context, 0, &[1]);
/// }
/// ```
#[derive(Debug)]
pub struct Buffer {
    pub(crate) owner: Arc<DeviceOwner>,
    name: String,
    handle: vk::Buffer,
    pub(crate) size: u64,
    allocation: Option<Allocation>,
}

impl Buffer {
    /// Creates a buffer. Its bytes are undefined.
    ///
    /// # Errors
    ///
    /// Returns an error if:
    ///
    /// - the size is zero, or exceeds the device's limit or every suitable memory heap,
    /// - the usage needs an extension,
    /// - the allocator or a Vulkan call fails.
    pub fn new(context: &mut Context, desc: &BufferDesc<'_>) -> Result<Self> {
        let mut buffer = Self {
            owner: context.owner(),
            name: desc.name.to_owned(),
            handle: vk::Buffer::null(),
            size: desc.size,
            allocation: None,
        };
        match buffer.build(context, desc) {
            Ok(()) => Ok(buffer),
            Err(error) => {
                buffer.release(&mut context.idle());
                Err(error)
            }
        }
    }

    fn build(&mut self, context: &mut Context, desc: &BufferDesc<'_>) -> Result<()> {
        let max = context.max_buffer_bytes;
        if !(1..=max).contains(&desc.size) || !CORE.contains(desc.usage) {
            return Err(StandaloneError::Buffer {
                name: desc.name.to_owned(),
                size: desc.size,
                usage: desc.usage,
                max,
            });
        }
        let usage =
            desc.usage | vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(desc.size).usage(usage);
        // SAFETY: the device is alive, and size and usage were just checked.
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

    /// Copies bytes from the CPU into a mapped buffer, starting at byte `offset`.
    ///
    /// Work submitted later sees them. Work that still uses these bytes may see old and new bytes
    /// mixed, so wait for it first.
    ///
    /// # Errors
    ///
    /// Returns an error if the buffer was created with another context, if it is not mapped, or if
    /// the bytes do not fit.
    pub fn write(&mut self, context: &Context, offset: u64, bytes: &[u8]) -> Result<()> {
        let to = self.mapped(context, offset, bytes.len())?;
        // SAFETY: `mapped` checked the range and that the context, which keeps the memory mapped,
        // is alive. No Rust reference into mapped memory exists.
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
    /// Returns an error if the buffer was created with another context, if it is not mapped, or if
    /// the range is out of bounds.
    pub fn read_mapped(&self, context: &Context, offset: u64, out: &mut [u8]) -> Result<()> {
        let from = self.mapped(context, offset, out.len())?;
        // SAFETY: as in `write`. `out` is borrowed mutably, so it is not mapped memory.
        unsafe { from.copy_to_nonoverlapping(NonNull::from(&mut *out).cast(), out.len()) };
        Ok(())
    }

    /// The start of a range of the mapped memory.
    fn mapped(&self, context: &Context, offset: u64, len: usize) -> Result<NonNull<u8>> {
        context.check_own(&self.owner, &self.object())?;
        let mapped = self.allocation.as_ref().and_then(Allocation::mapped_ptr);
        let mapped = mapped.ok_or_else(|| StandaloneError::NotMapped {
            name: self.name.clone(),
        })?;
        let end = offset.checked_add(len as u64);
        let start = usize::try_from(offset).ok();
        let inside = end.is_some_and(|end| end <= self.size);
        let start = start.filter(|_| inside);
        let start = start.ok_or_else(|| self.range(offset, len as u64))?;
        // SAFETY: the allocation meets the requirements of a buffer of `size` bytes, and `start` is
        // at most that.
        Ok(unsafe { mapped.cast().add(start) })
    }

    /// Waits for the device, then destroys the buffer.
    ///
    /// `context` must be the one that the buffer was created with. If it is another, an error is
    /// logged, and the buffer is destroyed with its own context.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(&self.owner, &self.object()) {
            self.release(&mut context.idle());
        }
    }

    pub(crate) fn object(&self) -> String {
        format!("buffer `{}`", self.name)
    }

    pub(crate) fn range(&self, offset: u64, size: u64) -> StandaloneError {
        StandaloneError::Range {
            name: self.name.clone(),
            offset,
            size,
            len: self.size,
        }
    }

    /// Destroys all handles that exist. The device must no longer use them.
    pub(crate) fn release(&mut self, idle: &mut Idle<'_>) {
        self.take()(idle);
    }

    /// Takes all handles out of the buffer.
    fn take(&mut self) -> Destroy {
        let (handle, allocation) = (std::mem::take(&mut self.handle), self.allocation.take());
        let name = self.name.clone();
        Box::new(move |idle| {
            // SAFETY: `build` created the buffer with this device, which is idle. No one else has
            // the handle's ownership. Null is ignored.
            unsafe { idle.device.destroy_buffer(handle, None) };
            idle.free(&name, allocation);
        })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.handle != vk::Buffer::null() {
            log::warn!("buffer `{}` was dropped without destroy", self.name);
            let destroy = self.take();
            self.owner.drop_later(destroy);
        }
    }
}

/// Usage that needs no extension.
const CORE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    // The nine flags of Vulkan 1.0.
    0x1ff | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// Allocates memory for a buffer (`linear`) or an image.
pub(crate) fn allocate(
    context: &mut Context,
    name: &str,
    requirements: vk::MemoryRequirements,
    location: MemoryLocation,
    linear: bool,
) -> Result<Allocation> {
    let wanted = match location {
        MemoryLocation::GpuOnly => vk::MemoryPropertyFlags::DEVICE_LOCAL,
        MemoryLocation::Unknown => vk::MemoryPropertyFlags::empty(),
        _ => vk::MemoryPropertyFlags::HOST_VISIBLE,
    };
    let memory = &context.memory;
    let kinds = (0..).zip(memory.memory_types_as_slice());
    let kinds = kinds.filter(|(index, kind)| {
        requirements.memory_type_bits >> index & 1 == 1 && kind.property_flags.contains(wanted)
    });
    let heaps = kinds.filter_map(|(_, kind)| memory.memory_heaps.get(kind.heap_index as usize));
    let max = heaps.map(|heap| heap.size).max().unwrap_or(0);
    if requirements.size > max {
        return Err(StandaloneError::MemorySize {
            name: name.to_owned(),
            size: requirements.size,
            max,
        });
    }
    let desc = AllocationCreateDesc {
        name,
        requirements,
        location,
        linear,
        allocation_scheme: AllocationScheme::GpuAllocatorManaged,
    };
    let allocated = context.allocator.allocate(&desc);
    allocated.map_err(|source| StandaloneError::Allocator {
        name: name.to_owned(),
        source,
    })
}
