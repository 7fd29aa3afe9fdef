//! Your own renderer over throng's parts, without `Crowd`.
//!
//! - The vertex shader includes `throng.glsl`.
//! - This program poses the palettes and passes them through a `PaletteRing`.
//! - It writes the descriptors of set 0 by hand.
//!
//! Draws one picture and writes it to `own_pipeline.png`.

#[path = "common/picture.rs"]
mod picture;
#[path = "common/say.rs"]
mod say;

use std::collections::BTreeSet;
use std::error::Error;
use std::ops::Range;

use say::{Words, say};
use throng::animator::{Animator, Play};
use throng::ash::{self, vk};
use throng::builtin;
use throng::character::Character;
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Mat4, Vec3, vec3, vec4};
use throng::gpu::{
    Device, GpuInstance, PaletteRing, PaletteRingDesc, PrimitiveDraw, SetBuffers, SetLayout,
    SkinnedMesh, Upload,
};
use throng::gpu_allocator::MemoryLocation;
use throng::import::RawPrimitive;
use throng::mesh::Material;
use throng::palette::{Mat3x4, SkinningMethod};
use throng_standalone::{Begin, Buffer, Context, ContextDesc, Target, TargetDesc};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 480,
};
static VERTEX: &[u8] = include_bytes!("../shaders/spv/example/own.vert.spv");
static FRAGMENT: &[u8] = include_bytes!("../shaders/spv/example/own.frag.spv");
/// Number of frames in flight. This program draws one frame, with frame index 0.
const FRAMES_IN_FLIGHT: u32 = 2;
const FRAME_INDEX: u32 = 0;
/// Number of dancers in the ring.
const COUNT: u32 = 12;
/// Index of the ground in the table of instances, after the dancers.
const GROUND: u32 = COUNT;
/// Direction towards the light of the fragment shader.
const LIGHT: Vec3 = vec3(0.5, 0.7, 0.5);

fn main() -> Result<(), Words> {
    if std::env::args_os().len() > 1 {
        eprintln!("usage: own_pipeline, without arguments");
        std::process::exit(2);
    }
    Ok(picture()?)
}

pub(crate) fn picture() -> Result<(), Box<dyn Error>> {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng own_pipeline",
        ..ContextDesc::default()
    })?;
    let desc = TargetDesc {
        extent: EXTENT,
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc)?;
    // SAFETY: there is one thread, and everything is destroyed at the end, when the device is idle.
    unsafe { run(&mut context, &target)? };
    let rgba = target.read_rgba()?;
    picture::write_rgba("own_pipeline.png", &rgba, EXTENT.width, EXTENT.height)?;
    say("wrote own_pipeline.png");
    let messages = context.messages.clone();
    drop((target, context));
    Ok(messages.check()?)
}

