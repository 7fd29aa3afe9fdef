//! Prepares a frame: decides what views show, writes its data and records its uploads.

use crate::crowd::Crowd;
use crate::crowd::frame::{Frame, Views};
use crate::crowd::view::View;
use crate::crowd::visibility::gpu::CullStep;
use crate::error::{Error, Result};
use crate::gpu::{Features, limit};
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
        span!("record_prepare");
        let start = Instant::now();
        self.check(views)?;
        let crowd = &mut *self.crowd;
        // After an error, wake the instances that were put to rest.
        let step = crowd
            .prepare(self.frame_index, views)
            .inspect_err(|_| crowd.scene.wake_rested())?;
        // SAFETY: this function has the same contract.
        unsafe { self.record_commands(cmd, &step, views) };
        let crowd = &mut *self.crowd;
        crowd.scene.mark_uploaded();
        crowd.frame.counters.stats.upload_bytes += step.written.total;
        crowd.frame.counters.stats.prepare_ms = start.elapsed().as_secs_f64() * 1e3;
        crowd.frame.may_be_abandoned = true;
        self.prepared = true;
        let frame = self.crowd.memory.retire_queue.frame();
        Ok(Views::new(frame, views.len()))
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
                    let needed = Features::MULTIVIEW;
                    self.crowd.device.expect_enabled("View::more_eyes", needed)
                }
            });
            let checked = checked.and_then(|()| histories.check(views, index));
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
        let (shadow_edge, shows_motion) =
            (self.pipelines.shadow.edge, self.pipelines.shows_motion());
        scene.write_poses(animators, &mut frame.counters, &mut out)?;
        frame.write_views(views, (shadow_edge, shows_motion), &mut out)?;
        let blended = self.desc.capacity.blended;
        scene.write_lists(views, &mut frame.sorted, blended, &mut out)?;
        frame.counters.stats.changes = scene.write_changes(animators, &mut out)?;
        scene.write_skinned(&self.desc.threads, &mut frame.counters, &mut out)?;
        scene.write_plays(animators, &mut out)?;
        let frames = [
            self.memory.retire_queue.frame(),
            scene.visibility.prepared_in(),
        ];
        scene.write_cull(views, frames, self.shown_s, out)
    }
}
