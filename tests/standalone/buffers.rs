//! Buffers: written, read back and refused.

use crate::setup::{buffer, context, finish};
use throng::ash::vk;
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, StandaloneError};

#[test]
fn reads_buffers_back() {
    let context = context();
    let bytes: Vec<u8> = (0..=255).collect();
    let mut up = buffer(&context, 256, MemoryLocation::CpuToGpu);
    up.write(0, &bytes).expect("mapped");
    let far = buffer(&context, 256, MemoryLocation::GpuOnly);
    let (from, to) = (up.handle(), far.handle());
    context
        .submit_and_wait(|device, cmd| {
            let region = vk::BufferCopy::default().size(256);
            // SAFETY: both buffers have 256 bytes, and `cmd` is recording.
            unsafe { device.cmd_copy_buffer(cmd, from, to, &[region]) };
        })
        .expect("the copy ends");
    assert_eq!(far.read(0, 256).expect("bytes"), bytes);
    assert_eq!(far.read(100, 7).expect("bytes"), bytes[100..107]);
    assert!(far.read(256, 0).expect("no bytes").is_empty());
    for (offset, size) in [(0, 257), (256, 1), (u64::MAX, 2)] {
        let error = far.read(offset, size);
        assert!(
            matches!(error, Err(StandaloneError::Range { .. })),
            "{error:?}"
        );
    }
    let mut back = vec![0; 256];
    up.read_mapped(0, &mut back).expect("mapped");
    assert_eq!(back, bytes);
    up.read_mapped(256, &mut []).expect("no bytes");
    for offset in [1, 256, u64::MAX] {
        for error in [up.write(offset, &bytes), up.read_mapped(offset, &mut back)] {
            assert!(
                matches!(error, Err(StandaloneError::Range { .. })),
                "{error:?}"
            );
        }
    }
    assert_eq!(back, bytes);
    drop(up);
    drop(far);
    finish(context);
}

#[test]
fn buffers_that_are_not_mapped_say_so() {
    let context = context();
    let far = buffer(&context, 16, MemoryLocation::GpuOnly);
    // A software device may map all memory.
    if let Err(error) = far.read_mapped(0, &mut [0; 16]) {
        assert!(
            matches!(error, StandaloneError::Range { len: 0, .. }),
            "{error}"
        );
    }
    drop(far);
    finish(context);
}

#[test]
fn refuses_buffers_that_cannot_be() {
    type Usage = vk::BufferUsageFlags;
    let context = context();
    let refused = |size, usage| {
        Buffer::new(&context, "wrong", size, usage, MemoryLocation::GpuOnly)
            .err()
            .expect("no such buffer")
    };
    for size in [0, 1 << 60, u64::MAX] {
        let error = refused(size, Usage::STORAGE_BUFFER);
        assert!(
            matches!(error, StandaloneError::Buffer { size: s, .. } if s == size),
            "{error:?}"
        );
    }
    for wrong in [
        Usage::ACCELERATION_STRUCTURE_STORAGE_KHR,
        Usage::SHADER_BINDING_TABLE_KHR,
        Usage::VIDEO_DECODE_SRC_KHR,
        Usage::CONDITIONAL_RENDERING_EXT,
        Usage::from_raw(1 << 31),
    ] {
        let asked = wrong | Usage::STORAGE_BUFFER;
        let error = refused(16, asked);
        assert!(
            matches!(error, StandaloneError::Buffer { usage, size: 16, .. } if usage == asked),
            "{error:?}"
        );
    }
    finish(context);
}

/// The limit of buffers may be larger than that of allocations and than all memory.
#[test]
fn refuses_buffers_larger_than_the_heap() {
    let context = context();
    let mut properties = vk::PhysicalDeviceVulkan13Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
    // SAFETY: the device belongs to this instance.
    let memory = unsafe {
        let (instance, device) = (&context.instance, context.physical_device);
        instance.get_physical_device_properties2(device, &mut all);
        instance.get_physical_device_memory_properties(device)
    };
    let heap = memory.memory_heaps_as_slice().iter().map(|h| h.size).max();
    let asked = properties.max_buffer_size;
    if heap.is_some_and(|heap| heap < asked) {
        let error = Buffer::new(
            &context,
            "large",
            asked,
            vk::BufferUsageFlags::STORAGE_BUFFER,
            MemoryLocation::GpuToCpu,
        )
        .err()
        .expect("no such memory");
        assert!(
            matches!(error, StandaloneError::Buffer { size, .. } if size == asked),
            "{error:?}"
        );
    }
    finish(context);
}

#[test]
fn buffers_have_addresses() {
    let context = context();
    let buffer = Buffer::new(
        &context,
        "addressed",
        64,
        vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS,
        MemoryLocation::GpuOnly,
    )
    .expect("a buffer");
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle());
    // SAFETY: the buffer is alive and has that usage.
    let address = unsafe { context.device.get_buffer_device_address(&info) };
    assert_ne!(address, 0);
    drop(buffer);
    finish(context);
}
