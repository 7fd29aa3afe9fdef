//! Something to draw into that is seen: a window's images.
//!
//! Each image has a semaphore of its own for the end of its rendering, because
//! presenting waits for it at a time that no fence tells: one per slot could be
//! signalled again while an earlier present still waits for it.

use std::mem::ManuallyDrop;
use std::time::Duration;

use ash::{khr, vk};

use super::attachments::{Attachments, Begin, Final, Formats, barrier};
use super::context::ContextId;
use super::image::whole;
use super::presentable::{Built, BuiltDesc, choose_format, choose_mode, fit, is_empty};
use super::{Check, Context, Frame, Result, Surface};

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

/// An acquired image: draw to it, submit it, present it.
#[derive(Debug)]
#[must_use = "an acquired image is to be submitted and presented"]
pub struct SwapchainImage {
    index: u32,
    target: (vk::Image, vk::ImageView),
    pub(super) rendered: vk::Semaphore,
}

/// How long [`Swapchain::acquire`] waits for an image. Not for good: it is the
/// thread of the window's events that waits.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// What the window system had to give.
enum Next {
    Image(SwapchainImage),
    OutOfDate,
    NotReady,
}

/// What came of acquiring.
#[derive(Debug)]
#[must_use = "an acquired image is to be submitted and presented"]
pub enum Acquire {
    /// An image to draw to.
    Image(SwapchainImage),
    /// The window has no area. There is nothing to draw to until it has.
    Minimised,
    /// The window changes faster than the swapchain follows: skip this frame.
    OutOfDate,
    /// No image became free within [`PATIENCE`], as where the window system holds
    /// back those of a window that it does not show: skip this frame.
    NotReady,
}

/// What errors call it.
const OBJECT: &str = "the swapchain";

/// The images of a window, with depth and samples of their own.
#[derive(Debug)]
pub struct Swapchain {
    owner: ContextId,
    /// Leaked where `built` is: a surface goes after its swapchain.
    surface: ManuallyDrop<Surface>,
    loader: Loader,
    desc: SwapchainDesc,
    format: vk::SurfaceFormatKHR,
    present_mode: vk::PresentModeKHR,
    /// `None` before the window first has an area, and after a failed recreation.
    built: Option<Built>,
    /// The extent that the window was said to have when `built` was made.
    asked: vk::Extent2D,
    stale: bool,
    recreations: u64,
}

