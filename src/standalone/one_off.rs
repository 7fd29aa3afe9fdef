//! Commands that are recorded, submitted and waited for.

use super::Result;
use super::error::Check;
use super::idle::settle;
use ash::vk;

/// One command buffer and its fence, freed on drop.
pub(super) struct OneOff<'a> {
    device: &'a ash::Device,
    pool: vk::CommandPool,
    pub(super) cmd: vk::CommandBuffer,
    fence: vk::Fence,
    /// True while the device may be working on it.
    submitted: bool,
}

impl<'a> OneOff<'a> {
    pub(super) fn new(device: &'a ash::Device, pool: vk::CommandPool) -> Result<Self> {
        let mut work = Self {
            device,
            pool,
            cmd: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            submitted: false,
        };
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: the pool belongs to this device, and is borrowed through the context.
        let cmds =
            unsafe { device.allocate_command_buffers(&info) }.check("vkAllocateCommandBuffers")?;
        work.cmd = cmds.first().copied().unwrap_or_default();
        // SAFETY: the device is alive.
        work.fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }
            .check("vkCreateFence")?;
        Ok(work)
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is new.
        unsafe { self.device.begin_command_buffer(self.cmd, &info) }.check("vkBeginCommandBuffer")
    }

    pub(super) fn run(&mut self, queue: vk::Queue) -> Result<()> {
        let cmds = [vk::CommandBufferSubmitInfo::default().command_buffer(self.cmd)];
        let submit = [vk::SubmitInfo2::default().command_buffer_infos(&cmds)];
        // SAFETY: the command buffer is recording, the fence is new, and the queue belongs to the
        // context, which is borrowed mutably.
        unsafe {
            self.device
                .end_command_buffer(self.cmd)
                .check("vkEndCommandBuffer")?;
            self.device
                .queue_submit2(queue, &submit, self.fence)
                .check("vkQueueSubmit2")?;
            self.submitted = true;
            self.device
                .wait_for_fences(&[self.fence], true, u64::MAX)
                .check("vkWaitForFences")?;
            self.submitted = false;
        }
        Ok(())
    }
}

impl Drop for OneOff<'_> {
    fn drop(&mut self) {
        if self.submitted {
            // The wait failed. Another one is enough.
            // SAFETY: the device is alive, and the context, which owns the queue, is borrowed.
            if let Err(error) = unsafe { settle(self.device) } {
                log::error!("a fence and a command buffer are leaked: {error}");
                return;
            }
        }
        // SAFETY: the work was never submitted, has finished, or was lost with the device, so the
        // device does not use these objects. Null is ignored.
        unsafe {
            self.device.destroy_fence(self.fence, None);
            if self.cmd != vk::CommandBuffer::null() {
                self.device.free_command_buffers(self.pool, &[self.cmd]);
            }
        }
    }
}
