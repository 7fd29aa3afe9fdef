//! Frames in flight, each with a command buffer and a fence.

use crate::error::Check;
use crate::swapchain::SwapchainImage;
use crate::{Handles, Result};
use ash::vk;
use std::rc::Rc;

/// One frame being recorded, which a submission consumes.
///
/// If it is dropped instead, for example because there is no image to draw to, the same frame is
/// begun again.
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

/// Frames in flight, begun in turn.
pub struct Frames {
    handles: Rc<Handles>,
    frames: Vec<InFlight>,
    next: usize,
}

#[derive(Default)]
struct InFlight {
    pool: vk::CommandPool,
    cmd: [vk::CommandBuffer; 1],
    /// Signalled when the frame's submission has finished.
    fence: vk::Fence,
    submitted: bool,
}

impl Frames {
    /// Creates `frames_in_flight` frames in flight, at least one.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls.
    pub fn new(context: &Rc<Handles>, frames_in_flight: usize) -> Result<Self> {
        let mut frames = Self {
            handles: context.clone(),
            frames: Vec::new(),
            next: 0,
        };
        let device = &context.device;
        let pool = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(context.queue_family);
        // An error drops the frames, which destroys what there is.
        frames
            .frames
            .resize_with(frames_in_flight.max(1), InFlight::default);
        for frame in &mut frames.frames {
            // SAFETY: the device is alive, and was created with this queue family.
            unsafe {
                let made = device.create_command_pool(&pool, None);
                frame.pool = made.check("vkCreateCommandPool")?;
                let info = vk::CommandBufferAllocateInfo::default()
                    .command_pool(frame.pool)
                    .command_buffer_count(1);
                let cmds = device.allocate_command_buffers(&info);
                frame
                    .cmd
                    .copy_from_slice(&cmds.check("vkAllocateCommandBuffers")?);
                let fence = device.create_fence(&Default::default(), None);
                frame.fence = fence.check("vkCreateFence")?;
            }
        }
        Ok(frames)
    }

    /// Waits until the next frame in flight is free, and begins its command buffer.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls.
    pub fn begin(&mut self) -> Result<FrameCommands<'_>> {
        let (frame_index, device) = (self.next, &self.handles.device);
        let frame = &mut self.frames[frame_index];
        let cmd = frame.cmd[0];
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the frame's last submission signals the fence. After it, the pool's only command
        // buffer is not in use. `FrameCommands` borrows the frames, so no other one refers to it.
        unsafe {
            if frame.submitted {
                let waited = device.wait_for_fences(&[frame.fence], true, u64::MAX);
                waited.check("vkWaitForFences")?;
                frame.submitted = false;
            }
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
}

impl Drop for Frames {
    fn drop(&mut self) {
        if self.handles.may_destroy("a frame in flight") {
            for frame in &self.frames {
                // SAFETY: the objects are of this device, which is idle. Null is ignored.
                unsafe {
                    self.handles.device.destroy_command_pool(frame.pool, None);
                    self.handles.device.destroy_fence(frame.fence, None);
                }
            }
        }
    }
}

impl FrameCommands<'_> {
    /// Ends the command buffer and submits it.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls. Then the same frame is begun again.
    ///
    /// # Safety
    ///
    /// The commands that were recorded in [`Self::cmd`] are valid, and what they use lives until
    /// this frame in flight is begun again. `cmd` is outside of rendering.
    pub unsafe fn submit(self) -> Result<()> {
        // SAFETY: as above.
        unsafe { self.run(None, None) }
    }

    /// Submits the frame, with commands that draw to an image of a window.
    ///
    /// They wait for the image before they write colour.
    ///
    /// # Errors
    ///
    /// As [`Self::submit`]. Then drop the image.
    ///
    /// # Safety
    ///
    /// As [`Self::submit`]. The image is of the same context, and the last commands that use it are
    /// those of [`SwapchainImage::end`].
    pub unsafe fn submit_image(self, image: &mut SwapchainImage<'_>) -> Result<()> {
        let (acquired, rendered) = image.semaphores();
        let wait = (acquired, vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT);
        // SAFETY: as above. The image was acquired, and no other submission has waited for it.
        unsafe { self.run(Some(wait), Some(rendered))? };
        image.set_submitted();
        Ok(())
    }

    /// # Safety
    ///
    /// As [`Self::submit`]. The first semaphore has a pending signal, the second has none.
    unsafe fn run(
        self,
        wait: Option<(vk::Semaphore, vk::PipelineStageFlags2)>,
        signal: Option<vk::Semaphore>,
    ) -> Result<()> {
        let Frames {
            handles,
            frames,
            next,
        } = self.frames;
        let (device, count) = (&handles.device, frames.len());
        let frame = &mut frames[*next];
        // SAFETY: the command buffer is recording valid commands, by this function's contract, and
        // the last submission that signals the fence was waited for.
        unsafe {
            let ended = device.end_command_buffer(self.cmd);
            ended.check("vkEndCommandBuffer")?;
            device.reset_fences(&[frame.fence]).check("vkResetFences")?;
            handles.submit(&frame.cmd, wait, signal, frame.fence)?;
        }
        frame.submitted = true;
        *next = (*next + 1) % count;
        Ok(())
    }
}

impl Handles {
    /// Records commands, submits them and waits until they have finished.
    ///
    /// # Errors
    ///
    /// Returns the errors of the Vulkan calls.
    pub fn submit_and_wait<T>(
        self: &Rc<Self>,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer) -> T,
    ) -> Result<T> {
        let mut frames = Frames::new(self, 1)?;
        let frame = frames.begin()?;
        let value = record(&self.device, frame.cmd);
        // SAFETY: callers of unsafe functions record valid commands, which end before this returns.
        unsafe { frame.submit()? };
        self.wait_idle()?;
        Ok(value)
    }
}
