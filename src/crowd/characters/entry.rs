//! The characters of a crowd: GPU data, descriptor sets, instances.

use crate::Threads;
use crate::animator::{ActorId, Animator};
use crate::character::Character;
use crate::crowd::SkinningStage;
use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::memory::load::Need;
use crate::crowd::producers::deform::CpuSkin;
use crate::error::{Error, Result};
use crate::gpu::{Blending, Device, Object, PrimitiveDraw, SetBuffers, SetLayout, SkinnedMesh};
use crate::mesh::{Aabb, AlphaMode, part_bits};
use crate::pass::pipelines::Variant;
use ash::vk;
use std::ffi::CString;
use std::sync::Arc;

/// Drawing data of one primitive.
#[derive(Debug, Clone, Copy)]
pub(in crate::crowd) struct Drawn {
    /// The bit that instances set to hide it, or 0 if it cannot be hidden.
    pub(in crate::crowd) bit: u128,
    vertices: u64,
    blended: bool,
}

/// A character and everything that belongs to it.
#[derive(Debug)]
pub(in crate::crowd) struct Entry {
    /// The character's name, for debuggers.
    pub(in crate::crowd) label: CString,
    /// Skeleton, palette and clips. It has meshes only with `cpu_skin`.
    pub(in crate::crowd) rig: Arc<Character>,
    pub(in crate::crowd) mesh: Box<SkinnedMesh>,
    pub(in crate::crowd) pool: Object<vk::DescriptorPool>,
    /// One set per material, or one for all.
    pub(in crate::crowd) sets: Vec<vk::DescriptorSet>,
    /// The mesh's draws in drawing order: draws that share state are neighbours, blended ones are
    /// last.
    pub(in crate::crowd) draws: Vec<PrimitiveDraw>,
    /// The number of draws that are not blended.
    pub(in crate::crowd) solid: usize,
    /// For each actor of the animator, the table index of its instance.
    pub(in crate::crowd) instance_of_actor: Vec<u32>,
    /// The instances, as indices into the instance table.
    pub(in crate::crowd) members: Vec<u32>,
    /// The number of instances with a flipped transform.
    pub(in crate::crowd) flipped: usize,
    /// The number of instances that hide parts.
    pub(in crate::crowd) hiding: usize,
    /// Drawing data of each primitive.
    pub(in crate::crowd) primitives: Vec<Drawn>,
    /// For instances that are skinned on the CPU, and for picking.
    pub(in crate::crowd) cpu_skin: Option<CpuSkin>,
    /// The centre of the rest pose, by which blended instances are sorted.
    pub(in crate::crowd) center: glam::Vec3,
}

impl Entry {
    /// Makes a character's entry, and the animator of its instances.
    ///
    /// Takes ownership of `mesh`, and returns it if this fails.
    pub(in crate::crowd) fn new(
        device: &Device,
        layout: &SetLayout,
        buffers: &FrameBuffers,
        mesh: Box<SkinnedMesh>,
        (character, cpu_skinning): (&Character, bool),
        threads: &Threads,
    ) -> core::result::Result<(Self, Animator), (Box<SkinnedMesh>, Error)> {
        let cpu_skin = cpu_skinning.then(|| CpuSkin::new(character, mesh.format()));
        let cpu_skin = match cpu_skin.transpose() {
            Ok(cpu_skin) => cpu_skin,
            Err(error) => return Err((mesh, error)),
        };
        let mut animator = match Animator::new(character) {
            Ok(animator) => animator,
            Err(error) => return Err((mesh, error)),
        };
        animator.set_threads(threads.clone());
        let rig = Arc::new(match cpu_skinning {
            true => character.without_images(),
            false => character.rig(),
        });
        animator.expect_fit(Arc::clone(&rig), mesh.format());
        let (pool, sets) = match make_sets(device, layout, buffers, &mesh) {
            Ok(made) => made,
            Err(error) => return Err((mesh, error)),
        };
        let mut draws = mesh.draws().to_vec();
        // Blended primitives keep the order of the file.
        draws.sort_by_key(|draw| {
            let blending = Blending::of(draw.alpha);
            let blended = blending == Blending::Blend;
            let state = (
                blending,
                influences(draw),
                draw.double_sided,
                (draw.flip_code.is_some(), draw.flipped),
                draw.material,
                draw.index_type.as_raw(),
            );
            (blended, (!blended).then_some(state), draw.primitive)
        });
        let solid = draws.partition_point(|draw| draw.alpha != AlphaMode::Blend);
        let bits = part_bits(character.primitives());
        let drawn = character.primitives().iter().zip(bits);
        let drawn = drawn.map(|(primitive, bit)| {
            let material = character.materials().get(primitive.material as usize);
            Drawn {
                bit,
                vertices: primitive.vertex_count() as u64,
                blended: material.is_some_and(|m| m.alpha == AlphaMode::Blend),
            }
        });
        let primitives: Vec<Drawn> = drawn.collect();
        let label = CString::new(character.name()).unwrap_or_default();
        let bounds: Aabb = character.rest_bounds();
        let entry = Self {
            label,
            rig,
            mesh,
            pool,
            sets,
            draws,
            solid,
            instance_of_actor: Vec::new(),
            members: Vec::new(),
            flipped: 0,
            hiding: 0,
            primitives,
            cpu_skin,
            center: bounds.center(),
        };
        Ok((entry, animator))
    }

