//! Devices as reports describe them: names, drivers, and the reasons for rejecting them.

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
        write!(
            f,
            "{} ({} {}, Vulkan ",
            self.name, self.driver, self.driver_info
        )?;
        version(f, self.api_version)?;
        write!(f, ")")
    }
}

/// A reason for rejecting a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The device supports only a version of Vulkan before 1.3.
    Version {
        /// The version that it supports.
        found: u32,
    },
    /// No queue family meets the requirements.
    ///
    /// It must have graphics and compute, and must present to the window if there is one.
    Queue,
    /// A core feature is missing.
    Feature(&'static str),
    /// A device extension is missing.
    Extension(String),
    /// The driver could not be asked what it supports: the error.
    Failed(String),
    /// Nothing is missing, but another device was asked for.
    NotAskedFor,
}

/// A rejected device, and the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceReport {
    /// The device.
    pub info: DeviceInfo,
    /// Everything that is missing.
    pub missing: Vec<Missing>,
}

impl fmt::Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.info.index, self.info)?;
        for missing in &self.missing {
            match missing {
                Missing::Version { found } => {
                    write!(f, ", supports only Vulkan ")?;
                    version(f, *found)?;
                }
                Missing::Queue => write!(f, ", has no suitable queue family")?,
                Missing::Feature(name) => write!(f, ", does not support feature {name}")?,
                Missing::Extension(name) => write!(f, ", does not support extension {name}")?,
                Missing::Failed(error) => write!(f, ", could not be inspected ({error})")?,
                Missing::NotAskedFor => write!(f, ", is not the requested device")?,
            }
        }
        Ok(())
    }
}

fn version(f: &mut fmt::Formatter<'_>, v: u32) -> fmt::Result {
    write!(
        f,
        "{}.{}.{}",
        vk::api_version_major(v),
        vk::api_version_minor(v),
        vk::api_version_patch(v)
    )
}
