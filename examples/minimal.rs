//! The smallest complete integration: what an engine has anyway, and what throng adds to it.
//!
//! Draws three characters into `minimal.png`.

use std::{error::Error, io::Write as _};
use throng::ash::{self, vk};
use throng::glam::{Affine3A, Mat4, Vec3, vec3};
use throng::gpu::{Device, FeatureChain, Features, GpuAllocator};
use throng::gpu_allocator::{MemoryLocation, vulkan::*};
use throng::{Crowd, CrowdDesc, PassDesc, Spawn, View, builtin};
use vk::{AccessFlags2 as Access, PipelineStageFlags2 as Stages};
use vk::{ImageAspectFlags as Aspect, ImageLayout as Layout, ImageUsageFlags as Usage};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const WIDTH: u32 = 640;
const HEIGHT: u32 = 480;
const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
/// The features that throng needs for passes with `vkCmdBeginRendering`.
const FEATURES: Features = Features::REQUIRED.union(Features::DYNAMIC_RENDERING);

pub(crate) fn main() -> Result<()> {
    // SAFETY: there is one thread and one device, and every handle belongs to it.
    let rgba = unsafe { draw()? };
    let file = std::fs::File::create("minimal.png")?;
    let mut encoder = png::Encoder::new(file, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgba);
    encoder.write_header()?.write_image_data(&rgba)?;
    Ok(writeln!(std::io::stdout(), "wrote minimal.png")?)
}

/// Returns the picture as 8-bit RGBA.
unsafe fn draw() -> Result<Vec<u8>> {
    // SAFETY: all handles belong to the device created here, which is idle when they are destroyed.
    unsafe {
        // Every engine has these: instance, device, queue, allocator, command buffer,
        // attachments, and here a buffer to read the picture from. The entry outlives all others.
        let entry = ash::Entry::load()?;
        let info = vk::ApplicationInfo::default().api_version(Device::API_VERSION);
        let info = vk::InstanceCreateInfo::default().application_info(&info);
        let instance = entry.create_instance(&info, None)?;
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
        let usage = Usage::COLOR_ATTACHMENT | Usage::TRANSFER_SRC;
        let color = create_image(&device, &mut allocator, (COLOR, Aspect::COLOR), usage)?;
        let usage = Usage::DEPTH_STENCIL_ATTACHMENT;
        let depth = create_image(&device, &mut allocator, (DEPTH, Aspect::DEPTH), usage)?;
        let info = vk::BufferCreateInfo::default().usage(vk::BufferUsageFlags::TRANSFER_DST);
        let readback = device.create_buffer(&info.size(4 * u64::from(WIDTH * HEIGHT)), None)?;
        let requirements = device.get_buffer_memory_requirements(readback);
        let pixels = allocate(&mut allocator, requirements, MemoryLocation::GpuToCpu)?;
        device.bind_buffer_memory(readback, pixels.memory(), pixels.offset())?;

        // Once: a crowd, a pass with the formats of the attachments, a character, its instances.
        let memory = &mut GpuAllocator::new(&device, &mut allocator);
        let gpu = Device::new(&instance, physical_device, &device, FEATURES)?;
        let mut crowd = Crowd::new(&gpu, memory, &CrowdDesc::default())?;
        let pass = crowd.create_pass(&PassDesc {
            color_formats: vec![COLOR],
            depth_format: DEPTH,
            ..PassDesc::default()
        })?;
        let mannequin = builtin::mannequin()?.character;
        let mannequin = crowd.add_character(memory, &mannequin, &Default::default())?;
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
        let view = View::new(clip_from_world(eye), eye, extent());
        device.begin_command_buffer(cmd, &vk::CommandBufferBeginInfo::default())?;
        crowd.update(time_s)?;
        let mut frame = crowd.begin_frame(memory, frame_index, time_s)?;
        // Outside of rendering: uploads and palettes, with their own barriers.
        let views = frame.record_prepare(cmd, &[view])?;
        let (undefined, attached) = (Layout::UNDEFINED, Layout::ATTACHMENT_OPTIMAL);
        let to_draw = [&color, &depth].map(|image| barrier(image, undefined, attached));
        let barriers = vk::DependencyInfo::default().image_memory_barriers(&to_draw);
        device.cmd_pipeline_barrier2(cmd, &barriers);
        let (mut sky, mut far) = (vk::ClearValue::default(), vk::ClearValue::default());
        sky.color.float32 = [0.55, 0.65, 0.8, 1.0];
        far.depth_stencil.depth = 1.0;
        let clear = vk::RenderingAttachmentInfo::default()
            .image_layout(attached)
            .load_op(vk::AttachmentLoadOp::CLEAR);
        let colors = [clear.image_view(color.view).clear_value(sky)];
        let depths = clear.image_view(depth.view).clear_value(far);
        let rendering = vk::RenderingInfo::default()
            .render_area(extent().into())
            .layer_count(1)
            .color_attachments(&colors)
            .depth_attachment(&depths);
        device.cmd_begin_rendering(cmd, &rendering);
        frame.record_draw(cmd, views[0], pass)?;
        device.cmd_end_rendering(cmd);

        // Instead of presenting, copy the picture into the buffer, and make it visible to the CPU.
        let copied = Layout::TRANSFER_SRC_OPTIMAL;
        let to_copy = [barrier(&color, attached, copied)];
        let barriers = vk::DependencyInfo::default().image_memory_barriers(&to_copy);
        device.cmd_pipeline_barrier2(cmd, &barriers);
        let layer = vk::ImageSubresourceLayers::default().aspect_mask(Aspect::COLOR);
        let region = vk::BufferImageCopy::default()
            .image_subresource(layer.layer_count(1))
            .image_extent(extent().into());
        device.cmd_copy_image_to_buffer(cmd, color.handle, copied, readback, &[region]);
        let to_read = [vk::MemoryBarrier2::default()
            .src_stage_mask(Stages::COPY)
            .src_access_mask(Access::TRANSFER_WRITE)
            .dst_stage_mask(Stages::HOST)
            .dst_access_mask(Access::HOST_READ)];
        let barriers = vk::DependencyInfo::default().memory_barriers(&to_read);
        device.cmd_pipeline_barrier2(cmd, &barriers);
        device.end_command_buffer(cmd)?;
        let cmds = [cmd];
        let submit = vk::SubmitInfo::default().command_buffers(&cmds);
        device.queue_submit(queue, &[submit], vk::Fence::null())?;
        device.device_wait_idle()?;
        let rgba = pixels.mapped_slice().ok_or("memory is not mapped")?;
        let rgba = rgba[..4 * (WIDTH * HEIGHT) as usize].to_vec();

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
        Ok(rgba)
    }
}

