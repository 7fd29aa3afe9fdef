//! The settings of a context.

use super::{FeatureSet, Validation};
use std::ffi::CStr;
use std::fmt;

/// The environment variable that selects a device.
///
/// Its value is an index, or a part of the device's name in any case. It takes precedence over
/// [`ContextDesc::device`].
pub const DEVICE_VARIABLE: &str = "THRONG_DEVICE";

/// Settings for a new [`Context`](super::Context).
#[derive(Clone, Copy)]
pub struct ContextDesc<'a> {
    /// The application's name, for drivers and tools.
    pub app_name: &'a str,
    /// The Vulkan entry points to use. `None` loads the system's Vulkan loader.
    ///
    /// Set it if the program has loaded Vulkan already, or links it statically, as is usual on iOS.
    pub entry: Option<&'a ash::Entry>,
    /// Switches the validation layer on or off.
    pub validation: Validation,
    /// Index of the device, or a part of its name. `None` takes the best device.
    ///
    /// The environment variable `THRONG_DEVICE` takes precedence over this field.
    pub device: Option<&'a str>,
    /// Features that a device must support.
    ///
    /// [`Device::required_features`](crate::gpu::Device::required_features) are always included.
    pub required: FeatureSet,
    /// Features to enable if the device supports them.
    ///
    /// The default is the set of features that throng makes use of.
    pub optional: FeatureSet,
    /// Device extensions that a device must offer.
    ///
    /// The swapchain extension is included if there is a window.
    pub required_extensions: &'a [&'a CStr],
    /// Device extensions to enable if the device offers them.
    pub optional_extensions: &'a [&'a CStr],
}

impl Default for ContextDesc<'_> {
    fn default() -> Self {
        Self {
            app_name: "throng",
            entry: None,
            validation: Validation::Off,
            device: None,
            required: FeatureSet::default(),
            optional: FeatureSet::useful(),
            required_extensions: &[],
            optional_extensions: &[],
        }
    }
}

impl fmt::Debug for ContextDesc<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextDesc")
            .field("app_name", &self.app_name)
            .field("own_entry", &self.entry.is_some())
            .field("validation", &self.validation)
            .field("device", &self.device)
            .field("required", &self.required)
            .field("optional", &self.optional)
            .field("required_extensions", &self.required_extensions)
            .field("optional_extensions", &self.optional_extensions)
            .finish()
    }
}
