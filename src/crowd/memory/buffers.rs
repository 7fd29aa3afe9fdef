//! The buffers of a crowd: rings that are written every frame, and the persistent instance table.

use crate::crowd::CrowdDesc;
use crate::crowd::memory::history_buffer::HistoryBuffer;
use crate::crowd::memory::read_back::ReadBack;
use crate::crowd::memory::work::{
    ATTACHMENT_WORDS, TableLayout, WorkBuffer, WorkCapacity, chunk_capacity,
};
use crate::crowd::poses::gpu_poses::{play_capacity, upload_capacity};
use crate::error::{Error, Result};
use crate::gpu::constants::{CHARACTER_WORDS, CHUNK, CHUNK_WORDS, DRAW_WORDS};
use crate::gpu::layout::{GpuActor, GpuChange, GpuCullView, GpuEye, GpuView};
use crate::gpu::ring::{Ring, RingDesc};
use crate::gpu::{
    Buffer, Device, GpuPlay, MAPPED_ALIGNMENT, MemoryAllocator, Object, PaletteRing,
    PaletteRingDesc, limit,
};
use crate::grow::reserve_all;
use crate::palette::WriteOnly;
use crate::pass::cull::{CullBuffers, CullPass};
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

/// Bytes of a view's record without further eyes.
pub(crate) const VIEW_BYTES: u64 = size_of::<GpuView>() as u64;

/// Bytes of the records of all eyes that a view can have, which follow its own.
const EYE_BYTES: u64 = (size_of::<GpuEye>() * GpuView::EYES) as u64;

/// A section of one frame's part of the record ring: start and length in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Section {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

/// The sections of one frame's part of the record ring.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sections {
    /// Bytes of a view's record, with those of its eyes.
    view_bytes: u64,
    pub(crate) view_stride: u64,
    pub(crate) views: Section,
    /// The three sections that one descriptor covers: morph weights, visible list, listed.
    pub(crate) lists: Section,
    /// Active morph weights.
    pub(crate) morphs: Section,
    pub(crate) visible: Section,
    /// The instances that the skin stage deforms.
    pub(crate) listed: Section,
    pub(crate) changes: Section,
    pub(crate) indices: Section,
    /// The actors of changed instances, if the GPU culls.
    pub(crate) actors: Section,
    /// The views of the GPU's cull stage.
    pub(crate) cull_views: Section,
    /// Behind those, a bit for each instance of each list.
    pub(crate) listed_bits: Section,
    /// Words of one of those lists.
    pub(crate) listed_words: u32,
    /// Words that are copied to the work buffer.
    pub(crate) patches: Section,
    /// Play records of instances that the GPU poses.
    pub(crate) plays: Section,
    /// Vertices that the CPU deformed.
    pub(crate) deformed: Section,
    end: u64,
}

/// The number of sections that are copied if the ring is staged.
pub(crate) const SECTIONS: usize = 9;

