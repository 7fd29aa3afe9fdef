//! The scatter pass, which moves changed instance records from the ring to the resident table.

use crate::error::Result;
use crate::gpu::layout::{GpuActor, GpuInstance};
use crate::gpu::pipeline::{compute_pipeline, pipeline_layout, spirv};
use crate::gpu::{Device, Object, sets};
use crate::pass::push::ScatterPush;
use ash::vk;

/// Invocations of a workgroup. Each writes 16 bytes.
const WORKGROUP: u32 = 128;
/// Rows of 16 bytes of an instance.
const INSTANCE_ROWS: u32 = size_of::<GpuInstance>() as u32 / 16;
/// The rows of an instance and of its actor, and one more for its levels of detail.
const ALL_ROWS: u32 = INSTANCE_ROWS + size_of::<GpuActor>() as u32 / 16 + 1;

/// The most workgroups in a direction that every device can dispatch (`maxComputeWorkGroupCount`).
const MAX_GROUPS: u32 = 65_535;

/// The most changes of one frame.
///
/// They are bounded so that a table index fits 20 bits.
pub(crate) const MAX_CHANGES: u32 = 1 << 20;

/// Pipeline and set layout.
#[derive(Debug)]
pub(crate) struct ScatterPass {
    set_layout: Object<vk::DescriptorSetLayout>,
    layout: Object<vk::PipelineLayout>,
    pipeline: Object<vk::Pipeline>,
    /// The rows that each change writes.
    rows: u32,
}

/// The buffers that the pass reads and writes.
pub(crate) struct ScatterBuffers {
    /// The changed records in the ring. The range is at most that of one frame in flight.
    pub(crate) changes: vk::DescriptorBufferInfo,
    /// The table indices of these records in the ring. The range is at most that of one frame in
    /// flight.
    pub(crate) indices: vk::DescriptorBufferInfo,
    /// The instance table, with actors and levels behind it if the GPU culls.
    pub(crate) table: vk::DescriptorBufferInfo,
    /// The actors of the changed records in the ring. The range is at most that of one frame in
    /// flight.
    pub(crate) actors: vk::DescriptorBufferInfo,
}

const BINDINGS: [vk::DescriptorType; 4] = [
    vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
    vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
    vk::DescriptorType::STORAGE_BUFFER,
    vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
];

impl ScatterPass {
    pub(crate) fn null() -> Self {
        Self {
            set_layout: Object::null(),
            layout: Object::null(),
            pipeline: Object::null(),
            rows: 0,
        }
    }

    /// Creates the objects of a null pass. After an error, the caller destroys those that were
    /// created. `culls` is true if the table has actors, too.
    pub(crate) fn build(&mut self, device: &Device, culls: bool) -> Result<()> {
        self.rows = if culls { ALL_ROWS } else { INSTANCE_ROWS };
        let stages = vk::ShaderStageFlags::COMPUTE;
        let bindings: Vec<_> = (0..)
            .zip(BINDINGS)
            .map(|(number, kind)| sets::binding(number, kind, stages))
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let name = "throng scatter";
        self.set_layout = sets::layout(device, name, &info)?;
        let sets = [self.set_layout.handle];
        let push = (stages, size_of::<ScatterPush>() as u32);
        // SAFETY: the set layout was created above. It has four buffers, and every device has 128
        // bytes of push constants.
        self.layout = unsafe { pipeline_layout(device, name, &sets, push, None) }?;
        let layout = self.layout.handle;
        // SAFETY: the module is the crate's own, compiled for such a layout, which was created
        // above.
        self.pipeline = unsafe {
            let words = spirv::SCATTER_COMP;
            compute_pipeline(device, name, words, layout, &[WORKGROUP, self.rows])
        }?;
        Ok(())
    }

    pub(crate) fn pipeline(&self) -> vk::Pipeline {
        self.pipeline.handle
    }

    /// Makes a set in a pool of its own.
    pub(crate) fn make_set(
        &self,
        device: &Device,
        buffers: &ScatterBuffers,
    ) -> Result<(Object<vk::DescriptorPool>, vk::DescriptorSet)> {
        let sizes = [
            vk::DescriptorPoolSize {
                ty: vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
                descriptor_count: 3,
            },
            vk::DescriptorPoolSize {
                ty: vk::DescriptorType::STORAGE_BUFFER,
                descriptor_count: 1,
            },
        ];
        let (pool, sets) = sets::with_pool(
            device,
            "throng scatter",
            &sizes,
            self.set_layout.handle,
            1,
            None,
        )?;
        let set = sets.first().copied().unwrap_or_default();
        let infos = [
            [buffers.changes],
            [buffers.indices],
            [buffers.table],
            [buffers.actors],
        ];
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

    /// Records the move of changed records. The caller records the barriers.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass; `set` is from [`Self::make_set`] and its buffers
    /// hold the changes at `offsets`, and have space for what `push` moves.
    pub(crate) unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        set: vk::DescriptorSet,
        offsets: [u32; 3],
        push: ScatterPush,
    ) {
        let raw = &device.raw;
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.layout.handle);
        let groups = (push.change_count * self.rows).div_ceil(WORKGROUP);
        let lines = groups.div_ceil(MAX_GROUPS);
        // SAFETY: `cmd` is recording outside a render pass and `set` has this layout, by this
        // function's contract.
        unsafe {
            raw.cmd_bind_pipeline(cmd, point, self.pipeline.handle);
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], &offsets);
            raw.cmd_push_constants(
                cmd,
                layout,
                vk::ShaderStageFlags::COMPUTE,
                0,
                bytemuck::bytes_of(&push),
            );
            raw.cmd_dispatch(cmd, groups.div_ceil(lines.max(1)), lines, 1);
        }
    }

    /// Destroys the objects.
    ///
    /// # Safety
    /// Not in use by the GPU.
    pub(crate) unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: the GPU does not use them, by this function's contract.
        unsafe {
            self.pipeline.destroy(device);
            self.layout.destroy(device);
            self.set_layout.destroy(device);
        }
    }
}
