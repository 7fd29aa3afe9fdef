//! The buffers before growth, which the next frame copies on the GPU.

use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::memory::sections::{Part, Sections};
use crate::crowd::memory::work::{GrownCounts, TableLayout, WorkBuffer};
use crate::gpu::{Buffer, Device, Gpu, destroy_fields};
use ash::vk;

/// The instance table, the work buffer and the play records before growth.
#[derive(Debug)]
pub(crate) struct PendingGrowth {
    table: Buffer,
    layout: TableLayout,
    work: Option<WorkBuffer>,
    plays: Option<Buffer>,
    /// The places of lists in the work buffer.
    sections: Sections,
    counts: GrownCounts,
}

destroy_fields!(PendingGrowth, Gpu<'a>: table, plays, work);

impl PendingGrowth {
    /// Takes the buffers out of those that are replaced.
    pub(crate) fn take(replaced: &mut FrameBuffers, counts: GrownCounts) -> Self {
        Self {
            table: core::mem::take(&mut replaced.table),
            layout: replaced.table_layout,
            work: replaced.work.take(),
            plays: replaced.plays.take(),
            sections: replaced.sections,
            counts,
        }
    }

    /// Records the copies. The caller records barriers before and after.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; the buffers are alive, and the new ones are not
    /// smaller.
    pub(crate) unsafe fn record(&self, device: &Device, cmd: vk::CommandBuffer, to: &FrameBuffers) {
        let (counts, sections) = (&self.counts, to.sections);
        let copy = |from: vk::Buffer, to: vk::Buffer, region: vk::BufferCopy| {
            if region.size > 0 {
                // SAFETY: `cmd` is recording outside a render pass, by this function's contract.
                // The regions lie in both buffers, as their layouts say.
                unsafe { device.raw.cmd_copy_buffer(cmd, from, to, &[region]) };
            }
        };
        for region in self.layout.kept(&to.table_layout, counts) {
            copy(self.table.handle, to.table.handle, region);
        }
        if let (Some(from), Some(to)) = (&self.plays, &to.plays) {
            let region = vk::BufferCopy::default().size(from.bytes);
            copy(from.handle, to.handle, region);
        }
        if let (Some(from), Some(to)) = (&self.work, &to.work) {
            let handles = (from.buffer.handle, to.buffer.handle);
            for region in from.kept(to, counts.chunks) {
                copy(handles.0, handles.1, region);
            }
            for part in [Part::Morphs, Part::OwnWeights] {
                let [src_offset, dst_offset] = [&self.sections, &sections]
                    .map(|sections| u64::from(sections.first_in_lists(part)) * 4);
                let size = self.sections[part].bytes;
                let region = vk::BufferCopy {
                    src_offset,
                    dst_offset,
                    size,
                };
                copy(handles.0, handles.1, region);
            }
        }
    }
}
