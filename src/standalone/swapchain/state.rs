//! The state of a swapchain: its settings, its images, and their recreation.

use super::super::device_owner::DeviceOwner;
use super::super::image_rules::{check_depth_usage, check_formats};
use super::super::{Context, Formats, Result, StandaloneError, Surface};
use super::built::{Built, BuiltDesc, choose_format, choose_mode, fit, is_empty};
use super::image::OBJECT;
use super::rotation::{Rotation, choose_transform};
use ash::{khr, vk};
use std::sync::Arc;

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
    /// Lets the program rotate what it draws, where the screen is turned against the window.
    ///
    /// Without it, the window system rotates the images if it can. On phones this costs power and
    /// memory bandwidth. With it, multiply projections with [`Rotation::image_from_window`] of
    /// [`Swapchain::rotation`] in every frame.
    pub pre_rotate: bool,
}

impl Default for SwapchainDesc {
    fn default() -> Self {
        Self {
            color_format: vk::Format::B8G8R8A8_SRGB,
            depth_format: Some(vk::Format::D32_SFLOAT),
            samples: vk::SampleCountFlags::TYPE_1,
            depth_usage: vk::ImageUsageFlags::empty(),
            present_mode: vk::PresentModeKHR::FIFO,
            pre_rotate: false,
        }
    }
}

/// The images of a window, with their depth and multisampled colour images.
///
/// # Lost surfaces
///
/// A surface can be lost while the device keeps working. Calls then fail with
/// [`StandaloneError::SurfaceLost`] until the swapchain gets a new surface:
///
/// 1. [`Swapchain::release_surface`], because many window systems allow a window one surface only,
/// 2. [`Context::surface`] for the same window or another one,
/// 3. [`Swapchain::set_surface`].
///
/// Context, pipelines and crowds stay as they are.
///
/// # Android
///
/// On Android, a window exists only while the app is in the foreground, and screens rotate.
///
/// - Create the context and the swapchain at the first `resumed` event of winit.
/// - At `suspended`, call [`Swapchain::release_surface`] before the event handler returns. From
///   then on, [`Swapchain::acquire`] returns [`Acquire::Minimised`](super::Acquire::Minimised).
/// - At each later `resumed`, create a surface with [`Context::surface`] and pass it to
///   [`Swapchain::set_surface`].
/// - Pass the window's current size to `acquire`. The images follow it.
/// - If the screen is turned, the system rotates the images, and reports them as suboptimal in
///   every frame. They are not recreated for that. To avoid the cost of the rotation, set
///   [`SwapchainDesc::pre_rotate`].
///
/// This was tested with a simulated window system only, not on a device.
///
/// ```no_run
/// use std::sync::Arc;
/// use throng::ash::vk;
/// use throng::glam::Mat4;
/// use throng::standalone::{Context, Result, Swapchain, Window};
///
/// fn suspended(context: &mut Context, swapchain: &mut Swapchain) -> Result<()> {
///     swapchain.release_surface(context)
/// }
///
/// fn resumed(
///     context: &mut Context,
///     swapchain: &mut Swapchain,
///     window: Arc<dyn Window>,
///     extent: vk::Extent2D,
/// ) -> Result<()> {
///     let surface = context.surface(window)?;
///     swapchain.set_surface(context, surface, extent)
/// }
///
/// /// The projection for the image, from one for the window.
/// fn rotated(swapchain: &Swapchain, clip_from_view: Mat4) -> Mat4 {
///     swapchain.rotation().image_from_window() * clip_from_view
/// }
/// ```
#[derive(Debug)]
pub struct Swapchain {
    pub(super) owner: Arc<DeviceOwner>,
    /// Left to the device with `built`, because a surface must be destroyed after its swapchain.
    pub(crate) surface: Option<Surface>,
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
            surface: Some(surface),
            owner: context.owner(),
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

    /// Width and height of the images in texels. Zero if there are no images.
    pub fn extent(&self) -> vk::Extent2D {
        self.built.as_ref().map(|b| b.extent).unwrap_or_default()
    }

    /// The rotation to apply to everything that is drawn to the images.
    ///
    /// It is [`Rotation::None`] without [`SwapchainDesc::pre_rotate`], unless the surface cannot
    /// rotate the images. It can change whenever the images are recreated.
    #[must_use]
    pub fn rotation(&self) -> Rotation {
        self.built.as_ref().map(|b| b.rotation).unwrap_or_default()
    }

