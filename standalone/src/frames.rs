//! Frames in flight, each with a command buffer, a fence and an acquire semaphore.

use super::error::Check;
use super::owner::DeviceOwner;
use super::{Context, Result, StandaloneError, SwapchainImage};
use ash::vk;
use std::mem::take;
use std::sync::Arc;

/// One frame being recorded. [`FrameCommands::submit`] consumes it.
///
/// If it is dropped instead, for example because there is no image to draw to, the same frame is
/// begun again.
#[derive(Debug)]
#[non_exhaustive]
pub struct FrameCommands<'a> {
    /// Index of the frame in flight.
    ///
    /// It is less than the number of frames in flight. Everything that was submitted earlier with
    /// this index has finished.
    pub frame_index: usize,
    /// The command buffer. It is recording, outside of rendering.
    pub cmd: vk::CommandBuffer,
    frames: &'a mut Frames,
}

/// The name of this object in errors.
const OBJECT: &str = "the set of frames in flight";

/// Frames in flight, begun in turn.
#[derive(Debug)]
pub struct Frames {
    owner: Arc<DeviceOwner>,
    frames: Vec<InFlight>,
    next: usize,
}

/// The objects of one frame in flight.
#[derive(Debug, Default)]
struct InFlight {
    pool: vk::CommandPool,
    cmd: vk::CommandBuffer,
    /// Signalled when the frame's submission has finished.
    fence: vk::Fence,
    submitted: bool,
    /// Signalled when the image that was acquired with the frame is ready.
    acquired: vk::Semaphore,
    /// Set if an image was acquired, and no submission has waited for `acquired` yet.
    has_image: bool,
}

impl Frames {
    /// Creates `frames_in_flight` frames in flight, at least one.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls.
    pub fn new(context: &Context, frames_in_flight: usize) -> Result<Self> {
        let mut frames = Self {
            owner: context.owner(),
            frames: Vec::new(),
            next: 0,
        };
        for _ in 0..frames_in_flight.max(1) {
            let mut frame = InFlight::default();
            let result = frame.build(context);
            frames.frames.push(frame);
            if let Err(error) = result {
                frames.take()(&context.device);
                return Err(error);
            }
        }
        Ok(frames)
    }

    /// The number of frames in flight.
    #[must_use]
    pub fn count(&self) -> usize {
        self.frames.len()
    }

    /// Waits until the next frame in flight is free, and begins its command buffer.
    ///
    /// If the same frame was begun before and not submitted, and had acquired an image, this waits
    /// until the image is ready.
    ///
    /// # Errors
    ///
    /// Returns an error if the frames were created with another context, and the errors of the
    /// Vulkan calls.
    pub fn begin(&mut self, context: &mut Context) -> Result<FrameCommands<'_>> {
        context.check_own(&self.owner, OBJECT)?;
        let frame_index = self.next;
        let frame = &mut self.frames[frame_index];
        frame.wait(context)?;
        frame.wait_for_image(context)?;
        let cmd = frame.cmd;
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: `wait` has waited for the frame's last submission, so the pool's only command
        // buffer is not in use. `FrameCommands` borrows the frames, so no other one refers to it.
        unsafe {
            let device = &context.device;
            let reset = device.reset_command_pool(frame.pool, Default::default());
            reset.check("vkResetCommandPool")?;
            let begun = device.begin_command_buffer(cmd, &info);
            begun.check("vkBeginCommandBuffer")?;
        }
        Ok(FrameCommands {
            frame_index,
            cmd,
            frames: self,
        })
    }

    /// Waits for the device, then destroys the frames in flight.
    ///
    /// `context` must be the one that they were created with. If it is another, an error is logged,
    /// and they are destroyed with their own context.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(&self.owner, OBJECT) {
            self.take()(&context.device);
        }
    }

    /// Takes all frames. The result destroys them. The device must no longer use them then.
    fn take(&mut self) -> impl FnOnce(&ash::Device) + Send + 'static {
        let frames = take(&mut self.frames);
        move |device| {
            for frame in frames {
                // SAFETY: `build` created the objects with this device, which no longer uses them.
                // Null is ignored.
                unsafe {
                    device.destroy_command_pool(frame.pool, None);
                    device.destroy_fence(frame.fence, None);
                    device.destroy_semaphore(frame.acquired, None);
                }
            }
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        if !self.frames.is_empty() {
            let count = self.frames.len();
            log::warn!("{count} frames in flight were dropped without destroy");
            let destroy = self.take();
            self.owner.drop_later(Box::new(|idle| destroy(idle.device)));
        }
    }
}

