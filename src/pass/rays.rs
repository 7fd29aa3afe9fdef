//! The stages of rays: ray_starts, ray_candidates, ray_slots, ray_skin and ray_instances.

use crate::error::Result;
use crate::gpu::animation::words;
use crate::gpu::pipeline::spirv;
use crate::gpu::sets::{self, Sets};
use crate::gpu::{CHUNK, Device, GpuInstance, Guard, Object, destroy_fields};
use crate::pass::compute::ComputePass;
use crate::pass::push::{CullPush, RaySkinPush};
use crate::pass::skin::MAX_GROUPS;
use ash::vk;
use ash::vk::{AccessFlags as Access, PipelineStageFlags as Stage};

/// The bindings of their own set: work, records, positions, and what rays met.
const BINDINGS: [vk::DescriptorType; 4] = [vk::DescriptorType::STORAGE_BUFFER; 4];

/// The bindings of the set for hits: what rays met, instances, lists and deformed vertices. They
/// have the numbers of throng's set 0, but for the first.
const HIT_BINDINGS: [u32; 4] = [0, 2, 3, 4];

/// Storage buffers of the stage that has the most: those of throng's set 0 and its own.
pub(crate) const STORAGE_BUFFERS: u32 = 4 + BINDINGS.len() as u32;

/// The pipelines.
#[derive(Debug)]
pub(crate) struct RayPass {
    /// Ray_starts, ray_slots, ray_instances and ray_candidates, with the set of the cull stage.
    people: ComputePass,
    /// Ray_skin, with throng's set 0.
    skin: ComputePass,
    /// The variants of ray_skin. The first is for all primitives.
    variants: Vec<u32>,
    /// Of the set that engines' shaders read hits with.
    hit_layout: Object<vk::DescriptorSetLayout>,
}

destroy_fields!(RayPass, &'a Device: people, skin, hit_layout);

/// Bytes of a chunk.
pub(crate) const CHUNK_BYTES: u64 = 16;

/// Chunks of vertices that a variant of ray_skin deforms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RayChunks {
    pub(crate) variant: u32,
    pub(crate) count: u32,
    /// Device address.
    pub(crate) address: vk::DeviceAddress,
}

