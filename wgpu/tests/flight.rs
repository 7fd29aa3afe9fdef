//! Frames in flight, encoders that are kept or dropped, growth and removal.

use crate::support::{
    SIDES, SIZE, Target, camera, desc, frame, gpu, idle, messages, pass_desc, populate, read,
    record, spawns,
};
use std::mem;
use throng::{Capacity, CharacterDesc, Stages};
use throng_reference::picture::{covered, different};
use throng_wgpu::{Crowd, Encoder, Error, Frame, throng};

/// Frames in flight are not overwritten by others.
#[test]
fn are_not_overwritten() {
    for (stages, frames) in SIDES.into_iter().flat_map(|it| [(it, 1), (it, 2), (it, 3)]) {
        let gpu = gpu();
        let mut crowd = Crowd::new(&gpu, &desc(frames, stages)).unwrap();
        populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let times = || [0.1, 0.4, 0.7].into_iter().take(frames as usize);
        let targets: Vec<_> = times().map(|_| Target::new(&gpu, SIZE, 1)).collect();
        let alone: Vec<_> = times()
            .map(|time_s| {
                frame(&mut crowd, &targets[0], pass, time_s).unwrap();
                read(&gpu, &targets[0].color)
            })
            .collect();
        for (time_s, target) in times().zip(&targets) {
            record(&mut crowd, target, pass, time_s).submit().unwrap();
        }
        for (target, alone) in targets.iter().zip(&alone) {
            assert_eq!(different(&read(&gpu, &target.color), alone, 0), 0);
        }
        drop((crowd, targets, gpu));
        messages::expect_none();
    }
}

/// One frame in flight too many is an error at once.
///
/// Command buffers of an encoder keep their frames in flight until they are dropped. A semaphore
/// cannot do that: the software driver waits for it in `vkQueueSubmit`.
#[test]
fn one_too_many_is_an_error() {
    for frames in 1..=3 {
        let gpu = gpu();
        let mut crowd = Crowd::new(&gpu, &desc(frames, Stages::default())).unwrap();
        populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let target = Target::new(&gpu, SIZE, 1);
        let mut kept: Vec<_> = (0..frames)
            .map(|_| {
                let encoder = record(&mut crowd, &target, pass, 0.3);
                // SAFETY: none of them is submitted.
                unsafe { encoder.into_command_buffers() }
            })
            .collect();
        let in_flight = |result: Result<(), Error>| {
            let right = matches!(result, Err(Error::InFlight { frames: all }) if all == frames);
            assert!(right, "{result:?}");
        };
        crowd.update(0.9).unwrap();
        in_flight(crowd.begin_frame(0.9).map(drop));
        // Waiting does not help, because they may still be submitted.
        in_flight(crowd.wait_for_frame());
        kept.pop();
        idle(&gpu);
        frame(&mut crowd, &target, pass, 0.9).unwrap();
        drop((crowd, target, gpu));
        messages::expect_none();
    }
}

/// A crowd of which no frame is waited for, in a loop that never blocks.
#[test]
fn without_waiting() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(3, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(4)).unwrap();
    let target = Target::new(&gpu, SIZE, 4);
    for number in 0..20 {
        match frame(&mut crowd, &target, pass, f64::from(number) * 0.1) {
            Ok(()) => {}
            Err(Error::InFlight { .. }) => crowd.wait_for_frame().unwrap(),
            Err(why) => panic!("{why}"),
        }
    }
    drop((crowd, target, gpu));
    messages::expect_none();
}

#[test]
fn grow_while_frames_are_in_flight() {
    for stages in SIDES {
        let gpu = gpu();
        let mut crowd = Crowd::new(&gpu, &desc(3, stages)).unwrap();
        populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let targets: Vec<_> = (0..4).map(|_| Target::new(&gpu, SIZE, 1)).collect();
        frame(&mut crowd, &targets[3], pass, 0.3).unwrap();
        let before = read(&gpu, &targets[3].color);
        for (times, target) in (1..).zip(&targets[..3]) {
            record(&mut crowd, target, pass, 0.3).submit().unwrap();
            let more = Capacity {
                instances: 2000 * times,
                palette_entries: 100_000 * times,
                ..Capacity::default()
            };
            crowd.reserve(&more).unwrap();
        }
        idle(&gpu);
        for target in &targets {
            frame(&mut crowd, &targets[3], pass, 0.3).unwrap();
            assert_eq!(different(&read(&gpu, &target.color), &before, 0), 0);
        }
        drop((crowd, targets, gpu));
        messages::expect_none();
    }
}

#[test]
fn keep_what_is_removed() {
    for stages in SIDES {
        let gpu = gpu();
        let mut crowd = Crowd::new(&gpu, &desc(3, stages)).unwrap();
        let id = populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let targets: Vec<_> = (0..3).map(|_| Target::new(&gpu, SIZE, 1)).collect();
        frame(&mut crowd, &targets[0], pass, 0.3).unwrap();
        let before = read(&gpu, &targets[0].color);
        // The draws of this frame are submitted when its character and its pass are gone.
        let kept = record(&mut crowd, &targets[1], pass, 0.3);
        let all: Vec<_> = crowd.instances().collect();
        for instance in all {
            crowd.despawn(instance).unwrap();
        }
        crowd.remove_character(id).unwrap();
        crowd.remove_pass(pass).unwrap();
        kept.submit().unwrap();
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        for _ in 0..4 {
            frame(&mut crowd, &targets[2], pass, 0.3).unwrap();
            idle(&gpu);
        }
        assert_eq!(different(&read(&gpu, &targets[1].color), &before, 0), 0);
        assert!(different(&read(&gpu, &targets[2].color), &before, 0) > 500);
        // Removed objects are freed once all frame indices have begun again.
        populate(&mut crowd);
        for _ in 0..4 {
            idle(&gpu);
            frame(&mut crowd, &targets[2], pass, 0.3).unwrap();
        }
        assert!(covered(&read(&gpu, &targets[2].color)) > 500);
        drop((crowd, targets, gpu));
        messages::expect_none();
    }
}

