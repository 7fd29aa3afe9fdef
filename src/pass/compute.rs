//! A compute pass: pipelines of one layout, with a set of storage buffers if the pass has its own.

use crate::error::Result;
use crate::gpu::pipeline::{compute_pipeline, pipeline_layout};
use crate::gpu::sets::{self, Sets};
use crate::gpu::{CHUNK, Device, GpuInstance, Guard, Object, destroy_fields};
use ash::vk;

const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

/// The types of the storage buffers in a pass's own set, and the layout of set 0, if that is
/// another.
type SetLayouts = (
    &'static [vk::DescriptorType],
    Option<vk::DescriptorSetLayout>,
);

/// Set layout, pipeline layout and pipelines.
#[derive(Debug)]
pub(crate) struct ComputePass {
    /// The types of the storage buffers in its own set, if there is one.
    buffers: &'static [vk::DescriptorType],
    set_layout: Object<vk::DescriptorSetLayout>,
    pub(super) layout: Object<vk::PipelineLayout>,
    pipelines: Vec<Object<vk::Pipeline>>,
    name: &'static str,
}

destroy_fields!(ComputePass, &'a Device: pipelines, layout, set_layout);

impl ComputePass {
    /// Creates the layouts, with push constants of type `P`. [`Self::add`] adds pipelines.
    ///
    /// Set 0 has the other layout, if there is one, and the next set has these storage buffers, if
    /// there are any.
    ///
    /// # Safety
    /// The other layout is alive and belongs to `device`.
    pub(super) unsafe fn new<'g, P>(
        device: &'g Device,
        name: &'static str,
        (buffers, other): SetLayouts,
    ) -> Result<Guard<'g, Self>> {
        // Every device has these push constants, and four storage buffers in a stage.
        const { assert!(size_of::<P>() <= 128) };
        let own = (!buffers.is_empty()).then(|| {
            let buffers = (0..).zip(buffers.iter().copied());
            sets::buffer_layout(device, name, buffers, STAGES)
        });
        let own = own.transpose()?;
        let own_set = own.as_ref().map(|own| own.handle);
        let sets: Vec<_> = other.into_iter().chain(own_set).collect();
        let push = (STAGES, size_of::<P>() as u32);
        // SAFETY: the set layouts are alive, by this function's contract, and within the device's
        // limits.
        let layout = unsafe { pipeline_layout(device, name, &sets, push, None) }?;
        let pass = Self {
            buffers,
            set_layout: own.map(Guard::keep).unwrap_or_default(),
            layout: layout.keep(),
            pipelines: Vec::new(),
            name,
        };
        Ok(Guard::new(device, pass))
    }

    /// Adds a pipeline with specialization constants. After an error, the pass is as before.
    ///
    /// # Safety
    /// As for [`compute_pipeline`], with the layout of this pass.
    pub(super) unsafe fn add(
        &mut self,
        device: &Device,
        name: &str,
        words: &[u32],
        constants: &[u32],
    ) -> Result<()> {
        // SAFETY: this function has the same contract.
        let made = unsafe { compute_pipeline(device, name, words, self.layout.handle, constants) };
        self.pipelines.push(made?.keep());
        Ok(())
    }

    /// The layout of its own sets.
    pub(crate) fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.set_layout.handle
    }

    /// The pipelines, in the order in which they were added.
    pub(super) fn pipelines(&self) -> impl Iterator<Item = vk::Pipeline> + '_ {
        self.pipelines.iter().map(|pipeline| pipeline.handle)
    }

    /// The pipeline that was added at this place.
    pub(super) fn pipeline(&self, index: usize) -> vk::Pipeline {
        self.pipelines
            .get(index)
            .map_or_else(Default::default, |it| it.handle)
    }

    /// Makes a set of its own buffers, in a pool of its own.
    pub(super) fn make_set<'g>(
        &self,
        device: &'g Device,
        buffers: &[vk::DescriptorBufferInfo],
    ) -> Result<Guard<'g, Sets>> {
        let buffers = (0..).zip(self.buffers.iter().zip(buffers));
        let buffers: Vec<_> = buffers
            .map(|(at, (kind, buffer))| (at, *kind, *buffer))
            .collect();
        sets::buffer_set(device, self.name, self.set_layout.handle, &buffers)
    }
}

/// A compute pass with a pipeline for each variant of primitives, of one module.
#[derive(Debug)]
pub(crate) struct VariantPass {
    compute: ComputePass,
    words: &'static [u32],
    /// The variant of each pipeline. The first is for all primitives. The others are several times
    /// as fast.
    variants: Vec<u32>,
}

destroy_fields!(VariantPass, &'a Device: compute);

impl VariantPass {
    /// Creates the layouts, and the pipeline for all primitives.
    ///
    /// # Safety
    /// As for [`ComputePass::new`]. The module is compiled for these sets and push constants, and
    /// its constants are the size of a workgroup and the variant.
    pub(super) unsafe fn new<'g, P>(
        device: &'g Device,
        name: &'static str,
        words: &'static [u32],
        sets: SetLayouts,
    ) -> Result<Guard<'g, Self>> {
        // SAFETY: this function has the same contract.
        let compute = unsafe { ComputePass::new::<P>(device, name, sets) }?;
        let mut pass = compute.map(|compute| Self {
            compute,
            words,
            variants: Vec::new(),
        });
        pass.prepare(device, core::iter::once(GpuInstance::NONE))?;
        Ok(pass)
    }

    /// Creates the pipelines of these variants that do not exist. Returns how many.
    pub(crate) fn prepare(
        &mut self,
        device: &Device,
        variants: impl Iterator<Item = u32>,
    ) -> Result<u32> {
        let before = self.variants.len();
        for variant in variants {
            if !self.variants.contains(&variant) {
                let constants = [CHUNK, variant];
                let compute = &mut self.compute;
                // SAFETY: the module fits the layouts, by the contract of `new`.
                unsafe { compute.add(device, compute.name, self.words, &constants) }?;
                self.variants.push(variant);
            }
        }
        Ok((self.variants.len() - before) as u32)
    }

    pub(super) fn layout(&self) -> vk::PipelineLayout {
        self.compute.layout.handle
    }

    /// The pipelines, with their variants.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = (u32, vk::Pipeline)> + '_ {
        self.variants.iter().copied().zip(self.compute.pipelines())
    }

    /// The pipeline of a variant, or the one for all.
    pub(super) fn pipeline(&self, variant: u32) -> vk::Pipeline {
        let own = self.variants.iter().position(|own| *own == variant);
        self.compute.pipeline(own.unwrap_or(0))
    }
}
