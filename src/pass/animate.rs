//! The stages animate and palette: one dispatch poses all listed instances of a character.

use crate::error::Result;
use crate::gpu::pipeline::{compute_pipeline, pipeline_layout, spirv};
use crate::gpu::{AnimationTables, Device, GpuTime, JOINT_CLASSES, MAX_JOINTS, Object, limit};
use crate::palette::PaletteFormat;
use ash::vk;
use bytemuck::{Pod, Zeroable};

/// Workgroups in a row of a dispatch, one for each instance: `ROW_GROUPS` of the shader.
const ROW_GROUPS: u32 = 32_768;

/// Push constants of the shader.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Push {
    tables: u64,
    plays: u64,
    jobs: u64,
    counted: u64,
    now: [u32; 2],
    most: u32,
    reserved: u32,
}

/// An instance to pose, as the shader reads it.
///
/// ```
/// use throng::AnimateJob;
/// # let palettes = 4096;
/// let job = AnimateJob { first_play: 0, plays: 2, palette: palettes };
/// assert_eq!(size_of_val(&job), 16);
/// ```
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct AnimateJob {
    /// The first of its [`GpuPlay`](crate::gpu::GpuPlay)s.
    pub first_play: u32,
    /// How many it plays, ascending in layer: at most eight. With none, it has its rest pose.
    pub plays: u32,
    /// Device address of its palette, a multiple of 16.
    ///
    /// [`AnimationTables::palette_bytes`] are written there.
    pub palette: vk::DeviceAddress,
}

/// The instances that one call of [`AnimatePipeline::record`] poses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnimateJobs {
    /// So many. One dispatch is enough.
    Count(u32),
    /// As many as another shader has found.
    Indirect {
        /// Device address of their number, a word.
        count: vk::DeviceAddress,
        /// A buffer with the usage `INDIRECT_BUFFER`.
        buffer: vk::Buffer,
        /// Where it has a `VkDispatchIndirectCommand`, whose x times y are at least that number,
        /// with an x of 32,768 if y is greater than 1.
        offset: u64,
    },
}

/// What [`AnimatePipeline::record`] reads and writes.
#[derive(Debug, Clone, Copy)]
pub struct AnimateDispatch<'a> {
    /// The tables of the character of all these instances.
    pub tables: &'a AnimationTables,
    /// Device address of the [`GpuPlay`](crate::gpu::GpuPlay)s, a multiple of 16.
    pub plays: vk::DeviceAddress,
    /// Device address of the [`AnimateJob`]s, a multiple of 16.
    pub jobs: vk::DeviceAddress,
    /// How many jobs there are.
    pub count: AnimateJobs,
    /// The time to pose them at, since the epoch of their plays.
    pub now: GpuTime,
}

/// The compute pipelines that pose instances and write their palettes.
///
/// One workgroup poses one instance, from the same data as the CPU: its plays, packed clips and
/// masks. What a palette moves differs from the CPU's by at most 5e-6 of the model's size, at any
/// time within [`GpuTime`]'s limits, if no chain has more than 20 joints. Longer ones round more.
///
/// It is for engines that do not use a crowd. On a software device, use
/// [`Animator::palettes`](crate::animator::Animator::palettes), which is much faster there.
///
/// # Example
/// ```no_run
/// use throng::animator::{ActorId, Animator};
/// use throng::ash::vk;
/// use throng::gpu::{AnimationTables, Device, GpuPlay, GpuTime, Producer};
/// use throng::{AnimateDispatch, AnimateJob, AnimateJobs, AnimatePipeline, Result};
///
/// /// When something else plays on an actor: its plays, or false if only the CPU can pose it.
/// fn converted(
///     animator: &Animator, actor: ActorId, epoch_s: f64, plays: &mut Vec<GpuPlay>,
/// ) -> Result<bool> {
///     Ok(animator.gpu_plays(actor, epoch_s, plays)? == Producer::Gpu)
/// }
///
/// /// Every frame: poses `count` instances, whose jobs and plays lie at these addresses.
/// unsafe fn pose(
///     pipeline: &AnimatePipeline,
///     (device, cmd): (&Device, vk::CommandBuffer),
///     tables: &AnimationTables,
///     (jobs, plays, count): (u64, u64, u32),
///     (now_s, epoch_s): (f64, f64),
/// ) {
///     let (count, now) = (AnimateJobs::Count(count), GpuTime::new(now_s, epoch_s));
///     let dispatch = AnimateDispatch { tables, plays, jobs, count, now };
///     unsafe { pipeline.record(device, cmd, &dispatch) };
///     // Then a barrier from COMPUTE_SHADER, SHADER_STORAGE_WRITE to what reads the palettes.
/// }
/// ```
#[derive(Debug)]
pub struct AnimatePipeline {
    layout: Object<vk::PipelineLayout>,
    /// By format and number of joints.
    pipelines: Vec<((PaletteFormat, u32), Object<vk::Pipeline>)>,
}

