//! Grows the capacities of a crowd, between frames.

use crate::crowd::Crowd;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::desc::check_desc;
use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::memory::pending_growth::PendingGrowth;
use crate::crowd::memory::retire::Retired;
use crate::crowd::memory::work::WorkCapacity;
use crate::crowd::rays::buffers::RayCapacity;
use crate::crowd::{Capacity, CharacterId, CrowdDesc, SkinningStage};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::{Gpu, MemoryAllocator, limit};
use core::cell::RefCell;
use std::sync::Arc;

/// The most characters that the GPU's cull stage has space for: workgroups of one dispatch, with as
/// many chunks as the largest crowd.
const MAX_CHARACTERS: u32 = 16_384;

impl Crowd {
    /// Grows the crowd to at least `capacity`. Call it between frames.
    ///
    /// Values that are smaller than the present capacity change nothing. Frames in flight keep the
    /// old buffers, which are freed once every frame index in flight has begun again. The histories
    /// of views are kept: the next prepared frame copies them. Characters keep their boxes for
    /// occlusion, or their lack of them ([`Capacity::depth_pixels`]).
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
        let (device, allocator) = (Arc::clone(&self.device), RefCell::new(allocator));
        let gpu = Gpu::new(&device, &allocator)?;
        let now = self.desc.capacity;
        let wanted = capacity.with(&now, u32::max);
        if wanted == now {
            return Ok(());
        }
        let desc = CrowdDesc {
            capacity: wanted,
            ..self.desc.clone()
        };
        check_desc(&desc, &self.device)?;
        self.rebuild(gpu, desc, self.memory.work)
    }

    /// Replaces all buffers by larger ones.
    fn rebuild(&mut self, gpu: Gpu<'_>, desc: CrowdDesc, work: WorkCapacity) -> Result<()> {
        let wanted = desc.capacity;
        self.pipelines
            .prepare_attach(gpu.device, wanted.attachments)?;
        self.pipelines.prepare_pyramid(gpu.device, &wanted)?;
        let buffers = FrameBuffers::new(gpu, self.pipelines.users(work), &desc)?;
        let layout = &self.pipelines.set_layout;
        let sets = self
            .scene
            .characters
            .all_sets(gpu.device, layout, &buffers)?;
        if let Some(rays) = &mut self.rays {
            let with = (&*buffers, &mut self.memory.retire_queue);
            rays.grow(gpu, RayCapacity::of(&wanted, work.characters), with)?;
        }
        let mut replaced = core::mem::replace(&mut self.memory.buffers, buffers.keep());
        if wanted == self.desc.capacity {
            // What frames in flight count still arrives.
            core::mem::swap(&mut replaced.read_back, &mut self.memory.buffers.read_back);
        } else {
            self.frame.read_back_views.fill(0);
        }
        let histories = core::mem::take(&mut replaced.history);
        if let Some(unneeded) = self.frame.histories.grow(histories, &wanted) {
            replaced.history = unneeded;
        }
        let retire_queue = &mut self.memory.retire_queue;
        // If growth has not been recorded since the last one, the buffers before that have
        // everything.
        let counts = self.scene.uploaded();
        let holds = counts.records > 0 || replaced.work.is_some();
        let uploaded = holds && self.scene.has_prepared();
        if uploaded && self.memory.grown.is_none() {
            self.memory.grown = Some(PendingGrowth::take(&mut replaced, counts).into());
        }
        retire_queue.retire(Retired::Buffers(replaced.into()));
        for ((_, character), sets) in self.scene.characters.iter_mut().zip(sets) {
            let replaced = core::mem::replace(&mut character.sets, sets.keep());
            retire_queue.retire(Retired::Sets(replaced));
        }
        self.desc = desc;
        self.memory.work = work;
        let work = self.memory.buffers.work.as_ref();
        self.scene.grow(&wanted, work.map(|work| &work.layout));
        self.frame.grow(&wanted, gpu.device);
        Ok(())
    }

    /// Grows the work buffer of the GPU's cull stage for one more character, if there is one.
    ///
    /// # Errors
    /// As [`Self::reserve`]. If this fails, the crowd is unchanged.
    pub(crate) fn reserve_work(&mut self, gpu: Gpu<'_>, character: &LoadedCharacter) -> Result<()> {
        let now = self.memory.work;
        let [characters, draws] = self.scene.characters.chunks.need(character.draw_range());
        if characters <= now.characters && draws <= now.draws {
            return Ok(());
        }
        limit(
            "characters (the work buffer of the cull stage)",
            characters.into(),
            MAX_CHARACTERS.into(),
        )?;
        let grow = |now: u32, need: u32| now.max(need.checked_next_power_of_two().unwrap_or(need));
        let work = WorkCapacity {
            characters: grow(now.characters, characters).min(MAX_CHARACTERS),
            draws: grow(now.draws, draws),
            ..now
        };
        self.rebuild(gpu, self.desc.clone(), work)
    }

    /// Grows the work buffer for the lists of members whose looks vary, in between frames.
    ///
    /// # Errors
    /// As [`Self::reserve`]. If this fails, the crowd is unchanged.
    pub(crate) fn reserve_looks(
        &mut self,
        allocator: &RefCell<&mut dyn MemoryAllocator>,
    ) -> Result<()> {
        let needed = self.scene.characters.place_looks();
        if needed <= self.memory.work.looks.into() {
            return Ok(());
        }
        let device = Arc::clone(&self.device);
        let gpu = Gpu::new(&device, allocator)?;
        let work = WorkCapacity {
            looks: u32::try_from(needed.next_power_of_two()).unwrap_or(u32::MAX),
            ..self.memory.work
        };
        self.rebuild(gpu, self.desc.clone(), work)
    }

    /// The capacity that the living instances take, together with `more` of them.
    ///
    /// Each entry of `more` has a character, the number of its instances, and the stage that
    /// deforms their vertices. [`Self::reserve`] grows the crowd to the result. Views are those of
    /// the present capacity. Attachments and histories are not counted.
    ///
    /// ```no_run
    /// # use throng::{CharacterId, Crowd, Result, SkinningStage, gpu::MemoryAllocator};
    /// fn reinforce(
    ///     crowd: &mut Crowd,
    ///     allocator: &mut dyn MemoryAllocator,
    ///     knight: CharacterId,
    /// ) -> Result<()> {
    ///     let needed = crowd.needed_capacity(&[(knight, 200, SkinningStage::Vertex)])?;
    ///     crowd.reserve(allocator, &needed)
    /// }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFound`] if a character does not exist.
    pub fn needed_capacity(&self, more: &[(CharacterId, u32, SkinningStage)]) -> Result<Capacity> {
        let mut need = self.scene.instances.need();
        for (_, character) in self.scene.characters.iter() {
            need.blended += u64::from(character.is_blended()) * character.members.len() as u64;
        }
        for (id, instances, stage) in more {
            let one = self.scene.characters.get(*id)?.need(*stage);
            need = need.plus(&one, *instances);
        }
        Ok(need.capacity(self.desc.capacity.views))
    }
}
