//! One Vulkan swapchain, with all objects that depend on its extent and number of images.

use crate::Result;
use crate::attachments::{Attachments, Final, Formats};
use crate::context::Handles;
use crate::error::Check;
use crate::image::view;
use crate::surface::Surface;
use ash::{khr, vk};
use std::rc::Rc;

/// A swapchain, its images and its attachments. It is dropped when the device is idle.
pub(super) struct Built {
    pub(super) loader: khr::swapchain::Device,
    pub(super) handle: vk::SwapchainKHR,
    pub(super) attachments: Attachments,
    pub(super) images: Vec<Presentable>,
    /// The semaphore for the next acquisition.
    ///
    /// It then belongs to the image that is acquired, which leaves the semaphore of its last
    /// acquisition: the image was presented since, so nothing uses that any more.
    pub(super) spare: vk::Semaphore,
    handles: Rc<Handles>,
}

/// An image of the swapchain.
#[derive(Clone, Copy)]
pub(super) struct Presentable {
    pub(super) target: Final,
    /// Signalled when the image is ready to be drawn to.
    pub(super) acquired: vk::Semaphore,
    /// Signalled when it has been drawn to. Its present waits for it.
    pub(super) rendered: vk::Semaphore,
}

impl Built {
    /// `extent` is within the surface's capabilities and not empty. `old` may be null.
    pub(super) fn new(
        handles: &Rc<Handles>,
        surface: &Surface,
        capabilities: &vk::SurfaceCapabilitiesKHR,
        (format, formats, extent): (vk::SurfaceFormatKHR, Formats, vk::Extent2D),
        old: vk::SwapchainKHR,
    ) -> Result<Self> {
        let none = vk::ImageUsageFlags::empty();
        let kind = (extent, formats);
        // An error drops it, which destroys what there is.
        let mut built = Self {
            loader: khr::swapchain::Device::new(&handles.instance, &handles.device),
            handle: vk::SwapchainKHR::null(),
            attachments: Attachments::new(handles, "swapchain", kind, (none, none))?,
            images: Vec::new(),
            spare: vk::Semaphore::null(),
            handles: handles.clone(),
        };
        let info = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.handle)
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
        // SAFETY: the surface is alive, and all parameters are within its capabilities. The images
        // belong to the new swapchain.
        unsafe {
            let handle = built.loader.create_swapchain(&info, None);
            built.handle = handle.check("vkCreateSwapchainKHR")?;
            let images = built.loader.get_swapchain_images(built.handle);
            let images = images.check("vkGetSwapchainImagesKHR")?;
            let none = vk::Semaphore::null();
            built
                .images
                .extend(images.into_iter().map(|image| Presentable {
                    target: Final {
                        image,
                        view: vk::ImageView::null(),
                    },
                    acquired: none,
                    rendered: none,
                }));
            built.spare = semaphore(handles)?;
            for new in &mut built.images {
                handles.set_name(new.target.image, "swapchain colour")?;
                new.acquired = semaphore(handles)?;
                new.rendered = semaphore(handles)?;
                handles.set_name(new.rendered, "image rendered")?;
                new.target.view = view(handles, new.target.image, format.format)?;
            }
        }
        Ok(built)
    }
}

impl Drop for Built {
    fn drop(&mut self) {
        let device = &self.handles.device;
        // SAFETY: the objects are of this device, which is idle. Null is ignored. The images are
        // destroyed with the swapchain.
        unsafe {
            for image in &self.images {
                device.destroy_image_view(image.target.view, None);
                device.destroy_semaphore(image.acquired, None);
                device.destroy_semaphore(image.rendered, None);
            }
            device.destroy_semaphore(self.spare, None);
            self.loader.destroy_swapchain(self.handle, None);
        }
    }
}

fn semaphore(handles: &Handles) -> Result<vk::Semaphore> {
    // SAFETY: the device is alive.
    unsafe { handles.device.create_semaphore(&Default::default(), None) }.check("vkCreateSemaphore")
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
