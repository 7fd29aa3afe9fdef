//! Records the rays of a frame.

use crate::crowd::ViewId;
use crate::crowd::characters::list::Characters;
use crate::crowd::frame::Frame;
use crate::crowd::memory::buffers::DEFORMS;
use crate::crowd::memory::sections::Part;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::Rays;
use crate::crowd::rays::batch::Step;
use crate::crowd::rays::character::build;
use crate::crowd::rays::desc::RayCrowd;
use crate::crowd::rays::work::{CHARACTER_WORDS, HEAD, JOB_WORDS, people_build, people_geometry};
use crate::error::{Error, Result, expect};
use crate::gpu::accel::Accel;
use crate::gpu::animation::words;
use crate::gpu::{Device, SkinnedMesh};
use crate::pass::rays::RaySets;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

const BUILD: Stage = Stage::ACCELERATION_STRUCTURE_BUILD_KHR;
const BUILT: Access = Access::ACCELERATION_STRUCTURE_WRITE_KHR;
const USED: Access = Access::ACCELERATION_STRUCTURE_READ_KHR;
/// The most bytes of `vkCmdUpdateBuffer`.
const UPDATE_BYTES: usize = 65_536;
/// People that may come into view within the frames in flight, besides a quarter of the others.
const MORE_PEOPLE: u32 = 1024;

impl Frame<'_> {
    /// Builds what rays meet in a view: a record for each person that it shows, and a top-level
    /// acceleration structure of them.
    ///
    /// The view has [`Culling::Rays`](crate::Culling::Rays), so that people behind the camera cast
    /// shadows and are mirrored. A person is met in the shared pose that the GPU draws, or else in
    /// the nearest one. A pose that is new to the crowd has no structure for some frames, and the
    /// nearest one of its clip takes its place. [`Crowd::ray_stats`](crate::Crowd::ray_stats) counts
    /// both.
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
    /// | offset of the shader binding table | [`CharacterDesc::sbt_offset`](crate::CharacterDesc::sbt_offset) |
    /// | geometry | the primitive of the character |
    ///
    /// Geometries of masked materials, and of parts that can be hidden, are not opaque. Others are,
    /// and so is an instance as a whole that hides nothing if its character has no masked material.
    /// Characters with blended materials are not met.
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
        self.prepared_view(view)?;
        let crowd = &mut *self.crowd;
        let what = "CrowdDesc::rays";
        let device = &crowd.device;
        let accel = device.accel(what)?;
        let Some(rays) = &mut crowd.rays else {
            return Err(Error::invalid(what, "is not set"));
        };
        let of_rays = rays.views >> view.index & 1 != 0;
        expect("view", of_rays, "must have Culling::Rays")?;
        expect("frame", !rays.recorded, "has recorded rays already")?;
        let Some(dispatch) = rays.dispatch else {
            return Err(Error::invalid("frame", "was not prepared"));
        };
        rays.recorded = true;
        let (frame, frame_index) = (crowd.memory.retire_queue.frame(), self.frame_index);
        let characters = &mut crowd.scene.characters;
        let members = characters.iter().filter(|(_, it)| it.rays.is_some());
        let members = members.map(|(_, it)| it.members.len() as u32).sum();
        let count = rays.count(members);
        rays.write_head([view.index, count, dispatch.characters], characters);
        let plan = rays.plan(characters, (frame, frame_index));
        let (compute, transfer) = (Stage::COMPUTE_SHADER, Stage::TRANSFER);
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        let (from, to) = (Access::TRANSFER_READ, Access::TRANSFER_WRITE);
        let traces = rays.desc.readers;
        let buffers = &crowd.memory.buffers;
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
                    update(device, cmd, own.table.handle, own.words());
                    own.recorded = frame;
                }
            }
            device.barrier(cmd, (transfer, to), (compute, read | write));
            if !plan.jobs.is_empty() {
                let jobs = (&plan.jobs[..], &offsets[..]);
                rays.record_positions((device, cmd), characters, jobs);
                // The next stage writes other words of the buffer with the jobs.
                device.barrier(cmd, (compute, read), (compute, read | write));
            }
            let sets = RaySets {
                first: dispatch.set,
                offsets: &[dispatch.input],
                own: rays.buffers.sets.first(),
            };
            let people = (&dispatch.push, dispatch.chunks);
            rays.pass.record_people((device, cmd), &sets, people);
            let then = (BUILD | transfer, read | USED | BUILT | from);
            device.barrier(cmd, (compute | BUILD, write | BUILT), then);
            let (buffer, copy) = rays.buffers.counters_copy(frame_index);
            let work = rays.buffers.work.handle;
            device.raw.cmd_copy_buffer(cmd, work, buffer, &[copy]);
            rays.counted[frame_index as usize] = true;
            let structures = (&*characters, &plan);
            rays.record_structures((device, accel), cmd, structures, frame_index);
            rays.record_tlas(accel, cmd, count);
            let host = (Stage::HOST, Access::HOST_READ);
            device.barrier(cmd, (transfer, to), host);
            let then = (traces | transfer, USED | read | from);
            device.barrier(cmd, (BUILD | compute, BUILT | write), then);
            if let (Some(profiler), Some(scope)) = (profiler, scope) {
                profiler.end(device, cmd, scope);
            }
            device.end_label(cmd);
        }
        let buffers = &rays.buffers;
        let tlas = buffers.tlas.as_ref().and_then(|tlas| tlas.all().first());
        Ok(RayCrowd {
            tlas: tlas.map(|(tlas, _)| *tlas),
            records: buffers.records.handle,
            address: buffers.records.address,
            count,
        })
    }
}

