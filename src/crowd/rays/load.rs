//! Loads what rays meet of a character.

use crate::crowd::characters::level::Level;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::buffers::Space;
use crate::crowd::rays::character::{Geometry, RayCharacter, RayMesh, build};
use crate::crowd::rays::desc::RayDesc;
use crate::error::{Error, Result};
use crate::gpu::accel::Accel;
use crate::gpu::animation::words as address_words;
use crate::gpu::constants::TABLE_ADDRESSES;
use crate::gpu::layout::GpuPrimitive;
use crate::gpu::structures::Structures;
use crate::gpu::{Buffer, CHUNK, Gpu, GpuInstance, Guard, Upload, first_material, limit};
use crate::mesh::AlphaMode;
use crate::order;
use crate::pass::rays::RayChunks;
use ash::vk;
use ash::vk::AccelerationStructureBuildRangeInfoKHR as BuildRange;
use std::collections::VecDeque;

/// The most structures of a character.
const MAX_STRUCTURES: u64 = 1 << 16;

/// The part of a model's size that the error of slots may have.
const SLOT_ERROR: f32 = 1.0 / 128.0;

impl RayCharacter {
    /// Chooses the levels of detail, and stages the upload of chunks.
    ///
    /// # Errors
    /// - [`Error::NotFound`] for a level of [`CharacterDesc::ray_levels`] that does not exist.
    /// - [`Error::Capacity`] if the device has no structures with so many triangles.
    /// - [`Error::Memory`] and [`Error::Vulkan`] from the device.
    ///
    /// [`CharacterDesc::ray_levels`]: crate::CharacterDesc::ray_levels
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        upload: &mut Upload,
        loaded: &LoadedCharacter,
        desc: &RayDesc,
    ) -> Result<Guard<'g, Self>> {
        let accel = gpu.device.accel("CrowdDesc::rays")?;
        let levels = loaded.levels.len();
        for level in loaded.desc.ray_levels.into_iter().flatten() {
            if level as usize >= levels {
                return Err(Error::not_found("level", level as usize, levels));
            }
        }
        let poses = loaded.shared_poses.as_ref().map_or(0, SharedPoses::most);
        let wanted = (1 + u64::from(poses)).min(MAX_STRUCTURES);
        let mut meshes = meshes(accel, loaded, (desc, wanted));
        for mesh in &meshes {
            let what = "triangles of an acceleration structure (maxPrimitiveCount)";
            limit(what, mesh.triangles(), accel.max_primitives)?;
        }
        let affordable = meshes
            .each_ref()
            .map(|mesh| desc.bytes_per_character / mesh.bytes);
        let count = wanted.min(affordable[0]).max(1) as usize;
        let slots = affordable[1].min(desc.near_slots.into()) as usize;
        let (words, table) = tables(loaded, &mut meshes, (count, slots));
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_DST;
        let name = format!("throng {}: rays", loaded.rig.name());
        let buffer = Buffer::device_local(gpu, &name, table.len() as u64 * 4, usage)?;
        upload.buffer(gpu, &buffer, bytemuck::cast_slice(&table))?;
        let kind = vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL;
        let sizes = vec![meshes[1].bytes; slots];
        let slots = Structures::new(gpu, "throng slots", kind, &sizes)?;
        Ok(buffer.map(|table| Self {
            meshes,
            slots: slots.keep(),
            slots_built: 0,
            table,
            words,
            recorded: 0,
            addresses: vec![0; count],
            queue: VecDeque::from([0]),
            clips: Vec::new(),
            clips_end: 0,
            batches: Vec::new(),
        }))
    }
}

