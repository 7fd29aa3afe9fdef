//! The stage shift, which takes the instance table to another origin of world space.

use crate::error::Result;
use crate::gpu::pipeline::spirv;
use crate::gpu::{Device, destroy_fields};
use crate::pass::compute::ComputePass;
use crate::pass::push::ShiftPush;
use crate::pass::scatter::MAX_CHANGES;
use ash::vk;

/// Invocations of a workgroup. Each moves an instance.
const WORKGROUP: u32 = 128;

// Every device can dispatch 65,535 workgroups in a direction.
const _: () = assert!(MAX_CHANGES.div_ceil(WORKGROUP) <= 65_535);

/// The pipeline, for sets of the scatter pass.
#[derive(Debug)]
pub(crate) struct ShiftPass(ComputePass);

destroy_fields!(ShiftPass, &'a Device: 0);

impl ShiftPass {
    /// Creates the pass.
    ///
    /// # Safety
    /// `set_layout` is that of the scatter pass on this device.
    pub(crate) unsafe fn new(device: &Device, set_layout: vk::DescriptorSetLayout) -> Result<Self> {
        let (name, set) = ("throng shift", (&[][..], Some(set_layout)));
        // SAFETY: the set layout is alive, by this function's contract.
        let mut pass = unsafe { ComputePass::new::<ShiftPush>(device, name, set) }?;
        // SAFETY: the module is the crate's own, compiled for this layout.
        unsafe { pass.add(device, name, spirv::SHIFT_COMP, &[WORKGROUP]) }?;
        Ok(Self(pass.keep()))
    }

    pub(crate) fn pipeline(&self) -> vk::Pipeline {
        self.0.pipeline(0)
    }

    /// Records the shift of a table. The caller records the barriers.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; the set is one of the scatter pass, whose table
    /// is laid out as the push constants say.
    pub(crate) unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        set: vk::DescriptorSet,
        push: ShiftPush,
    ) {
        let raw = &device.raw;
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.0.layout.handle);
        let bytes = bytemuck::bytes_of(&push);
        // SAFETY: `cmd` is recording outside a render pass and the set has this layout, by this
        // function's contract. Nothing reads its dynamic buffers.
        unsafe {
            raw.cmd_bind_pipeline(cmd, point, self.0.pipeline(0));
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], &[0; 3]);
            raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
            raw.cmd_dispatch(cmd, push.count.div_ceil(WORKGROUP), 1, 1);
        }
    }
}
