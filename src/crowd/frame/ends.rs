//! Events that tell whether the GPU has run what a frame index prepared last.

use crate::error::{Result, expect};
use crate::gpu::{Device, Guard, Object, VkCall, destroy_fields};
use ash::vk;

/// An event for each frame index. A frame's commands set it, and the index may begin again then.
///
/// It finds an engine that waits for a wrong fence, or for none. It cannot find all of them,
/// because the draws of a frame come later.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    events: Vec<Object<vk::Event>>,
    /// By frame index, true if commands that set the event were recorded.
    recorded: Vec<bool>,
}

destroy_fields!(Ends, &'a Device: events);

impl Ends {
    pub(crate) fn new(device: &Device, frames: u32) -> Result<Guard<'_, Self>> {
        let mut ends = Guard::new(device, Self::default());
        for _ in 0..frames {
            let info = vk::EventCreateInfo::default();
            // SAFETY: the structure is valid.
            let event = unsafe { device.raw.create_event(&info, None) }.call("vkCreateEvent")?;
            let event = Object::new(device, event, "throng frame").keep();
            ends.events.push(event);
        }
        ends.recorded.resize(frames as usize, false);
        Ok(ends)
    }

    /// Begins a frame index, unless the GPU has still to run what was prepared with it.
    ///
    /// # Errors
    /// - [`Error::Argument`](crate::Error::Argument) then.
    /// - [`Error::Vulkan`](crate::Error::Vulkan) if the device is lost.
    pub(super) fn begin(&mut self, device: &Device, frame_index: u32) -> Result<()> {
        let at = frame_index as usize;
        let (Some(event), Some(recorded)) = (self.events.get(at), self.recorded.get_mut(at)) else {
            return Ok(());
        };
        if *recorded {
            // SAFETY: the event is this device's and alive.
            let set = unsafe { device.raw.get_event_status(event.handle) };
            let why = "begins again, but the GPU has not run what was prepared with it last: wait \
                for its fence first, and call abandon_frame for a frame that is not submitted";
            expect("frame_index", set.call("vkGetEventStatus")?, why)?;
            // SAFETY: as above. The only command that uses it has run.
            unsafe { device.raw.reset_event(event.handle) }.call("vkResetEvent")?;
            *recorded = false;
        }
        Ok(())
    }

    /// Records that all commands before have run.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass. The frame index has begun.
    pub(super) unsafe fn record(
        &mut self,
        device: &Device,
        cmd: vk::CommandBuffer,
        frame_index: u32,
    ) {
        let at = frame_index as usize;
        if let (Some(event), Some(recorded)) = (self.events.get(at), self.recorded.get_mut(at)) {
            // SAFETY: `cmd` is recording outside a render pass, by this function's contract, and
            // the event is not set.
            unsafe {
                // Of this stage, it comes after the command that set the event in an earlier frame
                // even for layers that do not follow the semaphore which the engine waited for.
                let stage = vk::PipelineStageFlags::ALL_COMMANDS;
                device.raw.cmd_set_event(cmd, event.handle, stage);
            }
            *recorded = true;
        }
    }

    /// Notes that the commands of a frame index are never submitted.
    pub(super) fn abandon(&mut self, frame_index: u32) {
        if let Some(recorded) = self.recorded.get_mut(frame_index as usize) {
            *recorded = false;
        }
    }
}
