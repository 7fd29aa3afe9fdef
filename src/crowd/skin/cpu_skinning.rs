//! The instances whose vertices are deformed before they are drawn.
//!
//! Instances of [`SkinningStage::Compute`](crate::crowd::SkinningStage) are listed for the GPU.
//! Instances of [`SkinningStage::Cpu`](crate::crowd::SkinningStage) are skinned here into the frame
//! ring, on the threads of [`CrowdDesc::threads`](crate::crowd::CrowdDesc::threads).

use crate::crowd::characters::list::Characters;
use crate::crowd::instances::state::CpuSkinned;
use crate::error::Result;
use crate::gpu::palettes;
use crate::gpu::palettes::Row;
use crate::palette::WriteOnly;
use crate::threads::Threads;
use ash::vk;
use bytemuck::Zeroable;
use core::ops::Range;

/// The instances of a character that the GPU deforms.
#[derive(Debug, Clone)]
pub(crate) struct SkinBatch {
    pub(crate) character: u32,
    /// Their range of the list.
    pub(crate) range: Range<u32>,
}

/// An instance to be skinned on the CPU.
#[derive(Debug, Clone)]
struct Job {
    character: u32,
    /// Its palette's range of all jobs' rows, or `None` for the rest pose.
    rows: Option<Range<usize>>,
    /// Its range of all jobs' weights.
    weights: Range<usize>,
    /// Its range of all jobs' words.
    words: Range<usize>,
}

/// The instances of a frame that are skinned on the CPU, with their palettes and weights.
#[derive(Debug, Default)]
pub(crate) struct CpuSkinning {
    jobs: Vec<Job>,
    rows: Vec<Row>,
    weights: Vec<f32>,
    regions: Vec<vk::BufferCopy>,
}

impl CpuSkinning {
    /// Reserves memory, so that nothing is allocated while a frame is recorded.
    pub(crate) fn reserve(&mut self, cpu_skinned: &CpuSkinned) {
        fn reserve<T>(list: &mut Vec<T>, all: u32) {
            list.reserve((all as usize).saturating_sub(list.len()));
        }
        reserve(&mut self.jobs, cpu_skinned.count);
        reserve(&mut self.regions, cpu_skinned.count);
        reserve(&mut self.rows, cpu_skinned.rows);
        reserve(&mut self.weights, cpu_skinned.weights);
    }

    pub(crate) fn clear(&mut self) {
        self.jobs.clear();
        self.rows.clear();
        self.weights.clear();
        self.regions.clear();
    }

    /// The number of instances.
    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// The total number of words of all instances.
    pub(crate) fn words(&self) -> usize {
        self.jobs.last().map_or(0, |job| job.words.end)
    }

    /// The copies from the section to the buffer of deformed vertices, in bytes.
    pub(crate) fn regions(&self) -> &[vk::BufferCopy] {
        &self.regions
    }

    /// Allocates rows for the palette of an instance. Returns the index of the first.
    pub(crate) fn take_rows(&mut self, rows: u32) -> u32 {
        let start = self.rows.len();
        self.rows.resize(start + rows as usize, Row::zeroed());
        start as u32
    }

    /// The address of the first row. It is valid until more rows are allocated.
    pub(crate) fn rows_start(&mut self) -> *mut u8 {
        self.rows.as_mut_ptr().cast()
    }

    /// Rows that were allocated.
    pub(crate) fn rows(&self, start: usize, count: usize) -> &[Row] {
        &self.rows[start..start + count]
    }

    /// Adds an instance.
    ///
    /// Its palette is in `rows`, or is that of the rest pose. `skinned` is the first word of its
    /// deformed vertices in their buffer, and the number of words.
    pub(crate) fn add(
        &mut self,
        character: u32,
        rows: Option<Range<usize>>,
        skinned: (u32, u32),
        weights: &[f32],
    ) {
        let (weight, word) = (self.weights.len(), self.words());
        self.weights.extend_from_slice(weights);
        let (to, words) = skinned;
        self.jobs.push(Job {
            character,
            rows,
            weights: weight..self.weights.len(),
            words: word..word + words as usize,
        });
        self.add_region(word as u64 * 4, u64::from(to) * 4, u64::from(words) * 4);
    }

    fn add_region(&mut self, src_offset: u64, dst_offset: u64, size: u64) {
        if size == 0 {
            return;
        }
        // Regions that are contiguous in both buffers are joined.
        if let Some(last) = self.regions.last_mut()
            && last.dst_offset + last.size == dst_offset
            && last.src_offset + last.size == src_offset
        {
            last.size += size;
            return;
        }
        self.regions.push(vk::BufferCopy {
            src_offset,
            dst_offset,
            size,
        });
    }

    /// Skins all instances, one after the other, into `out`, which must hold [`Self::words`].
    ///
    /// The results do not depend on the number of threads.
    pub(crate) fn run(
        &self,
        threads: &Threads,
        characters: &Characters,
        out: WriteOnly<'_, f32>,
    ) -> Result<()> {
        threads.install(|| self.run_part(threads, characters, &self.jobs, out))
    }

    fn run_part(
        &self,
        threads: &Threads,
        characters: &Characters,
        jobs: &[Job],
        out: WriteOnly<'_, f32>,
    ) -> Result<()> {
        let (first, second) = jobs.split_at(jobs.len() / 2);
        let (Some(start), Some(middle)) = (first.first(), second.first()) else {
            return jobs
                .first()
                .map_or(Ok(()), |job| self.run_one(characters, job, out));
        };
        let (one, other) = out.split_at(middle.words.start - start.words.start);
        let (one, other) = threads.join(
            || self.run_part(threads, characters, first, one),
            || self.run_part(threads, characters, second, other),
        );
        one.and(other)
    }

    fn run_one(&self, characters: &Characters, job: &Job, out: WriteOnly<'_, f32>) -> Result<()> {
        let character = &characters[job.character];
        let Some(cpu_skin) = &character.cpu_skin else {
            return Ok(());
        };
        let rows = match &job.rows {
            Some(range) => &self.rows[range.clone()],
            None => &cpu_skin.rest,
        };
        let palette = palettes::as_ref(character.mesh.format(), rows);
        let weights = &self.weights[job.weights.clone()];
        cpu_skin.skinner.skin_any(palette, weights, out)
    }
}
