//! An engine with a device of its own, which has only the features that it asks for.

use crate::support::{Change, Setup};
use throng::ash::{self, vk};
use throng::gpu::MemoryRequest;
use throng::gpu::{Device, FeatureChain, Features, GpuAllocator, MemoryAllocator, MemoryBlock};
use throng::gpu_allocator::MemoryLocation;
use throng::gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};

pub(crate) struct Engine {
    pub(crate) raw: ash::Device,
    pub(crate) device: Device,
    pub(crate) allocator: GpuAllocator<Box<Allocator>>,
    queue: vk::Queue,
    pool: vk::CommandPool,
    owns_device: bool,
}

/// An image, and its memory.
pub(crate) struct Image {
    pub(crate) handle: vk::Image,
    pub(crate) format: vk::Format,
    aspect: vk::ImageAspectFlags,
    layers: u32,
    extent: vk::Extent2D,
    memory: MemoryBlock,
    views: Vec<vk::ImageView>,
}

/// Calls `use_it` with what a device is created with that has one queue and no features.
pub(crate) fn with_info<T>(setup: &Setup, use_it: impl FnOnce(vk::DeviceCreateInfo<'_>) -> T) -> T {
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(setup.context.queue_family)
        .queue_priorities(&[1.0])];
    use_it(vk::DeviceCreateInfo::default().queue_create_infos(&queues))
}

impl Engine {
    /// A device with these features alone, chained by throng.
    pub(crate) fn new(setup: &Setup, features: Features) -> Self {
        let raw = with_info(setup, |info| unsafe {
            let mut chain = FeatureChain::new(features);
            let (info, instance) = (chain.add_to(info), &setup.context.instance);
            let physical_device = setup.context.physical_device;
            Change::amid_use(|| instance.create_device(physical_device, &info, None)).unwrap()
        });
        Self::with_device(setup, raw, features)
    }

    /// On a device that was made with these features, and is destroyed with the engine.
    pub(crate) fn with_device(setup: &Setup, raw: ash::Device, features: Features) -> Self {
        let (instance, physical_device) = (&setup.context.instance, setup.context.physical_device);
        let device = unsafe { Device::new(instance, physical_device, &raw, features) };
        Self::make(setup, raw, device.unwrap(), true)
    }

    /// On the setup's own device.
    pub(crate) fn of_setup(setup: &Setup) -> Self {
        Self::make(setup, setup.context.device.clone(), setup.device(), false)
    }

