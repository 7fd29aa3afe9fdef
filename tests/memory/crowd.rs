//! The memory of a crowd for each instance.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each would say that the test keeps its objects alive, and waits before it destroys \
     them"
)]

use crate::counting::{alive_bytes, measure};
use crate::reference::handles::Handles;
use std::collections::BTreeMap;
use throng::ash::vk;
use throng::character::Character;
use throng::glam::{Affine3A, Mat4, Vec3};
use throng::{
    Capacity, CharacterDesc, CharacterId, Crowd, CrowdDesc, Play, SkinningStage, Spawn, Stages,
    View, builtin,
};
use throng_standalone::{Context, ContextDesc};

/// Enough instances to measure costs that do not depend on the number.
const FEW: u32 = 64;
/// No power of two, and no multiple of 64, so that lists that double would be much too long.
const MANY: u32 = 20_001;
const FRAMES_IN_FLIGHT: u32 = 2;
const VIEWS: u32 = 2;
/// Bytes of a palette entry.
const ENTRY_BYTES: u64 = 48;

/// The most memory of the GPU for each instance, in bytes, beyond its palettes in the ring.
const MAX_GPU_BYTES: f64 = 1024.0;

/// The most memory of the CPU for each instance, in bytes. The tints are 28 of them, beside the
/// record that has them in half precision, and the list of those that moved is 4.
const MAX_CPU_BYTES: f64 = 800.0;

fn gpu_memory(context: &mut Context) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for allocation in context.allocator().generate_report().allocations {
        *all.entry(allocation.name).or_default() += allocation.size;
    }
    all
}

fn capacity(character: &Character, count: u32) -> Capacity {
    Capacity::new(VIEWS)
        .with_character(
            character,
            &CharacterDesc::default(),
            count,
            SkinningStage::Vertex,
        )
        .unwrap()
}

/// The kind of crowd.
struct Load {
    stages: Stages,
    /// Of seven instances, those of each of three characters, which share the capacity.
    shares: [u32; 3],
    /// The capacity grows by this number of instances when it is reached. `None`: all were stated.
    step: Option<u32>,
}

impl Load {
    /// The character of the instance with this number.
    fn character(&self, number: u32) -> usize {
        let [first, second, _] = self.shares;
        let at = number % 7;
        usize::from(at >= first) + usize::from(at >= first + second)
    }
}

/// The memory with a crowd of `count` instances, each in a cross-fade, after frames with two views.
struct Memory {
    /// All allocations of the device's memory, in bytes by name.
    gpu: BTreeMap<String, u64>,
    /// Bytes of the crowd on the heap.
    cpu: f64,
}

fn memory(context: &mut Context, character: &Character, load: &Load, count: u32) -> Memory {
    let device = unsafe { context.gpu_device() };
    let before = alive_bytes();
    let stated = load.step.map_or(count, |_| FEW);
    let desc = CrowdDesc {
        frames_in_flight: FRAMES_IN_FLIGHT,
        capacity: capacity(character, stated),
        stages: load.stages,
        ..CrowdDesc::default()
    };
    let mut crowd = Crowd::new(&device, &mut context.allocator(), &desc).unwrap();
    let ids = load.shares.map(|_| {
        let id = crowd.add_character(
            &mut context.allocator(),
            character,
            &CharacterDesc::default(),
        );
        id.unwrap()
    });
    for number in 0..count {
        let id = ids[load.character(number)];
        if let Some(step) = load.step
            && crowd.instances().len() == crowd.capacity().instances as usize
        {
            grow(context, &mut crowd, id, step);
        }
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(Vec3::X * 0.01 * number as f32),
            play: Play::new("Walk").offset_s(0.1 * f64::from(number)),
            ..Spawn::default()
        };
        let instance = crowd.spawn(id, &spawn).unwrap();
        let fade = Play::new("Run").fade_s(100.0);
        crowd.live_mut(instance).play(fade).unwrap();
    }
    for frame in 0..2 * FRAMES_IN_FLIGHT {
        step(context, &mut crowd, frame);
    }
    let cpu = (alive_bytes() - before) as f64;
    let gpu = gpu_memory(context);
    if load.step.is_none() {
        assert_eq!(crowd.capacity(), desc.capacity, "it did not grow");
    }
    context.wait_idle().unwrap();
    unsafe { crowd.destroy(&mut context.allocator()) };
    Memory { gpu, cpu }
}

/// Grows the capacity by more instances of a character.
fn grow(context: &mut Context, crowd: &mut Crowd, character: CharacterId, instances: u32) {
    let more = [(character, instances, SkinningStage::Vertex)];
    let needed = crowd.needed_capacity(&more).unwrap();
    crowd.reserve(&mut context.allocator(), &needed).unwrap();
}

