//! Passes and characters, and room for instances of them: what changes between frames.

use super::buffers::FrameBuffers;
use super::characters::Entry;
use super::desc::check_desc;
use super::history::HistoryBuffer;
use super::retire::Retired;
use super::state::Crowd;
use super::{Capacity, CharacterId, CrowdDesc, PassId, characters};
use crate::character::Character;
use crate::error::{ArgumentFault, Error, Result};
use crate::gpu::{SkinnedMesh, Upload};
use crate::palette::SkinningMethod;
use crate::pass::draw::{DrawPass, PassDesc};
use ash::vk;
use gpu_allocator::vulkan::Allocator;

/// How a character of a crowd is skinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CharacterDesc {
    /// How vertices follow several joints, and the format of the palettes.
    pub method: SkinningMethod,
    /// Keeps what it takes to skin instances on the CPU ([`SkinningStage::Cpu`](super::SkinningStage::Cpu)):
    /// the streams, as a [`Skinner`](crate::skin::Skinner) has them.
    pub cpu_skinning: bool,
}

impl Crowd {
    /// Makes the pipelines for the engine's attachments that the crowd's characters take. Do it
    /// before the frames: this compiles shaders.
    ///
    /// # Errors
    /// [`Error::Argument`] for a description that makes no sense, [`Error::Unsupported`],
    /// [`Error::Vulkan`].
    ///
    /// # Safety
    /// The device supports the formats as attachments with that sample count. The SPIR-V of a
    /// [`MaterialDesc`](crate::MaterialDesc) is valid, fits its set layouts and throng's set 0, and
    /// needs no feature that is not enabled.
    pub unsafe fn create_pass(&mut self, desc: &PassDesc<'_>) -> Result<PassId> {
        let (set_0, shadow) = (self.set_layout.handle(), self.shadow.layout());
        let mut pass = DrawPass::new(&self.device, set_0, shadow, desc)?;
        for entry in self.characters.iter().flatten() {
            if let Err(error) = pass.prepare(&self.device, entry.variants()) {
                // SAFETY: never used.
                unsafe { pass.destroy(&self.device) };
                return Err(error);
            }
        }
        self.passes.push(Some(pass));
        Ok(PassId(self.passes.len() as u32 - 1))
    }

