//! Records the stages attach, cull, scan, allocate_rows, compact and args of a frame.

use crate::crowd::frame::Frame;
use crate::crowd::memory::buffers::DEFORMS;
use crate::crowd::memory::sections::Part;
use crate::crowd::stats::counter_words;
use crate::crowd::visibility::gpu::CullStep;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// Regions of one copy command.
const MAX_REGIONS: usize = 1024;

impl Frame<'_> {
    /// Records the copies to the work buffer, and the stages, between barriers.
    ///
    /// Earlier frames read what is overwritten, and have written it.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    pub(crate) unsafe fn record_cull(
        &mut self,
        cmd: vk::CommandBuffer,
        step: &CullStep,
        views: u32,
    ) {
        let work = self.crowd.memory.buffers.work.as_mut();
        let is_new = work.is_some_and(|work| core::mem::take(&mut work.is_new));
        let (crowd, frame_index) = (&*self.crowd, self.frame_index);
        let (device, buffers) = (&crowd.device, &crowd.memory.buffers);
        let (Some(work), Some(pass), Some(dispatch)) =
            (&buffers.work, &crowd.pipelines.cull, &step.cull)
        else {
            return;
        };
        let (compute, transfer) = (Stage::COMPUTE_SHADER, Stage::TRANSFER);
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        let to = Access::TRANSFER_WRITE;
        let layout = &work.layout;
        let (counters, bytes) = match is_new {
            true => layout.cleared_first(),
            false => layout.cleared(),
        };
        let (host, _) = buffers.host_source(frame_index, Part::Patches);
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers and sets are this crowd's and alive, and the ranges lie in the buffers.
        unsafe {
            device.begin_label(cmd, c"throng cull");
            let scope = self.begin_scope(cmd, "cull");
            let before = DEFORMS | Stage::DRAW_INDIRECT | transfer;
            let now = transfer | compute;
            device.barrier(cmd, (before, write | to), (now, to | read | write));
            for regions in buffers.copies.chunks(MAX_REGIONS) {
                let to = work.buffer.handle;
                device.raw.cmd_copy_buffer(cmd, host, to, regions);
            }
            if let Some(poses) = &crowd.scene.poses.gpu {
                buffers.record_plays((device, cmd), frame_index, &poses.copies);
                crowd.record_directories(cmd);
            }
            device
                .raw
                .cmd_fill_buffer(cmd, work.buffer.handle, counters, bytes, 0);
            let dispatches = &crowd.frame.occluders.dispatches;
            let pyramid = crowd.pipelines.pyramid.as_ref();
            if let Some(pyramid) = pyramid.filter(|_| !dispatches.is_empty()) {
                pyramid.record(device, cmd, dispatches);
            }
            let then = (DEFORMS, read | write);
            let made = if dispatches.is_empty() {
                (transfer, to)
            } else {
                (transfer | compute, to | write)
            };
            device.barrier(cmd, made, then);
            crowd.record_shared_poses(cmd);
            if let (Some(pass), Some(dispatch)) = (&crowd.pipelines.attach, &step.attach) {
                pass.record(device, cmd, dispatch);
                device.barrier(cmd, (compute, write), (DEFORMS, read | write));
            }
            pass.record(device, cmd, dispatch);
            self.record_read_back(cmd, views);
            self.end_scope(cmd, scope);
            device.end_label(cmd);
        }
        let written = &mut self.crowd.frame.read_back_views;
        written[frame_index as usize] = views;
    }

    /// Makes what the stages wrote visible, and records the copy of their counters.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    pub(crate) unsafe fn record_read_back(&self, cmd: vk::CommandBuffer, views: u32) {
        let (crowd, frame_index) = (&*self.crowd, self.frame_index);
        let (device, buffers) = (&crowd.device, &crowd.memory.buffers);
        let Some(work) = &buffers.work else { return };
        let (compute, transfer) = (Stage::COMPUTE_SHADER, Stage::TRANSFER);
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        let (counters, _) = work.layout.cleared();
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers are this crowd's and alive, and the ranges lie in the buffers.
        unsafe {
            let readers = DEFORMS | Stage::DRAW_INDIRECT | transfer;
            let reads = read | Access::INDIRECT_COMMAND_READ | Access::TRANSFER_READ;
            device.barrier(cmd, (compute, write), (readers, reads));
            if let Some(read_back) = buffers.read_back.as_ref().filter(|_| views > 0) {
                let (words, from) = (counter_words(views), (work.buffer.handle, counters));
                read_back.record((device, cmd), frame_index, from, words);
            }
        }
    }
}
