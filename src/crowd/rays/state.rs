//! The part of a crowd that rays need, from frame to frame.

use crate::crowd::characters::list::Characters;
use crate::crowd::characters::loaded::LoadedCharacter;
use crate::crowd::memory::buffers::{FrameBuffers, whole};
use crate::crowd::memory::retire::{RetireQueue, Retired};
use crate::crowd::rays::batch::{Batch, Step};
use crate::crowd::rays::character::RayCharacter;
use crate::crowd::rays::desc::{RayDesc, RayStats};
use crate::crowd::rays::plan::Plan;
use crate::crowd::rays::work::{RayBuffers, RayCapacity};
use crate::error::Result;
use crate::gpu::accel::STRUCTURE_ALIGNMENT;
use crate::gpu::constants::{RAY_CHARACTER_WORDS, RAY_HEAD, RAY_PEOPLE, RAY_WANTING};
use crate::gpu::sets::Sets;
use crate::gpu::structures::Structures;
use crate::gpu::{Device, Gpu, Guard, Object, Upload, VkCall, destroy_fields};
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
    /// The set that engines' shaders read hits with.
    pub(super) hit_set: Sets,
    /// Compacted sizes, for each frame in flight.
    pub(super) queries: Object<vk::QueryPool>,
    /// By frame index, true if the GPU wrote the counters.
    pub(super) counted: Vec<bool>,
    /// Head and characters, with what it counted in the last frame of the index begun last. Empty
    /// if there is no such frame.
    pub(super) counters: Vec<u32>,
    /// The views of the prepared frame that have rays, as bits.
    pub(super) views: u32,
    /// The stages of the prepared frame.
    pub(super) dispatch: Option<CullDispatch>,
    /// True if the frame has recorded rays.
    pub(super) recorded: bool,
    /// The builds, refits and copies of the frame begun last.
    pub(super) plan: Plan,
    /// Head, characters and jobs, as the GPU gets them.
    pub(super) words: Vec<u32>,
}

