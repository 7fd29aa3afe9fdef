//! Draws that are submitted after a later frame was prepared are refused.

use crate::support::{
    SIDES, SIZE, Target, camera, desc, frame, gpu, idle, messages, now, pass_desc, populate, read,
    record,
};
use std::mem;
use std::sync::Barrier;
use std::thread;
use throng::glam::{Affine3A, Vec3};
use throng::{PassId, Stages};
use throng_reference::picture::{covered, different};
use throng_wgpu::{Crowd, Encoder, Error, Gpu, throng};

fn start(frames_in_flight: u32, stages: Stages) -> (Gpu, Crowd, PassId, Target) {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(frames_in_flight, stages)).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    (gpu, crowd, pass, target)
}

/// Prepares a frame that draws nothing.
fn prepare(crowd: &mut Crowd, time_s: f64) -> Result<(), Error> {
    crowd.update(time_s)?;
    let mut frame = crowd.begin_frame(time_s)?;
    frame.prepare(&[camera(SIZE)]).map(drop)
}

#[track_caller]
fn expect_late(result: Result<wgpu::SubmissionIndex, Error>, numbers: (u64, u64)) {
    match result {
        Err(Error::Late { frame, later }) => assert_eq!((frame, later), numbers),
        other => panic!("{other:?}"),
    }
}

#[test]
fn draws_are_refused() {
    for stages in SIDES {
        let (gpu, mut crowd, pass, target) = start(3, stages);
        frame(&mut crowd, &target, pass, 0.3).unwrap();
        let before = read(&gpu, &target.color);
        let kept = [(); 2].map(|()| record(&mut crowd, &target, pass, 0.6));
        // Another character takes the place in the tables.
        for instance in crowd.instances().collect::<Vec<_>>() {
            crowd.despawn(instance).unwrap();
        }
        let [second, third] = kept;
        expect_late(second.submit(), (2, 3));
        populate(&mut crowd);
        prepare(&mut crowd, 0.9).unwrap();
        expect_late(third.submit(), (3, 4));
        // Nothing of them was submitted, not even that the target is cleared.
        assert_eq!(different(&read(&gpu, &target.color), &before, 0), 0);
        frame(&mut crowd, &target, pass, 0.3).unwrap();
        assert!(covered(&read(&gpu, &target.color)) > 500);
        drop((crowd, target, gpu));
        messages::expect_none();
    }
}

/// A frame that begins does not refuse them, unless it takes the only index.
#[test]
fn draws_are_refused_by_a_frame_that_begins_with_their_index() {
    for frames in 1..=2 {
        let (gpu, mut crowd, pass, target) = start(frames, Stages::default());
        let kept = record(&mut crowd, &target, pass, 0.3);
        idle(&gpu);
        crowd.update(0.4).unwrap();
        crowd.begin_frame(0.4).unwrap();
        match frames {
            1 => expect_late(kept.submit(), (1, 2)),
            _ => drop(kept.submit().unwrap()),
        }
        idle(&gpu);
        frame(&mut crowd, &target, pass, 0.3).unwrap();
        assert!(covered(&read(&gpu, &target.color)) > 500);
        drop((crowd, target, gpu));
        messages::expect_none();
    }
}

/// An encoder is refused as a whole, whichever of its crowds is late.
#[test]
fn draws_of_several_crowds_and_encoders() {
    let (gpu, mut left, left_pass, target) = start(3, Stages::default());
    let mut right = Crowd::new(&gpu, &desc(3, Stages::default())).unwrap();
    let right_pass = right.create_pass(&pass_desc(1)).unwrap();
    populate(&mut right);
    for late in [false, true] {
        let mut encoders = [(); 2].map(|()| Encoder::new(&gpu));
        let mut frames = [&mut left, &mut right].map(|it| {
            it.update(0.3).unwrap();
            it.begin_frame(0.3).unwrap()
        });
        for (frame, pass) in frames.iter_mut().zip([left_pass, right_pass]) {
            let views = frame.prepare(&[camera(SIZE)]).unwrap();
            for encoder in &mut encoders {
                let to = (&*frame, encoder);
                target.draw(to, (views[0], pass), true).unwrap();
            }
        }
        if late {
            prepare(&mut right, 0.4).unwrap();
        }
        // The order of encoders with the same frames is free, and so is the thread.
        for encoder in encoders.into_iter().rev() {
            let submitted = thread::scope(|it| it.spawn(|| encoder.submit()).join().unwrap());
            match late {
                true => expect_late(submitted, (2, 3)),
                false => drop(submitted.unwrap()),
            }
        }
        idle(&gpu);
    }
    drop((left, right, target, gpu));
    messages::expect_none();
}

