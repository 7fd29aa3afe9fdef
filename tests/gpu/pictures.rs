//! What the draw stage makes of views, viewports, passes and command buffers, told from pictures.

use crate::support::frames::{
    EXTENT, FramesInFlight, NORMAL_Z, REVERSED_Z, covered, depth, different, pass, picture, target,
};
use crate::support::made::{built, ribbon};
use crate::support::{SMALL, Setup, each, reversed, view};
use std::thread;
use throng::ash::{self, vk};
use throng::glam::camera::rh;
use throng::glam::{Quat, Vec3};
use throng::ids::ClipId;
use throng::skeleton::Affine;
use throng::standalone::{Begin, Target, TargetDesc};
use throng::{Crowd, Frame, PassDesc, PassId, PassKind, Spawn, View, ViewId, Viewport};

/// Four ribbons that show their red front to the camera, one of them mirrored.
fn populated(setup: &mut Setup) -> Crowd {
    let mut crowd = setup.crowd(2, SMALL);
    let character = built(ribbon(4)).character;
    let allocator = &mut setup.context.allocator;
    let id = crowd.add_character(allocator, &character).unwrap();
    for at in 0..4 {
        let sign = if at == 2 { -1.0 } else { 1.0 };
        let place = Vec3::new(at as f32 - 1.5, 0.0, 0.2 * at as f32);
        let spawn = Spawn {
            world_from_model: Affine::from_scale_rotation_translation(
                Vec3::new(sign, 1.0, 1.0),
                Quat::IDENTITY,
                place,
            ),
            play: if at == 0 {
                ClipId(0).into()
            } else {
                "sway".into()
            },
            ..Spawn::default()
        };
        crowd.spawn(id, &spawn).unwrap();
    }
    crowd
}

fn camera() -> View {
    view(Vec3::new(0.4, 2.0, 7.0), Vec3::new(0.0, 1.5, 0.0), EXTENT)
}

/// Texels that are more red than blue, and more blue than red: fronts and backs of the ribbons.
fn sides(picture: &[u8]) -> (usize, usize) {
    let background = &picture[..4];
    let drawn = picture.chunks_exact(4).filter(|texel| *texel != background);
    drawn.fold((0, 0), |(red, blue), texel| {
        if texel[0] > texel[2] {
            (red + 1, blue)
        } else {
            (red, blue + 1)
        }
    })
}

fn upside_down(picture: &[u8], extent: vk::Extent2D) -> Vec<u8> {
    let rows: Vec<_> = picture
        .chunks_exact(extent.width as usize * 4)
        .rev()
        .collect();
    rows.concat()
}

/// A setup with a crowd, frames in flight, and a target to draw into.
fn scene(
    setup: &mut Setup,
    test: impl FnOnce(&mut Setup, &mut Crowd, &mut FramesInFlight, &Target),
) {
    let mut crowd = populated(setup);
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
    let target = target(&mut setup.context);
    test(setup, &mut crowd, &mut frames_in_flight, &target);
    frames_in_flight.destroy(&setup.context);
    target.destroy(&mut setup.context);
    setup.destroy(crowd);
}

