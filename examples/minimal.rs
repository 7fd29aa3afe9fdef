//! The integration in the fewest honest lines: an instance and a device of one's own, throng on
//! top, one picture in `minimal.png`.

use std::error::Error;
use throng::ash::vk;
use throng::glam::camera::rh;
use throng::gpu::Enabled;
use throng::gpu_allocator::MemoryLocation;
use throng::gpu_allocator::vulkan::{
    AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use throng::{
    Crowd, CrowdDesc, Gpu, PassDesc, Spawn, View, ash, builtin, glam, gpu, gpu_allocator,
};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 480,
};
const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: one thread, one device, everything destroyed in reverse order at the end.
    unsafe { run() }
}

unsafe fn run() -> Result<(), Box<dyn Error>> {
    // SAFETY: the caller's word.
    unsafe {
        // What an engine has anyway: instance, device, queue, allocator, command buffer,
        // attachments.
        let entry = ash::Entry::load()?;
        let application = vk::ApplicationInfo::default().api_version(gpu::required().api_version);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = entry.create_instance(&info, None)?;
        let fits = |device: &vk::PhysicalDevice| gpu::check(&instance, *device).missing.is_empty();
        let physical_device = instance
            .enumerate_physical_devices()?
            .into_iter()
            .find(fits)
            .ok_or("no Vulkan 1.3 device")?;
        let family = instance
            .get_physical_device_queue_family_properties(physical_device)
            .iter()
            .position(|f| {
                f.queue_flags
                    .contains(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)
            })
            .ok_or("no graphics queue")? as u32;
        let mut features = gpu::required().vulkan_1_3();
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .push_next(&mut features);
        let device = instance.create_device(physical_device, &info, None)?;
        let queue = device.get_device_queue(family, 0);
        let mut allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device,
            debug_settings: Default::default(),
            buffer_device_address: false,
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
        let color_usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let color = Attachment::new(&device, &mut allocator, COLOR, color_usage)?;
        let depth_usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        let depth = Attachment::new(&device, &mut allocator, DEPTH, depth_usage)?;
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

        // throng: a character, a crowd, a pass, three instances.
        let mannequin = builtin::mannequin()?;
        let gpu = Gpu {
            instance: &instance,
            physical_device,
            device: &device,
            enabled: &Enabled::NONE,
        };
        let mut crowd = Crowd::new(&gpu, &mut allocator, &CrowdDesc::default())?;
        let formats = PassDesc {
            color_formats: &[COLOR],
            depth_format: DEPTH,
            ..PassDesc::default()
        };
        let pass = crowd.create_pass(&formats)?;
        let character = crowd.add_character(&mut allocator, &mannequin)?;
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

        // One frame. An engine would have waited for the fence of slot 0 before.
        let eye = glam::vec3(1.2, 1.5, 4.2);
        let view_from_world = rh::view::look_at_mat4(eye, glam::vec3(0.0, 0.9, 0.0), glam::Vec3::Y);
        let aspect = EXTENT.width as f32 / EXTENT.height as f32;
        let clip_from_view = rh::proj::vulkan::perspective(0.7, aspect, 0.1, 100.0);
        let view = View::new(clip_from_view * view_from_world, eye, EXTENT);
        device.begin_command_buffer(cmd, &vk::CommandBufferBeginInfo::default())?;
        let mut frame = crowd.begin_frame(&mut allocator, 0, 0.25)?;
        let views = frame.record_prepare(cmd, &[view])?;
        begin_rendering(&device, cmd, &color, &depth);
        frame.record_draw(cmd, views[0], pass)?;
        device.cmd_end_rendering(cmd);
        copy_out(&device, cmd, &color, readback);
        device.end_command_buffer(cmd)?;
        let commands = [cmd];
        let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
        device.queue_submit(queue, &submit, vk::Fence::null())?;
        device.device_wait_idle()?;
        let pixels = memory
            .mapped_slice()
            .ok_or("readback memory is not mapped")?;
        image::save_buffer(
            "minimal.png",
            &pixels[..bytes as usize],
            EXTENT.width,
            EXTENT.height,
            image::ColorType::Rgba8,
        )?;
        println!("wrote minimal.png");

        crowd.destroy(&mut allocator);
        device.destroy_buffer(readback, None);
        allocator.free(memory)?;
        color.destroy(&device, &mut allocator)?;
        depth.destroy(&device, &mut allocator)?;
        device.destroy_command_pool(pool, None);
        drop(allocator);
        device.destroy_device(None);
        instance.destroy_instance(None);
    }
    Ok(())
}

/// An image of the frame, with its view and memory.
struct Attachment {
    image: vk::Image,
    view: vk::ImageView,
    memory: gpu_allocator::vulkan::Allocation,
}

