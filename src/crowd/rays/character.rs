//! What rays meet of a character: a bottom-level structure for the rest pose, and one for each
//! shared pose.
//!
//! A structure is wanted when the first instance could take its pose. A frame builds it, a later
//! one copies it to where it takes less memory, and there it stays as long as the character. All
//! poses have the same triangles, so all structures are of one size.

use crate::crowd::characters::level::Level;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::batch::{Batch, Step};
use crate::crowd::rays::desc::RayDesc;
use crate::crowd::rays::work::RayCapacity;
use crate::error::Result;
use crate::gpu::accel::{Accel, StructureSize};
use crate::gpu::layout::GpuPrimitive;
use crate::gpu::{Buffer, CHUNK, Gpu, Guard, PrimitiveDraw, SkinnedMesh, Upload, destroy_fields};
use crate::mesh::AlphaMode;
use crate::order;
use crate::pass::rays::RayChunks;
use ash::vk;
use std::collections::VecDeque;

/// Words of a table before the addresses of structures.
const TABLE_HEAD: usize = 8;
/// The most structures of a character.
const MAX_STRUCTURES: usize = 1 << 16;

/// The triangles of one primitive.
#[derive(Debug, Clone, Copy)]
struct Geometry {
    /// Its first vertex among those of the character.
    first_vertex: u32,
    vertices: u32,
    /// The first byte in the mesh buffer.
    first_byte: u32,
    index_type: vk::IndexType,
    triangles: u32,
    /// False if rays must ask whether they meet it.
    opaque: bool,
}

/// A character as rays meet it.
#[derive(Debug)]
pub(crate) struct RayCharacter {
    /// The level of detail.
    pub(crate) level: u32,
    /// By primitive.
    geometries: Vec<Geometry>,
    /// Of all primitives.
    pub(crate) vertices: u32,
    pub(crate) size: StructureSize,
    /// The address of the mesh buffer, which has the indices.
    mesh: vk::DeviceAddress,
    pub(crate) chunks: Vec<RayChunks>,
    /// Head, addresses of structures, and chunks: see `shaders/ray_instances.comp`.
    pub(crate) table: Buffer,
    /// Head and addresses.
    words: Vec<u32>,
    /// The frame that recorded them last, or 0 if they have changed since.
    pub(crate) recorded: u64,
    /// By pose, the first being the rest pose: the address of its own structure, or 0.
    addresses: Vec<vk::DeviceAddress>,
    /// Poses without a structure.
    queue: VecDeque<u32>,
    /// The first pose and the number of poses of each clip that has been in the queue.
    clips: Vec<[u32; 2]>,
    pub(crate) batches: Vec<Batch>,
}

