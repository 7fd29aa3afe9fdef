//! The buffers of rays that all characters share.

use crate::crowd::Capacity;
use crate::crowd::memory::buffers::whole;
use crate::crowd::memory::work::chunk_capacity;
use crate::crowd::rays::desc::{RECORD_BYTES, RayDesc};
use crate::error::Result;
use crate::gpu::accel::StructureSize;
use crate::gpu::constants::{CHUNK, RAY_CHARACTER_WORDS, RAY_HEAD, RAY_JOB_WORDS};
use crate::gpu::sets::Sets;
use crate::gpu::structures::Structures;
use crate::gpu::{Buffer, BufferDesc, Gpu, Guard, destroy_fields, host_types, limit};
use crate::pass::rays::RayPass;
use ash::vk;
use core::ptr::NonNull;
use gpu_allocator::MemoryLocation;

/// Bytes of `ThrongMet` and what comes before them (`shaders/include/throng_hit.glsl`).
const MET_BYTES: u64 = 32;
const MET_HEAD_BYTES: u64 = 16;

/// The capacity of the buffers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RayCapacity {
    /// Numbers of characters in the GPU's tables.
    pub(crate) characters: u32,
    /// Chunks of members in the GPU's tables.
    pub(crate) chunks: u32,
    /// Instances in the table.
    pub(crate) instances: u32,
    /// The slots of all characters.
    pub(crate) slots: u32,
    /// Vertices of a frame's builds, and of all slots.
    pub(crate) vertices: u64,
    pub(crate) slot_vertices: u64,
    /// Bytes of scratch memory of a frame's builds, and of all slots.
    pub(crate) scratch: u64,
    pub(crate) slot_scratch: u64,
}

impl RayCapacity {
    /// The needs of a crowd of this capacity, without characters.
    pub(crate) fn of(capacity: &Capacity, characters: u32) -> Self {
        Self {
            characters,
            chunks: chunk_capacity(capacity, characters),
            instances: capacity.instances,
            ..Self::default()
        }
    }

    /// The larger of each.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            characters: self.characters.max(other.characters),
            chunks: self.chunks.max(other.chunks),
            instances: self.instances.max(other.instances),
            slots: self.slots.max(other.slots),
            vertices: self.vertices.max(other.vertices),
            slot_vertices: self.slot_vertices.max(other.slot_vertices),
            scratch: self.scratch.max(other.scratch),
            slot_scratch: self.slot_scratch.max(other.slot_scratch),
        }
    }
}

/// The buffers, and the set over them.
#[derive(Debug)]
pub(crate) struct RayBuffers {
    pub(crate) capacity: RayCapacity,
    /// Head, characters, jobs, a word for each instance, and candidates for slots.
    pub(crate) work: Buffer,
    pub(crate) records: Buffer,
    pub(crate) positions: Buffer,
    /// By table index, what shaders need of a hit.
    pub(crate) met: Buffer,
    scratch: Buffer,
    /// Bytes of the scratch memory before the first multiple of the alignment.
    scratch_start: u64,
    pub(crate) tlas: Option<Structures>,
    read_back: Buffer,
    mapped: NonNull<u32>,
    builds: u32,
    pub(crate) sets: Sets,
}

destroy_fields!(
    RayBuffers, Gpu<'a>: sets, read_back, tlas, scratch, met, positions, records, work
);

