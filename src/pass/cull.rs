//! The stages that decide on the GPU who is drawn: cull, scan, allocate_rows, compact and args.

use crate::error::Result;
use crate::gpu::constants::ARGS_WORKGROUP;
use crate::gpu::pipeline::{compute_pipeline, pipeline_layout, spirv};
use crate::gpu::{Device, Object, sets};
use crate::pass::push::CullPush;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// The stages, in the order in which they run.
const STAGES: [(&str, &[u32]); 6] = [
    ("budget", spirv::BUDGET_COMP),
    ("cull", spirv::CULL_COMP),
    ("scan", spirv::SCAN_COMP),
    ("allocate_rows", spirv::ALLOCATE_ROWS_COMP),
    ("compact", spirv::COMPACT_COMP),
    ("args", spirv::ARGS_COMP),
];

/// True for the stages that read what the stage before wrote. Scan and allocate_rows
/// both read what cull wrote, and compact and args what scan wrote.
const WAITS: [bool; STAGES.len()] = [false, true, true, false, true, false];

/// The stages that test instances, which are the first. They have pipelines for views with several
/// eyes.
const TESTS: usize = 2;

/// Pipelines and set layout.
#[derive(Debug)]
pub(crate) struct CullPass {
    set_layout: Object<vk::DescriptorSetLayout>,
    layout: Object<vk::PipelineLayout>,
    pipelines: [Object<vk::Pipeline>; STAGES.len()],
    /// The pipelines of [`TESTS`] for views with several eyes. Null on a device without multiview.
    eyes: [Object<vk::Pipeline>; TESTS],
}

/// The buffers that the stages read and write.
pub(crate) struct CullBuffers {
    /// The instance table with actors and levels.
    pub(crate) table: vk::DescriptorBufferInfo,
    /// The work buffer.
    pub(crate) work: vk::DescriptorBufferInfo,
    /// Views and lists in the ring. The range is at most that of one frame in flight.
    pub(crate) input: vk::DescriptorBufferInfo,
}

/// The input of [`CullPass::record`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct CullDispatch {
    pub(crate) set: vk::DescriptorSet,
    /// The dynamic offset of the input.
    pub(crate) input: u32,
    pub(crate) push: CullPush,
    /// Chunks, characters and draws in use.
    pub(crate) chunks: u32,
    pub(crate) characters: u32,
    pub(crate) draws: u32,
    /// True if a view has a limit of triangles.
    pub(crate) limited: bool,
    /// True if the stage animate follows.
    pub(crate) animates: bool,
    /// True if a view has several eyes.
    pub(crate) eyes: bool,
}

const BINDINGS: [vk::DescriptorType; 3] = [
    vk::DescriptorType::STORAGE_BUFFER,
    vk::DescriptorType::STORAGE_BUFFER,
    vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
];

impl CullPass {
    pub(crate) fn null() -> Self {
        Self {
            set_layout: Object::null(),
            layout: Object::null(),
            pipelines: core::array::from_fn(|_| Object::null()),
            eyes: core::array::from_fn(|_| Object::null()),
        }
    }

    /// Creates the objects of a null pass. After an error, the caller destroys those that were
    /// created.
    pub(crate) fn build(&mut self, device: &Device) -> Result<()> {
        let stages = vk::ShaderStageFlags::COMPUTE;
        let bindings: Vec<_> = (0..)
            .zip(BINDINGS)
            .map(|(number, kind)| sets::binding(number, kind, stages))
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let name = "throng cull";
        self.set_layout = sets::layout(device, name, &info)?;
        let sets = [self.set_layout.handle];
        let push = (stages, size_of::<CullPush>() as u32);
        // SAFETY: the set layout was created above. It has three buffers, and every device has 128
        // bytes of push constants.
        self.layout = unsafe { pipeline_layout(device, name, &sets, push, None) }?;
        let layout = self.layout.handle;
        for (pipeline, (name, words)) in self.pipelines.iter_mut().zip(STAGES) {
            let name = format!("throng {name}");
            // SAFETY: the module is the crate's own, compiled for such a layout, which was created
            // above. Its workgroup has a fixed size of at most 128.
            *pipeline = unsafe { compute_pipeline(device, &name, words, layout, &[]) }?;
        }
        if !device.enabled.multiview {
            return Ok(());
        }
        for (pipeline, (name, words)) in self.eyes.iter_mut().zip(STAGES) {
            let name = format!("throng {name} of eyes");
            // SAFETY: as above. The constant is no size.
            *pipeline = unsafe { compute_pipeline(device, &name, words, layout, &[vk::TRUE]) }?;
        }
        Ok(())
    }

