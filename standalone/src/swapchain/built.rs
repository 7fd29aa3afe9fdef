//! One Vulkan swapchain, with all objects that depend on its extent and number of images.

use crate::attachments::{Attachments, Final};
use crate::error::Check;
use crate::image::whole;
use crate::owner::{Destroy, Idle};
use crate::{Context, Formats, Result, Surface};
use ash::{khr, vk};

/// A swapchain, its images and its attachments.
pub(super) struct Built {
    pub(super) handle: vk::SwapchainKHR,
    pub(super) attachments: Attachments,
    images: Vec<Presentable>,
}

/// An image of the swapchain, and the semaphore that its present waits for.
#[derive(Clone, Copy)]
pub(super) struct Presentable {
    pub(super) target: Final,
    pub(super) rendered: vk::Semaphore,
}

impl Built {
    /// `extent` is within the surface's capabilities and not empty. `old` may be null.
    pub(super) fn new(
        context: &mut Context,
        (loader, surface): (&khr::swapchain::Device, &Surface),
        capabilities: &vk::SurfaceCapabilitiesKHR,
        (format, formats, extent): (vk::SurfaceFormatKHR, Formats, vk::Extent2D),
        old: vk::SwapchainKHR,
    ) -> Result<Self> {
        let none = vk::ImageUsageFlags::empty();
        let kind = (extent, formats);
        let attachments = Attachments::new(context, "swapchain", kind, (none, none))?;
        let mut built = Self {
            handle: vk::SwapchainKHR::null(),
            attachments,
            images: Vec::new(),
        };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.handle())
            .min_image_count(image_count(capabilities))
            .image_format(format.format)
            .image_color_space(format.color_space)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(choose_transform(capabilities))
            .composite_alpha(choose_alpha(capabilities.supported_composite_alpha))
            // Always supported.
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(old);
        match built.build(context, loader, &info) {
            Ok(()) => Ok(built),
            Err(error) => {
                built.release(loader, &mut context.idle());
                Err(error)
            }
        }
    }

    fn build(
        &mut self,
        context: &Context,
        loader: &khr::swapchain::Device,
        info: &vk::SwapchainCreateInfoKHR<'_>,
    ) -> Result<()> {
        let device = &context.device;
        // SAFETY: the surface is alive, and all parameters are within its capabilities. The images
        // belong to the new swapchain.
        unsafe {
            let handle = loader.create_swapchain(info, None);
            self.handle = handle.check("vkCreateSwapchainKHR")?;
            let images = loader.get_swapchain_images(self.handle);
            for image in images.check("vkGetSwapchainImagesKHR")? {
                context.set_name(image, "swapchain colour")?;
                let semaphore = device.create_semaphore(&Default::default(), None);
                let rendered = semaphore.check("vkCreateSemaphore")?;
                let view = vk::ImageView::null();
                // Stored before it is complete, so that an error frees it.
                let target = Final { image, view };
                self.images.push(Presentable { target, rendered });
                context.set_name(rendered, "image rendered")?;
                let view = vk::ImageViewCreateInfo::default()
                    .image(image)
                    .view_type(vk::ImageViewType::TYPE_2D)
                    .format(info.image_format)
                    .subresource_range(whole(vk::ImageAspectFlags::COLOR));
                let view = device.create_image_view(&view, None);
                let view = view.check("vkCreateImageView")?;
                if let Some(last) = self.images.last_mut() {
                    last.target.view = view;
                }
            }
        }
        Ok(())
    }

    pub(super) fn extent(&self) -> vk::Extent2D {
        self.attachments.extent
    }

    /// An image by its index, which the swapchain has returned.
    pub(super) fn image(&self, index: u32) -> Presentable {
        self.images[index as usize]
    }

    /// Destroys everything. The device must no longer use it.
    pub(super) fn release(mut self, loader: &khr::swapchain::Device, idle: &mut Idle<'_>) {
        self.attachments.release(idle);
        self.into_destroy(loader.clone())(idle);
    }

    /// Takes everything apart from the attachments, which are dropped.
    pub(super) fn into_destroy(self, loader: khr::swapchain::Device) -> Destroy {
        let (handle, images) = (self.handle, self.images);
        Box::new(move |idle| {
            // SAFETY: `build` created the objects with this device, which is idle. Null is ignored.
            // The images are destroyed with the swapchain.
            unsafe {
                for image in images {
                    idle.device.destroy_image_view(image.target.view, None);
                    idle.device.destroy_semaphore(image.rendered, None);
                }
                loader.destroy_swapchain(handle, None);
            }
        })
    }
}

/// One more than the minimum, so that acquiring rarely waits. A maximum of 0 means no limit.
fn image_count(capabilities: &vk::SurfaceCapabilitiesKHR) -> u32 {
    let most = match capabilities.max_image_count {
        0 => u32::MAX,
        most => most,
    };
    capabilities.min_image_count.saturating_add(1).min(most)
}

/// No transform: the window system rotates the images of a turned screen, where it can.
fn choose_transform(capabilities: &vk::SurfaceCapabilitiesKHR) -> vk::SurfaceTransformFlagsKHR {
    let identity = vk::SurfaceTransformFlagsKHR::IDENTITY;
    match capabilities.supported_transforms.contains(identity) {
        true => identity,
        false => capabilities.current_transform,
    }
}

/// Opaque if supported, otherwise the first supported mode.
fn choose_alpha(supported: vk::CompositeAlphaFlagsKHR) -> vk::CompositeAlphaFlagsKHR {
    let opaque = vk::CompositeAlphaFlagsKHR::OPAQUE;
    if supported.contains(opaque) {
        return opaque;
    }
    let raw = supported.as_raw();
    vk::CompositeAlphaFlagsKHR::from_raw(raw & raw.wrapping_neg())
}

/// An 8-bit sRGB format, otherwise the first.
pub(super) fn choose_format(context: &Context, surface: &Surface) -> Result<vk::SurfaceFormatKHR> {
    let (device, loader) = (context.physical_device, surface.loader());
    // SAFETY: the surface is alive, and belongs to the same instance as the device.
    let formats = unsafe { loader.get_physical_device_surface_formats(device, surface.handle()) }
        .check("vkGetPhysicalDeviceSurfaceFormatsKHR")?;
    let find = |format| {
        let space = vk::ColorSpaceKHR::SRGB_NONLINEAR;
        let mut formats = formats.iter();
        formats.find(|f| f.format == format && f.color_space == space)
    };
    let chosen = find(vk::Format::B8G8R8A8_SRGB)
        .or_else(|| find(vk::Format::R8G8B8A8_SRGB))
        .or_else(|| formats.first());
    Ok(chosen.copied().unwrap_or_default())
}

/// The supported extent of images that is nearest to the requested one.
pub(super) fn fit(capabilities: &vk::SurfaceCapabilitiesKHR, asked: vk::Extent2D) -> vk::Extent2D {
    let (min, max) = (capabilities.min_image_extent, capabilities.max_image_extent);
    // If the surface leaves the extent open, its current extent is all ones.
    if capabilities.current_extent.width != u32::MAX {
        return capabilities.current_extent;
    }
    vk::Extent2D {
        width: asked.width.min(max.width).max(min.width),
        height: asked.height.min(max.height).max(min.height),
    }
}