impl Attachment {
    unsafe fn new(
        device: &ash::Device,
        allocator: &mut Allocator,
        format: vk::Format,
        usage: vk::ImageUsageFlags,
    ) -> Result<Self, Box<dyn Error>> {
        // SAFETY: the caller's word.
        unsafe {
            let info = vk::ImageCreateInfo::default()
                .image_type(vk::ImageType::TYPE_2D)
                .format(format)
                .extent(EXTENT.into())
                .mip_levels(1)
                .array_layers(1)
                .samples(vk::SampleCountFlags::TYPE_1)
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
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(range(format));
            Ok(Self {
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
        // SAFETY: the caller's word.
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

/// Clears both attachments and opens the rendering.
unsafe fn begin_rendering(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    color: &Attachment,
    depth: &Attachment,
) {
    use vk::{AccessFlags2 as Access, ImageLayout as Layout, PipelineStageFlags2 as Stage};
    let draws = (
        Stage::COLOR_ATTACHMENT_OUTPUT,
        Access::COLOR_ATTACHMENT_WRITE,
    );
    let tests = (
        Stage::EARLY_FRAGMENT_TESTS | Stage::LATE_FRAGMENT_TESTS,
        Access::DEPTH_STENCIL_ATTACHMENT_READ | Access::DEPTH_STENCIL_ATTACHMENT_WRITE,
    );
    let color_value = vk::ClearColorValue {
        float32: [0.55, 0.65, 0.8, 1.0],
    };
    let colors = [vk::RenderingAttachmentInfo::default()
        .image_view(color.view)
        .image_layout(Layout::COLOR_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(vk::ClearValue { color: color_value })];
    let depth_value = vk::ClearDepthStencilValue {
        depth: 1.0,
        stencil: 0,
    };
    let depths = vk::RenderingAttachmentInfo::default()
        .image_view(depth.view)
        .image_layout(Layout::DEPTH_ATTACHMENT_OPTIMAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::DONT_CARE)
        .clear_value(vk::ClearValue {
            depth_stencil: depth_value,
        });
    let area = vk::Rect2D::default().extent(EXTENT);
    let rendering = vk::RenderingInfo::default()
        .render_area(area)
        .layer_count(1)
        .color_attachments(&colors)
        .depth_attachment(&depths);
    // SAFETY: the caller's word.
    unsafe {
        transition(
            device,
            cmd,
            color,
            COLOR,
            Layout::UNDEFINED,
            Layout::COLOR_ATTACHMENT_OPTIMAL,
            draws,
            draws,
        );
        transition(
            device,
            cmd,
            depth,
            DEPTH,
            Layout::UNDEFINED,
            Layout::DEPTH_ATTACHMENT_OPTIMAL,
            tests,
            tests,
        );
        device.cmd_begin_rendering(cmd, &rendering);
    }
}

/// Copies the picture to where the CPU can read it.
unsafe fn copy_out(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    color: &Attachment,
    to: vk::Buffer,
) {
    use vk::{AccessFlags2 as Access, ImageLayout as Layout, PipelineStageFlags2 as Stage};
    let drawn = (
        Stage::COLOR_ATTACHMENT_OUTPUT,
        Access::COLOR_ATTACHMENT_WRITE,
    );
    let copied = (Stage::COPY, Access::TRANSFER_READ);
    let layers = vk::ImageSubresourceLayers::default()
        .aspect_mask(vk::ImageAspectFlags::COLOR)
        .layer_count(1);
    let region = [vk::BufferImageCopy::default()
        .image_subresource(layers)
        .image_extent(EXTENT.into())];
    let (from, layout) = (
        Layout::COLOR_ATTACHMENT_OPTIMAL,
        Layout::TRANSFER_SRC_OPTIMAL,
    );
    let visible = [vk::MemoryBarrier2::default()
        .src_stage_mask(Stage::COPY)
        .src_access_mask(Access::TRANSFER_WRITE)
        .dst_stage_mask(Stage::HOST)
        .dst_access_mask(Access::HOST_READ)];
    // SAFETY: the caller's word.
    unsafe {
        transition(device, cmd, color, COLOR, from, layout, drawn, copied);
        device.cmd_copy_image_to_buffer(cmd, color.image, layout, to, &region);
        device.cmd_pipeline_barrier2(
            cmd,
            &vk::DependencyInfo::default().memory_barriers(&visible),
        );
    }
}

type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

#[expect(clippy::too_many_arguments, reason = "it is the whole of a barrier")]
unsafe fn transition(
    device: &ash::Device,
    cmd: vk::CommandBuffer,
    attachment: &Attachment,
    format: vk::Format,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
    before: Scope,
    after: Scope,
) {
    let barriers = [vk::ImageMemoryBarrier2::default()
        .image(attachment.image)
        .old_layout(from)
        .new_layout(to)
        .src_stage_mask(before.0)
        .src_access_mask(before.1)
        .dst_stage_mask(after.0)
        .dst_access_mask(after.1)
        .subresource_range(range(format))];
    // SAFETY: the caller's word.
    unsafe {
        device.cmd_pipeline_barrier2(
            cmd,
            &vk::DependencyInfo::default().image_memory_barriers(&barriers),
        )
    };
}