impl FrameCommands<'_> {
    fn in_flight(&mut self) -> &mut InFlight {
        &mut self.frames.frames[self.frames.next]
    }

    /// The semaphore for acquiring an image, which is unsignalled.
    pub(crate) fn semaphore(&mut self, context: &Context) -> Result<vk::Semaphore> {
        context.check_own(&self.frames.owner, OBJECT)?;
        let frame_index = self.frames.next;
        let frame = self.in_flight();
        match frame.has_image {
            true => Err(StandaloneError::FrameHasImage { frame_index }),
            false => Ok(frame.acquired),
        }
    }

    /// Records that acquiring an image signals the semaphore.
    pub(crate) fn image_acquired(&mut self) {
        self.in_flight().has_image = true;
    }

    /// Ends the command buffer and submits it.
    ///
    /// If the frame has acquired an image, the submission waits for it before it writes colour. If
    /// the image is passed, it can be presented afterwards.
    ///
    /// # Errors
    ///
    /// Returns an error if the frames were created with another context, and the errors of the
    /// Vulkan calls. Then the same frame is begun again.
    ///
    /// # Safety
    ///
    /// - The commands that were recorded in [`Self::cmd`] are valid, and what they use lives until
    ///   this frame in flight is begun again. `cmd` is outside of rendering.
    /// - `image` was acquired with this frame.
    pub unsafe fn submit(
        mut self,
        context: &mut Context,
        image: Option<&mut SwapchainImage<'_>>,
    ) -> Result<()> {
        context.check_own(&self.frames.owner, OBJECT)?;
        let in_flight = self.in_flight();
        let wait = in_flight.has_image.then(|| {
            vk::SemaphoreSubmitInfo::default()
                .semaphore(in_flight.acquired)
                .stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)
        });
        let signal = image.as_ref().map(|image| {
            vk::SemaphoreSubmitInfo::default()
                .semaphore(image.rendered())
                .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        });
        let cmds = [vk::CommandBufferSubmitInfo::default().command_buffer(in_flight.cmd)];
        let submit = vk::SubmitInfo2::default()
            .wait_semaphore_infos(wait.as_slice())
            .command_buffer_infos(&cmds)
            .signal_semaphore_infos(signal.as_slice());
        // SAFETY: the command buffer is recording, and the caller guarantees that its commands are
        // valid.
        unsafe {
            let ended = context.device.end_command_buffer(in_flight.cmd);
            ended.check("vkEndCommandBuffer")?;
            in_flight.submit(context, submit)?;
        }
        if let Some(image) = image {
            image.submitted = true;
        }
        self.frames.next = (self.frames.next + 1) % self.frames.frames.len();
        Ok(())
    }
}

impl InFlight {
    fn build(&mut self, context: &Context) -> Result<()> {
        let device = &context.device;
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(context.queue_family);
        // SAFETY: the device is alive, and was created with this queue family.
        unsafe {
            let pool = device.create_command_pool(&info, None);
            self.pool = pool.check("vkCreateCommandPool")?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.pool)
                .command_buffer_count(1);
            let cmds = device.allocate_command_buffers(&info);
            let cmds = cmds.check("vkAllocateCommandBuffers")?;
            self.cmd = cmds.first().copied().unwrap_or_default();
            let fence = device.create_fence(&Default::default(), None);
            self.fence = fence.check("vkCreateFence")?;
            let acquired = device.create_semaphore(&Default::default(), None);
            self.acquired = acquired.check("vkCreateSemaphore")?;
        }
        Ok(())
    }

    /// Submits work whose end signals the fence. It waits for the image, if one was acquired.
    ///
    /// # Safety
    ///
    /// The work is valid, and the last submission was waited for.
    unsafe fn submit(&mut self, context: &mut Context, work: vk::SubmitInfo2<'_>) -> Result<()> {
        // SAFETY: the caller guarantees it.
        unsafe {
            let device = &context.device;
            device.reset_fences(&[self.fence]).check("vkResetFences")?;
            let submitted = device.queue_submit2(context.queue, &[work], self.fence);
            submitted.check("vkQueueSubmit2")?;
        }
        (self.submitted, self.has_image) = (true, false);
        Ok(())
    }

    /// Waits for the acquisition of an image that was never submitted.
    ///
    /// Its semaphore can then be signalled again.
    fn wait_for_image(&mut self, context: &mut Context) -> Result<()> {
        if !self.has_image {
            return Ok(());
        }
        let wait = [vk::SemaphoreSubmitInfo::default()
            .semaphore(self.acquired)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let work = vk::SubmitInfo2::default().wait_semaphore_infos(&wait);
        // SAFETY: the acquisition signals the semaphore, and no submission has waited for it.
        unsafe { self.submit(context, work)? };
        self.wait(context)
    }

    fn wait(&mut self, context: &Context) -> Result<()> {
        if self.submitted {
            // SAFETY: the fence is alive, and the submission that signals it succeeded.
            let waited = unsafe {
                context
                    .device
                    .wait_for_fences(&[self.fence], true, u64::MAX)
            };
            waited.check("vkWaitForFences")?;
            self.submitted = false;
        }
        Ok(())
    }
}
