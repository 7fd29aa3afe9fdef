//! Adds and removes characters, between frames.

use crate::animator::{Animator, IkSolver};
use crate::character::Character;
use crate::crowd::Crowd;
use crate::crowd::characters::list::no_character;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::memory::Memory;
use crate::crowd::memory::retire::Retired;
use crate::crowd::{CharacterDesc, CharacterId};
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::{Features, Gpu, Guard, MemoryAllocator, SkinnedMesh, Upload};
use crate::id::Id;
use core::cell::RefCell;
use std::sync::Arc;

impl Crowd {
    /// Adds a character, by default skinned by linear blending.
    ///
    /// This stages its streams and textures. The next
    /// [`Frame::record_prepare`](crate::Frame::record_prepare) uploads them. Instances can be
    /// spawned at once.
    ///
    /// Compiles shaders if a pass has not drawn such a character before: the missing pipelines of
    /// all passes are created in one call. See [`Self::create_pass`] for their number, and
    /// [`Stats::new_pipelines`](crate::Stats::new_pipelines) for how many it were.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the allocator belongs to another device, or the CPU cannot run
    ///   [`CrowdDesc::simd_level`](crate::CrowdDesc::simd_level).
    /// - [`Error::Unrepresentable`], with joint, clip and time, if the method's palette format
    ///   cannot represent the character's poses.
    /// - [`Error::Capacity`] if its geometry exceeds what the device can bind.
    /// - [`Error::NotFound`] for a level of [`CharacterDesc::ray_levels`] that it does not have.
    /// - [`Error::Memory`] and [`Error::Vulkan`] from the device.
    ///
    /// If this fails, the crowd is unchanged.
    pub fn add_character(
        &mut self,
        allocator: &mut dyn MemoryAllocator,
        character: &Character,
        desc: &CharacterDesc,
    ) -> Result<CharacterId> {
        let (device, allocator) = (Arc::clone(&self.device), RefCell::new(allocator));
        let gpu = Gpu::new(&device, &allocator)?;
        let mut animator = Animator::new(character)?;
        animator.set_threads(self.desc.threads.clone());
        if let Some(level) = self.desc.simd_level {
            animator.set_simd_level(level)?;
        }
        // Otherwise the first frame would play everything since time 0.
        animator.update(self.time_s)?;
        let (loaded, upload) = self.load(gpu, character, desc, false)?;
        animator.expect_fit(Arc::clone(&loaded.rig), loaded.mesh.format());
        let (serial, kind) = (loaded.serial, loaded.kind());
        let id = CharacterId(self.scene.characters.push(loaded.keep()));
        self.scene.instances.set_kind(id.0, kind);
        self.animators.push(animator);
        self.finish_load(serial, upload.keep(), character);
        Ok(id)
    }

