//! Prepares a frame: decides what views show, writes its data and records its uploads.

use crate::crowd::Crowd;
use crate::crowd::frame::{Frame, Views};
use crate::crowd::instances::world::world_sphere;
use crate::crowd::memory::buffers::{DEFORMS, SHADERS, SectionBytes, VIEW_BYTES};
use crate::crowd::memory::history_buffer::words_in_use;
use crate::crowd::memory::retire::Retired;
use crate::crowd::scene::Scene;
use crate::crowd::view::View;
use crate::crowd::view_record::Prepared;
use crate::crowd::visibility::gpu::actor;
use crate::error::{Error, Result};
use crate::gpu::layout::{GpuActor, GpuChange, GpuEye};
use crate::gpu::{Features, limit};
use crate::pass::push::ScatterPush;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use std::time::Instant;

impl Crowd {
    /// Notes the bounding spheres of instances that moved.
    fn update_spheres(&mut self) {
        let scene = &mut self.scene;
        for index in scene.instances.changed.list() {
            let state = &scene.instances[*index];
            if state.alive {
                let sphere = world_sphere(&self.animators[state.character], state);
                scene.visibility.set_sphere(*index, &sphere);
            }
        }
    }
}

impl Frame<'_> {
    /// Animates the crowd and records this frame's uploads.
    ///
    /// It evaluates what instances play, writes this frame's data, and records uploads of new
    /// characters, changed records and barriers. All draws that are recorded later in this frame
    /// see the result, in this command buffer or others of the same queue.
    ///
    /// Only instances that a view shows are evaluated. Without views, all visible instances are.
    ///
    /// The result has the ids of the views, in the order of `views`.
    ///
    /// With [`Threads::One`](crate::Threads::One), nothing waits, locks or, once warm, allocates.
    /// With several threads, the calling thread waits for those that share its work, and rayon's
    /// queues may lock or allocate.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the frame is prepared already.
    /// - [`Error::Capacity`] if there are more views than the capacity, or more instances with
    ///   blended materials, counted once for each view, than
    ///   [`Capacity::blended`](crate::Capacity::blended).
    /// - [`Error::At`], with the view's index and the reason: [`Error::Argument`] if the view is
    ///   inconsistent, keeps the same history as an earlier one, or has a list that is not of this
    ///   frame; [`Error::NotFound`] if its history does not exist.
    ///
    /// Nothing is recorded then.
    ///
    /// # Safety
    /// - `cmd` is recording, outside a render pass, for the queue of all frames, which supports
    ///   compute and graphics.
    /// - It is submitted after the commands of earlier frames, and before the draws of this frame
    ///   and everything recorded for later frames: from here on, the changes count as uploaded.
    /// - If it is never submitted, [`Crowd::abandon_frame`](crate::Crowd::abandon_frame) is called
    ///   before the next frame begins.
    pub unsafe fn record_prepare(
        &mut self,
        cmd: vk::CommandBuffer,
        views: &[View],
    ) -> Result<Views> {
        span!("record_prepare");
        let start = Instant::now();
        self.check(views)?;
        self.crowd.begin_producers();
        self.crowd.activate_changed();
        let chosen = self.crowd.choose_producers();
        let placed = chosen.and_then(|()| self.crowd.follow_all());
        placed.inspect_err(|_| self.crowd.scene.wake_rested())?;
        self.crowd.memory.buffers.begin_copies();
        let frame = self.crowd.memory.retire_queue.frame();
        self.crowd.scene.visibility.begin_posing(frame);
        self.decide_visibility(views);
        let written = self.write_all(views);
        // After an error, wake the instances that were put to rest.
        let written = written.inspect_err(|_| self.crowd.scene.wake_rested())?;
        // SAFETY: this function has the same contract.
        unsafe { self.record_commands(cmd, &written, views) };
        let crowd = &mut *self.crowd;
        crowd.scene.visibility.end_posing();
        crowd.scene.instances.mark_uploaded();
        crowd.scene.attachments.gpu.changed.mark_uploaded();
        crowd
            .scene
            .chunks
            .mark_uploaded(&mut crowd.scene.characters);
        for (_, character) in crowd.scene.characters.iter_mut() {
            if let Some(poses) = &mut character.shared_poses {
                poses.wanted.mark_uploaded();
            }
        }
        crowd.frame.counters.upload_bytes += written.total();
        crowd.frame.counters.prepare_ms = start.elapsed().as_secs_f64() * 1e3;
        crowd.frame.may_be_abandoned = true;
        self.prepared = true;
        Ok(Views::new(
            self.crowd.memory.retire_queue.frame(),
            views.len(),
        ))
    }

    /// Writes everything of this frame. Returns how much that is.
    fn write_all(&mut self, views: &[View]) -> Result<SectionBytes> {
        span!("write");
        let mut written = SectionBytes::default();
        self.write_poses(&mut written)?;
        self.write_records(views, &mut written)?;
        self.write_skinned(&mut written)?;
        self.write_cull(views, &mut written)?;
        self.write_plays(&mut written)?;
        Ok(written)
    }

    fn check(&self, views: &[View]) -> Result<()> {
        if self.prepared {
            return Err(Error::invalid("frame", "was already prepared"));
        }
        let what = "views (Capacity::views, raised by Crowd::reserve)";
        let cap = self.crowd.desc.capacity.views;
        limit(what, views.len() as u64, cap.into())?;
        let (limits, histories) = (&self.crowd.device.limits, &self.crowd.frame.histories);
        views.iter().enumerate().try_for_each(|(index, view)| {
            let checked = view.check(limits);
            let checked = checked.and_then(|()| match view.eye_count() {
                1 => Ok(()),
                _ => {
                    let needed = Features::NONE.with_multiview(true);
                    self.crowd.device.expect_enabled("View::more_eyes", needed)
                }
            });
            let checked = checked.and_then(|()| histories.check(views, index));
            let frame = self.crowd.memory.retire_queue.frame();
            let checked = checked.and_then(|()| self.crowd.scene.visibility.check(view, frame));
            checked.map_err(|why| why.at("view", index))
        })
    }

    /// Decides what each view shows, and makes the visible lists.
    fn decide_visibility(&mut self, views: &[View]) {
        span!("cull");
        let crowd = &mut *self.crowd;
        crowd.update_spheres();
        let scene = &mut crowd.scene;
        let (visibility, instances) = (&mut scene.visibility, &mut scene.instances);
        visibility.decide(views, instances, &scene.characters);
        visibility.make_lists(instances, &scene.characters);
        let counts = match visibility.is_on_gpu() {
            true => &crowd.frame.read_back,
            false => visibility.counts(),
        };
        crowd.frame.counters.shown(counts);
    }

    /// Writes views, visible lists and changed records in order, each into its section of this
    /// frame index.
    fn write_records(&mut self, views: &[View], written: &mut SectionBytes) -> Result<()> {
        let (crowd, frame_index) = (&mut *self.crowd, self.frame_index);
        let buffers = &mut crowd.memory.buffers;
        let sections = buffers.sections;
        crowd.frame.views.clear();
        let palettes = buffers.palettes.address(frame_index);
        let mut view_bytes = 0;
        for (number, view) in (0..).zip(views) {
            crowd.frame.views.push(Prepared::new(view));
            let past = crowd.frame.histories.past(view.history, &buffers.history);
            let record = view.record(&past, palettes, crowd.pipelines.shadow.edge);
            let start = number * sections.view_stride;
            let moves = view.history.is_some() || crowd.pipelines.shows_motion();
            for (at, bytes) in record.written(moves) {
                let (section, at, len) = (sections.views, start + at, bytes.len());
                // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
                unsafe { buffers.write(frame_index, section, at, len)? }.copy_from(bytes)?;
                view_bytes += len as u64;
            }
            written.views = start + VIEW_BYTES;
            for eye in view.eye_records(&past) {
                let (section, at) = (sections.views, written.views);
                // SAFETY: as above.
                unsafe { buffers.write(frame_index, section, at, 1)? }.copy_from(&[eye])?;
                view_bytes += size_of::<GpuEye>() as u64;
                written.views += size_of::<GpuEye>() as u64;
            }
        }
        written.view_gaps = written.views - view_bytes;
        let blended = &mut crowd.frame.sorted;
        let cap = crowd.desc.capacity.blended;
        let Scene {
            characters,
            instances,
            visibility,
            ..
        } = &crowd.scene;
        blended.sort(views, characters, instances, visibility, cap)?;
        let mut at = 0;
        for list in [&[0], crowd.scene.visibility.list(), blended.list()] {
            let (section, start, count) = (sections.visible, at * 4, list.len());
            // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
            unsafe { buffers.write(frame_index, section, start, count)? }.copy_from(list)?;
            at += list.len() as u64;
        }
        let on_gpu = crowd.scene.visibility.is_on_gpu();
        // Without lists of the CPU, nothing reads the word before them.
        let visible = if on_gpu && at == 1 { 0 } else { at * 4 };
        buffers.copy_to_work(frame_index, sections.visible, 0, visible);
        while let Some(index) = crowd.scene.visibility.noted.pop() {
            crowd.scene.instances.changed.add(index);
        }
        let instances = &crowd.scene.instances;
        let changed = instances.changed.list();
        let records = changed.iter().map(|index| instances[*index].record);
        let count = changed.len();
        // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
        unsafe {
            let mut out = buffers.write(frame_index, sections.changes, 0, count)?;
            out.fill_with(records)?;
            let mut out = buffers.write(frame_index, sections.indices, 0, count)?;
            out.copy_from(changed)?;
            if on_gpu {
                let (known, poses) = (
                    (instances, &crowd.scene.visibility),
                    crowd.scene.gpu_poses.as_ref(),
                );
                let actors = changed.iter().map(|index| actor(known, poses, *index));
                let mut out = buffers.write(frame_index, sections.actors, 0, count)?;
                out.fill_with(actors)?;
                written.actors = count as u64 * size_of::<GpuActor>() as u64;
            }
        }
        crowd.frame.counters.changes = changed.len() as u32;
        *written = SectionBytes {
            visible,
            changes: changed.len() as u64 * size_of::<GpuChange>() as u64,
            indices: changed.len() as u64 * 4,
            ..*written
        };
        Ok(())
    }

    /// Records all commands of [`Self::record_prepare`].
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    unsafe fn record_commands(
        &mut self,
        cmd: vk::CommandBuffer,
        written: &SectionBytes,
        views: &[View],
    ) {
        span!("record");
        // SAFETY: this function has the contract of the calls inside.
        unsafe {
            self.crowd.device.begin_label(cmd, c"throng prepare");
            if let Some(profiler) = &mut self.crowd.frame.profiler {
                profiler.record_reset(&self.crowd.device, cmd);
            }
            let scope = self.begin_scope(cmd, "upload");
            self.record_uploads(cmd, written);
            self.record_growth(cmd);
            self.end_scope(cmd, scope);
            if written.changes > 0 {
                let scope = self.begin_scope(cmd, "scatter");
                self.record_scatter(cmd);
                self.end_scope(cmd, scope);
            }
            self.record_cull(cmd, views);
            self.record_animate(cmd);
            self.record_skin(cmd);
            if self.crowd.frame.histories.wants(views) {
                let scope = self.begin_scope(cmd, "history");
                self.record_histories(cmd, views);
                self.end_scope(cmd, scope);
            }
            self.crowd.device.end_label(cmd);
        }
    }

    /// Records the uploads of new characters, and of this frame's bytes if the rings are staged.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    unsafe fn record_uploads(&mut self, cmd: vk::CommandBuffer, written: &SectionBytes) {
        let (crowd, frame_index) = (&mut *self.crowd, self.frame_index);
        let device = &crowd.device;
        let parts = crowd.memory.buffers.sections.written(written);
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers are this crowd's and alive.
        unsafe {
            for (serial, mut upload) in crowd.memory.uploads.drain(..) {
                crowd.frame.counters.upload_bytes += upload.bytes();
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
                .record_upload(device, cmd, frame_index, parts);
            let rows = crowd.scene.pose_scratch.rows_written();
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
        let offsets = [sections.changes, sections.indices, sections.actors]
            .map(|part| buffers.offset(frame_index, part));
        let (set, count) = (buffers.scatter_set, crowd.frame.counters.changes);
        let table = &buffers.table_layout;
        let push = ScatterPush {
            change_count: count,
            actors_at: (table.actors / 16) as u32,
            levels_at: (table.levels / 4) as u32,
            shown_at: (table.shown / 4) as u32,
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
    unsafe fn record_histories(&mut self, cmd: vk::CommandBuffer, views: &[View]) {
        let crowd = &mut *self.crowd;
        let (instances, rows) = (&crowd.scene.instances, crowd.scene.rows_in_use());
        let words = words_in_use(
            instances.table_len(),
            rows,
            instances.morphs_end(),
            instances.skinned_end(),
        );
        let sources = (crowd.memory.buffers.present(self.frame_index), words);
        let (device, buffer) = (&crowd.device, &crowd.memory.buffers.history);
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
        }
    }
}
