//! The skin stage: one dispatch deforms all listed instances of a character.

use crate::error::Result;
use crate::gpu::pipeline::spirv;
use crate::gpu::{Destroy, Device, SetLayout, SkinnedMesh, destroy_fields};
use crate::pass::compute::VariantPass;
use crate::pass::push::SkinPush;
use ash::vk;
use core::ops::Range;

/// The minimum of `maxComputeWorkGroupCount` that devices must support, in every dimension.
pub(crate) const MAX_GROUPS: u32 = 65_535;

/// Bytes of a `VkDispatchIndirectCommand`.
const COMMAND_BYTES: u64 = 12;

/// The compute pipelines that deform vertices of many instances at once.
///
/// The instances of one dispatch belong to one character.
///
/// It writes them to device memory, from which any number of passes can draw.
/// [`Crowd`](crate::Crowd) has such a pipeline of its own for instances of
/// [`SkinningStage::Compute`](crate::SkinningStage::Compute). This type is for engines that do not
/// use a crowd.
///
/// The output of an instance starts at
/// [`GpuInstance::skinned`](crate::gpu::GpuInstance::skinned), a word of binding 4. From there on,
/// the mesh's [`SkinnedLayout`](crate::skin::SkinnedLayout) applies. The vertices are in character
/// space.
#[derive(Debug)]
pub struct SkinPipeline {
    pub(crate) pass: VariantPass,
}

destroy_fields!(SkinPipeline, &'a Device: pass);

/// A list of instances to deform. Its elements are indices into the instance table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkinList {
    /// A range of binding 3, the lists.
    Range(Range<u32>),
    /// As many as another shader has found: at most 65,535.
    Indirect {
        /// The first element of binding 3.
        first: u32,
        /// A buffer with the usage `INDIRECT_BUFFER`.
        buffer: vk::Buffer,
        /// The offset of a `VkDispatchIndirectCommand` for each of [`SkinnedMesh::skin_groups`].
        ///
        /// It is a multiple of 4. The x of each is that number of workgroups, y is the number of
        /// instances, and z is 1.
        offset: u64,
    },
}

/// The instances that one call of [`SkinPipeline::record`] deforms, and where their data is.
#[derive(Debug, Clone)]
pub struct SkinDispatch<'a> {
    /// The mesh of all these instances.
    pub mesh: &'a SkinnedMesh,
    /// A descriptor set of the layout that the pipeline was made with.
    pub set: vk::DescriptorSet,
    /// The dynamic offsets of the set, in bytes: view and lists. That of the view is not read.
    pub dynamic_offsets: [u32; 2],
    /// The instances.
    pub list: SkinList,
    /// The device address of the frame's palettes in the ring.
    ///
    /// See [`PaletteRing::address`](crate::gpu::PaletteRing::address). 0 if no instance has its
    /// palette there.
    pub ring_palettes: vk::DeviceAddress,
}

impl SkinPipeline {
    /// Creates the pipeline that deforms all meshes. [`Self::prepare`] adds faster ones.
    ///
    /// # Errors
    /// - [`Error::Argument`](crate::Error::Argument) if `set_layout` was made with another device,
    ///   or was destroyed.
    /// - [`Error::Vulkan`](crate::Error::Vulkan).
    pub fn new(device: &Device, set_layout: &SetLayout) -> Result<Self> {
        set_layout.expect_of(device)?;
        let (name, set) = ("throng skin", (&[][..], Some(set_layout.handle())));
        // SAFETY: `expect_of` has found that the layout is one of this device and alive. The module
        // is the crate's own, compiled for throng's set 0.
        let pass = unsafe { VariantPass::new::<SkinPush>(device, name, spirv::SKIN_COMP, set) }?;
        Ok(Self { pass: pass.keep() })
    }

