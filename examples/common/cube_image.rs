//! A cube map with levels, which is uploaded once.

use std::error::Error;

use throng::EnvironmentMap;
use throng::ash::vk;
use throng::gpu::{MemoryAllocator, MemoryBlock, MemoryRequest};
use throng::gpu_allocator::MemoryLocation;
use throng_standalone::{Buffer, Context};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

const FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const READ: vk::ImageLayout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
const FACES: u32 = 6;

pub(crate) struct CubeImage {
    image: vk::Image,
    view: vk::ImageView,
    memory: Option<MemoryBlock>,
    levels: u32,
}

impl CubeImage {
    /// Creates it with the texels of `EnvironmentImage::prefiltered`.
    pub(crate) fn new(
        context: &mut Context,
        (edge, levels): (u32, u32),
        texels: &[[u16; 4]],
    ) -> Result<Self> {
        let mut cube = Self {
            image: vk::Image::null(),
            view: vk::ImageView::null(),
            memory: None,
            levels,
        };
        match cube.build(context, edge, texels) {
            Ok(()) => Ok(cube),
            Err(error) => {
                cube.destroy(context);
                Err(error)
            }
        }
    }

    fn build(&mut self, context: &mut Context, edge: u32, texels: &[[u16; 4]]) -> Result<()> {
        let all = vk::ImageSubresourceRange::default()
            .aspect_mask(vk::ImageAspectFlags::COLOR)
            .level_count(self.levels)
            .layer_count(FACES);
        let extent = |level| vk::Extent3D {
            width: edge >> level,
            height: edge >> level,
            depth: 1,
        };
        let info = vk::ImageCreateInfo::default()
            .flags(vk::ImageCreateFlags::CUBE_COMPATIBLE)
            .image_type(vk::ImageType::TYPE_2D)
            .format(FORMAT)
            .extent(extent(0))
            .mip_levels(self.levels)
            .array_layers(FACES)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST);
        // SAFETY: every device samples this format with linear filters, in cube maps of this size.
        unsafe {
            self.image = context.device.create_image(&info, None)?;
            let requirements = context.device.get_image_memory_requirements(self.image);
            let memory = context.allocator().allocate(&MemoryRequest {
                name: "an environment map",
                requirements,
                location: MemoryLocation::GpuOnly,
                linear: false,
                device_address: false,
            });
            let memory = memory.map_err(|error| -> Box<dyn Error> { error })?;
            let (block, offset) = (memory.memory, memory.offset);
            self.memory = Some(memory);
            context
                .device
                .bind_image_memory(self.image, block, offset)?;
            let info = vk::ImageViewCreateInfo::default()
                .image(self.image)
                .view_type(vk::ImageViewType::CUBE)
                .format(FORMAT)
                .subresource_range(all);
            self.view = context.device.create_image_view(&info, None)?;
        }
        let bytes: Vec<u8> = texels
            .iter()
            .flatten()
            .flat_map(|number| number.to_ne_bytes())
            .collect();
        let usage = vk::BufferUsageFlags::TRANSFER_SRC;
        let location = MemoryLocation::CpuToGpu;
        let size = bytes.len() as u64;
        let mut upload = Buffer::new(context, "an environment map", size, usage, location)?;
        upload.write(0, &bytes)?;
        let mut end = 0;
        let regions: Vec<_> = (0..self.levels)
            .map(|level| {
                let start = end;
                end += u64::from((edge >> level).pow(2) * FACES) * 8;
                let to = vk::ImageSubresourceLayers::default()
                    .aspect_mask(vk::ImageAspectFlags::COLOR)
                    .mip_level(level)
                    .layer_count(FACES);
                vk::BufferImageCopy::default()
                    .buffer_offset(start)
                    .image_subresource(to)
                    .image_extent(extent(level))
            })
            .collect();
        let image = self.image;
        let barrier = |before, after, from: (_, _), to: (_, _)| {
            vk::ImageMemoryBarrier2::default()
                .src_stage_mask(from.0)
                .src_access_mask(from.1)
                .dst_stage_mask(to.0)
                .dst_access_mask(to.1)
                .old_layout(before)
                .new_layout(after)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(image)
                .subresource_range(all)
        };
        type Stage = vk::PipelineStageFlags2;
        type Access = vk::AccessFlags2;
        let written = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let copied = (Stage::COPY, Access::TRANSFER_WRITE);
        let first = [barrier(
            vk::ImageLayout::UNDEFINED,
            written,
            (Stage::NONE, Access::NONE),
            copied,
        )];
        let sampled = (Stage::FRAGMENT_SHADER, Access::SHADER_SAMPLED_READ);
        let last = [barrier(written, READ, copied, sampled)];
        // SAFETY: buffer and image are alive until the commands have run, and the regions lie in
        // both.
        context.submit_and_wait(|device, cmd| unsafe {
            let info = vk::DependencyInfo::default().image_memory_barriers(&first);
            device.cmd_pipeline_barrier2(cmd, &info);
            device.cmd_copy_buffer_to_image(cmd, upload.handle(), image, written, &regions);
            let info = vk::DependencyInfo::default().image_memory_barriers(&last);
            device.cmd_pipeline_barrier2(cmd, &info);
        })?;
        Ok(())
    }

    /// The map in the form that crowds sample it.
    pub(crate) fn map(&self) -> EnvironmentMap {
        EnvironmentMap {
            view: self.view,
            sampler: None,
            layout: READ,
            levels: self.levels,
        }
    }

    /// Destroys the map. The device must be idle.
    pub(crate) fn destroy(mut self, context: &mut Context) {
        // SAFETY: nothing uses these handles any more. Null handles are ignored.
        unsafe {
            context.device.destroy_image_view(self.view, None);
            context.device.destroy_image(self.image, None);
        }
        // SAFETY: the memory is the context's, and the image that was bound to it is destroyed.
        let freed = self
            .memory
            .take()
            .map(|memory| unsafe { context.allocator().free(memory) });
        if let Some(Err(error)) = freed {
            log::error!("an environment map: {error}");
        }
    }
}
