//! One frame of a crowd, from its begin to the engine's submit.

pub(crate) mod ends;
pub(crate) mod history;
pub(crate) mod late;
mod place;
mod prepare;
mod record;
mod reveal;
pub(crate) mod state;
mod write;

use crate::animator::check_shown;
use crate::crowd::Crowd;
use crate::crowd::ViewId;
use crate::crowd::desc::MAX_VIEWS;
use crate::error::{Error, Result, expect_frame};
use crate::gpu::{Gpu, MemoryAllocator, Scope};
use ash::vk;
use core::cell::RefCell;
use core::ops::Deref;

/// The ids of a frame's views, in the order in which they were given.
///
/// [`Frame::record_prepare`] returns them. They dereference to a slice, so `views[0]` is the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Views {
    ids: [ViewId; MAX_VIEWS as usize],
    count: usize,
}

impl Views {
    fn new(frame: u64, count: usize) -> Self {
        let ids = core::array::from_fn(|index| ViewId {
            frame,
            index: index as u32,
            late: false,
        });
        let count = count.min(ids.len());
        Self { ids, count }
    }
}

impl Deref for Views {
    type Target = [ViewId];

    fn deref(&self) -> &[ViewId] {
        self.ids.get(..self.count).unwrap_or_default()
    }
}

/// A frame between [`Crowd::begin_frame`] and the engine's submit.
///
/// It dereferences to its [`Crowd`], to read: `frame.stats()`, `frame.instance(id)?`.
///
/// Dropping an unprepared frame skips it: the next frame uploads its changes.
///
/// ```no_run
/// use throng::ash::{self, vk};
/// use throng::gpu::MemoryAllocator;
/// use throng::{Crowd, PassId, Result, View};
///
/// /// # Safety
/// /// `cmd` is being recorded, outside of rendering. The last work of frame index 0 has ended.
/// unsafe fn draw(
///     (device, allocator): (&ash::Device, &mut dyn MemoryAllocator),
///     (crowd, pass): (&mut Crowd, PassId),
///     (cmd, rendering): (vk::CommandBuffer, &vk::RenderingInfo),
///     (view, time_s): (View, f64),
/// ) -> Result<()> {
///     crowd.update(time_s)?;
///     unsafe {
///         let mut frame = crowd.begin_frame(allocator, 0, time_s)?;
///         let views = frame.record_prepare(cmd, &[view])?;
///         device.cmd_begin_rendering(cmd, rendering);
///         frame.record_draw(cmd, views[0], pass)?;
///         device.cmd_end_rendering(cmd);
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Frame<'a> {
    pub(crate) crowd: &'a mut Crowd,
    pub(crate) frame_index: u32,
    pub(crate) prepared: bool,
}