#[test]
fn fronts_are_fronts_whichever_way_the_viewport_and_depth_run() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let near_0 = pass(crowd, target, false);
            let near_1 = pass(crowd, target, true);
            let context = &mut setup.context;
            let mut shoot = |views: &[View], pass: PassId, begin: &Begin| {
                let on = (target, pass, begin);
                picture(context, crowd, frames_in_flight, (0, 0.3), on, views)
            };
            let straight = shoot(&[camera()], near_0, &NORMAL_Z);
            let (red, blue) = sides(&straight);
            assert!(red > 500 && blue == 0, "{red} {blue}");

            let other_depth = shoot(&[reversed(&camera())], near_1, &REVERSED_Z);
            assert!(different(&straight, &other_depth, 1) < 20);

            let flipped = Viewport {
                x: 0.0,
                y: EXTENT.height as f32,
                width: EXTENT.width as f32,
                height: -(EXTENT.height as f32),
            };
            let mut views = [camera()];
            views[0].viewport = flipped;
            let flipped = shoot(&views, near_0, &NORMAL_Z);
            assert_eq!(sides(&flipped).1, 0, "backs are seen");
            let turned = upside_down(&flipped, EXTENT);
            assert!(different(&straight, &turned, 1) < 60, "no mirror image");

            for (clip, pass, begin) in [
                (
                    rh::proj::vulkan::orthographic(-2.5, 2.5, -2.5, 2.5, 0.1, 20.0),
                    near_0,
                    &NORMAL_Z,
                ),
                (
                    rh::proj::vulkan::orthographic(-2.5, 2.5, -2.5, 2.5, 20.0, 0.1),
                    near_1,
                    &REVERSED_Z,
                ),
            ] {
                let from = rh::view::look_at_mat4(
                    Vec3::new(0.0, 1.5, 7.0),
                    Vec3::new(0.0, 1.5, 0.0),
                    Vec3::Y,
                );
                let view = View::new(clip * from, Vec3::new(0.0, 1.5, 700.0), EXTENT);
                let (red, blue) = sides(&shoot(&[view], pass, begin));
                assert!(red > 500 && blue == 0, "orthographic: {red} {blue}");
            }
            // From behind it is the other way round.
            let behind = view(Vec3::new(0.4, 2.0, -7.0), Vec3::new(0.0, 1.5, 0.0), EXTENT);
            let (red, blue) = sides(&shoot(&[behind], near_0, &NORMAL_Z));
            assert!(red == 0 && blue > 300, "{red} {blue}");
        });
    });
}

#[test]
fn two_views_fill_their_halves_and_nothing_else() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let on = (target, pass, &NORMAL_Z);
            let half = |x: f32| Viewport {
                x,
                y: 0.0,
                width: 48.0,
                height: 96.0,
            };
            let at = |x: f32, eye: Vec3| View {
                viewport: half(x),
                ..view(
                    eye,
                    Vec3::new(0.0, 1.5, 0.0),
                    vk::Extent2D {
                        width: 48,
                        height: 96,
                    },
                )
            };
            let (left, right) = (
                at(0.0, Vec3::new(0.4, 2.0, 9.0)),
                at(48.0, Vec3::new(0.4, 4.0, -9.0)),
            );
            let context = &mut setup.context;
            let mut shoot =
                |views: &[View]| picture(context, crowd, frames_in_flight, (1, 0.3), on, views);
            let (both, one, two) = (shoot(&[left, right]), shoot(&[left]), shoot(&[right]));
            let row = |picture: &[u8], y: usize| picture[y * 96 * 4..(y + 1) * 96 * 4].to_vec();
            for y in 0..96 {
                let (both, one, two) = (row(&both, y), row(&one, y), row(&two, y));
                assert_eq!(both[..48 * 4], one[..48 * 4]);
                assert_eq!(both[48 * 4..], two[48 * 4..]);
                let background = &one[95 * 4..];
                assert!(
                    one[48 * 4..]
                        .chunks_exact(4)
                        .all(|texel| texel == background)
                );
            }
            assert!(covered(&one) > 200 && covered(&two) > 200);
        });
    });
}

#[test]
fn two_views_go_to_two_targets() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let views = [
                camera(),
                view(Vec3::new(3.0, 2.0, -6.0), Vec3::new(0.0, 1.5, 0.0), EXTENT),
            ];
            let alone: Vec<_> = views
                .iter()
                .map(|view| {
                    let on = (target, pass, &NORMAL_Z);
                    picture(
                        &mut setup.context,
                        crowd,
                        frames_in_flight,
                        (0, 0.3),
                        on,
                        &[*view],
                    )
                })
                .collect();
            let second = crate::support::frames::target(&mut setup.context);
            let cmd = frames_in_flight.begin(&setup.context, 1);
            let context = &mut setup.context;
            unsafe {
                let mut frame = crowd.begin_frame(&mut context.allocator, 1, 0.3).unwrap();
                let ids = frame.record_prepare(cmd, &views).unwrap();
                // In the other order, to show that order does not matter.
                for (target, view) in [(&second, ids[1]), (target, ids[0])] {
                    target.begin(&context.device, cmd, &NORMAL_Z);
                    frame.record_draw(cmd, view, pass).unwrap();
                    target.end(&context.device, cmd);
                }
                let stats = frame.stats();
                assert_eq!(stats.instances, 4);
                // Two primitives, for plain and mirrored instances, in two views.
                assert_eq!(stats.draws, 2 * 2 * 2);
                assert_eq!(stats.triangles, 2 * 4 * 12);
                assert_eq!(stats.vertices, 2 * 4 * 16);
            }
            frames_in_flight.submit(&setup.context, 1);
            frames_in_flight.wait(&setup.context, 1);
            for (target, alone) in [(target, &alone[0]), (&second, &alone[1])] {
                let together = target.read_rgba(&mut setup.context).unwrap();
                assert_eq!(different(&together, alone, 0), 0);
            }
            second.destroy(&mut setup.context);
        });
    });
}

