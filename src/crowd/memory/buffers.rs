//! The buffers of a crowd: rings that are written every frame, and the persistent instance table.

use crate::crowd::CrowdDesc;
use crate::crowd::memory::history_buffer::HistoryBuffer;
use crate::crowd::memory::pyramids::Pyramids;
use crate::crowd::memory::read_back::ReadBack;
use crate::crowd::memory::sections::{Part, Section, SectionBytes, Sections};
use crate::crowd::memory::work::{TableLayout, WorkBuffer, WorkCapacity};
use crate::crowd::poses::gpu_poses::play_capacity;
use crate::crowd::stats::counter_words;
use crate::error::{Error, Result};
use crate::gpu::ring::{Ring, RingDesc};
use crate::gpu::sets::Sets;
use crate::gpu::{
    Buffer, Device, Features, Gpu, GpuPlay, Guard, MAPPED_ALIGNMENT, PaletteRing, PaletteRingDesc,
    destroy_fields, limit,
};
use crate::grow::reserve_all;
use crate::palette::WriteOnly;
use crate::pass::cull::{CullBuffers, CullPass};
use crate::pass::pyramid::PyramidPass;
use crate::pass::scatter::{ScatterBuffers, ScatterPass};
use ash::vk;
use ash::vk::PipelineStageFlags as Stage;
use bytemuck::Pod;
use core::ops::Range;

/// The stages that read instances, palettes, lists, deformed vertices and histories.
///
/// The fragment stage is not among them, so barriers between frames do not wait for it, unless the
/// ring is staged. On GPUs that draw in tiles, that lets one frame's fragment work overlap the next
/// frame's vertex work.
pub(crate) const DEFORMS: Stage =
    Stage::from_raw(Stage::VERTEX_SHADER.as_raw() | Stage::COMPUTE_SHADER.as_raw());

/// The stages that read the views, too.
pub(crate) const SHADERS: Stage =
    Stage::from_raw(DEFORMS.as_raw() | Stage::FRAGMENT_SHADER.as_raw());

/// The rings and the table, and the set of the pass that scatters records from one to the other.
#[derive(Debug)]
pub(crate) struct FrameBuffers {
    pub(crate) palettes: PaletteRing,
    records: Ring,
    pub(crate) sections: Sections,
    pub(crate) table: Buffer,
    pub(crate) table_layout: TableLayout,
    /// If the GPU culls.
    pub(crate) work: Option<WorkBuffer>,
    /// Play records, if the GPU poses instances.
    pub(crate) plays: Option<Buffer>,
    pub(crate) read_back: Option<ReadBack>,
    skinned: Buffer,
    pub(crate) history: HistoryBuffer,
    /// The set of the scatter pass.
    pub(crate) scatter: Sets,
    /// The set of the cull pass, if the GPU culls.
    pub(crate) cull: Sets,
    /// If it also tests instances against depth.
    pub(crate) pyramids: Option<Pyramids>,
    /// This frame's copies from the records that the CPU wrote to the work buffer.
    pub(crate) copies: Vec<vk::BufferCopy>,
}

destroy_fields!(
    FrameBuffers, Gpu<'a>:
    scatter, cull, pyramids, work, plays, read_back, history, skinned, table, records, palettes
);

/// The passes that write the buffers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferUsers<'a> {
    pub(crate) scatter: &'a ScatterPass,
    /// With the capacity of the work buffer, if the GPU culls.
    pub(crate) cull: Option<(&'a CullPass, WorkCapacity)>,
    /// If it also tests instances against depth.
    pub(crate) pyramid: Option<&'a PyramidPass>,
    /// True if the GPU poses instances.
    pub(crate) animates: bool,
}

