//! Arguments that do not fit are typed errors, and nothing is recorded.

use crate::support::{
    COLOR, DEPTH, SIZE, Target, adapter, camera, desc, descriptor, environment_desc, gpu, idle,
    messages, now, pass_desc, populate, square, texture, whole,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use throng::{PassKind, Stages};
use throng_wgpu::{Crowd, Encoder, Error, Gpu, PassDesc, throng};

#[test]
fn other_backends() {
    let mut desc = wgpu::InstanceDescriptor::new_without_display_handle();
    desc.backends = wgpu::Backends::NOOP;
    desc.backend_options.noop.enable = true;
    let adapter = now(wgpu::Instance::new(desc).request_adapter(&Default::default())).unwrap();
    let opened = Gpu::open(&adapter, &Default::default());
    assert!(
        matches!(opened, Err(Error::Backend(wgpu::Backend::Noop))),
        "{opened:?}"
    );
}

#[test]
fn devices_that_the_adapter_does_not_support() {
    let adapter = adapter();
    let open = |desc: &wgpu::DeviceDescriptor<'_>| Gpu::open(&adapter, desc).unwrap_err();
    let missing = wgpu::Features::all() - adapter.features();
    let missing = missing - wgpu::Features::all_experimental_mask();
    let why = open(&wgpu::DeviceDescriptor {
        required_features: missing,
        ..Default::default()
    });
    assert!(
        matches!(why, Error::Features(found) if found == missing),
        "{why}"
    );
    let experimental = adapter.features() & wgpu::Features::all_experimental_mask();
    if !experimental.is_empty() {
        let why = open(&wgpu::DeviceDescriptor {
            required_features: experimental,
            ..Default::default()
        });
        assert!(matches!(why, Error::Experimental(_)), "{why}");
    }
    let why = open(&wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits {
            max_texture_dimension_2d: u32::MAX,
            ..wgpu::Limits::default()
        },
        ..Default::default()
    });
    let named = |why: &Error| matches!(why, Error::Limit { name, .. } if name.contains("texture"));
    assert!(named(&why), "{why}");
    messages::expect_none();
}

