//! The characters of a crowd: their data on the GPU, descriptor sets, and instances.

use crate::animator::{ActorId, NameOrId};
use crate::character::Character;
use crate::crowd::capacity::Need;
use crate::crowd::characters::level::{Drawn, Level};
use crate::crowd::instances::state::{Colors, InstanceState, Kind, Sizes, is_flipped, morph_words};
use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::poses::shared_poses::SharedPoses;
use crate::crowd::rays::character::RayCharacter;
use crate::crowd::visibility::Look;
use crate::crowd::visibility::chunks::{KINDS, Slot, draw_of_kind};
use crate::crowd::{CharacterDesc, SkinningStage};
#[cfg(doc)]
use crate::error::Error;
use crate::error::{Result, expect};
use crate::gpu::animation::words;
use crate::gpu::constants::{LEVEL_BITS, MAX_LEVELS, SKINS};
use crate::gpu::layout::{GpuChange, GpuDraw};
use crate::gpu::palettes::Row;
use crate::gpu::sets::Sets;
use crate::gpu::{
    AnimationTables, CpuReason, Destroy, Device, Gpu, GpuInstance, Guard, MAX_JOINTS,
    MaterialClasses, PrimitiveDraw, SetBuffers, SetLayout, SkinnedMesh, Upload, destroy_fields,
    palettes,
};
use crate::grow::{grown, reserve_all};
use crate::mesh::{AlphaMode, MeshLevel, PartId, part_bits};
use crate::palette::{Mat3x4, PaletteFormat};
use crate::pass::pipelines::{Reads, Variant};
use crate::pass::skin::MAX_GROUPS;
use crate::skin::Skinner;
use crate::threads::Threads;
use ash::vk;
use bytemuck::Zeroable;
use glam::Affine3A;
use std::ffi::CString;
use std::sync::Arc;

const _: () = assert!(MAX_LEVELS == 1 + MeshLevel::MAX_COUNT && MAX_LEVELS == 1 << LEVEL_BITS);

/// The CPU data for skinning a character's instances there.
#[derive(Debug)]
pub(crate) struct CpuSkin {
    pub(crate) skinner: Skinner,
    /// The rest pose's palette.
    pub(crate) rest: Vec<Row>,
}

impl CpuSkin {
    pub(crate) fn new(character: &Character, format: PaletteFormat) -> Result<Self> {
        Ok(Self {
            skinner: Skinner::new(character)?,
            rest: palettes::rest(character, format)?,
        })
    }
}

/// An indirect draw of instances that are drawn alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Indirect<'a> {
    pub(crate) draw: &'a PrimitiveDraw,
    pub(crate) level: usize,
    /// True if their transforms are flipped.
    pub(crate) flipped: bool,
    /// True if their looks vary.
    pub(crate) varies: bool,
    /// Its number in the GPU's table of draws.
    pub(crate) slot: u32,
}

/// The values that the state of a new instance starts with.
#[derive(Debug)]
pub(crate) struct NewInstance {
    pub(crate) actor: ActorId,
    pub(crate) world_from_model: Affine3A,
    pub(crate) colors: Colors,
    pub(crate) user_data: u32,
    pub(crate) skin: SkinningStage,
}

/// The kinds of instances that a character has in a prepared frame. The game may go on before that
/// is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DrawnKinds {
    /// The looks of some do not vary.
    plain: bool,
    /// Some have a flipped transform.
    flipped: bool,
    /// The looks of some vary.
    varying: bool,
    /// Some have a material variant.
    wearing: bool,
}

