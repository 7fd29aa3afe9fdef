//! The state of a swapchain: its settings, its images, and their recreation.

use super::super::context::ContextId;
use super::super::error::Check;
use super::super::image_rules::{check_depth_usage, check_formats};
use super::super::{Context, Formats, Result, StandaloneError, Surface};
use super::built::{Built, BuiltDesc, choose_format, choose_mode, fit, is_empty};
use super::image::OBJECT;
use ash::{khr, vk};
use std::mem::ManuallyDrop;

/// Settings for a new [`Swapchain`].
#[derive(Clone, Copy, Debug)]
pub struct SwapchainDesc {
    /// Preferred colour format.
    ///
    /// If the surface does not support it, an 8-bit sRGB format is taken, otherwise any other
    /// format.
    pub color_format: vk::Format,
    /// Format of the depth image, if one is wanted.
    pub depth_format: Option<vk::Format>,
    /// Samples of colour and depth.
    pub samples: vk::SampleCountFlags,
    /// Usage of the depth image besides drawing, such as `SAMPLED` or `TRANSFER_SRC`.
    ///
    /// If this is empty or contains `TRANSIENT_ATTACHMENT`, depth is discarded after rendering, and
    /// may need no memory at all. To load depth into another rendering, set
    /// `DEPTH_STENCIL_ATTACHMENT`.
    pub depth_usage: vk::ImageUsageFlags,
    /// Preferred present mode. If the surface does not support it, FIFO is taken.
    pub present_mode: vk::PresentModeKHR,
}

impl Default for SwapchainDesc {
    fn default() -> Self {
        Self {
            color_format: vk::Format::B8G8R8A8_SRGB,
            depth_format: Some(vk::Format::D32_SFLOAT),
            samples: vk::SampleCountFlags::TYPE_1,
            depth_usage: vk::ImageUsageFlags::empty(),
            present_mode: vk::PresentModeKHR::FIFO,
        }
    }
}

/// The images of a window, with their depth and multisampled colour images.
#[derive(Debug)]
pub struct Swapchain {
    pub(super) owner: ContextId,
    /// Leaked if `built` is leaked, because a surface must be destroyed after its swapchain.
    pub(crate) surface: ManuallyDrop<Surface>,
    pub(crate) loader: Loader,
    pub(crate) desc: SwapchainDesc,
    pub(crate) format: vk::SurfaceFormatKHR,
    pub(crate) present_mode: vk::PresentModeKHR,
    /// `None` until the window first has an area, and after a failed recreation.
    pub(super) built: Option<Built>,
    /// The window's extent when `built` was created, as reported by the caller.
    pub(crate) asked: vk::Extent2D,
    pub(crate) stale: bool,
    pub(crate) recreations: u64,
}

/// The functions of the swapchain extension. A wrapper, because they have no `Debug`.
pub(crate) struct Loader(pub(crate) khr::swapchain::Device);

impl std::fmt::Debug for Loader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("khr::swapchain::Device")
    }
}

impl Swapchain {
    /// Creates the images of `surface`, for a window of `extent` physical pixels.
    ///
    /// If the extent has no area, there are no images until [`Swapchain::acquire`] gets an extent
    /// that has one.
    ///
    /// # Errors
    ///
    /// Returns an error if the context cannot present to the surface, or if the device does not
    /// support the formats or samples. Errors of the allocator and of the Vulkan calls are returned
    /// too.
    pub fn new(
        context: &mut Context,
        surface: Surface,
        extent: vk::Extent2D,
        desc: &SwapchainDesc,
    ) -> Result<Self> {
        context.check_surface(&surface)?;
        let format = choose_format(context, &surface, desc.color_format)?;
        let formats = Formats {
            color: format.format,
            depth: desc.depth_format,
            samples: desc.samples,
        };
        check_formats(context, OBJECT, formats)?;
        check_depth_usage(context, OBJECT, desc.depth_usage, desc.samples)?;
        let mut swapchain = Self {
            format,
            present_mode: choose_mode(context, &surface, desc.present_mode)?,
            loader: Loader(khr::swapchain::Device::new(
                &context.instance,
                &context.device,
            )),
            surface: ManuallyDrop::new(surface),
            owner: context.id(),
            desc: *desc,
            built: None,
            asked: vk::Extent2D::default(),
            stale: true,
            recreations: 0,
        };
        swapchain.recreate(context, extent)?;
        Ok(swapchain)
    }

