//! What a frame did.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// CPU time of the stages of one frame, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CpuTimes {
    /// Taking the animators to the frame's time, in
    /// [`Crowd::begin_frame`](super::state::Crowd::begin_frame): events, state machines, root motion.
    pub update_ms: f64,
    /// Clips to palettes in the ring, and morph weights.
    pub animate_ms: f64,
    /// Skinning the instances of [`SkinningStage::Cpu`](super::SkinningStage::Cpu).
    pub skin_ms: f64,
    /// All of [`Frame::record_prepare`](super::Frame::record_prepare).
    pub prepare_ms: f64,
}

/// What a frame did so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stats {
    /// Instances alive.
    pub instances: u32,
    /// Instances whose palette was written this frame.
    pub animated: u32,
    /// Palette entries that were written.
    pub palette_entries: u32,
    /// Instances whose deformed vertices were written, by the skin stage or on the CPU.
    pub skinned: u32,
    /// Instance records that were brought to the GPU.
    pub changes: u32,
    /// Bytes that the CPU wrote for the GPU this frame: palettes, records, views, lists, and
    /// uploads of new characters.
    pub upload_bytes: u64,
    /// Draw calls recorded.
    pub draws: u32,
    /// Vertices of all instances drawn.
    pub vertices: u64,
    /// Triangles of all instances drawn.
    pub triangles: u64,
    /// CPU times.
    pub cpu: CpuTimes,
}

/// The same while it is being counted; draws count from several threads.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) animated: u32,
    pub(super) palette_entries: u32,
    pub(super) skinned: u32,
    pub(super) changes: u32,
    pub(super) upload_bytes: u64,
    pub(super) cpu: CpuTimes,
    draws: AtomicU32,
    vertices: AtomicU64,
    triangles: AtomicU64,
}

impl Counters {
    pub(super) fn drew(&self, draws: u32, triangles: u64) {
        self.draws.fetch_add(draws, Ordering::Relaxed);
        self.triangles.fetch_add(triangles, Ordering::Relaxed);
    }

    pub(super) fn fetched(&self, vertices: u64) {
        self.vertices.fetch_add(vertices, Ordering::Relaxed);
    }

    pub(super) fn read(&self, instances: u32) -> Stats {
        Stats {
            instances,
            animated: self.animated,
            palette_entries: self.palette_entries,
            skinned: self.skinned,
            changes: self.changes,
            upload_bytes: self.upload_bytes,
            draws: self.draws.load(Ordering::Relaxed),
            vertices: self.vertices.load(Ordering::Relaxed),
            triangles: self.triangles.load(Ordering::Relaxed),
            cpu: self.cpu,
        }
    }
}
