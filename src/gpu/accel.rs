//! Acceleration structures: functions and limits of the device, and sizes.

use super::Features;
use ash::vk;

/// Offsets of structures in their buffer are multiples of this.
const STRUCTURE_ALIGNMENT: u64 = 256;

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
        let limits = all.properties.limits;
        let alignment = own.min_acceleration_structure_scratch_offset_alignment;
        Some(Self {
            raw: ash::khr::acceleration_structure::Device::new(instance, device),
            scratch_alignment: alignment.max(1).into(),
            max_instances: own.max_instance_count,
            max_primitives: own.max_primitive_count,
            max_storage_buffers: limits.max_per_stage_descriptor_storage_buffers,
        })
    }

    /// The bytes of a structure, and of the scratch memory of its builds and updates, if its
    /// geometries have at most so many primitives.
    pub(crate) fn sizes(
        &self,
        info: &vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
        most: &[u32],
    ) -> [u64; 2] {
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        let kind = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        // SAFETY: the geometries are valid for such a call, which reads no memory through their
        // addresses, and there is a number for each of them.
        unsafe {
            let raw = &self.raw;
            raw.get_acceleration_structure_build_sizes(kind, info, most, &mut sizes);
        }
        let updates = vk::BuildAccelerationStructureFlagsKHR::ALLOW_UPDATE;
        let update = match info.flags.contains(updates) {
            true => sizes.update_scratch_size,
            false => 0,
        };
        let scratch = sizes.build_scratch_size.max(update);
        [
            aligned(sizes.acceleration_structure_size),
            scratch.next_multiple_of(self.scratch_alignment),
        ]
    }
}

/// A multiple of [`STRUCTURE_ALIGNMENT`], and not 0.
pub(super) fn aligned(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(STRUCTURE_ALIGNMENT)
}
