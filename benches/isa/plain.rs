//! The reference: pipelines of shaders that do the least for the same result.

use crate::device::Compiler;
use crate::{Outcome, Row};
use std::fs;
use std::path::Path;
use throng::ash::vk;

/// Name, vertex or compute shader, and fragment shader.
///
/// The vertex shader leaves out everything that the fragment shader does not read.
const PLAIN: [(&str, &str, Option<&str>); 5] = [
    ("all read", "plain.vert", Some("plain.frag")),
    (
        "normal and coordinates read",
        "plain.vert",
        Some("plain_shaded.frag"),
    ),
    ("depth", "plain_depth.vert", None),
    ("motion", "plain_motion.vert", Some("../motion.frag")),
    ("skin", "plain_skin.comp", None),
];

/// The rows of the reference.
pub(crate) fn rows(compiler: &Compiler) -> Outcome<Vec<Row>> {
    let layout = layout(compiler)?;
    let mut rows = Vec::new();
    for (name, shader, fragment) in PLAIN {
        let mut modules = vec![module(compiler, shader)?];
        modules.extend(fragment.map(|it| module(compiler, it)).transpose()?);
        let pipeline = pipeline(compiler, layout, &modules, shader.ends_with(".comp"))?;
        for (stage, figures) in compiler.figures(pipeline)? {
            if stage != "fragment" {
                rows.push(Row::new("plain", name, &stage, figures));
            }
        }
        // SAFETY: nothing was recorded with the pipeline.
        unsafe {
            compiler.raw.destroy_pipeline(pipeline, None);
            for module in modules {
                compiler.raw.destroy_shader_module(module, None);
            }
        }
    }
    Ok(rows)
}

fn module(compiler: &Compiler, name: &str) -> Outcome<vk::ShaderModule> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders/spv/bench");
    let bytes = fs::read(folder.join(format!("{name}.spv")))?;
    let words: Vec<u32> = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the committed SPIR-V is valid.
    Ok(unsafe { compiler.raw.create_shader_module(&info, None) }?)
}

/// Five storage buffers, a uniform buffer, and push constants.
fn layout(compiler: &Compiler) -> Outcome<vk::PipelineLayout> {
    let stages = vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::COMPUTE;
    let binding = |number: u32| {
        let kind = if number < 5 {
            vk::DescriptorType::STORAGE_BUFFER
        } else {
            vk::DescriptorType::UNIFORM_BUFFER
        };
        vk::DescriptorSetLayoutBinding::default()
            .binding(number)
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(stages)
    };
    let bindings: Vec<_> = (0..6).map(binding).collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let push = [vk::PushConstantRange {
        stage_flags: stages,
        offset: 0,
        size: 64,
    }];
    // SAFETY: the device is alive. The few objects live as long as the process.
    unsafe {
        let sets = [compiler.raw.create_descriptor_set_layout(&info, None)?];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&sets)
            .push_constant_ranges(&push);
        Ok(compiler.raw.create_pipeline_layout(&info, None)?)
    }
}

fn pipeline(
    compiler: &Compiler,
    layout: vk::PipelineLayout,
    modules: &[vk::ShaderModule],
    compute: bool,
) -> Outcome<vk::Pipeline> {
    let kinds = if compute {
        [vk::ShaderStageFlags::COMPUTE; 2]
    } else {
        [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT]
    };
    let stages = modules.iter().zip(kinds).map(|(module, kind)| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(kind)
            .module(*module)
            .name(c"main")
    });
    let stages: Vec<_> = stages.collect();
    let (flags, cache) = (
        vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR,
        vk::PipelineCache::null(),
    );
    if compute {
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(flags)
            .stage(stages[0])
            .layout(layout);
        // SAFETY: module and layout are alive and fit.
        let made = unsafe { compiler.raw.create_compute_pipelines(cache, &[info], None) };
        return Ok(made.map_err(|(_, result)| result)?[0]);
    }
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS);
    let colors = &crate::COLORS[..modules.len() - 1];
    let blends = vec![
        vk::PipelineColorBlendAttachmentState::default()
            .color_write_mask(vk::ColorComponentFlags::RGBA);
        colors.len()
    ];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let dynamic = [
        vk::DynamicState::VIEWPORT,
        vk::DynamicState::SCISSOR,
        vk::DynamicState::CULL_MODE,
        vk::DynamicState::FRONT_FACE,
    ];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(colors)
        .depth_attachment_format(crate::DEPTH);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .flags(flags)
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering);
    // SAFETY: modules and layout are alive and fit, and the device supports the formats.
    let made = unsafe { compiler.raw.create_graphics_pipelines(cache, &[info], None) };
    Ok(made.map_err(|(_, result)| result)?[0])
}