#[test]
fn several_samples_are_resolved() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let desc = TargetDesc {
                extent: EXTENT,
                samples: vk::SampleCountFlags::TYPE_4,
                ..TargetDesc::default()
            };
            let smooth = Target::new(&mut setup.context, &desc).unwrap();
            let one = pass(crowd, target, false);
            let four = pass(crowd, &smooth, false);
            let context = &mut setup.context;
            let mut shoot = |target: &Target, pass| {
                let on = (target, pass, &NORMAL_Z);
                picture(context, crowd, frames_in_flight, (0, 0.3), on, &[camera()])
            };
            let (hard, soft) = (shoot(target, one), shoot(&smooth, four));
            // The same inside, other at edges alone.
            let other = different(&hard, &soft, 8);
            assert!(other > 50 && other < covered(&hard) / 2, "{other}");
            smooth.destroy(context);
        });
    });
}

#[test]
fn a_depth_pass_writes_the_depth_of_a_colour_pass_and_no_colour() {
    each(|setup| {
        let mut crowd = populated(setup);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let desc = TargetDesc {
            extent: EXTENT,
            depth_usage: vk::ImageUsageFlags::TRANSFER_SRC,
            ..TargetDesc::default()
        };
        let target = Target::new(&mut setup.context, &desc).unwrap();
        for reversed_z in [false, true] {
            let color = pass(&mut crowd, &target, reversed_z);
            let formats = target.formats();
            let desc = PassDesc {
                kind: PassKind::Depth,
                color_formats: &[formats.color],
                depth_format: formats.depth.unwrap(),
                reversed_z,
                ..PassDesc::default()
            };
            let depth_only = unsafe { crowd.create_pass(&desc) }.unwrap();
            let (begin, view) = if reversed_z {
                (REVERSED_Z, reversed(&camera()))
            } else {
                (NORMAL_Z, camera())
            };
            let mut shoot = |pass| {
                let on = (&target, pass, &begin);
                let rgba = picture(
                    &mut setup.context,
                    &mut crowd,
                    &mut frames_in_flight,
                    (0, 0.3),
                    on,
                    &[view],
                );
                (rgba, depth(&mut setup.context, &target))
            };
            let ((painted, by_color), (plain, by_depth)) = (shoot(color), shoot(depth_only));
            assert!(
                by_color == by_depth,
                "the same vertices give the same depths"
            );
            assert!(by_depth.iter().filter(|d| **d != begin.depth).count() > 500);
            assert!(covered(&painted) > 500);
            assert_eq!(covered(&plain), 0);
        }
        frames_in_flight.destroy(&setup.context);
        target.destroy(&mut setup.context);
        setup.destroy(crowd);
    });
}

#[test]
fn more_colour_attachments_take_independent_blend_and_are_left_alone() {
    each(|setup| {
        scene(setup, |setup, crowd, _, target| {
            let format = target.formats().color;
            let desc = PassDesc {
                color_formats: &[format, format],
                depth_format: vk::Format::D32_SFLOAT,
                ..PassDesc::default()
            };
            let made = unsafe { crowd.create_pass(&desc) };
            let bare = setup.config.bare;
            match made {
                Ok(pass) => {
                    assert!(!bare);
                    crowd.remove_pass(pass).unwrap();
                }
                Err(throng::Error::Unsupported { what, .. }) => {
                    assert!(bare && what == "independentBlend");
                }
                Err(error) => panic!("{error}"),
            }
        });
    });
}

