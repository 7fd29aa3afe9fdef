//! The stage attach, which places attached instances whose parents the GPU poses.

use crate::error::Result;
use crate::gpu::constants::{ATTACH_WORKGROUP, ROW_GROUPS};
use crate::gpu::layout::GpuAttachment;
use crate::gpu::pipeline::spirv;
use crate::gpu::{Device, destroy_fields};
use crate::pass::compute::ComputePass;
use crate::pass::push::AttachPush;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// The input of [`AttachPass::record`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttachDispatch {
    /// A set of the cull pass, and the dynamic offset of its input.
    pub(crate) set: vk::DescriptorSet,
    pub(crate) input: u32,
    /// Its level is set for each dispatch.
    pub(crate) push: AttachPush,
    /// The number of attachments at each level.
    pub(crate) levels: [u32; GpuAttachment::LEVELS as usize],
}

/// The pipeline, for sets of the cull pass.
#[derive(Debug)]
pub(crate) struct AttachPass(ComputePass);

destroy_fields!(AttachPass, &'a Device: 0);

impl AttachPass {
    /// Creates the pass.
    ///
    /// # Safety
    /// `set_layout` is that of the cull pass on this device.
    pub(crate) unsafe fn new(device: &Device, set_layout: vk::DescriptorSetLayout) -> Result<Self> {
        let (name, set) = ("throng attach", (&[][..], Some(set_layout)));
        // SAFETY: the set layout is alive, by this function's contract.
        let mut pass = unsafe { ComputePass::new::<AttachPush>(device, name, set) }?;
        // SAFETY: the module is the crate's own, compiled for this layout. Its workgroup has 64
        // invocations.
        unsafe { pass.add(device, name, spirv::ATTACH_COMP, &[]) }?;
        Ok(Self(pass.keep()))
    }

    pub(crate) fn pipeline(&self) -> vk::Pipeline {
        self.0.pipeline(0)
    }

    /// Records a dispatch for each level, with barriers between them. The caller records those
    /// before and after.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; the set's buffers are laid out as the push
    /// constants say, and the attachments there name instances and tables that exist.
    pub(crate) unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        dispatch: &AttachDispatch,
    ) {
        let raw = &device.raw;
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.0.layout.handle);
        let (stage, write) = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
        let groups = dispatch.push.count.div_ceil(ATTACH_WORKGROUP);
        // SAFETY: `cmd` is recording outside a render pass and the set has this layout, by this
        // function's contract.
        unsafe {
            raw.cmd_bind_pipeline(cmd, point, self.0.pipeline(0));
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[dispatch.set], &[dispatch.input]);
            let used = (1..).zip(dispatch.levels).filter(|(_, count)| *count > 0);
            for (number, (level, _)) in used.enumerate() {
                if number > 0 {
                    device.barrier(cmd, (stage, write), (stage, Access::SHADER_READ | write));
                }
                let push = AttachPush {
                    level,
                    ..dispatch.push
                };
                let bytes = bytemuck::bytes_of(&push);
                raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
                raw.cmd_dispatch(cmd, groups.min(ROW_GROUPS), groups.div_ceil(ROW_GROUPS), 1);
            }
        }
    }
}