type Created = (vk::PhysicalDevice, ash::Device, u32);

/// Creates a device with the features that throng requires, and one queue of the returned family.
unsafe fn create_device(instance: &ash::Instance) -> Result<Created> {
    // SAFETY: the instance is alive, and the device supports the features that are enabled.
    unsafe {
        let mut devices = instance.enumerate_physical_devices()?.into_iter();
        let device = devices.find(|device| Features::supported(instance, *device).is_ok());
        let physical_device = device.ok_or("no device supports Vulkan 1.3")?;
        let needed = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
        let families = instance.get_physical_device_queue_family_properties(physical_device);
        let mut families = (0..).zip(families);
        let family = families.find(|(_, family)| family.queue_flags.contains(needed));
        let (family, _) = family.ok_or("no queue family has graphics and compute")?;
        let queue = vk::DeviceQueueCreateInfo::default().queue_family_index(family);
        let queues = [queue.queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        // This program itself needs these, for its barriers.
        let own = vk::PhysicalDeviceSynchronization2Features::default();
        let mut own = own.synchronization2(true);
        let mut chain = FeatureChain::new(FEATURES);
        let info = chain.add_to(info.push_next(&mut own));
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

/// The camera's matrix. Versions of glam differ in their functions for it.
fn clip_from_world(eye: Vec3) -> Mat4 {
    let back = (eye - vec3(0.0, 0.9, 0.0)).normalize();
    let right = Vec3::Y.cross(back).normalize();
    let up = back.cross(right);
    let axes = [right, up, back].map(|axis| axis.extend(0.0));
    let world_from_view = Mat4::from_cols(axes[0], axes[1], axes[2], eye.extend(1.0));
    let (near_m, far_m, focal) = (0.1, 100.0, 1.0 / 0.35_f32.tan());
    let depth = far_m / (near_m - far_m);
    let clip_from_view = Mat4::from_cols_array_2d(&[
        [focal * HEIGHT as f32 / WIDTH as f32, 0.0, 0.0, 0.0],
        [0.0, -focal, 0.0, 0.0],
        [0.0, 0.0, depth, -1.0],
        [0.0, 0.0, depth * near_m, 0.0],
    ]);
    clip_from_view * world_from_view.inverse()
}

fn extent() -> vk::Extent2D {
    vk::Extent2D::default().width(WIDTH).height(HEIGHT)
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
    (format, aspect): (vk::Format, Aspect),
    usage: Usage,
) -> Result<Image> {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(extent().into())
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(usage);
    let range = vk::ImageSubresourceRange::default().aspect_mask(aspect);
    let range = range.level_count(1).layer_count(1);
    // SAFETY: the device and its allocator are alive, and every device supports these images.
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

/// Changes an image's layout. It waits for everything; an engine names stages and accesses.
fn barrier(image: &Image, from: Layout, to: Layout) -> vk::ImageMemoryBarrier2<'static> {
    let all = Access::MEMORY_READ | Access::MEMORY_WRITE;
    vk::ImageMemoryBarrier2::default()
        .image(image.handle)
        .subresource_range(image.range)
        .src_stage_mask(Stages::ALL_COMMANDS)
        .src_access_mask(all)
        .dst_stage_mask(Stages::ALL_COMMANDS)
        .dst_access_mask(all)
        .old_layout(from)
        .new_layout(to)
}
