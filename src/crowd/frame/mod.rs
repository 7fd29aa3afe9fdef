//! One frame of a crowd, from its begin to the engine's submit.

pub(crate) mod history;
mod prepare;
mod record;
mod update;
mod write;

use crate::animator::{AnimationEvent, EventName};
use crate::crowd::Crowd;
use crate::crowd::desc::MAX_VIEWS;
use crate::crowd::memory::retire::Retired;
use crate::crowd::stats::Counters;
use crate::crowd::visibility::shown::MAX_LISTS;
use crate::crowd::{CharacterId, InstanceHit, InstanceId, ListId, Stats, ViewId};
use crate::error::{Error, Result, expect_finite, expect_frame};
use crate::gpu::{MemoryAllocator, Scope, expect_own, limit};
use crate::skin::{Faces, Ray};
use ash::vk;
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
    /// `frame_index` is the index of the frame in flight. `time_s` is the engine's time in seconds,
    /// from an origin of its choice.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the frame index is not below
    ///   [`CrowdDesc::frames_in_flight`](super::CrowdDesc::frames_in_flight), if the time is not
    ///   finite, or if the allocator belongs to another device.
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
        expect_finite("time_s", time_s)?;
        expect_own(&self.device, allocator)?;
        self.frame.may_be_abandoned = false;
        self.frame.begun = None;
        if time_s < self.time_s {
            // Still instances may move again.
            self.scene.activate_all();
        }
        self.time_s = time_s;
        // SAFETY: the work of this frame index has ended, by this function's contract.
        unsafe {
            self.memory
                .retire_queue
                .begin(&self.device, allocator, frame_index)
        };
        // More for the buffers that growth left behind.
        self.memory
            .retire_queue
            .reserve(self.memory.uploads.len() + 2);
        if let Some(profiler) = &mut self.frame.profiler {
            // SAFETY: the profiler is this device's; the work of this frame index has ended, by
            // this function's contract.
            unsafe { profiler.begin_frame(&self.device, frame_index) }?;
        }
        self.prepare_skinning()?;
        self.frame.counters = Counters::default();
        self.frame.counters.stats.new_pipelines = core::mem::take(&mut self.pipelines.created);
        self.frame.views.clear();
        self.frame.histories.begin_frame();
        if let Some(read_back) = &self.memory.buffers.read_back {
            let views = self.frame.read_back_views.get(frame_index as usize);
            let views = views.copied().unwrap_or(0);
            // SAFETY: the work of this frame index has ended and was submitted, by this function's
            // contract, and it wrote the counters of that many views.
            self.frame.pose_totals =
                unsafe { read_back.read(frame_index, views, &mut self.frame.read_back) };
        }
        self.update_animators(time_s)?;
        self.scene.shown.begin_frame();
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
    /// # Errors
    /// [`Error::Argument`] if no frame was begun, or if it was abandoned.
    ///
    /// # Safety
    /// Since the frame was begun, nothing has changed the crowd, apart from the frame itself.
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

    /// The events of the frame begun last.
    ///
    /// They are grouped by character. Each instance's events are in order of time. Events of
    /// instances that have been despawned since are left out.
    pub fn events(&self) -> impl Iterator<Item = AnimationEvent<InstanceId>> + '_ {
        let scene = &self.scene;
        self.animators
            .iter()
            .flat_map(move |(character, animator)| {
                animator.events().iter().filter_map(move |event| {
                    let instance = scene.instance_of(character, event.id.index)?;
                    let state = &scene.instances[instance.index];
                    let same = state.character == character && state.actor == event.id;
                    same.then(|| event.of_instance(instance, character))
                })
            })
    }

    /// The name of what happened in an event, by the event's kind.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character has been removed.
    pub fn event_name(&self, event: &AnimationEvent<InstanceId>) -> Result<EventName<'_>> {
        let animator = self.animator(CharacterId(event.character))?;
        Ok(animator.event_name(event))
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
        self.frame.begun = None;
        if let Some(grown) = self.memory.retire_queue.restore_grown()
            && let Some(never_filled) = self.memory.grown.replace(grown)
        {
            let never_filled = Retired::Growth(never_filled);
            self.memory.retire_queue.retire(never_filled);
        }
        self.scene.mark_uploads_lost();
        self.frame.read_back_views.fill(0);
        self.frame
            .histories
            .abandon_frame(&mut self.memory.retire_queue);
        let alive = |serial: u32| self.scene.characters.has_serial(serial);
        let uploads = self.memory.retire_queue.restore_uploads(alive);
        for (serial, mut upload) in uploads {
            upload.unrecord();
            self.memory.uploads.push((serial, upload));
        }
        if let Some(profiler) = &mut self.frame.profiler {
            profiler.abandon_frame();
        }
        self.frame.views.clear();
    }
}

