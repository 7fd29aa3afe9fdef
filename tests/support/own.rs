//! Pipelines of an engine's own.

use crate::support::frames::EXTENT;
use crate::support::probe::spirv;
use throng::PassDesc;
use throng::ash::vk;
use throng_standalone::Context;

/// A pipeline that writes depth alone. `variant` is specialization constant 0 of its shader, if
/// that has one, and `dynamic` are its dynamic states.
pub fn depth_pipeline(
    context: &Context,
    pass: &PassDesc<'_>,
    (shader, variant, layout): (&str, u32, vk::PipelineLayout),
    input: &vk::PipelineVertexInputStateCreateInfo<'_>,
    dynamic: &[vk::DynamicState],
) -> vk::Pipeline {
    let device = &context.device;
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(dynamic);
    let words = spirv(shader);
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    let module = unsafe { device.create_shader_module(&info, None) }.unwrap();
    let entries = [vk::SpecializationMapEntry::default().size(4)];
    let value = variant.to_ne_bytes();
    let constants = vk::SpecializationInfo::default()
        .map_entries(&entries)
        .data(&value);
    let stages = [vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::VERTEX)
        .module(module)
        .specialization_info(&constants)
        .name(c"main")];
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewports = [vk::Viewport {
        width: EXTENT.width as f32,
        height: EXTENT.height as f32,
        max_depth: 1.0,
        ..vk::Viewport::default()
    }];
    let scissors = [vk::Rect2D::default().extent(EXTENT)];
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewports(&viewports)
        .scissors(&scissors);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(pass.samples);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
    let attachments = [vk::PipelineColorBlendAttachmentState::default()];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&pass.color_formats)
        .depth_attachment_format(pass.depth_format);
    let info = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(input)
        .dynamic_state(&dynamic)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .layout(layout)
        .push_next(&mut rendering)];
    let cache = vk::PipelineCache::null();
    let made = unsafe { device.create_graphics_pipelines(cache, &info, None) };
    unsafe { device.destroy_shader_module(module, None) };
    made.unwrap()[0]
}