destroy_fields!(RayCharacter, Gpu<'a>: batches, table);

impl RayCharacter {
    /// Chooses the level of detail, and stages the upload of its chunks. `poses` are the shared
    /// ones.
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        upload: &mut Upload,
        loaded: &LoadedCharacter,
        desc: &RayDesc,
    ) -> Result<Guard<'g, Self>> {
        let accel = gpu.device.accel("CrowdDesc::rays")?;
        let poses = loaded.shared_poses.as_ref().map_or(0, SharedPoses::most);
        let wanted = (1 + poses as usize).min(MAX_STRUCTURES);
        let sized = |number: usize, level: &Level| {
            let geometries = geometries(loaded, level, number);
            let size = size(accel, &loaded.mesh, &geometries);
            (number as u32, geometries, size)
        };
        let fits = |size: &StructureSize, count: usize| {
            size.bytes.saturating_mul(count as u64) <= desc.bytes_per_character
        };
        let levels = loaded.levels.iter().enumerate();
        let mut levels = levels
            .map(|(number, level)| sized(number, level))
            .peekable();
        let mut chosen = None;
        while let Some(level) = levels.next() {
            let triangles: u64 = level.1.iter().map(|it| u64::from(it.triangles)).sum();
            let last = levels.peek().is_none();
            if last || fits(&level.2, wanted) && triangles <= accel.max_primitives {
                chosen = Some(level);
                break;
            }
        }
        let (level, geometries, size) = chosen.unwrap_or_default();
        let affordable = desc.bytes_per_character / size.bytes.max(1);
        let count = wanted.min((affordable as usize).max(1));
        let clips = loaded.rig.clips().len() as u32;
        let mut words = vec![0; TABLE_HEAD + 2 * count];
        let masked = loaded
            .rig
            .materials()
            .iter()
            .any(|m| matches!(m.alpha, AlphaMode::Mask { .. }));
        let two_sided = loaded.levels.iter().flat_map(|level| level.draws(false));
        let two_sided = two_sided
            .into_iter()
            .any(|draw| draw.double_sided || draw.flip_code.is_some());
        let flags = if two_sided {
            vk::GeometryInstanceFlagsKHR::TRIANGLE_FACING_CULL_DISABLE.as_raw()
        } else {
            0
        };
        let opaque = if masked {
            0
        } else {
            vk::GeometryInstanceFlagsKHR::FORCE_OPAQUE.as_raw()
        };
        words[..5].copy_from_slice(&[
            loaded.desc.sbt_offset,
            flags | opaque,
            flags,
            clips,
            count as u32 - 1,
        ]);
        let vertices = geometries.iter().map(|it| it.vertices).sum();
        let (mut all, variants) = chunk_words(loaded, &geometries, level as usize);
        let mut table = words.clone();
        // Rows of 16 bytes.
        table.resize(table.len().next_multiple_of(4), 0);
        let first_chunk = table.len() as u64 * 4;
        table.append(&mut all);
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_DST;
        let name = format!("throng {}: rays", loaded.rig.name());
        let buffer = Buffer::device_local(gpu, &name, table.len() as u64 * 4, usage)?;
        upload.buffer(gpu, &buffer, bytemuck::cast_slice(&table))?;
        let mut address = buffer.address + first_chunk;
        let chunks = variants.into_iter().map(|(variant, count)| {
            let own = RayChunks {
                variant,
                count,
                address,
            };
            address += u64::from(count) * 16;
            own
        });
        let chunks = chunks.collect();
        Ok(buffer.map(|table| Self {
            level,
            geometries,
            vertices,
            size,
            mesh: loaded.mesh.address(),
            chunks,
            table,
            words,
            recorded: 0,
            addresses: vec![0; count],
            queue: VecDeque::from([0]),
            clips: Vec::new(),
            batches: Vec::new(),
        }))
    }

    /// What the buffers of all characters need, so that it can build at least one structure, and
    /// `most` of them in a frame if it has as many.
    pub(crate) fn need(&self, most: u32) -> RayCapacity {
        let count = u64::from(most).min(self.addresses.len() as u64);
        RayCapacity {
            characters: 0,
            vertices: u64::from(self.vertices) * count,
            scratch: self.size.scratch * count,
        }
    }

    /// Puts the poses of clips that instances play since the last frame into the queue, in an order
    /// that covers each clip ever more densely.
    pub(crate) fn want(&mut self, shared: Option<&SharedPoses>) {
        for [first, count] in shared.into_iter().flat_map(SharedPoses::in_use) {
            let known = self.clips.iter().any(|clip| clip[0] == first);
            // The rest pose is the first.
            let most = (self.addresses.len() as u32 - 1)
                .saturating_sub(first)
                .min(count);
            if known || most == 0 {
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

    /// The number of poses in the queue, and of structures that exist.
    pub(crate) fn counts(&self) -> [u32; 2] {
        let structures = self.batches.iter().map(|batch| batch.poses.len() as u32);
        [self.queue.len() as u32, structures.sum()]
    }

    /// The geometries of a structure whose vertices start at an address.
    pub(crate) fn geometries(
        &self,
        vertices: vk::DeviceAddress,
    ) -> impl Iterator<Item = vk::AccelerationStructureGeometryKHR<'static>> + '_ {
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
        let words = &mut self.words[TABLE_HEAD..];
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
        self.recorded = 0;
    }

    /// Head and addresses.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }
}

/// The triangles of each primitive at a level, some of which have none.
fn geometries(loaded: &LoadedCharacter, level: &Level, number: usize) -> Vec<Geometry> {
    let draws = loaded
        .mesh
        .draws()
        .get(number)
        .map_or(&[][..], Vec::as_slice);
    let mut first_vertex = 0;
    let each = (0..).zip(&loaded.primitives).map(|(primitive, drawn)| {
        let own = draws.iter().filter(|draw| draw.primitive == primitive);
        let first = own.clone().map(|draw| draw.first_index).min().unwrap_or(0);
        let end = own.clone().map(|draw| draw.first_index + draw.index_count);
        let count = end.max().unwrap_or(0) - first;
        let index_type = own.clone().map(|draw| draw.index_type).next();
        let index_type = index_type.unwrap_or(vk::IndexType::UINT32);
        let bytes = if index_type == vk::IndexType::UINT16 {
            2
        } else {
            4
        };
        let solid = own.clone().all(|draw| draw.alpha == AlphaMode::Opaque);
        let vertices = level.vertices.get(primitive as usize).copied();
        let vertices = vertices.filter(|_| count > 0).unwrap_or(0);
        let geometry = Geometry {
            // What is empty must not point behind the end of the buffer.
            first_vertex: if vertices > 0 { first_vertex } else { 0 },
            vertices,
            first_byte: first * bytes,
            index_type,
            triangles: count / 3,
            opaque: solid && drawn.bit == 0,
        };
        first_vertex += vertices;
        geometry
    });
    each.collect()
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

/// The build of a bottom-level structure.
pub(crate) fn build<'a>(
    geometries: &'a [vk::AccelerationStructureGeometryKHR<'a>],
) -> vk::AccelerationStructureBuildGeometryInfoKHR<'a> {
    vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL)
        .flags(
            vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE
                | vk::BuildAccelerationStructureFlagsKHR::ALLOW_COMPACTION,
        )
        .mode(vk::BuildAccelerationStructureModeKHR::BUILD)
        .geometries(geometries)
}

