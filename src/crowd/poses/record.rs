//! Records the GPU's stage animate, and the shared poses that it needs.

use crate::crowd::Crowd;
use crate::crowd::frame::Frame;
use crate::crowd::memory::buffers::DEFORMS;
use crate::crowd::memory::sections::Part;
use crate::gpu::constants::{CHUNK, JOB_WORDS, POSE_WORDS};
use crate::pass::animate::{AnimateDispatch, AnimateJobs};
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

impl Crowd {
    /// Records where the shared poses are that this frame computes.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass, between barriers, and uploads were recorded.
    pub(crate) unsafe fn record_directories(&self, cmd: vk::CommandBuffer) {
        for (_, loaded) in self.scene.characters.iter() {
            if let Some(poses) = &loaded.shared_poses {
                // SAFETY: this function has the same contract.
                unsafe { poses.record_directory(&self.device, cmd) };
            }
        }
    }

    /// Records the shared poses that instances can use for the first time.
    ///
    /// # Safety
    /// As [`Self::record_directories`].
    pub(crate) unsafe fn record_shared_poses(&self, cmd: vk::CommandBuffer) {
        let Some(pipeline) = &self.pipelines.animate else {
            return;
        };
        for (_, loaded) in self.scene.characters.iter() {
            if let (Some(poses), Ok(tables)) = (&loaded.shared_poses, &loaded.animation) {
                // SAFETY: this function has the same contract. The pipeline was prepared when the
                // character was added.
                unsafe { poses.record((&self.device, cmd), pipeline, tables) };
            }
        }
    }
}

impl Frame<'_> {
    /// Records the stage animate of all characters that the GPU poses instances of. The stage
    /// compact has listed them, and a barrier was recorded since.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    pub(crate) unsafe fn record_animate(&self, cmd: vk::CommandBuffer) {
        let crowd = &*self.crowd;
        let buffers = &crowd.memory.buffers;
        let (Some(poses), Some(pipeline), Some(work), Some(plays)) = (
            &crowd.scene.poses.gpu,
            &crowd.pipelines.animate,
            &buffers.work,
            &buffers.plays,
        ) else {
            return;
        };
        if !poses.poses_any() {
            return;
        }
        let epoch_s = poses.epoch_s(crowd.shown_s);
        let device = &crowd.device;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers are this crowd's and alive. The stage compact wrote jobs with the records of
        // instances that `choose_posers` converted, and as many rows of the ring as a palette
        // has.
        unsafe {
            device.begin_label(cmd, c"throng animate");
            let scope = self.begin_scope(cmd, "animate");
            for (number, loaded) in crowd.scene.characters.iter() {
                let (Some(slot), Ok(tables)) = (&loaded.slot, &loaded.animation) else {
                    continue;
                };
                if !poses.poses_some_of(number) {
                    continue;
                }
                let layout = &work.layout;
                let job = u64::from(slot.first_chunk()) * CHUNK as u64 * u64::from(JOB_WORDS);
                let jobs = (u64::from(layout.push.jobs_at) + job) * 4;
                let own_weights = buffers.sections.first_in_lists(Part::OwnWeights);
                let command = u64::from(layout.push.poses_at + slot.number * POSE_WORDS) * 4;
                let dispatch = AnimateDispatch {
                    tables,
                    plays: plays.address,
                    jobs: work.buffer.address + jobs,
                    palettes: buffers.palettes.address(self.frame_index),
                    // The lists are at its start, and begin with the morph weights.
                    morphs: work.buffer.address,
                    own_weights: work.buffer.address + u64::from(own_weights) * 4,
                    count: AnimateJobs::Indirect {
                        count: work.buffer.address + command + 12,
                        buffer: work.buffer.handle,
                        offset: command,
                    },
                    now_s: crowd.shown_s,
                    epoch_s,
                };
                pipeline.record(device, cmd, &dispatch);
            }
            self.end_scope(cmd, scope);
            let write = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
            // If the ring is not staged, the CPU may write the same rows in another frame.
            let readers = (
                DEFORMS | Stage::TRANSFER,
                Access::SHADER_READ | Access::TRANSFER_READ,
            );
            let then = match buffers.palettes.is_staged() {
                true => readers,
                false => (readers.0 | Stage::HOST, readers.1 | Access::HOST_WRITE),
            };
            device.barrier(cmd, write, then);
            device.end_label(cmd);
        }
    }
}
