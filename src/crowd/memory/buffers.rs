//! The buffers of a crowd: rings that are written every frame, and the persistent instance table.

use crate::crowd::CrowdDesc;
use crate::crowd::memory::history_buffer::HistoryBuffer;
use crate::error::{Error, Result};
use crate::gpu::GpuInstance;
use crate::gpu::layout::{GpuChange, GpuView};
use crate::gpu::ring::{Ring, RingDesc};
use crate::gpu::{
    Buffer, Device, MAPPED_ALIGNMENT, MemoryAllocator, Object, PaletteRing, PaletteRingDesc, limit,
};
use crate::palette::WriteOnly;
use crate::pass::scatter::{ScatterBuffers, ScatterPass};
use ash::vk;
use ash::vk::PipelineStageFlags2 as Stage;
use bytemuck::Pod;

/// The stages that read instances, palettes, lists, deformed vertices and histories.
///
/// The fragment stage is not among them, so barriers between frames do not wait for it, unless the
/// ring is staged. On GPUs that draw in tiles, that lets one frame's fragment work overlap the next
/// frame's vertex work.
pub(in crate::crowd) const DEFORMS: Stage =
    Stage::from_raw(Stage::VERTEX_SHADER.as_raw() | Stage::COMPUTE_SHADER.as_raw());

/// The stages that read the views, too.
pub(in crate::crowd) const SHADERS: Stage =
    Stage::from_raw(DEFORMS.as_raw() | Stage::FRAGMENT_SHADER.as_raw());

/// Bytes of a view's record.
pub(in crate::crowd) const VIEW_BYTES: u64 = size_of::<GpuView>() as u64;

/// A section of one frame's part of the record ring: start and length in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::crowd) struct Section {
    pub(in crate::crowd) start: u64,
    pub(in crate::crowd) bytes: u64,
}

/// The sections of one frame's part of the record ring.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::crowd) struct Sections {
    pub(in crate::crowd) view_stride: u64,
    pub(in crate::crowd) views: Section,
    /// The three sections that one descriptor covers: morph weights, visible list, listed.
    pub(in crate::crowd) lists: Section,
    /// Active morph weights.
    pub(in crate::crowd) morphs: Section,
    pub(in crate::crowd) visible: Section,
    /// The instances that the skin stage deforms.
    pub(in crate::crowd) listed: Section,
    pub(in crate::crowd) changes: Section,
    pub(in crate::crowd) indices: Section,
    /// Vertices that the CPU deformed.
    pub(in crate::crowd) deformed: Section,
    end: u64,
}

/// The number of sections that are copied if the ring is staged.
pub(in crate::crowd) const SECTIONS: usize = 6;

impl Sections {
    fn new(desc: &CrowdDesc, alignment: u64) -> Self {
        let instances = u64::from(desc.capacity.instances.max(1));
        let view_stride = VIEW_BYTES.next_multiple_of(alignment);
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
        let visible = section((all + u64::from(desc.capacity.blended)) * 4);
        let listed = section(instances * 4);
        let lists = Section {
            start: morphs.start,
            bytes: listed.start + listed.bytes - morphs.start,
        };
        let changes = section(instances * size_of::<GpuChange>() as u64);
        let indices = section(instances * 4);
        let deformed = section(u64::from(desc.capacity.cpu_skinned_words) * 4);
        Self {
            view_stride,
            views,
            lists,
            morphs,
            visible,
            listed,
            changes,
            indices,
            deformed,
            end,
        }
    }

    /// The index of a section's first element in the lists, as shaders see them.
    pub(in crate::crowd) fn first_in_lists(&self, section: Section) -> u32 {
        ((section.start - self.lists.start) / 4) as u32
    }

    /// The number of bytes of each section that shaders read. Vertices that the CPU deformed are
    /// not among them: they are copied from where they were written.
    pub(in crate::crowd) fn written(&self, bytes: &Written) -> [(Section, u64); SECTIONS] {
        [
            (self.views, bytes.views),
            (self.visible, bytes.visible),
            (self.changes, bytes.changes),
            (self.indices, bytes.indices),
            (self.morphs, bytes.morphs),
            (self.listed, bytes.listed),
        ]
    }
}

/// Bytes written into each section of the record ring.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::crowd) struct Written {
    pub(in crate::crowd) views: u64,
    pub(in crate::crowd) visible: u64,
    pub(in crate::crowd) changes: u64,
    pub(in crate::crowd) indices: u64,
    pub(in crate::crowd) morphs: u64,
    pub(in crate::crowd) listed: u64,
    pub(in crate::crowd) deformed: u64,
}

impl Written {
    pub(in crate::crowd) fn total(&self) -> u64 {
        self.views
            + self.visible
            + self.changes
            + self.indices
            + self.morphs
            + self.listed
            + self.deformed
    }
}

