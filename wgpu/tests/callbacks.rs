//! Callbacks of the program fail or panic while a crowd submits.

use crate::support::{
    COLOR, SIDES, SIZE, Target, camera, desc, frame, gpu, idle, messages, pass_desc, populate,
    read, square,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use throng::Stages;
use throng_reference::picture::{covered, different};
use throng_wgpu::{Crowd, Gpu, throng};

/// Asks for a texture that wgpu rejects, and submits commands that it rejects.
fn fail(gpu: &Gpu) {
    let (device, queue) = (gpu.device(), gpu.queue());
    let _ = device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: square(0),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: COLOR,
        usage: wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    });
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 4,
        usage: wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.clear_buffer(&buffer, 0, None);
    buffer.destroy();
    queue.submit([encoder.finish()]);
}

/// Runs a callback in the next submission.
///
/// `Frame::prepare` polls before it submits. What this poll calls registers another callback, which
/// is due at once, because nothing else is in flight.
fn in_next_submission(gpu: &Gpu, callback: impl FnOnce() + Send + 'static) {
    // wgpu keeps writes of its own for the first submission.
    gpu.queue().submit([]);
    idle(gpu);
    let again = gpu.clone();
    gpu.queue()
        .on_submitted_work_done(move || again.queue().on_submitted_work_done(callback));
}

/// Errors of callbacks are not those of a frame, wherever they are called.
#[test]
fn that_fail_fail_no_frame() {
    for (stages, direct) in SIDES.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let gpu = gpu();
        let reported = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&reported);
        gpu.device().on_uncaptured_error(Arc::new(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        }));
        let mut crowd = Crowd::new(&gpu, &desc(3, stages)).unwrap();
        populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let target = Target::new(&gpu, SIZE, 1);
        frame(&mut crowd, &target, pass, 0.25).unwrap();
        let right = read(&gpu, &target.color);
        for round in 0..6 {
            let device = gpu.clone();
            match direct {
                true => gpu.queue().on_submitted_work_done(move || fail(&device)),
                false => in_next_submission(&gpu, move || fail(&device)),
            }
            crowd.update(0.25).unwrap();
            crowd
                .begin_frame(0.25)
                .unwrap()
                .prepare(&[camera(SIZE)])
                .unwrap();
            idle(&gpu);
            if round % 2 == 1 {
                // A character that is uploaded in such a frame is there afterwards.
                for instance in crowd.instances().collect::<Vec<_>>() {
                    crowd.despawn(instance).unwrap();
                }
                populate(&mut crowd);
            }
        }
        // Errors of callbacks that the poll before a frame calls reach the handler.
        assert_eq!(
            reported.load(Ordering::Relaxed),
            if direct { 12 } else { 0 }
        );
        // They play as long as those before them did.
        frame(&mut crowd, &target, pass, 0.5).unwrap();
        assert!(covered(&right) > 500);
        assert_eq!(different(&read(&gpu, &target.color), &right, 0), 0);
        drop((crowd, target, gpu));
        messages::expect_none();
    }
}

/// A callback that panics in a submission leaves the crowd as after any other one.
#[test]
fn that_panic() {
    for stages in SIDES {
        let gpu = gpu();
        let mut crowd = Crowd::new(&gpu, &desc(2, stages)).unwrap();
        populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let target = Target::new(&gpu, SIZE, 1);
        for round in 0..6 {
            crowd.wait_for_frame().unwrap();
            // In `Frame::prepare` or in `Encoder::submit`.
            let first = round % 2 == 0;
            let panics = || panic!("the program's own panic, which the test expects");
            crowd.update(0.1 * f64::from(round)).unwrap();
            let mut frame = crowd.begin_frame(0.1 * f64::from(round)).unwrap();
            if first {
                in_next_submission(&gpu, panics);
            }
            let prepared = catch_unwind(AssertUnwindSafe(|| frame.prepare(&[camera(SIZE)])));
            assert_eq!(prepared.is_err(), first);
            if let Ok(views) = prepared {
                let mut encoder = throng_wgpu::Encoder::new(&gpu);
                let to = (&frame, &mut encoder);
                target.draw(to, (views.unwrap()[0], pass), true).unwrap();
                gpu.queue().on_submitted_work_done(panics);
                let submitted = catch_unwind(AssertUnwindSafe(|| encoder.submit()));
                // The callback is called here at the latest.
                let waited = catch_unwind(AssertUnwindSafe(|| idle(&gpu)));
                assert!(submitted.is_err() || waited.is_err());
            }
        }
        crowd.wait_for_frame().unwrap();
        frame(&mut crowd, &target, pass, 0.3).unwrap();
        assert!(covered(&read(&gpu, &target.color)) > 500);
        drop((crowd, target, gpu));
        messages::expect_none();
    }
}

/// Frames whose submission panicked are waited for, and not overwritten.
#[test]
fn that_panic_do_not_end_frames_in_flight() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(1, Stages::default())).unwrap();
    populate(&mut crowd);
    for _ in 0..8 {
        crowd.wait_for_frame().unwrap();
        crowd.update(0.3).unwrap();
        let mut frame = crowd.begin_frame(0.3).unwrap();
        in_next_submission(&gpu, || {
            panic!("the program's own panic, which the test expects")
        });
        let prepared = catch_unwind(AssertUnwindSafe(|| frame.prepare(&[camera(SIZE)])));
        assert!(prepared.is_err());
    }
    drop((crowd, gpu));
    messages::expect_none();
}