    /// Notes the table index of the instance of an actor.
    pub(in crate::crowd) fn set_instance_of(&mut self, actor: ActorId, index: u32) {
        let actor = actor.index as usize;
        if self.instance_of_actor.len() <= actor {
            self.instance_of_actor.resize(actor + 1, u32::MAX);
        }
        self.instance_of_actor[actor] = index;
    }

    /// What one instance needs in a skinning stage.
    pub(in crate::crowd) fn need(&self, skin: SkinningStage) -> Need {
        let words = match skin {
            SkinningStage::Vertex => 0,
            SkinningStage::Compute | SkinningStage::Cpu => self.mesh.skinned_layout().words.into(),
        };
        Need {
            instances: 1,
            rows: self.rig.palette().len() as u64 * u64::from(self.mesh.entry_rows()),
            morph_weights: self.rig.morph_weights().len() as u64,
            blended: u64::from(self.solid < self.draws.len()),
            skinned_words: words,
            cpu_skinned_words: if skin == SkinningStage::Cpu { words } else { 0 },
        }
    }

    /// The bit that instances set to hide a primitive, or 0 if it cannot be hidden.
    pub(in crate::crowd) fn bit(&self, primitive: u32) -> u128 {
        let drawn = self.primitives.get(primitive as usize);
        drawn.map_or(0, |drawn| drawn.bit)
    }

    /// The number of vertices of an instance that hides these parts, either of blended primitives
    /// or of all others.
    pub(in crate::crowd) fn vertices(&self, blended: bool, hidden: u128) -> u64 {
        let of = |drawn: &&Drawn| drawn.blended == blended && drawn.bit & hidden == 0;
        let drawn = self.primitives.iter().filter(of);
        drawn.map(|drawn| drawn.vertices).sum()
    }

    /// The descriptor set for draws of a material.
    pub(in crate::crowd) fn set(&self, material: u32) -> Option<vk::DescriptorSet> {
        let own = self.sets.get(material as usize);
        let shared = self.sets.first().filter(|_| self.sets.len() == 1);
        own.or(shared).copied()
    }

    /// The pipeline variants that its draws use.
    pub(in crate::crowd) fn variants(&self) -> impl Iterator<Item = Variant> + '_ {
        self.draws.iter().map(|draw| variant(&self.mesh, draw))
    }
}

/// The pipeline variant that a draw uses.
pub(in crate::crowd) fn variant(mesh: &SkinnedMesh, draw: &PrimitiveDraw) -> Variant {
    Variant {
        method: mesh.format() as u32,
        influences: influences(draw),
        blending: Blending::of(draw.alpha),
    }
}

/// The constant `THRONG_INFLUENCES` of a draw's pipeline. Few values keep pipelines few.
fn influences(draw: &PrimitiveDraw) -> u32 {
    match draw.influences {
        0 | 1 => 1,
        2..=4 => 4,
        _ => 0,
    }
}

/// Makes the sets of `mesh`: one for all materials, or one for each. They have a pool of their own.
fn make_sets(
    device: &Device,
    layout: &SetLayout,
    buffers: &FrameBuffers,
    mesh: &SkinnedMesh,
) -> Result<(Object<vk::DescriptorPool>, Vec<vk::DescriptorSet>)> {
    let (count, each) = mesh.sets();
    let textures = vec![each; count as usize];
    let (pool, sets) = layout.with_pool(device, "throng character", &textures)?;
    for (number, set) in (0..).zip(&sets) {
        let content = SetBuffers {
            view: Some(buffers.view_range()),
            mesh: Some(mesh.buffer()),
            instances: Some(buffers.instances()),
            lists: Some(buffers.record_range(buffers.sections.lists)),
            skinned: Some(buffers.skinned()),
            textures: Some(&mesh.textures(number)),
        };
        // SAFETY: the set is new. The buffers and images that it refers to live as long as the
        // entry and the crowd's buffers, which are retired together with the set.
        unsafe { layout.write(device, *set, &content) };
    }
    Ok((pool, sets))
}

type PoolAndSets = (Object<vk::DescriptorPool>, Vec<vk::DescriptorSet>);

/// Makes new sets for all characters over new buffers. If one fails, none is replaced.
pub(in crate::crowd) fn all_sets(
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
                    // SAFETY: no command buffer has used the pool's sets, because they were created
                    // above.
                    unsafe { pool.destroy(device) };
                }
                return Err(error);
            }
        }
    }
    Ok(made)
}
