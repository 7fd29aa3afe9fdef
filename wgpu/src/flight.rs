//! Frames in flight: who still uses what, and when a crowd may be destroyed.

use crate::bind_group::BindGroup;
use crate::error::{Result, failed};
use crate::gpu::{Gpu, Shared};
use core::sync::atomic::{AtomicUsize, Ordering};
use core::{fmt, mem};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use throng::ash::vk;

/// A crowd whose owner is gone, until the last of its commands has ended.
///
/// The owner and everything that it recorded share it. The last one to drop it destroys the crowd.
pub(crate) struct Remains {
    crowd: Mutex<Option<throng::Crowd>>,
    /// Two for each frame index, which the commands of `Frame::prepare` and `Frame::reveal` set.
    executed: Vec<vk::Event>,
    shared: Arc<Shared>,
}

/// Command buffers of a frame. The crowd finds out if they were executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commands {
    Prepare,
    Reveal,
}

impl Remains {
    pub(crate) fn new(shared: &Arc<Shared>, frames_in_flight: u32) -> Result<Arc<Self>> {
        let mut remains = Self {
            crowd: Mutex::new(None),
            executed: Vec::new(),
            shared: Arc::clone(shared),
        };
        for _ in 0..frames_in_flight * 2 {
            // SAFETY: `Shared` keeps the device alive.
            let event = unsafe { shared.raw.create_event(&Default::default(), None) };
            remains
                .executed
                .push(event.map_err(failed("vkCreateEvent"))?);
        }
        Ok(Arc::new(remains))
    }

    /// Takes the crowd of an owner that is dropped.
    pub(crate) fn take(&self, crowd: throng::Crowd) {
        *self.crowd.lock().unwrap_or_else(PoisonError::into_inner) = Some(crowd);
    }

    /// Records that commands of a frame index were executed.
    ///
    /// # Safety
    /// `cmd` is recording outside of rendering, and all earlier work of the index has ended.
    pub(crate) unsafe fn record_executed(
        &self,
        cmd: vk::CommandBuffer,
        commands: (u32, Commands),
    ) -> Result<()> {
        let (raw, event) = (&self.shared.raw, self.executed(commands));
        // SAFETY: the event is of this device, and no other command in flight uses it.
        unsafe {
            raw.reset_event(event).map_err(failed("vkResetEvent"))?;
            raw.cmd_set_event(cmd, event, vk::PipelineStageFlags::ALL_COMMANDS);
        }
        Ok(())
    }

    /// Waits for the GPU, and returns true if the commands of `record_executed` were executed.
    pub(crate) fn were_executed(&self, gpu: &Gpu, commands: (u32, Commands)) -> Result<bool> {
        gpu.poll(wgpu::PollType::wait_indefinitely())?;
        // SAFETY: the event is of this device.
        let status = unsafe { self.shared.raw.get_event_status(self.executed(commands)) };
        Ok(status.map_err(failed("vkGetEventStatus"))?)
    }

    fn executed(&self, (index, commands): (u32, Commands)) -> vk::Event {
        let at = index as usize * 2 + usize::from(commands == Commands::Reveal);
        self.executed.get(at).copied().unwrap_or_default()
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        let crowd = self.crowd.get_mut();
        // SAFETY: all commands of the crowd hold this in an `InFlight`, which is dropped when they
        // have ended, or when they can no longer be submitted. The allocator is of the crowd's
        // device, and so are the events.
        unsafe {
            if let Some(crowd) = crowd.unwrap_or_else(PoisonError::into_inner).take() {
                crowd.destroy(&mut self.shared.allocator());
            }
            for event in self.executed.drain(..) {
                self.shared.raw.destroy_event(event, None);
            }
        }
    }
}

impl fmt::Debug for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remains").finish_non_exhaustive()
    }
}

/// A frame index, which counts the submissions that use it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot(Arc<AtomicUsize>);