/// Secondary command buffers, each of a pool of its own, recorded by threads that share the frame.
fn secondaries(
    setup: &mut Setup,
    frame: &Frame<'_>,
    target: &Target,
    draws: &[(ViewId, PassId)],
) -> (Vec<vk::CommandPool>, Vec<vk::CommandBuffer>) {
    let context = &setup.context;
    let formats = [target.formats().color];
    let depth = target.formats().depth.unwrap();
    let family = context.queue_family;
    let one = |device: &ash::Device, (view, pass): (ViewId, PassId)| unsafe {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let pool = device.create_command_pool(&info, None).unwrap();
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        let cmd = device.allocate_command_buffers(&info).unwrap()[0];
        let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&formats)
            .depth_attachment_format(depth)
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let inheritance = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
        let info = vk::CommandBufferBeginInfo::default()
            .flags(
                vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE
                    | vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
            )
            .inheritance_info(&inheritance);
        device.begin_command_buffer(cmd, &info).unwrap();
        frame.record_draw(cmd, view, pass).unwrap();
        device.end_command_buffer(cmd).unwrap();
        (pool, cmd)
    };
    let (device, one) = (&context.device, &one);
    let made: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = draws
            .iter()
            .map(|draw| scope.spawn(move || one(device, *draw)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    made.into_iter().unzip()
}

#[test]
fn threads_draw_into_secondary_command_buffers() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let half = |x: f32| View {
                viewport: Viewport {
                    x,
                    y: 0.0,
                    width: 48.0,
                    height: 96.0,
                },
                ..camera()
            };
            let views = [half(0.0), half(48.0)];
            let on = (target, pass, &NORMAL_Z);
            let alone = picture(
                &mut setup.context,
                crowd,
                frames_in_flight,
                (0, 0.3),
                on,
                &views,
            );
            let cmd = frames_in_flight.begin(&setup.context, 1);
            let allocator = &mut setup.context.allocator;
            let pools = unsafe {
                let mut frame = crowd.begin_frame(allocator, 1, 0.3).unwrap();
                let ids = frame.record_prepare(cmd, &views).unwrap();
                let draws = [(ids[0], pass), (ids[1], pass)];
                let (pools, cmds) = secondaries(setup, &frame, target, &draws);
                assert_eq!(frame.stats().draws, 2 * 2 * 2);
                let begin = Begin {
                    flags: vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
                    ..NORMAL_Z
                };
                target.begin(&setup.context.device, cmd, &begin);
                setup.context.device.cmd_execute_commands(cmd, &cmds);
                target.end(&setup.context.device, cmd);
                pools
            };
            frames_in_flight.submit(&setup.context, 1);
            frames_in_flight.wait(&setup.context, 1);
            let together = target.read_rgba(&mut setup.context).unwrap();
            assert_eq!(different(&alone, &together, 0), 0);
            for pool in pools {
                unsafe { setup.context.device.destroy_command_pool(pool, None) };
            }
        });
    });
}

/// Prepare and draw in different command buffers, of different submissions.
#[test]
fn prepare_and_draw_may_be_submitted_apart() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let on = (target, pass, &NORMAL_Z);
            let alone = picture(
                &mut setup.context,
                crowd,
                frames_in_flight,
                (0, 0.3),
                on,
                &[camera()],
            );
            let mut draws = FramesInFlight::new(&setup.context, 1);
            for _ in 0..3 {
                let prepare = frames_in_flight.begin(&setup.context, 1);
                let draw = draws.begin(&setup.context, 0);
                let context = &mut setup.context;
                unsafe {
                    let mut frame = crowd.begin_frame(&mut context.allocator, 1, 0.3).unwrap();
                    let ids = frame.record_prepare(prepare, &[camera()]).unwrap();
                    target.begin(&context.device, draw, &NORMAL_Z);
                    frame.record_draw(draw, ids[0], pass).unwrap();
                    target.end(&context.device, draw);
                }
                frames_in_flight.submit(&setup.context, 1);
                draws.submit(&setup.context, 0);
                draws.wait(&setup.context, 0);
                let apart = target.read_rgba(&mut setup.context).unwrap();
                assert_eq!(different(&alone, &apart, 0), 0);
            }
            draws.destroy(&setup.context);
        });
    });
}

