//! Command buffers and frames: recorded by threads, submitted apart, abandoned, timed.

use crate::pictures::{camera, scene, sides};
use crate::reference::picture::different;
use crate::reference::ribbon::{built, ribbon};
use crate::support::frames::{FramesInFlight, NORMAL_Z, pass, picture, record};
use crate::support::{SMALL, Setup, each, stages};
use std::thread;
use throng::ash::{self, vk};
use throng::{CharacterDesc, Crowd, CrowdDesc, Frame, PassId, Stages, View, ViewId};
use throng_standalone::{Begin, Target};

/// Draws the scene at 0.3 s and returns the picture.
fn still(
    setup: &mut Setup,
    crowd: &mut Crowd,
    frames_in_flight: &mut FramesInFlight,
    frame_index: u32,
    on: (&Target, PassId, &Begin),
) -> Vec<u8> {
    let at = (frame_index, 0.3);
    picture(
        &mut setup.context,
        crowd,
        frames_in_flight,
        at,
        on,
        &[camera()],
    )
}

/// Records secondary command buffers on threads that share the frame.
///
/// Each command buffer has its own pool.
fn secondaries(
    setup: &mut Setup,
    frame: &Frame<'_>,
    target: &Target,
    draws: &[(ViewId, PassId)],
) -> (Vec<vk::CommandPool>, Vec<vk::CommandBuffer>) {
    let context = &setup.context;
    let desc = &target.pass_desc();
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
            .color_attachment_formats(&desc.color_formats)
            .depth_attachment_format(desc.depth_format)
            .rasterization_samples(desc.samples);
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
            let half = |x: i32| View {
                viewport: vk::Rect2D {
                    offset: vk::Offset2D { x, y: 0 },
                    extent: vk::Extent2D {
                        width: 48,
                        height: 96,
                    },
                },
                ..camera()
            };
            let views = [half(0), half(48)];
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
            let allocator = &mut setup.context.allocator();
            let pools = unsafe {
                crowd.update(0.3).unwrap();
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
            let together = target.read_rgba().unwrap();
            assert_eq!(different(&alone, &together, 0), 0);
            for pool in pools {
                unsafe { setup.context.device.destroy_command_pool(pool, None) };
            }
        });
    });
}

/// Prepare and draw are in command buffers of different submissions.
#[test]
fn prepare_and_draw_may_be_submitted_apart() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let on = (target, pass, &NORMAL_Z);
            let alone = still(setup, crowd, frames_in_flight, 0, on);
            let mut draws = FramesInFlight::new(&setup.context, 1);
            for _ in 0..3 {
                let prepare = frames_in_flight.begin(&setup.context, 1);
                let draw = draws.begin(&setup.context, 0);
                let context = &mut setup.context;
                unsafe {
                    // As in a render graph, each step has a closure of its own.
                    crowd.update(0.3).unwrap();
                    let _ = crowd.begin_frame(&mut context.allocator(), 1, 0.3).unwrap();
                    let ids = crowd
                        .resume_frame()
                        .unwrap()
                        .record_prepare(prepare, &[camera()]);
                    let ids = ids.unwrap();
                    let frame = crowd.resume_frame().unwrap();
                    target.begin(&context.device, draw, &NORMAL_Z);
                    frame.record_draw(draw, ids[0], pass).unwrap();
                    target.end(&context.device, draw);
                }
                frames_in_flight.submit(&setup.context, 1);
                draws.submit(&setup.context, 0);
                draws.wait(&setup.context, 0);
                let apart = target.read_rgba().unwrap();
                assert_eq!(different(&alone, &apart, 0), 0);
            }
            draws.destroy(&setup.context);
        });
    });
}

/// Growth does not change the picture, even if frames are still in flight.
#[test]
fn growth_and_new_characters_keep_what_is_drawn() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            let on = (target, pass, &NORMAL_Z);
            let before = still(setup, crowd, frames_in_flight, 0, on);
            for step in 1..6 {
                let frame_index = step % 2;
                let cmd = frames_in_flight.begin(&setup.context, frame_index);
                let context = &mut setup.context;
                let on = (target, pass, &NORMAL_Z);
                record(context, crowd, cmd, (frame_index, 0.3), on, &[camera()]);
                frames_in_flight.submit(&setup.context, frame_index);
                // The frame is in flight while all of this happens.
                let mut capacity = crowd.capacity();
                capacity.instances += 1000;
                capacity.palette_entries += 5000;
                let allocator = &mut setup.context.allocator();
                crowd.reserve(allocator, &capacity).unwrap();
                let more = built(ribbon(3 + step as usize)).character;
                let id = crowd
                    .add_character(allocator, &more, &CharacterDesc::default())
                    .unwrap();
                if step > 2 {
                    crowd.remove_character(id).unwrap();
                }
            }
            let after = still(setup, crowd, frames_in_flight, 1, on);
            assert_eq!(different(&before, &after, 0), 0);
        });
    });
}

