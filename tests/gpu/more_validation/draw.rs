//! Draws the scene: every format in every stage, by every kind of pass.

use super::scene::{EXTENT, FORMATS, dancer};
use super::shadow::ShadowImage;
use crate::reference::handles::Handles;
use crate::support::frames::{FramesInFlight, NORMAL_Z};
use crate::support::probe::spirv;
use crate::support::{SMALL, Setup, described, view};
use std::ops::Range;
use throng::ash::{self, vk};
use throng::glam::{Affine3A, Vec3};
use throng::gpu::Features;
use throng::gpu_allocator::MemoryLocation;
use throng::import::RawPrimitive;
use throng::mesh::Material;
use throng::{
    Capacity, CharacterDesc, Crowd, InstanceId, MaterialDesc, PassDesc, PassId, PassKind,
    SkinningStage, Spawn, View,
};
use throng_standalone::{Buffer, Context, Target, TargetDesc};

const FRAMES: u32 = 3;
const FRAMES_IN_FLIGHT: u32 = 2;
const CAPACITY: Capacity = Capacity {
    skinned_words: 4096,
    cpu_skinned_words: 4096,
    histories: 1,
    ..SMALL
};
/// Drivers compile the shaders of GPU-assisted validation for minutes.
const PATIENCE_S: u64 = 1200;
const SHADOW_EDGE: u32 = 64;
const MOTION: vk::Format = vk::Format::R16G16_SFLOAT;

/// A pass of each kind. Two of them continue after a depth pass.
struct Passes {
    shadow: PassId,
    depth: PassId,
    lit: PassId,
    own: PassId,
    motion: PassId,
}

/// Draws some frames, and changes instances between them.
///
/// Returns the range of messages that frames gave which upload nothing.
pub(super) fn draw(setup: &mut Setup) -> Range<usize> {
    let info = vk::PipelineCacheCreateInfo::default();
    let cache = unsafe { setup.context.device.create_pipeline_cache(&info, None) }.unwrap();
    let desc = setup.crowd_desc(FRAMES_IN_FLIGHT, CAPACITY);
    let device = unsafe { setup.device().with_pipeline_cache(cache) };
    let mut crowd = Crowd::new(&device, &mut setup.context.allocator(), &desc).unwrap();
    let context = &mut setup.context;
    let messages = context.messages.clone();
    let mut first = 0;
    let [color, motion] = [TargetDesc::default().color_format, MOTION].map(|color_format| {
        let desc = TargetDesc {
            extent: EXTENT,
            color_format,
            ..TargetDesc::default()
        };
        Target::new(context, &desc).unwrap()
    });
    let own = OwnSet::new(context);
    let (rim, height_m) = ([Vec3::splat(-9.0), Vec3::new(9.0, -9.0, 9.0)], 18.0);
    let camera = camera();
    let shadow = ShadowImage::new(context, SHADOW_EDGE, (&rim, height_m), &camera.lighting);
    let shadow = shadow.unwrap();
    unsafe { crowd.set_shadow_map(&shadow.map()) }.unwrap();
    let bindless = device.enabled().contains(Features::DESCRIPTOR_INDEXING);
    let passes = Passes::new(&mut crowd, (&color, &motion), own.layout, bindless);
    let mut frames_in_flight = FramesInFlight::new(context, FRAMES_IN_FLIGHT);
    frames_in_flight.patience_s = PATIENCE_S;
    let mut instances = populate(context, &mut crowd);
    let views = [
        View {
            history: Some(0),
            shadow: Some(shadow.shadow()),
            ..camera
        },
        shadow.view(),
    ];
    for number in 0..FRAMES {
        let frame_index = number % FRAMES_IN_FLIGHT;
        let cmd = frames_in_flight.begin(context, frame_index);
        let time_s = 0.2 * f64::from(number);
        let device = context.device.clone();
        unsafe {
            crowd.update(time_s).unwrap();
            let begun = crowd.begin_frame(&mut context.allocator(), frame_index, time_s);
            let mut frame = begun.unwrap();
            let views = frame.record_prepare(cmd, &views).unwrap();
            shadow.begin(&device, cmd);
            frame.record_draw(cmd, views[1], passes.shadow).unwrap();
            shadow.end(&device, cmd);
            color.begin(&device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, views[0], passes.depth).unwrap();
            frame.record_draw(cmd, views[0], passes.lit).unwrap();
            own.bind(&device, cmd, frame.pass_layout(passes.own).unwrap());
            frame.record_draw(cmd, views[0], passes.own).unwrap();
            color.end(&device, cmd);
            motion.begin(&device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, views[0], passes.motion).unwrap();
            motion.end(&device, cmd);
        }
        frames_in_flight.submit(context, frame_index);
        if number == 0 {
            first = messages.all().len();
        }
        // Records are scattered into the table, and slots are used again.
        let moved = Affine3A::from_translation(Vec3::X * f32::from(number as u8));
        crowd.live_mut(instances[1]).set_transform(&moved).unwrap();
        crowd.despawn(instances.remove(0)).unwrap();
    }
    for frame_index in 0..FRAMES_IN_FLIGHT {
        frames_in_flight.wait(context, frame_index);
    }
    let frames = first..messages.all().len();
    let drawn = color.read_rgba().unwrap();
    frames_in_flight.destroy(context);
    assert!(drawn.chunks_exact(4).any(|texel| texel != &drawn[..4]));
    unsafe { crowd.destroy(&mut context.allocator()) };
    shadow.destroy(context);
    own.destroy(context);
    unsafe { context.device.destroy_pipeline_cache(cache, None) };
    let report = context.allocator().generate_report();
    assert!(report.allocations.is_empty(), "{:?}", report.allocations);
    frames
}

