//! The part of a crowd that rays need, from frame to frame.

use crate::crowd::characters::list::Characters;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::memory::buffers::FrameBuffers;
use crate::crowd::memory::retire::{RetireQueue, Retired};
use crate::crowd::rays::batch::{Batch, Step};
use crate::crowd::rays::buffers::{RayBuffers, RayCapacity};
use crate::crowd::rays::character::RayCharacter;
use crate::crowd::rays::desc::RayDesc;
use crate::crowd::rays::plan::Plan;
use crate::error::Result;
use crate::gpu::structures::Structures;
use crate::gpu::{Gpu, Guard, Object, Upload, VkCall, destroy_fields};
use crate::pass::cull::CullDispatch;
use crate::pass::rays::RayPass;
use ash::vk;

/// The type of structures for triangles.
const BOTTOM: vk::AccelerationStructureTypeKHR = vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL;

/// The part of a crowd that rays need.
#[derive(Debug)]
pub(crate) struct Rays {
    pub(super) desc: RayDesc,
    pub(crate) pass: RayPass,
    pub(super) buffers: RayBuffers,
    /// Compacted sizes, for each frame in flight.
    pub(super) queries: Object<vk::QueryPool>,
    /// By frame index, true if the GPU wrote the counters.
    pub(super) counted: Vec<bool>,
    /// Head and characters, with what it counted in the last frame of the index begun last. Empty
    /// if there is no such frame.
    pub(super) counters: Vec<u32>,
    /// The stages of the prepared frame, until it records rays.
    pub(crate) dispatch: Option<CullDispatch>,
    /// The builds, refits and copies of the frame begun last.
    pub(super) plan: Plan,
    /// Head, characters and jobs, as the GPU gets them.
    pub(super) words: Vec<u32>,
}