impl Slot {
    fn hold(&self) -> Held {
        self.0.fetch_add(1, Ordering::Relaxed);
        Held(self.clone())
    }

    fn is_free(&self) -> bool {
        // Everything before the end of the last use is visible.
        self.0.load(Ordering::Acquire) == 0
    }
}

/// Keeps a frame index from being begun again.
#[derive(Debug)]
struct Held(Slot);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Release);
    }
}

/// The use of a frame index by one command buffer.
///
/// It begins when the command buffer is about to be submitted, so an encoder that is kept or
/// forgotten does not use it.
#[derive(Debug)]
pub(crate) struct SlotUse {
    slot: Slot,
    held: OnceLock<Held>,
}

impl SlotUse {
    pub(crate) fn new(slot: &Slot) -> Arc<Self> {
        Arc::new(Self {
            slot: slot.clone(),
            held: OnceLock::new(),
        })
    }

    /// Begins the use, which ends when the last handle of this is dropped.
    pub(crate) fn begin(&self) {
        self.held.get_or_init(|| self.slot.hold());
    }
}

/// The textures and bind groups of the program that a command buffer uses.
pub(crate) type Resources = (Vec<wgpu::TextureView>, Vec<BindGroup>);

/// The objects that a command buffer of a crowd keeps alive and unchanged.
pub(crate) struct InFlight {
    kept: Option<(Arc<SlotUse>, Arc<Remains>, Resources)>,
    queue: Weak<wgpu::Queue>,
}

impl InFlight {
    pub(crate) fn new(
        gpu: &Gpu,
        slot: Arc<SlotUse>,
        remains: &Arc<Remains>,
        resources: Resources,
    ) -> Self {
        Self {
            kept: Some((slot, Arc::clone(remains), resources)),
            queue: gpu.weak_queue(),
        }
    }

    /// Keeps this until the commands of an encoder have ended, or were dropped.
    pub(crate) fn until_done(self, encoder: &wgpu::CommandEncoder) {
        encoder.on_submitted_work_done(move || drop(self));
    }
}

impl Drop for InFlight {
    /// wgpu drops callbacks of a submission in which a callback of the program panics, although the
    /// GPU may have begun with it. They are registered once more then.
    fn drop(&mut self) {
        if !thread::panicking() {
            return;
        }
        let kept = self.kept.take();
        match self.queue.upgrade() {
            Some(queue) => queue.on_submitted_work_done(move || drop(kept)),
            None => mem::forget(kept),
        }
    }
}

/// A frame that begins: its index, its slot and its number, counted from 1.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) index: u32,
    pub(crate) slot: Slot,
    pub(crate) number: u64,
}

/// The frame indices of a crowd.
#[derive(Debug)]
pub(crate) struct Slots {
    /// Each with the number of the frame that began last with it.
    slots: Vec<(Slot, u64)>,
    frame: u64,
}

impl Slots {
    pub(crate) fn new(frames_in_flight: u32) -> Self {
        let slots = (0..frames_in_flight).map(|_| (Slot::default(), 0));
        Self {
            slots: slots.collect(),
            frame: 0,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Of the frame indices that no submission uses, the one that began longest ago.
    pub(crate) fn free(&self) -> Option<u32> {
        let slots = (0..).zip(&self.slots);
        let free = slots.filter(|(_, (slot, _))| slot.is_free());
        let free = free.min_by_key(|(_, (_, began))| *began);
        free.map(|(index, _)| index)
    }

    /// The number of the frame that begins next.
    pub(crate) fn next(&self) -> u64 {
        self.frame + 1
    }

    pub(crate) fn begin(&mut self, index: u32) -> Begun {
        self.frame += 1;
        let number = self.frame;
        let slot = self.slots.get_mut(index as usize).map(|(slot, began)| {
            *began = number;
            slot.clone()
        });
        Begun {
            index,
            slot: slot.unwrap_or_default(),
            number,
        }
    }
}
