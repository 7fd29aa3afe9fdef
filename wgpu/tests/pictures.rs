//! Pictures are those that the same scene gives without wgpu.

use crate::support::{
    COLOR, DEPTH, EDGE, SIDES, SIZE, SKY, SUN, Target, camera, desc, environment_desc, gpu, idle,
    light_from_world, messages, pass_desc, populate, read, read_layer, spawns, square, texture,
    whole,
};
use throng::ash::vk;
use throng::glam::{Mat4, Vec3};
use throng::{CharacterDesc, EnvironmentLight, PassKind, Stages, View};
use throng_reference::picture::{covered, different};
use throng_reference::ribbon::{built, ribbon};
use throng_standalone::{Begin, Context, ContextDesc, Frames, TargetDesc};
use throng_wgpu::{Crowd, Encoder, PassDesc, throng};
use wgpu::util::DeviceExt as _;

const TIME_S: f64 = 0.3;

/// The picture of the scene, drawn by throng alone.
fn without_wgpu(stages: Stages, samples: u32) -> Vec<u8> {
    let mut context = Context::new(&ContextDesc::default()).unwrap();
    let target = TargetDesc {
        extent: vk::Extent2D {
            width: EDGE,
            height: EDGE,
        },
        color_format: vk::Format::R8G8B8A8_SRGB,
        depth_format: Some(vk::Format::D32_SFLOAT),
        samples: vk::SampleCountFlags::from_raw(samples),
        ..TargetDesc::default()
    };
    let target = throng_standalone::Target::new(&context, &target).unwrap();
    // SAFETY: the context outlives the crowd.
    let device = unsafe { context.gpu_device() };
    let allocator = &mut context.allocator();
    let mut crowd = throng::Crowd::new(&device, allocator, &desc(1, stages)).unwrap();
    let character = built(ribbon(4)).character;
    let id = crowd
        .add_character(allocator, &character, &CharacterDesc::default())
        .unwrap();
    for spawn in spawns() {
        crowd.spawn(id, &spawn).unwrap();
    }
    // SAFETY: the formats are those of the target.
    let pass = unsafe { crowd.create_pass(&target.pass_desc()) };
    let begin = Begin {
        color: [SKY.r, SKY.g, SKY.b, SKY.a].map(|it| it as f32),
        ..Begin::default()
    };
    let mut frames = Frames::new(&context, 1).unwrap();
    let in_flight = frames.begin().unwrap();
    let (device, cmd) = (context.device.clone(), in_flight.cmd);
    crowd.update(TIME_S).unwrap();
    // SAFETY: the frame in flight was just begun, and the recording is submitted.
    unsafe {
        let mut frame = crowd
            .begin_frame(&mut context.allocator(), 0, TIME_S)
            .unwrap();
        let views = frame.record_prepare(cmd, &[camera(SIZE)]).unwrap();
        target.begin(&device, cmd, &begin);
        frame.record_draw(cmd, views[0], pass.unwrap()).unwrap();
        target.end(&device, cmd);
        in_flight.submit().unwrap();
    }
    let picture = target.read_rgba().unwrap();
    drop(frames);
    // SAFETY: reading back has waited for the device.
    unsafe { crowd.destroy(&mut context.allocator()) };
    drop(target);
    picture
}

#[test]
fn equal_those_without_wgpu() {
    for (stages, samples) in SIDES.into_iter().flat_map(|it| [(it, 1), (it, 4)]) {
        let gpu = gpu();
        let mut crowd = Crowd::new(&gpu, &desc(2, stages)).unwrap();
        populate(&mut crowd);
        let pass = crowd.create_pass(&pass_desc(samples)).unwrap();
        let target = Target::new(&gpu, SIZE, samples);
        crate::support::frame(&mut crowd, &target, pass, TIME_S).unwrap();
        let picture = read(&gpu, &target.color);
        assert!(covered(&picture) > 500);
        let other = without_wgpu(stages, samples);
        assert_eq!(
            different(&picture, &other, 0),
            0,
            "{stages:?}, {samples} samples"
        );
        drop((crowd, target, gpu));
        messages::expect_none();
    }
}

