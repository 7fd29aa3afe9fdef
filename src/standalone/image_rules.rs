//! Rules for the images of targets and swapchains, checked before Vulkan sees them.

use super::error::Check;
use super::{Context, Formats, Result, StandaloneError};
use ash::vk;

type Usage = vk::ImageUsageFlags;

/// Settings for a new [`Image`](super::image::Image).
pub(super) struct ImageDesc<'a> {
    pub(super) name: &'a str,
    pub(super) extent: vk::Extent2D,
    pub(super) format: vk::Format,
    pub(super) samples: vk::SampleCountFlags,
    pub(super) usage: vk::ImageUsageFlags,
}

/// Usage that needs no extension, for both kinds of attachment.
const CORE: Usage = Usage::from_raw(
    Usage::TRANSFER_SRC.as_raw()
        | Usage::TRANSFER_DST.as_raw()
        | Usage::SAMPLED.as_raw()
        | Usage::STORAGE.as_raw()
        | Usage::TRANSIENT_ATTACHMENT.as_raw()
        | Usage::INPUT_ATTACHMENT.as_raw(),
);

/// Usage that Vulkan does not allow for transient images.
const NOT_TRANSIENT: Usage = Usage::from_raw(
    Usage::TRANSFER_SRC.as_raw()
        | Usage::TRANSFER_DST.as_raw()
        | Usage::SAMPLED.as_raw()
        | Usage::STORAGE.as_raw(),
);

/// Fails if Vulkan or the device cannot draw with these formats and samples.
pub(super) fn check_formats(context: &Context, object: &str, formats: Formats) -> Result<()> {
    let kind = |field, format, rule| StandaloneError::FormatKind {
        object: object.to_owned(),
        field,
        format,
        rule,
    };
    let Formats {
        color,
        depth,
        samples,
    } = formats;
    if !is_color(color) {
        return Err(kind("color_format", color, "it must be a colour format"));
    }
    if let Some(depth) = depth.filter(|&format| !has_depth(format)) {
        return Err(kind("depth_format", depth, "it must have a depth aspect"));
    }
    let limits = &context.properties.limits;
    let supported = limits.framebuffer_color_sample_counts & limits.framebuffer_depth_sample_counts;
    if !supported.contains(samples) || samples.as_raw().count_ones() != 1 {
        return Err(StandaloneError::Samples {
            object: object.to_owned(),
            asked: samples,
            supported,
        });
    }
    if samples != vk::SampleCountFlags::TYPE_1 && is_integer(color) {
        let rule = "integer formats cannot be resolved, so `samples` must be 1";
        return Err(kind("color_format", color, rule));
    }
    let attachment = vk::FormatFeatureFlags::COLOR_ATTACHMENT;
    check_feature(context, object, "color_format", color, attachment)?;
    let attachment = vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT;
    depth.map_or(Ok(()), |format| {
        check_feature(context, object, "depth_format", format, attachment)
    })
}

fn check_feature(
    context: &Context,
    object: &str,
    field: &'static str,
    format: vk::Format,
    wanted: vk::FormatFeatureFlags,
) -> Result<()> {
    // SAFETY: the device belongs to this instance, and the format is one of core Vulkan.
    let found = unsafe {
        context
            .instance
            .get_physical_device_format_properties(context.physical_device, format)
    };
    let missing = wanted & !found.optimal_tiling_features;
    if missing.is_empty() {
        return Ok(());
    }
    Err(StandaloneError::Format {
        object: object.to_owned(),
        field,
        format,
        missing,
    })
}

/// Fails if the colour image of a target cannot have this additional usage.
pub(super) fn check_color_usage(object: &str, usage: Usage) -> Result<()> {
    let allowed = CORE | Usage::COLOR_ATTACHMENT;
    let refuse = |bits, rule| refuse(object, "color_usage", usage & bits, rule);
    refuse(
        Usage::TRANSIENT_ATTACHMENT,
        "the colour image is copied, which transient images do not allow",
    )?;
    refuse(
        Usage::DEPTH_STENCIL_ATTACHMENT,
        "a colour image cannot be a depth attachment",
    )?;
    refuse(!allowed, NOT_ENABLED)
}

/// Fails if the depth image cannot have this additional usage.
pub(super) fn check_depth_usage(
    context: &Context,
    object: &str,
    usage: Usage,
    samples: vk::SampleCountFlags,
) -> Result<()> {
    let allowed = CORE | Usage::DEPTH_STENCIL_ATTACHMENT;
    let refuse = |bits, rule| refuse(object, "depth_usage", usage & bits, rule);
    refuse(
        Usage::COLOR_ATTACHMENT,
        "a depth image cannot be a colour attachment",
    )?;
    refuse(!allowed, NOT_ENABLED)?;
    if usage.contains(Usage::TRANSIENT_ATTACHMENT) {
        let rule = "transient images cannot be copied, sampled or storage images";
        refuse(NOT_TRANSIENT, rule)?;
    }
    let stores = context.enabled.v10.shader_storage_image_multisample == vk::TRUE;
    if samples != vk::SampleCountFlags::TYPE_1 && !stores {
        let rule = "feature shader_storage_image_multisample is not enabled";
        refuse(Usage::STORAGE, rule)?;
    }
    Ok(())
}

