//! Decides what a frame builds, and records it.

use crate::crowd::characters::list::Characters;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::batch::Step;
use crate::crowd::rays::plan::{Job, Kind, Plan, SlotJobs};
use crate::crowd::rays::state::Rays;
use crate::crowd::rays::work::{people_build, people_geometry};
use crate::gpu::accel::Accel;
use crate::gpu::animation::words;
use crate::gpu::constants::{
    RAY_CANDIDATES, RAY_CHARACTER_WORDS, RAY_HEAD, RAY_JOB_WORDS, RAY_PEOPLE,
};
use crate::gpu::{Device, GpuInstance, SkinnedMesh};
use crate::pass::rays::RaySets;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

pub(super) const BUILD: Stage = Stage::ACCELERATION_STRUCTURE_BUILD_KHR;
pub(super) const BUILT: Access = Access::ACCELERATION_STRUCTURE_WRITE_KHR;
pub(super) const USED: Access = Access::ACCELERATION_STRUCTURE_READ_KHR;
/// Slots that people may come to want within the frames in flight.
const MORE_SLOTS: u32 = 8;
/// People that may come into view within the frames in flight, besides a quarter of the others.
const MORE_PEOPLE: u32 = 1024;

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
    pub(super) fn count(&self, members: u32) -> u32 {
        let most = self.desc.max_people.min(members);
        let late = self.counters.get(RAY_PEOPLE).map(|people| {
            let more = people / 4;
            people.saturating_add(more).saturating_add(MORE_PEOPLE)
        });
        most.min(late.unwrap_or(u32::MAX))
    }

    /// Writes the head: view, records and characters, and the addresses of the ring's palettes and
    /// of the view.
    pub(super) fn head(&mut self, numbers: [u32; 3], addresses: [vk::DeviceAddress; 2]) {
        let buffers = &self.buffers;
        self.words.clear();
        self.words.resize(buffers.jobs(), 0);
        self.words[..3].copy_from_slice(&numbers);
        self.words[3] = buffers.chosen() as u32;
        self.words[4..8].copy_from_slice(addresses.map(words).as_flattened());
        self.words[RAY_CANDIDATES] = buffers.candidates() as u32;
    }

    /// Decides what becomes of structures in this frame, and writes characters, and the jobs of
    /// poses that are built. Updates the tables of characters whose structures change.
    pub(super) fn plan(&mut self, characters: &mut Characters, (frame, frame_index): (u64, u32)) {
        let buffers = &self.buffers;
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
    /// As [`Frame::record_rays`](crate::Frame::record_rays).
    pub(super) unsafe fn record_positions(
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
    /// As [`Frame::record_rays`](crate::Frame::record_rays), behind a barrier.
    pub(super) unsafe fn record_structures(
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
    /// As [`Frame::record_rays`](crate::Frame::record_rays), behind a barrier after all the rest.
    pub(super) unsafe fn record_tlas(&self, accel: &Accel, cmd: vk::CommandBuffer, count: u32) {
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