/// Another wgpu encoder in the place of an encoder's own changes nothing for the draws before it.
#[test]
fn draws_in_an_encoder_whose_own_is_replaced() {
    let (gpu, mut crowd, pass, target) = start(3, Stages::default());
    for late in [false, true] {
        let mut kept = record(&mut crowd, &target, pass, 0.3);
        let own = mem::replace(
            &mut *kept,
            gpu.device().create_command_encoder(&Default::default()),
        );
        if late {
            prepare(&mut crowd, 0.4).unwrap();
        }
        gpu.queue().submit([own.finish()]);
        match late {
            true => expect_late(kept.submit(), (2, 3)),
            false => drop(kept.submit().unwrap()),
        }
    }
    assert!(covered(&read(&gpu, &target.color)) > 500);
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// wgpu itself rejects command buffers that the program submits too late.
#[test]
fn command_buffers_are_rejected_by_wgpu() {
    let (gpu, mut crowd, pass, target) = start(3, Stages::default());
    frame(&mut crowd, &target, pass, 0.3).unwrap();
    let before = read(&gpu, &target.color);
    let kept = record(&mut crowd, &target, pass, 0.6);
    // SAFETY: they are submitted in order, in one call.
    let kept = unsafe { kept.into_command_buffers() };
    prepare(&mut crowd, 0.9).unwrap();
    let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
    gpu.queue().submit(kept);
    let error = now(scope.pop()).unwrap().to_string();
    assert!(error.contains("throng frame 2"), "{error}");
    assert_eq!(different(&read(&gpu, &target.color), &before, 0), 0);
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// Draws are submitted while another thread prepares the next frame, in which everybody is away.
#[test]
fn draws_that_race_with_the_next_frame() {
    let (gpu, mut crowd, pass, target) = start(2, Stages::default());
    // wgpu rejects draws that are too late for `Encoder::submit` to see.
    gpu.device()
        .on_uncaptured_error(std::sync::Arc::new(|error| {
            let text = error.to_string();
            assert!(text.contains("throng frame"), "{text}");
        }));
    let everybody: Vec<_> = crowd.instances().collect();
    let here: Vec<_> = everybody
        .iter()
        .map(|id| (*id, crowd.instance(*id).unwrap().transform()))
        .collect();
    let away = Affine3A::from_translation(Vec3::Y * 1e4);
    let away: Vec<_> = everybody.iter().map(|id| (*id, away)).collect();
    frame(&mut crowd, &target, pass, 0.3).unwrap();
    let right = read(&gpu, &target.color);
    let barrier = Barrier::new(2);
    for round in 0..40 {
        crowd.set_transforms(&here).unwrap();
        crowd.wait_for_frame().unwrap();
        let kept = record(&mut crowd, &target, pass, 0.3);
        crowd.set_transforms(&away).unwrap();
        thread::scope(|threads| {
            let submitting = threads.spawn(|| {
                barrier.wait();
                for _ in 0..round * 50 {
                    std::hint::spin_loop();
                }
                let submitted = kept.submit();
                assert!(matches!(submitted, Ok(_) | Err(Error::Late { .. })));
                messages::expect_none();
            });
            barrier.wait();
            crowd.wait_for_frame().unwrap();
            prepare(&mut crowd, 0.3).unwrap();
            submitting.join().unwrap();
        });
        assert_eq!(different(&read(&gpu, &target.color), &right, 0), 0);
        idle(&gpu);
    }
    drop((crowd, target, gpu));
    messages::expect_none();
}
