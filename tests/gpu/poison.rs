//! Memory that is not zero at first, as on real devices.

use crate::support::each;
use throng::ash::vk;
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::Buffer;

/// Lavapipe fills new memory with `LVP_POISON_MEMORY`. Without this test, the others would prove
/// nothing where CI sets it.
#[test]
#[ignore = "needs lavapipe and LVP_POISON_MEMORY=1"]
fn fresh_memory_is_not_zero() {
    each(|setup| {
        let buffer = Buffer::new(
            &setup.context,
            "fresh",
            4096,
            vk::BufferUsageFlags::STORAGE_BUFFER,
            MemoryLocation::GpuToCpu,
        )
        .unwrap();
        let mut bytes = vec![0; 4096];
        buffer.read_mapped(0, &mut bytes).unwrap();
        let zeros = bytes.iter().filter(|byte| **byte == 0).count();
        assert!(zeros < 2048, "{zeros} of 4096 bytes are zero");
    });
}
