//! Acceleration structures: the functions of their extension, buffers of structures, and sizes.

use super::{Buffer, Destroy, Device, Features, Gpu, Guard, VkCall};
use crate::error::{Error, Result};
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
    /// As [`Device::new`].
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

/// Acceleration structures in a buffer.
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
    /// Creates structures of these sizes, which are multiples of [`STRUCTURE_ALIGNMENT`].
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
        let accel = gpu.device.accel("acceleration structures")?;
        let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let buffer = Buffer::device_local(gpu, name, sizes.iter().sum(), usage)?;
        let all = Vec::with_capacity(sizes.len());
        let mut made = buffer.map(|buffer| Self { buffer, all });
        let mut offset = 0;
        for size in sizes {
            let info = vk::AccelerationStructureCreateInfoKHR::default()
                .buffer(made.buffer.handle)
                .offset(offset)
                .size(*size)
                .ty(kind);
            offset += size;
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

    /// Bytes of the buffer.
    pub(crate) fn bytes(&self) -> u64 {
        self.buffer.bytes
    }
}
