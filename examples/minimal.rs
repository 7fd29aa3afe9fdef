//! The smallest complete integration: your own instance and device, with throng on top.
//!
//! Draws one picture with a shadow map and writes it to `minimal.png`.

use std::error::Error;
use std::io::{ErrorKind, Write as _};
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::gpu::{Enabled, GpuAllocator};
use throng::gpu_allocator::MemoryLocation;
use throng::gpu_allocator::vulkan::{
    AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use throng::import::RawPrimitive;
use throng::mesh::Material;
use throng::{
    Crowd, CrowdDesc, Lighting, PassDesc, PassKind, Shadow, ShadowMap, Spawn, View, ash, builtin,
    glam, gpu, gpu_allocator,
};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 480,
};
/// Width and height of the shadow map in texels.
const SHADOW_EDGE: u32 = 1024;
const SHADOW_EXTENT: vk::Extent2D = vk::Extent2D {
    width: SHADOW_EDGE,
    height: SHADOW_EDGE,
};
/// Four samples smooth the edges. Every Vulkan device supports four.
const SAMPLES: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: there is one thread and one device, and everything is destroyed in reverse order at
    // the end.
    unsafe { run() }
}

unsafe fn run() -> Result<(), Box<dyn Error>> {
    // SAFETY: all handles belong to the device created here, on one thread, and are destroyed in
    // reverse order at the end.
    unsafe {
        // The part that an engine already has: instance, device, queue, allocator, command buffer,
        // attachments.
        let entry = ash::Entry::load().map_err(|error| {
            format!("there is no Vulkan loader ({error}): install libvulkan1 or vulkan-loader")
        })?;
        let application = vk::ApplicationInfo::default().api_version(gpu::Device::API_VERSION);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&info, None).map_err(|error| {
            format!("no Vulkan driver works ({error:?}): install one or check VK_DRIVER_FILES")
        })?;
        let fits = |device: &vk::PhysicalDevice| Enabled::supported(&instance, *device).is_ok();
        let physical_device = instance
            .enumerate_physical_devices()?
            .into_iter()
            .find(fits)
            .ok_or("no device supports Vulkan 1.3: update its driver")?;
        let family = instance
            .get_physical_device_queue_family_properties(physical_device)
            .iter()
            .position(|f| {
                f.queue_flags
                    .contains(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)
            })
            .ok_or("no graphics queue")? as u32;
        let (mut features12, mut features13) = gpu::Device::required_features();
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut features12)
            .push_next(&mut features13);
        let device = instance.create_device(physical_device, &info, None)?;
        let queue = device.get_device_queue(family, 0);
        let mut allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device,
            debug_settings: Default::default(),
            buffer_device_address: true,
            allocation_sizes: Default::default(),
        })?;
        let pool = device.create_command_pool(
            &vk::CommandPoolCreateInfo::default().queue_family_index(family),
            None,
        )?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        let cmd = device.allocate_command_buffers(&info)?[0];
        let one = vk::SampleCountFlags::TYPE_1;
        let mut image = |format, extent, samples, usage| {
            Attachment::new(&device, &mut allocator, format, extent, samples, usage)
        };
        let color_usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        let depth_usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let smooth = image(COLOR, EXTENT, SAMPLES, color_usage)?;
        let depth = image(DEPTH, EXTENT, SAMPLES, depth_usage)?;
        let color_usage = color_usage | vk::ImageUsageFlags::TRANSFER_SRC;
        let color = image(COLOR, EXTENT, one, color_usage)?;
        let shadow_usage = depth_usage | vk::ImageUsageFlags::SAMPLED;
        let shadow = image(DEPTH, SHADOW_EXTENT, one, shadow_usage)?;
        let bytes = u64::from(EXTENT.width * EXTENT.height * 4);
        let info = vk::BufferCreateInfo::default()
            .size(bytes)
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        let readback = device.create_buffer(&info, None)?;
        let memory = allocator.allocate(&AllocationCreateDesc {
            name: "readback",
            requirements: device.get_buffer_memory_requirements(readback),
            location: MemoryLocation::GpuToCpu,
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        })?;
        device.bind_buffer_memory(readback, memory.memory(), memory.offset())?;

        // The throng part: a crowd, a pass for the picture and one for its shadows, a ground, three
        // people.
        let mut crowd_memory = GpuAllocator::new(&device, &mut allocator);
        let mannequin = builtin::mannequin()?;
        let gpu = gpu::Device::new(&instance, physical_device, &device, &Enabled::NONE)?;
        let mut crowd = Crowd::new(&gpu, &mut crowd_memory, &CrowdDesc::default())?;
        crowd.set_shadow_map(&ShadowMap {
            view: shadow.view,
            layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            edge: SHADOW_EDGE,
            reversed_z: false,
        })?;
        let pass = crowd.create_pass(&PassDesc {
            color_formats: &[COLOR],
            depth_format: DEPTH,
            samples: SAMPLES,
            shadow_map: true,
            ..PassDesc::default()
        })?;
        let shadow_pass = crowd.create_pass(&PassDesc {
            kind: PassKind::Shadow,
            depth_format: DEPTH,
            ..PassDesc::default()
        })?;
        let slab = RawPrimitive::cuboid(glam::vec3(60.0, 0.1, 60.0));
        let slab = slab.translated(glam::vec3(0.0, -0.05, 0.0));
        let ground = slab.build_rigid(Material::flat([0.45, 0.43, 0.38, 1.0]))?;
        let ground = crowd.add_character(&mut crowd_memory, &ground)?;
        crowd.spawn(ground, &Spawn::default())?;
        let character = crowd.add_character(&mut crowd_memory, &mannequin)?;
        for (x, clip) in [(-0.9, "Wave"), (0.0, "Walk"), (0.9, "Run")] {
            let world_from_model = glam::Affine3A::from_translation(glam::vec3(x, 0.0, 0.0));
            crowd.spawn(
                character,
                &Spawn {
                    world_from_model,
                    play: clip.into(),
                    ..Spawn::default()
                },
            )?;
        }

        // One frame. An engine would first wait for the fence of frame in flight 0.
        let eye = glam::vec3(1.2, 1.5, 4.2);
        let view_from_world = rh::view::look_at_mat4(eye, glam::vec3(0.0, 0.9, 0.0), glam::Vec3::Y);
        let aspect = EXTENT.width as f32 / EXTENT.height as f32;
        let clip_from_view = rh::proj::vulkan::perspective(0.7, aspect, 0.1, 100.0);
        let (sun, light_from_world) = sun();
        let mut from_sun = Shadow {
            layers: 1,
            ..Shadow::default()
        };
        from_sun.clip_from_world[0] = light_from_world;
        let view = View {
            lighting: Lighting {
                sun_direction: sun,
                ..Lighting::default()
            },
            shadow: Some(from_sun),
            ..View::new(clip_from_view * view_from_world, eye, EXTENT)
        };
        let sun_view = View::new(light_from_world, 100.0 * sun, SHADOW_EXTENT);
        device.begin_command_buffer(cmd, &vk::CommandBufferBeginInfo::default())?;
        let mut frame = crowd.begin_frame(&mut crowd_memory, 0, 0.25)?;
        let views = frame.record_prepare(cmd, &[view, sun_view])?;
        use vk::ImageLayout as Layout;
        let undefined = Layout::UNDEFINED;
        barrier(
            &device,
            cmd,
            &shadow,
            undefined,
            Layout::DEPTH_ATTACHMENT_OPTIMAL,
        );
        begin_rendering(&device, cmd, &[], &shadow);
        frame.record_draw(cmd, views[1], shadow_pass)?;
        device.cmd_end_rendering(cmd);
        let written = Layout::DEPTH_ATTACHMENT_OPTIMAL;
        barrier(
            &device,
            cmd,
            &shadow,
            written,
            Layout::SHADER_READ_ONLY_OPTIMAL,
        );
        for image in [&smooth, &color] {
            barrier(
                &device,
                cmd,
                image,
                undefined,
                Layout::COLOR_ATTACHMENT_OPTIMAL,
            );
        }
        barrier(
            &device,
            cmd,
            &depth,
            undefined,
            Layout::DEPTH_ATTACHMENT_OPTIMAL,
        );
        begin_rendering(&device, cmd, &[colors(&smooth, &color)], &depth);
        frame.record_draw(cmd, views[0], pass)?;
        device.cmd_end_rendering(cmd);
        let drawn = Layout::COLOR_ATTACHMENT_OPTIMAL;
        barrier(&device, cmd, &color, drawn, Layout::TRANSFER_SRC_OPTIMAL);
        copy_out(&device, cmd, &color, readback);
        device.end_command_buffer(cmd)?;
        let commands = [cmd];
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        device.queue_submit(queue, &submit, vk::Fence::null())?;
        device.device_wait_idle()?;
        let pixels = memory
            .mapped_slice()
            .ok_or("readback memory is not mapped")?;
        let file = std::fs::File::create("minimal.png")?;
        let mut picture = png::Encoder::new(file, EXTENT.width, EXTENT.height);
        picture.set_color(png::ColorType::Rgba);
        let mut picture = picture.write_header()?;
        picture.write_image_data(&pixels[..bytes as usize])?;
        picture.finish()?;
        // Unlike println!, this does not panic if the output cannot be written.
        let said = writeln!(std::io::stdout(), "wrote minimal.png");

        crowd.destroy(&mut crowd_memory);
        device.destroy_buffer(readback, None);
        allocator.free(memory)?;
        for image in [smooth, depth, color, shadow] {
            image.destroy(&device, &mut allocator)?;
        }
        device.destroy_command_pool(pool, None);
        drop(allocator);
        device.destroy_device(None);
        instance.destroy_instance(None);
        // It is no error if nobody reads the output any more.
        match said {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// The direction towards the sun, and its view of a box of 8 m around the people.
fn sun() -> (glam::Vec3, glam::Mat4) {
    let sun = glam::vec3(0.5, 0.8, 0.35).normalize();
    let view_from_world = rh::view::look_to_mat4(10.0 * sun, -sun, glam::Vec3::Y);
    let clip_from_view = rh::proj::vulkan::orthographic(-4.0, 4.0, -4.0, 4.0, 0.0, 20.0);
    (sun, clip_from_view * view_from_world)
}

/// An image of the frame, with its view and memory.
struct Attachment {
    format: vk::Format,
    extent: vk::Extent2D,
    image: vk::Image,
    view: vk::ImageView,
    memory: gpu_allocator::vulkan::Allocation,
}

impl Attachment {
    unsafe fn new(
        device: &ash::Device,
        allocator: &mut Allocator,
        format: vk::Format,
        extent: vk::Extent2D,
        samples: vk::SampleCountFlags,
        usage: vk::ImageUsageFlags,
    ) -> Result<Self, Box<dyn Error>> {
        // SAFETY: the caller passes a live device and its allocator, and uses and frees them on one
        // thread.
        unsafe {
            let info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(format)
                .extent(extent.into())
                .mip_levels(1)
                .array_layers(1)
                .samples(samples)
                .usage(usage);
            let image = device.create_image(&info, None)?;
            let memory = allocator.allocate(&AllocationCreateDesc {
                name: "attachment",
                requirements: device.get_image_memory_requirements(image),
                location: MemoryLocation::GpuOnly,
                linear: false,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })?;
            device.bind_image_memory(image, memory.memory(), memory.offset())?;
            let info = vk::ImageViewCreateInfo::default()
                .image(image)
                // A shadow map has layers, so it needs an array view.
                .view_type(vk::ImageViewType::TYPE_2D_ARRAY)
                .format(format)
                .subresource_range(range(format));
            Ok(Self {
                format,
                extent,
                image,
                view: device.create_image_view(&info, None)?,
                memory,
            })
        }
    }

    unsafe fn destroy(
        self,
        device: &ash::Device,
        allocator: &mut Allocator,
    ) -> Result<(), Box<dyn Error>> {
        // SAFETY: the caller has waited for the device, so nothing uses the image any more.
        unsafe {
            device.destroy_image_view(self.view, None);
            device.destroy_image(self.image, None);
        }
        Ok(allocator.free(self.memory)?)
    }
}

fn range(format: vk::Format) -> vk::ImageSubresourceRange {
    let aspect = if format == DEPTH {
        vk::ImageAspectFlags::DEPTH
    } else {
        vk::ImageAspectFlags::COLOR
    };
    vk::ImageSubresourceRange::default()
        .aspect_mask(aspect)
        .level_count(1)
        .layer_count(1)
}

/// The multisampled picture, cleared at the start, and the image that it is resolved into.
fn colors(smooth: &Attachment, color: &Attachment) -> vk::RenderingAttachmentInfo<'static> {
    let sky = vk::ClearColorValue {
        float32: [0.55, 0.65, 0.8, 1.0],
    };
    vk::RenderingAttachmentInfo::default()
        .image_view(smooth.view)
        .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::DONT_CARE)
        .clear_value(vk::ClearValue { color: sky })
        .resolve_mode(vk::ResolveModeFlags::AVERAGE)
        .resolve_image_view(color.view)
        .resolve_image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
}