const NOT_ENABLED: &str = "it needs an extension or feature that is not enabled";

/// Fails with `rule` if there are any such bits.
fn refuse(object: &str, field: &'static str, usage: Usage, rule: &'static str) -> Result<()> {
    if usage.is_empty() {
        return Ok(());
    }
    Err(StandaloneError::ImageUsage {
        object: object.to_owned(),
        field,
        usage,
        rule,
    })
}

/// Fails if the device does not support an image of this extent, format, usage and samples.
pub(super) fn check_image(context: &Context, desc: &ImageDesc<'_>) -> Result<()> {
    let limits = &context.properties.limits;
    let most = limits
        .max_image_dimension2_d
        .min(limits.max_framebuffer_width)
        .min(limits.max_framebuffer_height);
    check_extent(desc, most)?;
    // SAFETY: the device belongs to this instance. Format and usage are those of core Vulkan.
    let found = unsafe {
        context
            .instance
            .get_physical_device_image_format_properties(
                context.physical_device,
                desc.format,
                vk::ImageType::TYPE_2D,
                vk::ImageTiling::OPTIMAL,
                desc.usage,
                vk::ImageCreateFlags::empty(),
            )
    };
    let unsupported = StandaloneError::ImageUnsupported {
        name: desc.name.to_owned(),
        format: desc.format,
        usage: desc.usage,
        samples: desc.samples,
    };
    match found {
        Ok(found) if found.sample_counts.contains(desc.samples) => {
            check_extent(desc, found.max_extent.width.min(found.max_extent.height))
        }
        Ok(_) | Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => Err(unsupported),
        Err(result) => Err(result).check("vkGetPhysicalDeviceImageFormatProperties"),
    }
}

fn check_extent(desc: &ImageDesc<'_>, max: u32) -> Result<()> {
    let vk::Extent2D { width, height } = desc.extent;
    if (1..=max).contains(&width) && (1..=max).contains(&height) {
        return Ok(());
    }
    Err(StandaloneError::Extent {
        name: desc.name.to_owned(),
        width,
        height,
        max,
    })
}

/// Returns true for colour formats of core Vulkan that are not compressed and have one plane.
fn is_color(format: vk::Format) -> bool {
    let range = vk::Format::R4G4_UNORM_PACK8..=vk::Format::E5B9G9R9_UFLOAT_PACK32;
    range.contains(&format)
        || format == vk::Format::A4R4G4B4_UNORM_PACK16
        || format == vk::Format::A4B4G4R4_UNORM_PACK16
}

fn has_depth(format: vk::Format) -> bool {
    aspect(format).contains(vk::ImageAspectFlags::DEPTH)
}

fn is_integer(format: vk::Format) -> bool {
    // In core Vulkan, the signed format of each layout follows the unsigned one.
    const UINT: [vk::Format; 21] = [
        vk::Format::R8_UINT,
        vk::Format::R8G8_UINT,
        vk::Format::R8G8B8_UINT,
        vk::Format::B8G8R8_UINT,
        vk::Format::R8G8B8A8_UINT,
        vk::Format::B8G8R8A8_UINT,
        vk::Format::A8B8G8R8_UINT_PACK32,
        vk::Format::A2R10G10B10_UINT_PACK32,
        vk::Format::A2B10G10R10_UINT_PACK32,
        vk::Format::R16_UINT,
        vk::Format::R16G16_UINT,
        vk::Format::R16G16B16_UINT,
        vk::Format::R16G16B16A16_UINT,
        vk::Format::R32_UINT,
        vk::Format::R32G32_UINT,
        vk::Format::R32G32B32_UINT,
        vk::Format::R32G32B32A32_UINT,
        vk::Format::R64_UINT,
        vk::Format::R64G64_UINT,
        vk::Format::R64G64B64_UINT,
        vk::Format::R64G64B64A64_UINT,
    ];
    UINT.iter()
        .any(|uint| [uint.as_raw(), uint.as_raw() + 1].contains(&format.as_raw()))
}

/// The aspects of a format.
pub(super) fn aspect(format: vk::Format) -> vk::ImageAspectFlags {
    use vk::ImageAspectFlags as Aspect;
    match format {
        vk::Format::D16_UNORM | vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D32_SFLOAT => {
            Aspect::DEPTH
        }
        vk::Format::D16_UNORM_S8_UINT
        | vk::Format::D24_UNORM_S8_UINT
        | vk::Format::D32_SFLOAT_S8_UINT => Aspect::DEPTH | Aspect::STENCIL,
        vk::Format::S8_UINT => Aspect::STENCIL,
        _ => Aspect::COLOR,
    }
}