/// A character and everything that belongs to it.
#[derive(Debug)]
pub(crate) struct LoadedCharacter {
    /// Tells it apart from all characters that were ever loaded.
    pub(crate) serial: u32,
    /// The options that it was added with.
    pub(crate) desc: CharacterDesc,
    /// The character's name, for debuggers.
    pub(crate) label: CString,
    /// Skeleton, palette and clips. It has meshes only with `cpu_skin`.
    pub(crate) rig: Arc<Character>,
    pub(crate) mesh: Box<SkinnedMesh>,
    /// One set per material, or one for all.
    pub(crate) sets: Sets,
    /// The levels of detail, the full one first.
    pub(crate) levels: Vec<Level>,
    /// The errors of the levels in metres, ascending from 0.
    errors: Vec<f32>,
    /// The number of levels that have parts. The others are meshes of the whole character.
    pub(crate) near_levels: usize,
    /// For each actor of the animator, the table index of its instance.
    pub(crate) instance_of_actor: Vec<u32>,
    /// The instances, as indices into the instance table.
    pub(crate) members: Vec<u32>,
    /// Its place in the tables of the GPU's cull stage, or `None` if the CPU culls it.
    pub(crate) slot: Option<Slot>,
    /// The tables that the GPU poses its instances with, or the reason why the CPU does.
    pub(crate) animation: core::result::Result<AnimationTables, CpuReason>,
    /// Poses that instances share that the GPU poses, if there is memory for some.
    pub(crate) shared_poses: Option<SharedPoses>,
    /// Its acceleration structures, if rays meet it.
    pub(crate) rays: Option<Box<RayCharacter>>,
    /// The number of instances with a flipped transform.
    pub(crate) flipped: usize,
    /// The number of instances that hide parts or have a material variant.
    pub(crate) varying: usize,
    /// The number of those with a material variant.
    pub(crate) wearing: usize,
    /// The kinds of instances that the frame prepared last has.
    pub(crate) prepared: DrawnKinds,
    /// Drawing data of each primitive.
    pub(crate) primitives: Vec<Drawn>,
    /// For instances that are skinned on the CPU, and for picking.
    pub(crate) cpu_skin: Option<CpuSkin>,
    /// The centre of the rest pose, by which blended instances are sorted.
    pub(crate) center: glam::Vec3,
    /// True if joints may mirror or flatten what is attached to them.
    pub(crate) mirrors: bool,
    /// True if instances have had deformed vertices.
    pub(crate) deforms: bool,
    /// The data that its pipelines read. Between frames, this follows `deforms`.
    pub(crate) reads: Reads,
    /// True if it has pipelines for instances with material variants.
    pub(crate) wears_variants: bool,
}

