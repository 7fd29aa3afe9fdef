//! What a context has for reading.

use super::{DeviceInfo, FeatureSet};
use ash::vk;
use std::ffi::CString;
use std::fmt;

/// What a [`Context`](super::Context) has for reading. It can't be changed through the context:
/// everything that is made with it relies on it.
///
/// ```compile_fail,E0594
/// # use throng::{ash::vk, standalone::Context};
/// fn not_possible(context: &mut Context) {
///     context.queue = vk::Queue::null();
/// }
/// ```
#[non_exhaustive]
pub struct Handles {
    /// The device. A clone of it is some kilobytes of function pointers, and borrows nothing:
    /// for where the context is borrowed mutably meanwhile.
    pub device: ash::Device,
    /// Its one queue: graphics, compute, and presenting where there is a window.
    pub queue: vk::Queue,
    /// The family of `queue`.
    pub queue_family: u32,
    /// Valid bits of a timestamp on `queue`; 0 where there are none.
    pub timestamp_bits: u32,
    /// The Vulkan entry points.
    pub entry: ash::Entry,
    /// The instance.
    pub instance: ash::Instance,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
    /// Its limits and identifiers.
    pub properties: vk::PhysicalDeviceProperties,
    /// Its name and its driver's.
    pub info: DeviceInfo,
    /// The features that are enabled.
    pub enabled: FeatureSet,
    /// The device extensions that are enabled, sorted.
    pub extensions: Vec<CString>,
    /// Whether objects can be named and commands labelled.
    pub debug_utils: bool,
    /// Whether validation is on and looks for hazards across submissions.
    pub across_submits: bool,
    /// Transient pool of `queue_family`, for one-off work.
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