unsafe fn run(context: &mut Context, target: &Target) -> Result<(), Box<dyn Error>> {
    let mannequin = builtin::mannequin()?;
    let entries = mannequin.palette().len() as u32;
    // SAFETY: all handles belong to this context's device, on one thread, and are destroyed when it
    // is idle.
    unsafe {
        // throng's parts: the device in the form that they take, the layout of set 0, a mesh, a
        // palette ring.
        let device = context.gpu_device();
        let allocator = &mut context.allocator();
        let mut set_layout = SetLayout::new(&device)?;
        let mut upload = Upload::default();
        let method = SkinningMethod::Linear;
        let mut mesh = SkinnedMesh::new(&device, allocator, &mut upload, &mannequin, method)?;
        let ring = PaletteRingDesc {
            frames_in_flight: FRAMES_IN_FLIGHT,
            entries: entries * COUNT,
            ..PaletteRingDesc::default()
        };
        let ground = RawPrimitive::cuboid(vec3(60.0, 0.1, 60.0)).translated(vec3(0.0, -0.06, 0.0));
        let ground = ground.build_rigid(Material::flat([0.16, 0.17, 0.24, 1.0]))?;
        let mut ground = SkinnedMesh::new(&device, allocator, &mut upload, &ground, method)?;
        let mut ring = PaletteRing::new(&device, allocator, &ring)?;

        // The engine's parts: the instances, a descriptor set, a pipeline.
        let palettes = (ring.address(FRAME_INDEX), ground.rest_palette());
        let instances = instances(context, entries, palettes)?;
        // Both have few textures, so that one set is enough for each.
        let textures = [mesh.sets()[0], ground.sets()[0]];
        let (pool, sets) = own_sets(&device, &context.device, &set_layout, &textures)?;
        for (set, mesh) in sets.iter().zip([&mesh, &ground]) {
            let textures = mesh.textures(0);
            let content = SetBuffers {
                mesh: Some(mesh.buffer()),
                instances: Some(whole(&instances)),
                // The shader does not even declare these, but Mesa 22's lavapipe looks at them.
                textures: Some(&textures),
                ..SetBuffers::default()
            };
            set_layout.write(&device, *set, &content);
        }
        let meshes = [&mesh, &ground, &mesh];
        let pipelines = Pipelines::new(&context.device, set_layout.handle(), target, meshes)?;

        // Done every frame, after the frame's last work has finished: write poses straight into
        // mapped memory.
        pose(&mannequin, &mut ring)?;
        // The dynamic offsets of the view and the lists, which the shader does not read.
        let offsets = [0, 0];
        context.submit_and_wait(|raw, cmd| {
            upload.record(&device, cmd);
            if ring.record_upload(&device, cmd, FRAME_INDEX, entries * COUNT) {
                palettes_copied(raw, cmd);
            }
            let begin = Begin {
                color: [0.10, 0.12, 0.16, 1.0],
                depth: 0.0,
                ..Begin::default()
            };
            target.begin(raw, cmd, &begin);
            let camera = clip_from_world();
            // The shadows only mark pixels. The ground is drawn darker at the marked pixels.
            let draws = [
                (&mesh, sets[0], camera * onto_ground(), 0..COUNT),
                (&ground, sets[1], camera, GROUND..GROUND + 1),
                (&mesh, sets[0], camera, 0..COUNT),
            ];
            for (kind, (mesh, set, matrix, instances)) in draws.into_iter().enumerate() {
                pipelines.bind(raw, cmd, (set, &offsets), matrix);
                for draw in &mesh.draws()[0] {
                    raw.cmd_bind_index_buffer(cmd, mesh.index_buffer(), 0, draw.index_type);
                    pipelines.draw(raw, cmd, kind, draw, &instances);
                }
            }
            target.end(raw, cmd);
        })?;

        pipelines.destroy(&context.device);
        context.device.destroy_descriptor_pool(pool, None);
        upload.free(&device, &mut context.allocator());
        ring.destroy(&device, &mut context.allocator());
        mesh.destroy(&device, &mut context.allocator());
        ground.destroy(&device, &mut context.allocator());
        set_layout.destroy(&device);
    }
    Ok(())
}

/// A ring of dancers that look outwards, each with its own palette, and the ground.
///
/// The palettes are the addresses of the first dancer's and of the ground's.
fn instances(
    context: &mut Context,
    entries: u32,
    palettes: (vk::DeviceAddress, vk::DeviceAddress),
) -> Result<Buffer, Box<dyn Error>> {
    let instance = |at: u32| {
        let turn = at as f32 / COUNT as f32 * std::f32::consts::TAU;
        let outwards = Affine3A::from_rotation_y(turn);
        let place = outwards * Affine3A::from_translation(vec3(0.0, 0.0, 2.0));
        let hue = |offset: f32| 0.6 + 0.4 * (turn + offset).cos();
        let tint = [hue(0.0), hue(2.1), hue(4.2), 1.0];
        GpuInstance {
            colors: GpuInstance::pack_colors(tint, [1.0; 3], 0),
            palette: palettes.0 + u64::from(at * entries) * size_of::<Mat3x4>() as u64,
            user: at,
            ..GpuInstance::new(&place)
        }
    };
    let dancers = (0..COUNT).map(instance);
    let ground = GpuInstance {
        palette: palettes.1,
        ..GpuInstance::new(&Affine3A::IDENTITY)
    };
    let instances: Vec<GpuInstance> = dancers.chain([ground]).collect();
    let bytes = bytemuck::cast_slice(&instances);
    let mut buffer = Buffer::new(
        context,
        "instances",
        bytes.len() as u64,
        vk::BufferUsageFlags::STORAGE_BUFFER,
        MemoryLocation::CpuToGpu,
    )?;
    buffer.write(0, bytes)?;
    Ok(buffer)
}

fn whole(buffer: &Buffer) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo {
        buffer: buffer.handle(),
        offset: 0,
        range: vk::WHOLE_SIZE,
    }
}

/// Writes the palette of every dancer: the same clip, each a twelfth of it later than the last.
///
/// # Safety
/// The last work of this frame in flight has finished.
unsafe fn pose(character: &Character, ring: &mut PaletteRing) -> Result<(), Box<dyn Error>> {
    let run = character.clip("Run")?;
    let duration_s = character.clips()[run.index()].duration_s();
    let mut animator = Animator::new(character)?;
    let mut runners = Vec::new();
    for at in 0..COUNT {
        let offset_s = duration_s * f64::from(at) / f64::from(COUNT);
        runners.push(animator.add(Play::new(run).offset_s(offset_s))?);
    }
    // A real program does this every frame, with the time: `animator.update(time_s)?`.
    let entries = character.palette().len() as u32;
    // SAFETY: the caller guarantees that the last work of this frame in flight has finished.
    let out = unsafe { ring.writer::<Mat3x4>(FRAME_INDEX, 0, COUNT * entries)? };
    animator.palettes(&runners, out)?;
    Ok(())
}

