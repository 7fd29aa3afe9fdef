//! Frames in flight, each with a command buffer, a fence and an acquire semaphore.

use super::device_owner::{ContextId, DeviceOwner};
use super::error::Check;
use super::{Context, Result, StandaloneError, SwapchainImage};
use ash::vk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One frame being recorded.
///
/// [`Frames::submit`] consumes it. It is stale once its frame in flight is begun again.
#[derive(Debug)]
#[non_exhaustive]
pub struct FrameCommands {
    /// Index of the frame in flight.
    ///
    /// It is less than the number of frames in flight. Everything that was submitted earlier with
    /// this index has finished.
    pub frame_index: usize,
    /// The command buffer. It is recording, outside of rendering.
    pub cmd: vk::CommandBuffer,
    /// Signalled by [`Swapchain::acquire`](super::swapchain::Swapchain::acquire).
    pub(super) acquired: vk::Semaphore,
    number: u64,
    state: Arc<FrameState>,
}

/// State that a frame in flight shares with its [`FrameCommands`].
#[derive(Debug)]
struct FrameState {
    owner: ContextId,
    /// The number of the [`FrameCommands`] that is being recorded, or 0.
    recording: AtomicU64,
    /// Set if an image was acquired, and no submission has waited for `acquired` yet.
    has_image: AtomicBool,
}

impl FrameCommands {
    /// Fails if this frame cannot acquire an image.
    pub(super) fn check_acquire(&self, context: &Context) -> Result<()> {
        context.check_own(self.state.owner, OBJECT)?;
        let frame_index = self.frame_index;
        if !self.is_recording() {
            return Err(StandaloneError::StaleFrame { frame_index });
        }
        if self.state.has_image.load(Ordering::Relaxed) {
            return Err(StandaloneError::FrameHasImage { frame_index });
        }
        Ok(())
    }

    /// Records that an image was acquired. Returns the number of this frame.
    pub(super) fn image_acquired(&self) -> u64 {
        self.state.has_image.store(true, Ordering::Relaxed);
        self.number
    }

    fn is_recording(&self) -> bool {
        self.state.recording.load(Ordering::Relaxed) == self.number
    }
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
#[derive(Debug)]
struct InFlight {
    pool: vk::CommandPool,
    cmd: vk::CommandBuffer,
    /// Signalled when the frame's submission has finished.
    fence: vk::Fence,
    submitted: bool,
    acquired: vk::Semaphore,
    state: Arc<FrameState>,
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
            let mut frame = InFlight::new(frames.owner.id);
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
    /// If a frame is begun and not submitted, for example because there is no image to draw to, the
    /// same frame is begun again. If it had acquired an image, this waits until the image is ready.
    ///
    /// # Errors
    ///
    /// Returns an error if the frames were created with another context, and the errors of the
    /// Vulkan calls.
    pub fn begin(&mut self, context: &mut Context) -> Result<FrameCommands> {
        context.check_own(self.owner.id, OBJECT)?;
        let frame_index = self.next;
        let frame = &mut self.frames[frame_index];
        frame.state.recording.store(0, Ordering::Relaxed);
        frame.wait(context)?;
        frame.wait_for_image(context)?;
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: `wait` has waited for the frame's last submission, so the pool's only command
        // buffer is not in use. `recording` is 0, so no `FrameCommands` can submit it.
        unsafe {
            context
                .device
                .reset_command_pool(frame.pool, vk::CommandPoolResetFlags::empty())
                .check("vkResetCommandPool")?;
            context
                .device
                .begin_command_buffer(frame.cmd, &info)
                .check("vkBeginCommandBuffer")?;
        }
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        frame.state.recording.store(number, Ordering::Relaxed);
        Ok(FrameCommands {
            frame_index,
            cmd: frame.cmd,
            acquired: frame.acquired,
            number,
            state: Arc::clone(&frame.state),
        })
    }

