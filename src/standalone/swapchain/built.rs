//! One Vulkan swapchain, with all objects that depend on its extent and number of images.

use super::super::attachments::{Attachments, AttachmentsDesc};
use super::super::device_owner::{Destroy, Idle};
use super::super::error::Check;
use super::super::image::whole;
use super::super::{Context, Formats, Result, Surface};
use super::image::{Generation, OBJECT};
use super::rotation::Rotation;
use ash::{khr, vk};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Settings for a new [`Built`].
pub(super) struct BuiltDesc<'a> {
    pub(super) loader: &'a khr::swapchain::Device,
    pub(super) surface: &'a Surface,
    pub(super) capabilities: vk::SurfaceCapabilitiesKHR,
    /// Width and height of the images, within the surface's capabilities and not empty.
    pub(super) extent: vk::Extent2D,
    pub(super) transform: vk::SurfaceTransformFlagsKHR,
    pub(super) rotation: Rotation,
    pub(super) color_space: vk::ColorSpaceKHR,
    pub(super) present_mode: vk::PresentModeKHR,
    pub(super) formats: Formats,
    pub(super) depth_usage: vk::ImageUsageFlags,
    /// The swapchain that this one replaces. Null if there is none.
    pub(super) old: vk::SwapchainKHR,
}

/// A swapchain, its images and its attachments.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) handle: vk::SwapchainKHR,
    pub(super) extent: vk::Extent2D,
    pub(super) transform: vk::SurfaceTransformFlagsKHR,
    pub(super) rotation: Rotation,
    pub(super) images: Vec<Presentable>,
    pub(super) attachments: Option<Attachments>,
    pub(super) generation: Arc<Generation>,
    /// The number of images that were acquired and not presented.
    pub(super) acquired: usize,
}

/// An image of the swapchain, and the semaphore that its present waits for.
#[derive(Debug)]
pub(super) struct Presentable {
    pub(super) image: vk::Image,
    pub(super) view: vk::ImageView,
    pub(super) rendered: vk::Semaphore,
}

impl Built {
    pub(super) fn new(context: &mut Context, desc: &BuiltDesc<'_>) -> Result<Self> {
        let mut built = Self {
            handle: create(desc)?,
            extent: desc.extent,
            transform: desc.transform,
            rotation: desc.rotation,
            images: Vec::new(),
            attachments: None,
            generation: Arc::default(),
            acquired: 0,
        };
        match built.build(context, desc) {
            Ok(()) => Ok(built),
            Err(error) => {
                built.release(desc.loader, &mut context.idle());
                Err(error)
            }
        }
    }

    fn build(&mut self, context: &mut Context, desc: &BuiltDesc<'_>) -> Result<()> {
        // SAFETY: the swapchain is new.
        let images = unsafe { desc.loader.get_swapchain_images(self.handle) }
            .check("vkGetSwapchainImagesKHR")?;
        for image in images {
            // Stored before it is complete, so that an error frees it.
            self.images.push(Presentable {
                image,
                view: vk::ImageView::null(),
                rendered: vk::Semaphore::null(),
            });
            if let Some(last) = self.images.last_mut() {
                last.build(context, desc.formats.color)?;
            }
        }
        self.attachments = Some(Attachments::new(
            context,
            &AttachmentsDesc {
                object: OBJECT,
                name: "swapchain",
                extent: desc.extent,
                formats: desc.formats,
                color_usage: vk::ImageUsageFlags::empty(),
                depth_usage: desc.depth_usage,
            },
        )?);
        Ok(())
    }

    /// The number of acquired images that are neither presented nor dropped.
    pub(super) fn images_held(&self) -> usize {
        Arc::strong_count(&self.generation) - 1
    }

    /// Destroys everything. The device must no longer use it.
    pub(super) fn release(mut self, loader: &khr::swapchain::Device, idle: &mut Idle<'_>) {
        if let Some(mut attachments) = self.attachments.take() {
            attachments.release(idle);
        }
        self.into_destroy(loader.clone())(idle);
    }

    /// Takes everything apart from the attachments, which are dropped.
    pub(super) fn into_destroy(self, loader: khr::swapchain::Device) -> Destroy {
        self.generation.destroyed.store(true, Ordering::Relaxed);
        let (handle, images) = (self.handle, self.images);
        Box::new(move |idle| {
            // SAFETY: `create` and `build` created the objects with this device, which is idle.
            // `destroyed` is set, so no `SwapchainImage` refers to them. Null is ignored. The
            // images are destroyed with the swapchain.
            unsafe {
                for image in images {
                    idle.device.destroy_image_view(image.view, None);
                    idle.device.destroy_semaphore(image.rendered, None);
                }
                loader.destroy_swapchain(handle, None);
            }
        })
    }
}

