//! The skin stage of a frame, which deforms vertices before they are drawn.

use crate::crowd::characters::entry::Entry;
use crate::crowd::desc::BUILD_INPUT;
use crate::crowd::memory::buffers::{DEFORMS, Section, Written};
use crate::crowd::producers::deform::Listed;
use crate::crowd::{Frame, SkinningStage};
use crate::error::{Error, Result};
use ash::vk;
use ash::vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stage};
use std::time::Instant;

/// Words of an instance's deformed vertices.
///
/// # Errors
/// [`Error::Argument`] if the character does not support this stage.
pub(in crate::crowd) fn skinned_words(entry: &Entry, skin: SkinningStage) -> Result<u32> {
    match skin {
        SkinningStage::Vertex => Ok(0),
        SkinningStage::Cpu if entry.cpu_skin.is_none() => Err(Error::invalid(
            "skin",
            "SkinningStage::Cpu needs a character added with CharacterDesc::cpu_skinning",
        )),
        SkinningStage::Compute | SkinningStage::Cpu => Ok(entry.mesh.skinned_layout().words),
    }
}

impl Frame<'_> {
    /// Lists the instances that the GPU deforms, character by character, and skins those of the
    /// CPU.
    pub(in crate::crowd) fn write_skinned(&mut self, written: &mut Written) -> Result<()> {
        let (crowd, frame_index) = (&mut *self.crowd, self.frame_index);
        crowd.frame.listed.clear();
        if crowd.scene.instances.skinned_end() == 0 {
            return Ok(());
        }
        let sections = crowd.memory.buffers.sections;
        let full = |section: Section| Error::Capacity {
            what: "words of deformed vertices",
            asked: u64::MAX,
            cap: section.bytes / 4,
        };
        let mut at = 0_u32;
        for (character, entry) in crowd.scene.characters.iter().enumerate() {
            let Some(entry) = entry else { continue };
            let instances = &crowd.scene.instances;
            let visibility = &crowd.scene.visibility;
            let wanted = |index: &u32| {
                instances.skin(*index) == SkinningStage::Compute && visibility.is_shown(*index)
            };
            let members = || entry.members.iter().copied().filter(wanted);
            let count = members().count();
            if count == 0 {
                continue;
            }
            let start = u64::from(at) * 4;
            // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
            let out = unsafe {
                crowd
                    .memory
                    .buffers
                    .write(frame_index, sections.listed, start, count)
            };
            let mut out = out.ok_or_else(|| full(sections.listed))?;
            out.fill_from(members())?;
            let range = at..at + count as u32;
            at = range.end;
            crowd.frame.listed.push(Listed { character, range });
        }
        let started = Instant::now();
        let words = crowd.scene.deforms.words();
        // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
        let out = unsafe {
            crowd
                .memory
                .buffers
                .write(frame_index, sections.deformed, 0, words)
        };
        let out = out.ok_or_else(|| full(sections.deformed))?;
        let threads = &crowd.desc.threads;
        let characters = &crowd.scene.characters;
        crowd.scene.deforms.run(threads, characters, out)?;
        crowd.frame.counters.skin_ms = started.elapsed().as_secs_f64() * 1e3;
        crowd.frame.counters.skinned = at + crowd.scene.deforms.len() as u32;
        written.listed = u64::from(at) * 4;
        written.deformed = words as u64 * 4;
        Ok(())
    }

    /// Copies what the CPU deformed to the buffer that draws read, and records the dispatches that
    /// deform the rest.
    ///
    /// Barriers surround this, because earlier frames have written the buffer and may still read
    /// it.
    ///
    /// # Safety
    /// As [`Frame::record_prepare`].
    pub(in crate::crowd) unsafe fn record_skin(&self, cmd: vk::CommandBuffer) {
        let crowd = &*self.crowd;
        let device = &crowd.device;
        let regions = crowd.scene.deforms.regions();
        if crowd.frame.listed.is_empty() && regions.is_empty() {
            return;
        }
        let copied = (Stage::COPY, Access::TRANSFER_WRITE);
        let written = (
            Stage::COMPUTE_SHADER,
            Access::SHADER_STORAGE_READ | Access::SHADER_STORAGE_WRITE,
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
            for (number, listed) in crowd.frame.listed.iter().enumerate() {
                if number == 0 && !regions.is_empty() {
                    // Copies and dispatches write different words of one buffer.
                    device.barrier(cmd, both, both);
                }
                self.record_dispatch(cmd, listed);
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
        let (from, start) = buffers.host_source(self.frame_index, buffers.sections.deformed);
        let to = buffers.skinned().buffer;
        // The regions are relative to the section's start.
        let mut some = [vk::BufferCopy::default(); 64];
        for regions in regions.chunks(some.len()) {
            for (place, region) in some.iter_mut().zip(regions) {
                *place = vk::BufferCopy {
                    src_offset: start + region.src_offset,
                    ..*region
                };
            }
            let some = some.get(..regions.len()).unwrap_or_default();
            // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
            // instances' ranges lie in the buffers and do not overlap.
            unsafe { self.crowd.device.raw.cmd_copy_buffer(cmd, from, to, some) };
        }
    }

    /// Records the dispatch for the instances of one character.
    ///
    /// # Safety
    /// As [`Frame::record_prepare`].
    unsafe fn record_dispatch(&self, cmd: vk::CommandBuffer, listed: &Listed) {
        let crowd = &*self.crowd;
        let entry = crowd.scene.characters.get(listed.character);
        let Some(entry) = entry.and_then(Option::as_ref) else {
            return;
        };
        let Some(set) = entry.set(0) else { return };
        let (buffers, frame_index) = (&crowd.memory.buffers, self.frame_index);
        let sections = &buffers.sections;
        let offsets = [
            buffers.offset(frame_index, sections.views),
            buffers.offset(frame_index, sections.lists),
        ];
        let first = sections.first_in_lists(sections.listed);
        let range = listed.range.start + first..listed.range.end + first;
        let palettes = buffers.palettes.address(frame_index);
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the listed
        // indices lie in the table, and the set is written.
        unsafe {
            device_label(self, cmd, entry, || {
                let to = (set, offsets);
                crowd
                    .pipelines
                    .skin
                    .record(&crowd.device, cmd, to, &entry.mesh, (range, palettes));
            });
        }
    }

    /// The stages and accesses that may read deformed vertices without another barrier.
    fn readers(&self) -> (Stage, Access) {
        let (stages, reads) = (
            DEFORMS | Stage::VERTEX_ATTRIBUTE_INPUT | Stage::COPY,
            Access::SHADER_STORAGE_READ | Access::VERTEX_ATTRIBUTE_READ | Access::TRANSFER_READ,
        );
        if self.crowd.desc.skinned_usage.contains(BUILD_INPUT) {
            let build = Stage::ACCELERATION_STRUCTURE_BUILD_KHR;
            return (stages | build, reads | Access::SHADER_READ);
        }
        (stages, reads)
    }
}

/// Records a debug label with the character's name around what `record` records.
///
/// # Safety
/// `cmd` is recording. What `record` records leaves no other label open.
unsafe fn device_label(
    frame: &Frame<'_>,
    cmd: vk::CommandBuffer,
    entry: &Entry,
    record: impl FnOnce(),
) {
    // SAFETY: `cmd` is recording, by this function's contract.
    unsafe {
        frame.crowd.device.begin_label(cmd, &entry.label);
        record();
        frame.crowd.device.end_label(cmd);
    }
}
