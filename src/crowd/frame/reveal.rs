//! Records the reveal of a frame: the instances that were held back, if depth does not hide them.

use crate::crowd::frame::Frame;
use crate::crowd::memory::buffers::DEFORMS;
use crate::crowd::visibility::gpu::eye_record;
use crate::crowd::{Crowd, Depth};
use crate::error::{Result, expect};
use crate::gpu::layout::GpuOcclusion;
use crate::pass::cull::CullDispatch;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use bytemuck::Zeroable;

impl Crowd {
    /// Abandons the reveal of the frame begun last, whose commands will never be submitted, in
    /// contrast to those of [`Frame::record_prepare`].
    ///
    /// The histories of the frame's views then stay as the frame before left them. Draws that were
    /// recorded after the reveal are not submitted either. For a frame without a reveal, this does
    /// nothing.
    pub fn abandon_reveal(&mut self) {
        let retire_queue = &mut self.memory.retire_queue;
        self.frame.abandon_reveal(retire_queue);
    }
}

impl Frame<'_> {
    /// Shows the instances that late views held back, except those that depth hides.
    ///
    /// A [late](crate::View::late) view first shows only the instances that it saw in the frame
    /// before. The engine draws them, and its walls, and hands the depth here. Then the others are
    /// tested against it, posed, skinned and listed. `view.late()` draws them alone, and the view
    /// itself draws all from here on, those seen before first. So for each late view:
    ///
    /// 1. draw the walls, and [`Self::record_draw`] the view, to depth or to everything
    /// 2. this method, once for all views of the frame
    /// 3. draw [`view.late()`](crate::ViewId::late) to the same attachments
    ///
    /// A late view without depth here shows everything that it held back. Blended instances are
    /// drawn in the third step, or with the view itself after the reveal. Without late views, and
    /// if the CPU culls, nothing is recorded.
    ///
    /// If this is not called, the frame lacks these instances, until a frame calls it. If it is not
    /// submitted, call [`Crowd::abandon_reveal`] before the next frame begins.
    ///
    /// # Errors
    /// - [`Error::Argument`](crate::Error::Argument) if the frame is not prepared, or revealed
    ///   already.
    /// - Those about depth of [`Self::record_prepare_behind`].
    ///
    /// Nothing is recorded then.
    ///
    /// # Safety
    /// That of [`Self::record_prepare_behind`], apart from what is said there about draws: `cmd` is
    /// submitted after the commands of [`Self::record_prepare`] and before draws that use the
    /// result.
    pub unsafe fn record_reveal(&mut self, cmd: vk::CommandBuffer, depths: &[Depth]) -> Result<()> {
        span!("record_reveal");
        expect("frame", self.prepared, "was not prepared")?;
        let frame_index = self.frame_index;
        let crowd = &mut *self.crowd;
        let frame = &mut crowd.frame;
        if frame.late.views.is_empty() {
            return Ok(());
        }
        let dispatch = frame.late.waits;
        expect("frame", dispatch.is_some(), "was already revealed")?;
        let Some(dispatch) = dispatch else {
            return Ok(());
        };
        Depth::check_all(depths, &frame.late.views)?;
        let pyramids = crowd.memory.buffers.pyramids.as_ref();
        let to = pyramids.map(|pyramids| (pyramids, (frame_index, true)));
        let (views, capacity) = (&frame.late.views, &crowd.desc.capacity);
        frame.occluders.take(views, depths, capacity, to)?;
        frame.late.waits = None;
        // SAFETY: this function has the contract of the calls inside.
        unsafe {
            self.crowd.device.begin_label(cmd, c"throng reveal");
            self.record_revealed(cmd, &dispatch);
            let views = core::mem::take(&mut self.crowd.frame.late.views);
            self.record_read_back(cmd, views.len() as u32);
            self.record_animate(cmd);
            self.record_skin(cmd, true);
            self.record_histories(cmd, &views);
            self.crowd.device.end_label(cmd);
            self.crowd.frame.late.views = views;
        }
        Ok(())
    }

    /// Records the stages from reveal to args, and the barriers before them.
    ///
    /// Draws have read what they overwrite.
    ///
    /// # Safety
    /// As [`Self::record_reveal`].
    unsafe fn record_revealed(&self, cmd: vk::CommandBuffer, dispatch: &CullDispatch) {
        let crowd = &*self.crowd;
        let (device, frame) = (&crowd.device, &crowd.frame);
        let (Some(work), Some(pass), Some(pyramid)) = (
            &crowd.memory.buffers.work,
            &crowd.pipelines.cull,
            &crowd.pipelines.pyramid,
        ) else {
            return;
        };
        let (compute, transfer) = (Stage::COMPUTE_SHADER, Stage::TRANSFER);
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        let to = Access::TRANSFER_WRITE;
        let (jobs, bytes) = work.layout.cleared_jobs();
        let buffer = work.buffer.handle;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers and sets are this crowd's and alive, and the ranges lie in the buffers.
        unsafe {
            let scope = self.begin_scope(cmd, "reveal");
            let before = DEFORMS | Stage::DRAW_INDIRECT | transfer;
            let now = transfer | compute;
            device.barrier(cmd, (before, write | to), (now, to | read | write));
            device.raw.cmd_fill_buffer(cmd, buffer, jobs, bytes, 0);
            let views = &frame.late.views;
            for (number, view) in views.iter().enumerate() {
                for eye in 0..view.eye_count() {
                    let record = eye_record(views, number, eye);
                    let at = (record * size_of::<GpuOcclusion>()) as u64 + work.layout.tests();
                    let test = frame.occluders.test(number, eye);
                    let test = test.map_or(GpuOcclusion::zeroed(), |(_, record)| *record);
                    let bytes = bytemuck::bytes_of(&test);
                    device.raw.cmd_update_buffer(cmd, buffer, at, bytes);
                }
            }
            pyramid.record(device, cmd, &frame.occluders.dispatches);
            device.barrier(cmd, (now, to | write), (DEFORMS, read | write));
            pass.record_reveal(device, cmd, dispatch);
            self.end_scope(cmd, scope);
        }
    }
}