/// A draw that loads finds what wgpu has drawn, and wgpu finds what was drawn.
#[test]
fn load_what_wgpu_drew_and_are_loaded_by_wgpu() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    let (color, depth) = (whole(&target.color), whole(&target.depth));
    let mut encoder = Encoder::new(&gpu);
    let clear = |color, depth, encoder: &mut Encoder, load: bool| {
        let mut colors = Vec::new();
        let desc = crate::support::descriptor(&mut colors, (color, None, depth), !load);
        drop(encoder.begin_render_pass(&desc));
    };
    clear(&color, &depth, &mut encoder, false);
    crowd.update(TIME_S).unwrap();
    let mut frame = crowd.begin_frame(TIME_S).unwrap();
    let views = frame.prepare(&[camera(SIZE)]).unwrap();
    for _ in 0..2 {
        let to = (&frame, &mut encoder);
        target.draw(to, (views[0], pass), false).unwrap();
    }
    clear(&color, &depth, &mut encoder, true);
    encoder.submit().unwrap();
    let picture = read(&gpu, &target.color);
    let other = without_wgpu(Stages::default(), 1);
    assert_eq!(different(&picture, &other, 0), 0);
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// A depth attachment that also has stencil, which is left alone.
#[test]
fn keep_the_stencil() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let format = wgpu::TextureFormat::Depth24PlusStencil8;
    let pass = PassDesc {
        depth_format: Some(format),
        ..pass_desc(1)
    };
    let pass = crowd.create_pass(&pass).unwrap();
    let target = Target {
        depth: texture(&gpu, format, SIZE, 1),
        ..Target::new(&gpu, SIZE, 1)
    };
    let (color, depth) = (whole(&target.color), whole(&target.depth));
    for stencil in [false, true] {
        let mut encoder = Encoder::new(&gpu);
        crowd.update(TIME_S).unwrap();
        let mut frame = crowd.begin_frame(TIME_S).unwrap();
        let views = frame.prepare(&[camera(SIZE)]).unwrap();
        let mut colors = Vec::new();
        let mut desc = crate::support::descriptor(&mut colors, (&color, None, &depth), true);
        let ops = wgpu::Operations {
            load: wgpu::LoadOp::Clear(7),
            store: wgpu::StoreOp::Discard,
        };
        desc.depth_stencil_attachment.as_mut().unwrap().stencil_ops = stencil.then_some(ops);
        frame.draw(&mut encoder, views[0], pass, &desc).unwrap();
        encoder.submit().unwrap();
        let other = without_wgpu(Stages::default(), 1);
        assert_eq!(
            different(&read(&gpu, &target.color), &other, 0),
            0,
            "{stencil}"
        );
    }
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// The shadow map is a texture of wgpu's, in which both sides find what the other drew.
#[test]
fn cast_shadows_into_a_texture_that_wgpu_samples() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let map = texture(&gpu, DEPTH, square(256), 1);
    crowd.set_shadow_map(&map, false).unwrap();
    let color = crowd.create_pass(&PassDesc {
        shadow_map: true,
        ..pass_desc(1)
    });
    let color = color.unwrap();
    let shadow = crowd.create_pass(&PassDesc {
        kind: PassKind::Shadow,
        depth_format: Some(DEPTH),
        ..PassDesc::default()
    });
    let shadow = shadow.unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    let light = throng_wgpu::shadow_of(light_from_world(), Default::default(), map.size());
    let mut pictures = Vec::new();
    for shaded in [false, true, true] {
        let camera = View {
            shadow: shaded.then(|| throng::Shadow::of(&[light])),
            lighting: throng::Lighting {
                sun_direction: SUN,
                ..throng::Lighting::default()
            },
            ..camera(SIZE)
        };
        let mut encoder = Encoder::new(&gpu);
        crowd.update(TIME_S).unwrap();
        let mut frame = crowd.begin_frame(TIME_S).unwrap();
        let views = frame.prepare(&[camera, light]).unwrap();
        let map = whole(&map);
        let desc = wgpu::RenderPassDescriptor {
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &map,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Store,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        };
        frame.draw(&mut encoder, views[1], shadow, &desc).unwrap();
        target
            .draw((&frame, &mut encoder), (views[0], color), true)
            .unwrap();
        encoder.submit().unwrap();
        pictures.push(read(&gpu, &target.color));
    }
    assert!(different(&pictures[0], &pictures[1], 8) > 50);
    assert_eq!(different(&pictures[1], &pictures[2], 0), 0);
    drop((crowd, target, gpu));
    messages::expect_none();
}

