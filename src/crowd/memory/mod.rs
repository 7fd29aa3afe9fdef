//! Buffers, ranges of them, and what is freed later.

pub(crate) mod buffers;
pub(crate) mod growth;
pub(crate) mod history_buffer;
pub(crate) mod pending_growth;
pub(crate) mod pyramids;
pub(crate) mod range_allocator;
pub(crate) mod read_back;
pub(crate) mod retire;
pub(crate) mod sections;
pub(crate) mod work;

use crate::crowd::characters::list::Characters;
use crate::gpu::{Gpu, Upload, destroy_fields};
use buffers::FrameBuffers;
use pending_growth::PendingGrowth;
use retire::{RetireQueue, Retired};
use work::WorkCapacity;

/// The buffers of a crowd, and what waits to be uploaded or freed.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) buffers: FrameBuffers,
    /// The capacity of the work buffer, apart from the crowd's.
    pub(crate) work: WorkCapacity,
    /// The buffers before growth, until a frame has copied what they hold.
    pub(crate) grown: Option<Box<PendingGrowth>>,
    /// Uploads for the next prepared frame, with the serial of their character.
    pub(crate) uploads: Vec<(u32, Upload)>,
    pub(crate) retire_queue: RetireQueue,
}

destroy_fields!(Memory, Gpu<'a>: uploads, retire_queue, buffers, grown);

impl Memory {
    /// Begins a frame, and frees what no frame in flight uses.
    ///
    /// # Safety
    /// The work of this frame index has ended.
    pub(crate) unsafe fn begin(&mut self, gpu: Gpu<'_>, frame_index: u32) {
        // SAFETY: this function has the same contract.
        unsafe { self.retire_queue.begin(gpu, frame_index) };
        // More for the buffers that growth left behind.
        self.retire_queue.reserve(self.uploads.len() + 2);
    }

    /// Undoes the uploads of the frame prepared last, which is never submitted.
    pub(crate) fn abandon(&mut self, characters: &Characters) {
        if let Some(grown) = self.retire_queue.restore_grown()
            && let Some(never_filled) = self.grown.replace(grown)
        {
            self.retire_queue.retire(Retired::Growth(never_filled));
        }
        let alive = |serial: u32| characters.has_serial(serial);
        for (serial, mut upload) in self.retire_queue.restore_uploads(alive) {
            upload.unrecord();
            self.uploads.push((serial, upload));
        }
    }
}
