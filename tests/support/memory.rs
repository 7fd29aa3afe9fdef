//! An allocator of the engine's own, which finds accesses outside its blocks.

use super::Setup;
use std::error::Error;
use std::ptr::NonNull;
use throng::ash::{self, vk};
use throng::gpu::{GpuAllocator, MemoryAllocator, MemoryBlock, MemoryRequest};
use throng::gpu_allocator::MemoryLocation;
use throng::gpu_allocator::vulkan::Allocator;

/// Gives each buffer and image a memory object of its own.
///
/// On a software driver, whose memory is that of this process, each buffer ends before a page that
/// cannot be accessed, a new one is full of garbage, and the pages of one that was freed cannot be
/// accessed until [`Self::release`]. So a shader that reads past its end or later than that ends
/// the test program.
pub struct OneEach {
    device: ash::Device,
    types: vk::PhysicalDeviceMemoryProperties,
    pub guards: bool,
    /// The memory objects of the blocks that were freed.
    freed: Vec<Own>,
    pub blocks: usize,
}

/// The handle of its blocks: the memory object, and its pages without access.
struct Own {
    memory: vk::DeviceMemory,
    pages: Pages,
    /// The address and the number of bytes of the whole object, if it is guarded.
    mapped: (usize, usize),
}

/// The byte that fills new memory.
const RUBBISH: u8 = 0xA7;

impl OneEach {
    pub fn new(setup: &Setup) -> Self {
        let context = &setup.context;
        let (instance, device) = (&context.instance, context.physical_device);
        let kind = unsafe { instance.get_physical_device_properties(device) }.device_type;
        Self {
            device: context.device.clone(),
            types: unsafe { instance.get_physical_device_memory_properties(device) },
            guards: cfg!(unix) && kind == vk::PhysicalDeviceType::CPU,
            freed: Vec::new(),
            blocks: 0,
        }
    }

    /// Returns the memory of what was freed to the device.
    pub fn release(&mut self) {
        for own in self.freed.drain(..) {
            own.pages.set_access(true);
            unsafe { self.device.free_memory(own.memory, None) };
        }
    }

    fn memory_type(&self, request: &MemoryRequest<'_>, mapped: bool) -> Option<u32> {
        use vk::MemoryPropertyFlags as Flags;
        let visible = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let local = [Flags::DEVICE_LOCAL, Flags::empty()];
        let wanted = if mapped { visible } else { Flags::empty() };
        let wanted = wanted | local[usize::from(request.location != MemoryLocation::GpuOnly)];
        let fits = |index: &u32| {
            let flags = self.types.memory_types[*index as usize].property_flags;
            (request.requirements.memory_type_bits >> index) & 1 == 1 && flags.contains(wanted)
        };
        (0..self.types.memory_type_count).find(fits)
    }
}

unsafe impl MemoryAllocator for OneEach {
    fn device(&self) -> vk::Device {
        self.device.handle()
    }

    fn allocate(
        &mut self,
        request: &MemoryRequest<'_>,
    ) -> Result<MemoryBlock, Box<dyn Error + Send + Sync>> {
        let needs = &request.requirements;
        let wants_map = request.location != MemoryLocation::GpuOnly;
        let guards = self.guards && request.linear;
        let index = self.memory_type(request, wants_map || guards);
        let mut flags = vk::MemoryAllocateFlagsInfo::default();
        if request.device_address {
            flags = flags.flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        }
        let used = needs.size.next_multiple_of(needs.alignment);
        // Space to move the end to that of a page, and for the page behind.
        let more = if guards { 2 * page() as u64 } else { 0 };
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(used + more)
            .memory_type_index(index.ok_or("no such memory")?)
            .push_next(&mut flags);
        let memory = unsafe { self.device.allocate_memory(&info, None)? };
        let start = if wants_map || guards {
            let flags = vk::MemoryMapFlags::empty();
            unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags)? }.cast::<u8>()
        } else {
            std::ptr::null_mut()
        };
        let mut own = Own {
            memory,
            pages: Pages::default(),
            mapped: (0, 0),
        };
        let mut offset = 0;
        let end = (start.addr() + used as usize).next_multiple_of(page());
        let space = end - (start.addr() + used as usize);
        if guards && (space as u64).is_multiple_of(needs.alignment) {
            offset = space as u64;
            unsafe { start.add(space).write_bytes(RUBBISH, used as usize) };
            own.mapped = (start.addr(), (used + more) as usize);
            own.pages = Pages::within(end, page());
            own.pages.set_access(false);
        }
        self.blocks += 1;
        let mapped = NonNull::new(start.wrapping_add(offset as usize));
        Ok(MemoryBlock {
            memory,
            offset,
            mapped: mapped.filter(|_| wants_map),
            handle: Box::new(own),
        })
    }

    unsafe fn free(&mut self, block: MemoryBlock) -> Result<(), Box<dyn Error + Send + Sync>> {
        let handle = block.handle.downcast::<Own>();
        let mut own = handle.map_err(|_| "the block is from another kind of allocator")?;
        own.pages.set_access(true);
        own.pages = Pages::within(own.mapped.0, own.mapped.1);
        own.pages.set_access(false);
        self.freed.push(*own);
        self.blocks -= 1;
        Ok(())
    }
}

/// Whole pages of memory: address and bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Pages(usize, usize);

impl Pages {
    /// The whole pages within some memory.
    fn within(start: usize, bytes: usize) -> Self {
        let first = start.next_multiple_of(page());
        let end = (start + bytes) / page() * page();
        Self(first, end.saturating_sub(first))
    }

    fn set_access(self, has_access: bool) {
        if self.1 > 0 {
            #[cfg(unix)]
            unsafe {
                let read_write = libc::PROT_READ | libc::PROT_WRITE;
                let access = if has_access {
                    read_write
                } else {
                    libc::PROT_NONE
                };
                let start = std::ptr::with_exposed_provenance_mut(self.0);
                assert_eq!(libc::mprotect(start, self.1, access), 0);
            }
            #[cfg(not(unix))]
            let _ = has_access;
        }
    }
}

fn page() -> usize {
    #[cfg(unix)]
    return unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    #[cfg(not(unix))]
    return 4096;
}

/// The memory of a test: the context's allocator, or another.
pub enum Memory<'a> {
    Usual(GpuAllocator<&'a mut Allocator>),
    Own(&'a mut OneEach),
}

unsafe impl MemoryAllocator for Memory<'_> {
    fn device(&self) -> vk::Device {
        match self {
            Self::Usual(usual) => usual.device(),
            Self::Own(own) => own.device(),
        }
    }

    fn allocate(
        &mut self,
        request: &MemoryRequest<'_>,
    ) -> Result<MemoryBlock, Box<dyn Error + Send + Sync>> {
        match self {
            Self::Usual(usual) => usual.allocate(request),
            Self::Own(own) => own.allocate(request),
        }
    }

    unsafe fn free(&mut self, block: MemoryBlock) -> Result<(), Box<dyn Error + Send + Sync>> {
        match self {
            Self::Usual(usual) => unsafe { usual.free(block) },
            Self::Own(own) => unsafe { own.free(block) },
        }
    }
}
