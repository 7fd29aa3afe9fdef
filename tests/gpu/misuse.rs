//! What a caller can get wrong gives a typed error, and neither records nor changes anything.

use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, pass, target};
use crate::support::made::{built, rest_model, ribbon};
use crate::support::{SMALL, Setup, each, view};
use throng::ash::vk;
use throng::error::ArgumentFault;
use throng::glam::{Mat4, Vec3};
use throng::gpu::{Device, PaletteRing, PaletteRingDesc};
use throng::ids::ClipId;
use throng::palette::{Mat3x4, SkinningMethod};
use throng::skeleton::Affine;
use throng::{
    Capacity, CharacterDesc, Crowd, CrowdDesc, Error, Frame, PassDesc, PassKind, Play, Result,
    Spawn, View, Viewport,
};

fn camera() -> View {
    view(Vec3::new(0.0, 2.0, 7.0), Vec3::ZERO, EXTENT)
}

fn is_argument<T: std::fmt::Debug>(result: Result<T>, wanted: &str) {
    match result {
        Err(Error::Argument { what, .. }) => assert_eq!(what, wanted),
        other => panic!("{other:?} is no complaint about {wanted}"),
    }
}

fn is_missing<T: std::fmt::Debug>(result: Result<T>, wanted: &str) {
    match result {
        Err(Error::NotFound { what, .. }) => assert_eq!(what, wanted),
        other => panic!("{other:?} does not miss {wanted}"),
    }
}

fn is_full<T: std::fmt::Debug>(result: Result<T>, wanted: &str) {
    match result {
        Err(Error::Capacity { what, asked, cap }) => {
            assert!(asked > cap && what == wanted, "{what}: {asked} of {cap}");
        }
        other => panic!("{other:?} says nothing of {wanted}"),
    }
}

/// What was wrong with the view of this index.
fn of_view<T: std::fmt::Debug>(result: Result<T>, wanted: u64) -> Result<()> {
    match result {
        Err(Error::At { what, index, why }) => {
            assert_eq!((what, index), ("view", wanted));
            Err(*why)
        }
        other => panic!("{other:?} says nothing of view {wanted}"),
    }
}

/// Whether everything that a GPU test shares between threads can be.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Crowd>();
    shared::<Frame<'_>>();
    shared::<PaletteRing>();
};

#[test]
fn descriptions_that_make_no_sense_are_refused() {
    each(|setup| {
        let fine = setup.crowd_desc(2, SMALL);
        let (gpu, allocator) = setup.parts();
        let mut make = |desc: CrowdDesc| match unsafe { Crowd::new(&gpu, allocator, &desc) } {
            Ok(crowd) => {
                unsafe { crowd.destroy(allocator) };
                Ok(())
            }
            Err(error) => Err(error),
        };
        let with = |capacity: Capacity| CrowdDesc {
            capacity,
            ..fine.clone()
        };
        make(fine.clone()).unwrap();
        is_argument(
            make(CrowdDesc {
                frames_in_flight: 0,
                ..fine.clone()
            }),
            "CrowdDesc::frames_in_flight",
        );
        for frames_in_flight in [Crowd::MAX_FRAMES_IN_FLIGHT + 1, u32::MAX] {
            is_full(
                make(CrowdDesc {
                    frames_in_flight,
                    ..fine.clone()
                }),
                "frames in flight",
            );
        }
        make(CrowdDesc {
            frames_in_flight: Crowd::MAX_FRAMES_IN_FLIGHT,
            ..fine.clone()
        })
        .unwrap();
        is_argument(
            make(with(Capacity {
                instances: 0,
                ..SMALL
            })),
            "Capacity::instances",
        );
        is_argument(
            make(with(Capacity { views: 0, ..SMALL })),
            "Capacity::views",
        );
        let none = Capacity {
            palette_entries: 0,
            ..SMALL
        };
        is_argument(make(with(none)), "Capacity::palette_entries");
        is_full(
            make(with(Capacity {
                views: Crowd::MAX_VIEWS + 1,
                ..SMALL
            })),
            "views",
        );
        is_full(
            make(with(Capacity {
                instances: u32::MAX,
                ..SMALL
            })),
            "instances",
        );
        let many = Capacity {
            palette_entries: u32::MAX,
            ..SMALL
        };
        assert!(matches!(make(with(many)), Err(Error::Capacity { .. })));
        for min_offset_alignment in [3, 48, 1 << 17, 1 << 63, u64::MAX] {
            let desc = CrowdDesc {
                min_offset_alignment,
                ..fine.clone()
            };
            is_argument(make(desc), "CrowdDesc::min_offset_alignment");
        }
        make(CrowdDesc {
            min_offset_alignment: 1 << 16,
            ..fine.clone()
        })
        .unwrap();
        let report = setup.context.allocator.generate_report();
        assert!(report.allocations.is_empty());
    });
}