/// An environment map of one colour reflects what the same irradiance does, and another colour
/// something else.
#[test]
fn reflect_an_environment_map() {
    const LEVELS: u32 = 3;
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let map = |radiance: [u16; 3]| {
        let desc = environment_desc(LEVELS);
        let texels = (0..LEVELS).map(|level| (desc.size.width >> level).pow(2));
        // 1.0 in half precision.
        let [r, g, b] = radiance;
        let texels = vec![[r, g, b, 0x3C00]; 6 * texels.sum::<u32>() as usize];
        let order = wgpu::util::TextureDataOrder::MipMajor;
        let bytes: Vec<u8> = texels
            .iter()
            .flatten()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        gpu.device()
            .create_texture_with_data(gpu.queue(), &desc, order, &bytes)
    };
    let radiance = Vec3::new(0.5, 0.25, 0.125);
    // The same in half precision, and 16 in blue.
    let [same, other] = [[0x3800, 0x3400, 0x3000], [0, 0, 0x4C00]].map(map);
    let target = Target::new(&gpu, SIZE, 1);
    let mut picture = |light: EnvironmentLight, texture: Option<&wgpu::Texture>| {
        if let Some(texture) = texture {
            crowd.set_environment_map(texture).unwrap();
        }
        let pass = crowd.create_pass(&PassDesc {
            environment: light,
            ..pass_desc(1)
        });
        let pass = pass.unwrap();
        let camera = View {
            environment: Some(throng::Environment::uniform(radiance)),
            ..camera(SIZE)
        };
        let mut encoder = Encoder::new(&gpu);
        crowd.update(TIME_S).unwrap();
        crowd.wait_for_frame().unwrap();
        let mut frame = crowd.begin_frame(TIME_S).unwrap();
        let views = frame.prepare(&[camera]).unwrap();
        let drawn = target.draw((&frame, &mut encoder), (views[0], pass), true);
        drawn.unwrap();
        encoder.submit().unwrap();
        crowd.remove_pass(pass).unwrap();
        read(&gpu, &target.color)
    };
    let sky = picture(EnvironmentLight::Sky, None);
    let irradiance = picture(EnvironmentLight::Irradiance, None);
    let reflected = picture(EnvironmentLight::Map, Some(&same));
    let coloured = picture(EnvironmentLight::Map, Some(&other));
    assert!(different(&sky, &irradiance, 8) > 500);
    // A surface reflects the map like a mirror or like chalk, with roundings of half precision.
    assert_eq!(different(&irradiance, &reflected, 2), 0);
    assert!(different(&reflected, &coloured, 2) > 500);
    drop((crowd, target, same, other, gpu));
    messages::expect_none();
}

/// Both eyes of a headset in one draw, into two layers.
#[test]
fn of_two_eyes_are_those_of_two_views() {
    let adapter = crate::support::adapter();
    let desc_of_device = wgpu::DeviceDescriptor {
        required_features: wgpu::Features::MULTIVIEW,
        required_limits: wgpu::Limits {
            max_multiview_view_count: 2,
            ..wgpu::Limits::default()
        },
        ..Default::default()
    };
    both_eyes(&throng_wgpu::Gpu::open(&adapter, &desc_of_device).unwrap());
    let opening = throng_wgpu::Opening::default();
    both_eyes(&crate::support::opened(&adapter, &desc_of_device, &opening));
    messages::expect_none();
}

fn both_eyes(gpu: &throng_wgpu::Gpu) {
    let mut crowd = Crowd::new(gpu, &desc(2, Stages::default())).unwrap();
    populate(&mut crowd);
    let both = core::num::NonZeroU32::new(0b11);
    // Without depth: this driver clears only the first layer of a depth array.
    let one = PassDesc {
        depth_format: None,
        ..pass_desc(1)
    };
    let two = PassDesc {
        multiview_mask: both,
        ..one.clone()
    };
    let passes = [&one, &two].map(|it| crowd.create_pass(it).unwrap());
    let layers = wgpu::Extent3d {
        depth_or_array_layers: 2,
        ..SIZE
    };
    let [single, array] = [SIZE, layers].map(|size| texture(gpu, COLOR, size, 1));
    let left = camera(SIZE);
    let right_matrix = left.eye.clip_from_world * Mat4::from_translation(Vec3::X * 0.3);
    let right = throng_wgpu::view(right_matrix, left.eye.position, SIZE);
    let mut stereo = left;
    stereo.more_eyes[0] = Some(throng::Eye::new(right_matrix, left.eye.position));
    let mut draw = |view: View, pass, target: &wgpu::Texture, multiview_mask| {
        let mut encoder = Encoder::new(gpu);
        crowd.update(TIME_S).unwrap();
        let mut frame = crowd.begin_frame(TIME_S).unwrap();
        let views = frame.prepare(&[view]).unwrap();
        let target = whole(target);
        let color_attachments = [Some(wgpu::RenderPassColorAttachment {
            view: &target,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(SKY),
                store: wgpu::StoreOp::Store,
            },
        })];
        let desc = wgpu::RenderPassDescriptor {
            color_attachments: &color_attachments,
            multiview_mask,
            ..Default::default()
        };
        frame.draw(&mut encoder, views[0], pass, &desc).unwrap();
        encoder.submit().unwrap();
        idle(gpu);
    };
    draw(stereo, passes[1], &array, both);
    for (layer, view) in [(0, left), (1, right)] {
        draw(view, passes[0], &single, None);
        let alone = read(gpu, &single);
        assert!(covered(&alone) > 500);
        assert_eq!(
            different(&alone, &read_layer(gpu, &array, layer), 0),
            0,
            "{layer}"
        );
    }
}

