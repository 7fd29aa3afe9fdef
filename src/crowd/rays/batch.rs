//! Structures that are built and compacted together.

use crate::gpu::structures::Structures;
use crate::gpu::{Destroy, Gpu};

/// The progress of the structures of a batch.
#[derive(Debug)]
pub(crate) enum Step {
    /// A frame has to build them.
    Wanted,
    /// A frame built them, with this index, and asked for their compacted sizes from a query on.
    Built {
        frame: u64,
        frame_index: u32,
        query: u32,
    },
    /// Their compacted sizes are known, and a frame has to copy them here.
    Sized(Structures),
    /// A frame has copied them. These are the originals.
    Copied {
        frame: u64,
        before: Structures,
    },
    Done,
}

/// Structures in one buffer.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) structures: Structures,
    /// The pose of each.
    pub(crate) poses: Vec<u32>,
    pub(crate) step: Step,
}

impl Batch {
    /// Undoes what the frame of this number did, which is never submitted. Returns whether it did
    /// anything.
    pub(crate) fn abandon(&mut self, abandoned: u64) -> bool {
        let step = core::mem::replace(&mut self.step, Step::Done);
        let (step, undone) = match step {
            Step::Built { frame, .. } if frame == abandoned => (Step::Wanted, true),
            Step::Copied { frame, before } if frame == abandoned => {
                let compact = core::mem::replace(&mut self.structures, before);
                (Step::Sized(compact), true)
            }
            step => (step, false),
        };
        self.step = step;
        undone
    }

    /// Bytes of its buffers.
    pub(crate) fn bytes(&self) -> u64 {
        let more = match &self.step {
            Step::Sized(other) | Step::Copied { before: other, .. } => other.bytes(),
            _ => 0,
        };
        self.structures.bytes() + more
    }
}

impl Destroy for Batch {
    type With<'a> = Gpu<'a>;

    unsafe fn destroy(&mut self, gpu: Gpu<'_>) {
        // SAFETY: this function has the same contract.
        unsafe {
            self.structures.destroy(gpu);
            if let Step::Sized(other) | Step::Copied { before: other, .. } = &mut self.step {
                other.destroy(gpu);
            }
        }
    }
}
