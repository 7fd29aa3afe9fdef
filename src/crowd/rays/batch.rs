//! Structures that are built and compacted together.

use crate::gpu::structures::Structures;
use crate::gpu::{Gpu, destroy_fields};

/// The progress of the structures of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Step {
    /// A frame has to build them.
    #[default]
    Wanted,
    /// A frame built them, and asked for their compacted sizes.
    Built,
    /// A frame has to copy them to the spare structures, which have their compacted sizes.
    Sized,
    /// A frame has copied them. The spare structures are the originals.
    Copied,
    Done,
}

/// Structures in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) structures: Structures,
    /// The pose of each.
    pub(crate) poses: Vec<u32>,
    pub(crate) step: Step,
    /// The frame that built or copied them last.
    pub(crate) frame: u64,
    /// The first query of their compacted sizes.
    pub(crate) query: u32,
    pub(crate) spare: Structures,
}

destroy_fields!(Batch, Gpu<'a>: structures, spare);

impl Batch {
    /// Undoes what the frame of this number did, which is never submitted. Returns whether it did
    /// anything.
    pub(crate) fn abandon(&mut self, frame: u64) -> bool {
        self.step = match self.step {
            Step::Built if self.frame == frame => Step::Wanted,
            Step::Copied if self.frame == frame => {
                core::mem::swap(&mut self.structures, &mut self.spare);
                Step::Sized
            }
            _ => return false,
        };
        true
    }
}
