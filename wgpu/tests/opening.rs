//! Devices that an engine opens with wgpu itself, in a callback.

use crate::support::{
    SIDES, SIZE, Target, adapter, desc, frame, gpu, messages, opened, pass_desc, populate, read,
};
use throng::Stages;
use throng_reference::picture::{covered, different};
use throng_wgpu::{Crowd, Error, Gpu, Opening, throng};

fn picture((gpu, target): &(Gpu, Target), stages: Stages) -> Vec<u8> {
    let mut crowd = Crowd::new(gpu, &desc(2, stages)).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    frame(&mut crowd, target, pass, 0.3).unwrap();
    read(gpu, &target.color)
}

/// With as little as possible, with everything that the adapter has, and twice with one handle.
#[test]
fn pictures_are_the_same() {
    let adapter = adapter();
    let all = adapter.features() - wgpu::Features::all_experimental_mask();
    let opening = Opening::default();
    let descs = [wgpu::Features::empty(), all].map(|required_features| wgpu::DeviceDescriptor {
        required_features,
        required_limits: adapter.limits(),
        ..Default::default()
    });
    let with_target = |gpu| {
        let target = Target::new(&gpu, SIZE, 1);
        (gpu, target)
    };
    let own = with_target(gpu());
    let gpus = descs.map(|desc| with_target(opened(&adapter, &desc, &opening)));
    for stages in SIDES {
        let wanted = picture(&own, stages);
        assert!(covered(&wanted) > 500);
        for gpu in &gpus {
            let differ = different(&picture(gpu, stages), &wanted, 0);
            assert_eq!(differ, 0, "{stages:?}");
        }
    }
    drop((own, gpus));
    messages::expect_none();
}

#[test]
fn a_device_without_it_is_refused() {
    let adapter = adapter();
    let desc = wgpu::DeviceDescriptor::default();
    let (device, queue) = crate::support::now(adapter.request_device(&desc)).unwrap();
    // SAFETY: the device is the adapter's, the queue is its own, and nothing was added.
    let refused = unsafe { Opening::default().gpu(&adapter, &device, &queue) };
    match refused {
        Err(Error::Throng(throng::Error::Unsupported { missing, .. })) => {
            assert_eq!(missing, ["Opening::add_to"]);
        }
        other => panic!("{other:?}"),
    }
    messages::expect_none();
}
