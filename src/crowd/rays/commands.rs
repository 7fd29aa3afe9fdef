//! Decides what a frame builds, and records it.

use crate::crowd::characters::list::Characters;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::batch::Step;
use crate::crowd::rays::buffers::{people_build, people_geometry};
use crate::crowd::rays::plan::{Job, Kind};
use crate::crowd::rays::state::Rays;
use crate::gpu::accel::Accel;
use crate::gpu::animation::words;
use crate::gpu::constants::{
    RAY_CANDIDATES, RAY_CHARACTER_WORDS, RAY_HEAD, RAY_PEOPLE, RAY_WANTING,
};
use crate::gpu::{Device, GpuInstance, SkinnedMesh};
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
        self.counters.get(RAY_PEOPLE).map_or(most, |people| {
            let margin = (people / 4).saturating_add(MORE_PEOPLE);
            most.min(people.saturating_add(margin))
        })
    }

    /// Writes the head: view, records and characters, and the addresses of the ring's palettes and
    /// of the view.
    pub(super) fn head(&mut self, numbers: [u32; 3], addresses: [vk::DeviceAddress; 2]) {
        let capacity = &self.buffers.capacity;
        self.words.clear();
        self.words.resize(capacity.counted(), 0);
        self.words[..3].copy_from_slice(&numbers);
        self.words[4..8].copy_from_slice(addresses.map(words).as_flattened());
        [self.words[3], self.words[RAY_CANDIDATES]] = capacity.chosen();
    }

    /// Decides what becomes of structures in this frame, and writes the jobs of poses that are
    /// built. Updates the tables of characters whose structures change.
    pub(super) fn plan(&mut self, characters: &mut Characters, (frame, frame_index): (u64, u32)) {
        for (character, loaded) in characters.iter_mut() {
            let Some(own) = &mut loaded.rays else {
                continue;
            };
            let shared = loaded.shared_poses.as_ref();
            let each = own.mesh(false).each;
            let mut changed = false;
            for batch in &mut own.batches {
                match batch.step {
                    Step::Wanted => {
                        let first = frame_index * self.desc.builds_per_frame;
                        batch.query = first + self.plan.end.jobs as u32;
                        for (pose, (structure, _)) in batch.poses.iter().zip(batch.structures.all())
                        {
                            let [low, high] = words(palette(&loaded.mesh, shared, *pose));
                            let vertex = self.plan.end.vertices as u32;
                            self.words.extend([low, high, vertex, GpuInstance::NONE]);
                            self.plan.add((character, Kind::Pose), *structure, each);
                        }
                        batch.step = Step::Built;
                    }
                    Step::Sized => {
                        core::mem::swap(&mut batch.structures, &mut batch.spare);
                        let pairs = batch.spare.all().iter().zip(batch.structures.all());
                        let copies = pairs.map(|((from, _), (to, _))| [*from, *to]);
                        self.plan.copies.extend(copies);
                        batch.step = Step::Copied;
                    }
                    _ => continue,
                }
                batch.frame = frame;
                changed = true;
            }
            if changed {
                own.update_table();
            }
        }
        self.plan_slots(characters, frame);
    }

    /// As [`Self::plan`], for slots, with the words of characters: they are built once, and then as
    /// many are refitted as people wanted some frames ago, and some more.
    fn plan_slots(&mut self, characters: &mut Characters, frame: u64) {
        let capacity = self.buffers.capacity;
        self.plan.end = capacity.builds;
        for (character, loaded) in characters.iter_mut() {
            let (Some(own), Some(place)) = (&mut loaded.rays, &loaded.slot) else {
                continue;
            };
            let at = RAY_HEAD + place.number as usize * RAY_CHARACTER_WORDS;
            let all = own.slots.count();
            let wanting = self.counters.get(at + RAY_WANTING);
            let used = wanting.map_or(all, |wanting| wanting.saturating_add(MORE_SLOTS));
            let used = used.min(loaded.members.len() as u32).min(all);
            let (taken, count, kind) = match own.slots_built {
                0 => (0, all, Kind::Slot),
                _ => (used, used, Kind::Refit),
            };
            let (first, vertex) = (capacity.job(self.plan.end), self.plan.end.vertices as u32);
            let ([low, high], slots) = (words(own.table.address), taken | count << 16);
            let record = [0, 0, low, high, first, vertex, slots, 0];
            self.words[at..at + RAY_CHARACTER_WORDS].copy_from_slice(&record);
            for (structure, _) in &own.slots.all()[..count as usize] {
                self.plan
                    .add((character, kind), *structure, own.mesh(true).each);
            }
            if kind == Kind::Slot && count > 0 {
                own.slots_built = frame;
                own.update_table();
            }
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
        let of = |job: &Job| (job.character, job.kind == Kind::Pose);
        for jobs in self.plan.jobs.chunk_by(|a, b| of(a) == of(b)) {
            let (character, of_pose) = of(&jobs[0]);
            let loaded = &characters[character];
            let (Some(own), Some(set)) = (&loaded.rays, loaded.set(0)) else {
                continue;
            };
            let sets = ([set, self.buffers.set.first()], offsets);
            let chunks = (own.table.address, &*own.mesh(!of_pose).chunks);
            let jobs = (self.buffers.capacity.job(jobs[0].before), jobs.len() as u32);
            // SAFETY: `cmd` is recording outside a render pass, by this function's contract; the
            // jobs' vertices lie in the buffer, because `begin` keeps to its space for builds, and
            // it has space for all slots.
            unsafe { self.pass.record_skin((device, cmd), sets, chunks, jobs) };
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
        self.plan.fill(characters, &self.buffers);
        let plan = &self.plan;
        let (infos, copies) = (&plan.infos, &plan.copies);
        let record = accel.raw.fp().cmd_build_acceleration_structures_khr;
        // SAFETY: `cmd` is recording outside a render pass, by this function's contract.
        // Structures, scratch memory and vertices of the jobs do not overlap. An earlier frame
        // built what is copied, to structures of the compacted sizes, and what is refitted. The
        // pool has queries for all builds. The addresses of geometries and ranges are those of
        // lists that live on and do not move.
        unsafe {
            if !infos.is_empty() {
                record(
                    cmd,
                    infos.len() as u32,
                    infos.as_ptr(),
                    plan.ranges.as_ptr(),
                );
            }
            for [from, to] in copies {
                let info = vk::CopyAccelerationStructureInfoKHR::default()
                    .src(*from)
                    .dst(*to)
                    .mode(vk::CopyAccelerationStructureModeKHR::COMPACT);
                accel.raw.cmd_copy_acceleration_structure(cmd, &info);
            }
            if !infos.is_empty() || !copies.is_empty() {
                device.barrier(cmd, (BUILD, BUILT), (BUILD, USED | BUILT));
            }
            let built: Vec<_> = plan.poses().iter().map(|job| job.structure).collect();
            if !built.is_empty() {
                let (raw, pool) = (&device.raw, self.queries.handle);
                let first = frame_index * self.desc.builds_per_frame;
                let kind = vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR;
                raw.cmd_reset_query_pool(cmd, pool, first, built.len() as u32);
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
        let Some((structure, _)) = self.buffers.tlas.all().first() else {
            return;
        };
        let geometry = people_geometry(self.buffers.records.address);
        let info = people_build(&geometry)
            .dst_acceleration_structure(*structure)
            .scratch_data(vk::DeviceOrHostAddressKHR {
                device_address: self.buffers.scratch_address,
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