/// Allocates one set for the dancers and one for the ground.
unsafe fn own_sets(
    device: &Device,
    raw: &ash::Device,
    layout: &SetLayout,
    textures: &[u32],
) -> Result<(vk::DescriptorPool, Vec<vk::DescriptorSet>), Box<dyn Error>> {
    let sizes = layout.pool_sizes(textures);
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(textures.len() as u32)
        .pool_sizes(&sizes);
    // SAFETY: the layout belongs to this live device, and the pool is new.
    unsafe {
        let pool = raw.create_descriptor_pool(&info, None)?;
        Ok((pool, layout.allocate(device, pool, textures)?))
    }
}

/// Makes staged palettes visible to the vertex shader, if the ring is staged.
unsafe fn palettes_copied(device: &ash::Device, cmd: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COPY)
        .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::VERTEX_SHADER)
        .dst_access_mask(vk::AccessFlags2::SHADER_STORAGE_READ)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the caller's command buffer is recording, outside of rendering.
    unsafe { device.cmd_pipeline_barrier2(cmd, &info) };
}

fn clip_from_world() -> Mat4 {
    let aspect = EXTENT.width as f32 / EXTENT.height as f32;
    let view_from_world =
        rh::view::look_at_mat4(vec3(0.0, 2.6, 5.6), vec3(0.0, 0.75, 0.0), Vec3::Y);
    rh::proj::vulkan::perspective_infinite_reverse(0.75, aspect, 0.1) * view_from_world
}

/// Projects everything onto the ground along the light. This is the simplest kind of shadow.
fn onto_ground() -> Mat4 {
    let along = LIGHT / LIGHT.y;
    Mat4::from_cols(
        vec4(1.0, 0.0, 0.0, 0.0),
        vec4(-along.x, 0.0, -along.z, 0.0),
        vec4(0.0, 0.0, 1.0, 0.0),
        vec4(0.0, 0.0, 0.0, 1.0),
    )
}

/// The engine's graphics pipelines.
struct Pipelines {
    layout: vk::PipelineLayout,
    /// For the shadows, the ground and the dancers: one for each variant of their primitives.
    handles: [Vec<(u32, vk::Pipeline)>; 3],
}

/// The fraction of light that the ground keeps in a shadow.
const SHADE: f32 = 0.4;

/// Blend states of the shadows, the ground and the dancers.
///
/// - Shadows write only [`SHADE`] into alpha, which was cleared to 1.
/// - The ground is multiplied by that alpha.
/// - The dancers cover everything.
///
/// Overlapping shadows therefore do not add up.
fn blends() -> [vk::PipelineColorBlendAttachmentState; 3] {
    let rgba = vk::ColorComponentFlags::RGBA;
    let opaque = vk::PipelineColorBlendAttachmentState::default().color_write_mask(rgba);
    let shadow = opaque
        .color_write_mask(vk::ColorComponentFlags::A)
        .blend_enable(true)
        .src_alpha_blend_factor(vk::BlendFactor::CONSTANT_ALPHA);
    let ground = opaque
        .blend_enable(true)
        .src_color_blend_factor(vk::BlendFactor::DST_ALPHA)
        .src_alpha_blend_factor(vk::BlendFactor::ONE);
    [shadow, ground, opaque]
}

/// Size of `Draw` in the vertex shader: a matrix and the primitive's index.
const PUSH_BYTES: u32 = 68;

