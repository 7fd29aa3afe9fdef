//! A character as rays meet it: a bottom-level structure for the rest pose, and one for each shared
//! pose.
//!
//! A structure is wanted when the first instance could take its pose. A frame builds it, a later
//! one copies it to where it takes less memory, and there it stays as long as the character. All
//! poses have the same triangles, so all structures are of one size.

use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::batch::{Batch, Step};
use crate::crowd::rays::work::RayCapacity;
use crate::gpu::accel::StructureSize;
use crate::gpu::constants::TABLE_ADDRESSES;
use crate::gpu::structures::Structures;
use crate::gpu::{Buffer, Gpu, destroy_fields};
use crate::pass::rays::RayChunks;
use ash::vk;
use std::collections::VecDeque;

/// The triangles of one primitive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    /// Its first vertex among those of the character.
    pub(super) first_vertex: u32,
    pub(super) vertices: u32,
    /// The first byte in the mesh buffer.
    pub(super) first_byte: u32,
    pub(super) index_type: vk::IndexType,
    pub(super) triangles: u32,
    /// False if rays must ask whether they meet it.
    pub(super) opaque: bool,
    /// The number of the bit by which instances hide it, or [`GpuInstance::NONE`].
    pub(super) hidden_bit: u32,
}

impl Geometry {
    /// Its words for shaders: see `throng_hit_geometry` in `shaders/include/throng_hit.glsl`.
    pub(super) fn words(&self) -> [u32; 2] {
        let narrow = u32::from(self.index_type == vk::IndexType::UINT16);
        [self.first_byte | narrow, self.hidden_bit]
    }
}

/// The triangles of a character at a level of detail.
#[derive(Debug)]
pub(crate) struct RayMesh {
    pub(crate) level: u32,
    /// By primitive.
    pub(super) geometries: Vec<Geometry>,
    /// Of all primitives.
    pub(crate) vertices: u32,
    pub(crate) size: StructureSize,
    /// The address of the mesh buffer, which has the indices.
    pub(super) mesh: vk::DeviceAddress,
    pub(crate) chunks: Vec<RayChunks>,
}

/// The structures of the nearest people. They have the topology of the rest pose, and frames refit
/// them to poses.
#[derive(Debug)]
pub(crate) struct Slots {
    pub(crate) mesh: RayMesh,
    pub(crate) structures: Structures,
    /// The frame that built them in the rest pose, or 0.
    pub(crate) built: u64,
}

