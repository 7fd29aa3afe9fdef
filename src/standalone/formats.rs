//! The formats and sample count of a render pass.

use super::{Context, Result, StandaloneError};
use ash::vk;

/// The formats of a render pass, as needed to create a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats {
    /// Format of the colour attachment.
    pub color: vk::Format,
    /// Format of the depth attachment, if there is one.
    pub depth: Option<vk::Format>,
    /// Samples of both attachments. More than one are resolved (averaged) at the end.
    pub samples: vk::SampleCountFlags,
}

impl Formats {
    /// Fails if the device cannot draw with these formats and samples.
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
    // SAFETY: the device belongs to this instance.
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