impl Sections {
    /// `work` is the capacity of the work buffer, if the GPU culls. `animates` is true if it poses
    /// instances, too. `multiview` is true if views may have several eyes.
    fn new(
        desc: &CrowdDesc,
        (work, animates): (Option<WorkCapacity>, bool),
        (alignment, multiview): (u64, bool),
    ) -> Self {
        let instances = u64::from(desc.capacity.instances.max(1));
        let views_each = u64::from(desc.capacity.views);
        let record_bytes = VIEW_BYTES + u64::from(multiview) * EYE_BYTES;
        let view_stride = record_bytes.next_multiple_of(alignment);
        let mut end = 0;
        let mut section = |bytes: u64| {
            let start = end;
            end = (start + bytes).next_multiple_of(alignment);
            Section { start, bytes }
        };
        let views = section(view_stride * u64::from(desc.capacity.views));
        let morphs = section(u64::from(desc.capacity.morph_words()) * 4);
        // One list for each view, in case all differ.
        let all = instances * u64::from(desc.capacity.views);
        // Before the lists stands a word of 0: see `Self::first_in_lists`.
        let visible = section((1 + all + u64::from(desc.capacity.blended)) * 4);
        let listed = section(instances * 4);
        let lists = Section {
            start: morphs.start,
            bytes: listed.start + listed.bytes - morphs.start,
        };
        let changes = section(instances * size_of::<GpuChange>() as u64);
        let indices = section(instances * 4);
        let culls = u64::from(work.is_some());
        // A descriptor has at least one element, even if nothing reads it.
        let actors = culls * instances * size_of::<GpuActor>() as u64;
        let actors = section(actors.max(16));
        let eyes = if multiview { GpuView::EYES as u64 } else { 1 };
        let view_bytes = culls * views_each * eyes * size_of::<GpuCullView>() as u64;
        let bits = culls * views_each * instances.div_ceil(CHUNK as u64) * CHUNK as u64 / 8;
        let both = section(view_bytes + bits);
        let cull_views = Section {
            bytes: view_bytes,
            ..both
        };
        let listed_bits = Section {
            start: both.start + view_bytes,
            bytes: bits,
        };
        let words = work.map_or(0, |work| {
            let chunks = chunk_capacity(&desc.capacity, work.characters);
            let attachments = u64::from(animates) * u64::from(desc.capacity.attachments);
            attachments * u64::from(ATTACHMENT_WORDS)
                + u64::from(chunks) * (u64::from(CHUNK_WORDS) + CHUNK as u64)
                + u64::from(work.characters) * u64::from(CHARACTER_WORDS)
                + u64::from(work.draws) * u64::from(DRAW_WORDS)
        });
        let patches = section(words * 4);
        let plays = u64::from(upload_capacity(desc.capacity.instances));
        let plays = section(u64::from(animates) * plays * size_of::<GpuPlay>() as u64);
        let deformed = section(u64::from(desc.capacity.cpu_skinned_words) * 4);
        Self {
            view_bytes: record_bytes,
            view_stride,
            views,
            lists,
            morphs,
            visible,
            listed,
            changes,
            indices,
            actors,
            cull_views,
            listed_bits,
            listed_words: (instances.div_ceil(CHUNK as u64) * CHUNK as u64 / 32) as u32,
            patches,
            plays,
            deformed,
            end,
        }
    }

    /// The views and lists of the GPU's cull stage, as one descriptor covers them.
    fn cull_input(&self) -> Section {
        Section {
            bytes: self.cull_views.bytes + self.listed_bits.bytes,
            ..self.cull_views
        }
    }

    /// The index of a section's first element in the lists, as shaders see them.
    pub(crate) fn first_in_lists(&self, section: Section) -> u32 {
        ((section.start - self.lists.start) / 4) as u32
    }

    /// The number of bytes of each section that shaders read. Vertices that the CPU deformed, play
    /// records, and what the work buffer is patched with, are not among them: they are copied from
    /// where they were written.
    pub(crate) fn written(&self, bytes: &SectionBytes) -> [(Section, u64); SECTIONS] {
        [
            (self.views, bytes.views),
            (self.visible, bytes.visible),
            (self.changes, bytes.changes),
            (self.indices, bytes.indices),
            (self.morphs, bytes.morphs),
            (self.listed, bytes.listed),
            (self.actors, bytes.actors),
            (self.cull_views, bytes.cull_views),
            (self.listed_bits, bytes.listed_bits),
        ]
    }
}

/// Bytes written into each section of the record ring.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SectionBytes {
    /// From the first view to the end of the last one.
    pub(crate) views: u64,
    /// The part of `views` that was not written.
    pub(crate) view_gaps: u64,
    pub(crate) visible: u64,
    pub(crate) changes: u64,
    pub(crate) indices: u64,
    pub(crate) morphs: u64,
    pub(crate) listed: u64,
    pub(crate) deformed: u64,
    pub(crate) actors: u64,
    pub(crate) cull_views: u64,
    pub(crate) listed_bits: u64,
    pub(crate) patches: u64,
    pub(crate) plays: u64,
}

impl SectionBytes {
    pub(crate) fn total(&self) -> u64 {
        self.views - self.view_gaps
            + self.visible
            + self.changes
            + self.indices
            + self.morphs
            + self.listed
            + self.deformed
            + self.actors
            + self.cull_views
            + self.listed_bits
            + self.patches
            + self.plays
    }
}

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
    scatter_pool: Object<vk::DescriptorPool>,
    pub(crate) scatter_set: vk::DescriptorSet,
    cull_pool: Object<vk::DescriptorPool>,
    pub(crate) cull_set: vk::DescriptorSet,
    /// This frame's copies from the records that the CPU wrote to the work buffer.
    pub(crate) copies: Vec<vk::BufferCopy>,
    /// Bytes of this frame's patches so far.
    pub(crate) patched: u64,
}

