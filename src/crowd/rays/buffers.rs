//! The buffers of rays that all characters share.

use crate::crowd::Capacity;
use crate::crowd::memory::buffers::{FrameBuffers, whole};
use crate::crowd::memory::read_back::ReadBack;
use crate::crowd::memory::work::chunk_capacity;
use crate::crowd::rays::desc::{RECORD_BYTES, RayDesc};
use crate::error::Result;
use crate::gpu::constants::{CHUNK, RAY_CHARACTER_WORDS, RAY_HEAD, RAY_JOB_WORDS};
use crate::gpu::sets::Sets;
use crate::gpu::structures::Structures;
use crate::gpu::{Buffer, Gpu, Guard, destroy_fields, limit};
use crate::pass::rays::RayPass;
use ash::vk;

/// Bytes of `ThrongMet` and what comes before them (`shaders/include/throng_hit.glsl`).
const MET_BYTES: u64 = 32;
const MET_HEAD_BYTES: u64 = 16;
/// Bytes of a position.
pub(super) const POSITION_BYTES: u64 = 12;

/// Space for builds and refits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) jobs: u64,
    pub(crate) vertices: u64,
    /// Bytes of scratch memory.
    pub(crate) scratch: u64,
}

impl Space {
    /// Applies an operation to each number of both.
    pub(crate) fn with(self, other: Self, operation: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            jobs: operation(self.jobs, other.jobs),
            vertices: operation(self.vertices, other.vertices),
            scratch: operation(self.scratch, other.scratch),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    pub(crate) fn times(self, count: u64) -> Self {
        self.with(self, |own, _| own.saturating_mul(count))
    }

    /// The number of times that `each` fits.
    pub(crate) fn fitting(self, each: Self) -> u64 {
        let often = |own: u64, each| own.checked_div(each).unwrap_or(u64::MAX);
        let fits = self.with(each, often);
        fits.jobs.min(fits.vertices).min(fits.scratch)
    }
}

/// The capacity of the buffers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RayCapacity {
    /// Numbers of characters in the GPU's tables.
    pub(crate) characters: u32,
    /// Instances in the table.
    pub(crate) instances: u32,
    /// Of a frame.
    pub(crate) builds: Space,
    /// For the slots of all characters.
    pub(crate) slots: Space,
}

impl RayCapacity {
    /// The needs of a crowd of this capacity, without characters.
    pub(crate) fn of(capacity: &Capacity, characters: u32) -> Self {
        Self {
            characters,
            instances: capacity.instances,
            ..Self::default()
        }
    }

    /// The larger of each.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            characters: self.characters.max(other.characters),
            instances: self.instances.max(other.instances),
            builds: self.builds.with(other.builds, u64::max),
            slots: self.slots.with(other.slots, u64::max),
        }
    }

    /// Words of head and characters in the work buffer. Jobs of builds follow, and then of slots.
    pub(crate) fn counted(&self) -> usize {
        RAY_HEAD + self.characters as usize * RAY_CHARACTER_WORDS
    }

    /// The first word of a job behind those that take some space.
    pub(crate) fn job(&self, before: Space) -> u32 {
        self.counted() as u32 + before.jobs as u32 * RAY_JOB_WORDS as u32
    }

    /// The first of the words of instances, and of candidates.
    pub(crate) fn chosen(&self) -> [u32; 2] {
        let chosen = self.job(self.builds.plus(self.slots));
        [chosen, chosen + self.instances]
    }
}

/// The buffers, and the sets over them.
#[derive(Debug)]
pub(crate) struct RayBuffers {
    pub(crate) capacity: RayCapacity,
    /// Head, characters, jobs, a word for each instance, and candidates for slots.
    pub(crate) work: Buffer,
    pub(crate) records: Buffer,
    pub(crate) positions: Buffer,
    /// By table index, what shaders need of a hit.
    met: Buffer,
    scratch: Buffer,
    /// The first address in the scratch memory that is aligned.
    pub(crate) scratch_address: vk::DeviceAddress,
    /// One, or none.
    pub(crate) tlas: Structures,
    /// Head and characters.
    pub(crate) read_back: ReadBack,
    pub(crate) set: Sets,
    /// The set that engines' shaders read hits with.
    pub(crate) hit_set: Sets,
}

destroy_fields!(
    RayBuffers, Gpu<'a>: hit_set, set, read_back, tlas, scratch, met, positions, records, work
);

