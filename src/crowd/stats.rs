//! Statistics of a frame.

use crate::crowd::visibility::cull::FACTOR;
use crate::gpu::constants::{
    COUNT_FACTOR, COUNT_HIDDEN, COUNT_LATE, COUNT_LEVELS, COUNT_TRIANGLES, COUNTER_WORDS, FACTORS,
};
use crate::mesh::MeshLevel;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The figures of a view in a frame. [`Crowd::view_stats`](super::Crowd::view_stats) says of which.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ViewStats {
    /// Instances that it showed.
    pub shown: u32,
    /// Visible instances outside of it.
    pub outside: u32,
    /// Visible instances that were too small to be drawn.
    pub too_small: u32,
    /// Visible instances that were hidden by depth that the engine drew before: see
    /// [`Frame::record_prepare_behind`](super::Frame::record_prepare_behind).
    pub hidden: u32,
    /// The instances of `shown` that [`Frame::record_reveal`](super::Frame::record_reveal) added.
    pub late: u32,
    /// The instances of `shown` at each level of detail. The first is the full one.
    pub levels: [u32; 1 + MeshLevel::MAX_COUNT],
    /// Triangles of what it showed, with those of hidden parts.
    pub triangles: u64,
    /// The factor by which it allowed more error than [`Detail::error_px`], to keep to
    /// [`Detail::max_triangles`].
    ///
    /// [`Detail::error_px`]: super::Detail::error_px
    /// [`Detail::max_triangles`]: super::Detail::max_triangles
    pub error_factor: f32,
}

/// Words of the counters of all views together and of each, or 0 without views.
pub(crate) fn counter_words(views: u32) -> usize {
    let counters = views + views.min(1);
    (counters * COUNTER_WORDS) as usize
}

impl ViewStats {
    /// The figures that the GPU counted, as `shaders/include/stages.glsl` has them.
    pub(crate) fn from_words(words: &[u32; COUNTER_WORDS as usize]) -> Self {
        let [outside, too_small, ..] = *words;
        let levels = core::array::from_fn(|level| words[COUNT_LEVELS + level]);
        let [low, high] = [0, 1].map(|at| words[COUNT_TRIANGLES + at]);
        let power = words[COUNT_FACTOR];
        Self {
            shown: levels.iter().fold(0, |sum, count| sum.wrapping_add(*count)),
            outside,
            too_small,
            hidden: words[COUNT_HIDDEN],
            late: words[COUNT_LATE],
            levels,
            triangles: u64::from(high) << 32 | u64::from(low),
            error_factor: FACTOR.powi(power.min(FACTORS) as i32),
        }
    }
}

/// The GPU's counts of the poses of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PoseTotals {
    shared: u32,
    without_memory: u32,
    skinned: u32,
}

impl PoseTotals {
    /// The figures as `shaders/include/stages.glsl` has them.
    pub(crate) fn from_words(words: &[u32; COUNTER_WORDS as usize]) -> Self {
        let [shared, without_memory, skinned, ..] = *words;
        Self {
            shared,
            without_memory,
            skinned,
        }
    }
}