/// Timestamps are measured if the description asks for them, and name the stages.
#[test]
fn stages_are_timed_where_it_is_asked_for() {
    each(|setup| {
        scene(setup, |setup, crowd, frames_in_flight, target| {
            let pass = pass(crowd, target, false);
            for _ in 0..3 {
                let on = (target, pass, &NORMAL_Z);
                still(setup, crowd, frames_in_flight, 0, on);
            }
            let allocator = &mut setup.context.allocator();
            crowd.update(0.4).unwrap();
            unsafe { crowd.begin_frame(allocator, 0, 0.4) }.unwrap();
            let names: Vec<_> = crowd.gpu_times().iter().map(|scope| scope.0).collect();
            if setup.config.profile {
                let cull = (stages() != Stages::Cpu).then_some("cull");
                let animate = (stages() == Stages::Gpu).then_some("animate");
                let wanted = ["upload"].into_iter().chain(cull).chain(animate);
                let wanted = wanted.chain(["draw"]);
                assert_eq!(names, wanted.collect::<Vec<_>>());
            } else {
                assert!(names.is_empty());
            }
        });
    });
}

/// The next frame uploads the data of an abandoned one: new characters, and new and moved records.
#[test]
fn an_abandoned_frame_loses_nothing() {
    each(|setup| {
        let mut pictures = Vec::new();
        // The undisturbed scene is second. If it were first, it would leave its data in memory, and
        // a loss in the other scene could go unnoticed.
        for abandoned in [true, false] {
            scene(setup, |setup, crowd, frames_in_flight, target| {
                let pass = pass(crowd, target, false);
                let on = (target, pass, &NORMAL_Z);
                let more = built(ribbon(5)).character;
                let gone = setup.add(crowd, &more);
                if abandoned {
                    let cmd = frames_in_flight.begin(&setup.context, 0);
                    let context = &mut setup.context;
                    record(context, crowd, cmd, (0, 0.2), on, &[camera()]);
                    crowd.remove_character(gone).unwrap();
                    // SAFETY: the command buffer is begun anew instead of submitted.
                    unsafe { crowd.abandon_frame() };
                    assert!(unsafe { crowd.resume_frame() }.is_err());
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

/// A scope that is ended in another frame, or with another crowd, measures nothing.
#[test]
fn scopes_belong_to_their_frame() {
    let mut setup = Setup::new(crate::support::CONFIGS[0]);
    let desc = CrowdDesc {
        profile: true,
        ..setup.crowd_desc(2, SMALL)
    };
    let device = setup.device();
    let mut crowds = [(); 2].map(|()| {
        let allocator = &mut setup.context.allocator();
        Crowd::new(&device, allocator, &desc).unwrap()
    });
    let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
    let mut scopes = Vec::new();
    for frame_index in [0, 1, 0] {
        let cmd = frames_in_flight.begin(&setup.context, frame_index);
        for crowd in &mut crowds {
            let mut frame = setup.begin(crowd, frame_index, 0.1);
            let times = frame.gpu_times();
            assert!(times.iter().all(|(name, _)| *name != "own"), "{times:?}");
            // Before the queries are reset, and afterwards.
            let mut late = scopes.drain(..);
            unsafe {
                frame.end_scope(cmd, late.next());
                frame.record_prepare(cmd, &[]).unwrap();
                late.for_each(|scope| frame.end_scope(cmd, Some(scope)));
                scopes.extend((0..2).map(|_| frame.begin_scope(cmd, "own").unwrap()));
            }
        }
        frames_in_flight.submit(&setup.context, frame_index);
    }
    setup.context.wait_idle().unwrap();
    for crowd in crowds {
        unsafe { crowd.destroy(&mut setup.context.allocator()) };
    }
    frames_in_flight.destroy(&setup.context);
}