/// The geometry of a top-level structure with its records at an address.
pub(crate) fn people_geometry(
    address: vk::DeviceAddress,
) -> vk::AccelerationStructureGeometryKHR<'static> {
    let instances = vk::AccelerationStructureGeometryInstancesDataKHR::default().data(
        vk::DeviceOrHostAddressConstKHR {
            device_address: address,
        },
    );
    vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::INSTANCES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { instances })
}

/// The build of a top-level structure.
pub(crate) fn people_build<'a>(
    geometry: &'a vk::AccelerationStructureGeometryKHR<'a>,
) -> vk::AccelerationStructureBuildGeometryInfoKHR<'a> {
    vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(vk::AccelerationStructureTypeKHR::TOP_LEVEL)
        .flags(vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_BUILD)
        .mode(vk::BuildAccelerationStructureModeKHR::BUILD)
        .geometries(core::slice::from_ref(geometry))
}

impl RayBuffers {
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        pass: &RayPass,
        (desc, frames_in_flight): (&RayDesc, u32),
        (capacity, of_crowd): (RayCapacity, &FrameBuffers),
    ) -> Result<Guard<'g, Self>> {
        use vk::BufferUsageFlags as Usage;
        let device = gpu.device;
        let accel = device.accel("CrowdDesc::rays")?;
        let most = device.limits.max_storage_range;
        let chunks = chunk_capacity(capacity.instances, capacity.characters);
        let candidates = u64::from(chunks) * CHUNK as u64;
        let words = u64::from(capacity.chosen()[1]) + candidates;
        let bytes = limit(
            "bytes of people for rays (maxStorageBufferRange)",
            words * 4,
            most,
        )?;
        let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_DST | Usage::TRANSFER_SRC;
        let work = Buffer::device_local(gpu, "throng ray work", bytes, usage)?;
        let input =
            Usage::SHADER_DEVICE_ADDRESS | Usage::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
        let bytes = u64::from(desc.max_people) * RECORD_BYTES;
        let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC | input;
        let records = Buffer::device_local(gpu, "throng ray records", bytes, usage)?;
        let space = capacity.builds.plus(capacity.slots);
        let bytes = space.vertices * POSITION_BYTES;
        let bytes = limit(
            "bytes of positions for rays (maxStorageBufferRange)",
            bytes,
            most,
        )?;
        let usage = Usage::STORAGE_BUFFER | input;
        let positions = Buffer::device_local(gpu, "throng ray positions", bytes, usage)?;
        let bytes = MET_HEAD_BYTES + u64::from(capacity.instances) * MET_BYTES;
        let met = Buffer::device_local(gpu, "throng ray hits", bytes, Usage::STORAGE_BUFFER)?;
        let geometry = people_geometry(records.address);
        let [bytes, tlas_scratch] = accel.sizes(&people_build(&geometry), &[desc.max_people]);
        let sizes = if desc.tlas { &[bytes][..] } else { &[] };
        let kind = vk::AccelerationStructureTypeKHR::TOP_LEVEL;
        let tlas = Structures::new(gpu, "throng people", kind, sizes)?;
        let bytes = space.scratch.max(if desc.tlas { tlas_scratch } else { 0 });
        let bytes = bytes + accel.scratch_alignment;
        let usage = Usage::STORAGE_BUFFER | Usage::SHADER_DEVICE_ADDRESS;
        let scratch = Buffer::device_local(gpu, "throng ray scratch", bytes, usage)?;
        let words = capacity.counted();
        let read_back = ReadBack::new(gpu, "throng ray read-back", frames_in_flight, words)?;
        let each = [&work, &records, &positions, &met].map(|buffer| whole(buffer));
        let set = pass.make_set(device, &each)?;
        let hits = [
            whole(&met),
            of_crowd.instances(),
            of_crowd.lists(),
            of_crowd.skinned(),
        ];
        let hit_set = pass.make_hit_set(device, hits)?;
        let made = Self {
            capacity,
            work: work.keep(),
            records: records.keep(),
            positions: positions.keep(),
            met: met.keep(),
            scratch_address: scratch.address.next_multiple_of(accel.scratch_alignment),
            scratch: scratch.keep(),
            tlas: tlas.keep(),
            read_back: read_back.keep(),
            set: set.keep(),
            hit_set: hit_set.keep(),
        };
        Ok(Guard::new(gpu, made))
    }
}
