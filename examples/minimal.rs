//! The smallest complete integration: an engine's own instance, device and allocator, and a crowd.
//!
//! Draws three characters into `minimal.png`.

use std::error::Error;
use std::io::{ErrorKind, Write as _};
use throng::ash::{self, vk};
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Vec3, vec3};
use throng::gpu::{self, Enabled, GpuAllocator};
use throng::gpu_allocator::MemoryLocation;
use throng::gpu_allocator::vulkan::*;
use throng::{Crowd, CrowdDesc, PassDesc, Spawn, View, builtin};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 480,
};
/// Size of the picture in bytes: 4 per pixel.
const BYTES: u32 = 4 * EXTENT.width * EXTENT.height;
const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

pub(crate) fn main() -> Result<()> {
    // SAFETY: there is one thread and one device, and every handle belongs to it.
    unsafe { draw()? };
    // Unlike println!, this does not panic if the output cannot be written.
    match writeln!(std::io::stdout(), "wrote minimal.png") {
        // It is no error if nobody reads the output any more.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

unsafe fn draw() -> Result<()> {
    // SAFETY: all handles belong to the device created here, which is idle when they are destroyed.
    unsafe {
        // An engine already has all this: instance, device, queue, allocator, command buffer,
        // attachments. The entry must live as long as the instance.
        let entry = ash::Entry::load().map_err(|error| {
            format!("there is no Vulkan loader ({error}): install libvulkan1 or vulkan-loader")
        })?;
        let application = vk::ApplicationInfo::default().api_version(gpu::Device::API_VERSION);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&info, None).map_err(|error| {
            format!("no Vulkan driver works ({error:?}): install one or check VK_DRIVER_FILES")
        })?;
        let (physical_device, device, family) = create_device(&instance)?;
        let queue = device.get_device_queue(family, 0);
        let mut allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device,
            debug_settings: Default::default(),
            buffer_device_address: true,
            allocation_sizes: Default::default(),
        })?;
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let pool = device.create_command_pool(&info, None)?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool);
        let cmd = device.allocate_command_buffers(&info.command_buffer_count(1))?[0];
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let color = create_image(&device, &mut allocator, COLOR, usage)?;
        let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let depth = create_image(&device, &mut allocator, DEPTH, usage)?;
        let info = vk::BufferCreateInfo::default().size(u64::from(BYTES));
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let readback = device.create_buffer(&info.usage(usage), None)?;
        let requirements = device.get_buffer_memory_requirements(readback);
        let pixels = allocate(&mut allocator, requirements, MemoryLocation::GpuToCpu)?;
        device.bind_buffer_memory(readback, pixels.memory(), pixels.offset())?;

        // Once: a crowd, a pass with the formats of the attachments, a character, its instances.
        let memory = &mut GpuAllocator::new(&device, &mut allocator);
        let gpu = gpu::Device::new(&instance, physical_device, &device, &Enabled::NONE)?;
        let mut crowd = Crowd::new(&gpu, memory, &CrowdDesc::default())?;
        let pass = crowd.create_pass(&PassDesc {
            color_formats: &[COLOR],
            depth_format: DEPTH,
            ..PassDesc::default()
        })?;
        let mannequin = crowd.add_character(memory, &builtin::mannequin()?.character)?;
        for (x, clip) in [(-0.9, "Wave"), (0.0, "Walk"), (0.9, "Run")] {
            let spawn = Spawn {
                world_from_model: Affine3A::from_translation(vec3(x, 0.0, 0.0)),
                play: clip.into(),
                ..Spawn::default()
            };
            crowd.spawn(mannequin, &spawn)?;
        }

        // Every frame. An engine first waits for the fence of this frame in flight, here 0.
        let (frame_index, time_s) = (0, 0.25);
        let eye = vec3(1.2, 1.5, 4.2);
        let view_from_world = rh::view::look_at_mat4(eye, vec3(0.0, 0.9, 0.0), Vec3::Y);
        let aspect = EXTENT.width as f32 / EXTENT.height as f32;
        let clip_from_view = rh::proj::vulkan::perspective(0.7, aspect, 0.1, 100.0);
        let view = View::new(clip_from_view * view_from_world, eye, EXTENT);
        device.begin_command_buffer(cmd, &vk::CommandBufferBeginInfo::default())?;
        let mut frame = crowd.begin_frame(memory, frame_index, time_s)?;
        // Outside of rendering: uploads and palettes, with their own barriers.
        let views = frame.record_prepare(cmd, &[view])?;
        begin_rendering(&device, cmd, &color, &depth);
        frame.record_draw(cmd, views[0], pass)?;
        device.cmd_end_rendering(cmd);
        copy_image(&device, cmd, &color, readback);
        device.end_command_buffer(cmd)?;
        let submit = [vk::SubmitInfo::default().command_buffers(std::slice::from_ref(&cmd))];
        device.queue_submit(queue, &submit, vk::Fence::null())?;
        device.device_wait_idle()?;
        let rgba = pixels.mapped_slice();
        write_png(rgba.ok_or("readback memory is not mapped")?)?;

        // Once the device is idle.
        crowd.destroy(memory);
        device.destroy_buffer(readback, None);
        allocator.free(pixels)?;
        for image in [color, depth] {
            device.destroy_image_view(image.view, None);
            device.destroy_image(image.handle, None);
            allocator.free(image.memory)?;
        }
        drop(allocator);
        device.destroy_command_pool(pool, None);
        device.destroy_device(None);
        instance.destroy_instance(None);
        Ok(())
    }
}

