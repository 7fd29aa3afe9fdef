//! Adds and removes characters, and grows capacity, between frames.

use crate::animator::{Animator, IkSolver};
use crate::character::Character;
use crate::crowd::characters::entry::{Entry, all_sets};
use crate::crowd::desc::check_desc;
use crate::crowd::history::buffer::HistoryBuffer;
use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::memory::retire::Retired;
use crate::crowd::scene::{animator_mut, no_character};
use crate::crowd::state::Crowd;
use crate::crowd::{Capacity, CharacterDesc, CharacterId, CrowdDesc};
use crate::error::{Error, Result};
use crate::gpu::{MemoryAllocator, SkinnedMesh, Upload, expect_own};
use crate::id::{Id, unknown};
use crate::pass::draw::prepare;

impl Crowd {
    /// Adds a character, skinned by linear blending.
    ///
    /// This stages its streams and textures. The next
    /// [`Frame::record_prepare`](crate::Frame::record_prepare) uploads them. Instances can be
    /// spawned at once. Use [`Self::add_character_with`] to choose another skinning method.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the allocator belongs to another device.
    /// - [`Error::Capacity`] if its geometry exceeds what the device can bind.
    /// - [`Error::Memory`] and [`Error::Vulkan`] from the device.
    ///
    /// If this fails, the crowd is unchanged.
    pub fn add_character(
        &mut self,
        allocator: &mut dyn MemoryAllocator,
        character: &Character,
    ) -> Result<CharacterId> {
        self.add_character_with(allocator, character, &CharacterDesc::default())
    }

    /// Adds a character with options for skinning. See [`Self::add_character`].
    ///
    /// Compiles shaders if a pass has not drawn such a character before: the missing pipelines of
    /// all passes are created in one call. See [`Self::create_pass`] for their number.
    ///
    /// # Errors
    /// - As [`Self::add_character`].
    /// - [`Error::Unrepresentable`], with joint, clip and time, if the method's palette format
    ///   cannot represent the character's poses.
    pub fn add_character_with(
        &mut self,
        allocator: &mut dyn MemoryAllocator,
        character: &Character,
        desc: &CharacterDesc,
    ) -> Result<CharacterId> {
        expect_own(&self.device, allocator)?;
        let mut upload = Upload::new();
        let made = SkinnedMesh::new(&self.device, allocator, &mut upload, character, desc.method);
        let entry = made.map(Box::new).and_then(|mesh| {
            let (device, layout) = (&self.device, &self.pipelines.set_layout);
            let cpu_skin = desc.cpu_skinning;
            let made = Entry::new(
                device,
                layout,
                &self.memory.buffers,
                mesh,
                (character, cpu_skin),
                &self.desc.threads,
            );
            made.map_err(|(mut mesh, error)| {
                // SAFETY: no command buffer has used the mesh, because it was created above.
                unsafe { mesh.destroy(&self.device, allocator) };
                error
            })
        });
        let entry = entry.and_then(|(mut entry, animator)| {
            let variants = entry.variants().collect();
            let passes = self.pipelines.passes.iter_mut().flatten();
            if let Err(error) = prepare(&self.device, passes, &variants) {
                // SAFETY: no command buffer has used these objects, because they were created
                // above.
                unsafe {
                    entry.pool.destroy(&self.device);
                    entry.mesh.destroy(&self.device, allocator);
                }
                return Err(error);
            }
            Ok((entry, animator))
        });
        match entry {
            Ok((entry, animator)) => {
                let index = self.scene.characters.len() as u32;
                self.memory.uploads.push((index, upload));
                self.scene.characters.push(Some(entry));
                self.animators.push(Some(animator));
                // Allocate now, so that recording a frame allocates nothing.
                self.reserve_frame_memory(character);
                Ok(CharacterId(index))
            }
            Err(error) => {
                // SAFETY: the upload was never recorded, so the GPU does not use it.
                unsafe { upload.free(&self.device, allocator) };
                Err(error)
            }
        }
    }

    /// Reserves the CPU memory that frames need for a character.
    fn reserve_frame_memory(&mut self, character: &Character) {
        let weights = character.morph_weights().len();
        self.frame
            .weights
            .reserve(weights.saturating_sub(self.frame.weights.len()));
        self.scene.reserve_visibility(&self.desc.capacity);
        let listed = self
            .scene
            .characters
            .len()
            .saturating_sub(self.frame.listed.len());
        self.frame.listed.reserve(listed);
    }

    /// Removes a character that has no instances.
    ///
    /// Its memory is freed when no frame in flight uses it any more.
    ///
    /// # Errors
    /// - [`Error::NotFound`] if it was removed before.
    /// - [`Error::Argument`] if instances of it are alive.
    pub fn remove_character(&mut self, id: CharacterId) -> Result<()> {
        let entry = self.scene.entry(id)?;
        if !entry.members.is_empty() {
            return Err(Error::invalid("character", "still has living instances"));
        }
        let animator = self.animators.get_mut(id.0 as usize);
        drop(animator.and_then(Option::take));
        let entry = self.scene.characters.get_mut(id.0 as usize);
        if let Some(entry) = entry.and_then(Option::take) {
            // A pending upload must not be recorded any more: its targets would be destroyed by
            // then.
            if let Some(at) = self
                .memory
                .uploads
                .iter()
                .position(|(index, _)| *index == id.0)
            {
                let (index, upload) = self.memory.uploads.remove(at);
                self.memory
                    .retire_queue
                    .retire(Retired::Upload(index, upload));
            }
            self.memory.retire_queue.retire(Retired::Pool(entry.pool));
            self.memory.retire_queue.retire(Retired::Mesh(entry.mesh));
        }
        Ok(())
    }

