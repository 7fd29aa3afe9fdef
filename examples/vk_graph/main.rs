//! A crowd in a render pass of vk-graph, a render graph on ash. vk-graph draws the sky and a wall.
//! It then creates a pass in which throng draws the people, without those behind the wall. Writes
//! `vk_graph.png`.

use naga::valid::{Capabilities, Validator};
use std::{error::Error, sync::Arc, sync::Mutex, sync::PoisonError};
use throng::ash::{self, vk};
use throng::glam::{Affine3A, Vec3, camera::rh};
use throng::gpu::{self, FeatureChain, Features, GpuAllocator};
use throng::gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use throng::{Capacity, Crowd, CrowdDesc, Depth, PassDesc, Spawn, View, builtin};
use vk::{AccessFlags as Access, ImageUsageFlags as Usage, PipelineStageFlags as Stages};
use vk_graph::driver::{buffer::*, device::Device, graphics::*, image::*, instance::*, shader::*};
use vk_graph::{Graph, cmd::*, driver::sync::AccessType, pool::hash::HashPool};

const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

fn main() -> Result<(), Box<dyn Error>> {
    env_logger::init();
    // The engine's device. With validation, vk-graph panics at the first message.
    let debug = std::env::var_os("THRONG_VALIDATION").is_some();
    let instance = Instance::create(InstanceInfo::builder().debug(debug).build())?;
    let physical = Instance::physical_devices(&instance)?.into_iter().next().ok_or("no device")?;
    // SAFETY: the handles belong together, and the device supports what is chained.
    let (device, throng) = unsafe {
        let features = Features::supported(&instance, physical.handle)?;
        let mut chain = FeatureChain::new(features);
        let device = physical.create_ash_device(|info| {
            instance.create_device(physical.handle, &chain.add_to(info), None)
        })?;
        let throng = gpu::Device::new(&instance, physical.handle, &device, features)?;
        (Device::try_from_ash(device, physical.clone())?, throng)
    };

    // Once: memory, a crowd, a pass for the engine's render pass, a character and its instances.
    let mut memory = Allocator::new(&AllocatorCreateDesc {
        instance: (*instance).clone(),
        device: ash::Device::clone(&device),
        physical_device: physical.handle,
        debug_settings: Default::default(),
        buffer_device_address: true,
        allocation_sizes: Default::default(),
    })?;
    // SAFETY: the allocator was made for this device, and is the only one.
    let memory = &mut unsafe { GpuAllocator::new(&device, &mut memory) };
    let capacity = Capacity { depth_pixels: 640 * 480, ..Capacity::default() };
    let mut crowd = Crowd::new(&throng, memory, &CrowdDesc { capacity, ..Default::default() })?;
    let (render_pass, desc) = compatible(&device)?;
    // SAFETY: the render pass is alive as long as the crowd.
    let pass = unsafe { crowd.create_pass(&desc)? };
    let kind =
        crowd.add_character(memory, &builtin::mannequin()?.character, &Default::default())?;
    for at in 0..60 {
        let (x, z) = ((at % 10) as f32 - 4.5, (at / 10) as f32 * -1.2 + 2.0);
        let world_from_model = Affine3A::from_translation(Vec3::new(x, 0.0, z));
        let play = ["Walk", "Wave", "Run"][at % 3].into();
        crowd.spawn(kind, &Spawn { world_from_model, play, ..Default::default() })?;
    }

    // Every frame, once the last one with this index has ended: here it is the first.
    let eye = Vec3::new(1.5, 3.0, 7.5);
    let camera = rh::view::look_at_mat4(eye, Vec3::Y * 0.7, Vec3::Y);
    let camera = rh::proj::vulkan::perspective(0.8, 4.0 / 3.0, 0.1, 60.0) * camera;
    let view = View::new(camera, eye, vk::Extent2D { width: 640, height: 480 });
    crowd.update(0.4)?;
    // SAFETY: what is recorded below is submitted.
    unsafe { crowd.begin_frame(memory, 0, 0.4)? };
    let shared = Arc::new(Mutex::new((crowd, None)));
    let mut graph = Graph::default();
    // vk-graph orders commands by what they use. This represents all buffers of the crowd.
    let order = BufferInfo::device_mem(4, vk::BufferUsageFlags::STORAGE_BUFFER);
    let order = graph.bind_resource(Buffer::create(&device, order)?);
    let image = |it, usage| Image::create(&device, ImageInfo::image_2d(640, 480, it, usage));
    let color = graph.bind_resource(image(COLOR, Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC)?);
    let depth = Usage::DEPTH_STENCIL_ATTACHMENT | Usage::SAMPLED;
    let depth = graph.bind_resource(image(DEPTH, depth)?);
    let pixels = BufferInfo::host_mem(640 * 480 * 4, vk::BufferUsageFlags::TRANSFER_DST);
    let pixels = Arc::new(Buffer::create(&device, pixels)?);
    let to = graph.bind_resource(&pixels);
    let (prepare, draw) = (Arc::clone(&shared), Arc::clone(&shared));
    // First the walls. Their depth goes to the crowd, in the layout of the access.
    let around = sky(&device)?;
    graph
        .begin_cmd()
        .bind_pipeline(&around)
        .depth_stencil(DepthStencilInfo::DEPTH_WRITE_LESS_OR_EQUAL)
        .color_attachment_image(0, color, LoadOp::CLEAR_BLACK_ALPHA_ZERO, StoreOp::Store)
        .depth_stencil_attachment_image(depth, LoadOp::CLEAR_ONE_STENCIL_ZERO, StoreOp::Store)
        .record_cmd(move |cmd| {
            let matrix = camera.to_cols_array().map(f32::to_ne_bytes);
            cmd.push_constants(0, matrix.as_flattened()).draw(9, 1, 0, 0);
        });
    let read = AccessType::ComputeShaderReadSampledImageOrUniformTexelBuffer;
    let command = graph.begin_cmd().resource_access(order, AccessType::ComputeShaderWrite);
    command.resource_access(depth, read).record_cmd(move |cmd| {
        let (crowd, views) = &mut *prepare.lock().unwrap_or_else(PoisonError::into_inner);
        let info = ImageViewInfo::new(DEPTH, vk::ImageViewType::TYPE_2D);
        let info = info.into_builder().aspect_mask(vk::ImageAspectFlags::DEPTH).build();
        let Ok(image) = cmd.resource(depth).view(info) else { return };
        let layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
        let walls = Depth { layout, ..Depth::new(image, view.viewport.extent) };
        // SAFETY: the command buffer is recording outside of render passes. Nothing has changed.
        // The graph has made the image readable, and keeps it.
        *views = Some(unsafe {
            let frame = crowd.resume_frame();
            frame.and_then(|mut it| it.record_prepare_behind(cmd.handle, &[view], &[walls]))
        });
    });
    let command = graph.begin_cmd().resource_access(order, AccessType::VertexShaderReadOther);
    command
        .bind_pipeline(&around)
        .depth_stencil(DepthStencilInfo::DEPTH_WRITE_LESS_OR_EQUAL)
        .color_attachment_image(0, color, LoadOp::Load, StoreOp::Store)
        .depth_stencil_attachment_image(depth, LoadOp::Load, StoreOp::DontCare)
        .record_cmd(move |cmd| {
            let (crowd, views) = &mut *draw.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(Ok(ids)) = views.clone() else { return };
            // SAFETY: the command buffer is recording a subpass that is compatible with the pass,
            // after `record_prepare_behind`. Nothing has changed.
            let drawn = unsafe {
                crowd.resume_frame().and_then(|it| it.record_draw(cmd.handle, ids[0], pass))
            };
            *views = Some(drawn.map(|()| ids));
        });
    graph.copy_image_to_buffer(color, to);
    graph.finalize().queue_submit(&mut HashPool::new(&device), 0, 0)?.wait()?;

    let (crowd, outcome) = Arc::into_inner(shared).ok_or("the graph is alive")?.into_inner()?;
    // SAFETY: the fence was waited for, so the device is idle.
    unsafe { (crowd.destroy(memory), device.destroy_render_pass(render_pass, None)) };
    outcome.ok_or("the graph did not run")??;
    let mut encoder = png::Encoder::new(std::fs::File::create("vk_graph.png")?, 640, 480);
    encoder.set_color(png::ColorType::Rgba);
    Ok(encoder.write_header()?.write_image_data(Buffer::mapped_slice(&pixels))?)
}