/// The passes that write the buffers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BufferUsers<'a> {
    pub(crate) scatter: &'a ScatterPass,
    /// With the capacity of the work buffer, if the GPU culls.
    pub(crate) cull: Option<(&'a CullPass, WorkCapacity)>,
    /// True if the GPU poses instances.
    pub(crate) animates: bool,
}

impl FrameBuffers {
    pub(crate) fn null() -> Self {
        Self {
            palettes: PaletteRing::null(),
            records: Ring::null(),
            sections: Sections::default(),
            table: Buffer::null(),
            table_layout: TableLayout::default(),
            work: None,
            plays: None,
            read_back: None,
            skinned: Buffer::null(),
            history: HistoryBuffer::null(),
            scatter_pool: Object::null(),
            scatter_set: vk::DescriptorSet::null(),
            cull_pool: Object::null(),
            cull_set: vk::DescriptorSet::null(),
            copies: Vec::new(),
            patched: 0,
        }
    }

    pub(crate) fn new(
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        writers: BufferUsers<'_>,
        desc: &CrowdDesc,
    ) -> Result<Self> {
        let mut buffers = Self::null();
        match buffers.build(device, allocator, writers, desc) {
            Ok(()) => Ok(buffers),
            Err(error) => {
                // SAFETY: no command buffer has used the buffers, because they were created above.
                unsafe { buffers.destroy(device, allocator) };
                Err(error)
            }
        }
    }