destroy_fields!(Rays, Gpu<'a>: buffers, queries, pass);

impl Rays {
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        layouts: [vk::DescriptorSetLayout; 2],
        (desc, frames_in_flight): (&RayDesc, u32),
        (mut capacity, of_crowd): (RayCapacity, &FrameBuffers),
    ) -> Result<Guard<'g, Self>> {
        let device = gpu.device;
        // SAFETY: the crowd keeps the layouts alive, and `RayDesc::check` has found that the device
        // has as many storage buffers.
        let pass = unsafe { RayPass::new(device, layouts) }?;
        capacity.builds.jobs = desc.builds_per_frame.into();
        let with = (desc, frames_in_flight);
        let buffers = RayBuffers::new(gpu, &pass, with, (capacity, of_crowd))?;
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR)
            .query_count(frames_in_flight * desc.builds_per_frame);
        // SAFETY: the info is alive during the call, and the extension is enabled.
        let queries =
            unsafe { device.raw.create_query_pool(&info, None) }.call("vkCreateQueryPool")?;
        let queries = Object::new(device, queries, "throng compacted sizes");
        let made = Self {
            desc: *desc,
            pass: pass.keep(),
            buffers: buffers.keep(),
            queries: queries.keep(),
            counted: vec![false; frames_in_flight as usize],
            counters: Vec::new(),
            dispatch: None,
            plan: Plan::default(),
            words: Vec::new(),
        };
        Ok(Guard::new(gpu, made))
    }

    /// Creates what rays meet of a character that the GPU culls, and pipelines and space for it
    /// beside the others.
    pub(crate) fn add<'g>(
        &mut self,
        gpu: Gpu<'g>,
        upload: &mut Upload,
        (loaded, others): (&LoadedCharacter, &Characters),
        with: (&FrameBuffers, &mut RetireQueue),
    ) -> Result<Guard<'g, RayCharacter>> {
        let made = RayCharacter::new(gpu, upload, loaded, &self.desc)?;
        let chunks = [false, true].map(|slot| &made.mesh(slot).chunks);
        let variants = chunks.into_iter().flatten().map(|chunks| chunks.variant);
        self.pass.skin.prepare(gpu.device, variants)?;
        let others = others.iter().filter_map(|(_, it)| it.rays.as_ref());
        let need = RayCapacity {
            builds: made.builds(self.desc.builds_per_frame),
            slots: others.fold(made.refits(), |all, it| all.plus(it.refits())),
            ..RayCapacity::default()
        };
        if need.max(self.buffers.capacity) != self.buffers.capacity {
            self.grow(gpu, need, with)?;
        }
        Ok(made)
    }

    /// Replaces the buffers by others of at least this capacity, beside buffers of the crowd.
    pub(crate) fn grow(
        &mut self,
        gpu: Gpu<'_>,
        need: RayCapacity,
        (of_crowd, retire_queue): (&FrameBuffers, &mut RetireQueue),
    ) -> Result<()> {
        let with = (&self.desc, self.counted.len() as u32);
        let need = (need.max(self.buffers.capacity), of_crowd);
        let made = RayBuffers::new(gpu, &self.pass, with, need)?;
        let before = core::mem::replace(&mut self.buffers, made.keep());
        retire_queue.retire(Retired::Rays(before.into()));
        self.counted.fill(false);
        self.counters.clear();
        Ok(())
    }

    /// Begins a frame: reads what the GPU found in the last one of this index, and creates the
    /// structures that this one builds or compacts.
    ///
    /// # Safety
    /// The work of this frame index has ended, and was submitted.
    pub(crate) unsafe fn begin(
        &mut self,
        gpu: Gpu<'_>,
        frame_index: u32,
        characters: &mut Characters,
        retire_queue: &mut RetireQueue,
    ) {
        self.dispatch = None;
        self.plan.clear();
        self.counters.clear();
        if core::mem::take(&mut self.counted[frame_index as usize]) {
            let (read_back, words) = (&self.buffers.read_back, self.buffers.capacity.counted());
            // SAFETY: the work of this frame index has ended and was submitted, by this function's
            // contract.
            let counters = unsafe { read_back.read(frame_index, words) };
            self.counters.extend_from_slice(counters);
        }
        // The space that the frame still has for builds.
        let mut space = self.buffers.capacity.builds;
        for (_, loaded) in characters.iter_mut() {
            let Some(rays) = &mut loaded.rays else {
                continue;
            };
            rays.want(loaded.shared_poses.as_ref());
            let each = rays.mesh(false).each;
            for batch in &mut rays.batches {
                let of_frame = batch.query / self.desc.builds_per_frame == frame_index;
                match batch.step {
                    Step::Wanted => {
                        let taken = each.times(batch.poses.len() as u64);
                        space = space.with(taken, u64::saturating_sub);
                    }
                    Step::Built if of_frame => self.compact(gpu, batch),
                    Step::Copied => {
                        let originals = core::mem::take(&mut batch.spare);
                        retire_queue.retire(Retired::Structures(originals));
                        batch.step = Step::Done;
                    }
                    _ => {}
                }
            }
        }
        for rays in characters.iter_mut().filter_map(|(_, it)| it.rays.as_mut()) {
            let (each, bytes) = (rays.mesh(false).each, rays.mesh(false).bytes);
            let count = (space.fitting(each) as usize).min(rays.queue.len());
            if count == 0 {
                continue;
            }
            match Structures::new(gpu, "throng structures", BOTTOM, &vec![bytes; count]) {
                Ok(made) => {
                    space = space.with(each.times(count as u64), u64::saturating_sub);
                    rays.batches.push(Batch {
                        structures: made.keep(),
                        poses: rays.queue.drain(..count).collect(),
                        ..Batch::default()
                    });
                }
                Err(error) => {
                    // People go on with the structures that there are.
                    log::warn!("throng: no memory for structures of rays: {error}");
                    break;
                }
            }
        }
    }

    /// Creates structures to which a batch is compacted. Without sizes or memory, it stays as it
    /// is.
    fn compact(&self, gpu: Gpu<'_>, batch: &mut Batch) {
        let mut sizes = vec![0_u64; batch.poses.len()];
        let (raw, pool) = (&gpu.device.raw, self.queries.handle);
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool is alive and has the queries.
        let read = unsafe { raw.get_query_pool_results(pool, batch.query, &mut sizes, flags) };
        let made = read
            .is_ok()
            .then(|| Structures::new(gpu, "throng structures", BOTTOM, &sizes));
        batch.step = match made {
            Some(Ok(made)) => {
                batch.spare = made.keep();
                Step::Sized
            }
            _ => Step::Done,
        };
    }

    /// Undoes the frame of this number, which is never submitted.
    pub(crate) fn abandon(&mut self, frame: u64, characters: &mut Characters) {
        self.counted.fill(false);
        self.dispatch = None;
        for rays in characters.iter_mut().filter_map(|(_, it)| it.rays.as_mut()) {
            let undone = rays.batches.iter_mut().map(|batch| batch.abandon(frame));
            let mut undone = undone.fold(false, |any, it| any | it);
            if rays.slots_built == frame {
                (rays.slots_built, undone) = (0, true);
            }
            if undone || rays.recorded == frame {
                rays.update_table();
            }
        }
    }
}