/// Creates a render pass that is compatible with vk-graph's: colour, then depth.
///
/// vk-graph creates its own when it records the graph. Layouts may differ. Vulkan demands equal
/// flags and dependencies.
fn compatible(device: &Device) -> Result<(vk::RenderPass, PassDesc<'static>), Box<dyn Error>> {
    let layout = vk::ImageLayout::GENERAL;
    let attachments = [COLOR, DEPTH].map(|format| {
        let one = vk::AttachmentDescription::default().format(format).final_layout(layout);
        let one = one.samples(vk::SampleCountFlags::TYPE_1).initial_layout(layout);
        one.flags(vk::AttachmentDescriptionFlags::MAY_ALIAS)
    });
    let colors = [vk::AttachmentReference { attachment: 0, layout }];
    let depth = vk::AttachmentReference { attachment: 1, layout };
    let subpass = vk::SubpassDescription::default().color_attachments(&colors);
    let subpasses = [subpass.depth_stencil_attachment(&depth)];
    let tests = Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS;
    let depth = Access::DEPTH_STENCIL_ATTACHMENT_READ | Access::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let memory = Access::MEMORY_READ | Access::MEMORY_WRITE;
    let color = Access::COLOR_ATTACHMENT_READ | Access::COLOR_ATTACHMENT_WRITE;
    let dependencies = [vk::SubpassDependency::default()
        .src_subpass(vk::SUBPASS_EXTERNAL)
        .dependency_flags(vk::DependencyFlags::BY_REGION)
        .src_stage_mask(Stages::ALL_COMMANDS | Stages::COLOR_ATTACHMENT_OUTPUT | tests)
        .src_access_mask(memory | Access::COLOR_ATTACHMENT_WRITE | depth)
        .dst_stage_mask(Stages::VERTEX_SHADER | Stages::COLOR_ATTACHMENT_OUTPUT | tests)
        .dst_access_mask(Access::SHADER_READ | color | Access::DEPTH_STENCIL_ATTACHMENT_READ)];
    let info = vk::RenderPassCreateInfo::default().attachments(&attachments).subpasses(&subpasses);
    let info = info.dependencies(&dependencies);
    // SAFETY: all pointers of `info` are valid, and the device supports the formats.
    unsafe {
        let render_pass = device.create_render_pass(&info, None)?;
        Ok((render_pass, PassDesc::of_subpass(&info, 0, render_pass)?))
    }
}

/// vk-graph's own pipeline, which draws a sky.
fn sky(device: &Device) -> Result<GraphicsPipeline, Box<dyn Error>> {
    let module = naga::front::wgsl::parse_str(include_str!("sky.wgsl"))?;
    let info = Validator::new(Default::default(), Capabilities::IMMEDIATES).validate(&module)?;
    let spirv = naga::back::spv::write_vec(&module, &info, &Default::default(), None)?;
    let shaders = ["place", "shade"].map(|it| Shader::from_spirv(&spirv[..]).entry_name(it));
    let info = GraphicsPipelineInfo::builder().cull_mode(vk::CullModeFlags::NONE);
    Ok(GraphicsPipeline::create(device, info, shaders)?)
}
