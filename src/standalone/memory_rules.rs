//! Rules for buffers and their memory, checked before Vulkan sees them.

use super::{Context, Result, StandaloneError};
use ash::vk;
use gpu_allocator::MemoryLocation;

type Usage = vk::BufferUsageFlags;

/// Usage that needs no feature and no extension.
const CORE: Usage = Usage::from_raw(
    Usage::TRANSFER_SRC.as_raw()
        | Usage::TRANSFER_DST.as_raw()
        | Usage::UNIFORM_TEXEL_BUFFER.as_raw()
        | Usage::STORAGE_TEXEL_BUFFER.as_raw()
        | Usage::UNIFORM_BUFFER.as_raw()
        | Usage::STORAGE_BUFFER.as_raw()
        | Usage::INDEX_BUFFER.as_raw()
        | Usage::VERTEX_BUFFER.as_raw()
        | Usage::INDIRECT_BUFFER.as_raw(),
);

/// Fails if the context cannot create such a buffer.
pub(super) fn check_buffer(context: &Context, name: &str, size: u64, usage: Usage) -> Result<()> {
    let refused = usage & !(CORE | Usage::SHADER_DEVICE_ADDRESS);
    refuse(name, refused, "needs an extension that is not supported")?;
    let max = max_buffer_size(context);
    if (1..=max).contains(&size) {
        return Ok(());
    }
    Err(StandaloneError::BufferSize {
        name: name.to_owned(),
        size,
        max,
    })
}

/// Fails with `rule` if there are any such bits.
fn refuse(name: &str, usage: Usage, rule: &'static str) -> Result<()> {
    if usage.is_empty() {
        return Ok(());
    }
    Err(StandaloneError::BufferUsage {
        name: name.to_owned(),
        usage,
        rule,
    })
}

fn max_buffer_size(context: &Context) -> u64 {
    let mut properties = vk::PhysicalDeviceVulkan13Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
    // SAFETY: the device belongs to this instance and supports Vulkan 1.3.
    unsafe {
        context
            .instance
            .get_physical_device_properties2(context.physical_device, &mut all);
    }
    properties.max_buffer_size
}

/// Fails if no heap of this kind of memory is large enough.
pub(super) fn check_heap(
    context: &Context,
    name: &str,
    requirements: &vk::MemoryRequirements,
    location: MemoryLocation,
) -> Result<()> {
    let max = largest_heap(&memory(context), requirements.memory_type_bits, location);
    if requirements.size <= max {
        return Ok(());
    }
    Err(StandaloneError::MemorySize {
        name: name.to_owned(),
        size: requirements.size,
        max,
    })
}

/// The first of these memory types that needs memory only for what is stored.
pub(super) fn lazy_type(context: &Context, type_bits: u32) -> Option<u32> {
    let lazy = vk::MemoryPropertyFlags::LAZILY_ALLOCATED;
    (0u32..)
        .zip(memory(context).memory_types_as_slice())
        .find(|(index, kind)| type_bits & (1 << index) != 0 && kind.property_flags.contains(lazy))
        .map(|(index, _)| index)
}

fn memory(context: &Context) -> vk::PhysicalDeviceMemoryProperties {
    // SAFETY: the device belongs to this instance.
    unsafe {
        context
            .instance
            .get_physical_device_memory_properties(context.physical_device)
    }
}

fn largest_heap(
    memory: &vk::PhysicalDeviceMemoryProperties,
    type_bits: u32,
    location: MemoryLocation,
) -> u64 {
    let wanted = match location {
        MemoryLocation::CpuToGpu | MemoryLocation::GpuToCpu => {
            vk::MemoryPropertyFlags::HOST_VISIBLE
        }
        MemoryLocation::GpuOnly => vk::MemoryPropertyFlags::DEVICE_LOCAL,
        MemoryLocation::Unknown => vk::MemoryPropertyFlags::empty(),
    };
    let heaps = memory.memory_heaps_as_slice();
    (0u32..)
        .zip(memory.memory_types_as_slice())
        .filter(|(index, kind)| {
            type_bits & (1 << index) != 0 && kind.property_flags.contains(wanted)
        })
        .filter_map(|(_, kind)| heaps.get(kind.heap_index as usize))
        .map(|heap| heap.size)
        .max()
        .unwrap_or(0)
}
