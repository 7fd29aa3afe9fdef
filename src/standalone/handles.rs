//! The read-only part of a context.

use super::{DeviceInfo, FeatureSet};
use ash::vk;
use std::ffi::CString;
use std::fmt;

/// Read-only handles and properties of a [`Context`](super::Context).
///
/// They cannot be changed through the context, because every object created with it relies on them.
///
/// ```compile_fail,E0594
/// # use throng::{ash::vk, standalone::Context};
/// fn not_possible(context: &mut Context) {
///     context.queue = vk::Queue::null();
/// }
/// ```
#[non_exhaustive]
pub struct Handles {
    /// The device.
    ///
    /// A clone costs some kilobytes of function pointers and borrows nothing. Clone it to keep
    /// using the device while the context is borrowed mutably. Destroy what you create with it
    /// before the context is dropped.
    pub device: ash::Device,
    /// The device's one queue, for graphics, compute and, if there is a window, presenting.
    pub queue: vk::Queue,
    /// Index of the family of `queue`.
    pub queue_family: u32,
    /// Valid bits of a timestamp on `queue`. It is 0 if timestamps are not supported.
    pub timestamp_bits: u32,
    /// The Vulkan entry points.
    pub entry: ash::Entry,
    /// The instance.
    pub instance: ash::Instance,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
    /// Limits and identifiers of the device.
    pub properties: vk::PhysicalDeviceProperties,
    /// Names of the device and its driver.
    pub info: DeviceInfo,
    /// The features that are enabled.
    pub enabled: FeatureSet,
    /// The device extensions that are enabled, sorted.
    pub extensions: Vec<CString>,
    /// True if objects can be named and commands labelled.
    pub debug_utils: bool,
    /// True if validation is on and checks for hazards across submissions.
    pub across_submits: bool,
    /// Transient command pool of `queue_family`, for one-off work.
    pub command_pool: vk::CommandPool,
}

impl fmt::Debug for Handles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handles")
            .field("info", &self.info)
            .field("queue_family", &self.queue_family)
            .finish_non_exhaustive()
    }
}
