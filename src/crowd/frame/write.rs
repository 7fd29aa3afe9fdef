//! Writes the records of a frame: views, visible lists and changed instances.

use crate::crowd::Culling;
use crate::crowd::animators::Animators;
use crate::crowd::frame::state::FrameState;
use crate::crowd::memory::buffers::FrameWriter;
use crate::crowd::memory::sections::{Part, VIEW_BYTES};
use crate::crowd::scene::Scene;
use crate::crowd::view::View;
use crate::crowd::view_record::{Prepared, ViewInput};
use crate::crowd::visibility::sorted::Sorted;
use crate::error::Result;
use crate::gpu::layout::{GpuActor, GpuChange, GpuEye};

impl FrameState {
    /// Writes the views.
    pub(super) fn write_views(
        &mut self,
        views: &[View],
        input: ViewInput,
        out: &mut FrameWriter<'_>,
    ) -> Result<()> {
        self.views.clear();
        let palettes = out.buffers.palettes.address(out.frame_index);
        let stride = out.buffers.sections.view_stride;
        for (start, view) in (0..).step_by(stride as usize).zip(views) {
            self.views.push(Prepared::new(view));
            let past = self.histories.past(view.history, &out.buffers.history);
            let record = view.record(&past, palettes, input);
            let of_rays = view.culling == Culling::Rays;
            let moves = view.history.is_some() || input.shows_motion || of_rays;
            for (at, bytes) in record.written(moves, input.shows_environment) {
                let mut to = out.write(Part::Views, start + at, bytes.len())?;
                to.copy_from(bytes)?;
            }
            out.written.note(Part::Views, start + VIEW_BYTES, 0);
            let each = (start + VIEW_BYTES..).step_by(size_of::<GpuEye>());
            for (at, eye) in each.zip(view.eye_records(&past)) {
                out.write(Part::Views, at, 1)?.copy_from(&[eye])?;
            }
        }
        Ok(())
    }
}

impl Scene {
    /// Writes the lists of instances that views show. `blended` is the capacity of those that are
    /// sorted.
    pub(super) fn write_lists(
        &self,
        views: &[View],
        sorted: &mut Sorted,
        blended: u32,
        out: &mut FrameWriter<'_>,
    ) -> Result<()> {
        sorted.sort(views, self, blended)?;
        let lists = [self.shown.list(), sorted.list()];
        if self.visibility.is_on_gpu() && lists.iter().all(|list| list.is_empty()) {
            // Nothing reads the word before the lists.
            return Ok(());
        }
        let mut at = 0;
        for list in [&[0], lists[0], lists[1]] {
            out.write(Part::Visible, at, list.len())?.copy_from(list)?;
            at += size_of_val(list) as u64;
        }
        out.copy_to_work(Part::Visible, 0, at);
        Ok(())
    }

    /// Writes the records that changed, and behind them the transforms of those that only moved.
    /// Returns the numbers of both.
    pub(super) fn write_changes(
        &mut self,
        animators: &Animators,
        out: &mut FrameWriter<'_>,
    ) -> Result<[u32; 2]> {
        while let Some(index) = self.visibility.noted.pop() {
            self.instances.changed.add(index);
        }
        let instances = &mut self.instances;
        instances.changed.remove_from(&mut instances.moved);
        let [changed, moved] = [self.instances.changed.list(), self.instances.moved.list()];
        let count = changed.len();
        let records = changed.iter().map(|index| self.instances[*index].record);
        out.write(Part::Changes, 0, count)?.fill_with(records)?;
        out.write(Part::Indices, 0, count)?.copy_from(changed)?;
        if self.visibility.is_on_gpu() {
            let actors = changed.iter().map(|index| self.actor(animators, *index));
            out.write(Part::Actors, 0, count)?.fill_with(actors)?;
        }
        let ends = [size_of_val(changed), count * size_of::<GpuChange>()].map(|end| end as u64);
        let transforms = moved.iter().map(|index| {
            let state = &self.instances[*index];
            state.record.world_from_model
        });
        out.write(Part::Indices, ends[0], moved.len())?
            .copy_from(moved)?;
        out.write(Part::Changes, ends[1], moved.len())?
            .fill_with(transforms)?;
        Ok([changed, moved].map(|list| list.len() as u32))
    }

    /// The record of an instance for the GPU's stages.
    fn actor(&self, animators: &Animators, index: u32) -> GpuActor {
        let (instance, visibility) = (&self.instances[index], &self.visibility);
        let look = visibility.look(index);
        let poses = self.poses.gpu.as_ref();
        let plays = poses.and_then(|poses| poses.plays(index, GpuActor::PLAY_COUNT_BITS));
        let (error_m, volume) = self.shared_pose(index);
        let flag = |is: bool, flag: u32| if is { flag } else { 0 };
        let animator = animators.get(instance.character);
        let animator = animator.filter(|_| instance.alive);
        let sphere = animator.map(|animator| animator.sphere(instance.actor.index));
        GpuActor {
            center: sphere.map_or([0.0; 3], |sphere| sphere.center.to_array()),
            radius: sphere.map_or(0.0, |sphere| sphere.radius),
            scale: 0.0,
            mask: visibility.marks(index).views(),
            flags: GpuActor::pose_error(error_m)
                | volume << GpuActor::VOLUME_SHIFT
                | flag(instance.flipped, GpuActor::FLIPPED)
                | flag(look.varies(), GpuActor::VARIES)
                | flag(instance.is_new, GpuActor::NEW)
                | flag(plays.is_some(), GpuActor::POSED)
                | flag(
                    poses.is_some_and(|poses| poses.skins(index)),
                    GpuActor::SKINS,
                ),
            plays: plays.unwrap_or(0),
            hidden: [0, 32, 64, 96].map(|shift| (look.hidden >> shift) as u32),
        }
    }
}