#[test]
fn follow_a_target_that_is_resized() {
    let gpu = gpu();
    let mut crowd = Crowd::new(&gpu, &desc(3, Stages::default())).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(4)).unwrap();
    // The targets are kept. Otherwise new ones take the memory of old ones, for whose end wgpu
    // waits with a semaphore, which this layer does not follow.
    let mut kept = Vec::new();
    for edge in [64, 192, 100, 192] {
        let target = Target::new(&gpu, square(edge), 4);
        crate::support::frame(&mut crowd, &target, pass, TIME_S).unwrap();
        if edge == EDGE {
            let other = without_wgpu(Stages::default(), 4);
            assert_eq!(different(&read(&gpu, &target.color), &other, 0), 0);
        }
        kept.push(target);
    }
    drop((crowd, kept, gpu));
    messages::expect_none();
}

/// The control: messages of the layer reach the test.
#[test]
fn a_fault_is_a_message() {
    let gpu = gpu();
    let texture = texture(&gpu, COLOR, SIZE, 1);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    // SAFETY: it records two writes without a barrier, which harms nobody.
    unsafe {
        encoder.as_hal_mut::<wgpu::hal::vulkan::Api, _, _>(|hal| {
            let cmd = hal.unwrap().raw_handle();
            let device = gpu.device().as_hal::<wgpu::hal::vulkan::Api>().unwrap();
            let image = texture
                .as_hal::<wgpu::hal::vulkan::Api>()
                .unwrap()
                .raw_handle();
            let range = vk::ImageSubresourceRange::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .level_count(1)
                .layer_count(1);
            for layout in [vk::ImageLayout::GENERAL, vk::ImageLayout::GENERAL] {
                let clear = vk::ClearColorValue::default();
                device
                    .raw_device()
                    .cmd_clear_color_image(cmd, image, layout, &clear, &[range]);
            }
        });
    }
    drop(encoder.finish());
    let caught = messages::take();
    assert!(
        caught.iter().any(|it| it.contains("SYNC-HAZARD")),
        "{caught:?}"
    );
}

/// A wall right before the camera hides everybody, one at the end of its view nobody.
#[test]
fn are_without_those_behind_depth() {
    let gpu = gpu();
    let mut desc = desc(2, Stages::Gpu);
    desc.capacity.depth_pixels = EDGE * EDGE;
    let mut crowd = Crowd::new(&gpu, &desc).unwrap();
    populate(&mut crowd);
    let pass = crowd.create_pass(&pass_desc(1)).unwrap();
    let target = Target::new(&gpu, SIZE, 1);
    let walls = texture(&gpu, DEPTH, SIZE, 1);
    let mut pictures = Vec::new();
    let mut figures = Vec::new();
    for (behind, depth) in [(false, 1.0), (true, 1.0), (true, 0.0)] {
        for _ in 0..4 {
            let view = whole(&walls);
            let mut encoder = Encoder::new(&gpu);
            drop(encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                    view: &view,
                    depth_ops: Some(wgpu::Operations {
                        load: wgpu::LoadOp::Clear(depth),
                        store: wgpu::StoreOp::Store,
                    }),
                    stencil_ops: None,
                }),
                ..Default::default()
            }));
            encoder.submit().unwrap();
            crowd.update(TIME_S).unwrap();
            let mut frame = crowd.begin_frame(TIME_S).unwrap();
            figures = frame.view_stats().to_vec();
            let depths = [throng_wgpu::Depth::new(&walls)];
            let depths = if behind { &depths[..] } else { &[] };
            let views = frame.prepare_behind(&[camera(SIZE)], depths).unwrap();
            let mut encoder = Encoder::new(&gpu);
            target
                .draw((&frame, &mut encoder), (views[0], pass), true)
                .unwrap();
            encoder.submit().unwrap();
            idle(&gpu);
        }
        pictures.push((read(&gpu, &target.color), figures[0]));
    }
    let [(all, open), (same, far), (none, hidden)] = &pictures[..] else {
        unreachable!()
    };
    assert!(covered(all) > 500 && open.shown > 0);
    assert_eq!((different(all, same, 0), far.hidden), (0, 0));
    assert_eq!((hidden.shown, hidden.hidden), (0, open.shown));
    assert_eq!(covered(none), 0);
    // A texture that cannot be sampled, and a layer that does not exist.
    let mut frame = crowd.begin_frame(TIME_S).unwrap();
    let color = texture(&gpu, COLOR, SIZE, 1);
    let no_layer = throng_wgpu::Depth {
        layer: 1,
        ..throng_wgpu::Depth::new(&walls)
    };
    for depth in [throng_wgpu::Depth::new(&color), no_layer] {
        frame.prepare_behind(&[camera(SIZE)], &[depth]).unwrap_err();
    }
    drop((crowd, target, gpu));
    messages::expect_none();
}
