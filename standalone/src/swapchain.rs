//! The images of a window, to draw into and present.
//!
//! Each image has its own semaphore for the end of its rendering. Presenting waits for it, and no
//! fence tells when that wait has ended. A semaphore per frame in flight could be signalled again
//! while an earlier present still waits for it.

mod acquire;
mod built;

use super::attachments::{Attachments, Begin, DRAWN, Final};
use super::error::Check;
use super::image::{barrier, transition};
use super::owner::DeviceOwner;
use super::{Context, Formats, Result, StandaloneError, Surface};
pub use acquire::Acquire;
use ash::{khr, vk};
use built::{Built, choose_format, fit};
use std::fmt;
use std::sync::Arc;

/// The name of the swapchain in errors.
const OBJECT: &str = "the swapchain";

/// Settings for a new [`Swapchain`].
#[derive(Clone, Copy, Debug)]
pub struct SwapchainDesc {
    /// Format of the depth image, if one is wanted. It is discarded after rendering.
    pub depth_format: Option<vk::Format>,
    /// Samples of colour and depth.
    pub samples: vk::SampleCountFlags,
}

impl Default for SwapchainDesc {
    fn default() -> Self {
        Self {
            depth_format: Some(vk::Format::D32_SFLOAT),
            samples: vk::SampleCountFlags::TYPE_1,
        }
    }
}

/// The images of a window, with their depth and multisampled colour images.
///
/// They are presented in FIFO order, in an 8-bit sRGB format if the surface supports one.
///
/// # Lost surfaces
///
/// A surface can be lost while the device keeps working. Calls then fail with
/// [`StandaloneError::SurfaceLost`]. Destroy the swapchain and create another one with a new
/// [`Context::surface`]. Context, pipelines and crowds stay as they are.
pub struct Swapchain {
    owner: Arc<DeviceOwner>,
    /// Left to the device with `built`, because a surface must be destroyed after its swapchain.
    surface: Option<Surface>,
    loader: khr::swapchain::Device,
    format: vk::SurfaceFormatKHR,
    desc: SwapchainDesc,
    /// `None` until the window first has an area, and after a failed recreation.
    built: Option<Built>,
    /// The window's extent when `built` was created, as reported by the caller.
    asked: vk::Extent2D,
    /// True if the images must be recreated: the window has changed, or one of them is acquired and
    /// was never presented.
    stale: bool,
}

impl fmt::Debug for Swapchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Swapchain")
            .field("extent", &self.extent())
            .finish_non_exhaustive()
    }
}

/// An acquired image. Draw to it, submit it, then present it.
///
/// If it is dropped instead, the next [`Swapchain::acquire`] recreates the images.
#[derive(Debug)]
#[must_use = "an acquired image is to be submitted and presented"]
pub struct SwapchainImage<'a> {
    swapchain: &'a mut Swapchain,
    index: u32,
    /// True if the driver called the swapchain suboptimal. Some say so only here, others only when
    /// the image is presented.
    suboptimal: bool,
    pub(crate) submitted: bool,
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
        let mut swapchain = Self {
            format: choose_format(context, &surface)?,
            loader: khr::swapchain::Device::new(&context.instance, &context.device),
            surface: Some(surface),
            owner: context.owner(),
            desc: *desc,
            built: None,
            asked: vk::Extent2D::default(),
            stale: true,
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

    /// Width and height of the images in texels. Zero if there are no images.
    pub fn extent(&self) -> vk::Extent2D {
        self.built.as_ref().map(|b| b.extent()).unwrap_or_default()
    }

    /// Recreates the images for a window of `extent` physical pixels.
    ///
    /// Waits for the device first. Returns false if the window has no area.
    fn recreate(&mut self, context: &mut Context, extent: vk::Extent2D) -> Result<bool> {
        self.stale = true;
        let Some(surface) = self.surface.as_ref().filter(|_| !is_empty(extent)) else {
            return Ok(false);
        };
        let capabilities = surface.capabilities(context.physical_device)?;
        let fitted = fit(&capabilities, extent);
        if is_empty(fitted) {
            return Ok(false);
        }
        // The work that uses the old images has been submitted, but may not have finished.
        context.wait_idle()?;
        let old = self.built.as_ref().map(|b| b.handle).unwrap_or_default();
        let kind = (self.format, self.formats(), fitted);
        let new = Built::new(context, (&self.loader, surface), &capabilities, kind, old);
        if let Some(old) = self.built.take() {
            old.release(&self.loader, &mut context.idle());
        }
        self.built = Some(new?);
        self.asked = extent;
        self.stale = false;
        Ok(true)
    }

    /// Waits for the device, then destroys the images and the surface.
    ///
    /// `context` must be the one that they were created with. If it is another, an error is logged,
    /// they are destroyed with their own context, and the window is leaked.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(&self.owner, OBJECT)
            && let Some(built) = self.built.take()
        {
            built.release(&self.loader, &mut context.idle());
        }
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        if let Some(built) = self.built.take() {
            log::warn!("a swapchain was dropped without destroy, so its window is leaked");
            let surface = self.surface.take().map(Surface::into_owned);
            let destroy = built.into_destroy(self.loader.clone());
            self.owner.drop_later(Box::new(move |idle| {
                destroy(idle);
                drop(surface);
            }));
        }
    }
}

