//! The sections of one frame's part of the record ring, and what a frame writes into them.

use crate::crowd::CrowdDesc;
use crate::crowd::memory::work::{ATTACHMENT_WORDS, WorkCapacity, chunk_capacity};
use crate::crowd::poses::gpu_poses::upload_capacity;
use crate::gpu::GpuPlay;
use crate::gpu::constants::{CHARACTER_WORDS, CHUNK, CHUNK_WORDS, DRAW_WORDS};
use crate::gpu::layout::{GpuActor, GpuChange, GpuCullView, GpuEye, GpuOcclusion, GpuView};
use core::ops::Index;

/// Bytes of a view's record without further eyes.
pub(crate) const VIEW_BYTES: u64 = size_of::<GpuView>() as u64;

/// Bytes of the records of all eyes that a view can have, which follow its own.
const EYE_BYTES: u64 = (size_of::<GpuEye>() * GpuView::EYES) as u64;

/// A section: start and length in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Section {
    pub(crate) start: u64,
    pub(crate) bytes: u64,
}

/// The sections, in their order. One descriptor covers those from `Morphs` to `Listed`, which are
/// the lists, and one covers `CullViews` and `ListedBits`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Views,
    /// Active morph weights.
    Morphs,
    /// Morph weights that the caller set, in the same ranges, if the GPU poses instances.
    OwnWeights,
    /// The visible instances. Before the lists stands a word of 0.
    Visible,
    /// The instances that the skin stage deforms.
    Listed,
    Changes,
    Indices,
    /// The actors of changed instances, if the GPU culls.
    Actors,
    /// The views of the GPU's cull stage. At the end, in reverse order, are the tests of their eyes
    /// against depth.
    CullViews,
    /// Behind those, a bit for each instance of each list.
    ListedBits,
    /// Words that are copied to the work buffer.
    Patches,
    /// Play records of instances that the GPU poses.
    Plays,
    /// Vertices that the CPU deformed.
    Deformed,
}

const PARTS: usize = 13;

/// The number of sections that shaders read, which are the first. The others are copied from where
/// the CPU wrote them.
pub(crate) const READ_PARTS: usize = 10;

/// The sections of one frame's part of the record ring.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sections {
    parts: [Section; PARTS],
    /// Bytes of a view's record, with those of its eyes.
    pub(crate) view_bytes: u64,
    pub(crate) view_stride: u64,
    /// Words of a list of the GPU's cull stage.
    pub(crate) listed_words: u32,
    pub(crate) end: u64,
}

impl Index<Part> for Sections {
    type Output = Section;

    fn index(&self, part: Part) -> &Section {
        &self.parts[part as usize]
    }
}

impl Sections {
    /// `work` is the capacity of the work buffer, if the GPU culls. `animates` is true if it poses
    /// instances, too. `multiview` is true if views may have several eyes.
    pub(crate) fn new(
        desc: &CrowdDesc,
        (work, animates): (Option<WorkCapacity>, bool),
        (alignment, multiview): (u64, bool),
    ) -> Self {
        let capacity = &desc.capacity;
        let (instances, views) = (
            u64::from(capacity.instances.max(1)),
            u64::from(capacity.views),
        );
        let (culls, animates) = (u64::from(work.is_some()), u64::from(animates));
        let view_bytes = VIEW_BYTES + u64::from(multiview) * EYE_BYTES;
        let view_stride = view_bytes.next_multiple_of(alignment);
        let padded = instances.next_multiple_of(CHUNK as u64);
        let eyes = if multiview { GpuView::EYES as u64 } else { 1 };
        let tests = u64::from(capacity.tests_depth()) * size_of::<GpuOcclusion>() as u64;
        let cull_views = culls * views * eyes * (size_of::<GpuCullView>() as u64 + tests);
        let listed_bits = culls * views * padded / 8;
        let patches = work.map_or(0, |work| {
            let chunks = chunk_capacity(capacity.instances, work.characters);
            animates * u64::from(capacity.attachments) * u64::from(ATTACHMENT_WORDS)
                + u64::from(chunks) * (u64::from(CHUNK_WORDS) + CHUNK as u64)
                + u64::from(work.characters) * u64::from(CHARACTER_WORDS)
                + u64::from(work.draws) * u64::from(DRAW_WORDS)
        });
        let plays = animates * u64::from(upload_capacity(capacity.instances));
        let mut end = 0;
        let mut parts = [
            view_stride * views,
            u64::from(capacity.morph_words()) * 4,
            animates * u64::from(capacity.morph_words()) * 4,
            // One list for each view, in case all differ.
            (1 + instances * views + u64::from(capacity.blended)) * 4,
            instances * 4,
            instances * size_of::<GpuChange>() as u64,
            instances * 4,
            // A descriptor has at least one element, even if nothing reads it.
            (culls * instances * size_of::<GpuActor>() as u64).max(16),
            cull_views + listed_bits,
            0,
            patches * 4,
            plays * size_of::<GpuPlay>() as u64,
            u64::from(capacity.cpu_skinned_words) * 4,
        ]
        .map(|bytes| {
            let start = end;
            end = (start + bytes).next_multiple_of(alignment);
            Section { start, bytes }
        });
        parts[Part::CullViews as usize].bytes = cull_views;
        parts[Part::ListedBits as usize] = Section {
            start: parts[Part::CullViews as usize].start + cull_views,
            bytes: listed_bits,
        };
        Self {
            parts,
            view_bytes,
            view_stride,
            listed_words: (padded / 32) as u32,
            end,
        }
    }

    /// The sections from one to another.
    fn covered(&self, [first, last]: [Part; 2]) -> Section {
        let (start, last) = (self[first].start, self[last]);
        let bytes = last.start + last.bytes - start;
        Section { start, bytes }
    }

    /// The lists: morph weights, visible instances, and those that the skin stage deforms.
    pub(crate) fn lists(&self) -> Section {
        self.covered([Part::Morphs, Part::Listed])
    }

    /// The views and lists of the GPU's cull stage.
    pub(crate) fn cull_input(&self) -> Section {
        self.covered([Part::CullViews, Part::ListedBits])
    }

    /// The index of a section's first element in the lists, as shaders see them.
    pub(crate) fn first_in_lists(&self, part: Part) -> u32 {
        ((self[part].start - self.lists().start) / 4) as u32
    }

    /// The starts of the sections that shaders read, and how far a frame wrote each.
    pub(crate) fn uploads(&self, written: &SectionBytes) -> [(u64, u64); READ_PARTS] {
        core::array::from_fn(|part| {
            let Section { start, bytes } = self.parts[part];
            (start, written.ends[part].min(bytes))
        })
    }
}

/// The end of what a frame has written into each section.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SectionBytes {
    ends: [u64; PARTS],
    /// The bytes of all, without gaps.
    pub(crate) total: u64,
}

impl SectionBytes {
    /// Notes that bytes of a section were written.
    pub(crate) fn note(&mut self, part: Part, at: u64, bytes: u64) {
        let end = &mut self.ends[part as usize];
        *end = (*end).max(at + bytes);
        self.total += bytes;
    }

    /// The bytes up to the end of what was written.
    pub(crate) fn end(&self, part: Part) -> u64 {
        self.ends[part as usize]
    }
}
