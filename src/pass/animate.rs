//! The stages animate and palette: one dispatch poses all listed instances of a character.

use crate::error::Result;
use crate::gpu::constants::ROW_GROUPS;
use crate::gpu::pipeline::spirv;
use crate::gpu::{
    AnimateVariant, AnimationTables, Destroy, Device, GpuTime, JOINT_CLASSES, MAX_JOINTS,
    destroy_fields, limit,
};
use crate::pass::compute::ComputePass;
use crate::pass::push::AnimatePush;
use ash::vk;
use bytemuck::{Pod, Zeroable};

/// An instance to pose, as the shader reads it.
///
/// ```
/// use throng::gpu::AnimateJob;
///
/// let job = AnimateJob { first_play: 0, plays: 2, palette: 171, morphs: AnimateJob::NONE };
/// assert_eq!(size_of_val(&job), 16);
/// ```
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct AnimateJob {
    /// The first of its [`GpuPlay`](crate::gpu::GpuPlay)s.
    pub first_play: u32,
    /// The number of its plays, ascending in layer: at most eight. With none, it has its rest pose.
    pub plays: u32,
    /// The start of its palette, in units of 16 bytes from [`AnimateDispatch::palettes`].
    ///
    /// [`AnimationTables::palette_bytes`] are written there.
    pub palette: u32,
    /// The first word of its active morph weights, counted from [`AnimateDispatch::morphs`], or
    /// [`Self::NONE`].
    ///
    /// If a clip that it plays drives weights, their number is written there, and then number and
    /// value of each that is not 0: at most 1 and twice as many words as the character has weights.
    pub morphs: u32,
}

impl AnimateJob {
    /// No morph weights are written.
    pub const NONE: u32 = u32::MAX;
}

/// The instances that one call of [`AnimatePipeline::record`] poses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnimateJobs {
    /// This many. One dispatch is enough.
    Count(u32),
    /// As many as another shader has found.
    Indirect {
        /// Device address of their number, a word.
        count: vk::DeviceAddress,
        /// A buffer with the usage `INDIRECT_BUFFER`.
        buffer: vk::Buffer,
        /// The offset of a `VkDispatchIndirectCommand` in it, in bytes. Its x times y are at least
        /// that number, with an x of 32,768 if y is greater than 1.
        offset: u64,
    },
    /// No instances, but a clip at evenly spaced positions, for palettes that stay as they are.
    ///
    /// The palettes follow each other from [`AnimateDispatch::palettes`] on: one more than there
    /// are steps, from the start of the clip to its end. No plays, jobs and morph weights are read
    /// or written. See [`PoseSteps`](crate::skin::PoseSteps).
    Steps {
        /// The number of the clip. An additive one has poses of no use.
        clip: u32,
        /// The number of steps: at least 1.
        steps: u32,
    },
}

/// The memory that [`AnimatePipeline::record`] reads and writes.
#[derive(Debug, Clone, Copy)]
pub struct AnimateDispatch<'a> {
    /// The tables of the character of all these instances.
    pub tables: &'a AnimationTables,
    /// Device address of the [`GpuPlay`](crate::gpu::GpuPlay)s, a multiple of 16.
    pub plays: vk::DeviceAddress,
    /// Device address of the [`AnimateJob`]s, a multiple of 16.
    pub jobs: vk::DeviceAddress,
    /// Device address that palettes count from, a multiple of 16.
    pub palettes: vk::DeviceAddress,
    /// Device address that morph weights count from, a multiple of 4.
    pub morphs: vk::DeviceAddress,
    /// Device address that the morph weights set by the caller count from, a multiple of 4, or 0 if
    /// nobody set any.
    ///
    /// [`AnimateJob::morphs`] counts from here, too: at that word is what
    /// [`Animator::gpu_weights`](crate::animator::Animator::gpu_weights) appends for the actor.
    pub own_weights: vk::DeviceAddress,
    /// The number of jobs.
    pub count: AnimateJobs,
    /// The time to pose them at, in seconds of the animator's clock.
    ///
    /// It is rounded to 0.12 nanoseconds, and at most 2²⁹ seconds (17 years) before or after the
    /// epoch: others become the farthest time, and NaN the epoch.
    pub now_s: f64,
    /// The epoch of their plays, as given to
    /// [`Animator::gpu_plays`](crate::animator::Animator::gpu_plays).
    pub epoch_s: f64,
}

