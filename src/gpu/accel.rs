//! Acceleration structures: functions and limits of the device, sizes, and buffers of structures.

use super::{Buffer, Destroy, Device, Features, Gpu, Guard, VkCall};
use crate::error::{Error, Result};
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

impl Device {
    /// The functions of acceleration structures.
    ///
    /// # Errors
    /// [`Error::NotEnabled`] for `what` if the engine did not enable them.
    pub(crate) fn accel(&self, what: &'static str) -> Result<&Accel> {
        self.accel.as_ref().ok_or_else(|| Error::NotEnabled {
            what,
            missing: Features::ACCELERATION_STRUCTURE.names(),
        })
    }
}

fn aligned(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(STRUCTURE_ALIGNMENT)
}

/// Acceleration structures in a buffer. By default, there are none.
#[derive(Debug, Default)]
pub(crate) struct Structures {
    buffer: Buffer,
    all: Vec<(vk::AccelerationStructureKHR, vk::DeviceAddress)>,
}

impl Destroy for Structures {
    type With<'a> = Gpu<'a>;

    unsafe fn destroy(&mut self, gpu: Gpu<'_>) {
        // SAFETY: the structures are this device's and not in use, by this function's contract.
        unsafe {
            if let Some(accel) = &gpu.device.accel {
                for (structure, _) in self.all.drain(..) {
                    accel.raw.destroy_acceleration_structure(structure, None);
                }
            }
            self.buffer.destroy(gpu);
        }
    }
}

impl Structures {
    /// Creates structures of these sizes in bytes.
    ///
    /// # Errors
    /// - [`Error::NotEnabled`] without the extension.
    /// - [`Error::Memory`] and [`Error::Vulkan`] from the device.
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        name: &str,
        kind: vk::AccelerationStructureTypeKHR,
        sizes: &[u64],
    ) -> Result<Guard<'g, Self>> {
        let mut made = Guard::new(gpu, Self::default());
        if sizes.is_empty() {
            return Ok(made);
        }
        let accel = gpu.device.accel("acceleration structures")?;
        let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let bytes = sizes.iter().map(|size| aligned(*size)).sum();
        made.buffer = Buffer::device_local(gpu, name, bytes, usage)?.keep();
        let mut offset = 0;
        for size in sizes {
            let info = vk::AccelerationStructureCreateInfoKHR::default()
                .buffer(made.buffer.handle)
                .offset(offset)
                .size(aligned(*size))
                .ty(kind);
            offset += aligned(*size);
            // SAFETY: the buffer is alive, has the usage, and space for the structure.
            let structure = unsafe { accel.raw.create_acceleration_structure(&info, None) };
            let structure = structure.call("vkCreateAccelerationStructureKHR")?;
            let info = vk::AccelerationStructureDeviceAddressInfoKHR::default()
                .acceleration_structure(structure);
            // SAFETY: the structure was just created.
            let address = unsafe { accel.raw.get_acceleration_structure_device_address(&info) };
            gpu.device.set_name(structure, name);
            made.all.push((structure, address));
        }
        Ok(made)
    }

    /// The structures with their addresses.
    pub(crate) fn all(&self) -> &[(vk::AccelerationStructureKHR, vk::DeviceAddress)] {
        &self.all
    }

    /// The number of structures.
    pub(crate) fn count(&self) -> u32 {
        self.all.len() as u32
    }

    /// Bytes of the buffer.
    pub(crate) fn bytes(&self) -> u64 {
        self.buffer.bytes
    }
}
