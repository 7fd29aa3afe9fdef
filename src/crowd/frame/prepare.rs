//! Prepares a frame: decides what views show, writes its data and records its uploads.

use crate::crowd::frame::{Frame, Views};
use crate::crowd::view::View;
use crate::crowd::view_record::ViewInput;
use crate::crowd::visibility::gpu::CullStep;
use crate::crowd::{Crowd, Depth};
use crate::error::{Error, Result};
use crate::gpu::{Features, limit};
use crate::pass::cull::CullDispatch;
use ash::vk;
use std::time::Instant;

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
        // SAFETY: this function has the same contract, and there is no image.
        unsafe { self.record_prepare_behind(cmd, views, &[]) }
    }

    /// As [`Self::record_prepare`], but instances that depth hides are neither posed, nor skinned,
    /// nor drawn.
    ///
    /// `depths` are what the engine has drawn before, for some eyes of the views. An instance is
    /// hidden in a view if the depth of each eye that has it inside hides it. Then the view does
    /// not show it: [`ViewStats::hidden`](crate::ViewStats::hidden) counts such instances. If no
    /// view shows an instance, the GPU does not pose it. An eye without depth hides nothing.
    ///
    /// Nothing is tested if the CPU culls ([`Stages::Cpu`](crate::Stages::Cpu)), and instances with
    /// blended materials, which the CPU sorts, are never hidden.
    ///
    /// # Errors
    /// As [`Self::record_prepare`], and:
    ///
    /// - [`Error::Capacity`] for more pixels of depth than
    ///   [`Capacity::depth_pixels`](crate::Capacity::depth_pixels).
    /// - [`Error::At`], with the index of the depth and the reason: [`Error::NotFound`] if its view
    ///   or eye does not exist; [`Error::Argument`] if it is inconsistent, or for the same eye as
    ///   an earlier one.
    ///
    /// # Safety
    /// That of [`Self::record_prepare`], and of the images:
    ///
    /// - They are as their [`Depth`] says, belong to this device, and live until the work of this
    ///   frame index has ended.
    /// - When the commands run, they have been written, which a barrier made visible to
    ///   `SHADER_READ` in the stage `COMPUTE_SHADER`.
    /// - What changes them later, or their layout, waits for the stage `COMPUTE_SHADER`.
    #[doc(alias = "occlusion")]
    pub unsafe fn record_prepare_behind(
        &mut self,
        cmd: vk::CommandBuffer,
        views: &[View],
        depths: &[Depth],
    ) -> Result<Views> {
        span!("record_prepare");
        let start = Instant::now();
        self.check(views)?;
        self.take_depths(views, depths)?;
        let crowd = &mut *self.crowd;
        // After an error, wake the instances that were put to rest.
        let step = crowd
            .prepare(self.frame_index, views)
            .inspect_err(|_| crowd.scene.wake_rested())?;
        // SAFETY: this function has the same contract.
        unsafe { self.record_commands(cmd, &step, views) };
        let crowd = &mut *self.crowd;
        if let (Some(dispatch), Some(work)) = (step.cull, &crowd.memory.buffers.work)
            && let Some(last) = views.iter().rposition(|view| view.late)
        {
            let push = work.layout.reveals(&dispatch.push, last as u32 + 1);
            let late = &mut crowd.frame.late;
            late.hold(views, CullDispatch { push, ..dispatch });
        }
        if let Some(rays) = &mut crowd.rays {
            rays.dispatch = step.cull;
        }
        crowd.scene.mark_uploaded();
        crowd.frame.counters.stats.upload_bytes += step.written.total;
        crowd.frame.counters.stats.prepare_ms = start.elapsed().as_secs_f64() * 1e3;
        crowd.frame.may_be_abandoned = true;
        self.prepared = true;
        let frame = self.crowd.memory.retire_queue.frame();
        Ok(Views::new(frame, views.len()))
    }

    /// Checks the depth pictures, and gives their pyramids places.
    fn take_depths(&mut self, views: &[View], depths: &[Depth]) -> Result<()> {
        Depth::check_all(depths, views)?;
        let crowd = &mut *self.crowd;
        let pyramids = crowd.memory.buffers.pyramids.as_ref();
        let to = pyramids.map(|pyramids| (pyramids, (self.frame_index, false)));
        let (occluders, capacity) = (&mut crowd.frame.occluders, &crowd.desc.capacity);
        occluders.take(views, depths, capacity, to)
    }

    fn check(&self, views: &[View]) -> Result<()> {
        if self.prepared {
            return Err(Error::invalid("frame", "was already prepared"));
        }
        let what = "views (Capacity::views, raised by Crowd::reserve)";
        let cap = self.crowd.desc.capacity.views;
        limit(what, views.len() as u64, cap.into())?;
        let late = self.crowd.desc.capacity.late_views;
        let (limits, histories) = (&self.crowd.device.limits, &self.crowd.frame.histories);
        views.iter().enumerate().try_for_each(|(index, view)| {
            let checked = view.check(limits);
            let checked = checked.and_then(|()| match view.eye_count() {
                1 => Ok(()),
                _ => {
                    let needed = Features::MULTIVIEW;
                    self.crowd.device.expect_enabled("View::more_eyes", needed)
                }
            });
            let checked = checked.and_then(|()| histories.check(views, index));
            let what = "late views (Capacity::late_views, raised by Crowd::reserve)";
            let counted = if view.late { index as u64 + 1 } else { 0 };
            let checked = checked.and_then(|()| limit(what, counted, late.into()).map(drop));
            let frame = self.crowd.memory.retire_queue.frame();
            let checked = checked.and_then(|()| self.crowd.scene.shown.check(view, frame));
            checked.map_err(|why| why.at("view", index))
        })
    }
}

