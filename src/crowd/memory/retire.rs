//! The retire queue: keeps replaced objects until no frame in flight can use them.

use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::memory::history_buffer::HistoryBuffer;
use crate::crowd::memory::pending_growth::PendingGrowth;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::gpu::{AnimationTables, Device, MemoryAllocator, Object, SkinnedMesh, Upload};
use crate::pass::draw::DrawPass;
use crate::pass::shadow_map::BoundShadow;
use ash::vk;

/// An object that new frames cannot reach any more.
#[derive(Debug)]
pub(crate) enum Retired {
    Buffers(Box<FrameBuffers>),
    Pool(Object<vk::DescriptorPool>),
    Mesh(Box<SkinnedMesh>),
    Tables(AnimationTables),
    SharedPoses(SharedPoses),
    Pass(Box<DrawPass>),
    Shadow(BoundShadow),
    History(HistoryBuffer),
    Growth(Box<PendingGrowth>),
    /// The upload of the character of this serial.
    Upload(u32, Upload),
}

impl Retired {
    /// Destroys the object.
    ///
    /// # Safety
    /// Not in use by the GPU.
    unsafe fn destroy(&mut self, device: &Device, allocator: &mut dyn MemoryAllocator) {
        // SAFETY: the GPU does not use the object, by this function's contract.
        unsafe {
            match self {
                Self::Buffers(buffers) => buffers.destroy(device, allocator),
                Self::Pool(pool) => pool.destroy(device),
                Self::Mesh(mesh) => mesh.destroy(device, allocator),
                Self::Tables(tables) => tables.destroy(device, allocator),
                Self::SharedPoses(poses) => poses.destroy(device, allocator),
                Self::Pass(pass) => pass.destroy(device),
                Self::Shadow(bound) => bound.destroy(device),
                Self::History(buffer) => buffer.destroy(device, allocator),
                Self::Growth(grown) => grown.destroy(device, allocator),
                Self::Upload(_, upload) => upload.free(device, allocator),
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
    pub(crate) unsafe fn begin(
        &mut self,
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        frame_index: u32,
    ) {
        self.frame += 1;
        self.begun[frame_index as usize] = self.frame;
        let begun = self.begun.iter().filter(|begun| **begun > 0);
        let ended = begun.min().copied().unwrap_or(0);
        for (frame, retired) in &mut self.retired {
            if *frame < ended {
                // SAFETY: every frame index begun up to that frame has been begun again, so its
                // work has ended.
                unsafe { retired.destroy(device, allocator) };
            }
        }
        self.retired.retain(|(frame, _)| *frame >= ended);
    }

    /// Destroys everything.
    ///
    /// # Safety
    /// Nothing is in use by the GPU.
    pub(crate) unsafe fn destroy(&mut self, device: &Device, allocator: &mut dyn MemoryAllocator) {
        for (_, mut retired) in self.retired.drain(..) {
            // SAFETY: the GPU uses nothing any more, by this function's contract.
            unsafe { retired.destroy(device, allocator) };
        }
    }
}