#[test]
fn a_ring_keeps_its_bounds() {
    each(|setup| {
        let config = setup.config;
        let (gpu, allocator) = setup.parts();
        let device = unsafe { Device::new(&gpu) }.unwrap();
        let fine = PaletteRingDesc {
            frames_in_flight: 2,
            entries: 10,
            memory: config.ring,
            min_offset_alignment: config.min_offset_alignment,
        };
        let mut make = |desc| unsafe { PaletteRing::new(&device, allocator, &desc) };
        is_argument(
            make(PaletteRingDesc {
                frames_in_flight: 0,
                ..fine
            }),
            "frames in flight",
        );
        for min_offset_alignment in [24, u64::MAX] {
            let desc = PaletteRingDesc {
                min_offset_alignment,
                ..fine
            };
            is_argument(make(desc), "min_offset_alignment");
        }
        for desc in [
            PaletteRingDesc {
                frames_in_flight: u32::MAX,
                ..fine
            },
            PaletteRingDesc {
                entries: u32::MAX,
                ..fine
            },
            PaletteRingDesc {
                min_offset_alignment: 1 << 63,
                ..fine
            },
        ] {
            assert!(matches!(make(desc), Err(Error::Capacity { .. })));
        }
        let mut ring = make(fine).unwrap();
        assert_eq!((ring.frames_in_flight(), ring.entries()), (2, 10));
        let step = u64::from(ring.dynamic_offset(1));
        assert!(step >= 480 && step.is_multiple_of(config.min_offset_alignment.max(16)));
        let entry = [Mat3x4::IDENTITY];
        unsafe {
            is_missing(ring.write(2, 0, &entry), "frame index");
            is_full(ring.write(1, 10, &entry), "palette entries");
            is_full(ring.writer(0, u32::MAX, u32::MAX), "palette entries");
            ring.write(1, 9, &entry).unwrap();
            ring.write(1, 10, &[]).unwrap();
            ring.destroy(&device, allocator);
        }
    });
}

#[test]
fn passes_that_make_no_sense_are_refused() {
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let color = [vk::Format::R8G8B8A8_SRGB];
        let fine = PassDesc {
            color_formats: &color,
            depth_format: vk::Format::D32_SFLOAT,
            ..PassDesc::default()
        };
        let make = |crowd: &mut Crowd, desc| unsafe { crowd.create_pass(&desc) };
        let empty = PassDesc {
            color_formats: &[],
            ..fine.clone()
        };
        is_argument(make(&mut crowd, empty), "PassDesc::color_formats");
        let depthless = PassDesc {
            kind: PassKind::Depth,
            depth_format: vk::Format::UNDEFINED,
            ..fine.clone()
        };
        is_argument(make(&mut crowd, depthless), "PassDesc::depth_format");
        for samples in [0, 3] {
            let samples = vk::SampleCountFlags::from_raw(samples);
            let desc = PassDesc {
                samples,
                ..fine.clone()
            };
            is_argument(make(&mut crowd, desc), "PassDesc::samples");
        }
        let pass = make(&mut crowd, fine).unwrap();
        crowd.remove_pass(pass).unwrap();
        is_missing(crowd.remove_pass(pass), "pass");
        setup.destroy(crowd);
    });
}

