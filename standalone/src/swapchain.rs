//! The images of a window, to draw into and present.
//!
//! Each image has its own semaphore for the end of its rendering. Presenting waits for it, and no
//! fence tells when that wait has ended. A semaphore per frame in flight could be signalled again
//! while an earlier present still waits for it.

mod built;

use crate::attachments::{Attachments, DRAWN, Final, Formats};
use crate::error::Check;
use crate::image::{barrier, transition};
use crate::surface::{Surface, Window};
use crate::{Begin, Handles, Result, StandaloneError};
use ash::vk;
use built::{Built, fit};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use std::fmt;
use std::mem::{ManuallyDrop, swap};
use std::rc::Rc;
use std::time::Duration;
use throng::PassDesc;

/// The longest time that [`Swapchain::acquire`] waits for an image.
///
/// It is finite, because the waiting thread is the one that handles the window's events.
const PATIENCE: Duration = Duration::from_secs(1);

/// The images of a window, with their depth and multisampled colour images.
///
/// They are presented in FIFO order, in an 8-bit sRGB format if the surface supports one.
///
/// # Lost surfaces
///
/// A surface can be lost while the device keeps working. Calls then fail with
/// [`StandaloneError::SurfaceLost`]. Drop the swapchain and create another one. Context, pipelines
/// and crowds stay as they are.
pub struct Swapchain {
    shown: ManuallyDrop<Shown>,
    format: vk::SurfaceFormatKHR,
    depth_format: Option<vk::Format>,
    samples: vk::SampleCountFlags,
    /// The window's extent when the images were created, as reported by the caller.
    asked: vk::Extent2D,
    /// True if the images must be recreated: the window has changed, or one of them is acquired and
    /// was never presented.
    stale: bool,
    /// Signalled by an acquisition, if no submission has waited for it yet.
    unwaited: Option<vk::Semaphore>,
    handles: Rc<Handles>,
}

/// The window and its Vulkan objects, dropped in this order.
struct Shown {
    /// `None` until the window first has an area, and after a failed recreation.
    built: Option<Built>,
    surface: Surface,
    _window: Box<dyn Window>,
}

/// An acquired image. Draw to it, [submit](crate::FrameCommands::submit_image) it with its frame,
/// then present it.
///
/// If it is dropped instead, the next [`Swapchain::acquire`] recreates the images.
#[must_use = "an acquired image is to be submitted and presented"]
pub struct SwapchainImage<'a> {
    swapchain: &'a mut Swapchain,
    index: usize,
    /// True if the driver called the swapchain suboptimal. Some say so only here, others only when
    /// the image is presented.
    suboptimal: bool,
    /// True if its drawing was submitted.
    submitted: bool,
}

impl fmt::Debug for SwapchainImage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SwapchainImage").field(&self.index).finish()
    }
}

impl Swapchain {
    /// Creates the images of a window of `extent` physical pixels.
    ///
    /// With a `depth_format`, there is a depth image, too, which is discarded after rendering.
    /// `samples` are those of colour and depth.
    ///
    /// If the extent has no area, there are no images until [`Swapchain::acquire`] gets an extent
    /// that has one.
    ///
    /// # Errors
    ///
    /// Returns an error if:
    ///
    /// - the context was not created for a window of this window system,
    /// - the window has no handle,
    /// - the queue cannot present to it,
    /// - the device does not support the formats or samples,
    /// - a Vulkan call fails.
    pub fn new(
        context: &Rc<Handles>,
        window: impl HasDisplayHandle + HasWindowHandle + 'static,
        extent: vk::Extent2D,
        depth_format: Option<vk::Format>,
        samples: vk::SampleCountFlags,
    ) -> Result<Self> {
        let handles = context.clone();
        let surface = Surface::new(&handles.owner, &window)?;
        let (device, queue_family) = (handles.physical_device, handles.queue_family);
        if !surface.presents(device, queue_family)? {
            return Err(StandaloneError::Surface { queue_family });
        }
        let mut swapchain = Self {
            format: surface.format(device)?,
            shown: ManuallyDrop::new(Shown {
                built: None,
                surface,
                _window: Box::new(window),
            }),
            depth_format,
            samples,
            asked: vk::Extent2D::default(),
            stale: true,
            unwaited: None,
            handles,
        };
        swapchain.recreate(extent)?;
        Ok(swapchain)
    }