impl Frame<'_> {
    /// The crowd that the frame belongs to.
    #[must_use]
    pub fn crowd(&self) -> &Crowd {
        self.crowd
    }

    /// Finds the nearest hit of a ray on the instances that a prepared view shows.
    ///
    /// Poses and transforms are those of this frame. Otherwise as [`Crowd::pick`].
    ///
    /// # Errors
    /// [`Error::Argument`] if the view was not prepared in this frame, or if the ray is not finite
    /// or has no direction.
    #[doc(alias = "raycast")]
    pub fn pick(&mut self, view: ViewId, ray: &Ray, faces: Faces) -> Result<Option<InstanceHit>> {
        self.prepared_view(view)?;
        self.crowd.nearest(ray, faces, |scene, index| {
            let (visibility, sphere) = (&scene.visibility, scene.visibility.sphere(index));
            scene
                .shown
                .view_shows(visibility, view.index, index, &sphere)
        })
    }

    /// Finds all hits of a ray on the instances that a prepared view shows, nearest first.
    ///
    /// As [`Self::pick`] and [`Crowd::pick_all`].
    ///
    /// # Errors
    /// As [`Self::pick`].
    pub fn pick_all(&mut self, view: ViewId, ray: &Ray, faces: Faces) -> Result<Vec<InstanceHit>> {
        self.prepared_view(view)?;
        self.crowd.all(ray, faces, |scene, index| {
            let (visibility, sphere) = (&scene.visibility, scene.visibility.sphere(index));
            scene
                .shown
                .view_shows(visibility, view.index, index, &sphere)
        })
    }

    /// The level of detail at which a prepared view shows an instance: 0 is the full one. `None` if
    /// the view does not show it.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the view was not prepared in this frame, or if the GPU culls the
    ///   instance's character ([`CrowdDesc::stages`](super::CrowdDesc::stages)).
    /// - [`Error::Stale`] or [`Error::NotFound`] if the instance is not alive.
    #[doc(alias = "LOD")]
    pub fn level(&self, view: ViewId, instance: InstanceId) -> Result<Option<u32>> {
        self.prepared_view(view)?;
        let character = self.crowd.scene.instances.get(instance)?.character;
        let loaded = self.crowd.scene.characters.get(CharacterId(character))?;
        self.expect_cpu(loaded)?;
        let scene = &self.crowd.scene;
        let level = scene
            .shown
            .level(&scene.visibility, view.index, instance.index);
        Ok(level.map(u32::from))
    }

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

    /// The events since the frame before. See [`Crowd::events`].
    pub fn events(&self) -> impl Iterator<Item = AnimationEvent<InstanceId>> + '_ {
        self.crowd.events()
    }

    /// Statistics of this frame so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.crowd.stats()
    }

    /// Makes a list of instances for views of this frame.
    ///
    /// A view with this [`View::list`](crate::View::list) shows only these instances, provided that
    /// they are visible and its mask allows them. Several views can share a list. Use it if the
    /// engine does its own culling.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the frame is prepared already.
    /// - [`Error::Capacity`] for more lists than
    ///   [`Capacity::views`](crate::crowd::Capacity::views).
    /// - [`Error::At`], with the index in the list: [`Error::Stale`] or [`Error::NotFound`] if the
    ///   instance is not alive, [`Error::Argument`] if it occurs twice.
    #[doc(alias = "cull")]
    pub fn make_list(&mut self, instances: &[InstanceId]) -> Result<ListId> {
        if self.prepared {
            return Err(Error::invalid("frame", "was already prepared"));
        }
        let crowd = &mut *self.crowd;
        let shown = &mut crowd.scene.shown;
        let cap = crowd.desc.capacity.views.min(MAX_LISTS);
        let what = "lists (Capacity::views, raised by Crowd::reserve)";
        limit(what, u64::from(shown.list_count) + 1, cap.into())?;
        let index = shown.make_list(&crowd.scene.instances, instances)?;
        let frame = crowd.memory.retire_queue.frame();
        Ok(ListId { frame, index })
    }
}
