//! The engine's own: a compute shader that traces the plaza, and a triangle that shows the result.

use std::io::Cursor;

use throng::ash::{self, vk};
use throng::glam::vec3;
use throng::gpu_allocator::MemoryLocation;
use throng::{RayCrowd, View};
use throng_standalone::{Buffer, Context, FrameCommands};

use super::Result;
use super::plaza::FRAMES_IN_FLIGHT;

static TRACE: &[u8] = include_bytes!("../../shaders/spv/example/rays.comp.spv");
static VERTEX: &[u8] = include_bytes!("../../shaders/spv/example/rays.vert.spv");
static FRAGMENT: &[u8] = include_bytes!("../../shaders/spv/example/rays.frag.spv");
/// Stages that use the set and the push constants.
const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::COMPUTE.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);
/// The types of the bindings: the top-level structure and the pixels.
const TYPES: [vk::DescriptorType; 2] = [
    vk::DescriptorType::ACCELERATION_STRUCTURE_KHR,
    vk::DescriptorType::STORAGE_BUFFER,
];

/// The push constants.
#[repr(C)]
struct Push {
    world_from_clip: [[f32; 4]; 4],
    eye: [f32; 4],
    sun: [f32; 4],
    size: [u32; 2],
    samples: u32,
}

impl Push {
    fn bytes(&self) -> Vec<u8> {
        let rows = self.world_from_clip.iter().chain([&self.eye, &self.sun]);
        let numbers = rows.flatten().map(|number| number.to_bits());
        let words = numbers.chain(self.size).chain([self.samples]);
        words.flat_map(u32::to_ne_bytes).collect()
    }
}

/// The pipelines, and what each frame in flight has of its own.
pub(crate) struct Tracer {
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    trace: vk::Pipeline,
    show: vk::Pipeline,
    pool: vk::DescriptorPool,
    sets: Vec<vk::DescriptorSet>,
    /// The last one is in use.
    pixels: [Vec<Buffer>; FRAMES_IN_FLIGHT],
}