fn camera() -> View {
    view(Vec3::new(0.5, 4.0, 24.0), Vec3::Y * 4.0, EXTENT)
}

/// Spawns every format in every stage, one of them flipped, and something rigid.
fn populate(context: &mut Context, crowd: &mut Crowd) -> Vec<InstanceId> {
    let mut all = Vec::new();
    for (number, format) in FORMATS.iter().enumerate() {
        let desc = described(format.method, true);
        let allocator = &mut context.allocator();
        let id = crowd.add_character(allocator, &dancer(format), &desc);
        let id = id.unwrap();
        let stages = [
            SkinningStage::Vertex,
            SkinningStage::Compute,
            SkinningStage::Cpu,
        ];
        for (at, skin) in stages.into_iter().enumerate() {
            let x = (number * stages.len() + at) as f32 * 1.2 - 6.6;
            let place = Affine3A::from_translation(Vec3::X * x);
            let flip = Affine3A::from_scale(Vec3::new(if at == 0 { -1.0 } else { 1.0 }, 1.0, 1.0));
            let spawn = Spawn {
                world_from_model: place * flip,
                play: "sway".into(),
                skinning_stage: skin,
                ..Spawn::default()
            };
            all.push(crowd.spawn(id, &spawn).unwrap());
        }
    }
    let floor = RawPrimitive::cuboid(Vec3::new(18.0, 0.2, 18.0));
    let floor = floor.build_rigid(Material::default()).unwrap().character;
    let id = crowd.add_character(&mut context.allocator(), &floor, &CharacterDesc::default());
    all.push(crowd.spawn(id.unwrap(), &Spawn::default()).unwrap());
    all
}

impl Passes {
    fn new(
        crowd: &mut Crowd,
        (color, motion): (&Target, &Target),
        own: vk::DescriptorSetLayout,
        bindless: bool,
    ) -> Self {
        let lit = PassDesc {
            after_prepass: Some(vk::CompareOp::EQUAL),
            shadow_map: true,
            ..color.pass_desc()
        };
        // Both read the textures in the way of their crowd.
        let words = spirv(if bindless {
            "crowd_bindless.frag"
        } else {
            "example/toon.frag"
        });
        let material = MaterialDesc {
            fragment_spirv: &words,
            set_layouts: &[own],
            push_bytes: 0,
        };
        let mut create = |desc: PassDesc<'_>| unsafe { crowd.create_pass(&desc) }.unwrap();
        Self {
            shadow: create(ShadowImage::pass_desc()),
            depth: create(PassDesc {
                kind: PassKind::Depth,
                after_prepass: None,
                shadow_map: false,
                ..lit.clone()
            }),
            own: create(PassDesc {
                shadow_map: false,
                material: Some(material),
                ..lit.clone()
            }),
            motion: create(PassDesc {
                kind: PassKind::Motion,
                ..motion.pass_desc()
            }),
            lit: create(lit),
        }
    }
}

/// The set of the own material: one uniform buffer.
struct OwnSet {
    layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    set: vk::DescriptorSet,
    _buffer: Buffer,
}

impl OwnSet {
    fn new(context: &mut Context) -> Self {
        let bytes = [0x3F; 80];
        let mut buffer = Buffer::new(
            context,
            "own material",
            bytes.len() as u64,
            vk::BufferUsageFlags::UNIFORM_BUFFER,
            MemoryLocation::CpuToGpu,
        )
        .unwrap();
        buffer.write(0, &bytes).unwrap();
        let device = &context.device;
        let kind = vk::DescriptorType::UNIFORM_BUFFER;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(kind)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 1,
        }];
        let pool = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        unsafe {
            let layout = device.create_descriptor_set_layout(&info, None).unwrap();
            let pool = device.create_descriptor_pool(&pool, None).unwrap();
            let layouts = [layout];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            let set = device.allocate_descriptor_sets(&info).unwrap()[0];
            let content = [vk::DescriptorBufferInfo {
                buffer: buffer.handle(),
                offset: 0,
                range: vk::WHOLE_SIZE,
            }];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .descriptor_type(kind)
                .buffer_info(&content);
            device.update_descriptor_sets(&[write], &[]);
            Self {
                layout,
                pool,
                set,
                _buffer: buffer,
            }
        }
    }

    fn bind(&self, device: &ash::Device, cmd: vk::CommandBuffer, layout: vk::PipelineLayout) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        unsafe { device.cmd_bind_descriptor_sets(cmd, point, layout, 1, &[self.set], &[]) };
    }

    fn destroy(self, context: &mut Context) {
        unsafe {
            context.device.destroy_descriptor_pool(self.pool, None);
            context
                .device
                .destroy_descriptor_set_layout(self.layout, None);
        }
    }
}