impl SwapchainImage<'_> {
    /// Width and height in texels.
    pub fn extent(&self) -> vk::Extent2D {
        self.swapchain.extent()
    }

    /// The semaphore that presenting waits for.
    pub(crate) fn rendered(&self) -> vk::Semaphore {
        let built = self.swapchain.built.as_ref();
        built
            .map(|b| b.image(self.index).rendered)
            .unwrap_or_default()
    }

    fn target(&self) -> Option<(&Attachments, Final)> {
        let built = self.swapchain.built.as_ref()?;
        Some((&built.attachments, built.image(self.index).target))
    }

    /// Clears, begins rendering, and sets viewport and scissor to the whole image.
    ///
    /// # Safety
    ///
    /// `cmd` is the command buffer of the frame that acquired the image, outside of rendering.
    /// [`Self::end`] is recorded before it is submitted.
    pub unsafe fn begin(&self, device: &ash::Device, cmd: vk::CommandBuffer, begin: &Begin) {
        if let Some((attachments, target)) = self.target() {
            // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
            unsafe { attachments.begin(device, cmd, target, begin) };
        }
    }

    /// Ends rendering and makes the image ready to be presented.
    ///
    /// # Safety
    ///
    /// `cmd` is inside of the rendering that `begin` began.
    pub unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // The semaphore that presenting waits for is signalled after this stage.
        let shown = (
            DRAWN.0,
            vk::AccessFlags2::NONE,
            vk::ImageLayout::PRESENT_SRC_KHR,
        );
        let Some((_, Final { image, .. })) = self.target() else {
            return;
        };
        let barriers = [transition(image, vk::ImageAspectFlags::COLOR, DRAWN, shown)];
        // SAFETY: the caller guarantees that `cmd` is inside the rendering begun before.
        unsafe {
            device.cmd_end_rendering(cmd);
            barrier(device, cmd, &barriers);
        }
    }

    /// Presents the image.
    ///
    /// If the window has changed meanwhile, the next [`Swapchain::acquire`] recreates the images.
    ///
    /// # Errors
    ///
    /// Returns an error if the swapchain was created with another context, or if the image was not
    /// submitted. The error of `vkQueuePresentKHR` is returned too.
    ///
    /// # Safety
    ///
    /// The submitted commands end with [`Self::end`].
    pub unsafe fn present(self, context: &mut Context) -> Result<()> {
        let (semaphores, indices) = ([self.rendered()], [self.index]);
        let swapchain = self.swapchain;
        context.check_own(&swapchain.owner, OBJECT)?;
        let Some(built) = swapchain.built.as_ref().filter(|_| self.submitted) else {
            return Err(StandaloneError::NotSubmitted { index: self.index });
        };
        let swapchains = [built.handle];
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&semaphores)
            .swapchains(&swapchains)
            .image_indices(&indices);
        // SAFETY: the image is acquired and submitted, as was just checked. The caller guarantees
        // its layout.
        let result = unsafe { swapchain.loader.queue_present(context.queue, &info) };
        swapchain.stale = match (result, &swapchain.surface) {
            // Some window systems report a swapchain as suboptimal for as long as it lives.
            (Ok(suboptimal), Some(surface)) if suboptimal || self.suboptimal => {
                let capabilities = surface.capabilities(context.physical_device)?;
                fit(&capabilities, swapchain.asked) != built.extent()
            }
            (Ok(_), _) => false,
            (Err(result), _) if is_outdated(result) => true,
            (Err(result), _) => return Err(result).check("vkQueuePresentKHR"),
        };
        Ok(())
    }
}

/// Returns true if the extent has no area.
fn is_empty(extent: vk::Extent2D) -> bool {
    extent.width == 0 || extent.height == 0
}

/// Returns true if the swapchain must be recreated before it can be used again.
///
/// A display that a window covers alone can be taken from it by another program.
fn is_outdated(result: vk::Result) -> bool {
    matches!(
        result,
        vk::Result::ERROR_OUT_OF_DATE_KHR | vk::Result::ERROR_FULL_SCREEN_EXCLUSIVE_MODE_LOST_EXT
    )
}
