//! Frames in flight are independent: the GPU does not see writes to another frame's memory.

use crate::reference::picture::{covered, different};
use crate::reference::ribbon::{built, ribbon};
use crate::reference::words::Fails;
use crate::support::frames::{FramesInFlight, NORMAL_Z, pass, picture, record, target};
use crate::support::{SMALL, Setup, each, view};
use throng::ash::{self, vk};
use throng::glam::{Affine3A, Vec3};
use throng::{CharacterDesc, Crowd, PassId, Spawn, View};
use throng_standalone::Target;

const FRAMES_IN_FLIGHT: u32 = 3;

fn populate(setup: &mut Setup, crowd: &mut Crowd) {
    let character = built(ribbon(4)).character;
    let allocator = &mut setup.context.allocator();
    let id = crowd
        .add_character(allocator, &character, &CharacterDesc::default())
        .unwrap();
    for (at, clip) in ["sway", "turn", "sway"].iter().enumerate() {
        let x = at as f32 * 1.2 - 1.2;
        let spawn = Spawn {
            world_from_model: Affine3A::from_translation(Vec3::new(x, 0.0, 0.0)),
            play: (*clip).into(),
            ..Spawn::default()
        };
        crowd.spawn(id, &spawn).unwrap();
    }
}

fn camera() -> View {
    let extent = crate::support::frames::EXTENT;
    view(Vec3::new(1.5, 2.5, 7.0), Vec3::new(0.0, 1.5, 0.0), extent)
}

/// A timeline semaphore at 0.
fn timeline(device: &ash::Device) -> vk::Semaphore {
    let mut kind = vk::SemaphoreTypeCreateInfo::default()
        .semaphore_type(vk::SemaphoreType::TIMELINE)
        .initial_value(0);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    unsafe { device.create_semaphore(&info, None) }.unwrap()
}

/// The picture of a frame with `frame_index` that waits until `meanwhile` has run.
fn held_back(
    setup: &mut Setup,
    crowd: &mut Crowd,
    (target, pass): (&Target, PassId),
    frame_index: u32,
    meanwhile: impl FnOnce(&mut Setup, &mut Crowd),
) -> Vec<u8> {
    let context = &mut setup.context;
    let mut frames_in_flight = FramesInFlight::new(context, FRAMES_IN_FLIGHT);
    let gate = timeline(&context.device);
    let cmd = frames_in_flight.begin(context, frame_index);
    let on = (target, pass, &NORMAL_Z);
    record(context, crowd, cmd, (frame_index, 0.3), on, &[camera()]);
    frames_in_flight.submit_after(context, frame_index, Some(gate));
    meanwhile(setup, crowd);
    let context = &mut setup.context;
    let open = vk::SemaphoreSignalInfo::default().semaphore(gate).value(1);
    unsafe { context.device.signal_semaphore(&open) }.unwrap();
    frames_in_flight.wait(context, frame_index);
    let bytes = target.read_rgba().unwrap();
    frames_in_flight.destroy(context);
    unsafe { context.device.destroy_semaphore(gate, None) };
    bytes
}

/// Prepares a frame at another time, which writes other palettes for `frame_index`.
fn prepare(
    setup: &mut Setup,
    crowd: &mut Crowd,
    frames_in_flight: &mut FramesInFlight,
    frame_index: u32,
) {
    let cmd = frames_in_flight.begin(&setup.context, frame_index);
    let allocator = &mut setup.context.allocator();
    crowd.update(0.9).unwrap();
    // SAFETY: the caller knows what the GPU reads.
    let mut frame = unsafe { crowd.begin_frame(allocator, frame_index, 0.9) }.unwrap();
    unsafe { frame.record_prepare(cmd, &[camera()]) }.unwrap();
    frames_in_flight.submit(&setup.context, frame_index);
}

/// Each frame index has a crowd of its own.
#[test]
fn a_frame_in_flight_is_not_touched_by_writes_to_others() {
    each(|setup| {
        for frame_index in 0..FRAMES_IN_FLIGHT {
            let mut crowd = setup.crowd(FRAMES_IN_FLIGHT, SMALL);
            populate(setup, &mut crowd);
            let target = target(&mut setup.context);
            let on = (&target, pass(&mut crowd, &target, false));
            let clean = held_back(setup, &mut crowd, on, frame_index, |_, _| ());
            assert!(covered(&clean) > 500);
            // Frames with these indices are prepared while the first waits, and queued behind it.
            let mut with = |indices: &[u32], setup: &mut Setup| {
                let mut queued = None;
                let picture = held_back(setup, &mut crowd, on, frame_index, |setup, crowd| {
                    let mut frames = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
                    for index in indices {
                        prepare(setup, crowd, &mut frames, *index);
                    }
                    queued = Some(frames);
                });
                queued.unwrap().destroy(&setup.context);
                different(&clean, &picture, 0)
            };
            let others = [1, 2].map(|step| (frame_index + step) % FRAMES_IN_FLIGHT);
            assert_eq!(with(&others, setup), 0, "frame {frame_index}");
            // The control: the frame was really held back, and its index cannot begin meanwhile.
            held_back(setup, &mut crowd, on, frame_index, |setup, crowd| {
                let allocator = &mut setup.context.allocator();
                let began = unsafe { crowd.begin_frame(allocator, frame_index, 0.3) };
                began.map(drop).fails(
                    "frame_index: begins again, but the GPU has not run what was prepared with it \
                     last: wait for its fence first, and call abandon_frame for a frame that is \
                     not submitted",
                );
            });
            setup.destroy(crowd);
        }
    });
}

/// Successive frames give the same picture with any frame index.
#[test]
fn every_frame_index_gives_the_same_picture() {
    each(|setup| {
        let mut crowd = setup.crowd(FRAMES_IN_FLIGHT, SMALL);
        populate(setup, &mut crowd);
        let target = target(&mut setup.context);
        let pass = pass(&mut crowd, &target, false);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, FRAMES_IN_FLIGHT);
        let mut pictures = Vec::new();
        for frame_index in [2, 0, 1, 1, 0, 2] {
            let on = (&target, pass, &NORMAL_Z);
            let context = &mut setup.context;
            let views = [camera()];
            pictures.push(picture(
                context,
                &mut crowd,
                &mut frames_in_flight,
                (frame_index, 0.3),
                on,
                &views,
            ));
        }
        for other in &pictures[1..] {
            assert_eq!(different(&pictures[0], other, 0), 0);
        }
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}
