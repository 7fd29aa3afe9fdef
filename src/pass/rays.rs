//! The stages of rays: ray_starts, ray_candidates, ray_slots, ray_skin and ray_instances.

use crate::error::Result;
use crate::gpu::animation::words;
use crate::gpu::pipeline::spirv;
use crate::gpu::sets::{self, Sets};
use crate::gpu::{Device, Guard, Object, destroy_fields};
use crate::pass::compute::{ComputePass, VariantPass};
use crate::pass::cull::{CullDispatch, Step, record};
use crate::pass::push::{CullPush, RaySkinPush};
use crate::pass::skin::MAX_GROUPS;
use ash::vk;

const BUFFER: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;

/// The bindings of their own set: work, records, positions, and what rays met.
const BINDINGS: [vk::DescriptorType; 4] = [BUFFER; 4];

/// The bindings of the set for hits: what rays met, instances, lists and deformed vertices. They
/// have the numbers of throng's set 0, but for the first.
const HIT_BINDINGS: [u32; 4] = [0, 2, 3, 4];

/// Storage buffers of the stage that has the most: those of throng's set 0 and its own.
pub(crate) const STORAGE_BUFFERS: u32 = 4 + BINDINGS.len() as u32;

/// The stages with the set of the stage cull.
const STAGES: [(&str, &[u32]); 4] = [
    ("ray starts", spirv::RAY_STARTS_COMP),
    ("ray candidates", spirv::RAY_CANDIDATES_COMP),
    ("ray slots", spirv::RAY_SLOTS_COMP),
    ("ray instances", spirv::RAY_INSTANCES_COMP),
];

/// The pipelines.
#[derive(Debug)]
pub(crate) struct RayPass {
    /// The pipelines of [`STAGES`].
    people: ComputePass,
    /// Ray_skin, with throng's set 0.
    pub(crate) skin: VariantPass,
    /// The layout of the set that engines' shaders read hits with.
    pub(crate) hit_layout: Object<vk::DescriptorSetLayout>,
}

destroy_fields!(RayPass, &'a Device: people, skin, hit_layout);

/// Bytes of a chunk.
const CHUNK_BYTES: u64 = 16;

/// Chunks of vertices that a variant of ray_skin deforms, in the table of their character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RayChunks {
    pub(crate) variant: u32,
    pub(crate) count: u32,
    pub(crate) first_byte: u64,
}

impl RayPass {
    /// # Safety
    /// The set layouts are alive and belong to `device`: throng's set 0, and that of the stage
    /// cull. The device has [`STORAGE_BUFFERS`].
    pub(crate) unsafe fn new(
        device: &Device,
        [throng, cull]: [vk::DescriptorSetLayout; 2],
    ) -> Result<Guard<'_, Self>> {
        let set = |other| (&BINDINGS[..], Some(other));
        // SAFETY: the layouts are alive, by this function's contract.
        let mut people = unsafe { ComputePass::new::<CullPush>(device, "throng rays", set(cull)) }?;
        for (name, words) in STAGES {
            let name = format!("throng {name}");
            // SAFETY: the module is the crate's own, compiled for these sets. A workgroup has at
            // most 128 invocations.
            unsafe { people.add(device, &name, words, &[]) }?;
        }
        let (name, words) = ("throng ray skin", spirv::RAY_SKIN_COMP);
        // SAFETY: as above.
        let skin = unsafe { VariantPass::new::<RaySkinPush>(device, name, words, set(throng)) }?;
        let bindings = HIT_BINDINGS.map(|number| (number, BUFFER)).into_iter();
        let stages = vk::ShaderStageFlags::ALL;
        let hit_layout = sets::buffer_layout(device, "throng hits", bindings, stages)?;
        let pass = Self {
            people: people.keep(),
            skin: skin.keep(),
            hit_layout: hit_layout.keep(),
        };
        Ok(Guard::new(device, pass))
    }

    /// The pipelines, with their names.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = (&'static str, vk::Pipeline)> + '_ {
        let people = STAGES.iter().map(|(name, _)| *name);
        let skin = self.skin.pipelines().map(|(_, it)| ("ray skin", it));
        people.zip(self.people.pipelines()).chain(skin)
    }

    /// Makes a set of work, records, positions and what rays met, in a pool of its own.
    pub(crate) fn make_set<'g>(
        &self,
        device: &'g Device,
        buffers: &[vk::DescriptorBufferInfo; 4],
    ) -> Result<Guard<'g, Sets>> {
        self.people.make_set(device, buffers)
    }

    /// Makes a set for hits: what rays met, instances, lists and deformed vertices.
    pub(crate) fn make_hit_set<'g>(
        &self,
        device: &'g Device,
        buffers: [vk::DescriptorBufferInfo; 4],
    ) -> Result<Guard<'g, Sets>> {
        let numbered = HIT_BINDINGS.into_iter().zip(buffers);
        let buffers: Vec<_> = numbered.map(|(at, buffer)| (at, BUFFER, buffer)).collect();
        sets::buffer_set(device, "throng hits", self.hit_layout.handle, &buffers)
    }

    /// Records the positions of a character in `count` poses, whose jobs start at a word. Its
    /// chunks lie behind an address.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass. The sets have the layouts of the pass, chunks and
    /// jobs are of the character of the first, and their vertices lie in the buffer of positions.
    pub(crate) unsafe fn record_skin(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        (sets, offsets): ([vk::DescriptorSet; 2], &[u32]),
        (table, chunks): (vk::DeviceAddress, &[RayChunks]),
        (jobs, count): (u32, u32),
    ) {
        let (raw, layout) = (&device.raw, self.skin.layout());
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: by this function's contract.
        unsafe {
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &sets, offsets);
            for own in chunks {
                raw.cmd_bind_pipeline(cmd, point, self.skin.pipeline(own.variant));
                for first in (0..own.count).step_by(MAX_GROUPS as usize) {
                    let chunks = words(table + own.first_byte + u64::from(first) * CHUNK_BYTES);
                    let push = RaySkinPush { chunks, jobs };
                    let bytes = bytemuck::bytes_of(&push);
                    raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
                    let groups = (own.count - first).min(MAX_GROUPS);
                    raw.cmd_dispatch(cmd, groups, count, 1);
                }
            }
        }
    }

    /// Records the stages that find where records start, and with `slots` who gets a slot, with a
    /// barrier between them.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass. The set is from [`Self::make_set`], and its
    /// buffers and those of the stage cull are laid out as the push constants say.
    pub(crate) unsafe fn record_starts(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        (cull, set): (&CullDispatch, vk::DescriptorSet),
        slots: bool,
    ) {
        let step = |stage, waits, groups| Step {
            with: (&self.people, cull.set, stage),
            waits,
            size: [groups * u32::from(slots || stage == 0), 1],
        };
        let steps = [
            step(0, false, 1),
            step(1, false, cull.chunks),
            step(2, slots, cull.characters),
        ];
        // SAFETY: this function has the same contract. There are less than 65,536 workgroups.
        unsafe { record((device, cmd), cull, &[set], steps.into_iter()) };
    }

    /// Records the stage that writes records.
    ///
    /// # Safety
    /// As [`Self::record_starts`].
    pub(crate) unsafe fn record_instances(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        (cull, set): (&CullDispatch, vk::DescriptorSet),
    ) {
        let step = Step {
            with: (&self.people, cull.set, 3),
            waits: false,
            size: [cull.chunks.max(1), 1],
        };
        // SAFETY: as in `record_starts`.
        unsafe { record((device, cmd), cull, &[set], core::iter::once(step)) };
    }
}
