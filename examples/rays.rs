//! A crowd that rays meet: a picture by ray queries alone, with shadows and a mirror.
//!
//! Writes `rays.png`. It needs a device with `VK_KHR_ray_query`, such as lavapipe of Mesa 25.

#[path = "common/picture.rs"]
mod picture;
#[path = "common/say.rs"]
mod say;

use std::error::Error;
use std::io::Cursor;

use say::{Words, say};
use throng::ash::{self, vk};
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Mat4, Quat, Vec3, vec3};
use throng::gpu_allocator::MemoryLocation;
use throng::{
    Capacity, Crowd, CrowdDesc, Culling, Detail, Play, RayCrowd, RayDesc, Spawn, Stages, View,
    builtin,
};
use throng_standalone::{Buffer, Context, ContextDesc, Frames};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 960,
    height: 540,
};
const PEOPLE: u32 = 400;
/// Frames until all structures are built.
const WARM_UP: u32 = 24;
static TRACE: &[u8] = include_bytes!("../shaders/spv/example/rays.comp.spv");

fn main() -> Result<(), Words> {
    Ok(picture()?)
}

pub(crate) fn picture() -> Result<(), Box<dyn Error>> {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng rays",
        rays: true,
        ..ContextDesc::default()
    })?;
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let desc = CrowdDesc {
        frames_in_flight: 1,
        stages: Stages::Gpu,
        rays: Some(RayDesc::default()),
        capacity: Capacity {
            instances: PEOPLE,
            ..Capacity::new(1)
        },
        ..CrowdDesc::default()
    };
    let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc)?;
    populate(&mut context, &mut crowd)?;
    let layout = crowd.ray_set_layout().ok_or("the crowd has no rays")?;
    // SAFETY: the layout is the crowd's, which lives on.
    let tracer = unsafe { Tracer::new(&context, layout) }?;
    let mut frames = Frames::new(&context, 1)?;
    for number in 0..=WARM_UP {
        let in_flight = frames.begin()?;
        let (device, cmd) = (context.device.clone(), in_flight.cmd);
        let time_s = f64::from(number) / 60.0;
        crowd.update(time_s)?;
        // SAFETY: the frame in flight was just begun, and the recording is submitted below.
        unsafe {
            let mut frame = crowd.begin_frame(&mut context.allocator(), 0, time_s)?;
            let views = frame.record_prepare(cmd, &[view()])?;
            let rays = frame.record_rays(cmd, views[0])?;
            if number == WARM_UP {
                tracer.record(&device, cmd, &rays);
            }
            in_flight.submit()?;
        }
    }
    context.wait_idle()?;
    let mut rgba = vec![0; (EXTENT.width * EXTENT.height * 4) as usize];
    tracer.pixels.read_mapped(0, &mut rgba)?;
    picture::write_rgba("rays.png", &rgba, EXTENT.width, EXTENT.height)?;
    if let Some(stats) = crowd.ray_stats() {
        say(&format!(
            "{} people: {} structures, {:.1} MB, {} refits a frame",
            stats.people,
            stats.structures,
            stats.bytes as f64 / 1e6,
            stats.refitted
        ));
    }
    say("wrote rays.png");
    drop(frames);
    tracer.destroy(&context);
    // SAFETY: the device is idle.
    unsafe { crowd.destroy(&mut context.allocator()) };
    let messages = context.messages.clone();
    drop(context);
    Ok(messages.check()?)
}

/// The view that rays meet: everybody who is large enough for this eye, in front of it and behind.
fn view() -> View {
    let eye = vec3(2.5, 3.4, 13.0);
    let view_from_world = rh::view::look_at_mat4(eye, vec3(0.0, 1.0, 0.0), Vec3::Y);
    let aspect = EXTENT.width as f32 / EXTENT.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective(0.75, aspect, 0.1, 200.0);
    View {
        culling: Culling::Rays,
        detail: Detail {
            pose_error_px: 4.0,
            ..Detail::default()
        },
        ..View::new(clip_from_view * view_from_world, eye, EXTENT)
    }
}

/// Adds people who walk around on the plaza.
fn populate(context: &mut Context, crowd: &mut Crowd) -> Result<(), Box<dyn Error>> {
    let mannequin = builtin::mannequin()?.character;
    let desc = throng::CharacterDesc::default();
    let character = crowd.add_character(&mut context.allocator(), &mannequin, &desc)?;
    for number in 0..PEOPLE {
        // A spiral of even density, with a clearing in the middle.
        let angle = number as f32 * 2.399_963;
        let radius = 0.62 * (number as f32 + 6.0).sqrt();
        let clip = ["Walk", "Idle", "Walk", "Run", "Wave"][number as usize % 5];
        let hue = |shift: f32| 0.62 + 0.38 * (number as f32 * 1.7 + shift).sin();
        let spawn = Spawn {
            world_from_model: Affine3A::from_rotation_translation(
                Quat::from_rotation_y(-angle),
                vec3(radius * angle.cos(), 0.0, radius * angle.sin() * 0.7 + 1.5),
            ),
            tint: [hue(0.0), hue(2.1), hue(4.2), 1.0],
            play: Play::new(clip).offset_s(f64::from(number) * 0.13),
            ..Spawn::default()
        };
        crowd.spawn(character, &spawn)?;
    }
    Ok(())
}