impl Tracer {
    /// Creates pipelines for colour images of this format, without depth.
    ///
    /// # Safety
    /// `hit_layout` is that of the crowd's set, and alive.
    pub(crate) unsafe fn new(
        context: &Context,
        hit_layout: vk::DescriptorSetLayout,
        format: vk::Format,
    ) -> Result<Self> {
        let device = &context.device;
        let count = FRAMES_IN_FLIGHT as u32;
        let binding = |(number, ty)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(ty)
                .descriptor_count(1)
                .stage_flags(STAGES)
        };
        let bindings: Vec<_> = (0..).zip(TYPES).map(binding).collect();
        let sizes = TYPES.map(|ty| vk::DescriptorPoolSize {
            ty,
            descriptor_count: count,
        });
        let push = [vk::PushConstantRange::default()
            .stage_flags(STAGES)
            .size(size_of::<Push>() as u32)];
        // SAFETY: the device is alive, and so are the layouts; `destroy` destroys what is made.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = device.create_descriptor_set_layout(&info, None)?;
            let layouts = [set_layout, hit_layout];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&layouts)
                .push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None)?;
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(count)
                .pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let layouts = [set_layout; FRAMES_IN_FLIGHT];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            let sets = device.allocate_descriptor_sets(&info)?;
            let [trace, show] = pipelines(device, layout, format)?;
            Ok(Self {
                set_layout,
                layout,
                trace,
                show,
                pool,
                sets,
                pixels: Default::default(),
            })
        }
    }

    /// Records the tracing of a view, with `samples` per pixel in each direction.
    ///
    /// # Safety
    /// The frame's commands are outside of rendering, after the rays of this frame.
    pub(crate) unsafe fn record_trace(
        &mut self,
        context: &Context,
        frame: &FrameCommands<'_>,
        (view, rays): (&View, &RayCrowd),
        samples: u32,
    ) -> Result<()> {
        let (device, cmd, index) = (&context.device, frame.cmd, frame.frame_index);
        let vk::Extent2D { width, height } = view.viewport.extent;
        // Four half floats for each pixel.
        let bytes = u64::from(width) * u64::from(height) * 8;
        let pixels = &mut self.pixels[index];
        if pixels.last().is_none_or(|pixels| pixels.size() < bytes) {
            // Dropping a buffer waits for the device, so the smaller ones stay until the end.
            let (usage, bytes) = (
                vk::BufferUsageFlags::STORAGE_BUFFER,
                bytes.next_power_of_two(),
            );
            let place = MemoryLocation::GpuOnly;
            pixels.push(Buffer::new(context, "traced pixels", bytes, usage, place)?);
        }
        let buffers = [vk::DescriptorBufferInfo {
            buffer: pixels.last().map(Buffer::handle).unwrap_or_default(),
            offset: 0,
            range: vk::WHOLE_SIZE,
        }];
        let mut structures = vk::WriteDescriptorSetAccelerationStructureKHR::default()
            .acceleration_structures(rays.tlas.as_slice());
        let write = |number: usize| {
            vk::WriteDescriptorSet::default()
                .dst_set(self.sets[index])
                .dst_binding(number as u32)
                .descriptor_count(1)
                .descriptor_type(TYPES[number])
        };
        let writes = [
            write(0).push_next(&mut structures),
            write(1).buffer_info(&buffers),
        ];
        let push = Push {
            world_from_clip: view.eye.clip_from_world.inverse().to_cols_array_2d(),
            eye: view.eye.position.extend(1.0).to_array(),
            sun: vec3(0.45, 0.75, 0.4).normalize().extend(0.0).to_array(),
            size: [width, height],
            samples,
        };
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_READ)];
        let (traces, shows) = (
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::FRAGMENT_SHADER,
        );
        let (point, sets) = (vk::PipelineBindPoint::COMPUTE, [self.sets[index], rays.set]);
        // SAFETY: by this function's contract. The earlier frame of this index, which used the set,
        // has finished.
        unsafe {
            device.update_descriptor_sets(&writes, &[]);
            device.cmd_bind_pipeline(cmd, point, self.trace);
            device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &sets, &[]);
            device.cmd_push_constants(cmd, self.layout, STAGES, 0, &push.bytes());
            device.cmd_dispatch(cmd, width.div_ceil(8), height.div_ceil(8), 1);
            let none = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(cmd, traces, shows, none, &barrier, &[], &[]);
        }
        Ok(())
    }

    /// Records a triangle that shows what was traced.
    ///
    /// # Safety
    /// The frame's commands are inside of rendering to an image of the view's extent. They have the
    /// push constants of [`Self::record_trace`].
    pub(crate) unsafe fn record_show(&self, device: &ash::Device, frame: &FrameCommands<'_>) {
        let (cmd, sets) = (frame.cmd, [self.sets[frame.frame_index]]);
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: by this function's contract.
        unsafe {
            device.cmd_bind_pipeline(cmd, point, self.show);
            device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &sets, &[]);
            device.cmd_draw(cmd, 3, 1, 0, 0);
        }
    }

    /// Destroys everything. The device must be idle.
    pub(crate) fn destroy(self, context: &Context) {
        let device = &context.device;
        // SAFETY: the device is idle.
        unsafe {
            device.destroy_pipeline(self.trace, None);
            device.destroy_pipeline(self.show, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

/// Creates the pipeline that traces, and the one that draws a triangle over the whole image.
///
/// # Safety
/// The layout is alive and fits the shaders.
unsafe fn pipelines(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    format: vk::Format,
) -> Result<[vk::Pipeline; 2]> {
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let multisample = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let blends = [vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default()
        .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
    let formats = [format];
    let mut rendering =
        vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
    let stage = |stage, spirv| -> Result<_> {
        let words = ash::util::read_spv(&mut Cursor::new(spirv))?;
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the device is alive, and the words are SPIR-V that was validated.
        let module = unsafe { device.create_shader_module(&info, None) }?;
        Ok(vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(module)
            .name(c"main"))
    };
    let tracing = stage(vk::ShaderStageFlags::COMPUTE, TRACE)?;
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, VERTEX)?,
        stage(vk::ShaderStageFlags::FRAGMENT, FRAGMENT)?,
    ];
    let compute = [vk::ComputePipelineCreateInfo::default()
        .stage(tracing)
        .layout(layout)];
    let graphics = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&multisample)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering)];
    let no_cache = vk::PipelineCache::null();
    // SAFETY: the layout fits, by this function's contract. Nothing uses the modules once the
    // pipelines are made.
    unsafe {
        let trace = device.create_compute_pipelines(no_cache, &compute, None);
        let show = device.create_graphics_pipelines(no_cache, &graphics, None);
        for stage in stages.iter().chain([&tracing]) {
            device.destroy_shader_module(stage.module, None);
        }
        let (trace, show) = (trace.map_err(|(_, it)| it)?, show.map_err(|(_, it)| it)?);
        Ok([trace[0], show[0]])
    }
}