    /// Width and height as the viewer sees them, for the aspect ratio of projections.
    ///
    /// They are those of [`Swapchain::extent`], exchanged if [`Swapchain::rotation`] is a quarter
    /// turn.
    pub fn window_extent(&self) -> vk::Extent2D {
        self.rotation().turned(self.extent())
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
    /// Waits for the device first. If the window has no area, or if there is no surface, this
    /// returns `false` and calls no Vulkan function that creates anything.
    ///
    /// # Errors
    ///
    /// Returns an error if the swapchain was created with another context, or if an image is
    /// acquired and neither presented nor dropped. Errors of the allocator and of the Vulkan calls
    /// are returned too. After an error, the next [`Swapchain::acquire`] tries again.
    pub fn recreate(&mut self, context: &mut Context, extent: vk::Extent2D) -> Result<bool> {
        context.check_own(self.owner.id, OBJECT)?;
        let count = self.built.as_ref().map_or(0, Built::images_held);
        if count > 0 {
            return Err(StandaloneError::ImagesAcquired { count });
        }
        self.stale = true;
        if is_empty(extent) {
            return Ok(false);
        }
        let Some(surface) = &self.surface else {
            return Ok(false);
        };
        let capabilities = surface.capabilities(context.physical_device)?;
        let (transform, rotation) = choose_transform(&capabilities, self.desc.pre_rotate)?;
        let fitted = fit(&capabilities, extent, rotation);
        if is_empty(fitted) {
            return Ok(false);
        }
        // The work that uses the old images has been submitted, but may not have finished.
        context.wait_idle()?;
        let desc = BuiltDesc {
            loader: &self.loader.0,
            surface,
            capabilities,
            extent: fitted,
            transform,
            rotation,
            color_space: self.format.color_space,
            present_mode: self.present_mode,
            formats: self.formats(),
            depth_usage: self.desc.depth_usage,
            old: self.handle(),
        };
        let new = Built::new(context, &desc);
        if let Some(old) = self.built.take() {
            old.release(&self.loader.0, &mut context.idle());
            self.recreations += 1;
        }
        self.built = Some(new?);
        self.asked = extent;
        self.stale = false;
        Ok(true)
    }

    /// Waits for the device, then destroys the images and the surface.
    ///
    /// Call it before the window goes away, for example when an app is suspended. Images that are
    /// still acquired can no longer be submitted or presented. Does nothing without a surface.
    ///
    /// # Errors
    ///
    /// Returns an error if the swapchain was created with another context, or if waiting fails.
    /// Then nothing is destroyed. A lost device is not an error.
    pub fn release_surface(&mut self, context: &mut Context) -> Result<()> {
        context.check_own(self.owner.id, OBJECT)?;
        context.settle()?;
        if let Some(built) = self.built.take() {
            built.release(&self.loader.0, &mut context.idle());
        }
        self.surface = None;
        self.stale = true;
        Ok(())
    }

    /// Replaces the surface and recreates the images, for a window of `extent` physical pixels.
    ///
    /// The formats stay the same. The present mode is chosen again.
    ///
    /// # Errors
    ///
    /// Returns an error if the swapchain was created with another context, if the context cannot
    /// present to the surface, or if the surface does not support the format. Then nothing changes.
    /// Errors of [`Swapchain::release_surface`] and [`Swapchain::recreate`] are returned too. If
    /// the images could not be created, the next [`Swapchain::acquire`] tries again.
    pub fn set_surface(
        &mut self,
        context: &mut Context,
        surface: Surface,
        extent: vk::Extent2D,
    ) -> Result<()> {
        context.check_own(self.owner.id, OBJECT)?;
        context.check_surface(&surface)?;
        let format = choose_format(context, &surface, self.format.format)?;
        if format.format != self.format.format {
            let format = self.format.format;
            return Err(StandaloneError::SurfaceFormat { format });
        }
        let present_mode = choose_mode(context, &surface, self.desc.present_mode)?;
        self.release_surface(context)?;
        self.surface = Some(surface);
        self.format = format;
        self.present_mode = present_mode;
        self.recreate(context, extent)?;
        Ok(())
    }

    /// Waits for the device, then destroys the images and the surface.
    ///
    /// `context` must be the one that they were created with. If it is another, an error is logged,
    /// they are destroyed when their own context is dropped, and the window is leaked.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(self.owner.id, OBJECT)
            && let Some(built) = self.built.take()
        {
            built.release(&self.loader.0, &mut context.idle());
        }
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        let Some(built) = self.built.take() else {
            return;
        };
        log::warn!("a swapchain was dropped without destroy");
        let destroyed = self
            .owner
            .drop_later(built.into_destroy(self.loader.0.clone()));
        if let Some(surface) = self.surface.take().filter(|_| !destroyed) {
            log::warn!("its window is leaked");
            surface.drop_later(&self.owner);
        }
    }
}
