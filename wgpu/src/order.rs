//! The order of submissions: a frame's draws come before the next frame is prepared.

use crate::check::scoped;
use crate::error::{Error, Result};
use crate::flight::SlotUse;
use crate::gpu::Gpu;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::Arc;

/// Lets draws of a frame be submitted until a later frame is prepared.
///
/// All draws of the frame use a small buffer of wgpu, in the command buffer before them. It is
/// destroyed just before the later frame is submitted. wgpu looks for destroyed buffers while it
/// holds the lock in which it also submits, and `destroy` waits for that lock. So draws come before
/// the later frame or are rejected, on any thread.
#[derive(Debug)]
pub(crate) struct FrameToken {
    frame: u64,
    buffer: wgpu::Buffer,
    /// The number of the frame that ended this, or 0.
    ended_by: AtomicU64,
}

impl FrameToken {
    pub(crate) fn new(gpu: &Gpu, frame: u64) -> Result<Arc<Self>> {
        let label = format!("throng frame {frame} (was a later one prepared before its draws?)");
        let buffer = scoped(gpu.device(), "the token of a frame", || {
            gpu.device().create_buffer(&wgpu::BufferDescriptor {
                label: Some(&label),
                size: 4,
                usage: wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: false,
            })
        })?;
        Ok(Arc::new(Self {
            frame,
            buffer,
            ended_by: AtomicU64::new(0),
        }))
    }

    /// Makes the command buffer of an encoder invalid once this has ended.
    pub(crate) fn use_in(&self, encoder: &mut wgpu::CommandEncoder) {
        let used = wgpu::BufferTransition {
            buffer: &self.buffer,
            state: wgpu::BufferUses::COPY_SRC,
        };
        encoder.transition_resources([used].into_iter(), core::iter::empty());
    }

    /// Rejects all submissions from now on.
    pub(crate) fn end(&self, later: u64) {
        self.ended_by.store(later, Ordering::Relaxed);
        self.buffer.destroy();
    }
}

/// The commands of `Frame::reveal`, which end up submitted or lost.
#[derive(Debug)]
pub(crate) struct Reveal {
    frame: u64,
    /// The frame index.
    pub(crate) index: u32,
    fate: AtomicU8,
}

/// The fates of a reveal.
mod fate {
    /// The commands wait in an encoder.
    pub(super) const RECORDED: u8 = 0;
    /// wgpu was asked to submit them, and has not said that it did.
    pub(super) const UNKNOWN: u8 = 1;
    pub(super) const SUBMITTED: u8 = 2;
    /// They will never be submitted.
    pub(super) const LOST: u8 = 3;
}

impl Reveal {
    pub(crate) fn new(frame: u64, index: u32) -> Arc<Self> {
        Arc::new(Self {
            frame,
            index,
            fate: AtomicU8::new(fate::RECORDED),
        })
    }

    /// Replaces a fate by another one. Returns false if it is a third one.
    fn replace(&self, old: u8, new: u8) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        let replaced = self.fate.compare_exchange(old, new, success, failure);
        replaced.is_ok()
    }

    /// The commands are about to be submitted, or are lost already.
    pub(crate) fn begin_submission(&self) {
        self.replace(fate::RECORDED, fate::UNKNOWN);
    }

    /// wgpu accepted the commands.
    pub(crate) fn end_submission(&self) {
        self.replace(fate::UNKNOWN, fate::SUBMITTED);
    }

    /// True if the commands will never be submitted, or `None` if only the GPU knows. Commands that
    /// still wait in an encoder are lost from now on.
    pub(crate) fn settle(&self) -> Option<bool> {
        self.replace(fate::RECORDED, fate::LOST);
        match self.fate.load(Ordering::Acquire) {
            fate::UNKNOWN => None,
            settled => Some(settled == fate::LOST),
        }
    }

    /// Fails if the commands were not submitted.
    fn expect_submitted(&self) -> Result<()> {
        match self.fate.load(Ordering::Acquire) {
            fate::SUBMITTED => Ok(()),
            _ => Err(Error::Unrevealed { frame: self.frame }),
        }
    }
}

/// A draw in an encoder, or a reveal.
#[derive(Debug)]
pub(crate) struct Draw {
    pub(crate) token: Arc<FrameToken>,
    pub(crate) slot: Arc<SlotUse>,
    /// The reveal of the same frame that was recorded before, if any.
    pub(crate) after: Option<Arc<Reveal>>,
    /// This reveal, if it is one.
    pub(crate) reveals: Option<Arc<Reveal>>,
}

impl Draw {
    /// Fails if a later frame was prepared.
    pub(crate) fn expect_in_time(&self) -> Result<()> {
        match self.token.ended_by.load(Ordering::Relaxed) {
            0 => Ok(()),
            later => Err(Error::Late {
                frame: self.token.frame,
                later,
            }),
        }
    }

    /// Fails if the reveal that it shows was not submitted, and is not among those before it in
    /// the same encoder.
    pub(crate) fn expect_revealed(&self, before: &[Self]) -> Result<()> {
        let Some(reveal) = &self.after else {
            return Ok(());
        };
        let mut reveals = before.iter().flat_map(|draw| &draw.reveals);
        match reveals.any(|other| Arc::ptr_eq(other, reveal)) {
            true => Ok(()),
            false => reveal.expect_submitted(),
        }
    }
}

/// The state of the frame begun last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Submission {
    /// It was not prepared, or its commands were submitted.
    Done,
    /// Its commands will never be submitted.
    Lost,
    /// wgpu panicked or reported an error while the commands with this frame index were submitted.
    Unknown(u32),
}

/// The frame that was prepared last.
#[derive(Debug)]
pub(crate) struct Order {
    /// With its frame index.
    pub(crate) current: Option<(u32, Arc<FrameToken>)>,
    /// Its reveal, until the next frame begins.
    pub(crate) reveal: Option<Arc<Reveal>>,
    pub(crate) submission: Submission,
}

impl Order {
    pub(crate) fn new() -> Self {
        Self {
            current: None,
            reveal: None,
            submission: Submission::Done,
        }
    }

    /// Ends the time for draws of the frame prepared last.
    pub(crate) fn end_current(&mut self, later: u64) {
        if let Some((_, token)) = self.current.take() {
            token.end(later);
        }
    }
}
