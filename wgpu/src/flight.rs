//! Frames in flight: who still uses what, and when a crowd may be destroyed.

use crate::gpu::Shared;
use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A crowd whose owner is gone, until the last of its commands has ended.
///
/// The owner and everything that it recorded share it. Whoever drops it last destroys the crowd.
pub(crate) struct Remains {
    crowd: Mutex<Option<throng::Crowd>>,
    shared: Arc<Shared>,
}

impl Remains {
    pub(crate) fn new(shared: &Arc<Shared>) -> Arc<Self> {
        Arc::new(Self {
            crowd: Mutex::new(None),
            shared: Arc::clone(shared),
        })
    }

    /// Takes the crowd of an owner that is dropped.
    pub(crate) fn take(&self, crowd: throng::Crowd) {
        *self.crowd.lock().unwrap_or_else(PoisonError::into_inner) = Some(crowd);
    }
}

impl Drop for Remains {
    fn drop(&mut self) {
        let crowd = self.crowd.get_mut();
        if let Some(crowd) = crowd.unwrap_or_else(PoisonError::into_inner).take() {
            // SAFETY: all commands of the crowd hold this in an `InFlight`. wgpu drops that when
            // they have ended, or when they can no longer be submitted. The allocator is of the
            // crowd's device.
            unsafe { crowd.destroy(&mut self.shared.allocator()) };
        }
    }
}

impl fmt::Debug for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remains").finish_non_exhaustive()
    }
}

/// A frame index, shared by the commands that use it.
pub(crate) type Slot = Arc<()>;

/// What a command buffer of a crowd keeps from being overwritten or destroyed.
pub(crate) struct InFlight {
    _slot: Slot,
    _remains: Arc<Remains>,
    _views: Vec<wgpu::TextureView>,
}

impl InFlight {
    pub(crate) fn new(slot: &Slot, remains: &Arc<Remains>, views: Vec<wgpu::TextureView>) -> Self {
        Self {
            _slot: Arc::clone(slot),
            _remains: Arc::clone(remains),
            _views: views,
        }
    }

    /// Keeps this until the commands of an encoder have ended, or were dropped.
    pub(crate) fn until_done(self, encoder: &wgpu::CommandEncoder) {
        encoder.on_submitted_work_done(move || drop(self));
    }
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
        let slots = (0..frames_in_flight).map(|_| (Slot::new(()), 0));
        Self {
            slots: slots.collect(),
            frame: 0,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Of the frame indices that no command uses, the one that began longest ago.
    pub(crate) fn free(&mut self) -> Option<u32> {
        let slots = (0..).zip(&mut self.slots);
        // `get_mut` also makes visible what happened before the other handles were dropped.
        let free = slots.filter_map(|(index, (slot, began))| {
            Arc::get_mut(slot).is_some().then_some((*began, index))
        });
        free.min().map(|(_, index)| index)
    }

    /// Begins a frame with an index, and returns its slot.
    pub(crate) fn begin(&mut self, index: u32) -> Slot {
        self.frame += 1;
        let Some((slot, began)) = self.slots.get_mut(index as usize) else {
            return Slot::new(());
        };
        *began = self.frame;
        Arc::clone(slot)
    }
}