impl Crowd {
    /// Begins a frame and frees what no frame in flight uses.
    ///
    /// `frame_index` is the index of the frame in flight. `time_s` is the time of the picture, in
    /// seconds: that of the last [`update`](Self::update), or up to
    /// [`Animator::MAX_AHEAD_S`](crate::animator::Animator::MAX_AHEAD_S) after it. An engine with
    /// one clock updates to the time of each frame. One with fixed steps begins frames between its
    /// steps: what plays goes on to the time of the picture, and so does root motion that moves
    /// instances. What the next update will find, such as the transition of a state machine, is not
    /// shown before. Nothing of the game changes, however many frames there are.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the frame index is not below
    ///   [`CrowdDesc::frames_in_flight`](super::CrowdDesc::frames_in_flight), if the time is not in
    ///   that second, if the allocator belongs to another device, or if the GPU has not run what
    ///   was prepared with this index last. That finds a missing wait for a fence, but not every
    ///   one: the frame's draws may still run.
    /// - [`Error::Capacity`] and [`Error::Memory`] if the GPU culls and there is no memory for the
    ///   lists of more instances that hide parts or have material variants.
    /// - [`Error::Vulkan`] if GPU times cannot be read, for example because the device is lost.
    ///
    /// After an error, the frame can be begun again.
    ///
    /// # Safety
    /// - All work that was submitted with this frame index has ended (its fence is signalled).
    /// - What [`Frame::record_prepare`] recorded with it was submitted, or its frame was abandoned
    ///   with [`Self::abandon_frame`].
    /// - Draws that were not submitted will never be.
    pub unsafe fn begin_frame(
        &mut self,
        allocator: &mut dyn MemoryAllocator,
        frame_index: u32,
        time_s: f64,
    ) -> Result<Frame<'_>> {
        span!("begin_frame");
        let frames = self.desc.frames_in_flight;
        expect_frame(frame_index, frames, "CrowdDesc::frames_in_flight")?;
        check_shown(time_s, self.time_s)?;
        let allocator = RefCell::new(allocator);
        self.reserve_looks(&allocator)?;
        let gpu = Gpu::new(&self.device, &allocator)?;
        self.frame.ends.begin(&self.device, frame_index)?;
        self.frame.may_be_abandoned = false;
        self.frame.begun = None;
        if time_s < self.frame.time_s {
            // Still instances may move again.
            self.scene.activate_all();
        }
        (self.frame.time_s, self.shown_s) = (time_s, time_s);
        // SAFETY: the work of this frame index has ended and was submitted, by this function's
        // contract.
        unsafe {
            self.memory.begin(gpu, frame_index);
            self.frame
                .begin(&self.device, &self.memory.buffers, frame_index)?;
        }
        if let Some(rays) = &mut self.rays {
            let queue = &mut self.memory.retire_queue;
            // SAFETY: as above.
            unsafe { rays.begin(gpu, frame_index, &mut self.scene.characters, queue) };
        }
        self.prepare_skinning()?;
        self.frame.counters.stats.new_pipelines = core::mem::take(&mut self.pipelines.created);
        for (_, animator) in self.animators.untracked_mut().iter_mut() {
            animator.show_at_checked(time_s);
        }
        self.scene.begin_frame();
        self.scene.end_picture();
        self.show_roots_ahead();
        self.frame.begun = Some(frame_index);
        Ok(Frame {
            crowd: self,
            frame_index,
            prepared: false,
        })
    }

    /// The frame begun last, once more.
    ///
    /// A [`Frame`] borrows the crowd, so it cannot be in several closures of a render graph. An
    /// engine with such a graph drops it after [`Self::begin_frame`], and resumes it in the closure
    /// that prepares and in those that draw. The ids of views stay valid.
    ///
    /// A prepared frame can also be drawn while the game goes on to its next step: the draws show
    /// what was prepared.
    ///
    /// # Errors
    /// [`Error::Argument`] if no frame was begun, or if it was abandoned.
    ///
    /// # Safety
    /// - Since the frame was begun, no character, pass, solver, shadow map or capacity was added,
    ///   changed or removed.
    /// - Until it is prepared and, if it will be, [revealed](Frame::record_reveal), nothing at all
    ///   has changed the crowd, apart from the frame itself. Afterwards, the game may:
    ///   [`Self::update`], [`Self::spawn`], [`Self::despawn`], [`Self::instance_mut`] and so on.
    /// - Its reveal was not [abandoned](Self::abandon_reveal).
    pub unsafe fn resume_frame(&mut self) -> Result<Frame<'_>> {
        let Some(frame_index) = self.frame.begun else {
            return Err(Error::invalid("frame", "was not begun, or was abandoned"));
        };
        Ok(Frame {
            prepared: self.frame.may_be_abandoned,
            crowd: self,
            frame_index,
        })
    }

    /// Abandons the frame begun last, whose commands will never be submitted.
    ///
    /// Use it if, for example, the swapchain was out of date. The next frame uploads what
    /// this one would have uploaded. For a frame that is not prepared, this does nothing.
    ///
    /// # Safety
    /// Nothing that was recorded in that frame is ever submitted.
    pub unsafe fn abandon_frame(&mut self) {
        if !core::mem::take(&mut self.frame.may_be_abandoned) {
            return;
        }
        self.scene.mark_lost();
        if let Some(rays) = &mut self.rays {
            let frame = self.memory.retire_queue.frame();
            rays.abandon(frame, &mut self.scene.characters);
        }
        self.frame.abandon(&mut self.memory.retire_queue);
        self.memory.abandon(&self.scene.characters);
    }
}

/// The crowd that the frame belongs to, to read.
impl Deref for Frame<'_> {
    type Target = Crowd;

    fn deref(&self) -> &Crowd {
        self.crowd
    }
}

impl Frame<'_> {
    /// Begins a profiler scope of the engine's own, measured beside the crowd's.
    ///
    /// Returns `None` without [`CrowdDesc::profile`](super::CrowdDesc::profile), if the device has
    /// no timestamps, before [`Self::record_prepare`], and if there are too many scopes.
    ///
    /// # Safety
    /// - `cmd` is recording, for a queue family that has graphics.
    /// - It is submitted at most once, after the commands of this frame's [`Self::record_prepare`].
    ///   A secondary command buffer is executed at most once.
    /// - It is not inside a rendering with a view mask (multiview), where a timestamp takes one
    ///   query per view. Begin and end the scope outside of it.
    pub unsafe fn begin_scope(&self, cmd: vk::CommandBuffer, name: &'static str) -> Option<Scope> {
        let profiler = self.crowd.frame.profiler.as_ref()?;
        // SAFETY: by this function's contract, `cmd` is recording outside of multiview, and runs
        // once, after the reset that this frame's `record_prepare` recorded. Without one, `begin`
        // records nothing.
        unsafe { profiler.begin(&self.crowd.device, cmd, name) }
    }

    /// Ends a profiler scope.
    ///
    /// A scope of another frame or crowd is ignored.
    ///
    /// # Safety
    /// As [`Self::begin_scope`]. `cmd` may be another command buffer of this frame.
    pub unsafe fn end_scope(&self, cmd: vk::CommandBuffer, scope: Option<Scope>) {
        if let (Some(profiler), Some(scope)) = (&self.crowd.frame.profiler, scope) {
            // SAFETY: as in `begin_scope`. `end` ignores a scope that is not of this frame.
            unsafe { profiler.end(&self.crowd.device, cmd, scope) };
        }
    }
}
