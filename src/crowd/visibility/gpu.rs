//! The stages cull, scan, compact and args of a frame, if they run on the GPU.

use crate::crowd::frame::Frame;
use crate::crowd::instances::table::Instances;
use crate::crowd::memory::buffers::{DEFORMS, FrameBuffers, SectionBytes};
use crate::crowd::poses::gpu_poses::GpuPoses;
use crate::crowd::view::View;
use crate::crowd::visibility::Visibility;
use crate::crowd::visibility::chunks::Patch;
use crate::crowd::visibility::cull::ViewTest;
use crate::error::Result;
use crate::gpu::GpuTime;
use crate::gpu::animation::words;
use crate::gpu::layout::{GpuActor, GpuAttachment, GpuCullView};
use crate::pass::attach::AttachDispatch;
use crate::pass::cull::CullDispatch;
use crate::pass::push::{AttachPush, CullPush};
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// The record of an instance for the GPU's stages.
pub(crate) fn actor(
    (instances, visibility): (&Instances, &Visibility),
    poses: Option<&GpuPoses>,
    index: u32,
) -> GpuActor {
    let (placed, marks) = (visibility.sphere(index), visibility.marks(index));
    let hidden = visibility.hidden(index);
    let plays = poses.and_then(|poses| poses.plays(index, GpuActor::PLAY_COUNT_BITS));
    let pose_error = poses.map(|poses| poses.pose_error(index));
    let skins = poses.is_some_and(|poses| poses.skins(index));
    let flags = [
        (instances[index].flipped, GpuActor::FLIPPED),
        (hidden != 0, GpuActor::HIDES),
        (instances[index].is_new, GpuActor::NEW),
        (plays.is_some(), GpuActor::POSED),
        (skins, GpuActor::SKINS),
    ];
    let flags = flags.into_iter().filter(|(is, _)| *is);
    GpuActor {
        center: placed.center.to_array(),
        radius: placed.radius,
        scale: placed.scale,
        mask: marks.views(),
        flags: flags.fold(pose_error.unwrap_or(0), |flags, (_, flag)| flags | flag),
        plays: plays.unwrap_or(0),
        hidden: [0, 32, 64, 96].map(|shift| (hidden >> shift) as u32),
    }
}

/// Patches the work buffer in one frame.
struct Patches<'a> {
    buffers: &'a mut FrameBuffers,
    frame_index: u32,
}

impl Patch for Patches<'_> {
    fn patch(&mut self, at: u32, count: usize, words: impl Iterator<Item = u32>) -> Result<()> {
        // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
        unsafe { self.buffers.patch(self.frame_index, at, count, words) }
    }
}

