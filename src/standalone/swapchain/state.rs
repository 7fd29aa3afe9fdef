//! Something to draw into that is seen: a window's images.

use super::super::context::ContextId;
use super::super::{Check, Context, Formats, Result, Surface};
use super::built::{Built, BuiltDesc, choose_format, choose_mode, fit, is_empty};
use ash::{khr, vk};
use std::mem::ManuallyDrop;

/// What a [`Swapchain`] is made from.
#[derive(Clone, Copy, Debug)]
pub struct SwapchainDesc {
    /// Taken where the surface has it, else the next best: an sRGB format of 8
    /// bits, any other.
    pub color_format: vk::Format,
    /// Format of depth, if any is wanted.
    pub depth_format: Option<vk::Format>,
    /// Samples of colour and depth.
    pub samples: vk::SampleCountFlags,
    /// Uses of depth besides drawing, such as `SAMPLED`.
    pub depth_usage: vk::ImageUsageFlags,
    /// Taken where the surface has it, else FIFO.
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

/// What errors call it.
pub(crate) const OBJECT: &str = "the swapchain";

/// The images of a window, with depth and samples of their own.
#[derive(Debug)]
pub struct Swapchain {
    pub(super) owner: ContextId,
    /// Leaked where `built` is: a surface goes after its swapchain.
    pub(crate) surface: ManuallyDrop<Surface>,
    pub(crate) loader: Loader,
    pub(crate) desc: SwapchainDesc,
    pub(crate) format: vk::SurfaceFormatKHR,
    pub(crate) present_mode: vk::PresentModeKHR,
    /// `None` before the window first has an area, and after a failed recreation.
    pub(super) built: Option<Built>,
    /// The extent that the window was said to have when `built` was made.
    pub(crate) asked: vk::Extent2D,
    pub(crate) stale: bool,
    pub(crate) recreations: u64,
}

/// The extension's functions, which have no `Debug`.
pub(crate) struct Loader(pub(crate) khr::swapchain::Device);

impl std::fmt::Debug for Loader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("khr::swapchain::Device")
    }
}

impl Swapchain {
    /// Makes the images of `surface`, for a window of `extent` physical pixels.
    /// With no area there are none until [`Swapchain::acquire`] is told of one.
    ///
    /// # Errors
    ///
    /// Where the context cannot present to the surface, the device cannot do the
    /// formats or samples, and what the allocator and the Vulkan calls return.
    pub fn new(
        context: &mut Context,
        surface: Surface,
        extent: vk::Extent2D,
        desc: &SwapchainDesc,
    ) -> Result<Self> {
        context.check_surface(&surface)?;
        let mut swapchain = Self {
            format: choose_format(context, &surface, desc.color_format)?,
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

    /// Formats and samples, for pipelines. They do not change.
    #[must_use]
    pub fn formats(&self) -> Formats {
        Formats {
            color: self.format.format,
            depth: self.desc.depth_format,
            samples: self.desc.samples,
        }
    }

    /// Width and height in texels; zero where there are no images.
    pub fn extent(&self) -> vk::Extent2D {
        self.built.as_ref().map(|b| b.extent).unwrap_or_default()
    }

    /// The present mode that was taken.
    #[must_use]
    pub fn present_mode(&self) -> vk::PresentModeKHR {
        self.present_mode
    }

    /// The handle; null where there are no images.
    #[must_use]
    pub fn handle(&self) -> vk::SwapchainKHR {
        self.built.as_ref().map(|b| b.handle).unwrap_or_default()
    }

    /// How often the images have been made anew.
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

    /// Depth and its view, where there is one. It changes with the extent.
    #[must_use]
    pub fn depth(&self) -> Option<(vk::Image, vk::ImageView)> {
        let depth = self.built.as_ref()?.attachments.as_ref()?.depth.as_ref()?;
        Some((depth.handle, depth.view))
    }

    /// Makes the images anew for a window of `extent` physical pixels, after
    /// waiting for the device. Returns `false`, and calls no Vulkan function
    /// that creates, where the window has no area. No image may be acquired and
    /// not yet presented.
    ///
    /// # Errors
    ///
    /// Where the context is not the one that the images were made with, and what
    /// the allocator and the Vulkan calls return. The next [`Swapchain::acquire`]
    /// tries again.
    pub fn recreate(&mut self, context: &mut Context, extent: vk::Extent2D) -> Result<bool> {
        context.check_own(self.owner, OBJECT)?;
        self.stale = true;
        if is_empty(extent) {
            return Ok(false);
        }
        let capabilities = self.capabilities(context)?;
        let fitted = fit(&capabilities, extent);
        if is_empty(fitted) {
            return Ok(false);
        }
        let new = self.build(context, capabilities, fitted);
        // What uses the old images has been submitted, perhaps not finished.
        let idle = context.wait_idle();
        if let Some(mut old) = self.built.take() {
            old.release(&self.loader.0, context);
            self.recreations += 1;
        }
        self.built = Some(new?);
        idle?;
        self.asked = extent;
        self.stale = false;
        Ok(true)
    }

    /// The images that replace those there are.
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

    /// Waits for the device, and destroys the images and the surface. `context`
    /// is the one that they were made with; with another they are leaked, and that
    /// is logged.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(self.owner, OBJECT)
            && let Some(mut built) = self.built.take()
        {
            built.release(&self.loader.0, context);
        }
    }

    pub(crate) fn capabilities(&self, context: &Context) -> Result<vk::SurfaceCapabilitiesKHR> {
        // SAFETY: the surface is alive, and of the same instance as the device.
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
            log::warn!("a swapchain was dropped and not destroyed: its surface is leaked");
            return;
        }
        // SAFETY: it is dropped here only, and has no swapchain any more.
        unsafe { ManuallyDrop::drop(&mut self.surface) };
    }
}