destroy_fields!(Slots, Gpu<'a>: structures);

impl Slots {
    /// The number of slots.
    pub(crate) fn count(&self) -> u32 {
        self.structures.all().len() as u32
    }
}

/// A character as rays meet it.
#[derive(Debug)]
pub(crate) struct RayCharacter {
    /// For shared poses.
    pub(crate) mesh: RayMesh,
    pub(crate) slots: Option<Slots>,
    /// Head, addresses of structures, and chunks: see `shaders/include/ray_table.glsl`.
    pub(crate) table: Buffer,
    /// Head and addresses.
    pub(super) words: Vec<u32>,
    /// The frame that recorded them last, or 0 if they have changed since.
    pub(crate) recorded: u64,
    /// By pose, the first being the rest pose: the address of its own structure, or 0.
    pub(super) addresses: Vec<vk::DeviceAddress>,
    /// Poses without a structure.
    pub(super) queue: VecDeque<u32>,
    /// The first pose and the number of poses of each clip that has been in the queue, and the end
    /// of them all: clips get their poses one after the other.
    pub(super) clips: Vec<[u32; 2]>,
    pub(super) clips_end: u32,
    pub(crate) batches: Vec<Batch>,
}

destroy_fields!(RayCharacter, Gpu<'a>: batches, slots, table);

impl RayCharacter {
    /// The space in the buffers of all characters with which it can build at least one structure,
    /// and `most` of them in a frame if it has as many. Slots come on top of those of others.
    pub(crate) fn need(&self, most: u32) -> RayCapacity {
        let count = u64::from(most).min(self.addresses.len() as u64);
        let slots = self.slots.as_ref();
        let slot = |each: fn(&RayMesh) -> u64| {
            slots.map_or(0, |slots| u64::from(slots.count()) * each(&slots.mesh))
        };
        RayCapacity {
            slots: slots.map_or(0, Slots::count),
            vertices: u64::from(self.mesh.vertices) * count,
            slot_vertices: slot(|mesh| mesh.vertices.into()),
            scratch: self.mesh.size.scratch * count,
            slot_scratch: slot(|mesh| mesh.size.scratch.max(mesh.size.update)),
            ..RayCapacity::default()
        }
    }

    /// Puts the poses of clips that instances play since the last frame into the queue, in an order
    /// that covers each clip ever more densely.
    pub(crate) fn want(&mut self, shared: Option<&SharedPoses>) {
        let known = self.clips_end;
        let clips = shared.into_iter().flat_map(SharedPoses::in_use);
        for [first, count] in clips.filter(|[first, _]| *first >= known) {
            self.clips_end = self.clips_end.max(first + count);
            // The rest pose is the first.
            let most = (self.addresses.len() as u32 - 1)
                .saturating_sub(first)
                .min(count);
            if most == 0 {
                continue;
            }
            self.clips.push([first, most]);
            let bits = most.next_power_of_two().trailing_zeros();
            let all = (0..1_u32 << bits).map(|at| match bits {
                0 => 0,
                bits => at.reverse_bits() >> (32 - bits),
            });
            let all = all.filter(|at| *at < most).map(|at| 1 + first + at);
            self.queue.extend(all);
        }
    }

    /// Takes up to `most` poses from the queue.
    pub(crate) fn take(&mut self, most: usize) -> Vec<u32> {
        let most = most.min(self.queue.len());
        self.queue.drain(..most).collect()
    }

    /// Puts poses back to the front of the queue.
    pub(crate) fn put_back(&mut self, poses: &[u32]) {
        poses
            .iter()
            .rev()
            .for_each(|pose| self.queue.push_front(*pose));
    }

    /// Takes over the addresses of all structures that have been built: each pose without one has
    /// that of the nearest pose of its clip.
    pub(crate) fn update_table(&mut self) {
        self.addresses.fill(0);
        for batch in &self.batches {
            if !matches!(batch.step, Step::Wanted) {
                for (pose, (_, address)) in batch.poses.iter().zip(batch.structures.all()) {
                    self.addresses[*pose as usize] = *address;
                }
            }
        }
        let words = &mut self.words[TABLE_ADDRESSES..];
        let poses = self.addresses.len();
        let mut put = |pose: usize, address: u64| {
            words[pose * 2] = address as u32;
            words[pose * 2 + 1] = (address >> 32) as u32;
        };
        put(0, self.addresses[0]);
        for [first, count] in &self.clips {
            let own = 1 + *first as usize..1 + (first + count) as usize;
            let built = own.clone().filter(|pose| self.addresses[*pose] != 0);
            let built: Vec<usize> = built.collect();
            for pose in own {
                let nearest = built.iter().min_by_key(|at| at.abs_diff(pose));
                put(pose, nearest.map_or(0, |at| self.addresses[*at]));
            }
        }
        // Behind them, the slots.
        for (slot, (_, address)) in self
            .slots
            .iter()
            .flat_map(|it| it.structures.all().iter().enumerate())
        {
            let built = self.slots.as_ref().is_some_and(|it| it.built > 0);
            put(poses + slot, if built { *address } else { 0 });
        }
        self.recorded = 0;
    }

    /// Head and addresses.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }
}

impl RayMesh {
    pub(super) fn triangles(&self) -> u64 {
        self.geometries
            .iter()
            .map(|it| u64::from(it.triangles))
            .sum()
    }

    /// The geometries of a structure whose vertices start at an address.
    pub(crate) fn geometries(
        &self,
        vertices: vk::DeviceAddress,
    ) -> impl ExactSizeIterator<Item = vk::AccelerationStructureGeometryKHR<'static>> + '_ {
        let each = self.geometries.iter();
        each.map(move |own| geometry(own, self.mesh, vertices))
    }

    /// The ranges of its triangles, by primitive.
    pub(crate) fn ranges(
        &self,
    ) -> impl Iterator<Item = vk::AccelerationStructureBuildRangeInfoKHR> + '_ {
        self.geometries.iter().map(|own| {
            vk::AccelerationStructureBuildRangeInfoKHR::default()
                .primitive_count(own.triangles)
                .primitive_offset(own.first_byte)
        })
    }
}

/// The geometry of a primitive: indices from the mesh buffer, and vertices from an address.
fn geometry(
    own: &Geometry,
    mesh: vk::DeviceAddress,
    vertices: vk::DeviceAddress,
) -> vk::AccelerationStructureGeometryKHR<'static> {
    let address = |device_address| vk::DeviceOrHostAddressConstKHR { device_address };
    let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(vk::Format::R32G32B32_SFLOAT)
        .vertex_data(address(vertices + u64::from(own.first_vertex) * 12))
        .vertex_stride(12)
        .max_vertex(own.vertices.saturating_sub(1))
        .index_type(own.index_type)
        .index_data(address(mesh));
    let flags = match own.opaque {
        true => vk::GeometryFlagsKHR::OPAQUE,
        false => vk::GeometryFlagsKHR::empty(),
    };
    vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })
        .flags(flags)
}

/// The build of a bottom-level structure, which is refitted or compacted later.
pub(crate) fn build<'a>(
    geometries: &'a [vk::AccelerationStructureGeometryKHR<'a>],
    refits: bool,
) -> vk::AccelerationStructureBuildGeometryInfoKHR<'a> {
    use vk::BuildAccelerationStructureFlagsKHR as Flags;
    let later = match refits {
        true => Flags::ALLOW_UPDATE,
        false => Flags::ALLOW_COMPACTION,
    };
    vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL)
        .flags(Flags::PREFER_FAST_TRACE | later)
        .mode(vk::BuildAccelerationStructureModeKHR::BUILD)
        .geometries(geometries)
}
