//! The skin stage of a frame, which deforms vertices before they are drawn.

use crate::crowd::desc::BUILD_INPUT;
use crate::crowd::frame::Frame;
use crate::crowd::memory::buffers::{DEFORMS, FrameWriter};
use crate::crowd::memory::sections::Part;
use crate::crowd::memory::work::WorkBuffer;
use crate::crowd::poses::Poses;
use crate::crowd::scene::Scene;
use crate::crowd::skin::cpu_skinning::SkinBatch;
use crate::crowd::stats::Counters;
use crate::crowd::visibility::chunks::Slot;
use crate::error::Result;
use crate::gpu::constants::{CHUNK, SKIN_WORDS};
use crate::pass::skin::{SkinDispatch, SkinList};
use crate::threads::Threads;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};
use std::time::Instant;

impl Scene {
    /// Lists the instances that the GPU deforms, character by character, and skins those of the
    /// CPU.
    pub(crate) fn write_skinned(
        &mut self,
        threads: &Threads,
        counters: &mut Counters,
        out: &mut FrameWriter<'_>,
    ) -> Result<()> {
        let Poses {
            scratch, skinning, ..
        } = &mut self.poses;
        scratch.batches.clear();
        if self.instances.skinned_end() == 0 {
            return Ok(());
        }
        let computed = &scratch.computed;
        let mut to = out.write(Part::Listed, 0, computed.len())?;
        to.fill_with(computed.iter().map(|(_, index)| *index))?;
        let mut at = 0;
        for alike in computed.chunk_by(|a, b| a.0 == b.0) {
            let range = at..at + alike.len() as u32;
            at = range.end;
            let character = alike[0].0;
            scratch.batches.push(SkinBatch { character, range });
        }
        out.copy_to_work(Part::Listed, 0, u64::from(at) * 4);
        let started = Instant::now();
        let to = out.write(Part::Deformed, 0, skinning.words())?;
        skinning.run(threads, &self.characters, to)?;
        counters.stats.skin_ms = started.elapsed().as_secs_f64() * 1e3;
        counters.stats.skinned = at + skinning.len() as u32;
        Ok(())
    }
}

