//! Shared poses of a character: palettes of its clips at evenly spaced positions, for instances
//! that are far away.
//!
//! A clip gets its palettes when the first instance could use them, in a buffer of the character.
//! They follow a directory for the stage compact, with a row for each clip. Before the directory
//! are boxes that contain all vertices, if occlusion is tested: box `n` ends `n - 1` boxes before
//! it, so that no shader needs to know their number.

use crate::character::Character;
use crate::crowd::pending::Pending;
use crate::error::Result;
use crate::gpu::animation::span;
use crate::gpu::layout::GpuActor;
use crate::gpu::palettes::ROW_BYTES;
use crate::gpu::{
    AnimationTables, Buffer, Device, Gpu, GpuPlay, GpuTime, Guard, Upload, destroy_fields,
};
use crate::id::Id;
use crate::mesh::Aabb;
use crate::palette::SkinningMethod;
use crate::pass::animate::{AnimateDispatch, AnimateJobs, AnimatePipeline};
use crate::skin::PoseSteps;
use crate::threads::Threads;
use ash::vk;

/// A clip of the character.
#[derive(Debug, Clone, Copy)]
struct SharedClip {
    /// `None` if no poses stand in for it.
    steps: Option<PoseSteps>,
    /// Its length, as the tables of the animate stage have it.
    span: [u32; 2],
    /// The row of its first palette, or 0.
    first_row: u32,
}

/// The shared poses of a character.
#[derive(Debug)]
pub(crate) struct SharedPoses {
    buffer: Buffer,
    clips: Vec<SharedClip>,
    palette_rows: u32,
    /// The number of boxes, and the first of them.
    boxes: u32,
    rest: Aabb,
    /// The first row that no clip has, and the end of all rows, from the directory on.
    next_row: u32,
    end_row: u32,
    /// Clips whose palettes the next frame computes.
    pub(crate) wanted: Pending,
}