impl AnimatePipeline {
    /// Creates what all pipelines share. [`Self::prepare`] adds pipelines.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan).
    pub fn new(device: &Device) -> Result<Self> {
        let (name, stages) = ("throng animate", vk::ShaderStageFlags::COMPUTE);
        let push = (stages, size_of::<Push>() as u32);
        // SAFETY: there is no set, and every device has 128 bytes of push constants.
        let layout = unsafe { pipeline_layout(device, name, &[], push, None) }?;
        Ok(Self {
            layout,
            pipelines: Vec::new(),
        })
    }

    /// Creates the pipeline for palettes of a format and skeletons of so many joints.
    ///
    /// There is one for up to 64 joints, one for up to 128, and one for up to 300. Pipelines that
    /// exist are kept.
    ///
    /// # Errors
    /// - [`Error::Capacity`](crate::Error::Capacity) for more than 300 joints.
    /// - [`Error::Vulkan`](crate::Error::Vulkan).
    ///
    /// # Safety
    /// `device` is the one that the stage was made with.
    pub unsafe fn prepare(
        &mut self,
        device: &Device,
        format: PaletteFormat,
        joints: u32,
    ) -> Result<()> {
        let key = (format, joint_class(joints)?);
        if self.find(key).is_none() {
            let (words, layout) = (spirv::ANIMATE_COMP, self.layout.handle);
            let (joints, method) = (key.1, format as u32);
            // SAFETY: the module is the crate's own, compiled for this layout. Its workgroup has 64
            // invocations, and 52 bytes of shared memory for each of at most 300 joints.
            let pipeline = unsafe {
                compute_pipeline(device, "throng animate", words, layout, joints, method)
            };
            self.pipelines.push((key, pipeline?));
        }
        Ok(())
    }

    /// All pipelines, for statistics of the driver: format, most joints, handle.
    pub fn pipelines(&self) -> impl Iterator<Item = (PaletteFormat, u32, vk::Pipeline)> + '_ {
        let all = self.pipelines.iter();
        all.map(|((format, joints), pipeline)| (*format, *joints, pipeline.handle))
    }

    fn find(&self, key: (PaletteFormat, u32)) -> Option<vk::Pipeline> {
        let mut own = self.pipelines.iter().filter(|(of, _)| *of == key);
        own.next().map(|(_, pipeline)| pipeline.handle)
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
    /// - At the addresses lie as many jobs and plays as are read, in buffers with the usage
    ///   `SHADER_DEVICE_ADDRESS`. Palettes do not overlap. No robustness feature checks that.
    /// - The plays were made by [`Animator::gpu_plays`](crate::animator::Animator::gpu_plays) of an
    ///   animator of the tables' character.
    pub unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        dispatch: &AnimateDispatch<'_>,
    ) {
        let tables = dispatch.tables;
        let class = joint_class(tables.joints());
        let Some(pipeline) = class
            .ok()
            .and_then(|class| self.find((tables.format(), class)))
        else {
            return;
        };
        let (counted, most) = match dispatch.count {
            AnimateJobs::Count(count) => (0, count),
            AnimateJobs::Indirect { count, .. } => (count, 0),
        };
        let push = Push {
            tables: tables.address(),
            plays: dispatch.plays,
            jobs: dispatch.jobs,
            counted,
            now: dispatch.now.words(),
            most,
            reserved: 0,
        };
        let (raw, layout, bytes) = (&device.raw, self.layout.handle, bytemuck::bytes_of(&push));
        let stages = vk::ShaderStageFlags::COMPUTE;
        // SAFETY: `cmd` is recording outside a render pass, and the addresses are valid, by this
        // function's contract.
        unsafe {
            raw.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::COMPUTE, pipeline);
            raw.cmd_push_constants(cmd, layout, stages, 0, bytes);
            match dispatch.count {
                AnimateJobs::Count(0) => {}
                AnimateJobs::Count(count) => {
                    let rows = count.div_ceil(ROW_GROUPS);
                    raw.cmd_dispatch(cmd, count.min(ROW_GROUPS), rows, 1);
                }
                AnimateJobs::Indirect { buffer, offset, .. } => {
                    raw.cmd_dispatch_indirect(cmd, buffer, offset);
                }
            }
        }
    }

    /// Destroys the pipelines.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` is the one that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the GPU does not use them, by this function's contract.
        unsafe {
            for (_, pipeline) in &mut self.pipelines {
                pipeline.destroy(device);
            }
            self.layout.destroy(device);
        }
    }
}

/// The number of joints that the pipeline for a skeleton is made for.
fn joint_class(joints: u32) -> Result<u32> {
    limit(
        "joints of a skeleton that shaders pose",
        joints.into(),
        MAX_JOINTS.into(),
    )?;
    let mut classes = JOINT_CLASSES.into_iter();
    Ok(classes.find(|most| joints <= *most).unwrap_or(MAX_JOINTS))
}

/// The most joints of any pipeline fit into the shared memory of every device.
const _: () = assert!(MAX_JOINTS * 52 + 8 * 28 <= 16_384);
