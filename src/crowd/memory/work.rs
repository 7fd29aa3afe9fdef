//! The work buffer in device memory, which the stages cull, scan, allocate_rows, compact, args and
//! looks read and write.

use crate::crowd::{Capacity, ViewId};
use crate::error::Result;
use crate::gpu::constants::{
    ARGS_START, ARGS_WORDS, BUCKETS, CHARACTER_WORDS, CHUNK, CHUNK_WORDS, COUNTER_WORDS,
    DRAW_WORDS, FACTORS, JOB_WORDS, POSE_WORDS, POSED_WORDS, SEEN_WORDS, SHOWN_WORDS, SKIN_WORDS,
    TOTAL_WORDS,
};
use crate::gpu::layout::{GpuActor, GpuAttachment, GpuInstance, GpuOcclusion, GpuView};
use crate::gpu::{Buffer, Gpu, Guard, destroy_fields, limit};
use crate::pass::push::CullPush;
use ash::vk;
use bytemuck::Zeroable;

/// Words of an attached instance that the GPU places.
pub(crate) const ATTACHMENT_WORDS: u32 = size_of::<GpuAttachment>() as u32 / 4;
/// Bytes of a sphere in character space.
const SPHERE_BYTES: u64 = 16;

/// The capacities of the work buffer, apart from those of the crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WorkCapacity {
    pub(crate) characters: u32,
    /// Draws of all characters.
    pub(crate) draws: u32,
    /// Entries of the lists of the stage looks, for each view.
    pub(crate) looks: u32,
}

impl WorkCapacity {
    pub(crate) const FIRST: Self = Self {
        characters: 16,
        draws: 512,
        looks: 0,
    };
}

/// The first word of each section of the work buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkLayout {
    /// Most of them, and the number of chunks, characters and draws that it has space for. The
    /// push constants that a frame decides are 0.
    pub(crate) push: CullPush,
    pub(crate) totals: u32,
    pub(crate) skins: u32,
    /// The instances that the stage skin deforms, in a range for each character.
    pub(crate) skinned: u32,
    /// The attached instances that the GPU places.
    pub(crate) attachments: u32,
    pub(crate) attachment_count: u32,
    /// The end of what is cleared in each frame.
    cleared_end: u32,
    /// The lists of late instances.
    late: LateLayout,
}

/// The first words of the sections for instances that a reveal adds to the first views, in place of
/// those with the same names in [`CullPush`].
#[derive(Debug, Clone, Copy)]
struct LateLayout {
    starts_at: u32,
    visible_at: u32,
    args_at: u32,
    looks_at: u32,
    /// The tests of eyes, in rows of 16 bytes.
    tests: u32,
}

/// The number of chunks for these capacities.
///
/// Half as many again as the members of all characters fill, so that characters can grow, and one
/// for each character, whose last chunk is not full.
pub(crate) fn chunk_capacity(instances: u32, characters: u32) -> u32 {
    let full = instances.div_ceil(CHUNK as u32);
    full.saturating_add(full / 2).saturating_add(characters)
}

impl WorkLayout {
    /// The most patches of one frame: three for each chunk, whose record may be cleared, or written
    /// with its members, six for each character, and one for each attachment.
    pub(crate) fn most_patches(&self) -> usize {
        let [chunks, characters] =
            [self.push.chunk_count, self.push.character_count].map(|it| it as usize);
        3 * chunks + 6 * characters + self.attachment_count as usize
    }