    /// A colour pass with the formats and samples of the images, which never change.
    ///
    /// Kind and options can be changed.
    #[must_use]
    pub fn pass_desc(&self) -> PassDesc<'static> {
        self.formats().pass_desc()
    }

    fn formats(&self) -> Formats {
        Formats {
            color: self.format.format,
            depth: self.depth_format,
            samples: self.samples,
        }
    }

    /// Width and height of the images in texels. Zero if there are no images.
    pub fn extent(&self) -> vk::Extent2D {
        let built = self.shown.built.as_ref();
        built.map(|b| b.attachments.extent).unwrap_or_default()
    }

    /// Acquires the next image.
    ///
    /// `extent` is the window's current size in physical pixels. If it has changed, or if the
    /// swapchain is out of date, the images are recreated first.
    ///
    /// Returns `None` if there is nothing to draw to for now: the window has no area, it changes
    /// faster than the swapchain can follow, or no image became free within a second. Some window
    /// systems hold back the images of a window that is not visible.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls. After an error, the next call tries again.
    pub fn acquire(&mut self, extent: vk::Extent2D) -> Result<Option<SwapchainImage<'_>>> {
        // The second attempt is for a window that changed since the first.
        for _ in 0..2 {
            if (self.stale || extent != self.asked) && !self.recreate(extent)? {
                return Ok(None);
            }
            let Some(built) = &mut self.shown.built else {
                break;
            };
            let (timeout, no_fence) = (PATIENCE.as_nanos() as u64, vk::Fence::null());
            // SAFETY: the semaphore is unsignalled. If no image is acquired, it stays so.
            let next = unsafe {
                let (loader, spare) = (&built.loader, built.spare);
                loader.acquire_next_image(built.handle, timeout, spare, no_fence)
            };
            let (index, suboptimal) = match next {
                Err(result) if is_outdated(result) => {
                    self.stale = true;
                    continue;
                }
                Err(vk::Result::TIMEOUT | vk::Result::NOT_READY) => return Ok(None),
                next => next.check("vkAcquireNextImageKHR")?,
            };
            let index = index as usize;
            self.unwaited = Some(built.spare);
            swap(&mut built.images[index].acquired, &mut built.spare);
            // Until it is presented.
            self.stale = true;
            return Ok(Some(SwapchainImage {
                swapchain: self,
                index,
                suboptimal,
                submitted: false,
            }));
        }
        Ok(None)
    }

    /// Recreates the images for a window of `extent` physical pixels.
    ///
    /// Waits for the device first. Returns false if the window has no area.
    fn recreate(&mut self, extent: vk::Extent2D) -> Result<bool> {
        self.stale = true;
        if is_empty(extent) {
            return Ok(false);
        }
        let (formats, handles, shown) = (self.formats(), &self.handles, &mut self.shown);
        let capabilities = shown.surface.capabilities(handles.physical_device)?;
        let fitted = fit(&capabilities, extent);
        if is_empty(fitted) {
            return Ok(false);
        }
        if let Some(semaphore) = self.unwaited {
            let wait = Some((semaphore, vk::PipelineStageFlags2::ALL_COMMANDS));
            // SAFETY: the acquisition signals the semaphore, and nothing else waits for it.
            unsafe { handles.submit(&[], wait, None, vk::Fence::null())? };
            self.unwaited = None;
        }
        // The work that uses the old images has been submitted, but may not have finished.
        handles.wait_idle()?;
        let old = shown.built.as_ref().map(|b| b.handle).unwrap_or_default();
        let kind = (self.format, formats, fitted);
        let new = Built::new(handles, &shown.surface, &capabilities, kind, old);
        shown.built = None;
        shown.built = Some(new?);
        self.asked = extent;
        self.stale = false;
        Ok(true)
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        if self.handles.may_destroy("a window with its swapchain") {
            // SAFETY: it is dropped only here.
            unsafe { ManuallyDrop::drop(&mut self.shown) };
        }
    }
}

impl SwapchainImage<'_> {
    /// Width and height in texels.
    pub fn extent(&self) -> vk::Extent2D {
        self.swapchain.extent()
    }

    /// The semaphores that drawing waits for, and that presenting waits for.
    pub(crate) fn semaphores(&self) -> (vk::Semaphore, vk::Semaphore) {
        let built = self.swapchain.shown.built.as_ref();
        let image = built.map(|built| built.images[self.index]);
        image
            .map(|image| (image.acquired, image.rendered))
            .unwrap_or_default()
    }

    /// The drawing was submitted, with its wait for the image.
    pub(crate) fn set_submitted(&mut self) {
        self.swapchain.unwaited = None;
        self.submitted = true;
    }

    fn target(&self) -> Option<(&Attachments, Final)> {
        let built = self.swapchain.shown.built.as_ref()?;
        Some((&built.attachments, built.images[self.index].target))
    }

    /// Clears, begins rendering, and sets viewport and scissor to the whole image.
    ///
    /// # Safety
    ///
    /// `cmd` is the command buffer of a frame of the same context, outside of rendering.
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

    /// Presents the image, after
    /// [`FrameCommands::submit_image`](crate::FrameCommands::submit_image).
    ///
    /// An image whose drawing was not submitted is given up instead, as if it had been dropped.
    ///
    /// If the window has changed meanwhile, the next [`Swapchain::acquire`] recreates the images.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls.
    pub fn present(self) -> Result<()> {
        if !self.submitted {
            return Ok(());
        }
        let (semaphores, indices) = ([self.semaphores().1], [self.index as u32]);
        let Swapchain {
            handles,
            shown,
            asked,
            stale,
            ..
        } = self.swapchain;
        let Some(built) = &shown.built else {
            return Ok(());
        };
        let swapchains = [built.handle];
        let info = vk::PresentInfoKHR::default()
            .wait_semaphores(&semaphores)
            .swapchains(&swapchains)
            .image_indices(&indices);
        // SAFETY: the image is acquired. Commands were submitted that signal the semaphore and
        // leave the image in its layout, by the contract of `FrameCommands::submit_image`.
        let result = unsafe { built.loader.queue_present(handles.queue, &info) };
        *stale = match result {
            // Some window systems report a swapchain as suboptimal for as long as it lives.
            Ok(suboptimal) if suboptimal || self.suboptimal => {
                let capabilities = shown.surface.capabilities(handles.physical_device)?;
                fit(&capabilities, *asked) != built.attachments.extent
            }
            Ok(_) => false,
            Err(result) if is_outdated(result) => true,
            Err(result) => return Err(result).check("vkQueuePresentKHR"),
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