    /// Ends the frame's command buffer and submits it.
    ///
    /// If the frame has acquired an image, the submission waits for it before it writes colour. If
    /// the image is passed, it can be presented afterwards.
    ///
    /// # Errors
    ///
    /// As [`Frames::begin`]. Also returns an error if `frame` is not the one that [`Frames::begin`]
    /// returned last, or if `image` was not acquired with it.
    ///
    /// # Safety
    ///
    /// The commands that were recorded in [`FrameCommands::cmd`] are valid, and what they use lives
    /// until this frame in flight is begun again. `cmd` is outside of rendering.
    pub unsafe fn submit(
        &mut self,
        context: &mut Context,
        frame: FrameCommands,
        image: Option<&SwapchainImage>,
    ) -> Result<()> {
        context.check_own(self.owner.id, OBJECT)?;
        let frame_index = frame.frame_index;
        let in_flight = match self.frames.get_mut(frame_index) {
            Some(ours) if Arc::ptr_eq(&ours.state, &frame.state) && frame.is_recording() => ours,
            _ => return Err(StandaloneError::StaleFrame { frame_index }),
        };
        if let Some(image) = image {
            image.check_submit(frame.number)?;
        }
        let has_image = in_flight.state.has_image.load(Ordering::Relaxed);
        let wait = has_image.then(|| {
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
        // A failed submission leaves a frame that must be begun again.
        in_flight.state.recording.store(0, Ordering::Relaxed);
        // SAFETY: `frame` is recording, as was just checked, and the caller guarantees that its
        // commands are valid. The fence's last use was waited for.
        unsafe {
            let device = &context.device;
            device
                .end_command_buffer(frame.cmd)
                .check("vkEndCommandBuffer")?;
            device
                .reset_fences(&[in_flight.fence])
                .check("vkResetFences")?;
            device
                .queue_submit2(context.queue, &submit, in_flight.fence)
                .check("vkQueueSubmit2")?;
        }
        in_flight.submitted = true;
        in_flight.state.has_image.store(false, Ordering::Relaxed);
        if let Some(image) = image {
            image.submitted();
        }
        self.next = (frame_index + 1) % self.frames.len();
        Ok(())
    }

    /// Waits for the device, then destroys the frames in flight.
    ///
    /// `context` must be the one that they were created with. If it is another, an error is logged,
    /// and they are destroyed when their own context is dropped.
    pub fn destroy(mut self, context: &mut Context) {
        if context.may_destroy(self.owner.id, OBJECT) {
            self.take()(&context.device);
        }
    }

    /// Takes all frames. The result destroys them. The device must no longer use them then.
    fn take(&mut self) -> impl FnOnce(&ash::Device) + Send + 'static {
        let frames = std::mem::take(&mut self.frames);
        for frame in &frames {
            frame.state.recording.store(0, Ordering::Relaxed);
        }
        move |device| {
            for frame in frames {
                // SAFETY: `build` created the objects with this device, which no longer uses them.
                // `recording` is 0, so no `FrameCommands` refers to them. Null is ignored.
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
            log::warn!(
                "{} frames in flight were dropped without destroy",
                self.frames.len()
            );
            let destroy = self.take();
            self.owner.drop_later(Box::new(|idle| destroy(idle.device)));
        }
    }
}

impl InFlight {
    fn new(owner: ContextId) -> Self {
        Self {
            pool: vk::CommandPool::null(),
            cmd: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            submitted: false,
            acquired: vk::Semaphore::null(),
            state: Arc::new(FrameState {
                owner,
                recording: AtomicU64::new(0),
                has_image: AtomicBool::new(false),
            }),
        }
    }

    fn build(&mut self, context: &Context) -> Result<()> {
        let device = &context.device;
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(context.queue_family);
        // SAFETY: the device is alive, and was created with this queue family.
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

    /// Waits for the acquisition of an image that was never submitted.
    ///
    /// Its semaphore can then be signalled again.
    fn wait_for_image(&mut self, context: &mut Context) -> Result<()> {
        if !self.state.has_image.load(Ordering::Relaxed) {
            return Ok(());
        }
        let wait = [vk::SemaphoreSubmitInfo::default()
            .semaphore(self.acquired)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let submit = [vk::SubmitInfo2::default().wait_semaphore_infos(&wait)];
        // SAFETY: the acquisition signals the semaphore, and no submission has waited for it. The
        // fence's last use was waited for.
        unsafe {
            let device = &context.device;
            device.reset_fences(&[self.fence]).check("vkResetFences")?;
            device
                .queue_submit2(context.queue, &submit, self.fence)
                .check("vkQueueSubmit2")?;
        }
        self.state.has_image.store(false, Ordering::Relaxed);
        self.submitted = true;
        self.wait(context)
    }

    fn wait(&mut self, context: &Context) -> Result<()> {
        if self.submitted {
            // SAFETY: the fence is alive, and the submission that signals it succeeded.
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
