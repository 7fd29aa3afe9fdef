//! The engine's allocator of device memory.

use super::{Destroy, Device};
use crate::error::{Error, Result, expect};
use ash::vk;
use core::any::Any;
use core::cell::RefCell;
use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator};

/// A request for memory.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRequest<'a> {
    /// The name of the buffer or image, for reports.
    pub name: &'a str,
    /// Size in bytes, alignment in bytes, and the memory types that may be used.
    pub requirements: vk::MemoryRequirements,
    /// The kind of memory.
    ///
    /// `CpuToGpu` is host-visible, host-coherent and mapped. `GpuOnly` is device-local.
    pub location: MemoryLocation,
    /// True for buffers, false for images of optimal tiling.
    pub linear: bool,
    /// True if shaders read the buffer through its address.
    ///
    /// Its memory must be allocated with `VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT`.
    pub device_address: bool,
}

/// Device memory of one buffer or image.
///
/// [`MemoryAllocator::allocate`] fills in the fields, and [`MemoryAllocator::free`] needs them
/// unchanged.
#[derive(Debug)]
pub struct MemoryBlock {
    /// The memory object that it is a part of. It may contain other blocks, so only the allocator
    /// frees, maps or unmaps it.
    pub memory: vk::DeviceMemory,
    /// Start in the memory object, in bytes.
    pub offset: u64,
    /// Its first byte, if it is mapped.
    pub mapped: Option<NonNull<u8>>,
    /// The allocator's own data.
    ///
    /// Give it a private type. Then [`MemoryAllocator::free`] can recognise the allocator's own
    /// blocks, and no other code can take the data out.
    pub handle: Box<dyn Any + Send + Sync>,
}

// SAFETY: `mapped`, the only field that is not `Send`, is an address. Safe code cannot read or
// write through it.
unsafe impl Send for MemoryBlock {}
// SAFETY: `mapped`, the only field that is not `Sync`, is an address. Safe code cannot read or
// write through it.
unsafe impl Sync for MemoryBlock {}

/// Allocates device memory for throng's buffers and images.
///
/// [`GpuAllocator`] implements it for the crate `gpu-allocator`. Implement it for any other
/// allocator of your engine. throng allocates when a crowd, mesh or ring is created or grows, and
/// when a character is added: never in a frame that changes none of these.
///
/// # Safety
/// - [`Self::device`] is alive as long as the allocator.
/// - A block belongs to that device. It meets the request, and nothing else uses its bytes until it
///   is freed.
/// - `mapped` is the address of the block's first byte, valid until the block is freed, and the
///   memory is host-coherent. It is aligned as the request says.
/// - Two allocators of one type for the same device can free each other's blocks. A block from
///   another type of allocator is an error of [`Self::free`], which leaves its memory alone.
///
/// # Examples
/// An engine whose allocator gives every resource a memory object of its own:
///
/// ```no_run
/// use throng::ash::{self, vk};
/// use throng::gpu::{MemoryAllocator, MemoryBlock, MemoryRequest};
/// use throng::gpu_allocator::MemoryLocation;
///
/// struct OneEach {
///     device: ash::Device,
///     types: vk::PhysicalDeviceMemoryProperties,
/// }
///
/// /// The handle of its blocks. Private, so that all blocks with it are from `OneEach`.
/// struct Own;
///
/// // SAFETY: each block is a memory object of its own, so it is aligned and nothing else uses it.
/// // The memory is mapped until it is freed. Only blocks with `Own` are freed.
/// unsafe impl MemoryAllocator for OneEach {
///     fn device(&self) -> vk::Device {
///         self.device.handle()
///     }
///
///     fn allocate(
///         &mut self,
///         request: &MemoryRequest<'_>,
///     ) -> Result<MemoryBlock, Box<dyn std::error::Error + Send + Sync>> {
///         use vk::MemoryPropertyFlags as Flags;
///         let mapped = request.location != MemoryLocation::GpuOnly;
///         let wanted = match mapped {
///             true => Flags::HOST_VISIBLE | Flags::HOST_COHERENT,
///             false => Flags::DEVICE_LOCAL,
///         };
///         let fits = |index: &u32| {
///             let flags = self.types.memory_types[*index as usize].property_flags;
///             request.requirements.memory_type_bits >> index & 1 == 1 && flags.contains(wanted)
///         };
///         let index = (0..self.types.memory_type_count).find(fits);
///         let mut flags = vk::MemoryAllocateFlagsInfo::default();
///         if request.device_address {
///             flags = flags.flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
///         }
///         let info = vk::MemoryAllocateInfo::default()
///             .allocation_size(request.requirements.size)
///             .memory_type_index(index.ok_or("no such memory")?)
///             .push_next(&mut flags);
///         let memory = unsafe { self.device.allocate_memory(&info, None)? };
///         let all = (vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
///         let start = match mapped {
///             true => unsafe { self.device.map_memory(memory, 0, all.0, all.1)? },
///             false => std::ptr::null_mut(),
///         };
///         Ok(MemoryBlock {
///             memory,
///             offset: 0,
///             mapped: std::ptr::NonNull::new(start.cast()),
///             handle: Box::new(Own),
///         })
///     }
///
///     unsafe fn free(
///         &mut self,
///         block: MemoryBlock,
///     ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///         if !block.handle.is::<Own>() {
///             return Err("the block is from another kind of allocator".into());
///         }
///         unsafe { self.device.free_memory(block.memory, None) };
///         Ok(())
///     }
/// }
/// ```
pub unsafe trait MemoryAllocator {
    /// The device that all its memory belongs to.
    fn device(&self) -> vk::Device;