/// One frame with two views, of which one sees all and the other half of them.
fn step(context: &mut Context, crowd: &mut Crowd, frame: u32) {
    let (frame_index, now_s) = (frame % FRAMES_IN_FLIGHT, f64::from(frame) / 60.0);
    let extent = vk::Extent2D {
        width: 640,
        height: 480,
    };
    let views = [1.0 / 400.0, 1.0 / 100.0].map(|scale: f32| {
        let clip_from_world = Mat4::from_scale(Vec3::new(scale, 0.1, 0.1));
        View::new(clip_from_world, Vec3::Z * 9.0, extent)
    });
    let allocator = &mut context.allocator();
    crowd.update(now_s).unwrap();
    let frame = unsafe { crowd.begin_frame(allocator, frame_index, now_s) };
    let mut frame = frame.unwrap();
    let prepared = context.submit_and_wait(|_, cmd| unsafe { frame.record_prepare(cmd, &views) });
    prepared.unwrap().unwrap();
}

/// The bytes that a crowd needs for each instance.
struct Each {
    cpu: f64,
    gpu: f64,
    /// Of the GPU, in the ring, and not in `gpu`.
    palettes: f64,
    /// Of the GPU, by the names of allocations.
    by_name: BTreeMap<String, f64>,
}

/// The memory for each instance.
fn each(load: &Load) -> Each {
    // First of all, so that nothing else here counts for another test.
    let _measurement = measure();
    let mut context = Context::new(&ContextDesc {
        app_name: "throng's tests",
        validation: true,
        ..ContextDesc::default()
    })
    .expect("a Vulkan 1.3 driver and the validation layer: run scripts/with-vulkan cargo test");
    let character = builtin::mannequin().unwrap().character;
    let entries = |count| u64::from(capacity(&character, count).palette_entries);
    let palettes = (entries(MANY) - entries(FEW)) * ENTRY_BYTES * u64::from(FRAMES_IN_FLIGHT);
    let more = f64::from(MANY - FEW);
    let sum = |all: &BTreeMap<String, u64>| all.values().sum::<u64>();
    let [few, many] = [FEW, MANY].map(|count| memory(&mut context, &character, load, count));
    let of_name = |(name, bytes): (&String, &u64)| {
        let before = few.gpu.get(name).copied().unwrap_or(0);
        (name.clone(), (*bytes as f64 - before as f64) / more)
    };
    let messages = context.messages.clone();
    messages.check().unwrap();
    Each {
        cpu: (many.cpu - few.cpu) / more,
        gpu: (sum(&many.gpu) - sum(&few.gpu) - palettes) as f64 / more,
        palettes: palettes as f64 / more,
        by_name: many.gpu.iter().map(of_name).collect(),
    }
}

const STAGES: [Stages; 3] = [Stages::Cpu, Stages::GpuCull, Stages::Gpu];

/// For each instance, a crowd needs at most 768 bytes of the CPU's memory, and 1 KiB of the GPU's
/// beyond its palettes in the ring.
#[test]
fn memory_for_each_instance() {
    for stages in STAGES {
        let Each {
            cpu,
            gpu,
            palettes,
            by_name,
        } = each(&Load {
            stages,
            shares: [7, 0, 0],
            step: None,
        });
        let what = format!(
            "{stages:?}: CPU: {cpu:.1} bytes; GPU: {gpu:.1} bytes beyond {palettes:.1} of \
             palettes; in all {by_name:.1?}"
        );
        println!("{what}");
        assert!(cpu <= MAX_CPU_BYTES, "{what}");
        assert!(gpu <= MAX_GPU_BYTES, "{what}");
        // Two frames in flight have the palettes, and nothing else has the name.
        let ring = by_name["throng palettes (ring)"];
        assert!((ring - palettes).abs() < 1.0, "{what}");
    }
}

/// The CPU's memory keeps to the bound in crowds whose lists have to grow, too.
///
/// Characters share the capacity, so the lists of each grow until it is used up. They grow by an
/// eighth, so an eighth of what each actor has may be in vain. If the capacity grows, lists grow
/// with it.
#[test]
fn memory_of_lists_that_grow() {
    let loads = [([4, 2, 1], None), ([4, 2, 1], Some(999))];
    for stages in STAGES {
        for (shares, step) in loads {
            let load = Load {
                stages,
                shares,
                step,
            };
            let cpu = each(&load).cpu;
            let what = format!("{stages:?}, {shares:?}, {step:?}: {cpu:.1} bytes");
            println!("{what}");
            assert!(cpu <= MAX_CPU_BYTES, "{what}");
        }
    }
}
