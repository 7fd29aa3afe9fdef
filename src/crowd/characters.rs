//! The characters of a crowd: their data on the GPU, their sets, their instances.

use super::buffers::FrameBuffers;
use super::view::VIEW_BYTES;
use crate::character::Character;
use crate::error::{Error, Result};
use crate::gpu::{Device, Object, PrimitiveDraw, SetBuffers, SetLayout, SkinnedMesh, sets};
use ash::vk;
use std::ffi::CString;

/// A character of a crowd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CharacterId(pub(super) u32);

/// A character and everything that belongs to it.
#[derive(Debug)]
pub(super) struct Entry {
    /// For debuggers: the character's name.
    pub(super) label: CString,
    /// Skeleton, palette and clips; no meshes.
    pub(super) rig: Character,
    pub(super) mesh: Box<SkinnedMesh>,
    pub(super) pool: Object<vk::DescriptorPool>,
    /// One per material.
    pub(super) sets: Vec<vk::DescriptorSet>,
    /// The mesh's draws, in the order in which they are drawn: those that share state together.
    pub(super) draws: Vec<PrimitiveDraw>,
    /// The instances, as slots of the instance table.
    pub(super) members: Vec<u32>,
    /// How many of them have a transform that mirrors.
    pub(super) mirrored: usize,
    pub(super) triangles: u64,
}

impl Entry {
    /// Takes charge of `mesh`; gives it back where that fails.
    pub(super) fn new(
        device: &Device,
        layout: &SetLayout,
        buffers: &FrameBuffers,
        mesh: Box<SkinnedMesh>,
        character: &Character,
    ) -> core::result::Result<Self, (Box<SkinnedMesh>, Error)> {
        let (pool, sets) = match make_sets(device, layout, buffers, &mesh) {
            Ok(made) => made,
            Err(error) => return Err((mesh, error)),
        };
        let mut draws = mesh.draws().to_vec();
        draws.sort_by_key(|draw| {
            (
                draw.double_sided,
                draw.material,
                draw.index_type.as_raw(),
                draw.primitive,
            )
        });
        let triangles = draws
            .iter()
            .map(|draw| u64::from(draw.index_count / 3))
            .sum();
        let label = CString::new(character.name()).unwrap_or_default();
        Ok(Self {
            label,
            rig: character.rig(),
            mesh,
            pool,
            sets,
            draws,
            members: Vec::new(),
            mirrored: 0,
            triangles,
        })
    }
}

/// A set for each material of `mesh`, in a pool of their own.
fn make_sets(
    device: &Device,
    layout: &SetLayout,
    buffers: &FrameBuffers,
    mesh: &SkinnedMesh,
) -> Result<(Object<vk::DescriptorPool>, Vec<vk::DescriptorSet>)> {
    let count = mesh.material_count();
    let sizes = SetLayout::pool_sizes(count);
    let (pool, sets) = sets::allocate(device, "throng character", &sizes, layout.handle(), count)?;
    for (material, set) in (0..).zip(&sets) {
        let content = SetBuffers {
            view: Some(buffers.record_range(VIEW_BYTES)),
            ring_palettes: Some(buffers.palettes.descriptor()),
            resident_palettes: Some(mesh.rest_palette()),
            instances: Some(buffers.instances()),
            visible: Some(buffers.record_range(buffers.sections.visible.bytes)),
            geometry: Some(mesh.geometry()),
            primitives: Some(mesh.primitives()),
            base_color: mesh.base_color(material),
        };
        // SAFETY: the set is fresh; what it refers to lives as long as the entry and the buffers do,
        // and both are retired together with the set.
        unsafe { layout.write(device, *set, &content) };
    }
    Ok((pool, sets))
}

type PoolAndSets = (Object<vk::DescriptorPool>, Vec<vk::DescriptorSet>);

/// New sets for all characters, over new buffers; all or none.
pub(super) fn all_sets(
    device: &Device,
    layout: &SetLayout,
    buffers: &FrameBuffers,
    characters: &[Option<Entry>],
) -> Result<Vec<PoolAndSets>> {
    let mut made: Vec<PoolAndSets> = Vec::new();
    for entry in characters.iter().flatten() {
        match make_sets(device, layout, buffers, &entry.mesh) {
            Ok(sets) => made.push(sets),
            Err(error) => {
                for (mut pool, _) in made {
                    // SAFETY: just made, never used.
                    unsafe { pool.destroy(device) };
                }
                return Err(error);
            }
        }
    }
    Ok(made)
}
