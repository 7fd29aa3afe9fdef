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
use crate::crowd::rays::work::{people_build, people_geometry};
use crate::error::{Error, Result, expect};
use crate::gpu::accel::Accel;
use crate::gpu::animation::words;
use crate::gpu::constants::{RAY_CHARACTER_WORDS, RAY_HEAD, RAY_JOB_WORDS, RAY_PEOPLE};
use crate::gpu::{Device, GpuInstance, SkinnedMesh};
use crate::pass::rays::RaySets;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

const BUILD: Stage = Stage::ACCELERATION_STRUCTURE_BUILD_KHR;
const BUILT: Access = Access::ACCELERATION_STRUCTURE_WRITE_KHR;
const USED: Access = Access::ACCELERATION_STRUCTURE_READ_KHR;
/// Slots that people may come to want within the frames in flight.
const MORE_SLOTS: u32 = 8;
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
        let ring = crowd.memory.buffers.palettes.address(frame_index);
        let [low, high] = words(ring);
        let places = rays.buffers.places() as u32;
        let head = [view.index, count, dispatch.characters, places, low, high];
        rays.plan(characters, &head, (frame, frame_index));
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
            let sets = RaySets {
                first: dispatch.set,
                offsets: &[dispatch.input],
                own: rays.buffers.sets.first(),
            };
            let slots = (
                dispatch.characters,
                rays.plan.slots.iter().any(|it| it.count > 0),
            );
            rays.pass
                .record_starts((device, cmd), &sets, &dispatch.push, slots);
            let written = (compute, read | write);
            device.barrier(cmd, (compute, write), written);
            if rays.plan.counts() != [0; 2] {
                rays.record_positions((device, cmd), characters, &offsets);
                // The next stage writes other words of the buffer with the jobs.
                device.barrier(cmd, (compute, read), written);
            }
            rays.pass
                .record_instances((device, cmd), &sets, &dispatch.push, dispatch.chunks);
            let then = (BUILD | transfer, read | USED | BUILT | from);
            device.barrier(cmd, (compute | BUILD, write | BUILT), then);
            let (buffer, copy) = rays.buffers.counters_copy(frame_index);
            let work = rays.buffers.work.handle;
            device.raw.cmd_copy_buffer(cmd, work, buffer, &[copy]);
            rays.counted[frame_index as usize] = true;
            rays.record_structures((device, accel), cmd, characters, frame_index);
            rays.record_tlas(accel, cmd, count);
            let host = (Stage::HOST, Access::HOST_READ);
            device.barrier(cmd, (transfer, to), host);
            let then = (traces | transfer, USED | read | from);
            device.barrier(cmd, (BUILD | compute | transfer, BUILT | write | to), then);
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
            set: rays.hit_set.first(),
            count,
        })
    }
}

/// A structure to build or to refit: of which character, its scratch memory, and its vertices.
#[derive(Debug, Clone, Copy)]
struct Job {
    character: u32,
    structure: vk::AccelerationStructureKHR,
    scratch: vk::DeviceAddress,
    vertices: vk::DeviceAddress,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A pose is built.
    Pose,
    /// A slot is built in the rest pose.
    Slot,
    /// A slot is refitted.
    Refit,
}

/// The slots of a character that have jobs.
#[derive(Debug, Clone, Copy)]
struct SlotJobs {
    character: u32,
    /// The first word.
    first: u32,
    count: u32,
}

/// The builds, refits and copies of a frame.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Poses first, and then slots.
    jobs: Vec<Job>,
    slots: Vec<SlotJobs>,
    /// Copies from where structures were built to where they take less memory.
    copies: Vec<[vk::AccelerationStructureKHR; 2]>,
    builds: Builds,
}

/// The structures of Vulkan for all jobs of a frame, kept so that frames allocate nothing.
#[derive(Debug, Default)]
struct Builds {
    geometries: Vec<vk::AccelerationStructureGeometryKHR<'static>>,
    ranges: Vec<vk::AccelerationStructureBuildRangeInfoKHR>,
    infos: Vec<vk::AccelerationStructureBuildGeometryInfoKHR<'static>>,
    ranges_of: Vec<*const vk::AccelerationStructureBuildRangeInfoKHR>,
}