    /// Creates the pipelines for a mesh, one for each way in which its primitives are deformed.
    ///
    /// Without it, [`Self::record`] uses a pipeline for all meshes, which takes several times as
    /// long. Call it after a mesh was loaded. Pipelines that exist are kept.
    ///
    /// # Errors
    /// [`Error::Vulkan`](crate::Error::Vulkan). The pipelines are then as before.
    ///
    /// # Safety
    /// `device` is the one that the stage was made with.
    pub unsafe fn prepare(&mut self, device: &Device, mesh: &SkinnedMesh) -> Result<()> {
        let chunks = mesh.chunks().iter();
        self.pass
            .prepare(device, chunks.map(|chunks| chunks.variant))?;
        Ok(())
    }

    /// Records the skinning of the instances that `dispatch` names.
    ///
    /// One dispatch of Vulkan is enough for up to 65,535 instances and 4 million vertices of
    /// primitives that are deformed in the same way.
    ///
    /// No barrier is recorded. These are the caller's:
    ///
    /// - Before, the writes of palettes, instances, list and morph weights must be visible to
    ///   `COMPUTE_SHADER`/`SHADER_STORAGE_READ`, and reads of the deformed vertices must have
    ///   ended.
    /// - After, the writes are `COMPUTE_SHADER`/`SHADER_STORAGE_WRITE`.
    ///
    /// # Safety
    /// - `device` is the one that the stage and the mesh were made with, and `cmd` is one of its
    ///   command buffers.
    /// - `cmd` is recording, outside a render pass.
    /// - The set has the layout that the stage was made with. All of its storage buffers are
    ///   written, binding 1 with [`SkinnedMesh::buffer`].
    /// - The elements of the list and the offsets in the instances lie in their buffers, palettes
    ///   are as [`GpuInstance::palette`](crate::gpu::GpuInstance::palette) demands,
    ///   `ring_palettes` likewise, and binding 4 has space for each instance's
    ///   [`SkinnedLayout::words`](crate::skin::SkinnedLayout::words).
    pub unsafe fn record(
        &self,
        device: &Device,
        cmd: vk::CommandBuffer,
        dispatch: &SkinDispatch<'_>,
    ) {
        let SkinDispatch {
            mesh,
            set,
            dynamic_offsets,
            list,
            ring_palettes,
        } = dispatch;
        let raw = &device.raw;
        let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.pass.layout());
        // SAFETY: `cmd` is recording outside a render pass and `set` fits the layout, by this
        // function's contract.
        unsafe {
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &[*set], dynamic_offsets);
            for (number, chunks) in (0..).zip(mesh.chunks()) {
                raw.cmd_bind_pipeline(cmd, point, self.pass.pipeline(chunks.variant));
                let push = |first: u32, chunk: u32| {
                    let push = SkinPush {
                        first_listed: first,
                        chunks: chunks.first + chunk * 2,
                        ring_palettes: *ring_palettes,
                    };
                    let (stages, bytes) =
                        (vk::ShaderStageFlags::COMPUTE, bytemuck::bytes_of(&push));
                    raw.cmd_push_constants(cmd, layout, stages, 0, bytes);
                };
                let list = match list {
                    SkinList::Range(list) => list,
                    SkinList::Indirect {
                        first,
                        buffer,
                        offset,
                    } => {
                        push(*first, 0);
                        raw.cmd_dispatch_indirect(cmd, *buffer, offset + number * COMMAND_BYTES);
                        continue;
                    }
                };
                for chunk in (0..chunks.count).step_by(MAX_GROUPS as usize) {
                    for first in list.clone().step_by(MAX_GROUPS as usize) {
                        push(first, chunk);
                        let x = (chunks.count - chunk).min(MAX_GROUPS);
                        let y = (list.end - first).min(MAX_GROUPS);
                        raw.cmd_dispatch(cmd, x, y, 1);
                    }
                }
            }
        }
    }

    /// Destroys the pipelines.
    ///
    /// # Safety
    /// Not in use by the GPU; `device` is the one that it was made with.
    pub unsafe fn destroy(&mut self, device: &Device) {
        // SAFETY: this function has the same contract.
        unsafe { Destroy::destroy(self, device) };
    }
}
