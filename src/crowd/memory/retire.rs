//! The retire queue: keeps replaced objects until no frame in flight can use them.

use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::memory::history_buffer::HistoryBuffer;
use crate::crowd::memory::pending_growth::PendingGrowth;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::buffers::RayBuffers;
use crate::crowd::rays::character::RayCharacter;
use crate::gpu::sets::Sets;
use crate::gpu::structures::Structures;
use crate::gpu::{AnimationTables, Destroy, Gpu, SkinnedMesh, Upload, destroy_fields};
use crate::pass::draw::DrawPass;
use crate::pass::image_input::BoundImage;

/// An object that new frames cannot reach any more.
#[derive(Debug)]
pub(crate) enum Retired {
    Buffers(Box<FrameBuffers>),
    Sets(Sets),
    Mesh(Box<SkinnedMesh>),
    Tables(AnimationTables),
    SharedPoses(SharedPoses),
    Pass(Box<DrawPass>),
    Image(BoundImage),
    History(HistoryBuffer),
    Growth(Box<PendingGrowth>),
    Rays(Box<RayBuffers>),
    RayCharacter(Box<RayCharacter>),
    Structures(Structures),
    /// The upload of the character of this serial.
    Upload(u32, Upload),
}

impl Destroy for Retired {
    type With<'a> = Gpu<'a>;

    unsafe fn destroy(&mut self, gpu: Gpu<'_>) {
        // SAFETY: this function has the same contract.
        unsafe {
            match self {
                Self::Buffers(buffers) => buffers.destroy(gpu),
                Self::Sets(sets) => sets.destroy(gpu.device),
                Self::Mesh(mesh) => Destroy::destroy(mesh, gpu),
                Self::Tables(tables) => Destroy::destroy(tables, gpu),
                Self::SharedPoses(poses) => poses.destroy(gpu),
                Self::Pass(pass) => pass.destroy(gpu.device),
                Self::Image(bound) => bound.destroy(gpu.device),
                Self::History(buffer) => buffer.destroy(gpu),
                Self::Growth(grown) => grown.destroy(gpu),
                Self::Rays(buffers) => buffers.destroy(gpu),
                Self::RayCharacter(own) => own.destroy(gpu),
                Self::Structures(structures) => structures.destroy(gpu),
                Self::Upload(_, upload) => upload.destroy(gpu),
            }
        }
    }
}

/// Counts frames and destroys retired objects when no frame in flight can use them.
///
/// An object retired after frame `n` may be used by every frame up to `n`. Those frames have ended
/// when every frame index that was ever begun has been begun again after `n`.
#[derive(Debug)]
pub(crate) struct RetireQueue {
    /// By frame index, the frame that was begun last with it, counted from 1. 0: never.
    begun: Vec<u64>,
    frame: u64,
    retired: Vec<(u64, Retired)>,
}

destroy_fields!(RetireQueue, Gpu<'a>: retired);

impl RetireQueue {
    pub(crate) fn new(frames_in_flight: u32) -> Self {
        Self {
            begun: vec![0; frames_in_flight as usize],
            frame: 0,
            retired: Vec::new(),
        }
    }

    /// The number of the frame begun last.
    pub(crate) fn frame(&self) -> u64 {
        self.frame
    }

    /// Reserves memory for `more` objects, so that retiring them does not allocate.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.retired.reserve(more);
    }

    pub(crate) fn retire(&mut self, retired: Retired) {
        self.retired.push((self.frame, retired));
    }

    /// Takes back the uploads retired in this frame for whose character's serial `wanted` returns
    /// true.
    pub(crate) fn restore_uploads(&mut self, wanted: impl Fn(u32) -> bool) -> Vec<(u32, Upload)> {
        let is_wanted = |it: &Retired| matches!(it, Retired::Upload(serial, _) if wanted(*serial));
        let found = self.restore(is_wanted).filter_map(|it| match it {
            Retired::Upload(serial, upload) => Some((serial, upload)),
            _ => None,
        });
        found.collect()
    }

    /// Takes back the buffer of histories retired in this frame, if any.
    pub(crate) fn restore_history(&mut self) -> Option<HistoryBuffer> {
        let mut found = self.restore(|it| matches!(it, Retired::History(_)));
        match found.next()? {
            Retired::History(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// Takes back the buffers before growth retired in this frame, if any.
    pub(crate) fn restore_grown(&mut self) -> Option<Box<PendingGrowth>> {
        let mut found = self.restore(|it| matches!(it, Retired::Growth(_)));
        match found.next()? {
            Retired::Growth(grown) => Some(grown),
            _ => None,
        }
    }

    /// Takes back objects of a kind that were retired in this frame.
    fn restore(&mut self, is_kind: impl Fn(&Retired) -> bool) -> impl Iterator<Item = Retired> {
        let frame = self.frame;
        let ours = move |item: &mut (u64, Retired)| item.0 == frame && is_kind(&item.1);
        self.retired
            .extract_if(.., ours)
            .map(|(_, retired)| retired)
    }

    /// Begins `frame_index`, and destroys what no frame can use any more.
    ///
    /// # Safety
    /// The earlier work of this frame index has ended.
    pub(crate) unsafe fn begin(&mut self, gpu: Gpu<'_>, frame_index: u32) {
        self.frame += 1;
        self.begun[frame_index as usize] = self.frame;
        let begun = self.begun.iter().filter(|begun| **begun > 0);
        let ended = begun.min().copied().unwrap_or(0);
        let unused = self.retired.extract_if(.., |(frame, _)| *frame < ended);
        for (_, mut retired) in unused {
            // SAFETY: every frame index begun up to that frame has been begun again, so its work
            // has ended.
            unsafe { retired.destroy(gpu) };
        }
    }
}