// SAFETY: the addresses in it are only used by `Rays::record_structures`, which writes them before.
unsafe impl Send for Builds {}
// SAFETY: as above.
unsafe impl Sync for Builds {}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.jobs.clear();
        self.slots.clear();
        self.copies.clear();
    }

    /// Fills in the builds of all jobs.
    fn fill(&mut self, characters: &Characters) {
        let builds = &mut self.builds;
        builds.geometries.clear();
        builds.ranges.clear();
        builds.infos.clear();
        builds.ranges_of.clear();
        let mesh = |job: &Job| {
            let own = characters[job.character].rays.as_ref()?;
            match job.kind {
                Kind::Pose => Some(&own.mesh),
                Kind::Slot | Kind::Refit => own.slots.as_ref().map(|slots| &slots.mesh),
            }
        };
        for job in &self.jobs {
            let mesh = mesh(job);
            let geometries = mesh.into_iter().flat_map(|it| it.geometries(job.vertices));
            builds.geometries.extend(geometries);
            let ranges = mesh.into_iter().flat_map(|it| it.ranges());
            builds.ranges.extend(ranges);
        }
        // From here on, the lists do not move.
        let mut first = 0;
        for job in &self.jobs {
            let count = mesh(job).map_or(0, |mesh| mesh.geometries(0).len());
            let refits = job.kind != Kind::Pose;
            let (mode, before) = match job.kind {
                Kind::Refit => (vk::BuildAccelerationStructureModeKHR::UPDATE, job.structure),
                _ => (
                    vk::BuildAccelerationStructureModeKHR::BUILD,
                    vk::AccelerationStructureKHR::null(),
                ),
            };
            let mut info = build(&[], refits)
                .mode(mode)
                .src_acceleration_structure(before)
                .dst_acceleration_structure(job.structure)
                .scratch_data(vk::DeviceOrHostAddressKHR {
                    device_address: job.scratch,
                });
            info.geometry_count = count as u32;
            info.p_geometries = builds.geometries[first..].as_ptr();
            builds.infos.push(info);
            builds.ranges_of.push(builds.ranges[first..].as_ptr());
            first += count;
        }
    }

    /// The structures that are built, and the slots that are refitted.
    pub(super) fn counts(&self) -> [u32; 2] {
        let refits = self.jobs.iter().filter(|job| job.kind == Kind::Refit);
        let refits = refits.count();
        [(self.jobs.len() - refits) as u32, refits as u32]
    }
}

impl Rays {
    /// Records that what follows waits for traces of earlier frames, which read instances and
    /// palettes.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass.
    pub(crate) unsafe fn record_wait(&self, device: &Device, cmd: vk::CommandBuffer) {
        let (traces, none) = (self.desc.readers, Access::empty());
        let then = Stage::COMPUTE_SHADER | Stage::TRANSFER;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract.
        unsafe { device.barrier(cmd, (traces, none), (then, none)) };
    }

    /// The number of records: what the view showed some frames ago and a margin, if that is known.
    fn count(&self, members: u32) -> u32 {
        let most = self.desc.max_people.min(members);
        let late = self.counters.get(RAY_PEOPLE).map(|people| {
            let more = people / 4;
            people.saturating_add(more).saturating_add(MORE_PEOPLE)
        });
        most.min(late.unwrap_or(u32::MAX))
    }