destroy_fields!(Rays, Gpu<'a>: hit_set, buffers, queries, pass);

impl Rays {
    pub(crate) fn new<'g>(
        gpu: Gpu<'g>,
        layouts: [vk::DescriptorSetLayout; 2],
        (desc, frames_in_flight): (&RayDesc, u32),
        (space, of_crowd): (RayCapacity, &FrameBuffers),
    ) -> Result<Guard<'g, Self>> {
        let device = gpu.device;
        // SAFETY: the crowd keeps the layouts alive, and `RayDesc::check` has found that the device
        // has as many storage buffers.
        let pass = unsafe { RayPass::new(device, layouts) }?;
        let buffers = RayBuffers::new(gpu, &pass, (desc, frames_in_flight), space)?;
        let hit_set = hit_set(device, (&pass, &buffers), of_crowd)?;
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
            hit_set: hit_set.keep(),
            queries: queries.keep(),
            counted: vec![false; frames_in_flight as usize],
            counters: Vec::new(),
            views: 0,
            dispatch: None,
            recorded: false,
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
        (of_crowd, retire_queue): (&FrameBuffers, &mut RetireQueue),
    ) -> Result<Guard<'g, RayCharacter>> {
        let made = RayCharacter::new(gpu, upload, loaded, &self.desc)?;
        let slots = made.slots.as_ref().map(|slots| &slots.mesh);
        let meshes = core::iter::once(&made.mesh).chain(slots);
        let chunks = meshes.flat_map(|mesh| &mesh.chunks);
        self.pass
            .prepare(gpu.device, chunks.map(|chunks| chunks.variant))?;
        let mut need = made.need(self.desc.builds_per_frame);
        for other in others.iter().filter_map(|(_, it)| it.rays.as_ref()) {
            let other = other.need(0);
            need.slots += other.slots;
            need.slot_vertices += other.slot_vertices;
            need.slot_scratch += other.slot_scratch;
        }
        self.fit(gpu, need, (of_crowd, retire_queue))?;
        Ok(made)
    }

    /// Grows the buffers beside new buffers of the crowd.
    pub(crate) fn grow(
        &mut self,
        gpu: Gpu<'_>,
        need: RayCapacity,
        (of_crowd, retire_queue): (&FrameBuffers, &mut RetireQueue),
    ) -> Result<()> {
        let made = hit_set(gpu.device, (&self.pass, &self.buffers), of_crowd)?;
        let before = core::mem::replace(&mut self.hit_set, made.keep());
        retire_queue.retire(Retired::Sets(before));
        self.fit(gpu, need, (of_crowd, retire_queue))
    }

    fn fit(
        &mut self,
        gpu: Gpu<'_>,
        need: RayCapacity,
        (of_crowd, retire_queue): (&FrameBuffers, &mut RetireQueue),
    ) -> Result<()> {
        let need = need.max(self.buffers.capacity);
        if need != self.buffers.capacity {
            let frames = self.counted.len() as u32;
            let buffers = RayBuffers::new(gpu, &self.pass, (&self.desc, frames), need)?;
            let set = hit_set(gpu.device, (&self.pass, &buffers), of_crowd)?;
            let before = core::mem::replace(&mut self.hit_set, set.keep());
            retire_queue.retire(Retired::Sets(before));
            let before = core::mem::replace(&mut self.buffers, buffers.keep());
            retire_queue.retire(Retired::Rays(before.into()));
            self.counted.fill(false);
            self.counters.clear();
        }
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
        (self.views, self.dispatch, self.recorded) = (0, None, false);
        self.plan.clear();
        self.counters.clear();
        if core::mem::take(&mut self.counted[frame_index as usize]) {
            // SAFETY: the work of this frame index has ended and was submitted, by this function's
            // contract.
            unsafe { self.buffers.read(frame_index, &mut self.counters) };
        }
        let mut budget = Budget::new(&self.desc, self.buffers.capacity);
        for (_, loaded) in characters.iter_mut() {
            let Some(rays) = &mut loaded.rays else {
                continue;
            };
            rays.want(loaded.shared_poses.as_ref());
            let each = rays.need(1);
            for batch in &mut rays.batches {
                match core::mem::replace(&mut batch.step, Step::Done) {
                    Step::Copied { before, .. } => retire_queue.retire(Retired::Structures(before)),
                    Step::Built {
                        frame_index: built,
                        query,
                        ..
                    } if built == frame_index => {
                        let sizes = self.sizes(gpu.device, query, batch.poses.len());
                        batch.step = compacted(gpu, sizes.as_deref());
                    }
                    step => batch.step = step,
                }
                if matches!(batch.step, Step::Wanted) {
                    budget.take(batch.poses.len(), &each);
                }
            }
        }
        for rays in characters.iter_mut().filter_map(|(_, it)| it.rays.as_mut()) {
            let each = rays.need(1);
            let poses = rays.take(budget.fitting(&each));
            if poses.is_empty() {
                continue;
            }
            let sizes = vec![rays.mesh.size.bytes; poses.len()];
            match Structures::new(gpu, "throng structures", BOTTOM, &sizes) {
                Ok(structures) => {
                    budget.take(poses.len(), &each);
                    rays.batches.push(Batch {
                        structures: structures.keep(),
                        poses,
                        step: Step::Wanted,
                    });
                }
                Err(error) => {
                    // People go on with the structures that there are.
                    log::warn!("throng: no memory for structures of rays: {error}");
                    rays.put_back(&poses);
                    break;
                }
            }
        }
    }

    /// Notes the views of a prepared frame that have rays, as bits, and its stages.
    pub(crate) fn prepare(&mut self, views: u32, dispatch: Option<CullDispatch>) {
        (self.views, self.dispatch) = (views, dispatch);
    }

    /// The compacted sizes of structures from a query on.
    fn sizes(&self, device: &Device, query: u32, count: usize) -> Option<Vec<u64>> {
        let mut sizes = vec![0_u64; count];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool is alive and has the queries.
        let read = unsafe {
            let pool = self.queries.handle;
            device
                .raw
                .get_query_pool_results(pool, query, &mut sizes, flags)
        };
        read.ok().map(|()| sizes)
    }

    /// Undoes the frame of this number, which is never submitted.
    pub(crate) fn abandon(&mut self, frame: u64, characters: &mut Characters) {
        self.counted.fill(false);
        self.dispatch = None;
        for rays in characters.iter_mut().filter_map(|(_, it)| it.rays.as_mut()) {
            let undone = rays.batches.iter_mut().map(|batch| batch.abandon(frame));
            let mut undone = undone.fold(false, |any, it| any | it);
            if let Some(slots) = rays.slots.as_mut().filter(|it| it.built == frame) {
                (slots.built, undone) = (0, true);
            }
            if undone || rays.recorded == frame {
                rays.update_table();
            }
        }
    }

    /// The people of a character who wanted slots some frames ago, if that is known.
    pub(super) fn wanting(&self, number: u32) -> Option<u32> {
        let at = RAY_HEAD + number as usize * RAY_CHARACTER_WORDS + RAY_WANTING;
        self.counters.get(at).copied()
    }

    /// The figures of rays.
    pub(super) fn stats(&self, characters: &Characters) -> RayStats {
        let counter = |at: usize| self.counters.get(at).copied().unwrap_or(0);
        let [built, refitted] = self.plan.counts();
        let mut stats = RayStats {
            people: counter(RAY_PEOPLE),
            approximated: counter(RAY_PEOPLE + 1),
            without_structure: counter(RAY_PEOPLE + 2),
            left_out: counter(RAY_PEOPLE + 3),
            near: counter(RAY_PEOPLE + 4),
            built,
            refitted,
            ..RayStats::default()
        };
        for rays in characters.iter().filter_map(|(_, it)| it.rays.as_ref()) {
            stats.waiting += rays.queue.len() as u32;
            for batch in &rays.batches {
                stats.bytes += batch.bytes();
                let count = match batch.step {
                    Step::Wanted => &mut stats.waiting,
                    _ => &mut stats.structures,
                };
                *count += batch.poses.len() as u32;
            }
            if let Some(slots) = &rays.slots {
                stats.structures += slots.count();
                stats.bytes += slots.structures.bytes();
            }
        }
        stats
    }
}

