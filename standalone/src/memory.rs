//! Device memory: each buffer and image has a memory object of its own.

use crate::Result;
use crate::context::Handles;
use crate::error::Check;
use ash::vk;
use gpu_allocator::MemoryLocation;

impl Handles {
    /// Allocates memory for one buffer or image. `None` if no suitable heap is large enough.
    ///
    /// `CpuToGpu` and `GpuToCpu` are host-visible and host-coherent.
    pub(crate) fn allocate(
        &self,
        needs: &vk::MemoryRequirements,
        location: MemoryLocation,
    ) -> Result<Option<vk::DeviceMemory>> {
        use vk::MemoryPropertyFlags as Flags;
        let host = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let (needed, best) = match location {
            MemoryLocation::GpuOnly => (Flags::DEVICE_LOCAL, Flags::DEVICE_LOCAL),
            MemoryLocation::CpuToGpu => (host, host | Flags::DEVICE_LOCAL),
            MemoryLocation::GpuToCpu => (host, host | Flags::HOST_CACHED),
            MemoryLocation::Unknown => (Flags::empty(), Flags::DEVICE_LOCAL),
        };
        let heaps = self.memory.memory_heaps;
        let fits = |(index, kind): &(u32, &vk::MemoryType)| {
            needs.memory_type_bits >> index & 1 == 1
                && kind.property_flags.contains(needed)
                && heaps[kind.heap_index as usize].size >= needs.size
        };
        let kinds = (0..).zip(self.memory.memory_types_as_slice()).filter(fits);
        let Some((index, _)) = kinds.min_by_key(|(_, kind)| !kind.property_flags.contains(best))
        else {
            return Ok(None);
        };
        let mut flags =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut flags);
        // SAFETY: the device has this type and heap, and enables buffer device addresses.
        let memory = unsafe { self.device.allocate_memory(&info, None) };
        memory.check("vkAllocateMemory").map(Some)
    }
}