impl Presentable {
    fn build(&mut self, context: &Context, format: vk::Format) -> Result<()> {
        let info = vk::ImageViewCreateInfo::default()
            .image(self.image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(whole(vk::ImageAspectFlags::COLOR));
        let device = &context.device;
        // SAFETY: the image belongs to a live swapchain of this device.
        unsafe {
            context.set_name(self.image, "swapchain colour")?;
            self.view = device
                .create_image_view(&info, None)
                .check("vkCreateImageView")?;
            self.rendered = device
                .create_semaphore(&vk::SemaphoreCreateInfo::default(), None)
                .check("vkCreateSemaphore")?;
            context.set_name(self.rendered, "image rendered")
        }
    }
}

fn create(desc: &BuiltDesc<'_>) -> Result<vk::SwapchainKHR> {
    let capabilities = &desc.capabilities;
    // One more than the minimum, so that acquiring rarely waits. A maximum of 0 means no limit.
    let most = match capabilities.max_image_count {
        0 => u32::MAX,
        most => most,
    };
    let info = vk::SwapchainCreateInfoKHR::default()
        .surface(desc.surface.handle())
        .min_image_count(capabilities.min_image_count.saturating_add(1).min(most))
        .image_format(desc.formats.color)
        .image_color_space(desc.color_space)
        .image_extent(desc.extent)
        .image_array_layers(1)
        .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
        .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
        .pre_transform(desc.transform)
        .composite_alpha(choose_alpha(capabilities.supported_composite_alpha))
        .present_mode(desc.present_mode)
        .clipped(true)
        .old_swapchain(desc.old);
    // SAFETY: the surface is alive, and all parameters are within its capabilities.
    unsafe { desc.loader.create_swapchain(&info, None) }.check("vkCreateSwapchainKHR")
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

/// Selects the requested format, otherwise an sRGB format, otherwise the first.
pub(super) fn choose_format(
    context: &Context,
    surface: &Surface,
    asked: vk::Format,
) -> Result<vk::SurfaceFormatKHR> {
    // SAFETY: the surface is alive, and belongs to the same instance as the device.
    let formats = unsafe {
        surface
            .loader()
            .get_physical_device_surface_formats(context.physical_device, surface.handle())
    }
    .check("vkGetPhysicalDeviceSurfaceFormatsKHR")?;
    let find = |format| {
        let space = vk::ColorSpaceKHR::SRGB_NONLINEAR;
        formats
            .iter()
            .find(|f| f.format == format && f.color_space == space)
    };
    let chosen = find(asked)
        .or_else(|| find(vk::Format::B8G8R8A8_SRGB))
        .or_else(|| find(vk::Format::R8G8B8A8_SRGB))
        .or_else(|| formats.first());
    Ok(chosen.copied().unwrap_or_default())
}

/// Selects the requested mode, otherwise FIFO, which is always supported.
pub(super) fn choose_mode(
    context: &Context,
    surface: &Surface,
    asked: vk::PresentModeKHR,
) -> Result<vk::PresentModeKHR> {
    // SAFETY: the surface is alive, and belongs to the same instance as the device.
    let modes = unsafe {
        surface
            .loader()
            .get_physical_device_surface_present_modes(context.physical_device, surface.handle())
    }
    .check("vkGetPhysicalDeviceSurfacePresentModesKHR")?;
    if modes.contains(&asked) {
        return Ok(asked);
    }
    Ok(vk::PresentModeKHR::FIFO)
}

/// The supported extent of images that is nearest to the requested one of the window.
pub(super) fn fit(
    capabilities: &vk::SurfaceCapabilitiesKHR,
    asked: vk::Extent2D,
    rotation: Rotation,
) -> vk::Extent2D {
    let (min, max) = (capabilities.min_image_extent, capabilities.max_image_extent);
    let clamped = |extent: vk::Extent2D| vk::Extent2D {
        width: extent.width.min(max.width).max(min.width),
        height: extent.height.min(max.height).max(min.height),
    };
    let current = capabilities.current_extent;
    // If the surface leaves the extent open, its current extent is all ones.
    if current.width == u32::MAX {
        return clamped(rotation.turned(asked));
    }
    // Android reports the window's extent, and allows the turned one. A surface with one extent
    // reports that of its images.
    let turned = rotation.turned(current);
    if clamped(turned) == turned {
        turned
    } else {
        current
    }
}

/// Returns true if the extent has no area.
pub(super) fn is_empty(extent: vk::Extent2D) -> bool {
    extent.width == 0 || extent.height == 0
}