    /// The layout, and its length in bytes. `head` is the number of words before it. `animates` is
    /// true if the GPU poses instances.
    fn new(capacity: &Capacity, work: WorkCapacity, head: u64, animates: bool) -> (Self, u64) {
        let chunk_count = chunk_capacity(capacity.instances, work.characters);
        let (chunks, characters) = (u64::from(chunk_count), u64::from(work.characters));
        let (draws, views) = (u64::from(work.draws), u64::from(capacity.views));
        let mut end = head;
        let mut section = |words: u64| {
            let start = end;
            // Whole rows of 16 bytes.
            end = end.saturating_add(words).next_multiple_of(4);
            start as u32
        };
        let block = CHUNK as u64;
        let attachment_count = u32::from(animates) * capacity.attachments;
        let late = u64::from(capacity.late_views);
        let tests = late.min(1) * views * GpuView::EYES as u64 * size_of::<GpuOcclusion>() as u64;
        let chunks_at = section(chunks * u64::from(CHUNK_WORDS));
        let members_at = section(chunks * block);
        let characters_at = section(characters * u64::from(CHARACTER_WORDS));
        let draws_at = section(draws * u64::from(DRAW_WORDS));
        // Shaders find these two sections from where the counters start.
        section(chunks * u64::from(POSED_WORDS));
        let totals = section(u64::from(TOTAL_WORDS));
        let counters_at = section(views * u64::from(COUNTER_WORDS));
        let triangles_at = section(views * u64::from(FACTORS + 1) * 2);
        let poses_at = section(characters * u64::from(POSE_WORDS));
        let skins = section(characters * u64::from(SKIN_WORDS));
        // Shaders find this section from where the choices start.
        let cleared_end = section(late * chunks * u64::from(SEEN_WORDS));
        let push = CullPush {
            character_count: work.characters,
            chunk_count,
            draw_count: work.draws,
            chunks_at,
            members_at,
            characters_at,
            draws_at,
            counters_at,
            triangles_at,
            poses_at,
            choices_at: section(views.div_ceil(4) * chunks * block),
            counts_at: section(views * chunks * BUCKETS as u64),
            starts_at: section(views * characters * BUCKETS as u64 * 2),
            visible_at: section(views * chunks * block),
            args_at: section(views * draws * u64::from(ARGS_WORDS)),
            looks_at: section(views * u64::from(work.looks)),
            jobs_at: section(u64::from(animates) * chunks * block * u64::from(JOB_WORDS)),
            ..CullPush::zeroed()
        };
        let layout = Self {
            push,
            totals,
            skins,
            skinned: section(u64::from(animates) * chunks * block),
            attachments: section(u64::from(attachment_count) * u64::from(ATTACHMENT_WORDS)),
            attachment_count,
            cleared_end,
            late: LateLayout {
                starts_at: section(late * characters * BUCKETS as u64 * 2),
                visible_at: section(late * chunks * block),
                args_at: section(late * draws * u64::from(ARGS_WORDS)),
                looks_at: section(late * u64::from(work.looks)),
                tests: section(tests / 4),
            },
        };
        (layout, end.saturating_mul(4))
    }

    /// The first byte of what is cleared in each frame, and how much that is.
    pub(crate) fn cleared(&self) -> (u64, u64) {
        let bytes = u64::from(self.cleared_end - self.totals) * 4;
        (u64::from(self.totals) * 4, bytes)
    }

    /// The same in the first frame of the buffer. What late views saw before is cleared, too.
    pub(crate) fn cleared_first(&self) -> (u64, u64) {
        let bytes = u64::from(self.push.choices_at - self.totals) * 4;
        (u64::from(self.totals) * 4, bytes)
    }

    /// The first byte of what is cleared before a reveal, and how much that is: the jobs of the
    /// stages animate and skin.
    pub(crate) fn cleared_jobs(&self) -> (u64, u64) {
        let bytes = u64::from(self.cleared_end - self.push.poses_at) * 4;
        (u64::from(self.push.poses_at) * 4, bytes)
    }

    /// The push constants of the stages of a reveal in the first `count` of `push.view_count`
    /// views.
    pub(crate) fn reveals(&self, push: &CullPush, count: u32) -> CullPush {
        CullPush {
            view_count: count,
            starts_at: self.late.starts_at,
            visible_at: self.late.visible_at,
            args_at: self.late.args_at,
            looks_at: self.late.looks_at,
            // What these stages do not use has what the stage reveal needs.
            triangles_at: self.late.tests,
            chunks_end: push.view_count,
            ..*push
        }
    }

    /// The first byte of the tests of eyes.
    pub(crate) fn tests(&self) -> u64 {
        u64::from(self.late.tests) * 4
    }

    /// A word that is 0 in every frame: the last of the first view's counters.
    pub(crate) fn zero(&self) -> u32 {
        self.push.counters_at + COUNTER_WORDS - 1
    }

    /// The word where the start of a draw's list stands.
    pub(crate) fn start(&self, view: ViewId, draw: u32) -> u32 {
        (self.args_offset(view, draw) / 4) as u32 + ARGS_START
    }

    /// The first byte of a draw's arguments.
    pub(crate) fn args_offset(&self, view: ViewId, draw: u32) -> u64 {
        let args = view.index * self.push.draw_count + draw;
        let args_at = match view.late {
            true => self.late.args_at,
            false => self.push.args_at,
        };
        u64::from(args_at + args * ARGS_WORDS) * 4
    }
}

/// The work buffer.
#[derive(Debug)]
pub(crate) struct WorkBuffer {
    pub(crate) buffer: Buffer,
    pub(crate) layout: WorkLayout,
    /// True until a frame is recorded.
    pub(crate) is_new: bool,
}

