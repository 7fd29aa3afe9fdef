//! Errors of the standalone module, with the numbers and names that locate the cause.

use super::{Rejected, advice};
use ash::vk;

/// An error of the standalone module.
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
    /// The device stopped working. Destroy everything and create a new context.
    #[error("{call}: the device is lost")]
    DeviceLost {
        /// The name of the call that reported it.
        call: &'static str,
    },
    /// The window's surface can no longer be used.
    ///
    /// Destroy the swapchain, and create another one with a new
    /// [`Context::surface`](super::Context::surface).
    #[error("{call}: the window's surface is lost")]
    SurfaceLost {
        /// The name of the call that reported it.
        call: &'static str,
    },
    /// No Vulkan driver is installed, or none of them works.
    ///
    /// This is what `vkCreateInstance` means by `ERROR_INCOMPATIBLE_DRIVER`.
    #[error("there is no Vulkan driver that works: {}", advice::driver())]
    NoDriver,
    /// There is no Vulkan loader on this machine.
    #[error("there is no Vulkan loader: {}", advice::LOADER)]
    Loader {
        /// The error of the dynamic linker.
        #[source]
        source: ash::LoadingError,
    },
    /// The Vulkan loader is older than version 1.3.
    #[error(
        "the Vulkan loader supports Vulkan {major}.{minor}, but 1.3 is required: update it and \
         the driver of the graphics card"
    )]
    OldLoader {
        /// Major version of the loader.
        major: u32,
        /// Minor version of the loader.
        minor: u32,
    },
    /// Validation was asked for, and its layer is not installed.
    #[error(
        "layer {layer} is not installed, but validation was requested: {}",
        advice::LAYER
    )]
    MissingLayer {
        /// The layer's name.
        layer: String,
    },
    /// A required instance extension is not offered.
    #[error(
        "instance extension {extension} is not available{}",
        advice_on_extension(extension)
    )]
    MissingInstanceExtension {
        /// The extension's name.
        extension: String,
    },
    /// No device is suitable, or none matches the one that was asked for.
    #[error("no suitable Vulkan device{}{}", asked_for(.asked.as_deref()), listed(.devices))]
    NoDevice {
        /// The index or part of a name that was asked for.
        asked: Option<String>,
        /// Every device that was found, with the reason against it.
        devices: Vec<Rejected>,
    },
    /// Device memory could not be allocated or freed.
    #[error("cannot allocate memory for `{name}`")]
    Allocator {
        /// The debug name of the buffer or image, or `allocator` itself.
        name: String,
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
        /// The usage, with the flags that this module adds.
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
        /// The largest size that the device supports.
        max: u64,
    },
    /// A buffer or image is larger than the memory that it could be in.
    #[error("`{name}` needs {size} bytes of memory: the largest suitable heap has {max}")]
    MemorySize {
        /// The debug name of the buffer or image.
        name: String,
        /// The size that it needs in bytes.
        size: u64,
        /// The size of the largest heap that it could be in.
        max: u64,
    },
    /// A range of bytes lies outside of its buffer.
    #[error(
        "buffer `{name}` has {len} bytes: a range of {size} at offset {offset} is empty or \
         exceeds them"
    )]
    Range {
        /// The buffer's debug name.
        name: String,
        /// Offset of the first byte.
        offset: u64,
        /// Number of bytes.
        size: u64,
        /// Size of the buffer in bytes.
        len: u64,
    },
    /// An object was used with a context that it was not created with.
    #[error("{object} was created with another context")]
    ForeignContext {
        /// The kind of object, with its debug name if it has one.
        object: String,
    },
    /// A frame can acquire only one image.
    #[error("frame {frame_index} has already acquired an image")]
    FrameHasImage {
        /// Index of the frame in flight.
        frame_index: usize,
    },
    /// An image was presented before it was submitted with its frame.
    #[error("swapchain image {index} must be submitted before it is presented")]
    NotSubmitted {
        /// The image's index in its swapchain.
        index: u32,
    },
    /// The buffer's memory is not accessible from the CPU.
    #[error("buffer `{name}` is not mapped")]
    NotMapped {
        /// The buffer's debug name.
        name: String,
    },
}

/// The result type of this module.
pub type Result<T, E = StandaloneError> = std::result::Result<T, E>;

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

fn advice_on_extension(extension: &str) -> String {
    match extension.ends_with("_surface") {
        true => format!(
            ": no Vulkan driver can draw to windows of this system: {}",
            advice::driver()
        ),
        false => String::new(),
    }
}

fn asked_for(asked: Option<&str>) -> String {
    asked.map_or_else(String::new, |asked| format!(" matches `{asked}`"))
}

fn listed(devices: &[Rejected]) -> String {
    if devices.is_empty() {
        return format!(": there are no devices: {}", advice::driver());
    }
    devices.iter().map(|device| format!("; {device}")).collect()
}