impl FrameBuffers {
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        users: BufferUsers<'_>,
        desc: &CrowdDesc,
    ) -> Result<Guard<'g, Self>> {
        let device = gpu.device;
        let palettes = PaletteRingDesc {
            frames_in_flight: desc.frames_in_flight,
            entries: desc.capacity.palette_entries,
            staged: desc.staged,
            min_offset_alignment: desc.min_offset_alignment,
        };
        let palettes = PaletteRing::create(gpu, &palettes)?;
        let alignment = desc
            .min_offset_alignment
            .max(device.limits.offset_alignment)
            .max(MAPPED_ALIGNMENT);
        let work = users.cull.map(|(_, capacity)| capacity);
        let animates = users.animates;
        let sections = Sections::new(
            desc,
            (work, animates),
            (alignment, device.enabled.contains(Features::MULTIVIEW)),
        );
        let records = record_ring(gpu, desc, sections.end, alignment)?;
        let table_layout = TableLayout::new(desc.capacity.instances, work.is_some());
        let bytes = limit(
            "bytes of the instance table (maxStorageBufferRange)",
            table_layout.bytes,
            device.limits.max_storage_range,
        )?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let table = Buffer::device_local(gpu, "throng instances", bytes, usage)?;
        let (frames, views) = (desc.frames_in_flight, desc.capacity.views);
        let head = (sections.lists().bytes, animates);
        let work = work.map(|work| WorkBuffer::new(gpu, &desc.capacity, work, head));
        let work = work.transpose()?;
        let counters = counter_words(views);
        let read_back = work.as_ref();
        let read_back = read_back.map(|_| ReadBack::new(gpu, "throng read-back", frames, counters));
        let read_back = read_back.transpose()?;
        let mut copies = Vec::new();
        if let Some(work) = &work {
            // Besides, the morph weights of each instance that has some, with those that the caller
            // set, and two lists.
            let weighted = desc.capacity.morph_weights.min(desc.capacity.instances);
            let patches = work.layout.most_patches();
            reserve_all(&mut copies, patches + 2 * weighted as usize + 2);
        }
        let plays = animates.then(|| {
            let records = u64::from(play_capacity(desc.capacity.instances));
            let bytes = records * size_of::<GpuPlay>() as u64;
            let usage = usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
            Buffer::device_local(gpu, "throng play records", bytes, usage)
        });
        let plays = plays.transpose()?;
        let usage = usage | vk::BufferUsageFlags::VERTEX_BUFFER | desc.skinned_usage;
        let bytes = limit(
            "bytes of Capacity::skinned_words (maxStorageBufferRange)",
            u64::from(desc.capacity.skinned_words.max(4)) * 4,
            device.limits.max_storage_range,
        )?;
        let skinned = Buffer::device_local(gpu, "throng deformed vertices", bytes, usage)?;
        let history = HistoryBuffer::new(gpu, &desc.capacity)?;
        let buffers = Self {
            palettes: palettes.keep(),
            records: records.keep(),
            sections,
            table: table.keep(),
            table_layout,
            work: work.map(Guard::keep),
            plays: plays.map(Guard::keep),
            read_back: read_back.map(Guard::keep),
            skinned: skinned.keep(),
            history: history.keep(),
            scatter: Sets::default(),
            cull: Sets::default(),
            pyramids: None,
            copies,
        };
        let mut buffers = Guard::new(gpu, buffers);
        buffers.make_sets(gpu, users, desc)?;
        Ok(buffers)
    }

    /// Makes the sets of the passes that write the buffers.
    fn make_sets(&mut self, gpu: Gpu<'_>, users: BufferUsers<'_>, desc: &CrowdDesc) -> Result<()> {
        let device = gpu.device;
        let buffers = ScatterBuffers {
            changes: self.record_part(Part::Changes),
            indices: self.record_part(Part::Indices),
            table: self.instances(),
            actors: self.record_part(Part::Actors),
        };
        self.scatter = users.scatter.make_set(device, &buffers)?.keep();
        if let (Some((cull, _)), Some(work)) = (users.cull, &self.work) {
            let buffers = CullBuffers {
                table: self.instances(),
                work: whole(&work.buffer),
                input: self.record_range(self.sections.cull_input()),
            };
            self.cull = cull.make_set(device, &buffers)?.keep();
            if let Some(pyramid) = users.pyramid {
                let made = Pyramids::new(gpu, desc, (pyramid, cull), &buffers)?;
                self.pyramids = Some(made.keep());
            }
        }
        Ok(())
    }

    /// Returns true if the records are staged. Then [`Self::record_upload`] copies them.
    pub(crate) fn is_staged(&self) -> bool {
        self.records.is_staged()
    }

    /// A descriptor of a section of the record ring. Its start is a dynamic offset.
    fn record_range(&self, section: Section) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo {
            buffer: self.records.buffer(),
            offset: 0,
            range: section.bytes,
        }
    }

    /// A descriptor of a section. Its start is a dynamic offset.
    fn record_part(&self, part: Part) -> vk::DescriptorBufferInfo {
        self.record_range(self.sections[part])
    }

    /// A descriptor of the lists. Its start is a dynamic offset, see [`Self::lists_offset`].
    pub(crate) fn lists(&self) -> vk::DescriptorBufferInfo {
        match &self.work {
            Some(work) => whole(&work.buffer),
            None => self.record_range(self.sections.lists()),
        }
    }

    /// The dynamic offset of the lists of `frame_index`.
    pub(crate) fn lists_offset(&self, frame_index: u32) -> u32 {
        match &self.work {
            Some(_) => 0,
            None => self.offset(frame_index, self.sections.lists()),
        }
    }

    /// A descriptor of one view. Its start is a dynamic offset.
    pub(crate) fn view_range(&self) -> vk::DescriptorBufferInfo {
        let (start, bytes) = (0, self.sections.view_bytes);
        self.record_range(Section { start, bytes })
    }

    /// The device address of one view, if the crowd has rays.
    pub(crate) fn view_address(&self, frame_index: u32, view: u32) -> vk::DeviceAddress {
        let start = self.sections[Part::Views].start;
        self.records.address(frame_index) + start + u64::from(view) * self.sections.view_stride
    }

    /// The instance table.
    pub(crate) fn instances(&self) -> vk::DescriptorBufferInfo {
        whole(&self.table)
    }

    /// The deformed vertices.
    pub(crate) fn skinned(&self) -> vk::DescriptorBufferInfo {
        whole(&self.skinned)
    }

    /// The buffer into which the CPU writes the records, and the start of a section of
    /// `frame_index` in it.
    pub(crate) fn host_source(&self, frame_index: u32, part: Part) -> (vk::Buffer, u64) {
        let start = self.records.start(frame_index) + self.sections[part].start;
        (self.records.host_buffer(), start)
    }

    /// The sources of histories, each with its first byte: table, palettes, morph weights and
    /// deformed vertices.
    pub(crate) fn present(&self, frame_index: u32) -> [(vk::Buffer, u64); 4] {
        [
            (self.table.handle, 0),
            self.palettes.source(frame_index),
            match &self.work {
                Some(work) => (work.buffer.handle, 0),
                None => {
                    let start = self.records.start(frame_index) + self.sections[Part::Morphs].start;
                    (self.records.buffer(), start)
                }
            },
            (self.skinned.handle, 0),
        ]
    }

    /// The dynamic offset of a section of `frame_index`.
    pub(crate) fn offset(&self, frame_index: u32, section: Section) -> u32 {
        self.records.offset(frame_index) + section.start as u32
    }

    /// Begins to write the records of a frame.
    ///
    /// # Safety
    /// The GPU has finished the earlier work of this frame index.
    pub(crate) unsafe fn writer(&mut self, frame_index: u32) -> FrameWriter<'_> {
        self.copies.clear();
        FrameWriter {
            buffers: self,
            frame_index,
            written: SectionBytes::default(),
        }
    }

    /// Records the copies of play records: of each range of those that the CPU wrote, to the record
    /// with the number beside it.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; the ranges lie in the ring and in the buffer.
    pub(crate) unsafe fn record_plays(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        frame_index: u32,
        copies: &[(Range<u32>, u32)],
    ) {
        let Some(plays) = &self.plays else { return };
        let (host, start) = self.host_source(frame_index, Part::Plays);
        let each = size_of::<GpuPlay>() as u64;
        let mut regions = [vk::BufferCopy::default(); 256];
        for copies in copies.chunks(regions.len()) {
            for (region, (from, to)) in regions.iter_mut().zip(copies) {
                *region = vk::BufferCopy {
                    src_offset: start + u64::from(from.start) * each,
                    dst_offset: u64::from(*to) * each,
                    size: from.len() as u64 * each,
                };
            }
            let regions = &regions[..copies.len()];
            // SAFETY: `cmd` is recording outside a render pass, and the regions lie in both
            // buffers, by this function's contract.
            unsafe { device.raw.cmd_copy_buffer(cmd, host, plays.handle, regions) };
        }
    }

    /// Copies the written records, if the ring is staged. Returns whether it was.
    ///
    /// # Safety
    /// As [`Ring::record_upload`].
    pub(crate) unsafe fn record_upload(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        frame_index: u32,
        written: &SectionBytes,
    ) -> bool {
        let parts = self.sections.uploads(written);
        // SAFETY: this function has the same contract; the sections lie in the frame's part of the
        // ring.
        unsafe { self.records.record_upload(device, cmd, frame_index, &parts) }
    }
}

