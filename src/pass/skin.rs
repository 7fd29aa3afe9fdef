//! The skin stage: one dispatch for all instances of a character whose deformed vertices are wanted in device memory.

use crate::error::Result;
use crate::gpu::pipeline::{compute_pipeline, pipeline_layout, spirv};
use crate::gpu::{CHUNK, Device, Object};
use ash::vk;

/// The least `maxComputeWorkGroupCount` that a device may have, in every dimension.
const MAX_GROUPS: u32 = 65_535;

/// The pipeline; its set is that of the draw stage.
#[derive(Debug)]
pub(crate) struct SkinPass {
    layout: Object<vk::PipelineLayout>,
    pipeline: Object<vk::Pipeline>,
}

/// The work of one dispatch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkinWork {
    /// The first instance in the list.
    pub(crate) first_listed: u32,
    pub(crate) instances: u32,
    /// See [`SkinnedMesh::chunks`](crate::gpu::SkinnedMesh): first word, and how many.
    pub(crate) chunks: (u32, u32),
}

impl SkinPass {
    pub(crate) fn null() -> Self {
        Self {
            layout: Object::null(),
            pipeline: Object::null(),
        }
    }

    /// Fills a null pass. What was made before an error is there to be destroyed.
    pub(crate) fn build(&mut self, device: &Device, set_0: vk::DescriptorSetLayout) -> Result<()> {
        let stages = vk::ShaderStageFlags::COMPUTE;
        self.layout = pipeline_layout(device, "throng skin", &[set_0], (stages, 8), None)?;
        let layout = self.layout.handle;
        self.pipeline = compute_pipeline(device, "throng skin", spirv::SKIN_COMP, layout, CHUNK)?;
        Ok(())
    }

    /// Records the skinning of a character's instances. Barriers are the caller's.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; `set` is one of the character's, and what it refers to at `offsets` is written.
    pub(crate) unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        set: vk::DescriptorSet,
        offsets: &[u32],
        work: SkinWork,
    ) {
        let raw = &device.raw;
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.layout.handle);
        let (chunks, count) = work.chunks;
        // SAFETY: the caller's word.
        unsafe {
            raw.cmd_bind_pipeline(cmd, point, self.pipeline.handle);
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], offsets);
            for chunk in (0..count).step_by(MAX_GROUPS as usize) {
                for instance in (0..work.instances).step_by(MAX_GROUPS as usize) {
                    let push = [work.first_listed + instance, chunks + chunk * 2];
                    let bytes = bytemuck::cast_slice(&push);
                    let stages = vk::ShaderStageFlags::COMPUTE;
                    raw.cmd_push_constants(cmd, layout, stages, 0, bytes);
                    let x = (count - chunk).min(MAX_GROUPS);
                    let y = (work.instances - instance).min(MAX_GROUPS);
                    raw.cmd_dispatch(cmd, x, y, 1);
                }
            }
        }
    }

    /// # Safety
    /// Not in use by the GPU.
    pub(crate) unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the caller's word.
        unsafe {
            self.pipeline.destroy(device);
            self.layout.destroy(device);
        }
    }
}
