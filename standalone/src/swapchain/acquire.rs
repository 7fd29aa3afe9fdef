//! Acquiring the next image of a window.

use super::{OBJECT, Swapchain, SwapchainImage, is_empty, is_outdated};
use crate::error::Check;
use crate::{Context, FrameCommands, Result};
use ash::vk;
use std::time::Duration;

/// The longest time that [`Swapchain::acquire`] waits for an image.
///
/// It is finite, because the waiting thread is the one that handles the window's events.
const PATIENCE: Duration = Duration::from_secs(1);

/// The outcome of [`Swapchain::acquire`].
#[derive(Debug)]
#[must_use = "an acquired image is to be submitted and presented"]
pub enum Acquire<'a> {
    /// An image to draw to.
    Image(SwapchainImage<'a>),
    /// The window has no area. There is nothing to draw to for now.
    Minimised,
    /// The window changes faster than the swapchain can follow. Skip this frame.
    OutOfDate,
    /// No image became free within a second. Skip this frame.
    ///
    /// Some window systems hold back the images of a window that is not visible.
    NotReady,
}

impl Swapchain {
    /// Acquires the next image.
    ///
    /// `extent` is the window's current size in physical pixels. If it has changed, or if the
    /// swapchain is out of date, the images are recreated first.
    ///
    /// # Errors
    ///
    /// Returns an error if the swapchain or `frame` was created with another context, or if `frame`
    /// has already acquired an image. Errors of the allocator and of the Vulkan calls are returned
    /// too. After an error, the next call tries again.
    pub fn acquire<'a>(
        &'a mut self,
        context: &mut Context,
        frame: &mut FrameCommands<'_>,
        extent: vk::Extent2D,
    ) -> Result<Acquire<'a>> {
        context.check_own(&self.owner, OBJECT)?;
        let semaphore = frame.semaphore(context)?;
        // The second attempt is for a window that changed since the first.
        for _ in 0..2 {
            if is_empty(extent) {
                return Ok(Acquire::Minimised);
            }
            if (self.stale || extent != self.asked) && !self.recreate(context, extent)? {
                return Ok(Acquire::Minimised);
            }
            let Some(built) = &self.built else { break };
            let (timeout, no_fence) = (PATIENCE.as_nanos() as u64, vk::Fence::null());
            // SAFETY: the frame is being recorded and has acquired no image, so its semaphore is
            // unsignalled. If no image is acquired, it stays so. The timeout is finite.
            let next = unsafe {
                self.loader
                    .acquire_next_image(built.handle, timeout, semaphore, no_fence)
            };
            let (index, suboptimal) = match next {
                Err(result) if is_outdated(result) => {
                    self.stale = true;
                    continue;
                }
                Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(Acquire::NotReady),
                next => next.check("vkAcquireNextImageKHR")?,
            };
            frame.image_acquired();
            // Until it is presented.
            self.stale = true;
            return Ok(Acquire::Image(SwapchainImage {
                swapchain: self,
                index,
                suboptimal,
                submitted: false,
            }));
        }
        Ok(Acquire::OutOfDate)
    }
}