#[test]
fn instances_take_only_what_makes_sense() {
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let character = built(ribbon(3)).character;
        let allocator = &mut setup.context.allocator;
        let kind = crowd.add_character(allocator, &character).unwrap();
        let gone = crowd.add_character(allocator, &character).unwrap();
        crowd.remove_character(gone).unwrap();
        is_missing(crowd.remove_character(gone), "character");
        is_missing(crowd.spawn(gone, &Spawn::default()), "character");
        is_missing(crowd.character(gone).map(drop), "character");
        is_missing(crowd.mesh(gone).map(drop), "character");

        let fine = Spawn::default();
        let nan = Affine::from_translation(Vec3::new(0.0, f32::NAN, 0.0));
        let wrong = |spawn: Spawn<'_>, crowd: &mut Crowd| crowd.spawn(kind, &spawn);
        is_argument(
            wrong(
                Spawn {
                    world_from_model: nan,
                    ..fine
                },
                &mut crowd,
            ),
            "world_from_model",
        );
        let tint = [1.0, f32::INFINITY, 1.0, 1.0];
        is_argument(wrong(Spawn { tint, ..fine }, &mut crowd), "tint");
        is_missing(
            wrong(
                Spawn {
                    play: ClipId(2).into(),
                    ..fine
                },
                &mut crowd,
            ),
            "clip",
        );
        let unnamed = wrong(
            Spawn {
                play: "Sway".into(),
                ..fine
            },
            &mut crowd,
        );
        assert!(
            matches!(unnamed, Err(Error::UnknownName { ref known, .. }) if &**known == "sway, turn")
        );
        let play = Play::new(ClipId(0));
        for (what, play) in [
            ("Play::start_s", play.start_s(f64::NAN)),
            ("Play::offset_s", play.offset_s(f64::INFINITY)),
            ("Play::speed", play.speed(f64::NEG_INFINITY)),
            ("Play::weight", play.weight(f32::NAN)),
        ] {
            is_argument(wrong(Spawn { play, ..fine }, &mut crowd), what);
        }
        assert!(crowd.is_empty());

        let id = crowd.spawn(kind, &fine).unwrap();
        let before = crowd.instance(id).unwrap();
        is_argument(crowd.set_transform(id, &nan), "world_from_model");
        is_argument(crowd.set_tint(id, [f32::NAN; 4]), "tint");
        is_missing(crowd.play(id, ClipId(7)), "clip");
        for fade_s in [-0.1, 3601.0, f32::NAN] {
            is_argument(crowd.play(id, play.fade_s(fade_s)), "Play::fade_s");
        }
        let joints = character.skeleton().len();
        let still = vec![Affine::IDENTITY; joints];
        is_argument(crowd.set_model_pose(id, &still[1..]), "model pose");
        let mut broken = still.clone();
        broken[1] = nan;
        let refused = crowd.set_model_pose(id, &broken);
        let named = matches!(
            refused,
            Err(Error::At {
                what: "joint",
                index: 1,
                ..
            })
        );
        assert!(named, "{refused:?}");
        assert_eq!(crowd.instance(id).unwrap(), before);
        assert_eq!(crowd.playing(id).unwrap().count(), 0);
        is_argument(crowd.remove_character(kind), "character");
        crowd.despawn(id).unwrap();
        crowd.remove_character(kind).unwrap();
        setup.destroy(crowd);
    });
}

#[test]
fn a_pose_that_the_method_cannot_hold_is_refused() {
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let character = built(ribbon(3)).character;
        let desc = CharacterDesc {
            method: SkinningMethod::QuatOffset,
            ..CharacterDesc::default()
        };
        let allocator = &mut setup.context.allocator;
        let kind = crowd
            .add_character_with(allocator, &character, &desc)
            .unwrap();
        let id = crowd.spawn(kind, &Spawn::default()).unwrap();
        let mut model = rest_model(&character);
        crowd.set_model_pose(id, &model).unwrap();
        let before = crowd.instance(id).unwrap();
        model[1] *= Affine::from_scale(Vec3::new(1.0, 3.0, 1.0));
        let refused = crowd.set_model_pose(id, &model);
        assert!(
            matches!(refused, Err(Error::Unrepresentable { joint: 1, .. })),
            "{refused:?}"
        );
        assert_eq!(crowd.instance(id).unwrap(), before);
        setup.destroy(crowd);
    });
}

