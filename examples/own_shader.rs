//! Your own shading: throng deforms and draws, the engine's fragment shader computes the colour.
//!
//! Draws bands of light and a bright rim, and writes them to `own_shader.png`. The person in the
//! middle is selected, and has a golden outline: the shader reads the word that the engine gave it.
//!
//! The shader is `shaders/example/toon.frag`. Any compiler that finds `shaders/` for its includes
//! can compile it to SPIR-V: `glslc --target-env=vulkan1.3 -I shaders shaders/example/toon.frag -o
//! toon.spv`.

#[path = "common/picture.rs"]
mod picture;
#[path = "common/say.rs"]
mod say;
#[path = "common/shadow.rs"]
mod shadow;
#[path = "common/shapes.rs"]
mod shapes;

use std::error::Error;

use say::{Words, say};
use shadow::ShadowImage;
use throng::ash::{self, vk};
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Vec3, vec3};
use throng::gpu::{Device, Features};
use throng::gpu_allocator::MemoryLocation;
use throng::{
    CharacterDesc, Crowd, CrowdDesc, Lighting, MaterialDesc, PassDesc, PassId, Spawn, View, builtin,
};
use throng_standalone::{Begin, Buffer, Context, ContextDesc, Frames, Target, TargetDesc};

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 640,
    height: 480,
};
static TOON: &[u8] = include_bytes!("../shaders/spv/example/toon.frag.spv");
/// Bits of the view masks. The people use this example's shader, the ground the built-in one.
const PEOPLE: u32 = 1;
const GROUND: u32 = 2;
/// The word of the instance that is selected. The shader knows it.
const SELECTED: u32 = 1;
/// `Toon` in the shader: four bands of light (rgb and the lowest brightness), and the rim.
const LIGHT: [[f32; 4]; 5] = [
    [0.16, 0.17, 0.30, -1.0],
    [0.45, 0.42, 0.50, 0.38],
    [0.90, 0.86, 0.80, 0.60],
    [1.15, 1.10, 1.00, 0.93],
    [0.75, 0.85, 1.00, 0.32],
];

fn main() -> Result<(), Words> {
    if std::env::args_os().len() > 1 {
        eprintln!("usage: own_shader, without arguments");
        std::process::exit(2);
    }
    Ok(picture()?)
}

pub(crate) fn picture() -> Result<(), Box<dyn Error>> {
    let mut context = Context::new(&ContextDesc {
        app_name: "throng own_shader",
        ..ContextDesc::default()
    })?;
    let desc = TargetDesc {
        extent: EXTENT,
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    let target = Target::new(&context, &desc)?;
    let (instance, physical_device) = (&context.instance, context.physical_device);
    // On a device with descriptor indexing, all textures of a character can be in one array. To use
    // that, enable it here and compile the shader with -DTHRONG_BINDLESS.
    let enabled = Features::REQUIRED | Features::DYNAMIC_RENDERING;
    // SAFETY: the context outlives the crowd, and has enabled what throng requires.
    let device = unsafe { Device::new(instance, physical_device, &context.device, enabled)? };
    let allocator = &mut context.allocator();
    let mut crowd = Crowd::new(&device, allocator, &CrowdDesc::default())?;

    // The part that an engine already has: its own set for its shader's inputs, here a uniform
    // buffer.
    let mut light = Buffer::new(
        &context,
        "toon",
        size_of_val(&LIGHT) as u64,
        vk::BufferUsageFlags::UNIFORM_BUFFER,
        MemoryLocation::CpuToGpu,
    )?;
    let bytes: Vec<u8> = LIGHT
        .as_flattened()
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    light.write(0, &bytes)?;
    // SAFETY: there is one thread, and everything is destroyed at the end, when the device is idle.
    let own = unsafe { OwnSet::new(&context.device, light.handle())? };

    // The throng part: a pass with that shader and the layout of set 1.
    let spirv = ash::util::read_spv(&mut std::io::Cursor::new(TOON))?;
    let ground = PassDesc {
        reversed_z: true,
        shadow_map: true,
        ..target.pass_desc()
    };
    let people = PassDesc {
        shadow_map: false,
        material: Some(MaterialDesc {
            fragment_spirv: &spirv,
            set_layouts: &[own.layout],
            push_bytes: 0,
        }),
        ..ground.clone()
    };
    let rim = [(-3.0, -2.0), (-3.0, 2.0), (3.0, -2.0), (3.0, 2.0)].map(|(x, z)| vec3(x, 0.0, z));
    let shadow = ShadowImage::new(&mut context, 1024, (&rim, 2.0), &Lighting::default())?;
    // SAFETY: the formats are the target's, and the shadow map outlives the frame.
    let passes = unsafe {
        crowd.set_shadow_map(&shadow.map())?;
        Passes {
            people: crowd.create_pass(&people)?,
            ground: crowd.create_pass(&ground)?,
            shadow: crowd.create_pass(&ShadowImage::pass_desc())?,
        }
    };
    populate(&mut context, &mut crowd)?;
    draw(&mut context, &mut crowd, &target, (passes, &shadow), &own)?;

    let rgba = target.read_rgba()?;
    picture::write_rgba("own_shader.png", &rgba, EXTENT.width, EXTENT.height)?;
    say("wrote own_shader.png");
    // SAFETY: reading back has waited for the device.
    unsafe {
        own.destroy(&context.device);
        crowd.destroy(&mut context.allocator());
    }
    shadow.destroy(&mut context);
    let messages = context.messages.clone();
    drop((light, target, context));
    Ok(messages.check()?)
}

/// The passes: depth for the shadows, then two kinds of shading.
struct Passes {
    people: PassId,
    ground: PassId,
    shadow: PassId,
}

/// Adds three people in different colours, on a ground.
fn populate(context: &mut Context, crowd: &mut Crowd) -> Result<(), Box<dyn Error>> {
    let mannequin = builtin::mannequin()?;
    let character = crowd.add_character(
        &mut context.allocator(),
        &mannequin,
        &CharacterDesc::default(),
    )?;
    for (x, clip, tint) in [
        (-0.9, "Wave", [0.9, 0.45, 0.3, 1.0]),
        (0.0, "Walk", [0.35, 0.7, 0.9, 1.0]),
        (0.9, "Run", [0.55, 0.8, 0.4, 1.0]),
    ] {
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(vec3(x, 0.0, 0.0)),
            play: clip.into(),
            tint,
            user_data: if clip == "Walk" { SELECTED } else { 0 },
            ..Spawn::default()
        };
        let person = crowd.spawn(character, &spawn)?;
        crowd.instance_mut(person)?.set_view_mask(PEOPLE);
    }
    let ground = shapes::prop(vec![shapes::ground(0.0)])?;
    let ground =
        crowd.add_character(&mut context.allocator(), &ground, &CharacterDesc::default())?;
    let warm = Spawn {
        tint: [1.25, 1.0, 0.68, 1.0],
        ..Spawn::default()
    };
    let ground = crowd.spawn(ground, &warm)?;
    crowd.instance_mut(ground)?.set_view_mask(GROUND);
    Ok(())
}