/// Growth keeps the picture, between frames that are still in flight.
#[test]
fn growth_and_new_characters_keep_what_is_drawn() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let on = (target, pass, &NORMAL_Z);
            let before = picture(
                &mut setup.context,
                crowd,
                frames_in_flight,
                (0, 0.3),
                on,
                &[camera()],
            );
            for step in 1..6 {
                let frame_index = step % 2;
                let cmd = frames_in_flight.begin(&setup.context, frame_index);
                let context = &mut setup.context;
                let on = (target, pass, &NORMAL_Z);
                crate::support::frames::record(
                    context,
                    crowd,
                    cmd,
                    (frame_index, 0.3),
                    on,
                    &[camera()],
                );
                frames_in_flight.submit(&setup.context, frame_index);
                // In flight while all of this happens.
                let mut capacity = crowd.capacity();
                capacity.instances += 1000;
                capacity.palette_entries += 5000;
                let allocator = &mut setup.context.allocator;
                crowd.reserve(allocator, &capacity).unwrap();
                let more = built(ribbon(3 + step as usize)).character;
                let id = crowd.add_character(allocator, &more).unwrap();
                if step > 2 {
                    crowd.remove_character(id).unwrap();
                }
            }
            let after = picture(
                &mut setup.context,
                crowd,
                frames_in_flight,
                (1, 0.3),
                on,
                &[camera()],
            );
            assert_eq!(different(&before, &after, 0), 0);
        });
    });
}

/// Timestamps are measured where they are asked for, and name the stages.
#[test]
fn stages_are_timed_where_it_is_asked_for() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            for _ in 0..3 {
                let on = (target, pass, &NORMAL_Z);
                picture(
                    &mut setup.context,
                    crowd,
                    frames_in_flight,
                    (0, 0.3),
                    on,
                    &[camera()],
                );
            }
            let allocator = &mut setup.context.allocator;
            unsafe { crowd.begin_frame(allocator, 0, 0.4) }.unwrap();
            let names: Vec<_> = crowd.gpu_times().iter().map(|time| time.name).collect();
            if setup.config.profile {
                assert_eq!(names, ["upload", "draw"]);
            } else {
                assert!(names.is_empty());
            }
        });
    });
}

/// What an abandoned frame would have brought to the GPU is brought by the next: new characters,
/// new records and moved ones.
#[test]
fn an_abandoned_frame_loses_nothing() {
    each(|setup| {
        let mut pictures = Vec::new();
        // The undisturbed one second: in memory that it left filled, the other could lose its data
        // unseen.
        for abandoned in [true, false] {
            scene(setup, |setup, crowd, frames_in_flight, target| {
                let pass = pass(crowd, target, false);
                let on = (target, pass, &NORMAL_Z);
                let more = built(ribbon(5)).character;
                let allocator = &mut setup.context.allocator;
                let gone = crowd.add_character(allocator, &more).unwrap();
                if abandoned {
                    let cmd = frames_in_flight.begin(&setup.context, 0);
                    let context = &mut setup.context;
                    crate::support::frames::record(context, crowd, cmd, (0, 0.2), on, &[camera()]);
                    crowd.remove_character(gone).unwrap();
                    // SAFETY: the command buffer is begun anew instead of submitted.
                    unsafe { crowd.abandon_frame() };
                }
                let context = &mut setup.context;
                pictures.push(picture(
                    context,
                    crowd,
                    frames_in_flight,
                    (0, 0.3),
                    on,
                    &[camera()],
                ));
            });
        }
        assert_eq!(different(&pictures[0], &pictures[1], 0), 0);
        let (red, _) = sides(&pictures[0]);
        assert!(red > 500, "{red}");
    });
}