/// The table of a character with so many poses and slots, without their addresses: head and
/// addresses, and all of it. Notes where the chunks of the meshes are.
fn tables(
    loaded: &LoadedCharacter,
    meshes: &mut [RayMesh; 2],
    (poses, slots): (usize, usize),
) -> (Vec<u32>, Vec<u32>) {
    let [shared, near] = meshes;
    let lists = TABLE_ADDRESSES + 2 * (poses + slots);
    let geometries = [lists, lists + 2 * shared.geometries.len()].map(|at| at as u32);
    let [flags, hiding] = flags(loaded);
    let [low, high] = address_words(loaded.mesh.address());
    let errors = [&*shared, near].map(|mesh| {
        let error_m = loaded.errors(false).get(mesh.level as usize);
        error_m.copied().unwrap_or(0.0).to_bits()
    });
    let binding = loaded.desc.sbt_offset & 0xFF_FFFF;
    let (clips, poses) = (loaded.rig.clips().len() as u32, poses as u32);
    let material = first_material(loaded.primitives.len()) as u32;
    let head: [[u32; 4]; TABLE_ADDRESSES / 4] = [
        [binding, flags, hiding, clips],
        [poses - 1, shared.level, near.each.vertices as u32, 0],
        [low, high, geometries[0], geometries[1]],
        [errors[0], errors[1], material, 0],
    ];
    let mut words = head.as_flattened().to_vec();
    words.resize(lists, 0);
    let mut table = words.clone();
    for mesh in [&*shared, near] {
        for (own, range) in mesh.geometries.iter().zip(&mesh.ranges) {
            // See `throng_hit_geometry` in `shaders/include/throng_hit.glsl`.
            let narrow = u32::from(own.index_type == vk::IndexType::UINT16);
            table.extend([range.primitive_offset | narrow, own.hidden_bit]);
        }
    }
    // Rows of 16 bytes.
    table.resize(table.len().next_multiple_of(4), 0);
    for mesh in meshes {
        mesh.add_chunks(&mut table);
    }
    (words, table)
}

impl RayMesh {
    /// The triangles at a level, without chunks. `refits` is true for structures that are refitted.
    fn new(accel: &Accel, loaded: &LoadedCharacter, level: usize, refits: bool) -> Self {
        let own = loaded.levels.get(level);
        let (geometries, ranges) = own.map_or_else(Default::default, |own| triangles(loaded, own));
        let most: Vec<u32> = ranges.iter().map(|own| own.primitive_count).collect();
        let vertices = geometries.iter().map(|own| u64::from(own.vertices)).sum();
        let mut mesh = Self {
            level: level as u32,
            geometries,
            ranges,
            bytes: 0,
            each: Space::default(),
            address: loaded.mesh.address(),
            chunks: Vec::new(),
        };
        let all: Vec<_> = mesh.geometries(0).collect();
        let [bytes, scratch] = accel.sizes(&build(&all, refits), &most);
        mesh.bytes = bytes;
        mesh.each = Space {
            jobs: 1,
            vertices,
            scratch,
        };
        mesh
    }

    fn triangles(&self) -> u64 {
        self.ranges
            .iter()
            .map(|own| u64::from(own.primitive_count))
            .sum()
    }

    /// Appends its chunks to a table, and notes where they are.
    fn add_chunks(&mut self, table: &mut Vec<u32>) {
        let all = (0..).zip(&self.geometries);
        let mut all: Vec<(u32, &Geometry)> = all.filter(|(_, own)| own.vertices > 0).collect();
        order::sort_by_key(&mut all, |(_, own)| own.variant);
        let chunks = all
            .chunk_by(|(_, a), (_, b)| a.variant == b.variant)
            .map(|same| {
                let start = table.len();
                for (primitive, own) in same {
                    for first in (0..own.vertices).step_by(CHUNK as usize) {
                        let count = (own.vertices - first).min(CHUNK);
                        table.extend([*primitive, first, count, own.first_vertex + first]);
                    }
                }
                RayChunks {
                    variant: same[0].1.variant,
                    count: (table.len() - start) as u32 / 4,
                    first_byte: start as u64 * 4,
                }
            });
        self.chunks = chunks.collect();
    }
}

