//! The image that holds the picture.

use throng::ash::{self, vk};
use throng_standalone::{Begin, Context, StandaloneError, Target, TargetDesc};

const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
/// The background, as linear RGBA.
pub(crate) const BACKGROUND: [f32; 4] = [0.11, 0.13, 0.16, 1.0];

/// The start of rendering, with a colour behind everything.
pub(crate) fn begin(color: [f32; 4]) -> Begin {
    Begin {
        color,
        depth: 0.0,
        ..Begin::default()
    }
}

/// Creates the image with its depth image.
///
/// # Errors
/// Errors of the device.
pub(crate) fn new_target(
    context: &mut Context,
    extent: vk::Extent2D,
    multisampled: bool,
) -> Result<Target, StandaloneError> {
    let samples = if multisampled {
        vk::SampleCountFlags::TYPE_4
    } else {
        vk::SampleCountFlags::TYPE_1
    };
    let desc = TargetDesc {
        name: "picture",
        extent,
        depth_format: Some(DEPTH),
        samples,
        color_usage: vk::ImageUsageFlags::SAMPLED,
        ..TargetDesc::default()
    };
    Target::new(context, &desc)
}

/// Makes the picture readable for the fragment shader that draws it between the panels.
///
/// # Safety
/// `cmd` is recording, outside of rendering, and the image is as `Target::end` leaves it.
pub(crate) unsafe fn sampled(device: &ash::Device, cmd: vk::CommandBuffer, image: vk::Image) {
    let barriers = [vk::ImageMemoryBarrier2::default()
        .image(image)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        })
        .src_stage_mask(vk::PipelineStageFlags2::ALL_TRANSFER)
        .dst_stage_mask(vk::PipelineStageFlags2::FRAGMENT_SHADER)
        .dst_access_mask(vk::AccessFlags2::SHADER_SAMPLED_READ)
        .old_layout(vk::ImageLayout::TRANSFER_SRC_OPTIMAL)
        .new_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)];
    let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
    // SAFETY: the caller's command buffer is recording, outside of rendering.
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}
