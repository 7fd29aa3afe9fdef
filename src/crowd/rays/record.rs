//! Records the rays of a frame.

use crate::crowd::ViewId;
use crate::crowd::frame::Frame;
use crate::crowd::memory::buffers::DEFORMS;
use crate::crowd::memory::sections::Part;
use crate::crowd::rays::commands::{BUILD, BUILT, USED};
use crate::crowd::rays::desc::RayCrowd;
use crate::error::{Error, Result, expect};
use crate::gpu::Device;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// The most bytes of `vkCmdUpdateBuffer`.
const UPDATE_BYTES: usize = 65_536;

impl Frame<'_> {
    /// Builds what rays meet in a view: a record for each person that it shows, and a top-level
    /// acceleration structure of them.
    ///
    /// The view has [`Culling::Rays`](crate::Culling::Rays), so that people behind the camera cast
    /// shadows and are mirrored. A person is met in the shared pose that the GPU draws, or else in
    /// the nearest one. A pose that is new to the crowd has no structure for some frames, and the
    /// nearest one of its clip takes its place. [`Crowd::ray_stats`](crate::Crowd::ray_stats)
    /// counts both.
    ///
    /// Call it in each frame that traces, after [`Self::record_prepare`]. Nothing waits, and
    /// nothing is allocated per person. What it records is visible to
    /// [`RayDesc::readers`](crate::RayDesc::readers), and the records to `TRANSFER` as well.
    ///
    /// | in a record | is |
    /// |---|---|
    /// | transform | that of the instance, from character space to world space |
    /// | custom index | the instance's index in the table, at most 20 bits |
    /// | mask | the upper 8 bits of its [view mask](crate::Instance::set_view_mask) |
    /// | offset of the shader binding table | [`sbt_offset`] of the character |
    /// | geometry | the primitive of the character |
    ///
    /// Geometries of masked materials, and of parts that can be hidden, are not opaque. Others are,
    /// and so is an instance as a whole that hides nothing if its character has no masked material.
    /// Characters with blended materials are not met.
    ///
    /// [`sbt_offset`]: crate::CharacterDesc::sbt_offset
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if the crowd has no
    /// [`CrowdDesc::rays`](crate::CrowdDesc::rays), the view is not of this frame or not one of
    /// rays, or the frame has recorded rays already.
    ///
    /// Nothing is recorded then.
    ///
    /// # Safety
    /// - `cmd` is recording, outside a render pass, for the queue of all frames.
    /// - It is submitted after the commands of [`Self::record_prepare`] of this frame, and before
    ///   those of later frames.
    /// - Traces of earlier frames are in the stages of `readers`, on the same queue, or have ended.
    #[doc(alias = "raytracing")]
    #[doc(alias = "TLAS")]
    pub unsafe fn record_rays(&mut self, cmd: vk::CommandBuffer, view: ViewId) -> Result<RayCrowd> {
        span!("record_rays");
        let of_rays = self.prepared_view(view)?.of_rays;
        let crowd = &mut *self.crowd;
        let what = "CrowdDesc::rays";
        let device = &crowd.device;
        let accel = device.accel(what)?;
        let Some(rays) = &mut crowd.rays else {
            return Err(Error::invalid(what, "is not set"));
        };
        expect("view", of_rays, "must have Culling::Rays")?;
        let Some(dispatch) = rays.dispatch.take() else {
            return Err(Error::invalid("frame", "has recorded rays already"));
        };
        let (frame, frame_index) = (crowd.memory.retire_queue.frame(), self.frame_index);
        let characters = &mut crowd.scene.characters;
        let members = characters.iter().filter(|(_, it)| it.rays.is_some());
        let members = members.map(|(_, it)| it.members.len() as u32).sum();
        let count = rays.count(members);
        let ring = crowd.memory.buffers.palettes.address(frame_index);
        let buffers = &crowd.memory.buffers;
        let seen = buffers.view_address(frame_index, view.index);
        rays.head([view.index, count, dispatch.characters], [ring, seen]);
        rays.plan(characters, (frame, frame_index));
        let (compute, transfer) = (Stage::COMPUTE_SHADER, Stage::TRANSFER);
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        let (from, to) = (Access::TRANSFER_READ, Access::TRANSFER_WRITE);
        let traces = rays.desc.readers;
        let offsets = [
            buffers.offset(frame_index, buffers.sections[Part::Views]),
            buffers.lists_offset(frame_index),
        ];
        let profiler = crowd.frame.profiler.as_ref();
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract; buffers,
        // structures and sets are this crowd's and alive.
        unsafe {
            device.begin_label(cmd, c"throng rays");
            let scope = profiler.and_then(|it| it.begin(device, cmd, "rays"));
            // Earlier frames have read what this one writes, and written what it reads.
            let before = traces | BUILD | transfer | DEFORMS;
            let now = (transfer | compute, to | read | write);
            device.barrier(cmd, (before, write | to | BUILT), now);
            update(device, cmd, rays.buffers.work.handle, &rays.words);
            for (_, loaded) in characters.iter_mut() {
                if let Some(own) = loaded.rays.as_mut().filter(|own| own.recorded == 0) {
                    update(device, cmd, own.table.handle, &own.words);
                    own.recorded = frame;
                }
            }
            device.barrier(cmd, (transfer, to), (compute, read | write));
            let stages = (&dispatch, rays.buffers.set.first());
            let slots = rays.plan.jobs.len() > rays.plan.poses().len();
            rays.pass.record_starts((device, cmd), stages, slots);
            let written = (compute, read | write);
            device.barrier(cmd, (compute, write), written);
            if !rays.plan.jobs.is_empty() {
                rays.record_positions((device, cmd), characters, &offsets);
                // The next stage writes other words of the buffer with the jobs.
                device.barrier(cmd, (compute, read), written);
            }
            rays.pass.record_instances((device, cmd), stages);
            let then = (BUILD | transfer, read | USED | BUILT | from);
            device.barrier(cmd, (compute | BUILD, write | BUILT), then);
            let (work, words) = (rays.buffers.work.handle, rays.buffers.capacity.counted());
            let read_back = &rays.buffers.read_back;
            read_back.record((device, cmd), frame_index, (work, 0), words);
            rays.counted[frame_index as usize] = true;
            rays.record_structures((device, accel), cmd, characters, frame_index);
            rays.record_tlas(accel, cmd, count);
            let then = (traces | transfer, USED | read | from);
            device.barrier(cmd, (BUILD | compute | transfer, BUILT | write | to), then);
            if let (Some(profiler), Some(scope)) = (profiler, scope) {
                profiler.end(device, cmd, scope);
            }
            device.end_label(cmd);
        }
        let buffers = &rays.buffers;
        Ok(RayCrowd {
            tlas: buffers.tlas.all().first().map(|(tlas, _)| *tlas),
            records: buffers.records.handle,
            address: buffers.records.address,
            set: buffers.hit_set.first(),
            count,
        })
    }
}

/// Records the update of the start of a buffer.
///
/// # Safety
/// `cmd` is recording, outside a render pass. The buffer has as many bytes.
unsafe fn update(device: &Device, cmd: vk::CommandBuffer, buffer: vk::Buffer, words: &[u32]) {
    let bytes: &[u8] = bytemuck::cast_slice(words);
    for (number, part) in (0..).zip(bytes.chunks(UPDATE_BYTES)) {
        let at = number * UPDATE_BYTES as u64;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract.
        unsafe { device.raw.cmd_update_buffer(cmd, buffer, at, part) };
    }
}