/// Statistics of the frame begun last, so far.
///
/// They are the counts and times of the CPU, and current, whichever [`Stages`](super::Stages) there
/// are. What views show is in [`ViewStats`].
///
/// Three figures are counts of the GPU: [`Self::shared_poses`], [`Self::poses_without_memory`] and
/// [`Self::skinned_on_gpu`]. They are those of the last frame that was recorded with the frame
/// index begun last. If frame indices take turns, that is
/// [`CrowdDesc::frames_in_flight`](super::CrowdDesc::frames_in_flight) frames ago. They are 0
/// unless the GPU poses instances ([`Stages::Gpu`](super::Stages::Gpu)).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stats {
    /// Living instances.
    pub instances: u32,
    /// Instances whose palette the CPU wrote in this frame.
    pub animated: u32,
    /// Instances that the GPU poses where a view shows them. See
    /// [`Stages::Gpu`](super::Stages::Gpu).
    pub posed_on_gpu: u32,
    /// Attached instances that the GPU places, because it poses what they are attached to. See
    /// [`Capacity::attachments`](super::Capacity::attachments).
    pub placed_on_gpu: u32,
    /// Palette entries that the CPU wrote.
    pub palette_entries: u32,
    /// Instances that the CPU deformed, or listed for the skin stage.
    pub skinned: u32,
    /// Instance records that were uploaded.
    pub changes: u32,
    /// Pipelines that were created since the frame before began, for characters, passes and
    /// skinning stages that came since.
    pub new_pipelines: u32,
    /// Bytes that the CPU wrote for the GPU in this frame.
    ///
    /// These are palettes, records, views, lists, and uploads of new characters.
    pub upload_bytes: u64,
    /// Bytes of the images of all characters on the device.
    ///
    /// [`SkinnedMesh::images`](crate::gpu::SkinnedMesh::images) of
    /// [`Crowd::mesh`](super::Crowd::mesh) has the format and the bytes of each.
    pub image_bytes: u64,
    /// Recorded draw calls.
    pub draws: u32,
    /// Vertices of all recorded draws that are not indirect.
    pub vertices: u64,
    /// Triangles of all recorded draws that are not indirect.
    ///
    /// If the GPU culls, these are blended ones only: see [`ViewStats::triangles`] for all.
    pub triangles: u64,
    /// CPU milliseconds of all [updates](super::Crowd::update) since the frame before.
    ///
    /// This includes events, state machines and root motion.
    pub update_ms: f64,
    /// CPU milliseconds for evaluating clips to palettes in the ring, and morph weights.
    pub animate_ms: f64,
    /// CPU milliseconds for skinning the instances of
    /// [`SkinningStage::Cpu`](super::SkinningStage::Cpu).
    pub skin_ms: f64,
    /// CPU milliseconds of [`Frame::record_prepare`](super::Frame::record_prepare) as a whole.
    pub prepare_ms: f64,
    /// Instances posed on the GPU that took a shared pose, in an earlier frame.
    ///
    /// See [`Detail::pose_error_px`](super::Detail::pose_error_px).
    pub shared_poses: u32,
    /// Instances posed on the GPU for whose palettes there was no memory, in an earlier frame.
    ///
    /// They took the nearest shared pose, or else the rest pose: see
    /// [`Capacity::palette_entries`](super::Capacity::palette_entries).
    pub poses_without_memory: u32,
    /// Instances posed on the GPU that the skin stage deformed, in an earlier frame.
    pub skinned_on_gpu: u32,
}

/// Statistics while they are counted. Draws count from several threads.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) stats: Stats,
    /// The numbers of records that changed, and of those that only moved.
    pub(crate) changes: [u32; 2],
    draws: AtomicU32,
    vertices: AtomicU64,
    triangles: AtomicU64,
}

impl Counters {
    pub(crate) fn drew(&self, draws: u32, triangles: u64) {
        self.draws.fetch_add(draws, Ordering::Relaxed);
        self.triangles.fetch_add(triangles, Ordering::Relaxed);
    }

    pub(crate) fn fetched(&self, vertices: u64) {
        self.vertices.fetch_add(vertices, Ordering::Relaxed);
    }

    /// The figures so far. `on_gpu` has the number of instances that the GPU poses, and that it
    /// places.
    pub(crate) fn read(&self, instances: u32, on_gpu: [u32; 2], totals: PoseTotals) -> Stats {
        Stats {
            instances,
            posed_on_gpu: on_gpu[0],
            placed_on_gpu: on_gpu[1],
            shared_poses: totals.shared,
            poses_without_memory: totals.without_memory,
            skinned_on_gpu: totals.skinned,
            draws: self.draws.load(Ordering::Relaxed),
            vertices: self.vertices.load(Ordering::Relaxed),
            triangles: self.triangles.load(Ordering::Relaxed),
            ..self.stats
        }
    }
}
