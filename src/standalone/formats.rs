//! The formats and samples of a pass, and whether the device has them.

use super::{Context, Result, StandaloneError};
use ash::vk;

/// The formats of a pass, as a pipeline wants to know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats {
    /// Colour.
    pub color: vk::Format,
    /// Depth, if there is any.
    pub depth: Option<vk::Format>,
    /// Samples of both. More than one are resolved (averaged) at the end.
    pub samples: vk::SampleCountFlags,
}

impl Formats {
    /// Fails where the device cannot draw with these.
    pub(super) fn check(self, context: &Context) -> Result<()> {
        let limits = &context.properties.limits;
        let supported =
            limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts;
        if !supported.contains(self.samples) || self.samples.as_raw().count_ones() != 1 {
            let asked = self.samples;
            return Err(StandaloneError::Samples { asked, supported });
        }
        check_format(
            context,
            self.color,
            vk::FormatFeatureFlags::COLOR_ATTACHMENT,
        )?;
        let depth = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
        self.depth
            .map_or(Ok(()), |format| check_format(context, format, depth))
    }
}

fn check_format(
    context: &Context,
    format: vk::Format,
    wanted: vk::FormatFeatureFlags,
) -> Result<()> {
    // SAFETY: the device is of this instance.
    let found = unsafe {
        context
            .instance
            .get_physical_device_format_properties(context.physical_device, format)
    };
    let missing = wanted & !found.optimal_tiling_features;
    if missing.is_empty() {
        return Ok(());
    }
    Err(StandaloneError::Format { format, missing })
}