/// Dropping or forgetting encoders loses draws, but no uploads and no frames.
#[test]
fn survive_encoders_that_are_not_submitted() {
    for frames in 1..=2 {
        let gpu = gpu();
        let mut crowd = Crowd::new(&gpu, &desc(frames, Stages::default())).unwrap();
        populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let targets = [(); 2].map(|()| Target::new(&gpu, SIZE, 1));
        drop(record(&mut crowd, &targets[0], pass, 0.3));
        for _ in 0..4 {
            crowd.wait_for_frame().unwrap();
            mem::forget(record(&mut crowd, &targets[0], pass, 0.3));
        }
        // A frame that is prepared and not drawn, and one that is not even prepared.
        let prepare = |frame: &mut Frame<'_>| frame.prepare(&[camera(SIZE)]).unwrap();
        idle(&gpu);
        crowd.update(0.4).unwrap();
        prepare(&mut crowd.begin_frame(0.4).unwrap());
        idle(&gpu);
        crowd.update(0.5).unwrap();
        crowd.begin_frame(0.5).unwrap();
        frame(&mut crowd, &targets[0], pass, 0.3).unwrap();
        let mut fresh = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
        populate(&mut fresh);
        let pass = fresh.create_pass(&pass_desc(1)).unwrap();
        frame(&mut fresh, &targets[1], pass, 0.3).unwrap();
        let pictures = targets.each_ref().map(|it| read(&gpu, &it.color));
        assert!(covered(&pictures[0]) > 500);
        assert_eq!(different(&pictures[0], &pictures[1], 0), 0);
        messages::expect_none();
        // Forgotten objects are never destroyed, and the layer would say so.
        mem::forget((crowd, gpu));
    }
}

/// A submission that wgpu rejects loses draws, but no uploads.
#[test]
fn survive_submissions_that_wgpu_rejects() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    let mut encoder = Encoder::new(&gpu);
    crowd.update(0.3).unwrap();
    let mut prepared = crowd.begin_frame(0.3).unwrap();
    let views = prepared.prepare(&[camera(SIZE)]).unwrap();
    target
        .draw((&prepared, &mut encoder), (views[0], pass), true)
        .unwrap();
    target.color.destroy();
    let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
    encoder.submit().unwrap();
    assert!(crate::support::now(scope.pop()).is_some());
    let other = Target::new(&gpu, SIZE, 1);
    frame(&mut crowd, &other, pass, 0.3).unwrap();
    let mut fresh = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut fresh);
    let pass = fresh.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    frame(&mut fresh, &target, pass, 0.3).unwrap();
    let pictures = [&target, &other].map(|it| read(&gpu, &it.color));
    assert_eq!(different(&pictures[0], &pictures[1], 0), 0);
    drop((crowd, fresh, target, other, gpu));
    messages::expect_none();
}

/// Draws of several crowds are mixed in one encoder.
#[test]
fn of_several_crowds_share_an_encoder() {
    let gpu = gpu();
    let [mut left, mut right, mut both] =
        [(); 3].map(|()| Crowd::new(&gpu, &desc(2, Stages::default())).unwrap());
    let character = populate(&mut both);
    for (crowd, range) in [(&mut left, 0..1), (&mut right, 1..3)] {
        let id = crowd
            .add_character(
                &throng_reference::ribbon::built(throng_reference::ribbon::ribbon(4)).character,
                &CharacterDesc::default(),
            )
            .unwrap();
        for spawn in &spawns()[range] {
            crowd.spawn(id, spawn).unwrap();
        }
    }
    let _ = character;
    let passes =
        [&mut left, &mut right, &mut both].map(|it| it.create_pass(&pass_desc(1)).unwrap());
    let targets = [(); 2].map(|()| Target::new(&gpu, SIZE, 1));
    for _ in 0..3 {
        let mut encoder = Encoder::new(&gpu);
        let mut frames = [&mut left, &mut right].map(|it| {
            it.update(0.3).unwrap();
            it.begin_frame(0.3).unwrap()
        });
        let views = frames
            .each_mut()
            .map(|it| it.prepare(&[camera(SIZE)]).unwrap()[0]);
        for (at, frame) in frames.iter().enumerate() {
            targets[0]
                .draw((frame, &mut encoder), (views[at], passes[at]), at == 0)
                .unwrap();
        }
        encoder.submit().unwrap();
        idle(&gpu);
    }
    frame(&mut both, &targets[1], passes[2], 0.3).unwrap();
    let pictures = targets.each_ref().map(|it| read(&gpu, &it.color));
    assert_eq!(different(&pictures[0], &pictures[1], 0), 0);
    drop((left, right, both, targets, gpu));
    messages::expect_none();
}