    /// Decides what becomes of structures in this frame, and writes head, characters, and the jobs
    /// of poses that are built. Updates the tables of characters whose structures change.
    fn plan(
        &mut self,
        characters: &mut Characters,
        head: &[u32],
        (frame, frame_index): (u64, u32),
    ) {
        let buffers = &self.buffers;
        self.words.clear();
        self.words.resize(buffers.jobs(), 0);
        self.words[..head.len()].copy_from_slice(head);
        let positions = buffers.positions.address;
        let (mut vertex, mut scratch) = (0, buffers.scratch());
        let mut query = frame_index * self.desc.builds_per_frame;
        let plan = &mut self.plan;
        for (character, loaded) in characters.iter_mut() {
            let Some(own) = &mut loaded.rays else {
                continue;
            };
            let shared = loaded.shared_poses.as_ref();
            let mut changed = false;
            for batch in &mut own.batches {
                batch.step = match core::mem::replace(&mut batch.step, Step::Done) {
                    Step::Wanted => {
                        for (pose, (structure, _)) in batch.poses.iter().zip(batch.structures.all())
                        {
                            let [low, high] = words(palette(&loaded.mesh, shared, *pose));
                            self.words.extend([low, high, vertex, GpuInstance::NONE]);
                            plan.jobs.push(Job {
                                character,
                                structure: *structure,
                                scratch,
                                vertices: positions + u64::from(vertex) * 12,
                                kind: Kind::Pose,
                            });
                            vertex += own.mesh.vertices;
                            scratch += own.mesh.size.scratch;
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
        self.plan_slots(characters, frame);
    }

    /// As [`Self::plan`], for slots: they are built once, and then as many are refitted as people
    /// wanted some frames ago, and some more.
    fn plan_slots(&mut self, characters: &mut Characters, frame: u64) {
        let buffers = &self.buffers;
        let positions = buffers.positions.address;
        let mut scratch = buffers.scratch() + buffers.capacity.scratch;
        let mut vertex = buffers.capacity.vertices as u32;
        let mut first = buffers.slot_jobs() as u32;
        for (character, loaded) in characters.iter_mut() {
            let (Some(own), Some(place)) = (&mut loaded.rays, &loaded.slot) else {
                continue;
            };
            let at = RAY_HEAD + place.number as usize * RAY_CHARACTER_WORDS;
            let [low, high] = words(own.table.address);
            let mut record = [0, 0, low, high, first, vertex, 0, 0];
            if let Some(slots) = &mut own.slots {
                let all = slots.count();
                let late = self.wanting(place.number);
                let late = late.map_or(all, |wanting| wanting.saturating_add(MORE_SLOTS));
                let used = late.min(loaded.members.len() as u32).min(all);
                let (taken, count, kind) = match slots.built {
                    0 => (0, all, Kind::Slot),
                    _ => (used, used, Kind::Refit),
                };
                record[6] = taken | count << 16;
                let mesh = &slots.mesh;
                let each = mesh.size.scratch.max(mesh.size.update);
                for (structure, _) in &slots.structures.all()[..count as usize] {
                    self.plan.jobs.push(Job {
                        character,
                        structure: *structure,
                        scratch,
                        vertices: positions + u64::from(vertex) * 12,
                        kind,
                    });
                    vertex += mesh.vertices;
                    scratch += each;
                }
                let jobs = SlotJobs {
                    character,
                    first,
                    count,
                };
                self.plan.slots.push(jobs);
                first += count * RAY_JOB_WORDS as u32;
                if kind == Kind::Slot {
                    slots.built = frame;
                    own.update_table();
                }
            }
            self.words[at..at + RAY_CHARACTER_WORDS].copy_from_slice(&record);
        }
    }

    /// Records the positions of all jobs.
    ///
    /// # Safety
    /// As [`Frame::record_rays`].
    unsafe fn record_positions(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        characters: &Characters,
        offsets: &[u32],
    ) {
        let mut first = self.buffers.jobs() as u32;
        let record = |character: u32, slots: bool, jobs: (u32, u32)| {
            let loaded = &characters[character];
            let (Some(own), Some(set)) = (&loaded.rays, loaded.set(0)) else {
                return;
            };
            let chunks = match (&own.slots, slots) {
                (Some(slots), true) => &slots.mesh.chunks,
                _ => &own.mesh.chunks,
            };
            let sets = RaySets {
                first: set,
                offsets,
                own: self.buffers.sets.first(),
            };
            if jobs.1 > 0 {
                // SAFETY: `cmd` is recording outside a render pass, by the contract of
                // `record_positions`; the jobs' vertices lie in the buffer, because the budget of
                // the frame says so, and it has space for all slots.
                unsafe { self.pass.record_skin((device, cmd), &sets, chunks, jobs) };
            }
        };
        let poses = self.plan.jobs.partition_point(|job| job.kind == Kind::Pose);
        let poses = self.plan.jobs[..poses].chunk_by(|a, b| a.character == b.character);
        for jobs in poses {
            let count = jobs.len() as u32;
            record(jobs[0].character, false, (first, count));
            first += count * RAY_JOB_WORDS as u32;
        }
        for jobs in &self.plan.slots {
            record(jobs.character, true, (jobs.first, jobs.count));
        }
    }

    /// Records the builds and refits of all jobs, which may run at once, the copies, and the
    /// queries of the sizes of poses that were built, with barriers between them.
    ///
    /// # Safety
    /// As [`Frame::record_rays`], behind a barrier.
    unsafe fn record_structures(
        &mut self,
        (device, accel): (&Device, &Accel),
        cmd: vk::CommandBuffer,
        characters: &Characters,
        frame_index: u32,
    ) {
        self.plan.fill(characters);
        let Plan {
            jobs,
            copies,
            builds,
            ..
        } = &self.plan;
        let poses = jobs.partition_point(|job| job.kind == Kind::Pose);
        let record = accel.raw.fp().cmd_build_acceleration_structures_khr;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract.
        // Structures, scratch memory and vertices of the jobs do not overlap. An earlier frame
        // built what is copied, to structures of the compacted sizes, and what is refitted. The
        // pool has queries for all builds. The addresses of geometries and ranges are those of
        // lists that live on.
        unsafe {
            if !jobs.is_empty() {
                let (infos, ranges) = (builds.infos.as_ptr(), builds.ranges_of.as_ptr());
                record(cmd, jobs.len() as u32, infos, ranges);
            }
            for [from, to] in copies {
                let info = vk::CopyAccelerationStructureInfoKHR::default()
                    .src(*from)
                    .dst(*to)
                    .mode(vk::CopyAccelerationStructureModeKHR::COMPACT);
                accel.raw.cmd_copy_acceleration_structure(cmd, &info);
            }
            if !jobs.is_empty() || !copies.is_empty() {
                device.barrier(cmd, (BUILD, BUILT), (BUILD, USED | BUILT));
            }
            if poses > 0 {
                let built: Vec<_> = jobs[..poses].iter().map(|job| job.structure).collect();
                let pool = self.queries.handle;
                let first = frame_index * self.desc.builds_per_frame;
                let kind = vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR;
                device
                    .raw
                    .cmd_reset_query_pool(cmd, pool, first, poses as u32);
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