#[test]
fn formats_that_cannot_be_drawn_into() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    let mut refuse = |desc: &PassDesc<'_>| match crowd.create_pass(desc) {
        Err(Error::Format { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    let color = |formats| PassDesc {
        color_formats: formats,
        ..PassDesc::default()
    };
    use wgpu::TextureFormat as F;
    assert!(refuse(&color(&[Some(F::Rgba8Snorm)])).contains("attachments"));
    assert!(refuse(&color(&[Some(F::Rgba32Uint)])).contains("blended"));
    assert!(refuse(&color(&[Some(DEPTH)])).contains("no colour"));
    assert!(refuse(&color(&[Some(F::R16Unorm)])).contains("feature"));
    let wrong = refuse(&PassDesc {
        depth_format: Some(COLOR),
        ..pass_desc(1)
    });
    assert!(wrong.contains("no depth"));
    assert!(refuse(&pass_desc(3)).contains("sample_count"));
    let none = crowd.create_pass(&PassDesc::default());
    assert!(matches!(none, Err(Error::Throng(_))), "{none:?}");
    let large = [Some(F::Rgba32Float); 5];
    for (desc, limit) in [
        (color(&[Some(F::R8Unorm); 9]), "max_color_attachments"),
        (color(&large), "max_color_attachment_bytes_per_sample"),
    ] {
        let refused = crowd.create_pass(&PassDesc {
            kind: PassKind::Motion,
            ..desc
        });
        assert!(
            matches!(refused, Err(Error::Limit { name, .. }) if name == limit),
            "{refused:?}"
        );
    }
    messages::expect_none();
}

#[test]
fn attachments_that_do_not_fit() {
    let (gpu, other) = (gpu(), gpu());
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    crowd.update(0.3).unwrap();
    let mut frame = crowd.begin_frame(0.3).unwrap();
    let mut encoder = Encoder::new(&gpu);
    let views = frame.prepare(&[camera(SIZE)]).unwrap();
    let gone = texture(&gpu, COLOR, SIZE, 1);
    let gone_view = whole(&gone);
    gone.destroy();
    let mut draw_into =
        |color: &wgpu::TextureView, depth: &wgpu::TextureView| -> Result<(), Error> {
            let mut colors = Vec::new();
            let desc = descriptor(&mut colors, (color, None, depth), true);
            frame.draw(&mut encoder, views[0], pass, &desc)
        };
    let rejected = |result: Result<(), Error>, text: &str| match result {
        Err(why @ Error::Rejected { .. }) => assert!(why.to_string().contains(text), "{why}"),
        other => panic!("{other:?}"),
    };
    let result = draw_into(&gone_view, &whole(&target.depth));
    assert!(matches!(result, Err(Error::Destroyed(_))), "{result:?}");
    let mut draw =
        |color: &wgpu::Texture, depth: &wgpu::Texture| draw_into(&whole(color), &whole(depth));
    draw(&target.color, &target.depth).unwrap();
    let format = wgpu::TextureFormat::Bgra8UnormSrgb;
    rejected(
        draw(&texture(&gpu, format, SIZE, 1), &target.depth),
        "Incompatible",
    );
    let depth = wgpu::TextureFormat::Depth16Unorm;
    rejected(
        draw(&target.color, &texture(&gpu, depth, SIZE, 1)),
        "Incompatible",
    );
    let samples = Target::new(&gpu, SIZE, 4);
    rejected(
        draw(&samples.samples.unwrap(), &samples.depth),
        "ncompatible",
    );
    let small = Target::new(&gpu, square(64), 1);
    rejected(draw(&small.color, &small.depth), "cissor");
    rejected(draw(&target.color, &small.depth), "differing sizes");
    let foreign = Gpu::open(gpu.adapter(), &Default::default()).unwrap();
    let result = draw(&texture(&foreign, COLOR, SIZE, 1), &target.depth);
    assert!(
        matches!(result, Err(Error::OtherDevice { .. })),
        "{result:?}"
    );
    // The encoder is as before.
    encoder.submit().unwrap();
    let result = target.draw((&frame, &mut Encoder::new(&other)), (views[0], pass), true);
    assert!(matches!(result, Err(Error::OtherEncoder)), "{result:?}");
    let picture = crate::support::read(&gpu, &target.color);
    assert!(throng_reference::picture::covered(&picture) > 500);
    drop((crowd, target, gpu, other));
    messages::expect_none();
}

#[test]
fn frames_that_are_prepared_twice() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    let mut encoder = Encoder::new(&gpu);
    crowd.update(0.3).unwrap();
    let mut frame = crowd.begin_frame(0.3).unwrap();
    let views = frame.prepare(&[camera(SIZE)]).unwrap();
    for _ in 0..2 {
        let again = frame.prepare(&[camera(SIZE)]);
        assert!(matches!(again, Err(Error::Throng(_))), "{again:?}");
    }
    // It is as before.
    let to = (&frame, &mut encoder);
    target.draw(to, (views[0], pass), true).unwrap();
    encoder.submit().unwrap();
    let picture = crate::support::read(&gpu, &target.color);
    assert!(throng_reference::picture::covered(&picture) > 500);
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// Draws a frame, and submits it.
fn draw_into(target: &Target, crowd: &mut Crowd, pass: throng::PassId) -> Result<(), Error> {
    let mut encoder = Encoder::new(&crowd.gpu().clone());
    crowd.update(0.3)?;
    let mut frame = crowd.begin_frame(0.3)?;
    let views = frame.prepare(&[camera(SIZE)])?;
    target.draw((&frame, &mut encoder), (views[0], pass), true)?;
    encoder.submit()?;
    Ok(())
}

#[test]
fn shadow_maps_that_do_not_fit() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let foreign = Gpu::open(gpu.adapter(), &Default::default()).unwrap();
    let result = crowd.set_shadow_map(&texture(&foreign, DEPTH, SIZE, 1), false);
    assert!(
        matches!(result, Err(Error::OtherDevice { .. })),
        "{result:?}"
    );
    let result = crowd.set_shadow_map(&texture(&gpu, COLOR, SIZE, 1), false);
    assert!(matches!(result, Err(Error::Format { .. })), "{result:?}");
    let oblong = wgpu::Extent3d { width: 64, ..SIZE };
    let result = crowd.set_shadow_map(&texture(&gpu, DEPTH, oblong, 1), false);
    assert!(
        matches!(result, Err(Error::Attachment { .. })),
        "{result:?}"
    );
    let pass = PassDesc {
        kind: PassKind::Color,
        shadow_map: true,
        ..pass_desc(1)
    };
    let pass = crowd.create_pass(&pass).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    let draw = |crowd: &mut Crowd| draw_into(&target, crowd, pass);
    let result = draw(&mut crowd);
    assert!(matches!(result, Err(Error::Throng(_))), "{result:?}");
    crowd.set_shadow_map(&target.depth, false).unwrap();
    idle(&gpu);
    let result = draw(&mut crowd);
    assert!(
        matches!(result, Err(Error::Attachment { .. })),
        "{result:?}"
    );
    let map = texture(&gpu, DEPTH, SIZE, 1);
    crowd.set_shadow_map(&map, false).unwrap();
    idle(&gpu);
    draw(&mut crowd).unwrap();
    map.destroy();
    idle(&gpu);
    let result = draw(&mut crowd);
    assert!(matches!(result, Err(Error::Destroyed(_))), "{result:?}");
    drop((crowd, target, gpu));
    messages::expect_none();
}