destroy_fields!(WorkBuffer, Gpu<'a>: buffer);

impl WorkBuffer {
    /// Creates the buffer. It starts with `head` bytes of lists. `animates` is true if the GPU
    /// poses instances.
    ///
    /// # Errors
    /// - [`Error::Capacity`](crate::Error::Capacity) if the device has no buffers of that size.
    /// - [`Error::Memory`](crate::Error::Memory) and [`Error::Vulkan`](crate::Error::Vulkan) from
    ///   the device.
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        capacity: &Capacity,
        work: WorkCapacity,
        (head, animates): (u64, bool),
    ) -> Result<Guard<'g, Self>> {
        let device = gpu.device;
        let head = head.div_ceil(16) * 4;
        let (layout, bytes) = WorkLayout::new(capacity, work, head, animates);
        let bytes = limit(
            "bytes of the work buffer (maxStorageBufferRange)",
            bytes,
            device.limits.max_storage_range,
        )?;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let buffer = Buffer::device_local(gpu, "throng work", bytes, usage)?;
        Ok(buffer.map(|buffer| Self {
            buffer,
            layout,
            is_new: true,
        }))
    }

    /// Copies for growth: what this buffer has that a new one must have, too, with regions from
    /// here to there. `used` chunks have members.
    pub(crate) fn kept(&self, new: &Self, used: u32) -> [vk::BufferCopy; 5] {
        let (from, to) = (&self.layout, &new.layout);
        let region = |from: u32, to: u32, words: u32| vk::BufferCopy {
            src_offset: u64::from(from) * 4,
            dst_offset: u64::from(to) * 4,
            size: u64::from(words) * 4,
        };
        let (old, new) = (&from.push, &to.push);
        let (characters, draws) = (old.character_count, old.draw_count);
        let attachments = from.attachment_count * ATTACHMENT_WORDS;
        [
            region(old.chunks_at, new.chunks_at, used * CHUNK_WORDS),
            region(old.members_at, new.members_at, used * CHUNK as u32),
            region(
                old.characters_at,
                new.characters_at,
                characters * CHARACTER_WORDS,
            ),
            region(old.draws_at, new.draws_at, draws * DRAW_WORDS),
            region(from.attachments, to.attachments, attachments),
        ]
    }
}

/// The sections of the instance table: instances, and if the GPU culls, their actors, bounding
/// spheres in character space, levels of detail that views had of them, and when views showed them
/// last.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TableLayout {
    pub(crate) actors: u64,
    pub(crate) spheres: u64,
    pub(crate) levels: u64,
    pub(crate) shown: u64,
    pub(crate) bytes: u64,
}

/// The numbers of things in the buffers before growth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GrownCounts {
    /// The records of the table.
    pub(crate) records: u32,
    /// The indices of the table that the GPU has counters of: see `shown.glsl`.
    pub(crate) counters: u32,
    pub(crate) chunks: u32,
}

impl TableLayout {
    pub(crate) fn new(instances: u32, culls: bool) -> Self {
        let instances = u64::from(instances.max(1));
        let actors = instances * size_of::<GpuInstance>() as u64;
        let spheres = actors + instances * size_of::<GpuActor>() as u64;
        let levels = spheres + instances * SPHERE_BYTES;
        let shown = levels + instances * 4;
        let all = shown + instances * u64::from(SHOWN_WORDS * 4);
        Self {
            actors,
            spheres,
            levels,
            shown,
            bytes: if culls { all } else { actors },
        }
    }

    /// Copies for growth: the records of the table, and all counters.
    ///
    /// A counter never starts again: otherwise the stamps of an index could repeat, and motion
    /// vectors would follow a history's record of an instance that is gone.
    pub(crate) fn kept(&self, new: &Self, counts: &GrownCounts) -> [vk::BufferCopy; 5] {
        let region = |from, to, bytes: u64| vk::BufferCopy {
            src_offset: from,
            dst_offset: to,
            size: bytes,
        };
        let (records, counters) = (u64::from(counts.records), u64::from(counts.counters));
        let culls = u64::from(self.bytes > self.actors);
        [
            region(0, 0, records * size_of::<GpuInstance>() as u64),
            region(
                self.actors,
                new.actors,
                culls * records * size_of::<GpuActor>() as u64,
            ),
            region(self.spheres, new.spheres, culls * records * SPHERE_BYTES),
            region(self.levels, new.levels, culls * records * 4),
            region(
                self.shown,
                new.shown,
                culls * counters * u64::from(SHOWN_WORDS * 4),
            ),
        ]
    }
}
