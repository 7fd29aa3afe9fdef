//! Drawing a prepared frame.

use super::characters::Entry;
use super::view::Prepared;
use super::{Frame, PassId, ViewId};
use crate::error::{ArgumentFault, Error, Result};
use crate::pass::draw::{DrawPass, PUSH_STAGES};
use ash::vk;

impl Frame<'_> {
    /// Draws the crowd as `view` sees it. May be called from several threads, into several command buffers, secondary ones too,
    /// any number of times a frame. Binds its own pipeline, descriptor set 0, index buffer, viewport,
    /// scissor, cull mode and front face, and leaves them bound.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a pass that there is not, [`Error::Argument`] for a view of another
    /// frame. Nothing is recorded then.
    ///
    /// # Safety
    /// `cmd` is recording, inside a dynamic rendering whose attachments are those of the pass, and is
    /// submitted after the commands of [`Self::record_prepare`].
    pub unsafe fn record_draw(
        &self,
        cmd: vk::CommandBuffer,
        view: ViewId,
        pass: PassId,
    ) -> Result<()> {
        let crowd = &*self.crowd;
        let count = crowd.passes.len() as u64;
        let pass = crowd
            .passes
            .get(pass.0 as usize)
            .and_then(Option::as_ref)
            .ok_or(Error::NotFound {
                what: "pass",
                index: pass.0.into(),
                count,
            })?;
        let prepared = self.prepared_view(view)?;
        // SAFETY: the caller's word.
        unsafe {
            crowd.device.begin_label(cmd, c"throng draw");
            let scope = self.begin_scope(cmd, "draw");
            self.draw_characters(cmd, view, prepared, pass);
            self.end_scope(cmd, scope);
            crowd.device.end_label(cmd);
        }
        Ok(())
    }

    pub(super) fn prepared_view(&self, view: ViewId) -> Result<&Prepared> {
        let why = ArgumentFault::Invalid("was not prepared in this frame");
        let prepared = self.crowd.views.get(view.index as usize);
        let current = self.prepared && view.frame == self.crowd.graveyard.frame();
        let prepared = prepared.filter(|_| current);
        prepared.ok_or(Error::Argument { what: "view", why })
    }

    /// Where the slot's view, palettes and visible list start, for the dynamic offsets of set 0.
    pub(super) fn dynamic_offsets(&self, view: ViewId) -> [u32; 3] {
        let buffers = &self.crowd.buffers;
        let sections = &buffers.sections;
        let views = buffers.offset(self.slot, sections.views);
        [
            views + view.index * sections.view_stride as u32,
            buffers.palettes.dynamic_offset(self.slot),
            buffers.offset(self.slot, sections.visible),
        ]
    }

    /// # Safety
    /// As [`Self::record_draw`].
    unsafe fn draw_characters(
        &self,
        cmd: vk::CommandBuffer,
        view: ViewId,
        prepared: &Prepared,
        pass: &DrawPass,
    ) {
        let crowd = &*self.crowd;
        let raw = &crowd.device.raw;
        // SAFETY: the caller's word.
        unsafe {
            raw.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::GRAPHICS, pass.pipeline.handle);
            raw.cmd_set_viewport(cmd, 0, &[prepared.viewport]);
            raw.cmd_set_scissor(cmd, 0, &[prepared.scissor]);
        }
        let mut first = 0;
        for entry in crowd.characters.iter().flatten() {
            let (plain, mirrored) = entry.split();
            for (count, mirror) in [(plain, false), (mirrored, true)] {
                if count > 0 && !entry.draws.is_empty() {
                    let front = prepared.front_face(pass.reversed_z, mirror);
                    // SAFETY: the caller's word.
                    unsafe {
                        crowd.device.begin_label(cmd, &entry.label);
                        raw.cmd_set_front_face(cmd, front);
                        self.draw_entry(cmd, view, entry, first, count as u32);
                        crowd.device.end_label(cmd);
                    }
                }
                first += count as u32;
            }
        }
    }

    /// One draw per primitive, for `count` instances from number `first` of the visible list.
    ///
    /// # Safety
    /// As [`Self::record_draw`]; pipeline, viewport, scissor and front face are set.
    unsafe fn draw_entry(
        &self,
        cmd: vk::CommandBuffer,
        view: ViewId,
        entry: &Entry,
        first: u32,
        count: u32,
    ) {
        let crowd = &*self.crowd;
        let (raw, layout) = (&crowd.device.raw, crowd.layout.handle);
        let offsets = self.dynamic_offsets(view);
        let (mut set, mut index_type, mut double_sided) = (None, None, None);
        for draw in &entry.draws {
            // SAFETY: the caller's word; sets, buffers and ranges are the entry's own.
            unsafe {
                if set != Some(draw.material) {
                    let Some(bound) = entry.sets.get(draw.material as usize) else {
                        continue;
                    };
                    let point = vk::PipelineBindPoint::GRAPHICS;
                    raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[*bound], &offsets);
                    set = Some(draw.material);
                }
                if index_type != Some(draw.index_type) {
                    raw.cmd_bind_index_buffer(cmd, entry.mesh.index_buffer(), 0, draw.index_type);
                    index_type = Some(draw.index_type);
                }
                if double_sided != Some(draw.double_sided) {
                    let cull = if draw.double_sided {
                        vk::CullModeFlags::NONE
                    } else {
                        vk::CullModeFlags::BACK
                    };
                    raw.cmd_set_cull_mode(cmd, cull);
                    double_sided = Some(draw.double_sided);
                }
                raw.cmd_push_constants(cmd, layout, PUSH_STAGES, 0, &draw.primitive.to_ne_bytes());
                raw.cmd_draw_indexed(cmd, draw.index_count, count, draw.first_index, 0, first);
            }
        }
        let instances = u64::from(count);
        let (vertices, triangles) = (
            entry.mesh.vertex_count() * instances,
            entry.triangles * instances,
        );
        crowd
            .counters
            .drew(entry.draws.len() as u32, vertices, triangles);
    }
}

impl Entry {
    /// How many members are not mirrored, and how many are: their order in the visible list.
    pub(super) fn split(&self) -> (usize, usize) {
        (self.members.len() - self.mirrored, self.mirrored)
    }
}
