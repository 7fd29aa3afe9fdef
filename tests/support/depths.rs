//! Depth pictures whose every sample is known.

use crate::support::probe::spirv;
use throng::ash::vk;
use throng_standalone::{Begin, Context, Target, TargetDesc};

/// The depth that `shaders/test/depths.frag` gives a sample.
pub fn depth_of(x: u32, y: u32, number: u32) -> f32 {
    let mixed = x.wrapping_mul(0x9E37_79B1)
        ^ y.wrapping_mul(0x85EB_CA77)
        ^ number.wrapping_mul(0xC2B2_AE3D);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x2C1B_3C6D);
    let mixed = mixed ^ mixed >> 12;
    (mixed >> 8) as f32 / 16_777_216.0
}

/// A target whose depth image has these samples, each with a depth of its own, and may be sampled.
pub fn known_depths(context: &mut Context, extent: vk::Extent2D, samples: u32) -> Target {
    let desc = TargetDesc {
        extent,
        samples: vk::SampleCountFlags::from_raw(samples),
        depth_usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC,
        ..TargetDesc::default()
    };
    let target = Target::new(context, &desc).unwrap();
    let push = [vk::PushConstantRange {
        stage_flags: vk::ShaderStageFlags::FRAGMENT,
        offset: 0,
        size: 4,
    }];
    let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
    let layout = unsafe { context.device.create_pipeline_layout(&info, None) }.unwrap();
    let pipelines: Vec<_> = (0..samples)
        .map(|number| pipeline(context, layout, (samples, 1 << number)))
        .collect();
    let record = |device: &throng::ash::Device, cmd| unsafe {
        target.begin(device, cmd, &Begin::default());
        for (number, pipeline) in (0_u32..).zip(&pipelines) {
            device.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::GRAPHICS, *pipeline);
            let stage = vk::ShaderStageFlags::FRAGMENT;
            device.cmd_push_constants(cmd, layout, stage, 0, &number.to_ne_bytes());
            device.cmd_draw(cmd, 3, 1, 0, 0);
        }
        target.end(device, cmd);
    };
    context.submit_and_wait(record).unwrap();
    unsafe {
        for pipeline in pipelines {
            context.device.destroy_pipeline(pipeline, None);
        }
        context.device.destroy_pipeline_layout(layout, None);
    }
    target
}

/// A pipeline that writes the depth of the samples in a mask.
fn pipeline(
    context: &Context,
    layout: vk::PipelineLayout,
    (samples, mask): (u32, u32),
) -> vk::Pipeline {
    let device = &context.device;
    let modules = ["test/depths.vert", "test/depths.frag"].map(|name| {
        let words = spirv(name);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        unsafe { device.create_shader_module(&info, None) }.unwrap()
    });
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(module)
            .name(c"main")
    };
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, modules[0]),
        stage(vk::ShaderStageFlags::FRAGMENT, modules[1]),
    ];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let mask = [mask];
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::from_raw(samples))
        .sample_mask(&mask);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::ALWAYS);
    let attachments = [vk::PipelineColorBlendAttachmentState::default()];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
    let desc = TargetDesc::default();
    let colors = [desc.color_format];
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&colors)
        .depth_attachment_format(desc.depth_format.unwrap());
    let info = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .dynamic_state(&dynamic)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .layout(layout)
        .push_next(&mut rendering)];
    let cache = vk::PipelineCache::null();
    let made = unsafe { device.create_graphics_pipelines(cache, &info, None) };
    for module in modules {
        unsafe { device.destroy_shader_module(module, None) };
    }
    made.unwrap()[0]
}