impl Pipelines {
    unsafe fn new(
        device: &ash::Device,
        set_0: vk::DescriptorSetLayout,
        target: &Target,
        meshes: [&SkinnedMesh; 3],
    ) -> Result<Self, Box<dyn Error>> {
        let sets = [set_0];
        let push = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::VERTEX)
            .size(PUSH_BYTES)];
        let info = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&sets)
            .push_constant_ranges(&push);
        let module = |spirv: &[u8]| -> Result<vk::ShaderModule, Box<dyn Error>> {
            let words = ash::util::read_spv(&mut std::io::Cursor::new(spirv))?;
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            // SAFETY: the caller passes a live device, and the code is valid SPIR-V from the build.
            Ok(unsafe { device.create_shader_module(&info, None)? })
        };
        // SAFETY: the device, the layout and both shader modules are alive during the calls.
        unsafe {
            let layout = device.create_pipeline_layout(&info, None)?;
            let modules = [module(VERTEX)?, module(FRAGMENT)?];
            let mut handles = [const { Vec::new() }; 3];
            let kinds = handles.iter_mut().zip(meshes).zip(blends()).enumerate();
            for (kind, ((handles, mesh), blend)) in kinds {
                // The shadows lie flat on the ground and must not hide it.
                let state = (target, blend, kind != 0);
                let variants: BTreeSet<u32> = mesh.draws()[0].iter().map(|it| it.variant).collect();
                for variant in variants {
                    let made = graphics_pipeline(device, layout, modules, variant, state)?;
                    handles.push((variant, made));
                }
            }
            for module in modules {
                device.destroy_shader_module(module, None);
            }
            Ok(Self { layout, handles })
        }
    }

    /// Binds a set, pushes the matrix, and sets viewport and scissor.
    ///
    /// # Safety
    /// `cmd` is recording, inside the target's rendering.
    unsafe fn bind(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        (set, offsets): (vk::DescriptorSet, &[u32; 2]),
        matrix: Mat4,
    ) {
        let (width, height) = (EXTENT.width as f32, EXTENT.height as f32);
        let matrix = matrix.to_cols_array();
        let viewport = vk::Viewport::default()
            .width(width)
            .height(height)
            .max_depth(1.0);
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the caller guarantees that `cmd` is recording, inside the target's rendering.
        unsafe {
            device.cmd_set_viewport(cmd, 0, &[viewport]);
            device.cmd_set_scissor(cmd, 0, &[EXTENT.into()]);
            device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &[set], offsets);
            let stages = vk::ShaderStageFlags::VERTEX;
            let bytes = bytemuck::cast_slice(&matrix);
            device.cmd_push_constants(cmd, self.layout, stages, 0, bytes);
        }
    }

    /// Draws these instances of a primitive.
    ///
    /// Characters with flipped joints need draws with a `flip_code` as well, which this program
    /// leaves to `Crowd`.
    ///
    /// # Safety
    /// As [`Self::bind`]. It and the index buffer must have been bound before.
    unsafe fn draw(
        &self,
        device: &ash::Device,
        cmd: vk::CommandBuffer,
        kind: usize,
        draw: &PrimitiveDraw,
        instances: &Range<u32>,
    ) {
        let (first, count) = (instances.start, instances.len() as u32);
        let stages = vk::ShaderStageFlags::VERTEX;
        let primitive = draw.primitive.to_ne_bytes();
        let mut handles = self.handles[kind].iter();
        let Some((_, pipeline)) = handles.find(|(variant, _)| *variant == draw.variant) else {
            return;
        };
        // SAFETY: the caller guarantees that `cmd` is recording, inside rendering, with everything
        // bound.
        unsafe {
            device.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::GRAPHICS, *pipeline);
            device.cmd_push_constants(cmd, self.layout, stages, 64, &primitive);
            device.cmd_draw_indexed(cmd, draw.index_count, count, draw.first_index, 0, first);
        }
    }

    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the device is idle, so nothing uses these handles any more.
        unsafe {
            for (_, handle) in self.handles.into_iter().flatten() {
                device.destroy_pipeline(handle, None);
            }
            device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

unsafe fn graphics_pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    [vertex, fragment]: [vk::ShaderModule; 2],
    variant: u32,
    (target, blend, has_depth): (&Target, vk::PipelineColorBlendAttachmentState, bool),
) -> Result<vk::Pipeline, vk::Result> {
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(module)
            .name(c"main")
    };
    // The constant of the vertex shader: what its primitives have.
    let entries = [vk::SpecializationMapEntry::default().size(size_of::<u32>())];
    let variant = variant.to_ne_bytes();
    let constants = vk::SpecializationInfo::default()
        .map_entries(&entries)
        .data(&variant);
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, vertex).specialization_info(&constants),
        stage(vk::ShaderStageFlags::FRAGMENT, fragment),
    ];
    // throng's shaders read vertices from storage buffers, so there is no vertex input.
    let vertex_input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .cull_mode(vk::CullModeFlags::BACK)
        .front_face(vk::FrontFace::COUNTER_CLOCKWISE)
        .line_width(1.0);
    let pass = target.pass_desc();
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(pass.samples);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(has_depth)
        .depth_write_enable(has_depth)
        .depth_compare_op(vk::CompareOp::GREATER_OR_EQUAL);
    let attachments = [blend];
    let blend = vk::PipelineColorBlendStateCreateInfo::default()
        .attachments(&attachments)
        .blend_constants([0.0, 0.0, 0.0, SHADE]);
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
    made.map(|pipelines| pipelines[0])
        .map_err(|(_, error)| error)
}
