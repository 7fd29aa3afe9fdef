//! An allocator of the engine's own.

use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, target};
use crate::support::memory::OneEach;
use crate::support::{CONFIGS, SMALL, Setup, each, view};
use throng::ash::vk;
use throng::glam::Vec3;
use throng::gpu::{GpuAllocator, MemoryAllocator, MemoryRequest};
use throng::gpu_allocator::MemoryLocation;
use throng::gpu_allocator::vulkan::{Allocation, Allocator};
use throng::{Capacity, CharacterDesc, Crowd, Spawn};

/// Calls `run` with an allocator: that of the context if there is no other.
fn with<R>(
    setup: &mut Setup,
    own: &mut Option<OneEach>,
    run: impl FnOnce(&mut dyn MemoryAllocator) -> R,
) -> R {
    match own {
        Some(own) => run(own),
        None => run(&mut setup.context.allocator()),
    }
}

/// Draws a character with the memory of an allocator, twice, and lets the crowd grow after each.
fn drawn(setup: &mut Setup, own: &mut Option<OneEach>) -> Vec<u8> {
    let desc = setup.crowd_desc(2, SMALL);
    let device = setup.context.device.clone();
    let target = target(&mut setup.context);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
    let mut picture = Vec::new();
    let mut crowd = match own {
        Some(own) => Crowd::new(&setup.device(), own, &desc).unwrap(),
        None => setup.crowd(2, SMALL),
    };
    let character = built(ribbon(4)).character;
    let id = with(setup, own, |allocator| {
        crowd.add_character(allocator, &character, &CharacterDesc::default())
    });
    crowd.spawn(id.unwrap(), &Spawn::default()).unwrap();
    let pass = pass(&mut crowd, &target, false);
    for frame_index in 0..2 {
        let cmd = frames_in_flight.begin(&setup.context, frame_index);
        let eye = view(Vec3::new(0.4, 2.0, 6.0), Vec3::new(0.0, 1.5, 0.0), EXTENT);
        with(setup, own, |allocator| unsafe {
            crowd.update(0.3).unwrap();
            let mut frame = crowd.begin_frame(allocator, frame_index, 0.3).unwrap();
            let views = frame.record_prepare(cmd, &[eye]).unwrap();
            target.begin(&device, cmd, &NORMAL_Z);
            frame.record_draw(cmd, views[0], pass).unwrap();
            target.end(&device, cmd);
        });
        frames_in_flight.submit(&setup.context, frame_index);
        frames_in_flight.wait(&setup.context, frame_index);
        picture = target.read_rgba().unwrap();
        let more = Capacity {
            instances: SMALL.instances * (frame_index + 2),
            ..SMALL
        };
        with(setup, own, |allocator| crowd.reserve(allocator, &more)).unwrap();
    }
    frames_in_flight.destroy(&setup.context);
    with(setup, own, |allocator| unsafe { crowd.destroy(allocator) });
    picture
}

#[test]
fn an_allocator_of_the_engines_own_draws_the_same() {
    each(|setup| {
        let usual = drawn(setup, &mut None);
        assert!(covered(&usual) > 100);
        let mut own = Some(OneEach::new(setup));
        let picture = drawn(setup, &mut own);
        assert_eq!(different(&usual, &picture, 0), 0);
        let mut own = own.unwrap();
        assert_eq!(own.blocks, 0);
        own.release();
    });
}

fn request() -> MemoryRequest<'static> {
    MemoryRequest {
        name: "256 bytes",
        requirements: vk::MemoryRequirements {
            size: 256,
            alignment: 64,
            memory_type_bits: u32::MAX,
        },
        location: MemoryLocation::CpuToGpu,
        linear: true,
        device_address: false,
    }
}

/// Safe code could write to an `Allocation`'s memory after the device was destroyed.
#[test]
fn the_allocation_of_a_block_cannot_be_taken_out() {
    let mut setup = Setup::new(CONFIGS[0]);
    let mut allocator = setup.context.allocator();
    let block = allocator.allocate(&request()).unwrap();
    assert!(!block.handle.is::<Allocation>());
    unsafe { allocator.free(block) }.unwrap();
}

/// Blocks of different allocators can meet: each function checks only the allocator's device.
#[test]
fn blocks_of_another_kind_of_allocator_are_refused() {
    let mut setup = Setup::new(CONFIGS[0]);
    let mut own = OneEach::new(&setup);
    // A block that is refused is lost, and with it how to free its page without access.
    own.guards = false;
    let device = setup.context.device.clone();
    let mut usual = setup.context.allocator();
    let refusal = "the block is from another kind of allocator";

    let block = own.allocate(&request()).unwrap();
    let memory = block.memory;
    let refused = unsafe { usual.free(block) }.unwrap_err();
    assert_eq!(refused.to_string(), refusal);
    // It is still there to be freed, or the validation layer has a message.
    unsafe { device.free_memory(memory, None) };

    let allocated =
        |usual: &GpuAllocator<&mut Allocator>| usual.generate_report().total_allocated_bytes;
    let block = usual.allocate(&request()).unwrap();
    let before = allocated(&usual);
    let refused = unsafe { own.free(block) }.unwrap_err();
    assert_eq!(refused.to_string(), refusal);
    assert_eq!((allocated(&usual), own.blocks), (before, 1));
}