    /// Allocates memory.
    ///
    /// # Errors
    /// Any error. throng returns it in an [`Error::Memory`], with name and size.
    fn allocate(
        &mut self,
        request: &MemoryRequest<'_>,
    ) -> Result<MemoryBlock, Box<dyn core::error::Error + Send + Sync>>;

    /// Frees memory.
    ///
    /// # Errors
    /// A block from another type of allocator is an error. Others may be. throng logs the error
    /// with the name of the buffer or image.
    ///
    /// # Safety
    /// - [`Self::allocate`] of an allocator for the same device returned the block, and its fields
    ///   have not been changed.
    /// - The GPU does not use it, and no buffer or image is bound to it.
    /// - Nothing reads or writes through `mapped` from now on.
    unsafe fn free(
        &mut self,
        block: MemoryBlock,
    ) -> Result<(), Box<dyn core::error::Error + Send + Sync>>;
}

/// An allocator of the crate `gpu-allocator`, with the device that it was made for.
///
/// `A` is how the allocator is held: `&mut Allocator`, `Box<Allocator>`, or a lock's guard.
///
/// # Examples
/// ```no_run
/// use std::sync::Mutex;
/// use throng::ash;
/// use throng::character::Character;
/// use throng::gpu::GpuAllocator;
/// use throng::gpu_allocator::vulkan::Allocator;
/// use throng::{Crowd, Result};
///
/// fn add(
///     crowd: &mut Crowd,
///     (device, allocator): (&ash::Device, &Mutex<Allocator>),
///     character: &Character,
/// ) -> Result<()> {
///     let locked = allocator.lock().unwrap();
///     // SAFETY: the engine has one device and one allocator, which was made for it.
///     let mut allocator = unsafe { GpuAllocator::new(device, locked) };
///     crowd.add_character(&mut allocator, character, &Default::default())?;
///     Ok(())
/// }
/// ```
pub struct GpuAllocator<A: DerefMut<Target = Allocator>> {
    device: vk::Device,
    allocator: A,
}

impl<A: DerefMut<Target = Allocator>> GpuAllocator<A> {
    /// Wraps an allocator.
    ///
    /// # Safety
    /// - `allocator` was made for `device`, which lives longer than the result. What it derefs to
    ///   does not change.
    /// - The `Allocator` lives as long as everything that throng makes with it.
    /// - It was made with
    ///   [`buffer_device_address`](gpu_allocator::vulkan::AllocatorCreateDesc::buffer_device_address).
    /// - All allocators for this device that are passed to throng wrap the same `Allocator`.
    pub unsafe fn new(device: &ash::Device, allocator: A) -> Self {
        Self {
            device: device.handle(),
            allocator,
        }
    }
}

/// For reports of the allocator.
impl<A: DerefMut<Target = Allocator>> Deref for GpuAllocator<A> {
    type Target = Allocator;

    fn deref(&self) -> &Allocator {
        &self.allocator
    }
}