/// The compute pipelines that pose instances and write their palettes and morph weights.
///
/// One workgroup poses one instance, from the same data as the CPU: its plays, packed clips and
/// masks. What a palette moves differs from the CPU's by at most 5e-6 of the model's size, at any
/// time within 2²⁹ seconds of the epoch, if no chain has more than 20 joints. Longer ones round
/// more.
///
/// It is for engines that do not use a crowd. On a software device, use
/// [`Animator::palettes`](crate::animator::Animator::palettes), which is much faster there.
///
/// # Example
/// ```no_run
/// use throng::animator::{ActorId, Animator};
/// use throng::ash::vk;
/// use throng::Result;
/// use throng::gpu::{
///     AnimateDispatch, AnimateJobs, AnimatePipeline, AnimationTables, Device, GpuPlay, PosedBy,
/// };
///
/// /// When something else plays on an actor: its plays, or false if only the CPU can pose it.
/// fn converted(
///     animator: &Animator, actor: ActorId, epoch_s: f64, plays: &mut Vec<GpuPlay>,
/// ) -> Result<bool> {
///     Ok(animator.gpu_plays(actor, epoch_s, plays)? == PosedBy::Gpu)
/// }
///
/// /// Every frame: poses `count` instances, whose jobs and plays lie at these addresses.
/// unsafe fn pose(
///     pipeline: &AnimatePipeline,
///     (device, cmd): (&Device, vk::CommandBuffer),
///     tables: &AnimationTables,
///     (jobs, count): (u64, u32),
///     (plays, palettes, morphs): (u64, u64, u64),
///     (now_s, epoch_s): (f64, f64),
/// ) {
///     let count = AnimateJobs::Count(count);
///     let dispatch = AnimateDispatch {
///         tables, plays, jobs, palettes, morphs, own_weights: 0, count, now_s, epoch_s
///     };
///     unsafe { pipeline.record(device, cmd, &dispatch) };
///     // Then a barrier from COMPUTE_SHADER, SHADER_STORAGE_WRITE to what reads the palettes.
/// }
/// ```
#[derive(Debug)]
pub struct AnimatePipeline {
    compute: ComputePass,
    /// The variant of each pipeline, with the most joints of its class.
    variants: Vec<AnimateVariant>,
}

