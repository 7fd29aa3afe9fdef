//! The scatter pass, which moves changed instance records from the ring to the resident table.

use crate::error::Result;
use crate::gpu::layout::{GpuActor, GpuInstance};
use crate::gpu::pipeline::spirv;
use crate::gpu::sets::Sets;
use crate::gpu::{Device, Guard, destroy_fields};
use crate::pass::compute::ComputePass;
use crate::pass::push::ScatterPush;
use ash::vk;

/// Invocations of a workgroup. Each writes 16 bytes.
const WORKGROUP: u32 = 128;
/// Rows of 16 bytes of an instance.
const INSTANCE_ROWS: u32 = size_of::<GpuInstance>() as u32 / 16;
/// The rows of an instance, and three for its actor: one with its sphere in world space, one with
/// what it hides, and one for its levels of detail with its sphere in character space.
const ALL_ROWS: u32 = INSTANCE_ROWS + size_of::<GpuActor>() as u32 / 16;
/// The rows that follow from a transform: three of it, and three for normals. If the GPU culls, the
/// sphere in world space, too.
const MOVED_ROWS: u32 = 6;

/// The most workgroups in a direction that every device can dispatch (`maxComputeWorkGroupCount`).
const MAX_GROUPS: u32 = 65_535;

/// The most changes of one frame.
///
/// They are bounded so that a table index fits 20 bits.
pub(crate) const MAX_CHANGES: u32 = 1 << 20;

/// The pipeline and its set layout.
#[derive(Debug)]
pub(crate) struct ScatterPass {
    compute: ComputePass,
    /// The rows that each change writes, and those of each move.
    rows: [u32; 2],
}

destroy_fields!(ScatterPass, &'a Device: compute);

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
    /// Creates the pass. `culls` is true if the table has actors, too.
    pub(crate) fn new(device: &Device, culls: bool) -> Result<Guard<'_, Self>> {
        let [all, moved] = match culls {
            true => [ALL_ROWS, MOVED_ROWS + 1],
            false => [INSTANCE_ROWS, MOVED_ROWS],
        };
        let rows = [all, moved];
        let (name, set) = ("throng scatter", (&BINDINGS[..], None));
        // SAFETY: the set layout is the pass's own.
        let mut compute = unsafe { ComputePass::new::<ScatterPush>(device, name, set) }?;
        // SAFETY: the module is the crate's own, compiled for such a layout.
        unsafe { compute.add(device, name, spirv::SCATTER_COMP, &[WORKGROUP, all, moved]) }?;
        Ok(compute.map(|compute| Self { compute, rows }))
    }

    /// The layout of its sets.
    pub(crate) fn set_layout(&self) -> vk::DescriptorSetLayout {
        self.compute.set_layout()
    }

    pub(crate) fn pipeline(&self) -> vk::Pipeline {
        self.compute.pipeline(0)
    }

    /// Makes a set in a pool of its own.
    pub(crate) fn make_set<'g>(
        &self,
        device: &'g Device,
        buffers: &ScatterBuffers,
    ) -> Result<Guard<'g, Sets>> {
        let of = buffers;
        let buffers = [of.changes, of.indices, of.table, of.actors];
        self.compute.make_set(device, &buffers)
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
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.compute.layout.handle);
        let [all, moved] = self.rows;
        let written = push.change_count * all + push.moved_count * moved;
        let groups = written.div_ceil(WORKGROUP);
        let lines = groups.div_ceil(MAX_GROUPS);
        // SAFETY: `cmd` is recording outside a render pass and `set` has this layout, by this
        // function's contract.
        unsafe {
            raw.cmd_bind_pipeline(cmd, point, self.compute.pipeline(0));
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[set], &offsets);
            let push = bytemuck::bytes_of(&push);
            raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, push);
            raw.cmd_dispatch(cmd, groups.div_ceil(lines.max(1)), lines, 1);
        }
    }
}
