//! The data of the last frame that the crowd keeps.

use crate::crowd::frame::ends::Ends;
use crate::crowd::frame::history::Histories;
use crate::crowd::frame::late::LateFrame;
use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::memory::retire::RetireQueue;
use crate::crowd::stats::{Counters, PoseTotals, counter_words};
use crate::crowd::view_record::Prepared;
use crate::crowd::visibility::occluders::Occluders;
use crate::crowd::visibility::sorted::Sorted;
use crate::crowd::{Capacity, CrowdDesc, InstanceId, ViewStats};
use crate::error::Result;
use crate::gpu::{Device, Gpu, Profiler, destroy_fields};
use glam::Affine3A;

/// Views, histories and figures of the last frame, kept so that frames allocate nothing.
#[derive(Debug)]
pub(crate) struct FrameState {
    pub(crate) views: Vec<Prepared>,
    pub(crate) sorted: Sorted,
    pub(crate) histories: Histories,
    pub(crate) occluders: Occluders,
    pub(crate) late: LateFrame,
    pub(crate) counters: Counters,
    /// The figures of views, as the GPU counted them.
    pub(crate) read_back: Vec<ViewStats>,
    /// Poses, as the GPU counted them.
    pub(crate) pose_totals: PoseTotals,
    /// By frame index, the number of views whose figures the GPU writes.
    pub(crate) read_back_views: Vec<u32>,
    pub(crate) profiler: Option<Profiler>,
    pub(crate) ends: Ends,
    /// The time of the frame begun last.
    pub(crate) time_s: f64,
    /// The time that updates took since then, in milliseconds.
    pub(crate) update_ms: f64,
    /// Instances that the picture moves, while it is begun.
    pub(crate) moved: Vec<(InstanceId, Affine3A)>,
    /// The frame index begun last, unless that frame was abandoned.
    pub(crate) begun: Option<u32>,
    /// True if the frame begun last is prepared, and was not abandoned.
    pub(crate) may_be_abandoned: bool,
}

destroy_fields!(FrameState, Gpu<'a>: profiler, ends, histories);

impl FrameState {
    pub(crate) fn new(desc: &CrowdDesc) -> Self {
        Self {
            views: Vec::new(),
            sorted: Sorted::default(),
            histories: Histories::default(),
            occluders: Occluders::default(),
            late: LateFrame::default(),
            counters: Counters::default(),
            read_back: Vec::new(),
            pose_totals: PoseTotals::default(),
            read_back_views: vec![0; desc.frames_in_flight as usize],
            profiler: None,
            ends: Ends::default(),
            time_s: f64::NEG_INFINITY,
            update_ms: 0.0,
            moved: Vec::new(),
            begun: None,
            may_be_abandoned: false,
        }
    }

    /// Grows to a capacity, so that frames allocate nothing. The buffer of counters is new.
    pub(crate) fn grow(&mut self, capacity: &Capacity, device: &Device) {
        let views = capacity.views as usize;
        self.views.reserve(views.saturating_sub(self.views.len()));
        let more = views.saturating_sub(self.read_back.len());
        self.read_back.reserve(more);
        self.sorted.reserve(capacity.blended as usize);
        self.occluders.grow(capacity, device);
        self.late.grow(capacity);
    }

    /// Begins a frame: reads what the GPU measured and counted in the last one of this frame index.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan) if GPU times cannot be read.
    ///
    /// # Safety
    /// The work of this frame index has ended, and was submitted.
    pub(super) unsafe fn begin(
        &mut self,
        device: &Device,
        buffers: &FrameBuffers,
        frame_index: u32,
    ) -> Result<()> {
        if let Some(profiler) = &mut self.profiler {
            // SAFETY: the profiler is this device's; the work of this frame index has ended, by
            // this function's contract.
            unsafe { profiler.begin_frame(device, frame_index) }?;
        }
        self.counters = Counters::default();
        self.counters.stats.update_ms = core::mem::take(&mut self.update_ms);
        self.views.clear();
        self.late.begin();
        self.histories.begin_frame();
        if let Some(read_back) = &buffers.read_back {
            let words = counter_words(self.read_back_views[frame_index as usize]);
            // SAFETY: the work of this frame index has ended and was submitted, by this function's
            // contract, and it wrote the counters of that many views.
            let counters = unsafe { read_back.read(frame_index, words) }.as_chunks().0;
            let (totals, views) = counters.split_first().unzip();
            self.pose_totals = totals.map_or_else(PoseTotals::default, PoseTotals::from_words);
            let views = views.into_iter().flatten().map(ViewStats::from_words);
            self.read_back.clear();
            self.read_back.extend(views);
        }
        Ok(())
    }

    /// Undoes the frame prepared last, which is never submitted.
    pub(super) fn abandon(&mut self, retire_queue: &mut RetireQueue) {
        if let Some(frame_index) = self.begun.take() {
            self.ends.abandon(frame_index);
        }
        self.read_back_views.fill(0);
        self.histories.abandon_frame(retire_queue);
        if let Some(profiler) = &mut self.profiler {
            profiler.abandon_frame();
        }
        self.views.clear();
        self.late.abandon();
    }

    /// Undoes the reveal of the frame prepared last, which is never submitted.
    pub(super) fn abandon_reveal(&mut self, retire_queue: &mut RetireQueue) {
        if self.late.is_revealed() {
            self.histories.abandon_frame(retire_queue);
            self.late.abandon();
        }
    }
}