    /// The CPU data of a character that the crowd keeps: skeleton, palette and clips.
    ///
    /// It has no images, and meshes only with
    /// [`CharacterDesc::cpu_skinning`](crate::crowd::CharacterDesc::cpu_skinning).
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn character(&self, id: CharacterId) -> Result<&Character> {
        Ok(&self.scene.entry(id)?.rig)
    }

    /// The animator of a character, which knows everything that its instances play.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn animator(&self, character: CharacterId) -> Result<&Animator> {
        let animator = self.animators.get(character.0 as usize);
        let animator = animator.and_then(Option::as_ref);
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
        animator_mut(&mut self.animators, character)?.add_solver(solver)
    }

    /// All characters, in the order in which they were added.
    pub fn characters(&self) -> impl Iterator<Item = CharacterId> + '_ {
        let all = (0..).zip(&self.scene.characters);
        all.filter_map(|(index, entry)| entry.as_ref().map(|_| CharacterId(index)))
    }

    /// The name of a character.
    ///
    /// It is the name that its importer was given, usually the file's.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn character_name(&self, id: CharacterId) -> Result<&str> {
        Ok(self.scene.entry(id)?.rig.name())
    }

    /// The first character with this name.
    ///
    /// # Errors
    /// [`Error::UnknownName`], with the names that exist.
    pub fn find_character(&self, name: &str) -> Result<CharacterId> {
        let entries = || self.scene.characters.iter().flatten();
        let named = |id: &CharacterId| self.character_name(*id) == Ok(name);
        let known = || entries().map(|entry| entry.rig.name());
        self.characters()
            .find(named)
            .ok_or_else(|| unknown("character", name, known()))
    }

    /// A character's data on the GPU.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the character does not exist.
    pub fn mesh(&self, id: CharacterId) -> Result<&SkinnedMesh> {
        Ok(&self.scene.entry(id)?.mesh)
    }

    /// Grows the crowd to at least `capacity`. Call it between frames.
    ///
    /// Values that are smaller than the present capacity change nothing. Frames in flight keep the
    /// old buffers, which are freed once every frame index in flight has begun again. The histories
    /// of views are kept: the next prepared frame copies them.
    ///
    /// # Errors
    /// - [`Error::Argument`] if the allocator belongs to another device.
    /// - [`Error::Capacity`] if the device cannot bind that much.
    /// - [`Error::Memory`] and [`Error::Vulkan`] from the device.
    ///
    /// If this fails, the crowd is unchanged.
    pub fn reserve(
        &mut self,
        allocator: &mut dyn MemoryAllocator,
        capacity: &Capacity,
    ) -> Result<()> {
        expect_own(&self.device, allocator)?;
        let now = self.desc.capacity;
        let wanted = Capacity {
            instances: capacity.instances.max(now.instances),
            palette_entries: capacity.palette_entries.max(now.palette_entries),
            views: capacity.views.max(now.views),
            morph_weights: capacity.morph_weights.max(now.morph_weights),
            blended: capacity.blended.max(now.blended),
            skinned_words: capacity.skinned_words.max(now.skinned_words),
            cpu_skinned_words: capacity.cpu_skinned_words.max(now.cpu_skinned_words),
            histories: capacity.histories.max(now.histories),
        };
        if wanted == now {
            return Ok(());
        }
        let desc = CrowdDesc {
            capacity: wanted,
            ..self.desc.clone()
        };
        check_desc(&desc, &self.device.enabled)?;
        let mut buffers =
            FrameBuffers::new(&self.device, allocator, &self.pipelines.scatter, &desc)?;
        let sets = match all_sets(
            &self.device,
            &self.pipelines.set_layout,
            &buffers,
            &self.scene.characters,
        ) {
            Ok(sets) => sets,
            Err(error) => {
                // SAFETY: no command buffer has used these buffers, because they were created
                // above.
                unsafe { buffers.destroy(&self.device, allocator) };
                return Err(error);
            }
        };
        let mut replaced = core::mem::replace(&mut self.memory.buffers, buffers);
        let histories = core::mem::replace(&mut replaced.history, HistoryBuffer::null());
        if let Some(unneeded) = self.frame.histories.grow(histories, &wanted) {
            replaced.history = unneeded;
        }
        self.memory
            .retire_queue
            .retire(Retired::Buffers(replaced.into()));
        for (entry, (pool, sets)) in self.scene.characters.iter_mut().flatten().zip(sets) {
            self.memory
                .retire_queue
                .retire(Retired::Pool(core::mem::replace(&mut entry.pool, pool)));
            entry.sets = sets;
        }
        self.desc = desc;
        self.frame
            .views
            .reserve((wanted.views as usize).saturating_sub(self.frame.views.len()));
        // The new table is empty, so every record must be written again.
        self.scene.instances.grow(&wanted);
        self.scene.animated.reserve(wanted.instances as usize);
        self.frame.sorted.reserve(wanted.blended as usize);
        self.scene.reserve_visibility(&wanted);
        Ok(())
    }
}