/// Makes the set that engines' shaders read hits with.
fn hit_set<'g>(
    device: &'g Device,
    (pass, buffers): (&RayPass, &RayBuffers),
    of_crowd: &FrameBuffers,
) -> Result<Guard<'g, Sets>> {
    let each = [
        whole(&buffers.met),
        of_crowd.instances(),
        of_crowd.lists(),
        of_crowd.skinned(),
    ];
    pass.make_hit_set(device, &each)
}

/// The next step of structures that were built, with their compacted sizes, if these are known.
fn compacted(gpu: Gpu<'_>, sizes: Option<&[u64]>) -> Step {
    let Some(sizes) = sizes else {
        return Step::Done;
    };
    let sizes = sizes
        .iter()
        .map(|size| size.max(&1).next_multiple_of(STRUCTURE_ALIGNMENT));
    let sizes: Vec<u64> = sizes.collect();
    // Without memory, they stay as they are.
    match Structures::new(gpu, "throng structures", BOTTOM, &sizes) {
        Ok(structures) => Step::Sized(structures.keep()),
        Err(_) => Step::Done,
    }
}

/// The builds that a frame still has space for.
struct Budget {
    builds: usize,
    space: RayCapacity,
}

impl Budget {
    fn new(desc: &RayDesc, space: RayCapacity) -> Self {
        Self {
            builds: desc.builds_per_frame as usize,
            space,
        }
    }

    /// The number of builds that fit, of which each needs so much.
    fn fitting(&self, each: &RayCapacity) -> usize {
        let fits =
            |have: u64, need: u64| have.checked_div(need).map_or(usize::MAX, |it| it as usize);
        let space = fits(self.space.vertices, each.vertices);
        space
            .min(fits(self.space.scratch, each.scratch))
            .min(self.builds)
    }

    fn take(&mut self, count: usize, each: &RayCapacity) {
        self.builds = self.builds.saturating_sub(count);
        let count = count as u64;
        self.space.vertices = self.space.vertices.saturating_sub(each.vertices * count);
        self.space.scratch = self.space.scratch.saturating_sub(each.scratch * count);
    }
}
