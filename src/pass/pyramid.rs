//! The stage pyramid, which finds the farthest depth of each block of pixels.

use crate::error::Result;
use crate::gpu::pipeline::spirv;
use crate::gpu::sets::{self, Sets};
use crate::gpu::{Device, Guard, destroy_fields};
use crate::pass::compute::ComputePass;
use crate::pass::push::PyramidPush;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// The pipelines: for one sample, for several, and for the levels above.
const PIPELINES: [(&str, &[u32]); 3] = [
    ("pyramid", spirv::PYRAMID_COMP),
    ("pyramid of samples", spirv::PYRAMID_SAMPLES_COMP),
    ("pyramid top", spirv::PYRAMID_TOP_COMP),
];

const BINDINGS: [vk::DescriptorType; 2] = [
    vk::DescriptorType::STORAGE_BUFFER,
    vk::DescriptorType::SAMPLED_IMAGE,
];

/// The pipelines, for sets with the pyramids and an image.
#[derive(Debug)]
pub(crate) struct PyramidPass(ComputePass);

destroy_fields!(PyramidPass, &'a Device: 0);

/// The dispatches for one image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PyramidDispatch {
    /// A set of [`PyramidPass::make_sets`].
    pub(crate) set: vk::DescriptorSet,
    pub(crate) image: vk::DescriptorImageInfo,
    /// Push constants, and workgroups in both directions.
    pub(crate) steps: [Option<(PyramidPush, [u32; 2])>; 2],
}

impl PyramidPass {
    pub(crate) fn new(device: &Device) -> Result<Guard<'_, Self>> {
        let set = (&BINDINGS[..], None);
        // SAFETY: the set layout is the pass's own.
        let mut pass = unsafe { ComputePass::new::<PyramidPush>(device, "throng pyramid", set) }?;
        for (name, words) in PIPELINES {
            // SAFETY: the modules are the crate's own, compiled for this layout. A workgroup has
            // 128 invocations and 4 KiB of shared memory.
            unsafe { pass.add(device, &format!("throng {name}"), words, &[]) }?;
        }
        Ok(pass.map(Self))
    }

    /// The pipelines, with their names.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = (&'static str, vk::Pipeline)> + '_ {
        PIPELINES
            .iter()
            .map(|(name, _)| *name)
            .zip(self.0.pipelines())
    }

    /// Makes sets in a pool of their own, with the pyramids, and without an image.
    pub(crate) fn make_sets<'g>(
        &self,
        device: &'g Device,
        count: usize,
        pyramids: vk::DescriptorBufferInfo,
    ) -> Result<Guard<'g, Sets>> {
        let sizes = BINDINGS.map(|ty| vk::DescriptorPoolSize {
            ty,
            descriptor_count: count as u32,
        });
        let layout = self.0.set_layout();
        let made = sets::with_pool(device, "throng pyramid", &sizes, layout, count, None)?;
        let write =
            |set| sets::write(set, 0, BINDINGS[0]).buffer_info(core::slice::from_ref(&pyramids));
        let writes: Vec<_> = made.iter().map(write).collect();
        // SAFETY: no command buffer has used the new sets, and the buffer is alive.
        unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
        Ok(made)
    }

    /// Records the dispatches of all images, with a barrier between the first and the second of
    /// each. The caller records those before and after.
    ///
    /// # Safety
    /// - `cmd` is recording, outside a render pass.
    /// - Each set is in one dispatch, no submitted commands use it, and its buffer has the levels
    ///   that the push constants name.
    /// - The images are sampled ones of depth, in the layouts that are given, with the samples and
    ///   the texels that the push constants name.
    pub(crate) unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        dispatches: &[PyramidDispatch],
    ) {
        let (raw, layout) = (&device.raw, self.0.layout.handle);
        let point = vk::PipelineBindPoint::COMPUTE;
        let (stage, write) = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
        // SAFETY: by this function's contract, `cmd` is recording outside a render pass, nothing
        // uses the sets, which have this layout, and the images are as their descriptors say.
        unsafe {
            for dispatch in dispatches {
                let image = core::slice::from_ref(&dispatch.image);
                let write = sets::write(dispatch.set, 1, BINDINGS[1]).image_info(image);
                raw.update_descriptor_sets(&[write], &[]);
            }
            for step in 0..2 {
                let any = dispatches
                    .iter()
                    .any(|dispatch| dispatch.steps[step].is_some());
                if step > 0 && any {
                    device.barrier(cmd, (stage, write), (stage, Access::SHADER_READ | write));
                }
                for PyramidDispatch { set, steps, .. } in dispatches {
                    let Some((push, [x, y])) = &steps[step] else {
                        continue;
                    };
                    let pipeline = if step > 0 {
                        2
                    } else {
                        usize::from(push.samples > 1)
                    };
                    raw.cmd_bind_pipeline(cmd, point, self.0.pipeline(pipeline));
                    raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[*set], &[]);
                    let bytes = bytemuck::bytes_of(push);
                    raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
                    raw.cmd_dispatch(cmd, *x, *y, 1);
                }
            }
        }
    }
}