/// Creates a device with the features that throng requires, and one queue of the returned family.
unsafe fn create_device(
    instance: &ash::Instance,
) -> Result<(vk::PhysicalDevice, ash::Device, u32)> {
    // SAFETY: the instance is alive, and the device supports the features that are enabled.
    unsafe {
        let mut devices = instance.enumerate_physical_devices()?.into_iter();
        let physical_device = devices
            .find(|device| Enabled::supported(instance, *device).is_ok())
            .ok_or("no device supports Vulkan 1.3: update its driver")?;
        let needed = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let family = instance
            .get_physical_device_queue_family_properties(physical_device)
            .iter()
            .position(|family| family.queue_flags.contains(needed))
            .ok_or("no queue family has graphics and compute")? as u32;
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let mut features12 = gpu::Device::features_12();
        let mut features13 = gpu::Device::features_13();
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut features12)
            .push_next(&mut features13);
        let device = instance.create_device(physical_device, &info, None)?;
        Ok((physical_device, device, family))
    }
}

fn allocate(
    allocator: &mut Allocator,
    requirements: vk::MemoryRequirements,
    location: MemoryLocation,
) -> Result<Allocation> {
    Ok(allocator.allocate(&AllocationCreateDesc {
        name: "minimal",
        requirements,
        location,
        linear: location == MemoryLocation::GpuToCpu,
        allocation_scheme: AllocationScheme::GpuAllocatorManaged,
    })?)
}

/// An attachment.
struct Image {
    handle: vk::Image,
    view: vk::ImageView,
    range: vk::ImageSubresourceRange,
    memory: Allocation,
}

unsafe fn create_image(
    device: &ash::Device,
    allocator: &mut Allocator,
    format: vk::Format,
    usage: vk::ImageUsageFlags,
) -> Result<Image> {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(EXTENT.into())
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    let aspect = match format {
        DEPTH => vk::ImageAspectFlags::DEPTH,
        _ => vk::ImageAspectFlags::COLOR,
    };
    let range = vk::ImageSubresourceRange::default().aspect_mask(aspect);
    let range = range.level_count(1).layer_count(1);
    // SAFETY: the device and its allocator are alive, and support this format with this usage.
    unsafe {
        let handle = device.create_image(&info, None)?;
        let requirements = device.get_image_memory_requirements(handle);
        let memory = allocate(allocator, requirements, MemoryLocation::GpuOnly)?;
        device.bind_image_memory(handle, memory.memory(), memory.offset())?;
        let info = vk::ImageViewCreateInfo::default()
            .image(handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        let view = device.create_image_view(&info, None)?;
        Ok(Image {
            handle,
            view,
            range,
            memory,
        })
    }
}

/// Clears both attachments and begins rendering.
unsafe fn begin_rendering(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    color: &Image,
    depth: &Image,
) {
    let clear = |view: vk::ImageView, value: vk::ClearValue| {
        vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .clear_value(value)
    };
    let (mut sky, mut far) = (vk::ClearValue::default(), vk::ClearValue::default());
    sky.color.float32 = [0.55, 0.65, 0.8, 1.0];
    far.depth_stencil.depth = 1.0;
    let (colors, depths) = ([clear(color.view, sky)], clear(depth.view, far));
    let rendering = vk::RenderingInfo::default()
        .render_area(EXTENT.into())
        .layer_count(1)
        .color_attachments(&colors)
        .depth_attachment(&depths);
    // GENERAL suits both. An engine may choose a layout for each.
    let images = [color, depth].map(|image| {
        vk::ImageMemoryBarrier2::default()
            .image(image.handle)
            .new_layout(vk::ImageLayout::GENERAL)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_GRAPHICS)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)
            .subresource_range(image.range)
    });
    let info = vk::DependencyInfo::default().image_memory_barriers(&images);
    // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
    unsafe {
        device.cmd_pipeline_barrier2(cmd, &info);
        device.cmd_begin_rendering(cmd, &rendering);
    }
}

/// Copies the picture into a buffer and makes it visible to the CPU.
unsafe fn copy_image(device: &ash::Device, cmd: vk::CommandBuffer, from: &Image, to: vk::Buffer) {
    let layers = vk::ImageSubresourceLayers::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .layer_count(1);
    let region = vk::BufferImageCopy::default()
        .image_subresource(layers)
        .image_extent(EXTENT.into());
    let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    let drawn = [vk::ImageMemoryBarrier2::default()
        .image(from.handle)
        .old_layout(vk::ImageLayout::GENERAL)
        .new_layout(source)
        .src_stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)
        .src_access_mask(vk::AccessFlags2::COLOR_ATTACHMENT_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::COPY)
        .dst_access_mask(vk::AccessFlags2::TRANSFER_READ)
        .subresource_range(from.range)];
    let copied = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COPY)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::HOST)
        .dst_access_mask(vk::AccessFlags2::HOST_READ)];
    let info = vk::DependencyInfo::default();
    // SAFETY: the caller guarantees that `cmd` is recording outside of rendering.
    unsafe {
        device.cmd_pipeline_barrier2(cmd, &info.image_memory_barriers(&drawn));
        device.cmd_copy_image_to_buffer(cmd, from.handle, source, to, &[region]);
        device.cmd_pipeline_barrier2(cmd, &info.memory_barriers(&copied));
    }
}

fn write_png(rgba: &[u8]) -> Result<()> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, EXTENT.width, EXTENT.height);
    encoder.set_color(png::ColorType::Rgba);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgba[..BYTES as usize])?;
    writer.finish()?;
    Ok(throng::files::write("minimal.png", &bytes)?)
}
