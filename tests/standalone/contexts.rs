//! Objects that are used with another context than their own.

use crate::setup::{Alone, buffer, context, desc, finish, finish_second, second};
use throng::ash::vk;
use throng::gpu::{PaletteRing, PaletteRingDesc};
use throng::gpu_allocator::MemoryLocation;
use throng::{Capacity, Crowd, CrowdDesc, Spawn};
use throng_standalone::{Begin, Buffer, Context, Frames, StandaloneError, Target, TargetDesc};

fn assert_foreign<T: std::fmt::Debug>(result: Result<T, StandaloneError>, wanted: &str) {
    match result {
        Err(StandaloneError::ForeignContext { object }) => assert_eq!(object, wanted),
        other => panic!("{wanted}: {other:?}"),
    }
}

#[test]
fn another_context_is_refused() {
    let mut context = context();
    let mut other = second(&desc());
    let near = buffer(&mut context, 16, MemoryLocation::CpuToGpu);
    let target = Target::new(&mut context, &TargetDesc::default()).expect("a target");
    let mut frames = Frames::new(&context, 2).expect("frames in flight");
    assert_foreign(near.read(&mut other, 0, 16), "buffer `test buffer`");
    assert_foreign(target.read_rgba(&mut other), "target `target`");
    assert_foreign(frames.begin(&mut other), "the set of frames in flight");
    let frame = frames.begin(&mut context).expect("a frame");
    // SAFETY: `frame` was begun last, and the other context is rejected.
    let refused = unsafe { frame.submit(&mut other, None) };
    assert_foreign(refused, "the set of frames in flight");
    // The rejected frame is begun again.
    let frame = frames.begin(&mut context).expect("a frame");
    // SAFETY: as above, with the right context.
    unsafe { frame.submit(&mut context, None) }.expect("a submission");
    frames.destroy(&mut context);
    target.destroy(&mut context);
    near.destroy(&mut context);
    finish_second(other);
    finish(context);
}

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

/// Objects that are destroyed with another context stay until their own context is dropped.
#[test]
fn what_is_destroyed_with_another_context_waits_for_its_own() {
    let mut context = context();
    let mut other = second(&desc());
    let (far, target, frames) = objects(&mut context);
    frames.destroy(&mut other);
    target.destroy(&mut other);
    far.destroy(&mut other);
    finish_second(other);
    finish(context);
}

/// Submits a frame that fills the buffer and draws to the target, and does not wait for it.
fn submit(context: &mut Context, (buffer, target, frames): &mut (Buffer, Target, Frames)) {
    let device = context.device.clone();
    let frame = frames.begin(context).expect("a frame");
    // SAFETY: the frame is recording, and the device is waited for before the objects are
    // destroyed.
    unsafe {
        device.cmd_fill_buffer(frame.cmd, buffer.handle(), 0, vk::WHOLE_SIZE, 7);
        target.begin(&device, frame.cmd, &Begin::default());
        target.end(&device, frame.cmd);
        frame.submit(context, None).expect("a submission");
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
    let messages = context.messages();
    let Alone { context, _turn } = context;
    drop(context);
    assert!(messages.is_empty(), "{}", messages.report());
    drop(after);
    assert!(messages.is_empty(), "{}", messages.report());
}

/// The last object destroys the device, on whatever thread it is.
#[test]
fn objects_outlive_their_context_on_other_threads() {
    let mut context = context();
    let (far, target, frames) = objects(&mut context);
    let messages = context.messages();
    let Alone { context, _turn } = context;
    std::thread::scope(|scope| {
        scope.spawn(|| drop(far));
        scope.spawn(|| drop(target));
        scope.spawn(|| drop(context));
        scope.spawn(|| drop(frames));
    });
    assert!(messages.is_empty(), "{}", messages.report());
}

/// A new device may get the handle of a destroyed one.
#[test]
fn a_context_after_the_first_is_another() {
    let mut first = context();
    let far = buffer(&mut first, 16, MemoryLocation::GpuOnly);
    let Alone { context, _turn } = first;
    drop(context);
    let mut next = second(&desc());
    assert_foreign(far.read(&mut next, 0, 16), "buffer `test buffer`");
    far.destroy(&mut next);
    finish_second(next);
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
    refuses_allocator(crowd.add_character(foreign, &character));
    let more = Capacity {
        instances: 10_000,
        ..Capacity::default()
    };
    refuses_allocator(crowd.reserve(foreign, &more));
    // SAFETY: it is the first frame.
    refuses_allocator(unsafe { crowd.begin_frame(foreign, 0, 0.0) });
    // Nothing has changed.
    let id = crowd.add_character(own, &character).unwrap();
    crowd.spawn(id, &Spawn::default()).unwrap();
    // SAFETY: nothing was submitted.
    unsafe { crowd.destroy(own) };
    finish_second(other);
    finish(context);
}