/// The rings and the table, and the set of the pass that scatters records from one to the other.
#[derive(Debug)]
pub(in crate::crowd) struct FrameBuffers {
    pub(in crate::crowd) palettes: PaletteRing,
    records: Ring,
    pub(in crate::crowd) sections: Sections,
    table: Buffer,
    skinned: Buffer,
    pub(in crate::crowd) history: HistoryBuffer,
    scatter_pool: Object<vk::DescriptorPool>,
    pub(in crate::crowd) scatter_set: vk::DescriptorSet,
}

impl FrameBuffers {
    pub(in crate::crowd) fn null() -> Self {
        Self {
            palettes: PaletteRing::null(),
            records: Ring::null(),
            sections: Sections::default(),
            table: Buffer::null(),
            skinned: Buffer::null(),
            history: HistoryBuffer::null(),
            scatter_pool: Object::null(),
            scatter_set: vk::DescriptorSet::null(),
        }
    }

    pub(in crate::crowd) fn new(
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
        scatter: &ScatterPass,
        desc: &CrowdDesc,
    ) -> Result<Self> {
        let mut buffers = Self::null();
        match buffers.build(device, allocator, scatter, desc) {
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
        scatter: &ScatterPass,
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
        self.sections = Sections::new(desc, alignment);
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
        let bytes = u64::from(desc.capacity.instances.max(1)) * size_of::<GpuInstance>() as u64;
        let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let usage = storage | vk::BufferUsageFlags::TRANSFER_SRC;
        self.table = Buffer::device_local(device, allocator, "throng instances", bytes, usage)?;
        let usage = usage
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | desc.skinned_usage;
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
        };
        (self.scatter_pool, self.scatter_set) = scatter.make_set(device, &buffers)?;
        Ok(())
    }

    /// Returns true if the records are staged. Then [`Self::record_upload`] copies them.
    pub(in crate::crowd) fn is_staged(&self) -> bool {
        self.records.is_staged()
    }

    /// A descriptor of a section of the record ring. Its start is a dynamic offset.
    pub(in crate::crowd) fn record_range(&self, section: Section) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo {
            buffer: self.records.buffer(),
            offset: 0,
            range: section.bytes,
        }
    }

    /// A descriptor of one view. Its start is a dynamic offset.
    pub(in crate::crowd) fn view_range(&self) -> vk::DescriptorBufferInfo {
        let (start, bytes) = (0, VIEW_BYTES);
        self.record_range(Section { start, bytes })
    }

    /// The instance table.
    pub(in crate::crowd) fn instances(&self) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo {
            buffer: self.table.handle,
            offset: 0,
            range: vk::WHOLE_SIZE,
        }
    }

    /// The deformed vertices.
    pub(in crate::crowd) fn skinned(&self) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo {
            buffer: self.skinned.handle,
            offset: 0,
            range: vk::WHOLE_SIZE,
        }
    }

    /// The buffer from which shaders read the records' sections, and the start of a section of
    /// `frame_index` in it.
    pub(in crate::crowd) fn source(&self, frame_index: u32, section: Section) -> (vk::Buffer, u64) {
        let start = self.records.start(frame_index) + section.start;
        (self.records.buffer(), start)
    }

    /// The buffer into which the CPU writes the records' sections, and the start of a section of
    /// `frame_index` in it.
    pub(in crate::crowd) fn host_source(
        &self,
        frame_index: u32,
        section: Section,
    ) -> (vk::Buffer, u64) {
        let start = self.records.start(frame_index) + section.start;
        (self.records.host_buffer(), start)
    }

    /// The sources of histories, each with its first byte: table, palettes, morph weights and
    /// deformed vertices.
    pub(in crate::crowd) fn present(&self, frame_index: u32) -> [(vk::Buffer, u64); 4] {
        [
            (self.table.handle, 0),
            self.palettes.source(frame_index),
            self.source(frame_index, self.sections.morphs),
            (self.skinned.handle, 0),
        ]
    }

    /// The dynamic offset of a section of `frame_index`.
    pub(in crate::crowd) fn offset(&self, frame_index: u32, section: Section) -> u32 {
        self.records.offset(frame_index) + section.start as u32
    }

    /// A writer for `count` elements of a section of `frame_index`, in order.
    ///
    /// # Errors
    /// [`Error::Capacity`] past its end.
    ///
    /// # Safety
    /// The GPU has finished the earlier work of this frame index.
    pub(in crate::crowd) unsafe fn write<T: Pod>(
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

    /// Copies the written records, if the ring is staged. Returns whether it was.
    ///
    /// # Safety
    /// As [`Ring::record_upload`].
    pub(in crate::crowd) unsafe fn record_upload(
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
    pub(in crate::crowd) unsafe fn destroy(
        &mut self,
        device: &Device,
        allocator: &mut dyn MemoryAllocator,
    ) {
        // SAFETY: the GPU does not use the buffers, by this function's contract.
        unsafe {
            self.scatter_pool.destroy(device);
            self.history.destroy(device, allocator);
            self.skinned.destroy(device, allocator);
            self.table.destroy(device, allocator);
            self.records.destroy(device, allocator);
            self.palettes.destroy(device, allocator);
        }
    }
}
