//! A character as rays meet it: a bottom-level structure for the rest pose, and one for each shared
//! pose.
//!
//! A structure is wanted when the first instance could take its pose. A frame builds it, a later
//! one copies it to where it takes less memory, and there it stays as long as the character. All
//! poses have the same triangles, so all structures are of one size.

use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::batch::{Batch, Step};
use crate::crowd::rays::buffers::Space;
use crate::gpu::animation::words;
use crate::gpu::constants::TABLE_ADDRESSES;
use crate::gpu::structures::Structures;
use crate::gpu::{Buffer, Gpu, destroy_fields};
use crate::order;
use crate::pass::rays::RayChunks;
use ash::vk;
use std::collections::VecDeque;

/// The triangles of one primitive.
#[derive(Debug, Clone, Copy)]
pub(super) struct Geometry {
    /// Its first vertex among those of the character.
    pub(super) first_vertex: u32,
    pub(super) vertices: u32,
    pub(super) index_type: vk::IndexType,
    /// False if rays must ask whether they meet it.
    pub(super) opaque: bool,
    /// The number of the bit by which instances hide it, or [`GpuInstance::NONE`].
    ///
    /// [`GpuInstance::NONE`]: crate::gpu::GpuInstance::NONE
    pub(super) hidden_bit: u32,
    /// The variant of ray_skin that deforms its vertices.
    pub(super) variant: u32,
}

/// The triangles of a character at a level of detail.
#[derive(Debug)]
pub(crate) struct RayMesh {
    pub(crate) level: u32,
    /// By primitive.
    pub(super) geometries: Vec<Geometry>,
    pub(crate) ranges: Vec<vk::AccelerationStructureBuildRangeInfoKHR>,
    /// The bytes of a structure.
    pub(crate) bytes: u64,
    /// The space for a build or an update of one structure.
    pub(crate) each: Space,
    /// The address of the mesh buffer, which has the indices.
    pub(super) address: vk::DeviceAddress,
    pub(crate) chunks: Vec<RayChunks>,
}

/// A character as rays meet it.
#[derive(Debug)]
pub(crate) struct RayCharacter {
    /// For shared poses, and for slots.
    pub(super) meshes: [RayMesh; 2],
    /// The structures of the nearest people. They have the topology of the rest pose, and frames
    /// refit them to poses.
    pub(crate) slots: Structures,
    /// The frame that built these in the rest pose, or 0.
    pub(crate) slots_built: u64,
    /// Head, addresses of structures, and chunks: see `shaders/include/ray_table.glsl`.
    pub(crate) table: Buffer,
    /// Head and addresses.
    pub(crate) words: Vec<u32>,
    /// The frame that recorded them last, or 0 if they have changed since.
    pub(crate) recorded: u64,
    /// By pose, the first being the rest pose: the address of its own structure, or 0.
    pub(super) addresses: Vec<vk::DeviceAddress>,
    /// Poses without a structure.
    pub(crate) queue: VecDeque<u32>,
    /// The first pose and the number of poses of each clip that has been in the queue, and the end
    /// of them all: clips get their poses one after the other.
    pub(super) clips: Vec<[u32; 2]>,
    pub(super) clips_end: u32,
    pub(crate) batches: Vec<Batch>,
}

destroy_fields!(RayCharacter, Gpu<'a>: batches, slots, table);

impl RayCharacter {
    /// The triangles of slots if it has some, or those of shared poses.
    pub(crate) fn mesh(&self, slot: bool) -> &RayMesh {
        &self.meshes[usize::from(slot && self.slots.count() > 0)]
    }

    /// The space for `most` builds in a frame, if it has as many poses.
    pub(crate) fn builds(&self, most: u32) -> Space {
        let count = u64::from(most).min(self.addresses.len() as u64);
        self.mesh(false).each.times(count)
    }

    /// The space for all slots.
    pub(crate) fn refits(&self) -> Space {
        self.mesh(true).each.times(self.slots.count().into())
    }

    /// Puts the poses of clips that instances play since the last frame into the queue, in an order
    /// that covers each clip ever more densely.
    pub(crate) fn want(&mut self, shared: Option<&SharedPoses>) {
        let (known, most) = (self.clips_end, self.addresses.len() as u32 - 1);
        let clips = shared.into_iter().flat_map(SharedPoses::in_use);
        for [first, count] in clips.filter(|[first, _]| *first >= known) {
            self.clips_end = self.clips_end.max(first + count);
            let count = most.saturating_sub(first).min(count);
            if count > 0 {
                // The rest pose is the first.
                self.clips.push([1 + first, count]);
                let mut steps: Vec<u32> = (0..count).collect();
                order::sort_by_key(&mut steps, |step| step.reverse_bits());
                self.queue.extend(steps.iter().map(|step| 1 + first + step));
            }
        }
    }

    /// Takes over the addresses of all structures that have been built: each pose without one has
    /// that of the nearest pose of its clip.
    pub(crate) fn update_table(&mut self) {
        self.addresses.fill(0);
        let built = self.batches.iter().filter(|it| it.step != Step::Wanted);
        for batch in built {
            for (pose, (_, address)) in batch.poses.iter().zip(batch.structures.all()) {
                self.addresses[*pose as usize] = *address;
            }
        }
        let (table, _) = self.words[TABLE_ADDRESSES..].as_chunks_mut();
        let (poses, slots) = table.split_at_mut(self.addresses.len());
        for [first, count] in self.clips.iter().chain(&[[0, 1]]) {
            let own = *first as usize..(first + count) as usize;
            let built = own.clone().filter(|pose| self.addresses[*pose] != 0);
            let built: Vec<usize> = built.collect();
            for pose in own {
                let nearest = built.iter().min_by_key(|at| at.abs_diff(pose));
                poses[pose] = words(nearest.map_or(0, |at| self.addresses[*at]));
            }
        }
        for (slot, (_, address)) in slots.iter_mut().zip(self.slots.all()) {
            *slot = words(if self.slots_built > 0 { *address } else { 0 });
        }
        self.recorded = 0;
    }
}

impl RayMesh {
    /// The geometries of a structure whose vertices start at an address.
    pub(crate) fn geometries(
        &self,
        vertices: vk::DeviceAddress,
    ) -> impl Iterator<Item = vk::AccelerationStructureGeometryKHR<'static>> + '_ {
        let address = |device_address| vk::DeviceOrHostAddressConstKHR { device_address };
        self.geometries.iter().map(move |own| {
            let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
                .vertex_format(vk::Format::R32G32B32_SFLOAT)
                .vertex_data(address(vertices + u64::from(own.first_vertex) * 12))
                .vertex_stride(12)
                .max_vertex(own.vertices.saturating_sub(1))
                .index_type(own.index_type)
                .index_data(address(self.address));
            let flags = match own.opaque {
                true => vk::GeometryFlagsKHR::OPAQUE,
                false => vk::GeometryFlagsKHR::empty(),
            };
            vk::AccelerationStructureGeometryKHR::default()
                .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
                .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })
                .flags(flags)
        })
    }
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