impl Frame<'_> {
    /// Writes what the GPU's cull stage reads: changed members, views and lists.
    pub(crate) fn write_cull(&mut self, views: &[View], written: &mut SectionBytes) -> Result<()> {
        let (crowd, frame_index) = (&mut *self.crowd, self.frame_index);
        let buffers = &mut crowd.memory.buffers;
        let Some(layout) = buffers.work.as_ref().map(|work| work.layout) else {
            return Ok(());
        };
        let scene = &mut crowd.scene;
        let mut patches = Patches {
            buffers,
            frame_index,
        };
        scene
            .chunks
            .upload(&scene.characters, &layout, &mut patches)?;
        let places = &scene.attachments.gpu;
        places.upload(&layout, &mut patches)?;
        let sections = buffers.sections;
        // The records of further eyes follow those of all views.
        let more = |views: &[View]| -> usize {
            let eyes = views.iter().map(View::eye_count);
            eyes.sum::<usize>() - views.len()
        };
        let records = views.iter().enumerate().map(|(number, view)| {
            let before = views.get(..number).unwrap_or_default();
            let more_at = views.len() + more(before);
            ViewTest::new(view).record(view, more_at as u32)
        });
        let eyes = views.iter();
        let eyes = eyes.flat_map(|view| ViewTest::new(view).more_records(view));
        let count = views.len() + more(views);
        // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
        unsafe {
            let mut out = buffers.write(frame_index, sections.cull_views, 0, count)?;
            out.fill_from(records.chain(eyes))?;
        }
        // Instances that came after a list was made are not in it.
        let words = scene.visibility.blocks();
        let each = buffers.listed_words() * 4;
        for list in 0..scene.visibility.lists {
            let bits = scene.visibility.listed(list).iter().copied();
            let bits = bits.chain(core::iter::repeat(0)).take(words);
            let at = u64::from(list) * u64::from(each);
            // SAFETY: the work of this frame index has ended, by the contract of `begin_frame`.
            let mut out = unsafe { buffers.write(frame_index, sections.listed_bits, at, words)? };
            out.fill_from(bits)?;
        }
        *written = SectionBytes {
            cull_views: count as u64 * size_of::<GpuCullView>() as u64,
            listed_bits: u64::from(scene.visibility.lists) * u64::from(each),
            patches: buffers.patched,
            ..*written
        };
        Ok(())
    }

    /// Records the copies to the work buffer, and the stages, between barriers.
    ///
    /// Earlier frames read what is overwritten, and have written it.
    ///
    /// # Safety
    /// As [`Self::record_prepare`].
    pub(crate) unsafe fn record_cull(&mut self, cmd: vk::CommandBuffer, views: &[View]) {
        let (crowd, frame_index) = (&*self.crowd, self.frame_index);
        let (device, buffers) = (&crowd.device, &crowd.memory.buffers);
        let (Some(work), Some(pass)) = (&buffers.work, &crowd.pipelines.cull) else {
            return;
        };
        let (compute, transfer) = (Stage::COMPUTE_SHADER, Stage::TRANSFER);
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        let (from, to) = (Access::TRANSFER_READ, Access::TRANSFER_WRITE);
        let layout = &work.layout;
        let (counters, bytes) = layout.cleared();
        let (host, _) = buffers.host_source(frame_index, buffers.sections.patches);
        let dispatch = self.cull_dispatch(views);
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
        // buffers and sets are this crowd's and alive, and the ranges lie in the buffers.
        unsafe {
            device.begin_label(cmd, c"throng cull");
            let scope = self.begin_scope(cmd, "cull");
            let before = DEFORMS | Stage::DRAW_INDIRECT | transfer;
            let now = transfer | compute;
            device.barrier(cmd, (before, write | to), (now, to | read | write));
            for regions in buffers.copies.chunks(MAX_REGIONS) {
                let to = work.buffer.handle;
                device.raw.cmd_copy_buffer(cmd, host, to, regions);
            }
            if let Some(poses) = &crowd.scene.gpu_poses {
                buffers.record_plays((device, cmd), frame_index, &poses.copies);
                crowd.record_directories(cmd);
            }
            device
                .raw
                .cmd_fill_buffer(cmd, work.buffer.handle, counters, bytes, 0);
            let then = (DEFORMS, read | write);
            device.barrier(cmd, (transfer, to), then);
            crowd.record_shared_poses(cmd);
            self.record_attach(cmd);
            pass.record(device, cmd, &dispatch);
            let readers = DEFORMS | Stage::DRAW_INDIRECT | transfer;
            let reads = read | Access::INDIRECT_COMMAND_READ | from;
            device.barrier(cmd, (compute, write), (readers, reads));
            if let Some(read_back) = buffers.read_back.as_ref().filter(|_| !views.is_empty()) {
                let region = vk::BufferCopy {
                    src_offset: counters,
                    dst_offset: read_back.start(frame_index),
                    size: read_back.bytes(views.len() as u32),
                };
                let to_host = read_back.buffer.handle;
                device
                    .raw
                    .cmd_copy_buffer(cmd, work.buffer.handle, to_host, &[region]);
                device.barrier(cmd, (transfer, to), (Stage::HOST, Access::HOST_READ));
            }
            self.end_scope(cmd, scope);
            device.end_label(cmd);
        }
        let views = views.len() as u32;
        if let Some(written) = self
            .crowd
            .frame
            .read_back_views
            .get_mut(frame_index as usize)
        {
            *written = views;
        }
    }

    /// Records the attach stage. Readers need a barrier after it.
    ///
    /// # Safety
    /// As [`Self::record_prepare`], and play records were copied.
    unsafe fn record_attach(&self, cmd: vk::CommandBuffer) {
        let crowd = &*self.crowd;
        let (device, buffers) = (&crowd.device, &crowd.memory.buffers);
        let (count, levels) = crowd.scene.attachments.gpu.in_use();
        let (Some(pass), Some(work), Some(plays), Some(poses)) = (
            &crowd.pipelines.attach,
            &buffers.work,
            &buffers.plays,
            &crowd.scene.gpu_poses,
        ) else {
            return;
        };
        if levels == [0; GpuAttachment::LEVELS as usize] {
            return;
        }
        let dispatch = AttachDispatch {
            set: buffers.cull_set,
            input: buffers.offset(self.frame_index, buffers.sections.cull_views),
            push: AttachPush {
                plays: plays.address,
                now: GpuTime::new(crowd.time_s, poses.epoch_s(crowd.time_s)).words(),
                actors_at: (buffers.table_layout.actors / 16) as u32,
                attachments_at: work.layout.attachments / 4,
                count,
                level: 0,
            },
            levels,
        };
        let (stage, write) = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; set and
        // buffers are this crowd's and alive. `GpuAttachments` has records of living instances and
        // characters alone, and the uploads of their tables were recorded.
        unsafe {
            pass.record(device, cmd, &dispatch);
            device.barrier(cmd, (stage, write), (DEFORMS, Access::SHADER_READ | write));
        }
    }

    fn cull_dispatch(&self, views: &[View]) -> CullDispatch {
        let crowd = &*self.crowd;
        let buffers = &crowd.memory.buffers;
        let layout = buffers.work.as_ref().map(|work| work.layout);
        let layout = layout.unwrap_or_default();
        let table = &buffers.table_layout;
        let instances = &crowd.scene.instances;
        let poses = crowd.scene.gpu_poses.as_ref();
        let epoch_s = poses.map_or(crowd.time_s, |poses| poses.epoch_s(crowd.time_s));
        let plays = buffers.plays.as_ref().map_or(0, |plays| plays.address);
        let [plays_low, plays_high] = words(plays);
        let [now_low, now_high] = GpuTime::new(crowd.time_s, epoch_s).words();
        let [chunks, characters, draws] = crowd.scene.chunks.ends();
        CullDispatch {
            set: buffers.cull_set,
            input: buffers.offset(self.frame_index, buffers.sections.cull_views),
            push: CullPush {
                view_count: views.len() as u32,
                character_count: layout.character_count,
                chunk_count: layout.chunk_count,
                draw_count: layout.draw_count,
                actors_at: (table.actors / 16) as u32,
                levels_at: (table.levels / 4) as u32,
                listed_at: (buffers.sections.cull_views.bytes / 4) as u32,
                listed_words: buffers.listed_words(),
                chunks_at: layout.chunks,
                members_at: layout.members,
                characters_at: layout.characters,
                draws_at: layout.draws,
                counters_at: layout.counters,
                triangles_at: layout.triangles,
                choices_at: layout.choices,
                counts_at: layout.counts,
                starts_at: layout.starts,
                visible_at: layout.visible,
                args_at: layout.args,
                first_instances: crowd.device.enabled.draw_indirect_first_instance.into(),
                shown_at: (table.shown / 4) as u32,
                frame: crowd.memory.retire_queue.frame() as u32,
                last_frame: crowd.scene.visibility.prepared_in() as u32,
                poses_at: layout.poses,
                jobs_at: layout.jobs,
                chunks_end: chunks,
                rows_first: instances.rows_end(),
                rows_end: instances.rows_capacity(),
                plays_low,
                plays_high,
                now_low,
                now_high,
            },
            chunks,
            characters,
            draws,
            animates: poses.is_some(),
            eyes: views.iter().any(|view| view.eye_count() > 1),
            limited: views
                .iter()
                .any(|view| view.max_triangles.is_some() && !ViewTest::new(view).is_fixed()),
        }
    }
}

/// Regions of one copy command.
const MAX_REGIONS: usize = 1024;