/// The triangles of so many shared poses, and those of slots.
fn meshes(
    accel: &Accel,
    loaded: &LoadedCharacter,
    (desc, wanted): (&RayDesc, u64),
) -> [RayMesh; 2] {
    let mesh = |level, refits| RayMesh::new(accel, loaded, level, refits);
    if let Some([near, shared]) = loaded.desc.ray_levels {
        return [mesh(shared as usize, false), mesh(near as usize, true)];
    }
    // The finest level with which they fit, or the coarsest.
    let coarsest = loaded.levels.len().saturating_sub(1);
    let fits = |mesh: &RayMesh| {
        let bytes = mesh.bytes.saturating_mul(wanted);
        bytes <= desc.bytes_per_character && mesh.triangles() <= accel.max_primitives
    };
    let shared = (0..coarsest).map(|level| mesh(level, false)).find(fits);
    let shared = shared.unwrap_or_else(|| mesh(coarsest, false));
    // The coarsest level that is precise enough, at most that of shared poses.
    let most = loaded.rig.rest_bounds().size().max_element() * SLOT_ERROR;
    let precise = loaded.errors(false).partition_point(|error| *error <= most);
    let near = precise.saturating_sub(1).min(shared.level as usize);
    [shared, mesh(near, true)]
}

/// The flags of instances that hide nothing, and of those that hide parts.
fn flags(loaded: &LoadedCharacter) -> [u32; 2] {
    use vk::GeometryInstanceFlagsKHR as Flags;
    let mut materials = loaded.rig.materials().iter();
    let masked = materials.any(|it| matches!(it.alpha, AlphaMode::Mask { .. }));
    let mut draws = loaded.levels.iter().flat_map(|level| level.draws(false));
    let two_sided = draws.any(|draw| draw.double_sided || draw.flip_code.is_some());
    let flag = |flag: Flags, is: bool| if is { flag.as_raw() } else { 0 };
    let facing = flag(Flags::TRIANGLE_FACING_CULL_DISABLE, two_sided);
    [facing | flag(Flags::FORCE_OPAQUE, !masked), facing]
}

/// The triangles of each primitive at a level, some of which have none.
fn triangles(loaded: &LoadedCharacter, level: &Level) -> (Vec<Geometry>, Vec<BuildRange>) {
    // Bits of a variant that do not change positions in character space.
    let of_draws = GpuPrimitive::READS_SKINNED
        | GpuPrimitive::MAY_FLIP
        | GpuPrimitive::VARIES
        | GpuPrimitive::LIST_STARTS;
    let one = GpuPrimitive::ONE_INFLUENCE;
    let mut next_vertex = 0;
    let primitives = (0..).zip(loaded.primitives.iter().zip(&level.vertices));
    let each = primitives.map(|(primitive, (drawn, vertices))| {
        let draws = level.draws(false).iter();
        let own = draws.filter(|draw| draw.primitive == primitive);
        let first = own.clone().map(|draw| draw.first_index).min().unwrap_or(0);
        let end = own.clone().map(|draw| draw.first_index + draw.index_count);
        let count = end.max().unwrap_or(0) - first;
        let index_type = own.clone().map(|draw| draw.index_type).next();
        let index_type = index_type.unwrap_or(vk::IndexType::UINT32);
        let narrow = index_type == vk::IndexType::UINT16;
        let solid = own.clone().all(|draw| draw.alpha == AlphaMode::Opaque);
        // A primitive may have draws whose vertices follow one joint, and others.
        let variants = own.map(|draw| draw.variant);
        let variant = variants.reduce(|a, b| (a | b) & !one | a & b & one);
        let vertices = if count > 0 { *vertices } else { 0 };
        let geometry = Geometry {
            // Nothing that is empty may point behind the end of the buffer.
            first_vertex: if vertices > 0 { next_vertex } else { 0 },
            vertices,
            index_type,
            opaque: solid && drawn.bit == 0,
            hidden_bit: match drawn.bit {
                0 => GpuInstance::NONE,
                bit => bit.trailing_zeros(),
            },
            variant: variant.unwrap_or(0) & GpuPrimitive::FOR_POSITIONS & !of_draws,
        };
        next_vertex += vertices;
        let range = BuildRange::default()
            .primitive_count(count / 3)
            .primitive_offset(first * if narrow { 2 } else { 4 });
        (geometry, range)
    });
    each.unzip()
}
