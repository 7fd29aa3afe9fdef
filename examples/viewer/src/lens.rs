//! Pipelines of the viewer's own, which draw a crowd's frame as normals, weights or influences.

use std::io::Cursor;
use std::mem::size_of_val;

use throng::ash::{self, vk};
use throng::character::Character;
use throng::gpu_allocator::MemoryLocation;
use throng::{CharacterId, Crowd, Frame, PassDesc, Stats, ViewId};
use throng_standalone::{Buffer, Context};

use super::Result;
use super::args::Look;

static VERTEX: &[u8] = include_bytes!("../../../shaders/spv/example/lens.vert.spv");
static FRAGMENT: &[u8] = include_bytes!("../../../shaders/spv/example/lens.frag.spv");
/// The fragment shader of [`Look::Levels`], which the crowd's own passes run.
pub(crate) static LEVELS: &[u8] = include_bytes!("../../../shaders/spv/example/levels.frag.spv");
const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw() | vk::ShaderStageFlags::FRAGMENT.as_raw(),
);

/// SPIR-V of both stages.
#[derive(Clone, Debug)]
pub(crate) struct Modules {
    pub(crate) vertex: Vec<u32>,
    pub(crate) fragment: Vec<u32>,
}

impl Modules {
    /// The modules that were compiled with the example.
    pub(crate) fn built() -> Result<Self> {
        Ok(Self {
            vertex: ash::util::read_spv(&mut Cursor::new(VERTEX))?,
            fragment: ash::util::read_spv(&mut Cursor::new(FRAGMENT))?,
        })
    }
}

/// The pipeline, and set 1 with the joint of each palette entry of the character.
pub(crate) struct Lens {
    set_layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    joints: Buffer,
}

impl Lens {
    /// Creates the pipeline for a character and for attachments of the formats of `pass`.
    pub(crate) fn new(
        context: &mut Context,
        crowd: &Crowd,
        character: &Character,
        pass: &PassDesc<'_>,
        modules: &Modules,
    ) -> Result<Self> {
        let entries = character.palette().iter();
        let joints: Vec<u32> = entries.map(|entry| entry.joint.0.into()).collect();
        // A buffer cannot be empty.
        let joints = if joints.is_empty() { vec![0] } else { joints };
        let mut buffer = Buffer::new(
            context,
            "joints of palette entries",
            size_of_val(&joints[..]) as u64,
            vk::BufferUsageFlags::STORAGE_BUFFER,
            MemoryLocation::CpuToGpu,
        )?;
        let bytes: Vec<u8> = joints
            .iter()
            .flat_map(|joint| joint.to_ne_bytes())
            .collect();
        buffer.write(0, &bytes)?;
        let mut lens = Self {
            set_layout: vk::DescriptorSetLayout::null(),
            pool: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
            joints: buffer,
        };
        let set_0 = crowd.set_layout().handle();
        // SAFETY: all handles belong to this live device.
        let built = unsafe { lens.build(&context.device, set_0, pass, modules) };
        match built {
            Ok(()) => Ok(lens),
            Err(error) => {
                lens.destroy(context);
                Err(error.into())
            }
        }
    }