#[test]
fn environment_maps_that_do_not_fit() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let good = environment_desc(1);
    let made = |desc: &wgpu::TextureDescriptor<'_>| gpu.device().create_texture(desc);
    let mut set = |texture: &wgpu::Texture| crowd.set_environment_map(texture);
    let foreign = Gpu::open(gpu.adapter(), &Default::default()).unwrap();
    let result = set(&foreign.device().create_texture(&good));
    assert!(
        matches!(result, Err(Error::OtherDevice { .. })),
        "{result:?}"
    );
    let result = set(&texture(&gpu, DEPTH, good.size, 1));
    assert!(matches!(result, Err(Error::Format { .. })), "{result:?}");
    let size = wgpu::Extent3d {
        depth_or_array_layers: 5,
        ..good.size
    };
    for bad in [
        wgpu::TextureDescriptor {
            size,
            ..good.clone()
        },
        wgpu::TextureDescriptor {
            usage: wgpu::TextureUsages::COPY_DST,
            ..good.clone()
        },
    ] {
        let result = set(&made(&bad));
        assert!(
            matches!(result, Err(Error::Attachment { .. })),
            "{result:?}"
        );
    }
    let pass = crowd.create_pass(&PassDesc {
        environment: throng::EnvironmentLight::Map,
        ..pass_desc(1)
    });
    let pass = pass.unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    let draw = |crowd: &mut Crowd| draw_into(&target, crowd, pass);
    let result = draw(&mut crowd);
    assert!(matches!(result, Err(Error::Throng(_))), "{result:?}");
    let map = made(&good);
    crowd.set_environment_map(&map).unwrap();
    idle(&gpu);
    draw(&mut crowd).unwrap();
    map.destroy();
    idle(&gpu);
    let result = draw(&mut crowd);
    assert!(matches!(result, Err(Error::Destroyed(_))), "{result:?}");
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// wgpu finds textures by ids, which repeat in other instances, and panics at those that do not.
#[test]
fn textures_of_other_instances() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(3, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let refused = |result: Result<(), Error>| {
        let right = matches!(result, Err(Error::OtherDevice { .. }));
        assert!(right, "{result:?}");
    };
    // One for both rounds: the layer takes another one in the same memory for a hazard.
    let own = Target::new(&gpu, SIZE, 1);
    for handled in [true, false] {
        let other = crate::support::gpu();
        let reported = Arc::new(AtomicUsize::new(0));
        if handled {
            // Without this, the device panics, which is caught.
            let count = Arc::clone(&reported);
            other.device().on_uncaptured_error(Arc::new(move |_| {
                count.fetch_add(1, Ordering::Relaxed);
            }));
        }
        let foreign = Target::new(&other, SIZE, 1);
        let mut encoder = Encoder::new(&gpu);
        crowd.update(0.3).unwrap();
        let mut frame = crowd.begin_frame(0.3).unwrap();
        let views = frame.prepare(&[camera(SIZE)]).unwrap();
        let mut draw = |target: &Target| {
            let to = (&frame, &mut encoder);
            target.draw(to, (views[0], pass), true)
        };
        draw(&own).unwrap();
        refused(draw(&foreign));
        let mixed = Target {
            color: own.color.clone(),
            samples: None,
            depth: foreign.depth.clone(),
        };
        refused(draw(&mixed));
        // Ids that the crowd's instance does not have.
        let many: Vec<_> = (0..64).map(|_| Target::new(&other, SIZE, 1)).collect();
        refused(draw(&many[63]));
        encoder.submit().unwrap();
        refused(crowd.set_shadow_map(&foreign.depth, false));
        refused(crowd.set_shadow_map(&many[63].depth, false));
        assert_eq!(
            reported.load(Ordering::Relaxed),
            if handled { 5 } else { 0 }
        );
        let picture = crate::support::read(&gpu, &own.color);
        assert!(throng_reference::picture::covered(&picture) > 500);
    }
    drop((crowd, own, gpu));
    messages::expect_none();
}

#[test]
fn devices_that_are_lost() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    crate::support::frame(&mut crowd, &target, pass, 0.3).unwrap();
    crowd.update(0.4).unwrap();
    let mut frame = crowd.begin_frame(0.4).unwrap();
    let views = frame.prepare(&[camera(SIZE)]).unwrap();
    gpu.device().destroy();
    let mut encoder = Encoder::new(&gpu);
    let result = target.draw((&frame, &mut encoder), (views[0], pass), true);
    assert!(
        matches!(result, Err(Error::DeviceLost | Error::Rejected { .. })),
        "{result:?}"
    );
    encoder.submit().unwrap();
    let created = crowd.create_pass(&pass_desc(1));
    assert!(matches!(created, Err(Error::DeviceLost)), "{created:?}");
    let mapped = crowd.set_shadow_map(&target.depth, false);
    assert!(mapped.is_err(), "{mapped:?}");
    for _ in 0..4 {
        let result = crate::support::frame(&mut crowd, &target, pass, 0.3);
        assert!(matches!(result, Err(Error::DeviceLost)), "{result:?}");
    }
    drop((crowd, target, gpu));
    messages::expect_none();
}