    fn build(
        &mut self,
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        writers: BufferUsers<'_>,
        desc: &CrowdDesc,
    ) -> Result<()> {
        let palettes = PaletteRingDesc {
            frames_in_flight: desc.frames_in_flight,
            entries: desc.capacity.palette_entries,
            staged: desc.staged,
            min_offset_alignment: desc.min_offset_alignment,
        };
        self.palettes = PaletteRing::new(device, allocator, &palettes)?;
        let alignment = desc
            .min_offset_alignment
            .max(device.limits.offset_alignment)
            .max(MAPPED_ALIGNMENT);
        let work = writers.cull.map(|(_, capacity)| capacity);
        let animates = writers.animates;
        self.sections = Sections::new(
            desc,
            (work, animates),
            (alignment, device.enabled.multiview),
        );
        let records = RingDesc {
            name: "throng records (ring)",
            frames_in_flight: desc.frames_in_flight,
            frame_bytes: self.sections.end,
            alignment,
            usage: vk::BufferUsageFlags::STORAGE_BUFFER
                | vk::BufferUsageFlags::UNIFORM_BUFFER
                | vk::BufferUsageFlags::TRANSFER_SRC,
            staged: desc.staged,
        };
        self.records = Ring::new(device, allocator, &records)?;
        let culls = work.is_some();
        self.table_layout = TableLayout::new(desc.capacity.instances, culls);
        let bytes = limit(
            "bytes of the instance table (maxStorageBufferRange)",
            self.table_layout.bytes,
            device.limits.max_storage_range,
        )?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        self.table = Buffer::device_local(device, allocator, "throng instances", bytes, usage)?;
        if let Some(work) = work {
            let head = self.sections.lists.bytes;
            let head = (head, animates);
            let work = WorkBuffer::new(device, allocator, &desc.capacity, work, head)?;
            let patches = work.layout.most_patches();
            self.work = Some(work);
            let (frames, views) = (desc.frames_in_flight, desc.capacity.views);
            self.read_back = Some(ReadBack::new(device, allocator, frames, views)?);
            // Besides, the morph weights of each instance that has some, and two lists.
            let weighted = desc.capacity.morph_weights.min(desc.capacity.instances);
            reserve_all(&mut self.copies, patches + weighted as usize + 2);
        }
        if animates {
            let records = u64::from(play_capacity(desc.capacity.instances));
            let bytes = records * size_of::<GpuPlay>() as u64;
            let usage = usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
            let name = "throng play records";
            self.plays = Some(Buffer::device_local(device, allocator, name, bytes, usage)?);
        }
        let usage = usage | vk::BufferUsageFlags::VERTEX_BUFFER | desc.skinned_usage;
        let bytes = limit(
            "bytes of Capacity::skinned_words (maxStorageBufferRange)",
            u64::from(desc.capacity.skinned_words.max(4)) * 4,
            device.limits.max_storage_range,
        )?;
        let name = "throng deformed vertices";
        self.skinned = Buffer::device_local(device, allocator, name, bytes, usage)?;
        self.history = HistoryBuffer::new(device, allocator, &desc.capacity)?;
        let buffers = ScatterBuffers {
            changes: self.record_range(self.sections.changes),
            indices: self.record_range(self.sections.indices),
            table: self.instances(),
            actors: self.record_range(self.sections.actors),
        };
        (self.scatter_pool, self.scatter_set) = writers.scatter.make_set(device, &buffers)?;
        if let (Some((cull, _)), Some(work)) = (writers.cull, &self.work) {
            let buffers = CullBuffers {
                table: self.instances(),
                work: whole(&work.buffer),
                input: self.record_range(self.sections.cull_input()),
            };
            (self.cull_pool, self.cull_set) = cull.make_set(device, &buffers)?;
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

    /// A descriptor of the lists. Its start is a dynamic offset, see [`Self::lists_offset`].
    pub(crate) fn lists(&self) -> vk::DescriptorBufferInfo {
        match &self.work {
            Some(work) => whole(&work.buffer),
            None => self.record_range(self.sections.lists),
        }
    }

    /// The dynamic offset of the lists of `frame_index`.
    pub(crate) fn lists_offset(&self, frame_index: u32) -> u32 {
        match &self.work {
            Some(_) => 0,
            None => self.offset(frame_index, self.sections.lists),
        }
    }

    /// A descriptor of one view. Its start is a dynamic offset.
    pub(crate) fn view_range(&self) -> vk::DescriptorBufferInfo {
        let (start, bytes) = (0, self.sections.view_bytes);
        self.record_range(Section { start, bytes })
    }

    /// The instance table.
    pub(crate) fn instances(&self) -> vk::DescriptorBufferInfo {
        whole(&self.table)
    }

    /// The deformed vertices.
    pub(crate) fn skinned(&self) -> vk::DescriptorBufferInfo {
        whole(&self.skinned)
    }

    /// The buffer from which shaders read the records' sections, and the start of a section of
    /// `frame_index` in it.
    pub(crate) fn source(&self, frame_index: u32, section: Section) -> (vk::Buffer, u64) {
        let start = self.records.start(frame_index) + section.start;
        (self.records.buffer(), start)
    }

    /// The buffer into which the CPU writes the records' sections, and the start of a section of
    /// `frame_index` in it.
    pub(crate) fn host_source(&self, frame_index: u32, section: Section) -> (vk::Buffer, u64) {
        let start = self.records.start(frame_index) + section.start;
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
                None => self.source(frame_index, self.sections.morphs),
            },
            (self.skinned.handle, 0),
        ]
    }

    /// The dynamic offset of a section of `frame_index`.
    pub(crate) fn offset(&self, frame_index: u32, section: Section) -> u32 {
        self.records.offset(frame_index) + section.start as u32
    }