destroy_fields!(AnimatePipeline, &'a Device: compute);

impl AnimatePipeline {
    /// Creates what all pipelines share. [`Self::prepare`] adds pipelines.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan).
    pub fn new(device: &Device) -> Result<Self> {
        let set = (&[][..], None);
        // SAFETY: there is no set.
        let compute = unsafe { ComputePass::new::<AnimatePush>(device, "throng animate", set) }?;
        Ok(Self {
            compute: compute.keep(),
            variants: Vec::new(),
        })
    }

    /// Creates the pipeline for the character of these tables.
    ///
    /// For each format of palettes, there is one for up to 64 joints, one for up to 128, and one
    /// for up to 300. Clips with tracks that packing
    /// [kept as curves](crate::clip::ClipReport::kept_tracks), and clips that
    /// [drive morph weights](crate::clip::Clip::sample_weights), need longer ones. Pipelines that
    /// exist are kept.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan).
    ///
    /// # Safety
    /// `device` is the one that the stage was made with.
    pub unsafe fn prepare(&mut self, device: &Device, tables: &AnimationTables) -> Result<()> {
        // SAFETY: this function has the same contract.
        unsafe { self.prepare_variant(device, tables.variant()) }
    }

    /// [`Self::prepare`], without tables.
    ///
    /// # Errors
    /// - [`Error::Capacity`](crate::Error::Capacity) for more than 300 joints.
    /// - [`Error::Vulkan`](crate::Error::Vulkan).
    ///
    /// # Safety
    /// As [`Self::prepare`].
    pub(crate) unsafe fn prepare_variant(
        &mut self,
        device: &Device,
        variant: AnimateVariant,
    ) -> Result<()> {
        let variant = class_of(variant)?;
        if self.find(variant).is_none() {
            let features = u32::from(variant.curves) | u32::from(variant.morph_weights) << 1;
            let constants = [variant.joints, variant.format as u32, features];
            // SAFETY: the module is the crate's own, compiled for this layout. Its workgroup has 64
            // invocations, and 52 bytes of shared memory for each of at most 300 joints.
            unsafe {
                let words = spirv::ANIMATE_COMP;
                self.compute
                    .add(device, "throng animate", words, &constants)?;
            }
            self.variants.push(variant);
        }
        Ok(())
    }

    /// All pipelines, for statistics of the driver, in the order of the calls of [`Self::prepare`]
    /// that created them.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = vk::Pipeline> + '_ {
        self.compute.pipelines()
    }

    /// The index of the pipeline of a variant with the most joints of its class.
    fn find(&self, variant: AnimateVariant) -> Option<usize> {
        self.variants.iter().position(|own| *own == variant)
    }

    /// Records the poses of the instances that `dispatch` names.
    ///
    /// Nothing is recorded for tables whose pipeline was not prepared. No barrier is recorded.
    /// These are the caller's:
    ///
    /// - Before, the writes of plays, jobs and their number must be visible to
    ///   `COMPUTE_SHADER`/`SHADER_STORAGE_READ`, those of the command to
    ///   `DRAW_INDIRECT`/`INDIRECT_COMMAND_READ`, and reads of the palettes must have ended.
    /// - After, the writes are `COMPUTE_SHADER`/`SHADER_STORAGE_WRITE`.
    ///
    /// # Safety
    /// - `device` is the one that the stage and the tables were made with, and `cmd` is one of its
    ///   command buffers.
    /// - `cmd` is recording, outside a render pass, and the upload of the tables was recorded.
    /// - At the addresses lie as many jobs and plays as are read, and there is space for what is
    ///   written, in buffers with the usage `SHADER_DEVICE_ADDRESS`. Palettes do not overlap, nor
    ///   do morph weights. No robustness feature checks that.
    /// - The plays were made by [`Animator::gpu_plays`](crate::animator::Animator::gpu_plays) of an
    ///   animator of the tables' character.
    pub unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        dispatch: &AnimateDispatch<'_>,
    ) {
        let tables = dispatch.tables;
        let variant = class_of(tables.variant()).ok();
        let Some(pipeline) = variant.and_then(|variant| self.find(variant)) else {
            return;
        };
        let (counted, most, still_clip) = match dispatch.count {
            AnimateJobs::Count(count) => (0, count, 0),
            AnimateJobs::Indirect { count, .. } => (count, 0, 0),
            AnimateJobs::Steps { clip, steps } => {
                (0, steps.saturating_add(1), clip.saturating_add(1))
            }
        };
        let push = AnimatePush {
            tables: tables.address(),
            plays: dispatch.plays,
            jobs: dispatch.jobs,
            palettes: dispatch.palettes,
            morphs: dispatch.morphs,
            own_weights: dispatch.own_weights,
            counted,
            now: GpuTime::new(dispatch.now_s, dispatch.epoch_s).words(),
            most,
            still_clip,
        };
        let raw = &device.raw;
        // SAFETY: `cmd` is recording outside a render pass, and the addresses are valid, by this
        // function's contract.
        unsafe {
            let point = vk::PipelineBindPoint::COMPUTE;
            raw.cmd_bind_pipeline(cmd, point, self.compute.pipeline(pipeline));
            let (layout, stages) = (self.compute.layout.handle, vk::ShaderStageFlags::COMPUTE);
            raw.cmd_push_constants(cmd, layout, stages, 0, bytemuck::bytes_of(&push));
            if let AnimateJobs::Indirect { buffer, offset, .. } = dispatch.count {
                raw.cmd_dispatch_indirect(cmd, buffer, offset);
            } else if most > 0 {
                raw.cmd_dispatch(cmd, most.min(ROW_GROUPS), most.div_ceil(ROW_GROUPS), 1);
            }
        }
    }

    /// Destroys the pipelines.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` is the one that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: this function has the same contract.
        unsafe { Destroy::destroy(self, device) };
    }
}

/// The variant with the most joints of the pipeline for this one.
fn class_of(variant: AnimateVariant) -> Result<AnimateVariant> {
    limit(
        "joints of a skeleton that shaders pose",
        variant.joints.into(),
        MAX_JOINTS.into(),
    )?;
    let mut classes = JOINT_CLASSES.into_iter();
    let joints = classes.find(|most| variant.joints <= *most);
    let joints = joints.unwrap_or(MAX_JOINTS);
    Ok(AnimateVariant { joints, ..variant })
}

/// The most joints of any pipeline fit into the shared memory of every device.
const _: () = assert!(MAX_JOINTS * 52 + 8 * 36 + 8 <= 16_384);