    /// The layout of a pass's pipelines: for binding the sets and push constants of the engine's
    /// own shading.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn pass_layout(&self, pass: PassId) -> Result<vk::PipelineLayout> {
        Ok(self.pass(pass)?.layout.handle)
    }

    pub(super) fn pass(&self, pass: PassId) -> Result<&DrawPass> {
        let count = self.passes.len() as u64;
        let found = self.passes.get(pass.0 as usize).and_then(Option::as_ref);
        found.ok_or(Error::NotFound {
            what: "pass",
            index: pass.0.into(),
            count,
        })
    }

    /// Retires a pass: its pipelines are destroyed when no frame in flight uses them any more.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it is gone already.
    pub fn remove_pass(&mut self, pass: PassId) -> Result<()> {
        let count = self.passes.len() as u64;
        let slot = self.passes.get_mut(pass.0 as usize).and_then(Option::take);
        let pass = slot.ok_or(Error::NotFound {
            what: "pass",
            index: pass.0.into(),
            count,
        })?;
        self.retire_queue.retire(Retired::Pass(Box::new(pass)));
        Ok(())
    }

    /// Adds a character: stages its streams and textures, which the next
    /// [`Frame::record_prepare`](crate::Frame::record_prepare) uploads. Instances can be spawned at
    /// once. Skinned by linear blending; [`Self::add_character_with`] says otherwise.
    ///
    /// # Errors
    /// [`Error::Capacity`] if its geometry exceeds what the device can bind; [`Error::Memory`],
    /// [`Error::Vulkan`]. The crowd is then as it was.
    pub fn add_character(
        &mut self,
        allocator: &mut Allocator,
        character: &Character,
    ) -> Result<CharacterId> {
        self.add_character_with(allocator, character, &CharacterDesc::default())
    }

    /// [`Self::add_character`], with a say in how it is skinned. Compiles shaders where a pass has
    /// not drawn such a character before.
    ///
    /// # Errors
    /// As [`Self::add_character`]; [`Error::Unrepresentable`], naming joint, clip and time, if the method's
    /// palettes can't hold the character's poses.
    pub fn add_character_with(
        &mut self,
        allocator: &mut Allocator,
        character: &Character,
        desc: &CharacterDesc,
    ) -> Result<CharacterId> {
        let mut upload = Upload::new();
        // SAFETY: `allocator` is this device's by the contract of `new`.
        let made = unsafe {
            SkinnedMesh::new(&self.device, allocator, &mut upload, character, desc.method)
        };
        let entry = made.map(Box::new).and_then(|mesh| {
            let (device, layout) = (&self.device, &self.set_layout);
            let cpu_skin = desc.cpu_skinning;
            let made = Entry::new(
                device,
                layout,
                &self.buffers,
                mesh,
                (character, cpu_skin),
                &self.desc.threads,
            );
            made.map_err(|(mut mesh, error)| {
                // SAFETY: never used.
                unsafe { mesh.destroy(&self.device, allocator) };
                error
            })
        });
        let entry = entry.and_then(|mut entry| {
            for pass in self.passes.iter_mut().flatten() {
                if let Err(error) = pass.prepare(&self.device, entry.variants()) {
                    // SAFETY: never used.
                    unsafe {
                        entry.pool.destroy(&self.device);
                        entry.mesh.destroy(&self.device, allocator);
                    }
                    return Err(error);
                }
            }
            Ok(entry)
        });
        match entry {
            Ok(entry) => {
                let index = self.characters.len() as u32;
                self.uploads.push((index, upload));
                self.characters.push(Some(entry));
                // So that nothing is allocated while a frame is recorded.
                self.make_room(character);
                Ok(CharacterId(index))
            }
            Err(error) => {
                // SAFETY: never recorded.
                unsafe { upload.free(&self.device, allocator) };
                Err(error)
            }
        }
    }

    /// Room for what the frames need of a character on the CPU.
    fn make_room(&mut self, character: &Character) {
        let weights = character.morph_weights().len();
        self.weights
            .reserve(weights.saturating_sub(self.weights.len()));
        self.visibility
            .make_room(&self.desc.capacity, self.characters.len());
        let listed = self.characters.len().saturating_sub(self.listed.len());
        self.listed.reserve(listed);
    }

    /// Removes a character that has no instances; its memory is freed when no frame in flight uses
    /// it any more.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it is gone already, [`Error::Argument`] while instances of it are
    /// alive.
    pub fn remove_character(&mut self, id: CharacterId) -> Result<()> {
        let entry = self.entry(id)?;
        if !entry.members.is_empty() {
            let why = ArgumentFault::Invalid("instances of it are alive");
            return Err(Error::Argument {
                what: "character",
                why,
            });
        }
        if let Some(entry) = self
            .characters
            .get_mut(id.0 as usize)
            .and_then(Option::take)
        {
            // What has not been recorded must not be: it would fill what is destroyed by then.
            if let Some(at) = self.uploads.iter().position(|(index, _)| *index == id.0) {
                let (index, upload) = self.uploads.remove(at);
                self.retire_queue.retire(Retired::Upload(index, upload));
            }
            self.retire_queue.retire(Retired::Pool(entry.pool));
            self.retire_queue.retire(Retired::Mesh(entry.mesh));
        }
        Ok(())
    }

    /// What of a character the crowd keeps on the CPU: skeleton, palette and clips, without meshes.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn character(&self, id: CharacterId) -> Result<&Character> {
        Ok(&self.entry(id)?.rig)
    }

    /// A character's data on the GPU.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn mesh(&self, id: CharacterId) -> Result<&SkinnedMesh> {
        Ok(&self.entry(id)?.mesh)
    }

    /// Makes room for at least `capacity`, between frames. What shrinks stays as it is. Frames in
    /// flight keep what they use; that is freed when each of their frames in flight has begun again. What
    /// views keep in their histories stays: the next prepared frame copies it.
    ///
    /// # Errors
    /// [`Error::Capacity`] past what the device can bind, [`Error::Memory`], [`Error::Vulkan`]. The
    /// crowd is then as it was.
    pub fn reserve(&mut self, allocator: &mut Allocator, capacity: &Capacity) -> Result<()> {
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
        check_desc(&desc)?;
        let mut buffers = FrameBuffers::new(&self.device, allocator, &self.scatter, &desc)?;
        let sets = match characters::all_sets(
            &self.device,
            &self.set_layout,
            &buffers,
            &self.characters,
        ) {
            Ok(sets) => sets,
            Err(error) => {
                // SAFETY: never used.
                unsafe { buffers.destroy(&self.device, allocator) };
                return Err(error);
            }
        };
        let mut replaced = core::mem::replace(&mut self.buffers, buffers);
        let histories = core::mem::replace(&mut replaced.history, HistoryBuffer::null());
        if let Some(unneeded) = self.histories.grow(histories, &wanted) {
            replaced.history = unneeded;
        }
        self.retire_queue.retire(Retired::Buffers(replaced.into()));
        for (entry, (pool, sets)) in self.characters.iter_mut().flatten().zip(sets) {
            self.retire_queue
                .retire(Retired::Pool(core::mem::replace(&mut entry.pool, pool)));
            entry.sets = sets;
        }
        self.desc = desc;
        self.views
            .reserve((wanted.views as usize).saturating_sub(self.views.len()));
        // The new table is empty: every record is written again.
        self.instances.grow(&wanted);
        self.animated.make_room(wanted.instances as usize);
        self.sorted.make_room(wanted.blended as usize);
        self.visibility.make_room(&wanted, self.characters.len());
        Ok(())
    }
}