/// Begins rendering and clears the attachments.
unsafe fn begin_rendering(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    colors: &[vk::RenderingAttachmentInfo<'_>],
    depth: &Attachment,
) {
    let far = vk::ClearDepthStencilValue {
        depth: 1.0,
        stencil: 0,
    };
    let depths = vk::RenderingAttachmentInfo::default()
        .image_view(depth.view)
        .image_layout(vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(vk::ClearValue { depth_stencil: far });
    let rendering = vk::RenderingInfo::default()
        .render_area(depth.extent.into())
        .layer_count(1)
        .color_attachments(colors)
        .depth_attachment(&depths);
    // SAFETY: `cmd` is recording, and the attachments are in these layouts.
    unsafe { device.cmd_begin_rendering(cmd, &rendering) };
}

/// Copies the picture to a buffer that the CPU can read.
unsafe fn copy_out(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    color: &Attachment,
    to: vk::Buffer,
) {
    let layers = vk::ImageSubresourceLayers::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .layer_count(1);
    let region = [vk::BufferImageCopy::default()
        .image_subresource(layers)
        .image_extent(EXTENT.into())];
    let visible = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COPY)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::HOST)
        .dst_access_mask(vk::AccessFlags2::HOST_READ)];
    let info = vk::DependencyInfo::default().memory_barriers(&visible);
    let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
    // SAFETY: `cmd` is recording, and the image is in this layout and as large as the buffer.
    unsafe {
        device.cmd_copy_image_to_buffer(cmd, color.image, layout, to, &region);
        device.cmd_pipeline_barrier2(cmd, &info);
    }
}

/// Transitions an image to a layout, with a full barrier.
///
/// The barrier is between all earlier and all later work. An engine names the stages instead.
unsafe fn barrier(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    attachment: &Attachment,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) {
    let access = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
    let barriers = [vk::ImageMemoryBarrier2::default()
        .image(attachment.image)
        .old_layout(from)
        .new_layout(to)
        .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .src_access_mask(access)
        .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .dst_access_mask(access)
        .subresource_range(range(attachment.format))];
    let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
    // SAFETY: `cmd` is recording, outside of rendering.
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}
