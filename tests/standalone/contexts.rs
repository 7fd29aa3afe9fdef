//! Objects that outlive their context, and allocators of another one.

use crate::setup::{Alone, buffer, context, desc, finish, finish_second, second};
use throng::ash::vk;
use throng::gpu::{PaletteRing, PaletteRingDesc};
use throng::gpu_allocator::MemoryLocation;
use throng::{Capacity, CharacterDesc, Crowd, CrowdDesc, Spawn};
use throng_standalone::{Begin, Buffer, Context, Frames, Target, TargetDesc};

/// A buffer, a target with all its images, and frames in flight.
fn objects(context: &mut Context) -> (Buffer, Target, Frames) {
    let desc = TargetDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..TargetDesc::default()
    };
    (
        buffer(context, 16, MemoryLocation::CpuToGpu),
        Target::new(context, &desc).expect("a target"),
        Frames::new(context, 2).expect("frames in flight"),
    )
}

/// Submits a frame that fills the buffer and draws to the target, and does not wait for it.
fn submit(context: &mut Context, (buffer, target, frames): &mut (Buffer, Target, Frames)) {
    let device = context.device.clone();
    let frame = frames.begin().expect("a frame");
    // SAFETY: the frame is recording, and the device is waited for before the objects are
    // destroyed.
    unsafe {
        device.cmd_fill_buffer(frame.cmd, buffer.handle(), 0, vk::WHOLE_SIZE, 7);
        target.begin(&device, frame.cmd, &Begin::default());
        target.end(&device, frame.cmd);
        frame.submit().expect("a submission");
    }
}

/// The layer reports every object that is alive when its device is destroyed, and every object that
/// is destroyed while the device uses it.
#[test]
fn objects_are_dropped_before_or_after_their_context() {
    let mut context = context();
    let mut before = objects(&mut context);
    submit(&mut context, &mut before);
    drop(before);
    let mut after = objects(&mut context);
    submit(&mut context, &mut after);
    let messages = context.messages.clone();
    let Alone { context, _turn } = context;
    drop(context);
    messages.check().unwrap();
    // They can still be used.
    let (buffer, target, frames) = &mut after;
    buffer.write(4, &[9; 4]).expect("mapped");
    assert_eq!(buffer.read(0, 8).expect("bytes"), [7, 0, 0, 0, 9, 9, 9, 9]);
    assert!(target.read_rgba().is_ok() && frames.begin().is_ok());
    drop(after);
    messages.check().unwrap();
}

fn refuses_allocator<T>(result: throng::Result<T>) {
    match result {
        Err(throng::Error::Argument { what, .. }) => assert_eq!(what, "allocator"),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the allocator of another device is accepted"),
    }
}

#[test]
fn the_allocator_of_another_device_is_refused() {
    let mut context = context();
    let mut other = second(&desc());
    let foreign = &mut other.allocator();
    let character = throng::builtin::mannequin().unwrap().character;
    // SAFETY: the context outlives what is made here.
    let device = unsafe { context.gpu_device() };
    let own = &mut context.allocator();
    let desc = CrowdDesc::default();
    refuses_allocator(Crowd::new(&device, foreign, &desc));
    refuses_allocator(PaletteRing::new(
        &device,
        foreign,
        &PaletteRingDesc::default(),
    ));
    let mut crowd = Crowd::new(&device, own, &desc).unwrap();
    refuses_allocator(crowd.add_character(foreign, &character, &CharacterDesc::default()));
    let more = Capacity {
        instances: 10_000,
        ..Capacity::default()
    };
    refuses_allocator(crowd.reserve(foreign, &more));
    // SAFETY: it is the first frame.
    refuses_allocator(unsafe { crowd.begin_frame(foreign, 0, 0.0) });
    // Nothing has changed.
    let id = crowd
        .add_character(own, &character, &CharacterDesc::default())
        .unwrap();
    crowd.spawn(id, &Spawn::default()).unwrap();
    // SAFETY: nothing was submitted.
    unsafe { crowd.destroy(own) };
    finish_second(other);
    finish(context);
}
