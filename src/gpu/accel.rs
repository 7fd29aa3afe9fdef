//! The functions of acceleration structures, their limits, and sizes.

use super::Features;
use ash::vk;

/// Offsets of structures in their buffer are multiples of this.
pub(crate) const STRUCTURE_ALIGNMENT: u64 = 256;

/// The functions of `VK_KHR_acceleration_structure`, and limits of the device.
#[derive(Clone)]
pub(crate) struct Accel {
    pub(crate) raw: ash::khr::acceleration_structure::Device,
    pub(crate) scratch_alignment: u64,
    pub(crate) max_instances: u64,
    pub(crate) max_primitives: u64,
    /// Storage buffers that a stage can have.
    pub(crate) max_storage_buffers: u32,
}

impl Accel {
    /// Loads the functions, if the extension is enabled.
    ///
    /// # Safety
    /// As [`Device::new`](super::Device::new).
    pub(super) unsafe fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        enabled: Features,
    ) -> Option<Self> {
        if !enabled.contains(Features::ACCELERATION_STRUCTURE) {
            return None;
        }
        let mut own = vk::PhysicalDeviceAccelerationStructurePropertiesKHR::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut own);
        // SAFETY: the handles are alive, by this function's contract. A device without the
        // extension does not write the structure.
        unsafe { instance.get_physical_device_properties2(physical_device, &mut all) };
        let max_storage_buffers = all
            .properties
            .limits
            .max_per_stage_descriptor_storage_buffers;
        Some(Self {
            raw: ash::khr::acceleration_structure::Device::new(instance, device),
            scratch_alignment: own
                .min_acceleration_structure_scratch_offset_alignment
                .max(1)
                .into(),
            max_instances: own.max_instance_count,
            max_primitives: own.max_primitive_count,
            max_storage_buffers,
        })
    }
}

/// The bytes that a structure and its build take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StructureSize {
    /// A multiple of [`STRUCTURE_ALIGNMENT`].
    pub(crate) bytes: u64,
    pub(crate) scratch: u64,
    /// Scratch memory of an update.
    pub(crate) update: u64,
}

impl StructureSize {
    /// The size of a structure whose geometries have at most so many primitives.
    pub(crate) fn of(
        accel: &Accel,
        info: &vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
        most: &[u32],
    ) -> Self {
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        // SAFETY: the geometries are valid for such a call, which reads no memory through their
        // addresses, and there is a number for each of them.
        unsafe {
            accel.raw.get_acceleration_structure_build_sizes(
                vk::AccelerationStructureBuildTypeKHR::DEVICE,
                info,
                most,
                &mut sizes,
            );
        }
        let bytes = sizes.acceleration_structure_size.max(1);
        let scratch = |bytes: u64| bytes.next_multiple_of(accel.scratch_alignment);
        Self {
            bytes: bytes.next_multiple_of(STRUCTURE_ALIGNMENT),
            scratch: scratch(sizes.build_scratch_size),
            update: scratch(sizes.update_scratch_size),
        }
    }
}