impl Crowd {
    /// The steps of a frame, each of which changes only what those after it read: who poses whom,
    /// transforms, culling, poses, and all other records.
    fn prepare(&mut self, frame_index: u32, views: &[View]) -> Result<CullStep> {
        self.settle_picture();
        self.scene.begin_poses(self.shown_s);
        self.scene.activate_changed(&mut self.animators);
        self.scene.choose_posers(&self.animators, self.shown_s)?;
        self.follow_all()?;
        self.scene.update_spheres(&self.animators);
        let Self {
            scene,
            animators,
            frame,
            ..
        } = self;
        scene
            .visibility
            .begin_posing(self.memory.retire_queue.frame());
        {
            span!("cull");
            let (shown, visibility) = (&mut scene.shown, &mut scene.visibility);
            shown.decide(views, visibility, &scene.instances, &scene.characters);
        }
        span!("write");
        // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
        let mut out = unsafe { self.memory.buffers.writer(frame_index) };
        let input = ViewInput {
            shadow_edge: self.pipelines.shadow.extent,
            map_levels: self.pipelines.environment.extent,
            shows_motion: self.pipelines.shows_motion(),
            shows_environment: self.pipelines.shows_environment(),
        };
        scene.write_poses(animators, &mut frame.counters, &mut out)?;
        frame.write_views(views, input, &mut out)?;
        let blended = self.desc.capacity.blended;
        scene.write_lists(views, &mut frame.sorted, blended, &mut out)?;
        frame.counters.changes = scene.write_changes(animators, &mut out)?;
        frame.counters.stats.changes = frame.counters.changes.iter().sum();
        scene.write_skinned(&self.desc.threads, &mut frame.counters, &mut out)?;
        scene.write_plays(animators, &mut out)?;
        let frames = [
            self.memory.retire_queue.frame(),
            scene.visibility.prepared_in(),
        ];
        let buffers = &out.buffers;
        let palettes = buffers.palettes.address(frame_index);
        let last = (&frame.histories, &buffers.history);
        frame.occluders.follow(views, last, palettes);
        scene.write_cull((views, &frame.occluders), frames, self.shown_s, out)
    }
}
