//! The formats and sample count of a render pass.

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