    /// Creates a character's data and the pipelines that it lacks. `deforms` is true if instances
    /// have deformed vertices.
    pub(crate) fn load<'g>(
        &mut self,
        gpu: Gpu<'g>,
        character: &Character,
        desc: &CharacterDesc,
        deforms: bool,
    ) -> Result<(Guard<'g, LoadedCharacter>, Guard<'g, Upload>)> {
        let serial = self.scene.characters.next_serial();
        let buffers = (&self.pipelines.set_layout, &self.memory.buffers);
        let (mut loaded, mut upload) = LoadedCharacter::new(
            gpu,
            buffers,
            (character, serial),
            (desc, self.rays.is_some()),
        )?;
        loaded.deforms = deforms;
        loaded.reads.starts = self.reads_starts(loaded.is_blended());
        self.complete(gpu, (character, &mut *loaded), &mut upload)?;
        Ok((loaded, upload))
    }

    /// Gives a new character what it needs of the stages: pipelines, and on the GPU its tables.
    fn complete(
        &mut self,
        gpu: Gpu<'_>,
        (character, loaded): (&Character, &mut LoadedCharacter),
        upload: &mut Upload,
    ) -> Result<()> {
        self.pipelines.prepare(gpu.device, loaded)?;
        if self.pipelines.animate.is_some() {
            let boxed = self.desc.capacity.tests_depth();
            loaded.pose_on_gpu(gpu, upload, character, (boxed, &self.desc.threads))?;
            if let Ok(tables) = &loaded.animation {
                let format = tables.variant().format;
                self.pipelines
                    .prepare_animate(gpu.device, format, character)?;
            }
        }
        if self.pipelines.cull.is_some() && !loaded.is_blended() {
            if let Some(rays) = &mut self.rays {
                let of = (&*loaded, &self.scene.characters);
                let memory = &mut self.memory;
                let with = (&memory.buffers, &mut memory.retire_queue);
                let made = rays.add(gpu, upload, of, with)?;
                loaded.rays = Some(made.keep().into());
            }
            // The last step: after an error, nobody would give the place back.
            self.place(gpu, loaded)?;
        }
        Ok(())
    }

    /// True if draws of such a character read where their lists start.
    pub(crate) fn reads_starts(&self, is_blended: bool) -> bool {
        let culls = self.pipelines.cull.is_some() && !is_blended;
        culls
            && !self
                .device
                .enabled
                .contains(Features::DRAW_INDIRECT_FIRST_INSTANCE)
    }

    /// Gives a new character its place in the tables of the GPU's cull stage.
    fn place(&mut self, gpu: Gpu<'_>, loaded: &mut LoadedCharacter) -> Result<()> {
        let before = self.memory.work;
        self.reserve_work(gpu, loaded)?;
        if self.memory.work != before {
            // The crowd's buffers are new, so the sets must be, too.
            let (layout, buffers) = (&self.pipelines.set_layout, &self.memory.buffers);
            loaded.renew_sets(gpu.device, layout, buffers)?;
        }
        loaded.slot = Some(self.scene.characters.chunks.add(loaded.draw_range()));
        Ok(())
    }

    /// Lets the next frame upload a character, and reserves the CPU memory that frames need for it.
    pub(super) fn finish_load(&mut self, serial: u32, upload: Upload, character: &Character) {
        self.memory.uploads.push((serial, upload));
        self.scene.reserve_weights(character.morph_weights().len());
        self.scene.reserve_visibility();
    }

    /// Removes a character that has no instances.
    ///
    /// Its memory is freed when no frame in flight uses it any more.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if it was removed before.
    /// - [`Error::At`] with the character, and the number of its instances that are alive.
    pub fn remove_character(&mut self, id: CharacterId) -> Result<()> {
        let character = self.scene.characters.get(id)?;
        let count = character.members.len();
        if count > 0 {
            let why = Error::argument("instances", ArgumentFault::Alive { count });
            return Err(why.at_named("character", id.0 as usize, character.rig.name()));
        }
        self.animators.take(id.0);
        if let Some(character) = self.scene.remove_character(id.0) {
            self.retire(character);
        }
        Ok(())
    }

    /// Retires the data of a character that was removed or replaced.
    pub(crate) fn retire(&mut self, character: LoadedCharacter) {
        let Memory {
            uploads,
            retire_queue,
            ..
        } = &mut self.memory;
        // A pending upload must not be recorded any more: its targets would be destroyed by then.
        for (serial, upload) in uploads.extract_if(.., |(serial, _)| *serial == character.serial) {
            retire_queue.retire(Retired::Upload(serial, upload));
        }
        retire_queue.retire(Retired::Sets(character.sets));
        retire_queue.retire(Retired::Mesh(character.mesh));
        if let Ok(tables) = character.animation {
            retire_queue.retire(Retired::Tables(tables));
        }
        if let Some(poses) = character.shared_poses {
            retire_queue.retire(Retired::SharedPoses(poses));
        }
        if let Some(rays) = character.rays {
            retire_queue.retire(Retired::RayCharacter(rays));
        }
    }

    /// The CPU data of a character that the crowd keeps: skeleton, palette and clips.
    ///
    /// It has no images, and meshes only with
    /// [`CharacterDesc::cpu_skinning`](crate::crowd::CharacterDesc::cpu_skinning).
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn character(&self, id: CharacterId) -> Result<&Character> {
        Ok(&self.scene.characters.get(id)?.rig)
    }

    /// The animator of a character, which knows everything that its instances play.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn animator(&self, character: CharacterId) -> Result<&Animator> {
        let animator = self.animators.get(character.0);
        animator.ok_or_else(|| no_character(character, self.animators.len()))
    }

    /// Adds an inverse kinematics solver to a character.
    ///
    /// Its instances can then be given targets for it.
    ///
    /// # Errors
    /// - As [`Animator::add_solver`].
    /// - [`Error::NotFound`] if the character does not exist.
    pub fn add_solver(
        &mut self,
        character: CharacterId,
        solver: impl Into<IkSolver>,
    ) -> Result<Id<IkSolver>> {
        self.animators.of_mut(character)?.add_solver(solver)
    }

    /// All characters, in the order in which they were added.
    pub fn characters(&self) -> impl Iterator<Item = CharacterId> + '_ {
        let all = self.scene.characters.iter();
        all.map(|(index, _)| CharacterId(index))
    }

    /// A character's data on the GPU.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn mesh(&self, id: CharacterId) -> Result<&SkinnedMesh> {
        Ok(&self.scene.characters.get(id)?.mesh)
    }
}