destroy_fields!(LoadedCharacter, Gpu<'a>: sets, mesh, animation, shared_poses, rays);

impl LoadedCharacter {
    /// Creates a character's data, and the upload that fills it. `serial` is a new number. `traced`
    /// is true if rays may meet it.
    ///
    /// # Errors
    /// As [`Crowd::add_character`](super::Crowd::add_character).
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        (layout, buffers): (&SetLayout, &FrameBuffers),
        (character, serial): (&Character, u32),
        (desc, traced): (&CharacterDesc, bool),
    ) -> Result<(Guard<'g, Self>, Guard<'g, Upload>)> {
        let mut upload = Guard::new(gpu, Upload::default());
        let mesh = SkinnedMesh::create(gpu, &mut upload, (character, desc.method), traced)?;
        let cpu_skin = desc
            .cpu_skinning
            .then(|| CpuSkin::new(character, mesh.format()))
            .transpose()?;
        let sets = make_sets(gpu.device, layout, buffers, &mesh)?;
        let levels = 0..mesh.draws().len().min(MAX_LEVELS);
        let levels = levels.map(|level| Level::new(character, &mesh, level));
        let levels: Vec<Level> = levels.collect();
        let errors = levels.iter().scan(0.0, |most: &mut f32, level| {
            *most = most.max(level.error_m);
            Some(*most)
        });
        let errors = errors.collect();
        let shared = mesh.shares_set();
        let drawn = character
            .primitives()
            .iter()
            .zip(part_bits(character.primitives()));
        let drawn = drawn.map(|(primitive, bit)| {
            let material = character.materials().get(primitive.material as usize);
            let classes = MaterialClasses::new(character, primitive, shared);
            let classes = classes.table(character, primitive).into_iter();
            Drawn {
                bit,
                classes: classes.map(|[_, class]| class).collect(),
                blended: material.is_some_and(|m| m.alpha == AlphaMode::Blend),
            }
        });
        let loaded = Self {
            serial,
            desc: *desc,
            label: CString::new(character.name()).unwrap_or_default(),
            rig: Arc::new(match desc.cpu_skinning {
                true => character.without_images(),
                false => character.rig(),
            }),
            mesh: Box::new(mesh.keep()),
            sets: sets.keep(),
            levels,
            errors,
            near_levels: 1 + character.far_levels().start,
            instance_of_actor: Vec::new(),
            members: Vec::new(),
            slot: None,
            animation: Err(CpuReason::Chosen),
            shared_poses: None,
            rays: None,
            flipped: 0,
            varying: 0,
            wearing: 0,
            prepared: DrawnKinds::default(),
            primitives: drawn.collect(),
            cpu_skin,
            center: character.rest_bounds().center(),
            mirrors: character.mirrors(),
            deforms: false,
            reads: Reads::default(),
            wears_variants: false,
        };
        Ok((Guard::new(gpu, loaded), upload))
    }

    /// Creates what the GPU poses its instances with, where it can. With boxes of shared poses if
    /// `boxed` is true.
    ///
    /// # Errors
    /// As [`AnimationTables::new`].
    pub(crate) fn pose_on_gpu(
        &mut self,
        gpu: Gpu<'_>,
        upload: &mut Upload,
        character: &Character,
        (boxed, threads): (bool, &Threads),
    ) -> Result<()> {
        let joints = character.skeleton().len();
        if self.is_blended() {
            self.animation = Err(CpuReason::Blended);
            return Ok(());
        }
        if joints > MAX_JOINTS as usize {
            self.animation = Err(CpuReason::Joints);
            return Ok(());
        }
        let method = self.desc.method;
        let tables = AnimationTables::create(gpu, upload, character, method)?;
        let limits = (self.desc.shared_pose_bytes, boxed, threads);
        let poses = SharedPoses::new(gpu, upload, (character, &tables), limits)?;
        self.animation = Ok(tables.keep());
        self.shared_poses = poses.map(Guard::keep);
        Ok(())
    }

    /// True if instances can be posed on the GPU whose vertices this stage deforms.
    pub(crate) fn skins_on_gpu(&self, stage: SkinningStage) -> bool {
        match stage {
            SkinningStage::Vertex => true,
            SkinningStage::Cpu => false,
            SkinningStage::Compute => {
                let mut groups = self.mesh.skin_groups();
                groups.len() <= SKINS
                    && groups.all(|count| count <= MAX_GROUPS)
                    && self.members.len() <= MAX_GROUPS as usize
            }
        }
    }

    /// Makes the sets again, over new buffers of the crowd. No frame has used the old ones.
    ///
    /// # Errors
    /// [`Error::Vulkan`]. The old sets are then kept.
    pub(crate) fn renew_sets(
        &mut self,
        device: &Device,
        layout: &SetLayout,
        buffers: &FrameBuffers,
    ) -> Result<()> {
        let sets = make_sets(device, layout, buffers, &self.mesh)?;
        let mut old = core::mem::replace(&mut self.sets, sets.keep());
        // SAFETY: no frame has used the old sets, by this function's contract.
        unsafe { old.destroy(device) };
        Ok(())
    }

    /// Reserves memory for this many members.
    pub(crate) fn reserve_members(&mut self, members: usize) {
        reserve_all(&mut self.members, members);
    }

    /// Makes room for a member and its actor. At most `more` will be added.
    pub(crate) fn expect_member(&mut self, more: usize) {
        for list in [&mut self.members, &mut self.instance_of_actor] {
            if list.len() == list.capacity() {
                reserve_all(list, grown(list.len(), more));
            }
        }
    }

    /// Adds an instance to the members.
    pub(crate) fn add_member(&mut self, index: u32) {
        if let Some(slot) = &mut self.slot {
            slot.note(self.members.len() as u32);
        }
        self.members.push(index);
    }

    /// Sets the member at a place, of which there are enough.
    pub(crate) fn set_member(&mut self, member: u32, index: u32) {
        let before = core::mem::replace(&mut self.members[member as usize], index);
        if let Some(slot) = self.slot.as_mut().filter(|_| before != index) {
            slot.note(member);
        }
    }

    /// Removes a member. Returns the instance that takes its place, if any.
    pub(crate) fn remove_member(&mut self, member: u32) -> Option<u32> {
        self.members.swap_remove(member as usize);
        if let Some(slot) = &mut self.slot {
            slot.note(member);
            slot.note(self.members.len() as u32);
        }
        self.members.get(member as usize).copied()
    }

    /// Notes the instances that a frame is prepared with.
    pub(crate) fn mark_prepared(&mut self) {
        self.prepared = DrawnKinds {
            plain: self.members.len() > self.varying,
            flipped: self.flipped > 0,
            varying: self.varying > 0,
            wearing: self.wearing > 0,
        };
    }

    /// The indirect draws of everything that is not blended, for a character whose instances the
    /// GPU lists, in the frame prepared last.
    pub(crate) fn indirect(&self, slot: &Slot) -> impl Iterator<Item = Indirect<'_>> {
        let kinds = [(false, false), (false, true), (true, false), (true, true)];
        let has = self.prepared;
        let kinds = kinds.into_iter().filter(move |(flipped, varies)| {
            let there = if *varies { has.varying } else { has.plain };
            there && (has.flipped || !flipped)
        });
        let starts = self.levels.iter().scan(0, |next, level| {
            let start = *next;
            *next += level.draws(false).len() as u32;
            Some((start, level))
        });
        let levels = starts.enumerate();
        let draw = slot.draws.0;
        kinds.flat_map(move |(flipped, varies)| {
            levels.clone().flat_map(move |(number, (start, level))| {
                let draws = (start..).zip(level.draws(false));
                // Without a variant, materials are of the first class.
                let draws = draws.filter(move |(_, own)| {
                    self.has_kind(own, varies) && (has.wearing || own.class.unwrap_or(0) == 0)
                });
                draws.map(move |(at, own)| Indirect {
                    draw: own,
                    level: number,
                    flipped,
                    varies,
                    slot: draw + draw_of_kind(at, flipped, varies),
                })
            })
        })
    }

    /// Counts a look that an instance has from now on, or no more.
    pub(crate) fn count_look(&mut self, look: &Look, comes: bool) {
        for (all, counts) in [
            (&mut self.varying, look.varies()),
            (&mut self.wearing, look.variant > 0),
        ] {
            let one = usize::from(counts);
            *all = if comes { *all + one } else { *all - one };
        }
    }

    /// True if a draw is for instances whose looks vary, or for those whose looks do not.
    pub(crate) fn has_kind(&self, draw: &PrimitiveDraw, varies: bool) -> bool {
        match draw.class {
            Some(_) => varies,
            None => !varies || self.classes(draw).is_empty(),
        }
    }

    /// For no variant and for each one, the class of a primitive's material. Empty if variants do
    /// not change it.
    fn classes(&self, draw: &PrimitiveDraw) -> &[u32] {
        let drawn = self.primitives.get(draw.primitive as usize);
        drawn.map_or(&[], |drawn| &drawn.classes)
    }

    /// True if a draw shows instances of a look in lists of the CPU.
    pub(crate) fn shows(&self, draw: &PrimitiveDraw, look: &Look) -> bool {
        let class = match look.variant {
            0 => None,
            variant => self.classes(draw).get(usize::from(variant)),
        };
        draw.class.as_ref() == class && look.hidden & self.bit(draw.primitive) == 0
    }

    /// The record of a draw for the stages args and looks, without its character and bucket.
    pub(crate) fn draw_record(&self, draw: &PrimitiveDraw, ordinal: u32) -> GpuDraw {
        let part = match self.bit(draw.primitive) {
            0 => GpuDraw::NO_PART,
            bit => bit.trailing_zeros(),
        };
        GpuDraw {
            index_count: draw.index_count,
            first_index: draw.first_index,
            kind: ordinal << GpuDraw::ORDINAL_SHIFT | part,
            class: draw.class.unwrap_or(GpuInstance::NONE),
            variants: words(self.mesh.variants(draw.primitive)),
            ..GpuDraw::NOTHING
        }
    }

    /// True if it needs the pipelines for instances with material variants.
    pub(crate) fn needs_variants(&self) -> bool {
        self.varying > 0 && self.primitives.iter().any(|it| !it.classes.is_empty())
    }

    /// The number of lists of the stage looks in a view: of draws of a level for instances whose
    /// looks vary.
    pub(crate) fn looks(&self) -> u32 {
        let levels = self.levels.iter().map(|level| {
            let draws = level.draws(false).iter();
            draws.filter(|draw| self.has_kind(draw, true)).count()
        });
        levels.max().unwrap_or(0) as u32
    }

    /// The memory that an instance takes.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes {
            rows: self.palette_rows(),
            morphs: morph_words(self.rig.morph_weights().len()),
            skinned: self.mesh.skinned_layout().words,
        }
    }

    /// The properties that all its instances share.
    pub(crate) fn kind(&self) -> Kind {
        Kind {
            sizes: self.sizes(),
            rest_palette: self.mesh.rest_palette(),
        }
    }

    /// The state of a new instance, which becomes the last member. `character` is the index of this
    /// character.
    pub(crate) fn instance(&mut self, character: u32, new: &NewInstance) -> InstanceState {
        self.deforms |= new.skin != SkinningStage::Vertex;
        InstanceState {
            record: GpuChange {
                world_from_model: Mat3x4::from_affine(&new.world_from_model),
                user: new.user_data,
                ..Zeroable::zeroed()
            },
            character,
            actor: new.actor,
            member: self.members.len() as u32,
            alive: true,
            flipped: is_flipped(&new.world_from_model),
            skin: new.skin,
            ..InstanceState::dead(0)
        }
    }

    /// Rows of the palette ring that an instance takes.
    pub(crate) fn palette_rows(&self) -> u32 {
        self.rig.palette().len() as u32 * self.mesh.entry_rows()
    }

    /// Checks that the character supports a stage.
    ///
    /// # Errors
    /// [`Error::Argument`] if it does not.
    pub(crate) fn check_stage(&self, stage: SkinningStage) -> Result<()> {
        let fits = stage != SkinningStage::Cpu || self.cpu_skin.is_some();
        let why = "SkinningStage::Cpu needs a character added with CharacterDesc::cpu_skinning";
        expect("skinning_stage", fits, why)
    }

    /// The capacity that one instance needs in a skinning stage.
    pub(crate) fn need(&self, stage: SkinningStage) -> Need {
        Need {
            blended: self.is_blended().into(),
            ..self.sizes().need(stage)
        }
    }

    /// Notes the table index of the instance of an actor.
    pub(crate) fn set_instance_of(&mut self, actor: ActorId, index: u32) {
        let actor = actor.index as usize;
        if self.instance_of_actor.len() <= actor {
            self.instance_of_actor.resize(actor + 1, u32::MAX);
        }
        self.instance_of_actor[actor] = index;
    }

    /// The bits of a part's primitives.
    ///
    /// # Errors
    /// - [`Error::NotFound`] or [`Error::UnknownName`] if there is no such part.
    /// - [`Error::Capacity`] if it has primitives past [`PartId::MAX_HIDEABLE`].
    pub(crate) fn part_bits(&self, part: NameOrId<'_, PartId>) -> Result<u128> {
        let part = match part {
            NameOrId::Id(part) => part,
            NameOrId::Name(name) => self.rig.part(name)?,
        };
        self.rig.part_bits(part)
    }

    /// Returns true if it has blended primitives.
    pub(crate) fn is_blended(&self) -> bool {
        self.level(0)
            .is_some_and(|full| !full.draws(true).is_empty())
    }

    /// A level of detail: 0 is the full one.
    pub(crate) fn level(&self, level: u8) -> Option<&Level> {
        self.levels.get(usize::from(level))
    }

    /// The errors in metres of the levels that an instance may have, ascending from 0. One whose
    /// look varies keeps to the levels that have parts.
    pub(crate) fn errors(&self, varies: bool) -> &[f32] {
        let near = self.near_levels.min(self.errors.len());
        if varies {
            &self.errors[..near]
        } else {
            &self.errors
        }
    }

    /// The bit that instances set to hide a primitive, or 0 if it cannot be hidden.
    pub(crate) fn bit(&self, primitive: u32) -> u128 {
        let drawn = self.primitives.get(primitive as usize);
        drawn.map_or(0, |drawn| drawn.bit)
    }

    /// The number of vertices of an instance at a level of detail that hides these parts, either
    /// of blended primitives or of all others.
    pub(crate) fn vertices(&self, level: &Level, blended: bool, hidden: u128) -> u64 {
        let drawn = self.primitives.iter().zip(&level.vertices);
        let drawn = drawn.filter(|(of, _)| of.blended == blended && of.bit & hidden == 0);
        drawn.map(|(_, vertices)| u64::from(*vertices)).sum()
    }

    /// The descriptor set for draws of a material.
    pub(crate) fn set(&self, material: u32) -> Option<vk::DescriptorSet> {
        self.sets.get(material)
    }

    /// The length of the range for its draws in the GPU's table: a power of two, so that ranges can
    /// be reused.
    pub(crate) fn draw_range(&self) -> u32 {
        let draws = self.levels.iter().map(|level| level.draws(false).len());
        let count = (draws.sum::<usize>() as u32).saturating_mul(KINDS);
        count.checked_next_power_of_two().unwrap_or(u32::MAX)
    }

    /// The pipeline variants that its draws use.
    pub(crate) fn variants(&self) -> impl Iterator<Item = Variant> + '_ {
        let draws = self.levels.iter().flat_map(|level| &level.draws);
        let draws = draws.filter(|draw| draw.class.is_none() || self.wears_variants);
        draws.map(|draw| Variant::of(draw, self.reads))
    }
}

/// Makes the sets of `mesh`: one for all materials, or one for each. They have a pool of their own.
pub(super) fn make_sets<'g>(
    device: &'g Device,
    layout: &SetLayout,
    buffers: &FrameBuffers,
    mesh: &SkinnedMesh,
) -> Result<Guard<'g, Sets>> {
    let sets = layout.with_pool(device, "throng character", &mesh.sets())?;
    for (number, set) in (0..).zip(sets.iter()) {
        let textures = mesh.textures(number);
        let content = SetBuffers {
            view: Some(buffers.view_range()),
            mesh: Some(mesh.buffer()),
            instances: Some(buffers.instances()),
            lists: Some(buffers.lists()),
            skinned: Some(buffers.skinned()),
            textures: Some(&textures),
        };
        // SAFETY: the set is new. The buffers and images that it refers to live as long as the
        // character and the crowd's buffers, which are retired together with the set.
        unsafe { layout.write(device, set, &content) };
    }
    Ok(sets)
}