impl Frame<'_> {
    /// Copies what the CPU deformed to the buffer that draws read, and records the dispatches that
    /// deform the rest.
    ///
    /// `late` is true for instances that a reveal adds. Barriers surround this, because earlier
    /// frames have written the buffer and may still read it.
    ///
    /// # Safety
    /// As [`Frame::record_prepare`].
    pub(crate) unsafe fn record_skin(&self, cmd: vk::CommandBuffer, late: bool) {
        let crowd = &*self.crowd;
        let device = &crowd.device;
        let scratch = &crowd.scene.poses.scratch;
        // The CPU has nothing to add for late instances.
        let (regions, batches) = match late {
            true => (&[][..], &[][..]),
            false => (crowd.scene.poses.skinning.regions(), &scratch.batches[..]),
        };
        let poses = crowd.scene.poses.gpu.as_ref();
        let poses = poses.filter(|poses| poses.skins_any());
        if batches.is_empty() && regions.is_empty() && poses.is_none() {
            return;
        }
        let copied = (Stage::TRANSFER, Access::TRANSFER_WRITE);
        let written = (
            Stage::COMPUTE_SHADER,
            Access::SHADER_READ | Access::SHADER_WRITE,
        );
        let both = (copied.0 | written.0, copied.1 | written.1);
        let (readers, reads) = self.readers();
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; buffers
        // and sets are this crowd's and alive.
        unsafe {
            device.begin_label(cmd, c"throng skin");
            let scope = self.begin_scope(cmd, "skin");
            device.barrier(cmd, (readers | both.0, both.1), both);
            if !regions.is_empty() {
                self.record_copies(cmd, regions);
            }
            if !regions.is_empty() {
                // Copies and dispatches write different words of one buffer.
                device.barrier(cmd, both, both);
            }
            for listed in batches {
                let first = self.first_listed();
                let list = listed.range.start + first..listed.range.end + first;
                self.record_dispatch(cmd, listed.character, &SkinList::Range(list));
            }
            for (number, loaded) in crowd.scene.characters.iter() {
                let skins = poses.is_some_and(|poses| poses.skins_some_of(number));
                let work = crowd.memory.buffers.work.as_ref();
                if let (true, Some(slot), Some(work)) = (skins, &loaded.slot, work) {
                    self.record_dispatch(cmd, number, &self.posed_list(work, slot));
                }
            }
            device.barrier(cmd, both, (readers, reads));
            self.end_scope(cmd, scope);
            device.end_label(cmd);
        }
    }

    /// Records the copies of what the CPU deformed.
    ///
    /// # Safety
    /// As [`Frame::record_prepare`].
    unsafe fn record_copies(&self, cmd: vk::CommandBuffer, regions: &[vk::BufferCopy]) {
        let buffers = &self.crowd.memory.buffers;
        let (from, start) = buffers.host_source(self.frame_index, Part::Deformed);
        let to = buffers.skinned().buffer;
        // The regions are relative to the section's start.
        let mut some = [vk::BufferCopy::default(); 64];
        for regions in regions.chunks(some.len()) {
            for (moved, region) in some.iter_mut().zip(regions) {
                *moved = vk::BufferCopy {
                    src_offset: start + region.src_offset,
                    ..*region
                };
            }
            let some = &some[..regions.len()];
            // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
            // instances' ranges lie in the buffers and do not overlap.
            unsafe { self.crowd.device.raw.cmd_copy_buffer(cmd, from, to, some) };
        }
    }

    /// The first element of the lists for instances that the CPU listed.
    fn first_listed(&self) -> u32 {
        let sections = &self.crowd.memory.buffers.sections;
        sections.first_in_lists(Part::Listed)
    }

    /// The instances of a character that the stage compact listed.
    fn posed_list(&self, work: &WorkBuffer, slot: &Slot) -> SkinList {
        let own = work.layout.skins + slot.number * SKIN_WORDS;
        SkinList::Indirect {
            first: work.layout.skinned + slot.first_chunk() * CHUNK as u32,
            buffer: work.buffer.handle,
            // Behind the number of instances.
            offset: u64::from(own + 1) * 4,
        }
    }

    /// Records the dispatch for instances of one character.
    ///
    /// # Safety
    /// As [`Frame::record_prepare`].
    unsafe fn record_dispatch(&self, cmd: vk::CommandBuffer, character: u32, list: &SkinList) {
        let crowd = &*self.crowd;
        let character = &crowd.scene.characters[character];
        let Some(set) = character.set(0) else { return };
        let (buffers, frame_index) = (&crowd.memory.buffers, self.frame_index);
        let sections = &buffers.sections;
        let dispatch = SkinDispatch {
            mesh: &character.mesh,
            set,
            dynamic_offsets: [
                buffers.offset(frame_index, sections[Part::Views]),
                buffers.lists_offset(frame_index),
            ],
            list: list.clone(),
            ring_palettes: buffers.palettes.address(frame_index),
        };
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the listed
        // indices lie in the table, and the set is written.
        unsafe {
            crowd.device.begin_label(cmd, &character.label);
            crowd.pipelines.skin.record(&crowd.device, cmd, &dispatch);
            crowd.device.end_label(cmd);
        }
    }

    /// The stages and accesses that may read deformed vertices without another barrier.
    fn readers(&self) -> (Stage, Access) {
        let (stages, reads) = (
            DEFORMS | Stage::VERTEX_INPUT | Stage::TRANSFER,
            Access::SHADER_READ | Access::VERTEX_ATTRIBUTE_READ | Access::TRANSFER_READ,
        );
        if self.crowd.desc.skinned_usage.contains(BUILD_INPUT) {
            let build = Stage::ACCELERATION_STRUCTURE_BUILD_KHR;
            return (stages | build, reads | Access::SHADER_READ);
        }
        (stages, reads)
    }
}