/// The sets of a dispatch, and the dynamic offsets of the first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RaySets<'a> {
    pub(crate) first: vk::DescriptorSet,
    pub(crate) offsets: &'a [u32],
    pub(crate) own: vk::DescriptorSet,
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
        for (name, words) in [
            ("throng ray starts", spirv::RAY_STARTS_COMP),
            ("throng ray slots", spirv::RAY_SLOTS_COMP),
            ("throng ray instances", spirv::RAY_INSTANCES_COMP),
            ("throng ray candidates", spirv::RAY_CANDIDATES_COMP),
        ] {
            // SAFETY: the module is the crate's own, compiled for these sets. A workgroup has at
            // most 128 invocations.
            unsafe { people.add(device, name, words, &[]) }?;
        }
        // SAFETY: as above.
        let skin =
            unsafe { ComputePass::new::<RaySkinPush>(device, "throng ray skin", set(throng)) }?;
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let all = vk::ShaderStageFlags::ALL;
        let bindings = HIT_BINDINGS.map(|number| sets::binding(number, kind, all));
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let hit_layout = sets::layout(device, "throng hits", &info)?;
        let pass = Self {
            people: people.keep(),
            skin: skin.keep(),
            variants: Vec::new(),
            hit_layout: hit_layout.keep(),
        };
        let mut pass = Guard::new(device, pass);
        pass.prepare(device, core::iter::once(GpuInstance::NONE))?;
        Ok(pass)
    }

    /// Creates the pipelines of these variants that do not exist.
    pub(crate) fn prepare(
        &mut self,
        device: &Device,
        variants: impl Iterator<Item = u32>,
    ) -> Result<()> {
        for variant in variants {
            if !self.variants.contains(&variant) {
                let (words, constants) = (spirv::RAY_SKIN_COMP, [CHUNK, variant]);
                // SAFETY: the module is the crate's own, compiled for these sets.
                unsafe { self.skin.add(device, "throng ray skin", words, &constants) }?;
                self.variants.push(variant);
            }
        }
        Ok(())
    }

    /// The pipelines, with their names.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = (&'static str, vk::Pipeline)> + '_ {
        let people = ["ray starts", "ray slots", "ray instances", "ray candidates"];
        let skin = self.skin.pipelines().map(|it| ("ray skin", it));
        people.into_iter().zip(self.people.pipelines()).chain(skin)
    }

    /// Makes a set of work, records, positions and what rays met, in a pool of its own.
    pub(crate) fn make_set<'g>(
        &self,
        device: &'g Device,
        buffers: &[vk::DescriptorBufferInfo; 4],
    ) -> Result<Guard<'g, Sets>> {
        self.people.make_set(device, buffers)
    }

    /// The layout of the set that engines' shaders read hits with.
    pub(crate) fn hit_layout(&self) -> vk::DescriptorSetLayout {
        self.hit_layout.handle
    }

    /// Makes that set: what rays met, instances, lists and deformed vertices.
    pub(crate) fn make_hit_set<'g>(
        &self,
        device: &'g Device,
        buffers: &[vk::DescriptorBufferInfo; 4],
    ) -> Result<Guard<'g, Sets>> {
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: HIT_BINDINGS.len() as u32,
        }];
        let layout = self.hit_layout.handle;
        let made = sets::with_pool(device, "throng hits", &sizes, layout, 1, None)?;
        let writes = HIT_BINDINGS.iter().zip(buffers).map(|(number, buffer)| {
            let info = core::slice::from_ref(buffer);
            sets::write(made.first(), *number, kind).buffer_info(info)
        });
        let writes: Vec<_> = writes.collect();
        // SAFETY: no command buffer has used the new set, and the buffers are alive.
        unsafe { device.raw.update_descriptor_sets(&writes, &[]) };
        Ok(made)
    }

    /// Records the positions of a character in `count` poses, whose jobs start at a word.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass. The sets have the layouts of the pass, chunks and
    /// jobs are of the character of the first, and their vertices lie in the buffer of positions.
    pub(crate) unsafe fn record_skin(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        sets: &RaySets<'_>,
        chunks: &[RayChunks],
        (jobs, count): (u32, u32),
    ) {
        let (raw, layout) = (&device.raw, self.skin.layout.handle);
        let point = vk::PipelineBindPoint::COMPUTE;
        let both = [sets.first, sets.own];
        // SAFETY: by this function's contract.
        unsafe {
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &both, sets.offsets);
            for own in chunks {
                let variant = self.variants.iter().position(|it| *it == own.variant);
                raw.cmd_bind_pipeline(cmd, point, self.skin.pipeline(variant.unwrap_or(0)));
                for first in (0..own.count).step_by(MAX_GROUPS as usize) {
                    let chunks = words(own.address + u64::from(first) * CHUNK_BYTES);
                    let push = RaySkinPush { chunks, jobs };
                    let bytes = bytemuck::bytes_of(&push);
                    raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
                    let groups = (own.count - first).min(MAX_GROUPS);
                    raw.cmd_dispatch(cmd, groups, count, 1);
                }
            }
        }
    }

    /// Records the stages that find where records start, and with `slots` who gets a slot, for so
    /// many characters and chunks of members, with a barrier between them.
    ///
    /// # Safety
    /// `cmd` is recording, outside a render pass. The sets have the layouts of the pass, and their
    /// buffers are laid out as the push constants say.
    pub(crate) unsafe fn record_starts(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        sets: &RaySets<'_>,
        push: &CullPush,
        (characters, chunks, slots): (u32, u32, bool),
    ) {
        // SAFETY: this function has the same contract.
        unsafe {
            self.record((device, cmd), sets, push, (0, 1));
            if slots {
                self.record((device, cmd), sets, push, (3, chunks.max(1)));
                let (stage, write) = (Stage::COMPUTE_SHADER, Access::SHADER_WRITE);
                let then = (stage, Access::SHADER_READ | write);
                device.barrier(cmd, (stage, write), then);
                self.record((device, cmd), sets, push, (1, characters));
            }
        }
    }

    /// Records the stage that writes records, for so many chunks of members.
    ///
    /// # Safety
    /// As [`Self::record_starts`].
    pub(crate) unsafe fn record_instances(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        sets: &RaySets<'_>,
        push: &CullPush,
        chunks: u32,
    ) {
        // SAFETY: this function has the same contract.
        unsafe { self.record((device, cmd), sets, push, (2, chunks.max(1))) };
    }

    /// Records a stage with so many workgroups, of which there are less than 65,536.
    ///
    /// # Safety
    /// As [`Self::record_starts`].
    unsafe fn record(
        &self,
        (device, cmd): (&Device, vk::CommandBuffer),
        sets: &RaySets<'_>,
        push: &CullPush,
        (stage, groups): (usize, u32),
    ) {
        let (raw, layout) = (&device.raw, self.people.layout.handle);
        let point = vk::PipelineBindPoint::COMPUTE;
        let both = [sets.first, sets.own];
        let bytes = bytemuck::bytes_of(push);
        // SAFETY: by this function's contract.
        unsafe {
            raw.cmd_bind_descriptor_sets(cmd, point, layout, 0, &both, sets.offsets);
            raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
            raw.cmd_bind_pipeline(cmd, point, self.people.pipeline(stage));
            raw.cmd_dispatch(cmd, groups, 1, 1);
        }
    }
}
