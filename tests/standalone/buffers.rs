//! Buffers: written, read back and refused.

use crate::setup::{Alone, buffer, context, desc, finish, finish_second, second};
use throng::ash::vk;
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, BufferDesc, StandaloneError};

#[test]
fn reads_buffers_back() {
    let mut context = context();
    let bytes: Vec<u8> = (0..=255).collect();
    let mut up = buffer(&mut context, 256, MemoryLocation::CpuToGpu);
    up.write(&context, 0, &bytes).expect("mapped");
    let far = buffer(&mut context, 256, MemoryLocation::GpuOnly);
    let (from, to) = (up.handle(), far.handle());
    context
        .submit_and_wait(|device, cmd| {
            let region = vk::BufferCopy::default().size(256);
            // SAFETY: both buffers have 256 bytes, and `cmd` is recording.
            unsafe { device.cmd_copy_buffer(cmd, from, to, &[region]) };
        })
        .expect("the copy ends");
    assert_eq!(far.read(&mut context, 0, 256).expect("bytes"), bytes);
    assert_eq!(
        far.read(&mut context, 100, 7).expect("bytes"),
        bytes[100..107]
    );
    for (offset, size) in [(0, 0), (0, 257), (256, 1), (u64::MAX, 2)] {
        let error = far.read(&mut context, offset, size);
        assert!(
            matches!(error, Err(StandaloneError::Range { .. })),
            "{error:?}"
        );
    }
    let mut back = vec![0; 256];
    up.read_mapped(&context, 0, &mut back).expect("mapped");
    assert_eq!(back, bytes);
    up.read_mapped(&context, 256, &mut []).expect("no bytes");
    for offset in [1, 256, u64::MAX] {
        for error in [
            up.write(&context, offset, &bytes),
            up.read_mapped(&context, offset, &mut back),
        ] {
            assert!(
                matches!(error, Err(StandaloneError::Range { .. })),
                "{error:?}"
            );
        }
    }
    assert_eq!(back, bytes);
    up.destroy(&mut context);
    far.destroy(&mut context);
    finish(context);
}

#[test]
fn buffers_that_are_not_mapped_say_so() {
    let mut context = context();
    let far = buffer(&mut context, 16, MemoryLocation::GpuOnly);
    // A software device may map all memory.
    if let Err(error) = far.read_mapped(&context, 0, &mut [0; 16]) {
        assert!(
            matches!(error, StandaloneError::NotMapped { .. }),
            "{error}"
        );
    }
    far.destroy(&mut context);
    finish(context);
}

#[test]
fn refuses_buffers_that_cannot_be() {
    type Usage = vk::BufferUsageFlags;
    let mut context = context();
    let mut refused = |size, usage| {
        let desc = BufferDesc {
            name: "wrong",
            size,
            usage,
            location: MemoryLocation::GpuOnly,
        };
        Buffer::new(&mut context, &desc).expect_err("no such buffer")
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
    let mut context = context();
    let mut properties = vk::PhysicalDeviceVulkan13Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
    // SAFETY: the device belongs to this instance.
    let memory = unsafe {
        let (instance, device) = (&context.instance, context.physical_device);
        instance.get_physical_device_properties2(device, &mut all);
        instance.get_physical_device_memory_properties(device)
    };
    let heap = memory.memory_heaps_as_slice().iter().map(|h| h.size).max();
    let desc = BufferDesc {
        name: "large",
        size: properties.max_buffer_size,
        usage: vk::BufferUsageFlags::STORAGE_BUFFER,
        location: MemoryLocation::GpuToCpu,
    };
    if heap.is_some_and(|heap| heap < desc.size) {
        let error = Buffer::new(&mut context, &desc).expect_err("no such memory");
        let (StandaloneError::Buffer { size, max, .. }
        | StandaloneError::MemorySize { size, max, .. }) = error
        else {
            panic!("{error:?}");
        };
        assert!(size >= desc.size && max < size, "{size} of {max}");
    }
    finish(context);
}

#[test]
fn buffers_have_addresses() {
    let mut context = context();
    let desc = BufferDesc {
        name: "addressed",
        size: 64,
        usage: vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS,
        location: MemoryLocation::GpuOnly,
    };
    let buffer = Buffer::new(&mut context, &desc).expect("a buffer");
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle());
    // SAFETY: the buffer is alive and has that usage.
    let address = unsafe { context.device.get_buffer_device_address(&info) };
    assert_ne!(address, 0);
    buffer.destroy(&mut context);
    finish(context);
}

#[test]
fn mapped_memory_of_a_dropped_context_is_refused() {
    let mut first = context();
    let mut up = buffer(&mut first, 256, MemoryLocation::CpuToGpu);
    let Alone { context, _turn } = first;
    drop(context);
    let mut next = second(&desc());
    for error in [up.write(&next, 0, &[1]), up.read_mapped(&next, 0, &mut [0])] {
        assert!(
            matches!(error, Err(StandaloneError::ForeignContext { .. })),
            "{error:?}"
        );
    }
    up.destroy(&mut next);
    finish_second(next);
}
