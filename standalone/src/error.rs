//! Errors of this crate, with the numbers and names that locate the cause.

use crate::advice;
use ash::vk;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StandaloneError {
    /// A Vulkan call failed.
    #[error("{call} returned {result:?}")]
    Vulkan {
        /// The name of the call, as in the specification.
        call: &'static str,
        /// The result that it returned.
        result: vk::Result,
    },
    /// The device stopped working. Drop everything and create a new context.
    #[error("{call}: the device is lost")]
    DeviceLost {
        /// The name of the call that reported it.
        call: &'static str,
    },
    /// The window's surface can no longer be used.
    ///
    /// Drop the swapchain and create another one.
    #[error("{call}: the window's surface is lost")]
    SurfaceLost {
        /// The name of the call that reported it.
        call: &'static str,
    },
    /// This machine lacks the Vulkan loader, a driver, a layer or an extension, or they are broken.
    #[error("{what}{}", after(advice))]
    Missing {
        /// Its name, with what is wrong.
        what: String,
        /// Advice for the user, if there is any.
        advice: String,
    },
    /// No device is suitable, or none matches the one that was asked for.
    #[error("no suitable Vulkan device{}{}", asked_for(.asked.as_deref()), listed(.devices))]
    NoDevice {
        /// The index or part of a name that was asked for.
        asked: Option<String>,
        /// Every device that was found: its index and names, and the reason against it.
        devices: Vec<(String, String)>,
    },
    /// The allocator of throng's memory cannot be created.
    #[error("cannot create the allocator of device memory")]
    Allocator {
        /// The error of the allocator.
        #[source]
        source: gpu_allocator::AllocationError,
    },
    /// The window has no usable handle.
    #[error("the window returned no handle: {reason}")]
    Window {
        /// The error that the window returned.
        reason: raw_window_handle::HandleError,
    },
    /// The device's queue cannot present to this surface.
    #[error("queue family {queue_family} cannot present to this surface")]
    Surface {
        /// Index of the context's queue family.
        queue_family: u32,
    },
    /// An image of a target or swapchain cannot be created.
    #[error(
        "image `{name}` of {format:?} with {} × {} texels, samples {samples:?} and usage {usage:?}: \
         {rule}",
        extent.width,
        extent.height
    )]
    Image {
        /// The image's debug name.
        name: String,
        /// The format.
        format: vk::Format,
        /// Width and height in texels.
        extent: vk::Extent2D,
        /// The samples.
        samples: vk::SampleCountFlags,
        /// The usage, with the flags that are always added.
        usage: vk::ImageUsageFlags,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// The format cannot be converted to RGBA bytes.
    #[error("format {format:?} does not have four 8-bit channels")]
    NotRgba8 {
        /// The format.
        format: vk::Format,
    },
    /// A buffer is empty or too large, or its usage needs an extension.
    #[error(
        "buffer `{name}`: {size} bytes with usage {usage:?}: the size must be 1 to {max}, and the \
         usage must need no extension"
    )]
    Buffer {
        /// The buffer's debug name.
        name: String,
        /// The size in bytes.
        size: u64,
        /// The usage that was asked for.
        usage: vk::BufferUsageFlags,
        /// The largest size that the device supports. A heap of memory may be smaller.
        max: u64,
    },
    /// A range of bytes lies outside of its buffer, or of its mapped bytes.
    #[error(
        "buffer `{name}` has {len} bytes here, which a range of {size} at offset {offset} exceeds"
    )]
    Range {
        /// The buffer's debug name.
        name: String,
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        size: u64,
        /// Size of the buffer in bytes, or 0 if it would have to be mapped and is not.
        len: u64,
    },
    /// The validation layer has reported something.
    #[error("the validation layer objects:\n{}", .messages.join("\n"))]
    Validation {
        /// All [messages](crate::Messages).
        messages: Vec<String>,
    },
}

pub(crate) type Result<T, E = StandaloneError> = std::result::Result<T, E>;

/// Converts a Vulkan result to an error that names the call.
pub(crate) trait Check<T> {
    fn check(self, call: &'static str) -> Result<T, StandaloneError>;
}

impl<T> Check<T> for Result<T, vk::Result> {
    fn check(self, call: &'static str) -> Result<T, StandaloneError> {
        self.map_err(|result| match result {
            vk::Result::ERROR_DEVICE_LOST => StandaloneError::DeviceLost { call },
            vk::Result::ERROR_SURFACE_LOST_KHR => StandaloneError::SurfaceLost { call },
            result => StandaloneError::Vulkan { call, result },
        })
    }
}

fn after(advice: &str) -> String {
    match advice {
        "" => String::new(),
        advice => format!(": {advice}"),
    }
}

fn asked_for(asked: Option<&str>) -> String {
    asked.map_or_else(String::new, |asked| format!(" matches `{asked}`"))
}

fn listed(devices: &[(String, String)]) -> String {
    if devices.is_empty() {
        return format!(": there are no devices: {}", advice::driver());
    }
    let line = |(device, why): &(String, String)| format!("; {device}: {why}");
    devices.iter().map(line).collect()
}