    fn make(setup: &Setup, raw: ash::Device, device: Device, owns_device: bool) -> Self {
        let context = &setup.context;
        let desc = AllocatorCreateDesc {
            instance: context.instance.clone(),
            device: raw.clone(),
            physical_device: context.physical_device,
            debug_settings: Default::default(),
            buffer_device_address: true,
            allocation_sizes: Default::default(),
        };
        let allocator = Box::new(Allocator::new(&desc).unwrap());
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family);
        Self {
            device,
            allocator: unsafe { GpuAllocator::new(&raw, allocator) },
            queue: unsafe { raw.get_device_queue(context.queue_family, 0) },
            pool: unsafe { raw.create_command_pool(&info, None) }.unwrap(),
            raw,
            owns_device,
        }
    }

    /// Records, submits, and waits.
    pub(crate) fn run(&mut self, record: impl FnOnce(&mut Self, vk::CommandBuffer)) {
        let flags = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        unsafe {
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.pool)
                .command_buffer_count(1);
            let cmds = self.raw.allocate_command_buffers(&info).unwrap();
            let info = vk::CommandBufferBeginInfo::default().flags(flags);
            self.raw.begin_command_buffer(cmds[0], &info).unwrap();
            record(self, cmds[0]);
            self.raw.end_command_buffer(cmds[0]).unwrap();
            let info = [vk::SubmitInfo::default().command_buffers(&cmds)];
            let submitted = self.raw.queue_submit(self.queue, &info, vk::Fence::null());
            submitted.unwrap();
            self.raw.queue_wait_idle(self.queue).unwrap();
            self.raw.free_command_buffers(self.pool, &cmds);
        }
    }

    /// An attachment that can be copied from.
    pub(crate) fn image(
        &mut self,
        format: vk::Format,
        extent: vk::Extent2D,
        (layers, samples): (u32, vk::SampleCountFlags),
    ) -> Image {
        let is_depth = format == vk::Format::D32_SFLOAT;
        let (usage, aspect) = if is_depth {
            let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
            (usage, vk::ImageAspectFlags::DEPTH)
        } else {
            let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
            (usage, vk::ImageAspectFlags::COLOR)
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent.into())
            .mip_levels(1)
            .array_layers(layers)
            .samples(samples)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::SAMPLED);
        unsafe {
            let handle = self.raw.create_image(&info, None).unwrap();
            let memory = self.allocator.allocate(&MemoryRequest {
                name: "image",
                requirements: self.raw.get_image_memory_requirements(handle),
                location: MemoryLocation::GpuOnly,
                linear: false,
                device_address: false,
            });
            let memory = memory.unwrap();
            let bound = self
                .raw
                .bind_image_memory(handle, memory.memory, memory.offset);
            bound.unwrap();
            Image {
                handle,
                format,
                aspect,
                layers,
                extent,
                memory,
                views: Vec::new(),
            }
        }
    }

    /// A view of some layers of an image, which lives as long as that.
    pub(crate) fn view(&self, image: &mut Image, first: u32, count: u32) -> vk::ImageView {
        let view_type = match count {
            1 => vk::ImageViewType::TYPE_2D,
            _ => vk::ImageViewType::TYPE_2D_ARRAY,
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image.handle)
            .view_type(view_type)
            .format(image.format)
            .subresource_range(image.range(first, count));
        let view = unsafe { self.raw.create_image_view(&info, None) }.unwrap();
        image.views.push(view);
        view
    }

    /// Records a transition of all layers from one layout to another, after and before everything.
    pub(crate) fn transition(
        &self,
        cmd: vk::CommandBuffer,
        image: &Image,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) {
        let barriers = [vk::ImageMemoryBarrier::default()
            .image(image.handle)
            .subresource_range(image.range(0, image.layers))
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)];
        let (all, none) = (
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::DependencyFlags::empty(),
        );
        unsafe {
            self.raw
                .cmd_pipeline_barrier(cmd, all, all, none, &[], &[], &barriers);
        }
    }

    /// The texels of a layer of an image in `TRANSFER_SRC_OPTIMAL`.
    pub(crate) fn read(&mut self, image: &Image, layer: u32) -> Vec<u8> {
        let texel_bytes = match image.format {
            vk::Format::R32G32_SFLOAT => 8,
            _ => 4,
        };
        let bytes = texel_bytes * u64::from(image.extent.width) * u64::from(image.extent.height);
        let info = vk::BufferCreateInfo::default()
            .usage(vk::BufferUsageFlags::TRANSFER_DST)
            .size(bytes);
        let buffer = unsafe { self.raw.create_buffer(&info, None) }.unwrap();
        let memory = self.allocator.allocate(&MemoryRequest {
            name: "read back",
            requirements: unsafe { self.raw.get_buffer_memory_requirements(buffer) },
            location: MemoryLocation::GpuToCpu,
            linear: true,
            device_address: false,
        });
        let memory = memory.unwrap();
        let bound = unsafe {
            self.raw
                .bind_buffer_memory(buffer, memory.memory, memory.offset)
        };
        bound.unwrap();
        self.run(|engine, cmd| unsafe {
            let region = vk::BufferImageCopy::default()
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: image.aspect,
                    mip_level: 0,
                    base_array_layer: layer,
                    layer_count: 1,
                })
                .image_extent(image.extent.into());
            let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
            engine
                .raw
                .cmd_copy_image_to_buffer(cmd, image.handle, layout, buffer, &[region]);
            let (copy, host) = (
                vk::PipelineStageFlags::TRANSFER,
                vk::PipelineStageFlags::HOST,
            );
            let barrier = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            let none = vk::DependencyFlags::empty();
            engine
                .raw
                .cmd_pipeline_barrier(cmd, copy, host, none, &[barrier], &[], &[]);
        });
        unsafe {
            let mapped = memory.mapped.unwrap().as_ptr().cast::<u8>();
            let read = std::slice::from_raw_parts(mapped, bytes as usize).to_vec();
            self.raw.destroy_buffer(buffer, None);
            self.allocator.free(memory).unwrap();
            read
        }
    }

    pub(crate) fn destroy_image(&mut self, image: Image) {
        unsafe {
            for view in image.views {
                self.raw.destroy_image_view(view, None);
            }
            self.raw.destroy_image(image.handle, None);
            self.allocator.free(image.memory).unwrap();
        }
    }

    pub(crate) fn destroy(self) {
        let report = self.allocator.generate_report();
        assert!(report.allocations.is_empty(), "{:?}", report.allocations);
        unsafe {
            self.raw.destroy_command_pool(self.pool, None);
            drop(self.allocator);
            if self.owns_device {
                Change::amid_use(|| self.raw.destroy_device(None));
            }
        }
    }
}

impl Image {
    fn range(&self, first: u32, count: u32) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: self.aspect,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: first,
            layer_count: count,
        }
    }
}
