//! The names of a device, for people.

use ash::vk;
use std::fmt;

/// A device and its driver, for display and for the header of a benchmark table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Position in the instance's list of devices.
    pub index: usize,
    /// The device's name.
    pub name: String,
    /// The driver's name, such as `llvmpipe`.
    pub driver: String,
    /// The driver's own description of itself, such as its version.
    pub driver_info: String,
    /// The Vulkan version that the device supports.
    pub api_version: u32,
    /// Discrete, integrated, virtual or CPU.
    pub kind: vk::PhysicalDeviceType,
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.api_version;
        write!(
            f,
            "{} ({} {}, Vulkan {}.{}.{})",
            self.name,
            self.driver,
            self.driver_info,
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version)
        )
    }
}
