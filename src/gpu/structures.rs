//! Buffers of acceleration structures.

use super::accel::{Accel, aligned};
use super::{Buffer, Destroy, Device, Features, Gpu, Guard, VkCall};
use crate::error::{Error, Result};
use ash::vk;

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