/// Draws one frame.
fn draw(
    context: &mut Context,
    crowd: &mut Crowd,
    target: &Target,
    (passes, shadow): (Passes, &ShadowImage),
    own: &OwnSet,
) -> Result<(), Box<dyn Error>> {
    let eye = vec3(1.2, 1.5, 4.2);
    let view_from_world = rh::view::look_at_mat4(eye, vec3(0.0, 0.9, 0.0), Vec3::Y);
    let aspect = EXTENT.width as f32 / EXTENT.height as f32;
    let clip_from_view = rh::proj::vulkan::perspective_infinite_reverse(0.7, aspect, 0.1);
    let people = View {
        mask: PEOPLE,
        ..View::new(clip_from_view * view_from_world, eye, EXTENT)
    };
    let ground = View {
        mask: GROUND,
        shadow: Some(shadow.shadow()),
        ..people
    };
    let begin = Begin {
        color: [0.93, 0.82, 0.62, 1.0],
        depth: 0.0,
        ..Begin::default()
    };
    let layout = crowd.pass_layout(passes.people)?;
    let mut frames = Frames::new(context, 1)?;
    let in_flight = frames.begin()?;
    let (device, cmd) = (context.device.clone(), in_flight.cmd);
    // SAFETY: the frame in flight was just begun, and the recording is submitted below.
    unsafe {
        crowd.update(0.25)?;
        let mut frame = crowd.begin_frame(&mut context.allocator(), 0, 0.25)?;
        let views = frame.record_prepare(cmd, &[people, ground, shadow.view()])?;
        shadow.begin(&device, cmd);
        frame.record_draw(cmd, views[2], passes.shadow)?;
        shadow.end(&device, cmd);
        target.begin(&device, cmd, &begin);
        // Binds the engine's sets with the pass's layout. throng does not touch them.
        let point = vk::PipelineBindPoint::GRAPHICS;
        device.cmd_bind_descriptor_sets(cmd, point, layout, 1, &[own.set], &[]);
        frame.record_draw(cmd, views[0], passes.people)?;
        frame.record_draw(cmd, views[1], passes.ground)?;
        target.end(&device, cmd);
        in_flight.submit()?;
    }
    context.wait_idle()?;
    Ok(())
}

/// Set 1: one uniform buffer for the fragment shader.
struct OwnSet {
    layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
}

impl OwnSet {
    unsafe fn new(device: &ash::Device, buffer: vk::Buffer) -> Result<Self, vk::Result> {
        let kind = vk::DescriptorType::UNIFORM_BUFFER;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 1,
        }];
        let buffers = [vk::DescriptorBufferInfo {
            buffer,
            offset: 0,
            range: vk::WHOLE_SIZE,
        }];
        // SAFETY: the caller passes a live device and a live uniform buffer of that device.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layout = device.create_descriptor_set_layout(&info, None)?;
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let layouts = [layout];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&info)?[0];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .descriptor_type(kind)
                .buffer_info(&buffers);
            device.update_descriptor_sets(&[write], &[]);
            Ok(Self { layout, pool, set })
        }
    }

    unsafe fn destroy(self, device: &ash::Device) {
        // SAFETY: the device is idle, so nothing uses these handles any more.
        unsafe {
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_descriptor_set_layout(self.layout, None);
        }
    }
}
