//! Acquires, draws to and presents the images of a swapchain.

use super::super::attachments::{Attachments, Begin, barrier};
use super::super::error::Check;
use super::super::image::whole;
use super::super::{Context, FrameCommands, Result};
use super::built::{Built, fit, is_empty};
use super::image::{OBJECT, SwapchainImage};
use super::rotation::choose_transform;
use super::state::Swapchain;
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The longest time that [`Swapchain::acquire`] waits for an image.
///
/// It is finite, because the waiting thread is the one that handles the window's events.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// The outcome of one attempt to acquire an image.
enum Next {
    Image(SwapchainImage),
    OutOfDate,
    NotReady,
}

/// The outcome of [`Swapchain::acquire`].
#[derive(Debug)]
#[must_use = "an acquired image is to be submitted and presented"]
pub enum Acquire {
    /// An image to draw to.
    Image(SwapchainImage),
    /// The window has no area, or its surface was released. There is nothing to draw to for now.
    Minimised,
    /// The window changes faster than the swapchain can follow. Skip this frame.
    OutOfDate,
    /// No image became free within [`PATIENCE`]. Skip this frame.
    ///
    /// Some window systems hold back the images of a window that is not visible.
    NotReady,
}

impl Swapchain {
    /// Acquires the next image.
    ///
    /// `extent` is the window's current size in physical pixels. If it has changed, or if the
    /// swapchain is out of date, the images are recreated first. If no image is returned,
    /// [`Frames::begin`](super::super::Frames::begin) begins the same frame again.
    ///
    /// # Errors
    ///
    /// As [`Swapchain::recreate`]. Also returns an error if `frame` was created with another
    /// context, is no longer being recorded, or has already acquired an image.
    pub fn acquire(
        &mut self,
        context: &mut Context,
        frame: &FrameCommands,
        extent: vk::Extent2D,
    ) -> Result<Acquire> {
        context.check_own(self.owner.id, OBJECT)?;
        frame.check_acquire(context)?;
        // An image that was dropped cannot be acquired again.
        let dropped = |built: &Built| built.acquired > built.images_held();
        self.stale |= self.built.as_ref().is_some_and(dropped);
        // The second attempt is for a window that changed since the first.
        for _ in 0..2 {
            if is_empty(extent) {
                return Ok(Acquire::Minimised);
            }
            if (self.stale || extent != self.asked) && !self.recreate(context, extent)? {
                return Ok(Acquire::Minimised);
            }
            match self.next_image(context, frame)? {
                Next::Image(image) => return Ok(Acquire::Image(image)),
                Next::NotReady => return Ok(Acquire::NotReady),
                Next::OutOfDate => {}
            }
        }
        Ok(Acquire::OutOfDate)
    }

    /// Clears, begins rendering, and sets viewport and scissor to the whole image.
    ///
    /// # Safety
    ///
    /// `image` was acquired from this swapchain and is not presented. `cmd` is the command buffer
    /// of the frame that acquired it, outside of rendering.
    /// [`Swapchain::end`] is recorded before it is submitted.
    pub unsafe fn begin(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        image: &SwapchainImage,
        begin: &Begin,
    ) {
        if let Some(attachments) = self.attachments() {
            // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
            unsafe { attachments.begin(device, cmd, image.target(), begin) };
        }
    }

    /// Suspends rendering. The images stay in their attachment layouts.
    ///
    /// # Safety
    ///
    /// `cmd` is inside of the rendering that `begin`, with [`Begin::suspends`], or `resume` began.
    pub unsafe fn suspend(&self, device: &ash::Device, cmd: vk::CommandBuffer) {
        // SAFETY: the caller guarantees that `cmd` is inside the rendering begun before.
        unsafe { device.cmd_end_rendering(cmd) };
    }

    /// Begins rendering again and keeps the existing contents.
    ///
    /// # Safety
    ///
    /// As [`Swapchain::begin`], after [`Swapchain::suspend`]. If depth was read in between, it is
    /// back in its attachment layout.
    pub unsafe fn resume(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        image: &SwapchainImage,
        flags: vk::RenderingFlags,
    ) {
        if let Some(attachments) = self.attachments() {
            // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
            unsafe { attachments.resume(device, cmd, image.target(), flags) };
        }
    }