fn size(accel: &Accel, mesh: &SkinnedMesh, own: &[Geometry]) -> StructureSize {
    let geometries = own.iter().map(|own| geometry(own, mesh.address(), 0));
    let geometries: Vec<_> = geometries.collect();
    let most: Vec<u32> = own.iter().map(|own| own.triangles).collect();
    StructureSize::of(accel, &build(&geometries), &most)
}

/// The chunks of all primitives, and for each variant their number.
fn chunk_words(
    loaded: &LoadedCharacter,
    geometries: &[Geometry],
    level: usize,
) -> (Vec<u32>, Vec<(u32, u32)>) {
    let draws = loaded
        .mesh
        .draws()
        .get(level)
        .map_or(&[][..], Vec::as_slice);
    let variant = |primitive: u32| {
        let own = draws.iter().filter(|draw| draw.primitive == primitive);
        // A primitive may have draws whose vertices follow one joint, and others.
        let all = |any: u32, draw: &PrimitiveDraw| match draw.variant & GpuPrimitive::ONE_INFLUENCE
        {
            0 => any & !GpuPrimitive::ONE_INFLUENCE | draw.variant & GpuPrimitive::MANY_INFLUENCES,
            _ => any,
        };
        let first = own.clone().next().map_or(0, |draw| draw.variant);
        let of_draws = GpuPrimitive::READS_SKINNED
            | GpuPrimitive::MAY_FLIP
            | GpuPrimitive::MAY_HIDE
            | GpuPrimitive::LIST_STARTS;
        own.fold(first, all) & GpuPrimitive::FOR_POSITIONS & !of_draws
    };
    let numbers = (0..).zip(geometries);
    let numbers = numbers.filter(|(_, geometry)| geometry.vertices > 0);
    let variants = order::sorted_set(numbers.clone().map(|(number, _)| variant(number)).collect());
    let mut words = Vec::new();
    let counted = variants.into_iter().map(|own| {
        let start = words.len();
        for (number, geometry) in numbers
            .clone()
            .filter(|(number, _)| variant(*number) == own)
        {
            for first in (0..geometry.vertices).step_by(CHUNK as usize) {
                let count = (geometry.vertices - first).min(CHUNK);
                words.extend([number, first, count, geometry.first_vertex + first]);
            }
        }
        (own, (words.len() - start) as u32 / 4)
    });
    let counted: Vec<(u32, u32)> = counted.collect();
    (words, counted)
}