/// A structure to build: of which character, its scratch memory, and its first vertex.
struct Job {
    character: u32,
    structure: vk::AccelerationStructureKHR,
    scratch: vk::DeviceAddress,
    vertices: vk::DeviceAddress,
}

/// What a frame does with bottom-level structures. It is empty in most frames.
#[derive(Default)]
struct Plan {
    jobs: Vec<Job>,
    /// Copies from where structures were built to where they take less memory.
    copies: Vec<[vk::AccelerationStructureKHR; 2]>,
}

impl Rays {
    /// The number of records: what the view showed some frames ago and a margin, if that is known.
    fn count(&self, members: u32) -> u32 {
        let most = self.desc.max_people.min(members);
        let late = self.counters.map(|[people, ..]| {
            let more = people / 4;
            people.saturating_add(more).saturating_add(MORE_PEOPLE)
        });
        most.min(late.unwrap_or(u32::MAX))
    }

    /// Writes the head and the characters.
    fn write_head(&mut self, head: [u32; 3], characters: &Characters) {
        self.words.clear();
        self.words.resize(self.buffers.jobs(), 0);
        self.words[..3].copy_from_slice(&head);
        for (_, loaded) in characters.iter() {
            if let (Some(slot), Some(own)) = (&loaded.slot, &loaded.rays) {
                let at = HEAD + slot.number as usize * CHARACTER_WORDS;
                let address = own.table.address;
                self.words[at + 2] = address as u32;
                self.words[at + 3] = (address >> 32) as u32;
            }
        }
    }

    /// Decides what becomes of structures in this frame, writes the jobs of those that are built,
    /// and updates the tables of their characters.
    fn plan(&mut self, characters: &mut Characters, (frame, frame_index): (u64, u32)) -> Plan {
        let (mut vertex, mut scratch) = (0, self.buffers.scratch());
        let mut query = frame_index * self.desc.builds_per_frame;
        let mut plan = Plan::default();
        for (character, loaded) in characters.iter_mut() {
            let Some(own) = &mut loaded.rays else {
                continue;
            };
            let (shared, each) = (loaded.shared_poses.as_ref(), own.size.scratch);
            let mut changed = false;
            for batch in &mut own.batches {
                batch.step = match core::mem::replace(&mut batch.step, Step::Done) {
                    Step::Wanted => {
                        for (pose, (structure, _)) in batch.poses.iter().zip(batch.structures.all())
                        {
                            let palette = palette(&loaded.mesh, shared, *pose);
                            let [low, high] = words(palette);
                            self.words.extend([low, high, vertex, 0]);
                            plan.jobs.push(Job {
                                character,
                                structure: *structure,
                                scratch,
                                vertices: self.buffers.positions.address + u64::from(vertex) * 12,
                            });
                            vertex += own.vertices;
                            scratch += each;
                        }
                        let first = query;
                        query += batch.poses.len() as u32;
                        Step::Built {
                            frame,
                            frame_index,
                            query: first,
                        }
                    }
                    Step::Sized(compact) => {
                        let before = core::mem::replace(&mut batch.structures, compact);
                        let pairs = before.all().iter().zip(batch.structures.all());
                        plan.copies
                            .extend(pairs.map(|((from, _), (to, _))| [*from, *to]));
                        Step::Copied { frame, before }
                    }
                    step => {
                        batch.step = step;
                        continue;
                    }
                };
                changed = true;
            }
            if changed {
                own.update_table();
            }
        }
        self.built = plan.jobs.len() as u32;
        plan
    }