destroy_fields!(SharedPoses, Gpu<'a>: buffer);

impl SharedPoses {
    /// Creates the buffer for a character's clips, of at most `most_bytes`, and stages its upload.
    /// Returns `None` if nothing fits. There are boxes if `boxed` is true.
    ///
    /// # Errors
    /// [`Error::Memory`](crate::Error::Memory) and [`Error::Vulkan`](crate::Error::Vulkan) from the
    /// device.
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        upload: &mut Upload,
        (character, tables): (&Character, &AnimationTables),
        (most_bytes, boxed, threads): (u32, bool, &Threads),
    ) -> Result<Option<Guard<'g, Self>>> {
        let most_rows = u64::from(most_bytes) / ROW_BYTES;
        let count = character.clips().len();
        // Dual quaternions may move vertices out of every box.
        let boxed = boxed && tables.variant().format.method() != SkinningMethod::DualQuat;
        let boxes = match boxed {
            true => (GpuActor::REST_BOX as usize + count).min(GpuActor::LAST_BOX as usize),
            false => 0,
        };
        let first_rows = (count + boxes * BOX_ROWS) as u64;
        if most_rows < first_rows {
            return Ok(None);
        }
        let mut clips = vec![SharedClip::NONE; count];
        threads.install(|| measure(threads, character, 0, &mut clips))?;
        let palette_rows = (tables.palette_bytes() / ROW_BYTES) as u32;
        let rows = |clip: &SharedClip| clip.rows(palette_rows);
        let all = clips.iter().map(rows).sum::<u64>() + first_rows;
        let end_row = all.min(most_rows);
        if boxes == 0 && end_row == first_rows {
            return Ok(None);
        }
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_DST;
        let (name, bytes) = ("throng shared poses", end_row * ROW_BYTES);
        let buffer = Buffer::device_local(gpu, name, bytes, usage)?;
        let rest = character.rest_box();
        let volumes = core::iter::once(rest);
        let volumes = volumes.chain(clips.iter().map(SharedClip::bounds));
        let mut first: Vec<_> = volumes.take(boxes).map(box_rows).collect();
        first.reverse();
        let mut first: Vec<_> = first.into_flattened();
        first.resize(first_rows as usize, [0.0; 4]);
        upload.buffer(gpu, &buffer, bytemuck::cast_slice(&first))?;
        let mut wanted = Pending::default();
        wanted.grow(count);
        let boxes = boxes as u32;
        Ok(Some(buffer.map(|buffer| Self {
            buffer,
            next_row: count as u32,
            end_row: end_row as u32 - boxes * BOX_ROWS as u32,
            palette_rows,
            boxes,
            rest,
            wanted,
            clips,
        })))
    }

    /// The address of the directory.
    pub(crate) fn address(&self) -> vk::DeviceAddress {
        self.buffer.address + self.directory()
    }

    /// Bytes before the directory.
    fn directory(&self) -> u64 {
        u64::from(self.boxes) * BOX_ROWS as u64 * ROW_BYTES
    }

    /// The error in metres with which shared poses of a clip stand in.
    pub(crate) fn error_m(&self, clip: u16) -> Option<f32> {
        let steps = self.clips.get(usize::from(clip))?.steps?;
        Some(steps.error_m)
    }

    /// The box that contains all vertices in the shared poses of a clip, or in the rest pose. 0 if
    /// there is none.
    pub(crate) fn volume(&self, clip: Option<u16>) -> u32 {
        let of_clip = |clip| self.clips.get(usize::from(clip)).map(SharedClip::bounds);
        let (number, bounds) = match clip {
            Some(clip) => (GpuActor::FIRST_CLIP_BOX + u32::from(clip), of_clip(clip)),
            None => (GpuActor::REST_BOX, Some(self.rest)),
        };
        let exists = number <= self.boxes
            && bounds.is_some_and(|own| !own.is_empty() && own.size().is_finite());
        if exists { number } else { 0 }
    }

    /// The clip whose shared poses stand in for what an instance plays, if they do from now on.
    pub(crate) fn clip_of(&mut self, plays: &[GpuPlay], now: GpuTime) -> Option<u16> {
        let [play] = plays else { return None };
        if !play.is_alone(now) {
            return None;
        }
        let rows = self.palette_rows;
        let clip = self.clips.get_mut(usize::from(play.clip))?;
        clip.steps?;
        if clip.first_row == 0 {
            let (start, rows) = (self.next_row, clip.rows(rows));
            if u64::from(start) + rows > u64::from(self.end_row) {
                return None;
            }
            clip.first_row = start;
            self.next_row += rows as u32;
            self.wanted.add(play.clip.into());
        }
        Some(play.clip)
    }

    /// True if [`Self::clip_of`] will have a clip when a fade has ended, which changes nothing
    /// else.
    pub(crate) fn waits(&self, plays: &[GpuPlay], now: GpuTime) -> bool {
        let [play] = plays else { return false };
        let clip = self.clips.get(usize::from(play.clip));
        let shares = clip.is_some_and(|clip| clip.steps.is_some());
        shares && play.will_be_alone() && !play.is_alone(now)
    }

    /// The most palettes that it can have.
    pub(crate) fn most(&self) -> u32 {
        (self.end_row - self.clips.len() as u32) / self.palette_rows.max(1)
    }

    /// The number of the first palette of each clip that has some, and how many these are.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let clips = self.clips.len() as u32;
        let rows = self.palette_rows.max(1);
        let used = self.clips.iter().filter(|clip| clip.first_row > 0);
        used.map(move |clip| {
            let count = clip.steps.map_or(0, |steps| steps.count + 1);
            [(clip.first_row - clips) / rows, count]
        })
    }

    /// The address of a palette.
    pub(crate) fn palette(&self, number: u32) -> vk::DeviceAddress {
        let row = self.clips.len() as u64 + u64::from(number) * u64::from(self.palette_rows);
        self.address() + row * ROW_BYTES
    }

    /// Records the entries of wanted clips in the directory.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass, between barriers; the upload was recorded.
    pub(crate) unsafe fn record_directory(&self, device: &Device, cmd: vk::CommandBuffer) {
        for (number, clip) in self.wanted_clips() {
            let count = clip.steps.map_or(0, |steps| steps.count);
            let row = [clip.first_row, count, clip.span[0], clip.span[1]];
            let at = self.directory() + u64::from(number) * ROW_BYTES;
            let to = self.buffer.handle;
            let bytes = bytemuck::bytes_of(&row);
            // SAFETY: `cmd` is recording outside a render pass, by this function's contract. The
            // directory has a row for each clip.
            unsafe { device.raw.cmd_update_buffer(cmd, to, at, bytes) };
        }
    }

    /// Records the palettes of wanted clips.
    ///
    /// # Safety
    /// As [`Self::record_directory`]; `tables` are the character's, and `pipeline` was prepared for
    /// them.
    pub(crate) unsafe fn record(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        pipeline: &AnimatePipeline,
        tables: &AnimationTables,
    ) {
        for (number, clip) in self.wanted_clips() {
            let dispatch = AnimateDispatch {
                tables,
                plays: 0,
                jobs: 0,
                palettes: self.address() + u64::from(clip.first_row) * ROW_BYTES,
                morphs: 0,
                own_weights: 0,
                count: AnimateJobs::Steps {
                    clip: number,
                    steps: clip.steps.map_or(0, |steps| steps.count),
                },
                now_s: 0.0,
                epoch_s: 0.0,
            };
            // SAFETY: `cmd` is recording outside a render pass, by this function's contract. The
            // rows of the clip hold a palette for each step and one more.
            unsafe { pipeline.record(device, cmd, &dispatch) };
        }
    }

    fn wanted_clips(&self) -> impl Iterator<Item = (u32, &SharedClip)> {
        let wanted = self.wanted.list().iter();
        wanted.map(|number| (*number, &self.clips[*number as usize]))
    }
}