    /// A writer for `count` elements of a section of `frame_index`, in order.
    ///
    /// # Errors
    /// [`Error::Capacity`] past its end.
    ///
    /// # Safety
    /// The GPU has finished the earlier work of this frame index.
    pub(crate) unsafe fn write<T: Pod>(
        &mut self,
        frame_index: u32,
        section: Section,
        at: u64,
        count: usize,
    ) -> Result<WriteOnly<'_, T>> {
        let bytes = count as u64 * size_of::<T>() as u64;
        let (asked, cap) = (at.saturating_add(bytes), section.bytes);
        let start = (asked <= cap)
            .then(|| {
                self.records
                    .mapped_at(frame_index, section.start + at, bytes)
            })
            .flatten();
        let what = "bytes of a frame's records";
        let start = start.ok_or(Error::Capacity { what, asked, cap })?;
        // SAFETY: the range lies in the section; sections are aligned to at least 64 bytes, and the
        // callers start at whole elements; the borrow is exclusive on the CPU, and the GPU has
        // finished with this frame index, by this function's contract.
        Ok(unsafe { WriteOnly::from_raw(start.as_ptr().cast(), count) })
    }

    /// Words of a list of the GPU's cull stage.
    pub(crate) fn listed_words(&self) -> u32 {
        self.sections.listed_words
    }

    /// Begins the copies of a frame.
    pub(crate) fn begin_copies(&mut self) {
        self.copies.clear();
        self.patched = 0;
    }

    /// Copies bytes of a list to the same place of the work buffer, if the GPU culls.
    pub(crate) fn copy_to_work(&mut self, frame_index: u32, section: Section, at: u64, bytes: u64) {
        let in_lists = section.start - self.sections.lists.start + at;
        self.copy(frame_index, section, at, (in_lists, bytes));
    }

    /// Adds a copy to byte `to` of the work buffer, if there is one.
    fn copy(&mut self, frame_index: u32, section: Section, at: u64, (to, bytes): (u64, u64)) {
        if self.work.is_none() || bytes == 0 {
            return;
        }
        let (_, start) = self.host_source(frame_index, section);
        let region = vk::BufferCopy {
            src_offset: start + at,
            dst_offset: to,
            size: bytes,
        };
        match self.copies.last_mut() {
            Some(last)
                if last.src_offset + last.size == region.src_offset
                    && last.dst_offset + last.size == region.dst_offset =>
            {
                last.size += bytes;
            }
            _ => self.copies.push(region),
        }
    }

    /// Writes words that are copied to the word `to` of the work buffer.
    ///
    /// # Errors
    /// [`Error::Capacity`] if a frame has no space for that many.
    ///
    /// # Safety
    /// The GPU has finished the earlier work of this frame index.
    pub(crate) unsafe fn patch(
        &mut self,
        frame_index: u32,
        to: u32,
        count: usize,
        words: impl Iterator<Item = u32>,
    ) -> Result<()> {
        let (section, at) = (self.sections.patches, self.patched);
        // SAFETY: this function has the same contract.
        let mut out = unsafe { self.write(frame_index, section, at, count)? };
        out.fill_from(words)?;
        let bytes = count as u64 * 4;
        self.copy(frame_index, section, at, (u64::from(to) * 4, bytes));
        self.patched += bytes;
        Ok(())
    }

    /// Writes play records. Returns their bytes.
    ///
    /// # Errors
    /// [`Error::Capacity`] if a frame has no space for that many.
    ///
    /// # Safety
    /// The GPU has finished the earlier work of this frame index.
    pub(crate) unsafe fn write_plays(
        &mut self,
        frame_index: u32,
        records: &[GpuPlay],
    ) -> Result<u64> {
        let section = self.sections.plays;
        // SAFETY: this function has the same contract.
        let mut out = unsafe { self.write(frame_index, section, 0, records.len())? };
        out.copy_from(records)?;
        Ok(size_of_val(records) as u64)
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
        let (host, start) = self.host_source(frame_index, self.sections.plays);
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
            let regions = regions.get(..copies.len()).unwrap_or_default();
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
        written: [(Section, u64); SECTIONS],
    ) -> bool {
        let parts = written.map(|(section, bytes)| (section.start, bytes.min(section.bytes)));
        // SAFETY: this function has the same contract; the sections lie in the frame's part of the
        // ring.
        unsafe { self.records.record_upload(device, cmd, frame_index, &parts) }
    }

    /// Destroys the buffers.
    ///
    /// # Safety
    /// Not in use by the GPU.
    pub(crate) unsafe fn destroy(&mut self, device: &Device, allocator: &mut dyn MemoryAllocator) {
        // SAFETY: the GPU does not use the buffers, by this function's contract.
        unsafe {
            self.scatter_pool.destroy(device);
            self.cull_pool.destroy(device);
            if let Some(mut work) = self.work.take() {
                work.destroy(device, allocator);
            }
            if let Some(mut plays) = self.plays.take() {
                plays.destroy(device, allocator);
            }
            if let Some(mut read_back) = self.read_back.take() {
                read_back.destroy(device, allocator);
            }
            self.history.destroy(device, allocator);
            self.skinned.destroy(device, allocator);
            self.table.destroy(device, allocator);
            self.records.destroy(device, allocator);
            self.palettes.destroy(device, allocator);
        }
    }
}

/// A descriptor of a whole buffer.
fn whole(buffer: &Buffer) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo {
        buffer: buffer.handle,
        offset: 0,
        range: vk::WHOLE_SIZE,
    }
}