/// The extension's functions, which have no `Debug`.
struct Loader(khr::swapchain::Device);

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
    fn build(
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

    /// Acquires the next image. `extent` is the window's present size in
    /// physical pixels: where it has changed, or the images have become out of
    /// date, they are made anew first. Where there is no image, the frame is begun
    /// again the next time.
    ///
    /// # Errors
    ///
    /// As [`Swapchain::recreate`].
    ///
    /// # Safety
    ///
    /// `frame` is begun and not submitted, and has acquired no image yet. The
    /// image is submitted with it, and presented, before the next is acquired.
    pub unsafe fn acquire(
        &mut self,
        context: &mut Context,
        frame: &Frame,
        extent: vk::Extent2D,
    ) -> Result<Acquire> {
        context.check_own(self.owner, OBJECT)?;
        // The second try is for a window that changed since the first.
        for _ in 0..2 {
            if is_empty(extent) {
                return Ok(Acquire::Minimised);
            }
            if (self.stale || extent != self.asked) && !self.recreate(context, extent)? {
                return Ok(Acquire::Minimised);
            }
            match self.next_image(context, frame.acquired)? {
                Next::Image(image) => return Ok(Acquire::Image(image)),
                Next::NotReady => return Ok(Acquire::NotReady),
                Next::OutOfDate => {}
            }
        }
        Ok(Acquire::OutOfDate)
    }

    /// Clears, begins rendering, and sets viewport and scissor to the whole.
    ///
    /// # Safety
    ///
    /// `cmd` is the frame's that acquired `image`, outside of rendering, and
    /// [`Swapchain::end`] is recorded before it is submitted.
    pub unsafe fn begin(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        image: &SwapchainImage,
        begin: &Begin,
    ) {
        if let Some(attachments) = self.attachments() {
            // SAFETY: by the contract above.
            unsafe { attachments.begin(device, cmd, image.target(), begin) };
        }
    }

    /// Ends rendering for a while: the images stay in their attachment layouts.
    ///
    /// # Safety
    ///
    /// `cmd` is inside of the rendering that `begin` or `resume` began.
    pub unsafe fn suspend(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: by the contract above.
        unsafe { device.cmd_end_rendering(cmd) };
    }

    /// Begins rendering again on what is there.
    ///
    /// # Safety
    ///
    /// As [`Swapchain::begin`], after [`Swapchain::suspend`]; who read depth
    /// meanwhile has brought it back to its attachment layout.
    pub unsafe fn resume(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        image: &SwapchainImage,
        flags: vk::RenderingFlags,
    ) {
        if let Some(attachments) = self.attachments() {
            // SAFETY: by the contract above.
            unsafe { attachments.resume(device, cmd, image.target(), flags) };
        }
    }

    /// Ends rendering, and makes the image ready to be presented.
    ///
    /// # Safety
    ///
    /// `cmd` is inside of the rendering that `begin` or `resume` began.
    pub unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer, image: &SwapchainImage) {
        // The semaphore that presenting waits for follows this stage.
        let shown = vk::ImageMemoryBarrier2::default()
            .image(image.target.0)
            .subresource_range(whole(vk::ImageAspectFlags::COLOR))
            .src_stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)
            .src_access_mask(vk::AccessFlags2::COLOR_ATTACHMENT_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)
            .old_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .new_layout(vk::ImageLayout::PRESENT_SRC_KHR);
        // SAFETY: by the contract above.
        unsafe {
            device.cmd_end_rendering(cmd);
            barrier(device, cmd, &[shown]);
        }
    }

    /// Presents an image. Where the window has changed meanwhile, the images
    /// are made anew at the next [`Swapchain::acquire`].
    ///
    /// # Errors
    ///
    /// Where the context is not the one that the images were made with, and what
    /// `vkQueuePresentKHR` returns.
    ///
    /// # Safety
    ///
    /// `image` is the one acquired last, and was submitted.
    pub unsafe fn present(&mut self, context: &mut Context, image: SwapchainImage) -> Result<()> {
        context.check_own(self.owner, OBJECT)?;
        let (semaphores, swapchains, indices) = ([image.rendered], [self.handle()], [image.index]);
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&semaphores)
            .swapchains(&swapchains)
            .image_indices(&indices);
        // SAFETY: by the contract above.
        match unsafe { self.loader.0.queue_present(context.queue, &info) } {
            Ok(false) => Ok(()),
            Ok(true) => self.suboptimal(context),
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => {
                self.stale = true;
                Ok(())
            }
            Err(result) => Err(result).check("vkQueuePresentKHR"),
        }
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

    fn attachments(&self) -> Option<&Attachments> {
        self.built.as_ref()?.attachments.as_ref()
    }

    fn capabilities(&self, context: &Context) -> Result<vk::SurfaceCapabilitiesKHR> {
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

    fn next_image(&mut self, context: &Context, acquired: vk::Semaphore) -> Result<Next> {
        let timeout = PATIENCE.as_nanos() as u64;
        // SAFETY: the semaphore's last wait has ended with its slot, and without an
        // image it stays unsignalled; the timeout is finite.
        let next = unsafe {
            self.loader
                .0
                .acquire_next_image(self.handle(), timeout, acquired, vk::Fence::null())
        };
        let (index, suboptimal) = match next {
            Err(vk::Result::ERROR_OUT_OF_DATE_KHR) => {
                self.stale = true;
                return Ok(Next::OutOfDate);
            }
            Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(Next::NotReady),
            next => next.check("vkAcquireNextImageKHR")?,
        };
        if suboptimal {
            self.suboptimal(context)?;
        }
        let images = self.built.as_ref().map(|b| b.images.as_slice());
        let Some(image) = images.and_then(|images| images.get(index as usize)) else {
            return Ok(Next::OutOfDate);
        };
        Ok(Next::Image(SwapchainImage {
            index,
            target: (image.image, image.view),
            rendered: image.rendered,
        }))
    }

    /// Some systems call a swapchain suboptimal for as long as it lives: it is
    /// only made anew where that would change its extent.
    fn suboptimal(&mut self, context: &Context) -> Result<()> {
        let fitted = fit(&self.capabilities(context)?, self.asked);
        self.stale |= fitted != self.extent();
        Ok(())
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

impl SwapchainImage {
    /// The image's position in the swapchain.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    fn target(&self) -> Final {
        let (image, view) = self.target;
        Final { image, view }
    }
}