impl<A: DerefMut<Target = Allocator>> fmt::Debug for GpuAllocator<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuAllocator")
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

/// The handle of this allocator's blocks. Private: safe code could write to the mapped memory of an
/// [`Allocation`] after the device was destroyed.
struct OwnAllocation(Allocation);

// SAFETY: the caller of `new` guarantees that the allocator is of the device, which lives longer,
// and that it lives as long as everything made with its blocks. `Allocator::allocate` returns
// allocations that meet the requirements and do not overlap. It maps host-visible memory when it
// allocates it, until it frees it, and chooses only coherent types. Only blocks with an
// `OwnAllocation` are freed. By the contract of `new`, they are all from the same `Allocator`.
unsafe impl<A: DerefMut<Target = Allocator>> MemoryAllocator for GpuAllocator<A> {
    fn device(&self) -> vk::Device {
        self.device
    }

    fn allocate(
        &mut self,
        request: &MemoryRequest<'_>,
    ) -> Result<MemoryBlock, Box<dyn core::error::Error + Send + Sync>> {
        let made = self.allocator.allocate(&AllocationCreateDesc {
            name: request.name,
            requirements: request.requirements,
            location: request.location,
            linear: request.linear,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        })?;
        Ok(MemoryBlock {
            // SAFETY: this only reads the handle. `MemoryAllocator::free`, which alone can take
            // `made` out of the block, demands that no buffer or image is bound to it.
            memory: unsafe { made.memory() },
            offset: made.offset(),
            mapped: made.mapped_ptr().map(NonNull::cast),
            handle: Box::new(OwnAllocation(made)),
        })
    }

    unsafe fn free(
        &mut self,
        block: MemoryBlock,
    ) -> Result<(), Box<dyn core::error::Error + Send + Sync>> {
        let own = block.handle.downcast::<OwnAllocation>();
        let own = own.map_err(|_| "the block is from another kind of allocator")?;
        Ok(self.allocator.free(own.0)?)
    }
}

/// A [`MemoryAllocator`] that those who use a [`Gpu`] share.
pub(super) trait SharedAllocator {
    fn allocate(&self, request: &MemoryRequest<'_>) -> Result<MemoryBlock>;

    /// Frees memory. An error is logged.
    ///
    /// # Safety
    /// As for [`MemoryAllocator::free`].
    unsafe fn free(&self, block: MemoryBlock, name: &str);
}

impl SharedAllocator for RefCell<&mut (dyn MemoryAllocator + '_)> {
    fn allocate(&self, request: &MemoryRequest<'_>) -> Result<MemoryBlock> {
        let made = self.borrow_mut().allocate(request);
        made.map_err(|error| Error::Memory {
            name: request.name.into(),
            bytes: request.requirements.size,
            why: error.into(),
        })
    }

    unsafe fn free(&self, block: MemoryBlock, name: &str) {
        // SAFETY: this function has the same contract.
        if let Err(error) = unsafe { self.borrow_mut().free(block) } {
            log::error!("throng: cannot free the memory of \"{name}\": {error}");
        }
    }
}

/// The device, and an allocator for it.
#[derive(Clone, Copy)]
pub(crate) struct Gpu<'a> {
    pub(crate) device: &'a Device,
    pub(super) allocator: &'a dyn SharedAllocator,
}

impl<'a> From<Gpu<'a>> for &'a Device {
    fn from(gpu: Gpu<'a>) -> Self {
        gpu.device
    }
}

impl<'a> Gpu<'a> {
    /// Fails if the allocator belongs to another device.
    pub(crate) fn new(
        device: &'a Device,
        allocator: &'a RefCell<&mut dyn MemoryAllocator>,
    ) -> Result<Self> {
        let own = allocator.borrow().device() == device.raw.handle();
        expect("allocator", own, "belongs to another device")?;
        Ok(Self { device, allocator })
    }

    /// Destroys objects.
    ///
    /// # Safety
    /// As for [`Destroy::destroy`]. The allocator is for the device.
    pub(crate) unsafe fn destroy<T>(
        owner: &mut T,
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
    ) where
        T: for<'g> Destroy<With<'g> = Gpu<'g>>,
    {
        let allocator = &RefCell::new(allocator);
        // SAFETY: this function has the same contract.
        unsafe { owner.destroy(Gpu { device, allocator }) };
    }
}