    /// The layout of its sets.
    pub(crate) fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.set_layout.handle
    }

    /// The pipelines, with their names.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = (&'static str, vk::Pipeline)> + '_ {
        let names = || STAGES.iter().map(|(name, _)| *name);
        let handle = |pipeline: &Object<vk::Pipeline>| pipeline.handle;
        let eyes = names().zip(self.eyes.iter().map(handle));
        let eyes = eyes.filter(|(_, pipeline)| *pipeline != vk::Pipeline::null());
        names().zip(self.pipelines.iter().map(handle)).chain(eyes)
    }

    /// Makes a set in a pool of its own.
    pub(crate) fn make_set(
        &self,
        device: &Device,
        buffers: &CullBuffers,
    ) -> Result<(Object<vk::DescriptorPool>, vk::DescriptorSet)> {
        let sizes = [
            vk::DescriptorPoolSize {
                ty: vk::DescriptorType::STORAGE_BUFFER,
                descriptor_count: 2,
            },
            vk::DescriptorPoolSize {
                ty: vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
                descriptor_count: 1,
            },
        ];
        let layout = self.set_layout.handle;
        let (pool, sets) = sets::with_pool(device, "throng cull", &sizes, layout, 1, None)?;
        let set = sets.first().copied().unwrap_or_default();
        let infos = [[buffers.table], [buffers.work], [buffers.input]];
        let writes: Vec<_> = (0..)
            .zip(BINDINGS.iter().zip(&infos))
            .map(|(binding, (kind, info))| {
                vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .descriptor_type(*kind)
                    .buffer_info(info)
            })
            .collect();
        // SAFETY: no command buffer has used the new set, and the buffers are alive.
        unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
        Ok((pool, set))
    }

    /// Records the stages, with barriers between them. The caller records those before and after.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; `set` is from [`Self::make_set`], and its buffers
    /// are laid out as `push` says.
    pub(crate) unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        dispatch: &CullDispatch,
    ) {
        let raw = &device.raw;
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.layout.handle);
        let (views, chunks) = (dispatch.push.view_count, dispatch.chunks);
        let args = dispatch.draws.div_ceil(ARGS_WORKGROUP);
        // Without views, the stages show all that are visible, for the stage animate.
        let (any, animates) = (views.min(1), u32::from(dispatch.animates));
        let sizes = [
            [chunks * u32::from(dispatch.limited), any],
            [chunks, any.max(animates)],
            [dispatch.characters, views],
            [animates, chunks.min(1)],
            [chunks, 1],
            [args, views],
        ];
        let stage = Stage::COMPUTE_SHADER;
        let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
        // SAFETY: `cmd` is recording outside a render pass and `set` has this layout, by this
        // function's contract. The numbers of workgroups are within the limits of every device:
        // there are less than 65,536 chunks, characters and views.
        unsafe {
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[dispatch.set], &[dispatch.input]);
            let push = bytemuck::bytes_of(&dispatch.push);
            raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, push);
            let tests = if dispatch.eyes { TESTS } else { 0 };
            let others = self.pipelines.iter().skip(tests);
            let pipelines = self.eyes.iter().take(tests).chain(others);
            let mut waits = false;
            for ((pipeline, wait), [x, y]) in pipelines.zip(WAITS).zip(sizes) {
                waits |= wait;
                if x == 0 || y == 0 {
                    continue;
                }
                if core::mem::take(&mut waits) {
                    device.barrier(cmd, (stage, write), (stage, read | write));
                }
                raw.cmd_bind_pipeline(cmd, point, pipeline.handle);
                raw.cmd_dispatch(cmd, x, y, 1);
            }
        }
    }

    /// Destroys the pipelines.
    ///
    /// # Safety
    /// Not in use by the GPU.
    pub(crate) unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the GPU does not use them, by this function's contract.
        unsafe {
            for pipeline in self.pipelines.iter_mut().chain(&mut self.eyes) {
                pipeline.destroy(device);
            }
            self.layout.destroy(device);
            self.set_layout.destroy(device);
        }
    }
}
