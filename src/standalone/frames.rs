//! Frames in flight: N slots, each with a command buffer, a fence and an acquire
//! semaphore.

use super::context::ContextId;
use super::{Check, Context, Result, SwapchainImage};
use ash::vk;

/// One frame being recorded.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Frame {
    /// The slot, 0 to the number of slots: everything that was submitted in it
    /// has ended.
    pub slot: usize,
    /// Recording, outside of rendering.
    pub cmd: vk::CommandBuffer,
    /// For [`Swapchain::acquire`](super::swapchain::Swapchain::acquire).
    pub(super) acquired: vk::Semaphore,
}

/// What errors call them.
const OBJECT: &str = "the frame slots";

/// The slots, begun in turn.
#[derive(Debug)]
pub struct Frames {
    owner: ContextId,
    slots: Vec<Slot>,
    next: usize,
}

#[derive(Debug, Default)]
struct Slot {
    pool: vk::CommandPool,
    cmd: vk::CommandBuffer,
    /// Signalled when the slot's submission has ended.
    fence: vk::Fence,
    submitted: bool,
    acquired: vk::Semaphore,
}

impl Frames {
    /// Makes `slots` slots, at least one.
    ///
    /// # Errors
    ///
    /// What the Vulkan calls return.
    pub fn new(context: &Context, slots: usize) -> Result<Self> {
        let mut frames = Self {
            owner: context.id(),
            slots: Vec::new(),
            next: 0,
        };
        for _ in 0..slots.max(1) {
            let mut slot = Slot::default();
            let result = slot.build(context);
            frames.slots.push(slot);
            if let Err(error) = result {
                frames.release(context);
                return Err(error);
            }
        }
        Ok(frames)
    }

    /// The number of slots.
    #[must_use]
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Waits until the next slot is free, and begins its command buffer. A frame
    /// that is begun and not submitted, because there is no image to draw to, is
    /// begun again.
    ///
    /// # Errors
    ///
    /// Where the context is not the one that the slots were made with, and what
    /// the Vulkan calls return.
    pub fn begin(&mut self, context: &mut Context) -> Result<Frame> {
        context.check_own(self.owner, OBJECT)?;
        let number = self.next;
        let slot = &mut self.slots[number];
        slot.wait(context)?;
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the slot's last submission has ended.
        unsafe {
            context
                .device
                .reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty())
                .check("vkResetCommandPool")?;
            context
                .device
                .begin_command_buffer(slot.cmd, &info)
                .check("vkBeginCommandBuffer")?;
        }
        Ok(Frame {
            slot: number,
            cmd: slot.cmd,
            acquired: slot.acquired,
        })
    }

    /// Ends the frame's command buffer and submits it. With an image, it waits
    /// for its acquisition before colour is written, and the image can be
    /// presented afterwards.
    ///
    /// # Errors
    ///
    /// As [`Frames::begin`].
    ///
    /// # Safety
    ///
    /// `frame` is the one that [`Frames::begin`] gave last, what was recorded is
    /// valid, and `image` was acquired with this frame.
    pub unsafe fn submit(
        &mut self,
        context: &mut Context,
        frame: Frame,
        image: Option<&SwapchainImage>,
    ) -> Result<()> {
        context.check_own(self.owner, OBJECT)?;
        let slot = &mut self.slots[frame.slot];
        let wait = image.map(|_| {
            vk::SemaphoreSubmitInfo::default()
                .semaphore(frame.acquired)
                .stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)
        });
        let signal = image.map(|image| {
            vk::SemaphoreSubmitInfo::default()
                .semaphore(image.rendered)
                .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        });
        let cmds = [vk::CommandBufferSubmitInfo::default().command_buffer(frame.cmd)];
        let submit = [vk::SubmitInfo2::default()
            .wait_semaphore_infos(wait.as_slice())
            .command_buffer_infos(&cmds)
            .signal_semaphore_infos(signal.as_slice())];
        // SAFETY: by the contract above; the fence's last use was waited for.
        unsafe {
            let device = &context.device;
            device
                .end_command_buffer(frame.cmd)
                .check("vkEndCommandBuffer")?;
            device.reset_fences(&[slot.fence]).check("vkResetFences")?;
            device
                .queue_submit2(context.queue, &submit, slot.fence)
                .check("vkQueueSubmit2")?;
        }
        slot.submitted = true;
        self.next = (frame.slot + 1) % self.slots.len();
        Ok(())
    }

    /// Waits for the device, and destroys the slots. `context` is the one that
    /// they were made with; with another they are leaked, and that is logged.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(self.owner, OBJECT) {
            self.release(context);
        }
    }

    fn release(&mut self, context: &Context) {
        for slot in self.slots.drain(..) {
            // SAFETY: of this device, and unused; null is ignored.
            unsafe {
                context.device.destroy_command_pool(slot.pool, None);
                context.device.destroy_fence(slot.fence, None);
                context.device.destroy_semaphore(slot.acquired, None);
            }
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        if !self.slots.is_empty() {
            log::warn!(
                "{} frame slots were dropped and not destroyed",
                self.slots.len()
            );
        }
    }
}

impl Slot {
    fn build(&mut self, context: &Context) -> Result<()> {
        let device = &context.device;
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(context.queue_family);
        // SAFETY: the device is alive, and was made with this queue family.
        unsafe {
            self.pool = device
                .create_command_pool(&info, None)
                .check("vkCreateCommandPool")?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.pool)
                .command_buffer_count(1);
            let cmds = device
                .allocate_command_buffers(&info)
                .check("vkAllocateCommandBuffers")?;
            self.cmd = cmds.first().copied().unwrap_or_default();
            self.fence = device
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .check("vkCreateFence")?;
            self.acquired = device
                .create_semaphore(&vk::SemaphoreCreateInfo::default(), None)
                .check("vkCreateSemaphore")?;
        }
        Ok(())
    }

    fn wait(&mut self, context: &Context) -> Result<()> {
        if self.submitted {
            // SAFETY: the fence was submitted.
            unsafe {
                context
                    .device
                    .wait_for_fences(&[self.fence], true, u64::MAX)
            }
            .check("vkWaitForFences")?;
            self.submitted = false;
        }
        Ok(())
    }
}
