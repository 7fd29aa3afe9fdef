//! Loads what rays meet of a character.

use crate::crowd::characters::level::Level;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::character::{Geometry, RayCharacter, RayMesh, Slots, build};
use crate::crowd::rays::desc::RayDesc;
use crate::error::{Error, Result};
use crate::gpu::accel::{Accel, StructureSize};
use crate::gpu::animation::words as address_words;
use crate::gpu::constants::TABLE_ADDRESSES;
use crate::gpu::layout::GpuPrimitive;
use crate::gpu::structures::Structures;
use crate::gpu::{
    Buffer, CHUNK, Gpu, GpuInstance, Guard, PrimitiveDraw, Upload, first_material, limit,
};
use crate::mesh::AlphaMode;
use crate::order;
use crate::pass::rays::{CHUNK_BYTES, RayChunks};
use ash::vk;
use std::collections::VecDeque;

/// The most structures of a character.
const MAX_STRUCTURES: usize = 1 << 16;

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
        let count = loaded.levels.len();
        for level in loaded.desc.ray_levels.into_iter().flatten() {
            if level as usize >= count {
                return Err(Error::not_found("level", level as usize, count));
            }
        }
        let poses = loaded.shared_poses.as_ref().map_or(0, SharedPoses::most);
        let wanted = (1 + poses as usize).min(MAX_STRUCTURES);
        let mut mesh = shared_mesh(accel, loaded, (desc, wanted));
        let affordable = desc.bytes_per_character / mesh.size.bytes.max(1);
        let count = wanted.min((affordable as usize).max(1));
        let mut near = slot_mesh(accel, loaded, mesh.level);
        for mesh in [&mesh, &near] {
            let what = "triangles of an acceleration structure (maxPrimitiveCount)";
            limit(what, mesh.triangles(), accel.max_primitives)?;
        }
        let affordable = desc.bytes_per_character / near.size.bytes.max(1);
        let slots = affordable.min(desc.near_slots.into()) as usize;
        let mut words = vec![0; TABLE_ADDRESSES + 2 * (count + slots)];
        let [flags, hiding] = flags(loaded);
        let lists = words.len() as u32;
        let primitives = mesh.geometries.len() as u32;
        let error = |mesh: &RayMesh| {
            let errors = loaded.errors(false);
            errors.get(mesh.level as usize).copied().unwrap_or(0.0)
        };
        let [low, high] = address_words(loaded.mesh.address());
        words[..TABLE_ADDRESSES].copy_from_slice(&[
            loaded.desc.sbt_offset & 0xFF_FFFF,
            flags,
            hiding,
            loaded.rig.clips().len() as u32,
            count as u32 - 1,
            mesh.level,
            near.vertices,
            0,
            low,
            high,
            lists,
            lists + 2 * primitives,
            error(&mesh).to_bits(),
            error(&near).to_bits(),
            first_material(loaded.primitives.len()) as u32,
            0,
        ]);
        let mut table = words.clone();
        for mesh in [&mesh, &near] {
            table.extend(mesh.geometries.iter().flat_map(Geometry::words));
        }
        // Rows of 16 bytes.
        table.resize(table.len().next_multiple_of(4), 0);
        let mut starts = [0; 2];
        for (start, mesh) in starts.iter_mut().zip([&mut mesh, &mut near]) {
            *start = table.len() as u64 * 4;
            mesh.add_chunks(loaded, &mut table);
        }
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_DST;
        let name = format!("throng {}: rays", loaded.rig.name());
        let buffer = Buffer::device_local(gpu, &name, table.len() as u64 * 4, usage)?;
        upload.buffer(gpu, &buffer, bytemuck::cast_slice(&table))?;
        for (start, mesh) in starts.iter().zip([&mut mesh, &mut near]) {
            let mut address = buffer.address + start;
            for chunks in &mut mesh.chunks {
                chunks.address = address;
                address += u64::from(chunks.count) * CHUNK_BYTES;
            }
        }
        let sizes = vec![near.size.bytes; slots];
        let slots = (slots > 0).then(|| {
            let kind = vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL;
            let made = Structures::new(gpu, "throng slots", kind, &sizes)?;
            Ok(made.map(|structures| Slots {
                mesh: near,
                structures,
                built: 0,
            }))
        });
        let slots: Option<Guard<'_, Slots>> = slots.transpose()?;
        Ok(buffer.map(|table| Self {
            mesh,
            slots: slots.map(Guard::keep),
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

impl RayMesh {
    /// The triangles at a level, without chunks. `refits` is true for structures that are refitted.
    fn new(accel: &Accel, loaded: &LoadedCharacter, level: usize, refits: bool) -> Self {
        let geometries = loaded
            .level(level as u8)
            .map_or_else(Vec::new, |own| geometries(loaded, own, level));
        let mut mesh = Self {
            level: level as u32,
            vertices: geometries.iter().map(|it| it.vertices).sum(),
            geometries,
            size: StructureSize::default(),
            mesh: loaded.mesh.address(),
            chunks: Vec::new(),
        };
        let all: Vec<_> = mesh.geometries(0).collect();
        let most = mesh.geometries.iter().map(|own| own.triangles);
        let most: Vec<u32> = most.collect();
        mesh.size = StructureSize::of(accel, &build(&all, refits), &most);
        mesh
    }

    /// Appends its chunks to a table, and notes them without their addresses.
    fn add_chunks(&mut self, loaded: &LoadedCharacter, table: &mut Vec<u32>) {
        let (mut words, variants) = chunk_words(loaded, &self.geometries, self.level as usize);
        table.append(&mut words);
        let chunks = variants.into_iter().map(|(variant, count)| RayChunks {
            variant,
            count,
            address: 0,
        });
        self.chunks = chunks.collect();
    }
}

/// The finest level with which so many structures fit, or the coarsest.
fn shared_mesh(
    accel: &Accel,
    loaded: &LoadedCharacter,
    (desc, wanted): (&RayDesc, usize),
) -> RayMesh {
    if let Some([_, level]) = loaded.desc.ray_levels {
        return RayMesh::new(accel, loaded, level as usize, false);
    }
    let coarsest = loaded.levels.len().saturating_sub(1);
    let mut levels = (0..=coarsest).map(|level| RayMesh::new(accel, loaded, level, false));
    let fits = |mesh: &RayMesh| {
        let bytes = mesh.size.bytes.saturating_mul(wanted as u64);
        let fits = bytes <= desc.bytes_per_character && mesh.triangles() <= accel.max_primitives;
        fits || mesh.level as usize == coarsest
    };
    let found = levels.find(fits);
    found.unwrap_or_else(|| RayMesh::new(accel, loaded, coarsest, false))
}

/// The part of a model's size that the error of slots may have.
const SLOT_ERROR: f32 = 1.0 / 128.0;

/// The coarsest level that is precise enough for slots, at most that of shared poses.
fn slot_mesh(accel: &Accel, loaded: &LoadedCharacter, shared: u32) -> RayMesh {
    let most = loaded.rig.rest_bounds().size().max_element() * SLOT_ERROR;
    let level = match loaded.desc.ray_levels {
        Some([level, _]) => level as usize,
        None => {
            let precise = loaded.errors(false).partition_point(|error| *error <= most);
            (precise.max(1) - 1).min(shared as usize)
        }
    };
    RayMesh::new(accel, loaded, level, true)
}

/// The flags of instances that hide nothing, and of those that hide parts.
fn flags(loaded: &LoadedCharacter) -> [u32; 2] {
    use vk::GeometryInstanceFlagsKHR as Flags;
    let mut materials = loaded.rig.materials().iter();
    let masked = materials.any(|it| matches!(it.alpha, AlphaMode::Mask { .. }));
    let mut draws = loaded.levels.iter().flat_map(|level| level.draws(false));
    let two_sided = draws.any(|draw| draw.double_sided || draw.flip_code.is_some());
    let (facing, opaque) = (Flags::TRIANGLE_FACING_CULL_DISABLE, Flags::FORCE_OPAQUE);
    let flags = if two_sided { facing.as_raw() } else { 0 };
    [
        if masked {
            flags
        } else {
            flags | opaque.as_raw()
        },
        flags,
    ]
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
            // Nothing that is empty may point behind the end of the buffer.
            first_vertex: if vertices > 0 { first_vertex } else { 0 },
            vertices,
            first_byte: first * bytes,
            index_type,
            triangles: count / 3,
            opaque: solid && drawn.bit == 0,
            hidden_bit: match drawn.bit {
                0 => GpuInstance::NONE,
                bit => bit.trailing_zeros(),
            },
        };
        first_vertex += vertices;
        geometry
    });
    each.collect()
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
