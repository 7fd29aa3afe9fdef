//! Shader modules and compute pipelines.

use super::{Device, Guard, Object, VkCall};
use crate::error::{Error, Result};
use ash::vk;

/// The committed SPIR-V, as words.
pub(crate) mod spirv {
    include!(concat!(env!("OUT_DIR"), "/spirv.rs"));
}

/// Creates a module that lives while pipelines are created from it.
///
/// # Safety
/// `words` are a whole, valid module for Vulkan 1.3, which needs no feature that is not enabled.
pub(crate) unsafe fn shader_module<'g>(
    device: &'g Device,
    words: &[u32],
    name: &str,
) -> Result<Guard<'g, Object<vk::ShaderModule>>> {
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    // SAFETY: the module is valid, by this function's contract.
    let module =
        unsafe { device.raw.create_shader_module(&info, None) }.call("vkCreateShaderModule")?;
    Ok(Object::new(device, module, name))
}

/// Creates a pipeline layout of `sets` with push constants.
///
/// There is one range of (stages, bytes), and one of `fragment` bytes for the fragment stage. Both
/// start at offset 0.
///
/// # Safety
/// The set layouts belong to `device` and are alive. Layouts and push constants keep to its limits.
pub(crate) unsafe fn pipeline_layout<'g>(
    device: &'g Device,
    name: &str,
    sets: &[vk::DescriptorSetLayout],
    (stages, bytes): (vk::ShaderStageFlags, u32),
    fragment: Option<u32>,
) -> Result<Guard<'g, Object<vk::PipelineLayout>>> {
    let first = vk::PushConstantRange {
        stage_flags: stages,
        offset: 0,
        size: bytes,
    };
    let second = fragment.map(|size| vk::PushConstantRange {
        stage_flags: vk::ShaderStageFlags::FRAGMENT,
        offset: 0,
        size,
    });
    let push: Vec<_> = core::iter::once(first).chain(second).collect();
    let info = vk::PipelineLayoutCreateInfo::default()
        .set_layouts(sets)
        .push_constant_ranges(&push);
    // SAFETY: the set layouts are alive and within the limits, by this function's contract.
    let layout =
        unsafe { device.raw.create_pipeline_layout(&info, None) }.call("vkCreatePipelineLayout")?;
    Ok(Object::new(device, layout, name))
}

/// Creates a compute pipeline with specialization constants, from constant 0 on.
///
/// If the shader has any, constant 0 is a size: that of a workgroup, or of its shared memory.
///
/// # Safety
/// - `words` are as for [`shader_module`], and have a compute entry point `main`.
/// - `layout` belongs to `device`, is alive, and fits the shader.
/// - With that size, a workgroup is within what every device supports: 128 invocations and 16 KiB
///   of shared memory.
pub(crate) unsafe fn compute_pipeline<'g>(
    device: &'g Device,
    name: &str,
    words: &[u32],
    layout: vk::PipelineLayout,
    values: &[u32],
) -> Result<Guard<'g, Object<vk::Pipeline>>> {
    // SAFETY: the words are a module, by this function's contract.
    let module = unsafe { shader_module(device, words, name) }?;
    let constant = |constant_id| vk::SpecializationMapEntry {
        constant_id,
        offset: constant_id * size_of::<u32>() as u32,
        size: size_of::<u32>(),
    };
    let entries: Vec<_> = (0..values.len() as u32).map(constant).collect();
    let constants = vk::SpecializationInfo::default()
        .map_entries(&entries)
        .data(bytemuck::cast_slice(values));
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module.handle)
        .name(c"main")
        .specialization_info(&constants);
    let info = [vk::ComputePipelineCreateInfo::default()
        .flags(device.pipeline_flags)
        .stage(stage)
        .layout(layout)];
    // SAFETY: the module was created above. By this function's contract, it has the entry point,
    // the layout is alive and fits it, and the device supports the workgroup.
    let made = unsafe {
        device
            .raw
            .create_compute_pipelines(device.pipeline_cache, &info, None)
    };
    let made = all_pipelines(device, made, "vkCreateComputePipelines")?;
    let made = made.into_iter().next().ok_or(vk::Result::ERROR_UNKNOWN);
    let made = made.call("vkCreateComputePipelines")?;
    Ok(Object::new(device, made, name))
}

/// The pipelines of a creation call. If the call failed, pipelines that it created nevertheless are
/// destroyed.
pub(crate) fn all_pipelines(
    device: &Device,
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
    call: &'static str,
) -> Result<Vec<vk::Pipeline>> {
    made.map_err(|(pipelines, result)| {
        for pipeline in pipelines {
            // SAFETY: no command buffer has used the new pipeline; null is allowed.
            unsafe { device.raw.destroy_pipeline(pipeline, None) };
        }
        Error::Vulkan { call, result }
    })
}
