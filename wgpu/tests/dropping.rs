//! Everything may be dropped in any order.

use crate::support::{SIZE, Target, camera, desc, gpu, messages, pass_desc, populate};
use core::any::Any;
use throng_wgpu::throng::Stages;
use throng_wgpu::{Crowd, Encoder};

/// All orders of four things.
fn orders() -> impl Iterator<Item = [usize; 4]> {
    let all = (0..256).map(|code| [code / 64, code / 16 % 4, code / 4 % 4, code % 4]);
    all.filter(|order| (0..4).all(|it| order.contains(&it)))
}

#[test]
fn in_every_order() {
    assert_eq!(orders().count(), 24);
    for (order, submit) in orders().zip([false, true].into_iter().cycle()) {
        let gpu = gpu();
        let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
        populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(1)).unwrap();
        let target = Target::new(&gpu, SIZE, 1);
        let mut encoder = Encoder::new(&gpu);
        crowd.update(0.3).unwrap();
        let mut frame = crowd.begin_frame(0.3).unwrap();
        let views = frame.prepare(&[camera(SIZE)]).unwrap();
        target
            .draw((&frame, &mut encoder), (views[0], pass), true)
            .unwrap();
        let encoder: Box<dyn Any> = match submit {
            true => Box::new(encoder.submit().unwrap()),
            false => Box::new(encoder),
        };
        let mut all = [
            Some(Box::new(gpu) as Box<dyn Any>),
            Some(Box::new(crowd)),
            Some(Box::new(target)),
            Some(encoder),
        ];
        for at in order {
            all[at] = None;
        }
        messages::expect_none();
    }
}

/// The crowd is gone, and its draws are submitted nevertheless.
#[test]
fn a_crowd_whose_draws_are_submitted_later() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    let mut encoder = Encoder::new(&gpu);
    crowd.update(0.3).unwrap();
    let mut frame = crowd.begin_frame(0.3).unwrap();
    let views = frame.prepare(&[camera(SIZE)]).unwrap();
    target
        .draw((&frame, &mut encoder), (views[0], pass), true)
        .unwrap();
    drop(crowd);
    gpu.device()
        .poll(wgpu::PollType::wait_indefinitely())
        .unwrap();
    encoder.submit().unwrap();
    let picture = crate::support::read(&gpu, &target.color);
    assert!(throng_reference::picture::covered(&picture) > 500);
    drop((target, gpu));
    messages::expect_none();
}