#[test]
fn frames_are_used_in_their_order() {
    each(|setup| {
        let mut crowd = setup.crowd(2, SMALL);
        let character = built(ribbon(3)).character;
        let allocator = &mut setup.context.allocator;
        let kind = crowd.add_character(allocator, &character).unwrap();
        crowd.spawn(kind, &Spawn::default()).unwrap();
        let target = target(&mut setup.context);
        let pass_id = pass(&mut crowd, &target, false);
        let removed = pass(&mut crowd, &target, false);
        crowd.remove_pass(removed).unwrap();
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 2);
        let context = &mut setup.context;
        unsafe {
            let allocator = &mut context.allocator;
            is_missing(
                crowd.begin_frame(allocator, 2, 0.0).map(drop),
                "frame index",
            );
            is_missing(
                crowd.begin_frame(allocator, u32::MAX, 0.0).map(drop),
                "frame index",
            );
            for time_s in [f64::NAN, f64::INFINITY] {
                is_argument(crowd.begin_frame(allocator, 0, time_s).map(drop), "time_s");
            }
        }
        let mut old = None;
        for number in 0..3 {
            let frame_index = number % 2;
            let cmd = frames_in_flight.begin(context, frame_index);
            unsafe {
                let mut frame = crowd
                    .begin_frame(&mut context.allocator, frame_index, 0.0)
                    .unwrap();
                if let Some(view) = old {
                    is_argument(frame.record_draw(cmd, view, pass_id), "view");
                    is_argument(frame.inputs(view, kind, 0), "view");
                }
                is_full(frame.record_prepare(cmd, &[camera(); 5]), "views");
                let views = frame.record_prepare(cmd, &[camera(); 2]).unwrap();
                assert_eq!(views.len(), 2);
                is_argument(frame.record_prepare(cmd, &[camera()]), "frame");
                is_missing(frame.inputs(views[0], kind, 2), "material");
                target.begin(&context.device, cmd, &NORMAL_Z);
                is_missing(frame.record_draw(cmd, views[0], removed), "pass");
                assert_eq!(frame.stats().draws, 0);
                frame.record_draw(cmd, views[1], pass_id).unwrap();
                assert_eq!(frame.stats().draws, 2);
                target.end(&context.device, cmd);
                old = Some(views[0]);
            }
            frames_in_flight.submit(context, frame_index);
        }
        frames_in_flight.destroy(context);
        target.destroy(context);
        setup.destroy(crowd);
    });
}

/// One view that is wrong, for each way of being wrong.
fn wrong_views(setup: &Setup) -> Vec<(&'static str, View)> {
    let fine = camera();
    let with = |change: fn(&mut View)| {
        let mut view = fine;
        change(&mut view);
        view
    };
    let limits = &setup.context.properties.limits;
    let wide = View {
        viewport: Viewport {
            width: limits.max_viewport_dimensions[0] as f32 + 1.0,
            ..fine.viewport
        },
        ..fine
    };
    let far = View {
        viewport: Viewport {
            x: limits.viewport_bounds_range[1],
            ..fine.viewport
        },
        ..fine
    };
    vec![
        ("View", with(|view| view.clip_from_world = Mat4::NAN)),
        ("View", with(|view| view.eye.x = f32::INFINITY)),
        ("View::viewport", with(|view| view.viewport.width = 0.0)),
        ("View::viewport", with(|view| view.viewport.width = -5.0)),
        ("View::viewport", with(|view| view.viewport.height = 0.0)),
        ("View::viewport", with(|view| view.viewport.x = f32::NAN)),
        ("View::viewport", with(|view| view.viewport.x = 3e9)),
        ("View::viewport", with(|view| view.viewport.height = -1e9)),
        ("View::viewport", wide),
        ("View::viewport", far),
        (
            "View::lighting",
            with(|view| view.lighting.sun_direction = Vec3::ZERO),
        ),
        (
            "View::lighting",
            with(|view| view.lighting.sky_color = Vec3::NAN),
        ),
    ]
}

#[test]
fn views_that_make_no_sense_are_refused_and_leave_the_frame_usable() {
    each(|setup| {
        let mut crowd = setup.crowd(1, SMALL);
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let wrong = wrong_views(setup);
        let cmd = frames_in_flight.begin(&setup.context, 0);
        let allocator = &mut setup.context.allocator;
        unsafe {
            let mut frame = crowd.begin_frame(allocator, 0, 0.0).unwrap();
            for (what, view) in wrong {
                let refused = frame.record_prepare(cmd, &[camera(), view]);
                is_argument(of_view(refused, 1), what);
            }
            assert_eq!(frame.record_prepare(cmd, &[camera()]).unwrap().len(), 1);
        }
        frames_in_flight.submit(&setup.context, 0);
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}

/// Errors read as sentences with the numbers in them.
#[test]
fn errors_say_the_numbers() {
    let full = Error::Capacity {
        what: "instances",
        asked: 9,
        cap: 8,
    };
    assert_eq!(
        full.to_string(),
        "instances: 9 requested, at most 8 allowed"
    );
    let argument = Error::Argument {
        what: "time_s",
        why: ArgumentFault::NotFinite(f64::INFINITY),
    };
    assert_eq!(argument.to_string(), "time_s: inf is not finite");
}