    /// Formats and sample count, as needed to create pipelines. They never change.
    #[must_use]
    pub fn formats(&self) -> Formats {
        Formats {
            color: self.format.format,
            depth: self.desc.depth_format,
            samples: self.desc.samples,
        }
    }

    /// Width and height in texels. Zero if there are no images.
    pub fn extent(&self) -> vk::Extent2D {
        self.built.as_ref().map(|b| b.extent).unwrap_or_default()
    }

    /// The present mode in use.
    #[must_use]
    pub fn present_mode(&self) -> vk::PresentModeKHR {
        self.present_mode
    }

    /// The Vulkan handle. Null if there are no images.
    #[must_use]
    pub fn handle(&self) -> vk::SwapchainKHR {
        self.built.as_ref().map(|b| b.handle).unwrap_or_default()
    }

    /// Number of times that the images have been recreated.
    #[must_use]
    pub fn recreations(&self) -> u64 {
        self.recreations
    }

    /// The semaphore of each image that its present waits for.
    #[must_use]
    pub fn present_semaphores(&self) -> Vec<vk::Semaphore> {
        let images = self.built.iter().flat_map(|b| &b.images);
        images.map(|image| image.rendered).collect()
    }

    /// The depth image and its view, if there is one. Both change when the extent changes.
    #[must_use]
    pub fn depth(&self) -> Option<(vk::Image, vk::ImageView)> {
        let depth = self.built.as_ref()?.attachments.as_ref()?.depth.as_ref()?;
        Some((depth.handle, depth.view))
    }

    /// Recreates the images for a window of `extent` physical pixels.
    ///
    /// Waits for the device first. If the window has no area, this returns `false` and calls no
    /// Vulkan function that creates anything.
    ///
    /// # Errors
    ///
    /// Returns an error if the swapchain was created with another context, or if an image is
    /// acquired and neither presented nor dropped. Errors of the allocator and of the Vulkan calls
    /// are returned too. After an error, the next [`Swapchain::acquire`] tries again.
    pub fn recreate(&mut self, context: &mut Context, extent: vk::Extent2D) -> Result<bool> {
        context.check_own(self.owner, OBJECT)?;
        let count = self.built.as_ref().map_or(0, Built::images_held);
        if count > 0 {
            return Err(StandaloneError::ImagesAcquired { count });
        }
        self.stale = true;
        if is_empty(extent) {
            return Ok(false);
        }
        let capabilities = self.capabilities(context)?;
        let fitted = fit(&capabilities, extent);
        if is_empty(fitted) {
            return Ok(false);
        }
        // The work that uses the old images has been submitted, but may not have finished.
        context.wait_idle()?;
        let new = self.build(context, capabilities, fitted);
        if let Some(mut old) = self.built.take() {
            old.release(&self.loader.0, context);
            self.recreations += 1;
        }
        self.built = Some(new?);
        self.asked = extent;
        self.stale = false;
        Ok(true)
    }

    /// Builds the images that replace the current ones.
    pub(super) fn build(
        &self,
        context: &mut Context,
        capabilities: vk::SurfaceCapabilitiesKHR,
        extent: vk::Extent2D,
    ) -> Result<Built> {
        let desc = BuiltDesc {
            loader: &self.loader.0,
            surface: &self.surface,
            capabilities,
            extent,
            color_space: self.format.color_space,
            present_mode: self.present_mode,
            formats: self.formats(),
            depth_usage: self.desc.depth_usage,
            old: self.handle(),
        };
        Built::new(context, &desc)
    }

    /// Waits for the device, then destroys the images and the surface.
    ///
    /// `context` must be the one that they were created with. If it is another, they are leaked and
    /// an error is logged.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(self.owner, OBJECT)
            && let Some(mut built) = self.built.take()
        {
            built.release(&self.loader.0, context);
        }
    }

    pub(crate) fn capabilities(&self, context: &Context) -> Result<vk::SurfaceCapabilitiesKHR> {
        // SAFETY: the surface is alive, and belongs to the same instance as the device.
        unsafe {
            self.surface
                .loader
                .get_physical_device_surface_capabilities(
                    context.physical_device,
                    self.surface.handle,
                )
        }
        .check("vkGetPhysicalDeviceSurfaceCapabilitiesKHR")
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        if self.built.is_some() {
            log::warn!("a swapchain was dropped without destroy: its surface is leaked");
            return;
        }
        // SAFETY: it is dropped only here, and no longer has a swapchain.
        unsafe { ManuallyDrop::drop(&mut self.surface) };
    }
}
