//! A compute pass: pipelines of one layout, with a set of storage buffers if the pass has its own.

use crate::error::Result;
use crate::gpu::pipeline::{compute_pipeline, pipeline_layout};
use crate::gpu::sets::{self, Sets};
use crate::gpu::{Device, Guard, Object, destroy_fields};
use ash::vk;

const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

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
        (buffers, other): (
            &'static [vk::DescriptorType],
            Option<vk::DescriptorSetLayout>,
        ),
    ) -> Result<Guard<'g, Self>> {
        // Every device has these push constants, and four storage buffers in a stage.
        const { assert!(size_of::<P>() <= 128) };
        let bindings = (0..).zip(buffers);
        let bindings = bindings.map(|(at, kind)| sets::binding(at, *kind, STAGES));
        let bindings: Vec<_> = bindings.collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let own = (!buffers.is_empty()).then(|| sets::layout(device, name, &info));
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
        let size = |kind: &vk::DescriptorType| vk::DescriptorPoolSize {
            ty: *kind,
            descriptor_count: 1,
        };
        let sizes: Vec<_> = self.buffers.iter().map(size).collect();
        let layout = self.set_layout.handle;
        let made = sets::with_pool(device, self.name, &sizes, layout, 1, None)?;
        let writes = (0..).zip(self.buffers.iter().zip(buffers));
        let writes = writes.map(|(number, (kind, buffer))| {
            let info = core::slice::from_ref(buffer);
            sets::write(made.first(), number, *kind).buffer_info(info)
        });
        let writes: Vec<_> = writes.collect();
        // SAFETY: no command buffer has used the new set, and the buffers are alive.
        unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
        Ok(made)
    }
}