/// Writes the records of one frame, each into its section of the frame's part of the ring.
#[derive(Debug)]
pub(crate) struct FrameWriter<'a> {
    pub(crate) buffers: &'a mut FrameBuffers,
    pub(crate) frame_index: u32,
    pub(crate) written: SectionBytes,
}

impl FrameWriter<'_> {
    /// A writer for `count` elements of a section from byte `at` on, in order.
    ///
    /// # Errors
    /// [`Error::Capacity`] past its end.
    pub(crate) fn write<T: Pod>(
        &mut self,
        part: Part,
        at: u64,
        count: usize,
    ) -> Result<WriteOnly<'_, T>> {
        self.written
            .note(part, at, count as u64 * size_of::<T>() as u64);
        self.write_unnoted(part, at, count)
    }

    /// As [`Self::write`], for bytes that are counted elsewhere.
    fn write_unnoted<T: Pod>(
        &mut self,
        part: Part,
        at: u64,
        count: usize,
    ) -> Result<WriteOnly<'_, T>> {
        let bytes = count as u64 * size_of::<T>() as u64;
        let section = self.buffers.sections[part];
        let (asked, cap) = (at.saturating_add(bytes), section.bytes);
        let records = &mut self.buffers.records;
        let start = (asked <= cap)
            .then(|| records.mapped_at(self.frame_index, section.start + at, bytes))
            .flatten();
        let what = "bytes of a frame's records";
        let start = start.ok_or(Error::Capacity { what, asked, cap })?;
        // SAFETY: the range lies in the section; sections are aligned to at least 64 bytes, and the
        // callers start at whole elements; the borrow is exclusive on the CPU, and the GPU has
        // finished with this frame index, by the contract of `FrameBuffers::writer`.
        Ok(unsafe { WriteOnly::from_raw(start.as_ptr().cast(), count) })
    }

    /// Writes morph weights of an instance, and copies them to the work buffer, if there is one.
    ///
    /// # Errors
    /// [`Error::Capacity`] past the end of the section.
    pub(crate) fn write_weights(&mut self, first_word: u32, weights: &[f32]) -> Result<()> {
        let at = u64::from(first_word) * 4;
        // Only weights that are not 0 cost anything.
        let active = (0..).zip(weights).filter(|(_, weight)| **weight != 0.0);
        let count = active.clone().count() as u32;
        let mut out = self.write_unnoted(Part::Morphs, at, 1 + 2 * count as usize)?;
        let words = active.flat_map(|(index, weight): (u32, &f32)| [index, weight.to_bits()]);
        out.fill_from(core::iter::once(count).chain(words))?;
        self.copy_to_work(Part::Morphs, at, (1 + 2 * u64::from(count)) * 4);
        Ok(())
    }

    /// Writes the words of morph weights that the caller set for an instance, and copies them to
    /// the work buffer.
    ///
    /// # Errors
    /// [`Error::Capacity`] past the end of the section.
    pub(crate) fn write_own_weights(&mut self, first_word: u32, words: &[u32]) -> Result<()> {
        let at = u64::from(first_word) * 4;
        let mut out = self.write_unnoted(Part::OwnWeights, at, words.len())?;
        out.copy_from(words)?;
        self.copy_to_work(Part::OwnWeights, at, words.len() as u64 * 4);
        Ok(())
    }

    /// Copies bytes of a list to the same place of the work buffer, if the GPU culls.
    pub(crate) fn copy_to_work(&mut self, part: Part, at: u64, bytes: u64) {
        let sections = &self.buffers.sections;
        let in_lists = sections[part].start - sections.lists().start + at;
        self.copy(part, at, (in_lists, bytes));
    }

    /// Writes words that are copied to the word `to` of the work buffer.
    ///
    /// # Errors
    /// [`Error::Capacity`] if a frame has no space for that many.
    pub(crate) fn patch(
        &mut self,
        to: u32,
        count: usize,
        words: impl Iterator<Item = u32>,
    ) -> Result<()> {
        let at = self.written.end(Part::Patches);
        self.write(Part::Patches, at, count)?.fill_from(words)?;
        self.copy(Part::Patches, at, (u64::from(to) * 4, count as u64 * 4));
        Ok(())
    }

    /// Adds a copy to byte `to` of the work buffer, if there is one.
    fn copy(&mut self, part: Part, at: u64, (to, bytes): (u64, u64)) {
        let buffers = &mut *self.buffers;
        if buffers.work.is_none() || bytes == 0 {
            return;
        }
        let from = buffers.host_source(self.frame_index, part).1 + at;
        match buffers.copies.last_mut() {
            Some(last)
                if last.src_offset + last.size == from && last.dst_offset + last.size == to =>
            {
                last.size += bytes;
            }
            _ => buffers.copies.push(vk::BufferCopy {
                src_offset: from,
                dst_offset: to,
                size: bytes,
            }),
        }
    }
}

/// Creates the ring of records, with this many bytes for a frame.
fn record_ring<'g>(
    gpu: Gpu<'g>,
    desc: &CrowdDesc,
    frame_bytes: u64,
    alignment: u64,
) -> Result<Guard<'g, Ring>> {
    let by_address = match desc.rays {
        Some(_) => vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS,
        None => vk::BufferUsageFlags::empty(),
    };
    let ring = RingDesc {
        name: "throng records (ring)",
        frames_in_flight: desc.frames_in_flight,
        frame_bytes,
        alignment,
        usage: vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | by_address,
        staged: desc.staged,
    };
    Ring::new(gpu, &ring)
}

/// A descriptor of a whole buffer.
pub(crate) fn whole(buffer: &Buffer) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo {
        buffer: buffer.handle,
        offset: 0,
        range: vk::WHOLE_SIZE,
    }
}