    /// Ends rendering and makes the image ready to be presented.
    ///
    /// # Safety
    ///
    /// `cmd` is inside of the rendering that `begin` or `resume` began.
    pub unsafe fn end(&self, device: &ash::Device, cmd: vk::CommandBuffer, image: &SwapchainImage) {
        // The semaphore that presenting waits for is signalled after this stage.
        let shown = vk::ImageMemoryBarrier2::default()
            .image(image.target.0)
            .subresource_range(whole(vk::ImageAspectFlags::COLOR))
            .src_stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)
            .src_access_mask(vk::AccessFlags2::COLOR_ATTACHMENT_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)
            .old_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .new_layout(vk::ImageLayout::PRESENT_SRC_KHR);
        // SAFETY: the caller guarantees that `cmd` is inside the rendering begun before.
        unsafe {
            device.cmd_end_rendering(cmd);
            barrier(device, cmd, &[shown]);
        }
    }

    /// Presents an image.
    ///
    /// If the window has changed meanwhile, the next [`Swapchain::acquire`] recreates the images.
    ///
    /// # Errors
    ///
    /// Returns an error if the swapchain was created with another context, if `image` belongs to
    /// another swapchain, or if it was not submitted. The error of `vkQueuePresentKHR` is returned
    /// too.
    ///
    /// # Safety
    ///
    /// The submitted commands end with [`Swapchain::end`] for this image.
    pub unsafe fn present(&mut self, context: &mut Context, image: SwapchainImage) -> Result<()> {
        context.check_own(self.owner.id, OBJECT)?;
        image.check_present(self.built.as_ref().map(|built| &built.generation))?;
        let (semaphores, swapchains, indices) = ([image.rendered], [self.handle()], [image.index]);
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&semaphores)
            .swapchains(&swapchains)
            .image_indices(&indices);
        // SAFETY: the image is acquired and submitted, and belongs to this swapchain, as was just
        // checked. The caller guarantees its layout.
        let result = unsafe { self.loader.0.queue_present(context.queue, &info) };
        // With these results, the presentation was queued or rejected. With others, the image stays
        // acquired.
        let returned = match result {
            Ok(_) | Err(vk::Result::ERROR_SURFACE_LOST_KHR) => true,
            Err(result) => is_outdated(result),
        };
        if let Some(built) = self.built.as_mut().filter(|_| returned) {
            built.acquired = built.acquired.saturating_sub(1);
        }
        drop(image);
        match result {
            Ok(false) => Ok(()),
            Ok(true) => self.suboptimal(context),
            Err(result) if is_outdated(result) => {
                self.stale = true;
                Ok(())
            }
            Err(result) => Err(result).check("vkQueuePresentKHR"),
        }
    }

    fn attachments(&self) -> Option<&Attachments> {
        self.built.as_ref()?.attachments.as_ref()
    }

    fn next_image(&mut self, context: &Context, frame: &FrameCommands) -> Result<Next> {
        let timeout = PATIENCE.as_nanos() as u64;
        // SAFETY: the frame is being recorded and has acquired no image, as `check_acquire`
        // checked. So its semaphore is alive and unsignalled. If no image is acquired, it stays so.
        // The timeout is finite.
        let next = unsafe {
            self.loader.0.acquire_next_image(
                self.handle(),
                timeout,
                frame.acquired,
                vk::Fence::null(),
            )
        };
        let (index, suboptimal) = match next {
            Err(result) if is_outdated(result) => {
                self.stale = true;
                return Ok(Next::OutOfDate);
            }
            Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(Next::NotReady),
            next => next.check("vkAcquireNextImageKHR")?,
        };
        let number = frame.image_acquired();
        let Some(built) = &mut self.built else {
            return Ok(Next::OutOfDate);
        };
        built.acquired += 1;
        let Some(image) = built.images.get(index as usize) else {
            return Ok(Next::OutOfDate);
        };
        let image = SwapchainImage {
            index,
            target: (image.image, image.view),
            rendered: image.rendered,
            of: Arc::clone(&built.generation),
            frame: number,
            submitted: AtomicBool::new(false),
        };
        if suboptimal {
            self.suboptimal(context)?;
        }
        Ok(Next::Image(image))
    }

    /// Recreates the swapchain only if that would change its extent or its transform.
    ///
    /// Some window systems report a swapchain as suboptimal for as long as it lives. Android does
    /// so while it rotates the images.
    fn suboptimal(&mut self, context: &Context) -> Result<()> {
        let (Some(surface), Some(built)) = (&self.surface, &self.built) else {
            return Ok(());
        };
        let capabilities = surface.capabilities(context.physical_device)?;
        let (transform, rotation) = choose_transform(&capabilities, self.desc.pre_rotate)?;
        let fitted = fit(&capabilities, self.asked, rotation);
        self.stale |= fitted != built.extent || transform != built.transform;
        Ok(())
    }
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
