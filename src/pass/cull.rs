//! The stages that decide on the GPU who is drawn: cull, scan, allocate_rows, compact and args.

use crate::error::Result;
use crate::gpu::constants::ARGS_WORKGROUP;
use crate::gpu::pipeline::spirv;
use crate::gpu::sets::Sets;
use crate::gpu::{Device, Features, Guard, destroy_fields};
use crate::pass::compute::ComputePass;
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

/// The pipelines of [`STAGES`], and on a device with multiview those of [`TESTS`] for views with
/// several eyes.
#[derive(Debug)]
pub(crate) struct CullPass(ComputePass);

destroy_fields!(CullPass, &'a Device: 0);

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
    pub(crate) fn new(device: &Device) -> Result<Guard<'_, Self>> {
        let set = (&BINDINGS[..], None);
        // SAFETY: the set layout is the pass's own.
        let mut pass = unsafe { ComputePass::new::<CullPush>(device, "throng cull", set) }?;
        for (name, words) in STAGES {
            let name = format!("throng {name}");
            // SAFETY: the module is the crate's own, compiled for such a layout. Its workgroup has
            // a fixed size of at most 128.
            unsafe { pass.add(device, &name, words, &[]) }?;
        }
        let eyes = if device.enabled.contains(Features::MULTIVIEW) {
            TESTS
        } else {
            0
        };
        for (name, words) in STAGES.into_iter().take(eyes) {
            let name = format!("throng {name} of eyes");
            // SAFETY: as above. The constant is no size.
            unsafe { pass.add(device, &name, words, &[vk::TRUE]) }?;
        }
        Ok(pass.map(Self))
    }

    pub(crate) fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.0.set_layout()
    }

    /// The pipelines, with their names.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = (&'static str, vk::Pipeline)> + '_ {
        let names = STAGES.iter().cycle().map(|(name, _)| *name);
        names.zip(self.0.pipelines())
    }

    /// Makes a set in a pool of its own.
    pub(crate) fn make_set<'g>(
        &self,
        device: &'g Device,
        buffers: &CullBuffers,
    ) -> Result<Guard<'g, Sets>> {
        let buffers = [buffers.table, buffers.work, buffers.input];
        self.0.make_set(device, &buffers)
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
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.0.layout.handle);
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
            let mut waits = false;
            for (stage_index, (wait, [x, y])) in WAITS.into_iter().zip(sizes).enumerate() {
                waits |= wait;
                if x == 0 || y == 0 {
                    continue;
                }
                if core::mem::take(&mut waits) {
                    device.barrier(cmd, (stage, write), (stage, read | write));
                }
                let eyes = dispatch.eyes && stage_index < TESTS;
                let eyes = if eyes { STAGES.len() } else { 0 };
                raw.cmd_bind_pipeline(cmd, point, self.0.pipeline(stage_index + eyes));
                raw.cmd_dispatch(cmd, x, y, 1);
            }
        }
    }
}