    /// Records the positions of all jobs.
    ///
    /// # Safety
    /// As [`Frame::record_rays`].
    unsafe fn record_positions(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        characters: &Characters,
        (jobs, offsets): (&[Job], &[u32]),
    ) {
        let mut first = self.buffers.jobs() as u32;
        for jobs in jobs.chunk_by(|a, b| a.character == b.character) {
            let count = jobs.len() as u32;
            let loaded = &characters[jobs[0].character];
            if let (Some(own), Some(set)) = (&loaded.rays, loaded.set(0)) {
                let sets = RaySets {
                    first: set,
                    offsets,
                    own: self.buffers.sets.first(),
                };
                let range = (first, count);
                // SAFETY: `cmd` is recording outside a render pass, by this function's contract;
                // the jobs' vertices lie in the buffer, because the frame's budget says so.
                unsafe {
                    self.pass
                        .record_skin((device, cmd), &sets, &own.chunks, range);
                }
            }
            first += count * JOB_WORDS as u32;
        }
    }

    /// Records the builds of all jobs, which may run at once, the copies, and the queries of the
    /// sizes of what was built, with barriers between them.
    ///
    /// # Safety
    /// As [`Frame::record_rays`], behind a barrier.
    unsafe fn record_structures(
        &self,
        (device, accel): (&Device, &Accel),
        cmd: vk::CommandBuffer,
        (characters, plan): (&Characters, &Plan),
        frame_index: u32,
    ) {
        let each = plan.jobs.iter().filter_map(|job| {
            let own = characters[job.character].rays.as_ref()?;
            let geometries: Vec<_> = own.geometries(job.vertices).collect();
            Some((job, geometries, own.ranges().collect::<Vec<_>>()))
        });
        let each: Vec<_> = each.collect();
        let infos = each.iter().map(|(job, geometries, _)| {
            build(geometries)
                .dst_acceleration_structure(job.structure)
                .scratch_data(vk::DeviceOrHostAddressKHR {
                    device_address: job.scratch,
                })
        });
        let infos: Vec<_> = infos.collect();
        let ranges: Vec<&[_]> = each.iter().map(|(.., ranges)| ranges.as_slice()).collect();
        let built: Vec<_> = plan.jobs.iter().map(|job| job.structure).collect();
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract. Structures,
        // scratch memory and vertices of the jobs do not overlap. An earlier frame built what is
        // copied, to structures of the compacted sizes. The pool has queries for all builds.
        unsafe {
            if !infos.is_empty() {
                accel
                    .raw
                    .cmd_build_acceleration_structures(cmd, &infos, &ranges);
            }
            for [from, to] in &plan.copies {
                let info = vk::CopyAccelerationStructureInfoKHR::default()
                    .src(*from)
                    .dst(*to)
                    .mode(vk::CopyAccelerationStructureModeKHR::COMPACT);
                accel.raw.cmd_copy_acceleration_structure(cmd, &info);
            }
            if !built.is_empty() || !plan.copies.is_empty() {
                device.barrier(cmd, (BUILD, BUILT), (BUILD, USED | BUILT));
            }
            if !built.is_empty() {
                let (pool, first) = (
                    self.queries.handle,
                    frame_index * self.desc.builds_per_frame,
                );
                let kind = vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR;
                device
                    .raw
                    .cmd_reset_query_pool(cmd, pool, first, built.len() as u32);
                accel
                    .raw
                    .cmd_write_acceleration_structures_properties(cmd, &built, kind, pool, first);
            }
        }
    }

    /// Records the build of the top-level structure, if there is one.
    ///
    /// # Safety
    /// As [`Frame::record_rays`], behind a barrier after everything else.
    unsafe fn record_tlas(&self, accel: &Accel, cmd: vk::CommandBuffer, count: u32) {
        let tlas = self.buffers.tlas.as_ref();
        let Some((structure, _)) = tlas.and_then(|tlas| tlas.all().first()) else {
            return;
        };
        let geometry = people_geometry(self.buffers.records.address);
        let info = people_build(&geometry)
            .dst_acceleration_structure(*structure)
            .scratch_data(vk::DeviceOrHostAddressKHR {
                device_address: self.buffers.scratch(),
            });
        let range = vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(count);
        let ranges = [&raw const range];
        let record = accel.raw.fp().cmd_build_acceleration_structures_khr;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract. The
        // structure has space for that many records, and the scratch memory is free.
        unsafe { record(cmd, 1, &raw const info, ranges.as_ptr()) };
    }
}

/// The address of a pose's palette.
fn palette(mesh: &SkinnedMesh, shared: Option<&SharedPoses>, pose: u32) -> vk::DeviceAddress {
    let shared = pose.checked_sub(1).zip(shared);
    shared.map_or(mesh.rest_palette(), |(pose, shared)| shared.palette(pose))
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