impl SharedClip {
    const NONE: Self = Self {
        steps: None,
        span: [0; 2],
        first_row: 0,
    };

    /// The box around all vertices in its palettes.
    fn bounds(&self) -> Aabb {
        self.steps.map_or(Aabb::EMPTY, |steps| steps.bounds)
    }

    /// Rows of its palettes.
    fn rows(&self, palette_rows: u32) -> u64 {
        let steps = self.steps.map(|steps| u64::from(steps.count) + 1);
        steps.unwrap_or(0) * u64::from(palette_rows)
    }
}

/// Rows of a box: its centre, and half of its edges.
const BOX_ROWS: usize = 2;

fn box_rows(bounds: Aabb) -> [[f32; 4]; BOX_ROWS] {
    let (center, half) = (bounds.center(), bounds.size() * 0.5);
    // A corner may lie outside of the rounded box by a rounding of each.
    let half = half + (center.abs() + half) * f32::EPSILON;
    [center, half].map(|it| it.extend(0.0).to_array())
}

/// Measures the clips of a character from number `first` on.
fn measure(
    threads: &Threads,
    character: &Character,
    first: usize,
    clips: &mut [SharedClip],
) -> Result<()> {
    if let [clip] = clips {
        clip.steps = character.pose_steps(Id::new(first as u16))?;
        let of_clip = character.clips().get(first);
        clip.span = of_clip.map_or([0; 2], |clip| span(&clip.timing));
        return Ok(());
    }
    let half = clips.len() / 2;
    let (one, other) = clips.split_at_mut(half);
    if one.is_empty() {
        return Ok(());
    }
    let (one, other) = threads.join(
        || measure(threads, character, first, one),
        || measure(threads, character, first + half, other),
    );
    one.and(other)
}