/// The engine's own: a pipeline that traces a picture.
struct Tracer {
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    pixels: Buffer,
}

/// The push constants of the shader.
#[repr(C)]
#[derive(Clone, Copy)]
struct Push {
    world_from_clip: [[f32; 4]; 4],
    eye: [f32; 4],
    sun: [f32; 4],
    size: [u32; 2],
}

impl Push {
    fn bytes(&self) -> Vec<u8> {
        let rows = self.world_from_clip.iter().chain([&self.eye, &self.sun]);
        let numbers = rows.flatten().flat_map(|number| number.to_ne_bytes());
        let size = self.size.iter().flat_map(|number| number.to_ne_bytes());
        numbers.chain(size).collect()
    }
}

impl Tracer {
    /// # Safety
    /// `hit_layout` is that of the crowd's set, and alive.
    unsafe fn new(
        context: &Context,
        hit_layout: vk::DescriptorSetLayout,
    ) -> Result<Self, Box<dyn Error>> {
        let device = &context.device;
        let kinds = [
            vk::DescriptorType::ACCELERATION_STRUCTURE_KHR,
            vk::DescriptorType::STORAGE_BUFFER,
        ];
        let binding = |(number, kind)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings: Vec<_> = (0..).zip(kinds).map(binding).collect();
        let sizes = kinds.map(|ty| vk::DescriptorPoolSize {
            ty,
            descriptor_count: 1,
        });
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: size_of::<Push>() as u32,
        }];
        let words = ash::util::read_spv(&mut Cursor::new(TRACE))?;
        let bytes = u64::from(EXTENT.width * EXTENT.height) * 4;
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
        let pixels = Buffer::new(context, "pixels", bytes, usage, MemoryLocation::GpuToCpu)?;
        // SAFETY: the device is alive, and so are the layouts; `destroy` destroys what is made.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = device.create_descriptor_set_layout(&info, None)?;
            let layouts = [set_layout, hit_layout];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&layouts)
                .push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None)?;
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = device.create_shader_module(&info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout)];
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            device.destroy_shader_module(module, None);
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts[..1]);
            Ok(Self {
                set: device.allocate_descriptor_sets(&info)?[0],
                pipeline: made.map_err(|(_, error)| error)?[0],
                set_layout,
                layout,
                pool,
                pixels,
            })
        }
    }

    /// Records the picture.
    ///
    /// # Safety
    /// `cmd` is recording, after the rays of this frame, and nothing uses the set.
    unsafe fn record(&self, device: &ash::Device, cmd: vk::CommandBuffer, rays: &RayCrowd) {
        let structures: Vec<_> = rays.tlas.into_iter().collect();
        let mut structures = vk::WriteDescriptorSetAccelerationStructureKHR::default()
            .acceleration_structures(&structures);
        let pixels = [vk::DescriptorBufferInfo {
            buffer: self.pixels.handle(),
            offset: 0,
            range: vk::WHOLE_SIZE,
        }];
        let write = |number, kind| {
            vk::WriteDescriptorSet::default()
                .dst_set(self.set)
                .dst_binding(number)
                .descriptor_count(1)
                .descriptor_type(kind)
        };
        let writes = [
            write(0, vk::DescriptorType::ACCELERATION_STRUCTURE_KHR).push_next(&mut structures),
            write(1, vk::DescriptorType::STORAGE_BUFFER).buffer_info(&pixels),
        ];
        let view = view();
        let world_from_clip: Mat4 = view.eye.clip_from_world.inverse();
        let push = Push {
            world_from_clip: world_from_clip.to_cols_array_2d(),
            eye: view.eye.position.extend(1.0).to_array(),
            sun: vec3(0.45, 0.75, 0.4).normalize().extend(0.0).to_array(),
            size: [EXTENT.width, EXTENT.height],
        };
        let (point, stages) = (
            vk::PipelineBindPoint::COMPUTE,
            vk::ShaderStageFlags::COMPUTE,
        );
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        // SAFETY: by this function's contract.
        unsafe {
            device.update_descriptor_sets(&writes, &[]);
            let sets = [self.set, rays.set];
            device.cmd_bind_pipeline(cmd, point, self.pipeline);
            device.cmd_bind_descriptor_sets(cmd, point, self.layout, 0, &sets, &[]);
            device.cmd_push_constants(cmd, self.layout, stages, 0, &push.bytes());
            let [x, y] = [EXTENT.width, EXTENT.height].map(|pixels| pixels.div_ceil(8));
            device.cmd_dispatch(cmd, x, y, 1);
            device.cmd_pipeline_barrier(
                cmd,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }

    fn destroy(self, context: &Context) {
        let device = &context.device;
        // SAFETY: the device is idle.
        unsafe {
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
        }
    }
}