// SAFETY: `mapped` is an address in memory that `read_back` owns, on any thread. Nothing writes it
// but the GPU.
unsafe impl Send for RayBuffers {}
// SAFETY: it is only read, and only while the GPU does not write it, by the contract of
// `RayBuffers::read`.
unsafe impl Sync for RayBuffers {}

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
        capacity: RayCapacity,
    ) -> Result<Guard<'g, Self>> {
        use vk::BufferUsageFlags as Usage;
        let device = gpu.device;
        let accel = device.accel("CrowdDesc::rays")?;
        let members = u64::from(capacity.chunks) * CHUNK as u64;
        let words = chosen_at(&capacity, desc.builds_per_frame) as u64;
        let words = words + u64::from(capacity.instances) + members;
        let bytes = limit(
            "bytes of people for rays (maxStorageBufferRange)",
            words * 4,
            device.limits.max_storage_range,
        )?;
        let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_DST | Usage::TRANSFER_SRC;
        let work = Buffer::device_local(gpu, "throng ray work", bytes, usage)?;
        let input =
            Usage::SHADER_DEVICE_ADDRESS | Usage::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
        let bytes = u64::from(desc.max_people) * RECORD_BYTES;
        let usage = Usage::STORAGE_BUFFER | Usage::TRANSFER_SRC | input;
        let records = Buffer::device_local(gpu, "throng ray records", bytes, usage)?;
        let bytes = limit(
            "bytes of positions for rays (maxStorageBufferRange)",
            (capacity.vertices + capacity.slot_vertices) * 12,
            device.limits.max_storage_range,
        )?;
        let usage = Usage::STORAGE_BUFFER | input;
        let positions = Buffer::device_local(gpu, "throng ray positions", bytes, usage)?;
        let bytes = MET_HEAD_BYTES + u64::from(capacity.instances) * MET_BYTES;
        let met = Buffer::device_local(gpu, "throng ray hits", bytes, Usage::STORAGE_BUFFER)?;
        let geometry = people_geometry(records.address);
        let size = StructureSize::of(accel, &people_build(&geometry), &[desc.max_people]);
        let tlas_scratch = if desc.tlas { size.scratch } else { 0 };
        let tlas = desc.tlas.then(|| {
            let kind = vk::AccelerationStructureTypeKHR::TOP_LEVEL;
            Structures::new(gpu, "throng people", kind, &[size.bytes])
        });
        let tlas = tlas.transpose()?;
        let alignment = accel.scratch_alignment;
        let bytes = capacity.scratch + capacity.slot_scratch;
        let bytes = bytes.max(tlas_scratch) + alignment;
        let usage = Usage::STORAGE_BUFFER | Usage::SHADER_DEVICE_ADDRESS;
        let scratch = Buffer::device_local(gpu, "throng ray scratch", bytes, usage)?;
        let scratch_start = scratch.address.next_multiple_of(alignment) - scratch.address;
        let builds = desc.builds_per_frame;
        let desc = BufferDesc {
            name: "throng ray read-back",
            bytes: u64::from(frames_in_flight) * counted(&capacity) as u64 * 4,
            usage: Usage::TRANSFER_DST,
            location: MemoryLocation::GpuToCpu,
            types: host_types(device),
        };
        let read_back = Buffer::new(gpu, &desc)?;
        let mapped = read_back.mapped()?.cast();
        let each = [&work, &records, &positions, &met].map(|buffer| whole(buffer));
        let sets = pass.make_set(device, &each)?;
        let made = Self {
            capacity,
            work: work.keep(),
            records: records.keep(),
            positions: positions.keep(),
            met: met.keep(),
            scratch: scratch.keep(),
            scratch_start,
            tlas: tlas.map(Guard::keep),
            read_back: read_back.keep(),
            mapped,
            builds,
            sets: sets.keep(),
        };
        Ok(Guard::new(gpu, made))
    }

    /// The address of scratch memory, aligned.
    pub(crate) fn scratch(&self) -> vk::DeviceAddress {
        self.scratch.address + self.scratch_start
    }

    /// The first word of the jobs of builds.
    pub(crate) fn jobs(&self) -> usize {
        counted(&self.capacity)
    }

    /// The first word of the jobs of slots.
    pub(crate) fn slot_jobs(&self) -> usize {
        self.jobs() + self.builds as usize * RAY_JOB_WORDS
    }

    /// The first of the words of instances.
    pub(crate) fn chosen(&self) -> usize {
        chosen_at(&self.capacity, self.builds)
    }

    /// The first of the words of candidates.
    pub(crate) fn candidates(&self) -> usize {
        self.chosen() + self.capacity.instances as usize
    }

    /// The copy of head and characters to what the CPU reads of a frame index.
    pub(crate) fn counters_copy(&self, frame_index: u32) -> (vk::Buffer, vk::BufferCopy) {
        let size = counted(&self.capacity) as u64 * 4;
        let copy = vk::BufferCopy {
            src_offset: 0,
            dst_offset: u64::from(frame_index) * size,
            size,
        };
        (self.read_back.handle, copy)
    }

    /// Head and characters of the last frame of a frame index.
    ///
    /// # Safety
    /// The work of that frame index has ended, and it wrote them. The index is below the number of
    /// frames in flight.
    pub(crate) unsafe fn read(&self, frame_index: u32, to: &mut Vec<u32>) {
        let count = counted(&self.capacity);
        to.clear();
        // SAFETY: the buffer has as many words for each frame index, and is mapped at an address
        // that is a multiple of 64. The GPU has written them and does not write them now, by this
        // function's contract. The memory is coherent.
        let words = unsafe {
            let first = self.mapped.add(frame_index as usize * count);
            core::slice::from_raw_parts(first.as_ptr(), count)
        };
        to.extend_from_slice(words);
    }
}

/// Words of head and characters.
fn counted(capacity: &RayCapacity) -> usize {
    RAY_HEAD + capacity.characters as usize * RAY_CHARACTER_WORDS
}

/// Words before those of instances.
fn chosen_at(capacity: &RayCapacity, builds: u32) -> usize {
    counted(capacity) + (builds + capacity.slots) as usize * RAY_JOB_WORDS
}