    unsafe fn build(
        &mut self,
        device: &ash::Device,
        set_0: vk::DescriptorSetLayout,
        pass: &PassDesc<'_>,
        modules: &Modules,
    ) -> Result<(), vk::Result> {
        let kind = vk::DescriptorType::STORAGE_BUFFER;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::VERTEX)];
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 1,
        }];
        let buffers = [vk::DescriptorBufferInfo {
            buffer: self.joints.handle(),
            offset: 0,
            range: vk::WHOLE_SIZE,
        }];
        let push = [vk::PushConstantRange::default()
            .stage_flags(STAGES)
            .size(16)];
        // SAFETY: the caller passes a live device and a live layout, and every other handle was
        // created above it.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            self.set_layout = device.create_descriptor_set_layout(&info, None)?;
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            self.pool = device.create_descriptor_pool(&info, None)?;
            let layouts = [self.set_layout];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&layouts);
            self.set = device.allocate_descriptor_sets(&info)?[0];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(self.set)
                .descriptor_type(kind)
                .buffer_info(&buffers);
            device.update_descriptor_sets(&[write], &[]);
            let layouts = [set_0, self.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&layouts)
                .push_constant_ranges(&push);
            self.layout = device.create_pipeline_layout(&info, None)?;
            self.pipeline = pipeline(device, self.layout, pass, modules)?;
        }
        Ok(())
    }

    /// Draws the instances of a character that a view shows, all at one level of detail. `joint` is
    /// for [`Look::Weights`].
    ///
    /// Vertices follow all of their joints, also at levels where the crowd's own passes let each
    /// follow one. Adds what it drew to `stats`.
    ///
    /// # Safety
    /// `cmd` is recording, inside rendering with the formats of [`Self::new`]. The frame is
    /// prepared with the view.
    pub(crate) unsafe fn record(
        &self,
        (device, cmd): (&ash::Device, vk::CommandBuffer),
        (frame, view): (&Frame<'_>, ViewId),
        (character, level): (CharacterId, u32),
        (look, joint): (Look, u32),
        stats: &mut Stats,
    ) -> throng::Result<()> {
        let mode: u32 = match look {
            Look::Normals => 0,
            Look::Weights => 1,
            Look::Shaded | Look::Influences | Look::Levels => 2,
        };
        let point = vk::PipelineBindPoint::GRAPHICS;
        let mesh = frame.mesh(character)?;
        // SAFETY: the caller guarantees that `cmd` is recording, inside rendering.
        unsafe { device.cmd_bind_pipeline(cmd, point, self.pipeline) };
        let levels = mesh.draws();
        for draw in &levels[(level as usize).min(levels.len() - 1)] {
            let bound = frame.draw_bindings(view, character, draw.material)?;
            let (sets, offsets) = ([bound.set, self.set], bound.dynamic_offsets);
            let flip = draw.flip_code.unwrap_or(u32::MAX);
            let push = [draw.primitive, flip, joint, mode];
            let push: Vec<u8> = push.iter().flat_map(|word| word.to_ne_bytes()).collect();
            // SAFETY: as above. The sets belong to this frame and to this pipeline's layout.
            unsafe {
                device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &sets, &offsets);
                device.cmd_push_constants(cmd, self.layout, STAGES, 0, &push);
                device.cmd_bind_index_buffer(cmd, mesh.index_buffer(), 0, draw.index_type);
            }
            for flipped in [false, true] {
                for range in frame.draw_ranges(view, character, draw.primitive, flipped)? {
                    let (first, count) = (range.start, range.len() as u32);
                    stats.draws += 1;
                    stats.triangles += u64::from(draw.index_count / 3) * u64::from(count);
                    // SAFETY: as above. The range is within the visible list.
                    unsafe {
                        device.cmd_draw_indexed(
                            cmd,
                            draw.index_count,
                            count,
                            draw.first_index,
                            0,
                            first,
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// Destroys everything. The device must be idle.
    pub(crate) fn destroy(self, context: &mut Context) {
        // SAFETY: the device is idle. Null handles are ignored.
        unsafe {
            context.device.destroy_pipeline(self.pipeline, None);
            context.device.destroy_pipeline_layout(self.layout, None);
            context.device.destroy_descriptor_pool(self.pool, None);
            context
                .device
                .destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}

unsafe fn pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    pass: &PassDesc<'_>,
    modules: &Modules,
) -> Result<vk::Pipeline, vk::Result> {
    // SAFETY: the caller passes a live device and a layout that the shaders fit.
    let module = |words: &[u32]| unsafe {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        device.create_shader_module(&info, None)
    };
    let vertex = module(&modules.vertex)?;
    let fragment = match module(&modules.fragment) {
        Ok(fragment) => fragment,
        Err(error) => {
            // SAFETY: nothing uses the module.
            unsafe { device.destroy_shader_module(vertex, None) };
            return Err(error);
        }
    };
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(module)
            .name(c"main")
    };
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, vertex),
        stage(vk::ShaderStageFlags::FRAGMENT, fragment),
    ];
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    // Both sides are drawn, so flipped instances need no pipeline of their own.
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .cull_mode(vk::CullModeFlags::NONE)
        .line_width(1.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(pass.samples);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::GREATER_OR_EQUAL);
    let attachments = [vk::PipelineColorBlendAttachmentState::default()
        .color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default()
        .dynamic_states(&[vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR]);
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&pass.color_formats)
        .depth_attachment_format(pass.depth_format);
    let info = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&vertex_input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering)];
    // SAFETY: everything that `info` points to lives until the call returns.
    let made = unsafe { device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None) };
    // SAFETY: the pipeline keeps no reference to its modules.
    unsafe {
        device.destroy_shader_module(vertex, None);
        device.destroy_shader_module(fragment, None);
    }
    made.map(|pipelines| pipelines[0])
        .map_err(|(_, error)| error)
}
