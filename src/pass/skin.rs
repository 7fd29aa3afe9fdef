//! The skin stage: one dispatch for all instances of a character whose deformed vertices are wanted
//! in device memory.

use crate::error::Result;
use crate::gpu::pipeline::{compute_pipeline, pipeline_layout, spirv};
use crate::gpu::{CHUNK, Device, Object, SetLayout, SkinnedMesh};
use ash::vk;
use core::ops::Range;

/// The least `maxComputeWorkGroupCount` that a device may have, in every dimension.
const MAX_GROUPS: u32 = 65_535;

/// The skin stage: deforms the vertices of many instances of a character at once, into device
/// memory that any number of passes then draw from. [`Crowd`](crate::Crowd) has its own, for
/// instances of [`SkinningStage::Compute`](crate::SkinningStage::Compute); this is for engines that go
/// without.
///
/// Where an instance's vertices go is said by
/// [`Instance::skinned`](crate::gpu::layout::GpuInstance::skinned), the first word of binding 9 of its
/// range, and from there on by the mesh's [`SkinnedLayout`](crate::skin::SkinnedLayout). They are
/// in character space.
#[derive(Debug)]
pub struct SkinStage {
    layout: Object<vk::PipelineLayout>,
    pipeline: Object<vk::Pipeline>,
}

impl SkinStage {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan).
    pub fn new(device: &Device, set_layout: &SetLayout) -> Result<Self> {
        let mut stage = Self::null();
        match stage.build(device, set_layout.handle()) {
            Ok(()) => Ok(stage),
            Err(error) => {
                // SAFETY: made above and never used.
                unsafe { stage.destroy(device) };
                Err(error)
            }
        }
    }

    pub(crate) fn null() -> Self {
        Self {
            layout: Object::null(),
            pipeline: Object::null(),
        }
    }

    /// Fills a null stage. What was made before an error is there to be destroyed.
    pub(crate) fn build(&mut self, device: &Device, set_0: vk::DescriptorSetLayout) -> Result<()> {
        let stages = vk::ShaderStageFlags::COMPUTE;
        self.layout = pipeline_layout(device, "throng skin", &[set_0], (stages, 8), None)?;
        let layout = self.layout.handle;
        self.pipeline = compute_pipeline(device, "throng skin", spirv::SKIN_COMP, layout, CHUNK)?;
        Ok(())
    }

    /// Records the skinning of those instances of `mesh` that `listed` names: a range of binding 4,
    /// the visible list, whose elements are indices into the instance table. One dispatch, if there
    /// are no more than 65,535 of them, and 4 million vertices. `offsets` are the dynamic offsets
    /// of the set; the view's is not read.
    ///
    /// Records no barrier: before, what writes palettes, instances, list and morph weights must be
    /// visible to `COMPUTE_SHADER`/`SHADER_STORAGE_READ`, and what read the deformed vertices must
    /// have ended; after, the writes are `COMPUTE_SHADER`/`SHADER_STORAGE_WRITE`.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass. `set` has the layout that the stage was made
    /// with; all of its storage buffers are written (the history's is not read), with the streams
    /// of `mesh`; list and instances name what lies in them, and binding 9 has room for each
    /// instance's [`SkinnedLayout::words`](crate::skin::SkinnedLayout::words).
    pub unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        (set, offsets): (vk::DescriptorSet, [u32; 4]),
        mesh: &SkinnedMesh,
        listed: Range<u32>,
    ) {
        let raw = &device.raw;
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.layout.handle);
        let (chunks, count) = mesh.chunks();
        // SAFETY: the caller's word.
        unsafe {
            raw.cmd_bind_pipeline(cmd, point, self.pipeline.handle);
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], &offsets);
            for chunk in (0..count).step_by(MAX_GROUPS as usize) {
                for first in listed.clone().step_by(MAX_GROUPS as usize) {
                    let push = [first, chunks + chunk * 2];
                    let bytes = bytemuck::cast_slice(&push);
                    let stages = vk::ShaderStageFlags::COMPUTE;
                    raw.cmd_push_constants(cmd, layout, stages, 0, bytes);
                    let x = (count - chunk).min(MAX_GROUPS);
                    let y = (listed.end - first).min(MAX_GROUPS);
                    raw.cmd_dispatch(cmd, x, y, 1);
                }
            }
        }
    }

    /// Frees it.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` is the one that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the caller's word.
        unsafe {
            self.pipeline.destroy(device);
            self.layout.destroy(device);
        }
    }
}
