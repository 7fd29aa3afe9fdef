//! Records the commands of a prepared frame: uploads, scatter, growth and histories.

use crate::crowd::frame::Frame;
use crate::crowd::memory::buffers::{DEFORMS, SHADERS};
use crate::crowd::memory::history_buffer::words_in_use;
use crate::crowd::memory::retire::Retired;
use crate::crowd::memory::sections::{Part, SectionBytes};
use crate::crowd::view::View;
use crate::crowd::visibility::gpu::CullStep;
use crate::pass::push::{ScatterPush, ShiftPush};
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

impl Frame<'_> {
    /// Records all commands of [`Self::record_prepare`].
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    pub(super) unsafe fn record_commands(
        &mut self,
        cmd: vk::CommandBuffer,
        step: &CullStep,
        views: &[View],
    ) {
        span!("record");
        // SAFETY: this function has the contract of the calls inside.
        unsafe {
            self.crowd.device.begin_label(cmd, c"throng prepare");
            if let Some(profiler) = &mut self.crowd.frame.profiler {
                profiler.record_reset(&self.crowd.device, cmd);
            }
            if let Some(rays) = &self.crowd.rays {
                rays.record_wait(&self.crowd.device, cmd);
            }
            let scope = self.begin_scope(cmd, "upload");
            self.record_uploads(cmd, &step.written);
            self.record_growth(cmd);
            self.end_scope(cmd, scope);
            self.record_shift(cmd);
            if self.crowd.frame.counters.stats.changes > 0 {
                let scope = self.begin_scope(cmd, "scatter");
                self.record_scatter(cmd);
                self.end_scope(cmd, scope);
            }
            self.record_cull(cmd, step, views.len() as u32);
            self.record_animate(cmd);
            self.record_skin(cmd, false);
            let holds = step.cull.is_some_and(|dispatch| dispatch.holds);
            if !holds {
                self.record_histories(cmd, views);
            }
            self.crowd.device.end_label(cmd);
            let (device, ends) = (&self.crowd.device, &mut self.crowd.frame.ends);
            ends.record(device, cmd, self.frame_index);
        }
    }

    /// Records the uploads of new characters, and of this frame's bytes if the rings are staged.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    unsafe fn record_uploads(&mut self, cmd: vk::CommandBuffer, written: &SectionBytes) {
        let (crowd, frame_index) = (&mut *self.crowd, self.frame_index);
        let device = &crowd.device;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers are this crowd's and alive.
        unsafe {
            for (serial, mut upload) in crowd.memory.uploads.drain(..) {
                crowd.frame.counters.stats.upload_bytes += upload.bytes();
                upload.record(device, cmd);
                crowd
                    .memory
                    .retire_queue
                    .retire(Retired::Upload(serial, upload));
            }
            if crowd.memory.buffers.palettes.is_staged() || crowd.memory.buffers.is_staged() {
                // Each frame in flight has its own part of the copy. But a layer that ignores
                // dynamic offsets assumes that every frame reads the part of the first frame index,
                // and would report a hazard.
                let (none, copy) = (Access::empty(), Stage::TRANSFER);
                device.barrier(cmd, (SHADERS, none), (copy, none));
            }
            let records = crowd
                .memory
                .buffers
                .record_upload(device, cmd, frame_index, written);
            let rows = crowd.scene.poses.scratch.rows_written();
            let palettes = &crowd.memory.buffers.palettes;
            let palettes = palettes.record_rows(device, cmd, frame_index, rows);
            if records || palettes {
                let reads = Access::SHADER_READ | Access::UNIFORM_READ;
                device.barrier(
                    cmd,
                    (Stage::TRANSFER, Access::TRANSFER_WRITE),
                    (SHADERS, reads),
                );
            }
        }
    }

    /// Records the dispatch that scatters changed records into the table, between barriers.
    ///
    /// The barriers are needed because earlier frames have written the table and may still read it.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    unsafe fn record_scatter(&self, cmd: vk::CommandBuffer) {
        let (crowd, frame_index) = (&*self.crowd, self.frame_index);
        let (device, sections) = (&crowd.device, &crowd.memory.buffers.sections);
        let (stage, write) = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
        let buffers = &crowd.memory.buffers;
        let parts = [Part::Changes, Part::Indices, Part::Actors];
        let offsets = parts.map(|part| buffers.offset(frame_index, sections[part]));
        let set = buffers.scatter.first();
        let [change_count, moved_count] = crowd.frame.counters.changes;
        let table = &buffers.table_layout;
        let push = ScatterPush {
            change_count,
            moved_count,
            actors_at: (table.actors / 16) as u32,
            levels_at: (table.levels / 4) as u32,
            shown_at: (table.shown / 4) as u32,
            spheres_at: (table.spheres / 16) as u32,
        };
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; set and
        // buffers are this crowd's and alive.
        unsafe {
            device.barrier(cmd, (DEFORMS, write), (stage, Access::SHADER_READ | write));
            device.begin_label(cmd, c"throng scatter");
            crowd
                .pipelines
                .scatter
                .record(device, cmd, set, offsets, push);
            device.end_label(cmd);
            let then = Access::SHADER_READ | write;
            device.barrier(cmd, (stage, write), (DEFORMS, then));
        }
    }

    /// Records the dispatch that takes the table to the present origin, between barriers.
    ///
    /// It comes before the scatter, whose records are at the present origin already. The barriers
    /// are needed as there.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    unsafe fn record_shift(&self, cmd: vk::CommandBuffer) {
        let crowd = &*self.crowd;
        let [count, _] = crowd.scene.instances.uploaded();
        let Some(shift) = crowd.scene.origin.waiting().filter(|_| count > 0) else {
            return;
        };
        let (device, buffers) = (&crowd.device, &crowd.memory.buffers);
        let (stage, write) = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
        let table = &buffers.table_layout;
        let rows = |start: u64| (start / 16) as u32;
        let push = ShiftPush {
            offset: shift.high.extend(0.0).to_array(),
            rest: shift.low.extend(0.0).to_array(),
            count,
            actors_at: rows(table.actors),
            spheres_at: if crowd.pipelines.cull.is_some() {
                rows(table.spheres)
            } else {
                0
            },
        };
        let reads = Access::SHADER_READ | write;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; set and
        // buffers are this crowd's and alive, and the table has that many records.
        unsafe {
            let scope = self.begin_scope(cmd, "shift");
            device.barrier(cmd, (DEFORMS, write), (stage, reads));
            device.begin_label(cmd, c"throng shift");
            let set = buffers.scatter.first();
            crowd.pipelines.shift.record(device, cmd, set, push);
            device.end_label(cmd);
            device.barrier(cmd, (stage, write), (DEFORMS, reads));
            self.end_scope(cmd, scope);
        }
    }

    /// Records the copies that growth left to this frame, between barriers.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    unsafe fn record_growth(&mut self, cmd: vk::CommandBuffer) {
        let crowd = &mut *self.crowd;
        let Some(grown) = crowd.memory.grown.take() else {
            return;
        };
        let device = &crowd.device;
        let (copy, read, write) = (
            Stage::TRANSFER,
            Access::TRANSFER_READ,
            Access::TRANSFER_WRITE,
        );
        let storage = Access::SHADER_READ | Access::SHADER_WRITE;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers are this crowd's and alive.
        unsafe {
            let written = Access::SHADER_WRITE | write;
            device.barrier(cmd, (DEFORMS | copy, written), (copy, read | write));
            grown.record(device, cmd, &crowd.memory.buffers);
            let then = (DEFORMS | copy, storage | read | write);
            device.barrier(cmd, (copy, write), then);
        }
        crowd.memory.retire_queue.retire(Retired::Growth(grown));
    }

    /// Copies this frame's state into the history of each view that has one, between barriers.
    ///
    /// Earlier stages of this frame have written the sources. Earlier frames read what is replaced,
    /// and have written what growth moves. The barrier after the copies also makes the next frame's
    /// scatter wait.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    pub(super) unsafe fn record_histories(&mut self, cmd: vk::CommandBuffer, views: &[View]) {
        if !self.crowd.frame.histories.wants(views) {
            return;
        }
        // SAFETY: this function has the same contract.
        let scope = unsafe { self.begin_scope(cmd, "history") };
        let crowd = &mut *self.crowd;
        let (instances, rows) = (&crowd.scene.instances, crowd.scene.rows_in_use());
        let words = words_in_use(
            instances.table_len(),
            rows,
            instances.morphs_end(),
            instances.skinned_end(),
        );
        let sources = (crowd.memory.buffers.present(self.frame_index), words);
        let (device, buffer) = (&*crowd.device, &crowd.memory.buffers.history);
        let (copy, read, write) = (
            Stage::TRANSFER,
            Access::TRANSFER_READ,
            Access::TRANSFER_WRITE,
        );
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers are this crowd's and alive.
        unsafe {
            let written = Access::SHADER_WRITE | write;
            device.barrier(cmd, (DEFORMS | copy, written), (copy, read | write));
            device.begin_label(cmd, c"throng history");
            let (to, retire_queue) = ((device, cmd), &mut crowd.memory.retire_queue);
            crowd
                .frame
                .histories
                .record(to, buffer, retire_queue, sources, views);
            device.end_label(cmd);
            device.barrier(cmd, (copy, write), (DEFORMS, Access::SHADER_READ));
            self.end_scope(cmd, scope);
        }
    }
}
