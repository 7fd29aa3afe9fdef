//! Two-dimensional images with their memory and one view, used for attachments.

use crate::context::Handles;
use crate::error::Check;
use crate::{Result, StandaloneError};
use ash::vk;
use gpu_allocator::MemoryLocation;
use std::rc::Rc;

type Usage = vk::ImageUsageFlags;

pub(crate) struct ImageDesc<'a> {
    pub(crate) name: &'a str,
    pub(crate) extent: vk::Extent2D,
    pub(crate) format: vk::Format,
    pub(crate) samples: vk::SampleCountFlags,
    pub(crate) attachment: Usage,
    pub(crate) usage: Usage,
}

/// An image with one mip level and one layer, in device-local memory.
pub(crate) struct Image {
    pub(crate) handles: Rc<Handles>,
    pub(crate) handle: vk::Image,
    pub(crate) view: vk::ImageView,
    memory: vk::DeviceMemory,
}

impl Image {
    pub(crate) fn new(handles: &Rc<Handles>, desc: &ImageDesc<'_>) -> Result<Self> {
        check(handles, desc)?;
        // An error drops it, which destroys what there is.
        let mut image = Self {
            handles: handles.clone(),
            handle: vk::Image::null(),
            view: vk::ImageView::null(),
            memory: vk::DeviceMemory::null(),
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(desc.format)
            .extent(desc.extent.into())
            .mip_levels(1)
            .array_layers(1)
            .samples(desc.samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(desc.attachment | desc.usage);
        let device = &handles.device;
        // SAFETY: the device is alive and supports this image, as was just checked. Its memory is
        // made for it and lives as long.
        unsafe {
            image.handle = device.create_image(&info, None).check("vkCreateImage")?;
            handles.set_name(image.handle, desc.name)?;
            let needs = device.get_image_memory_requirements(image.handle);
            let memory = handles.allocate(&needs, MemoryLocation::GpuOnly)?;
            image.memory = memory.ok_or_else(|| refused(desc, "no heap is large enough"))?;
            let bound = device.bind_image_memory(image.handle, image.memory, 0);
            bound.check("vkBindImageMemory")?;
            image.view = view(handles, image.handle, desc.format)?;
            handles.set_name(image.view, desc.name)?;
        }
        Ok(image)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if self.handles.may_destroy("an image") {
            // SAFETY: the handles are of this device, which is idle. Null is ignored.
            unsafe {
                self.handles.device.destroy_image_view(self.view, None);
                self.handles.device.destroy_image(self.handle, None);
                self.handles.device.free_memory(self.memory, None);
            }
        }
    }
}

/// Creates the view of the only mip level and layer.
///
/// # Safety
///
/// The image is alive and of this format, and has memory.
pub(crate) unsafe fn view(
    handles: &Handles,
    image: vk::Image,
    format: vk::Format,
) -> Result<vk::ImageView> {
    let info = vk::ImageViewCreateInfo::default()
        .image(image)
        .view_type(vk::ImageViewType::TYPE_2D)
        .format(format)
        .subresource_range(whole(aspect(format)));
    // SAFETY: the caller guarantees it.
    unsafe { handles.device.create_image_view(&info, None) }.check("vkCreateImageView")
}

fn refused(desc: &ImageDesc<'_>, rule: &'static str) -> StandaloneError {
    StandaloneError::Image {
        name: desc.name.to_owned(),
        format: desc.format,
        extent: desc.extent,
        samples: desc.samples,
        usage: desc.attachment | desc.usage,
        rule,
    }
}

/// Fails if Vulkan or the device does not allow the image.
fn check(context: &Handles, desc: &ImageDesc<'_>) -> Result<()> {
    let refuse = |rule| Err(refused(desc, rule));
    let is_depth = desc.attachment == Usage::DEPTH_STENCIL_ATTACHMENT;
    let fits = match is_depth {
        true => aspect(desc.format).contains(vk::ImageAspectFlags::DEPTH),
        false => is_color(desc.format),
    };
    if !fits {
        return refuse("the format is not one for colour, or for depth");
    }
    let mut allowed = Usage::TRANSFER_SRC | Usage::TRANSFER_DST | Usage::SAMPLED;
    allowed |= Usage::INPUT_ATTACHMENT | desc.attachment;
    if !is_depth {
        allowed |= Usage::STORAGE;
    }
    if !allowed.contains(desc.usage) {
        return refuse("the usage is not allowed for this attachment");
    }
    let (instance, device) = (&context.instance, context.physical_device);
    // SAFETY: the device belongs to this instance. Format and usage are those of core Vulkan.
    let found = unsafe {
        instance.get_physical_device_image_format_properties(
            device,
            desc.format,
            vk::ImageType::TYPE_2D,
            vk::ImageTiling::OPTIMAL,
            desc.attachment | desc.usage,
            vk::ImageCreateFlags::empty(),
        )
    };
    let found = match found {
        Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => {
            return refuse("the device does not support the format with this usage");
        }
        found => found.check("vkGetPhysicalDeviceImageFormatProperties")?,
    };
    let limits = &context.properties.limits;
    let most = |found: u32, limit: u32| 1..=found.min(limit);
    let widths = most(found.max_extent.width, limits.max_framebuffer_width);
    let heights = most(found.max_extent.height, limits.max_framebuffer_height);
    if !widths.contains(&desc.extent.width) || !heights.contains(&desc.extent.height) {
        return refuse("the device does not support the size");
    }
    let samples = found.sample_counts
        & limits.framebuffer_color_sample_counts
        & limits.framebuffer_depth_sample_counts;
    if desc.samples.as_raw().count_ones() != 1 || !samples.contains(desc.samples) {
        return refuse("the device does not support the samples");
    }
    // SAFETY: the device belongs to this instance, and the format is one of core Vulkan.
    let found = unsafe { instance.get_physical_device_format_properties(device, desc.format) };
    // Integer formats can be neither blended nor resolved.
    let blends = found
        .optimal_tiling_features
        .contains(vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND);
    if !is_depth && desc.samples != vk::SampleCountFlags::TYPE_1 && !blends {
        return refuse("the format cannot be resolved, so there must be one sample");
    }
    Ok(())
}

/// Returns true for colour formats of core Vulkan that are not compressed and have one plane.
fn is_color(format: vk::Format) -> bool {
    let range = vk::Format::R4G4_UNORM_PACK8..=vk::Format::E5B9G9R9_UFLOAT_PACK32;
    range.contains(&format)
}

pub(crate) fn aspect(format: vk::Format) -> vk::ImageAspectFlags {
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

/// The range of the only mip level and layer.
pub(crate) fn whole(aspect: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange::default()
        .aspect_mask(aspect)
        .level_count(1)
        .layer_count(1)
}

/// Stages, their access to an image, and its layout for them.
pub(crate) type Use = (vk::PipelineStageFlags2, vk::AccessFlags2, vk::ImageLayout);

/// A barrier between two uses of a whole image.
pub(crate) fn transition(
    image: vk::Image,
    aspect: vk::ImageAspectFlags,
    before: Use,
    after: Use,
) -> vk::ImageMemoryBarrier2<'static> {
    vk::ImageMemoryBarrier2::default()
        .image(image)
        .subresource_range(whole(aspect))
        .src_stage_mask(before.0)
        .src_access_mask(before.1)
        .old_layout(before.2)
        .dst_stage_mask(after.0)
        .dst_access_mask(after.1)
        .new_layout(after.2)
}

/// Records image barriers.
///
/// # Safety
///
/// `cmd` is recording outside of rendering, and the images are in their old layouts.
pub(crate) unsafe fn barrier(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    barriers: &[vk::ImageMemoryBarrier2<'_>],
) {
    let info = vk::DependencyInfo::default().image_memory_barriers(barriers);
    // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}
