//! Views leave out instances outside of them, and nothing else.
//!
//! Far instances have fewer triangles.

use crate::reference::handles::Handles;
use crate::reference::picture::{covered, different};
use crate::reference::rng::Rng;
use crate::reference::sweep::is_thorough;
use crate::reference::words::Fails;
use crate::support::frames::{EXTENT, FramesInFlight, NORMAL_Z, REVERSED_Z, pass, picture, target};
use crate::support::{SMALL, Setup, each, each_with_features, placed, reversed, view};
use throng::glam::camera::rh;
use throng::glam::{Affine3A, Quat, Vec2, Vec3};
use throng::import::RawPrimitive;
use throng::mesh::Material;
use throng::{
    Capacity, CharacterId, Crowd, Culling, Detail, Eye, InstanceId, PassId, Play, Spawn, Stages,
    View, ViewStats, builtin,
};
use throng_standalone::Target;

/// The height of the picture over the height of what it shows at a distance of 1 m.
fn pixels_at_1_m() -> f64 {
    // The field of view of `view` is 0.7 radians.
    f64::from(EXTENT.height) / 2.0 / 0.35_f64.tan()
}

struct Stage {
    crowd: Crowd,
    kind: CharacterId,
    target: Target,
    passes: [PassId; 2],
    frames_in_flight: FramesInFlight,
    frame_index: u32,
}

impl Stage {
    fn new(setup: &mut Setup, stages: Stages) -> Self {
        let mut crowd = setup.crowd_with(stages, 2, SMALL);
        let target = target(&mut setup.context);
        let passes = [false, true].map(|reversed_z| pass(&mut crowd, &target, reversed_z));
        let mannequin = builtin::mannequin().unwrap().character;
        let kind = setup.add(&mut crowd, &mannequin);
        Self {
            kind,
            crowd,
            target,
            passes,
            frames_in_flight: FramesInFlight::new(&setup.context, 2),
            frame_index: 0,
        }
    }

    fn spawn(&mut self, world_from_model: Affine3A, play: &'static str) -> InstanceId {
        self.crowd
            .spawn(self.kind, &placed(world_from_model, play))
            .unwrap()
    }

    fn move_to(&mut self, id: InstanceId, place: Vec3) {
        let place = Affine3A::from_translation(place);
        let mut it = self.crowd.live_mut(id);
        it.set_transform(&place).unwrap();
    }

    /// The picture of a view, and its figures.
    fn look(&mut self, setup: &mut Setup, view: &View, reversed_z: bool) -> (Vec<u8>, ViewStats) {
        self.frame_index = 1 - self.frame_index;
        let begin = if reversed_z { &REVERSED_Z } else { &NORMAL_Z };
        let on = (&self.target, self.passes[usize::from(reversed_z)], begin);
        let seen = picture(
            &mut setup.context,
            &mut self.crowd,
            &mut self.frames_in_flight,
            (self.frame_index, 0.4),
            on,
            &[*view],
        );
        let view = self.crowd.view_stats().first();
        (seen, view.copied().unwrap_or_default())
    }

    /// The levels of detail at which views show an instance.
    fn levels(&mut self, setup: &mut Setup, views: &[View], id: InstanceId) -> Vec<Option<u32>> {
        let cmd = self.frames_in_flight.begin(&setup.context, 0);
        let mut frame = setup.begin(&mut self.crowd, 0, 0.4);
        let views = unsafe { frame.record_prepare(cmd, views) }.unwrap();
        let levels = views.iter().map(|view| frame.level(*view, id).unwrap());
        let levels = levels.collect();
        self.frames_in_flight.submit(&setup.context, 0);
        self.frames_in_flight.wait(&setup.context, 0);
        levels
    }

    fn destroy(self, setup: &mut Setup) {
        self.frames_in_flight.destroy(&setup.context);
        setup.destroy(self.crowd);
    }
}

/// A view with several eyes shows what any of them shows, at the finest of their levels.
#[test]
fn eyes_share_what_they_see() {
    each_with_features(|setup| {
        let mut stage = Stage::new(setup, Stages::Cpu);
        let mut rng = Rng::new(7);
        let ids: Vec<_> = (0..64)
            .map(|_| {
                let place = Vec3::new(rng.range(-20.0, 20.0), 0.0, rng.range(-30.0, 5.0));
                stage.spawn(Affine3A::from_translation(place), "Walk")
            })
            .collect();
        let far = view(
            Vec3::new(40.0, 1.0, -5.0),
            Vec3::new(0.0, 1.0, -15.0),
            EXTENT,
        );
        let mut both = View {
            detail: Detail {
                error_px: 2.0,
                ..camera().detail
            },
            ..camera()
        };
        both.more_eyes[0] = Some(Eye::new(far.eye.clip_from_world, far.eye.position));
        let views = [both, both.of_eye(0).unwrap(), both.of_eye(1).unwrap()];
        let cmd = stage.frames_in_flight.begin(&setup.context, 0);
        let mut frame = setup.begin(&mut stage.crowd, 0, 0.4);
        let views = unsafe { frame.record_prepare(cmd, &views) }.unwrap();
        let mut kinds = [0; 4];
        for id in ids {
            let [of_both, near, far] = [0, 1, 2].map(|view| frame.level(views[view], id).unwrap());
            let finest = near.into_iter().chain(far).min();
            assert_eq!(of_both, finest);
            kinds[usize::from(near.is_some()) + 2 * usize::from(far.is_some())] += 1;
        }
        assert!(kinds.iter().all(|count| *count > 1), "{kinds:?}");
        stage.frames_in_flight.submit(&setup.context, 0);
        stage.frames_in_flight.wait(&setup.context, 0);
        stage.destroy(setup);
    });
}

fn camera() -> View {
    view(Vec3::new(0.0, 1.0, 6.0), Vec3::new(0.0, 1.0, 0.0), EXTENT)
}

fn orthographic() -> View {
    let clip_from_view = rh::proj::vulkan::orthographic(-2.0, 2.0, -2.0, 2.0, 0.1, 12.0);
    let (eye, at) = (Vec3::new(4.0, 4.0, 4.0), Vec3::new(0.0, 1.0, 0.0));
    let view_from_world = rh::view::look_at_mat4(eye, at, Vec3::Y);
    View::new(clip_from_view * view_from_world, eye, EXTENT)
}

/// Views of every kind, each with whether its depth is reversed.
fn kinds() -> Vec<(View, bool)> {
    let jittered = View {
        eye: Eye {
            jitter: Vec2::new(0.21, -0.17),
            ..camera().eye
        },
        ..camera()
    };
    let turned = View {
        flip_y: true,
        ..view(Vec3::new(-3.0, 4.0, 2.0), Vec3::new(0.0, 0.5, 0.0), EXTENT)
    };
    let all = [camera(), orthographic(), jittered, turned];
    let normal = all.map(|view| (view, false));
    let mirrored = all.map(|view| (reversed(&view), true));
    normal.into_iter().chain(mirrored).collect()
}

/// Characters that cross every edge of the picture, the near and the far plane: every pixel is as
/// without culling, and many are left out.
#[test]
fn no_pixel_is_lost_at_an_edge() {
    each(|setup| {
        for stages in [Stages::Cpu, Stages::GpuCull] {
            no_pixel_is_lost(setup, stages);
        }
    });
}

fn no_pixel_is_lost(setup: &mut Setup, stages: Stages) {
    // The GPU reports its figures later: `sides` compares them.
    let reports = stages == Stages::Cpu;
    let mut stage = Stage::new(setup, stages);
    let mut rng = Rng::new(30);
    let clips = ["Idle", "Walk", "Run", "Wave"];
    let ids: Vec<InstanceId> = (0..24)
        .map(|number| stage.spawn(Affine3A::IDENTITY, clips[number % clips.len()]))
        .collect();
    let (mut left_out, mut drawn) = (0, 0);
    let rounds = if is_thorough() { 6 } else { 2 };
    for (view, reversed_z) in kinds() {
        let full = View {
            detail: Detail {
                error_px: 0.0,
                ..view.detail
            },
            ..view
        };
        for _ in 0..rounds {
            for id in &ids {
                let within = |rng: &mut Rng| rng.range(-4.0, 4.0);
                let place = Vec3::new(within(&mut rng), within(&mut rng), within(&mut rng));
                let scale = Vec3::new(rng.range(0.3, 1.5), rng.range(0.3, 1.5), 1.0);
                let turn = Quat::from_rotation_y(rng.range(0.0, 6.0));
                let place = Affine3A::from_scale_rotation_translation(scale, turn, place);
                let mut it = stage.crowd.live_mut(*id);
                it.set_transform(&place).unwrap();
            }
            let off = View {
                culling: Culling::Off,
                ..full
            };
            let (wanted, stats) = stage.look(setup, &off, reversed_z);
            let all = (stats.shown, stats.outside, stats.too_small);
            assert!(!reports || all == (24, 0, 0), "{all:?}");
            let (seen, stats) = stage.look(setup, &full, reversed_z);
            assert_eq!(different(&seen, &wanted, 0), 0);
            if reports {
                assert_eq!(stats.shown + stats.outside, 24);
                assert_eq!(stats.levels[0], stats.shown);
                assert_eq!(stage.crowd.stats().animated, stats.shown);
            }
            left_out += stats.outside;
            drawn += stats.shown;
            let sides = View {
                culling: Culling::Sides,
                ..full
            };
            let (seen, with_sides) = stage.look(setup, &sides, reversed_z);
            assert_eq!(different(&seen, &wanted, 0), 0);
            assert!(!reports || with_sides.shown >= stats.shown);
        }
    }
    let enough = left_out > 30 * rounds && drawn > 50 * rounds;
    assert!(!reports || enough, "{left_out} {drawn}");
    stage.destroy(setup);
}

/// The level is the coarsest whose error in pixels, at the near side of the bounding sphere, is
/// allowed.
#[test]
fn levels_keep_to_the_error() {
    each(|setup| {
        let mut stage = Stage::new(setup, Stages::Cpu);
        let mannequin = builtin::mannequin().unwrap().character;
        let errors: Vec<f64> = std::iter::once(0.0)
            .chain(mannequin.levels().map(|level| level.error_m.into()))
            .collect();
        assert!(errors.len() >= 3);
        let mut rng = Rng::new(31);
        let mut seen = vec![0; errors.len()];
        for _ in 0..500 {
            // Twice as large along one axis, so the error is, too.
            let scale = Vec3::new(1.0, rng.range(0.5, 2.0), 1.0);
            let away_m = 3.0 * 40.0_f32.powf(rng.range(0.0, 1.0));
            let place = Affine3A::from_scale_rotation_translation(
                scale,
                Quat::IDENTITY,
                Vec3::new(0.0, 0.0, 6.0 - away_m),
            );
            let id = stage.spawn(place, "Walk");
            let view = View {
                detail: Detail {
                    error_px: rng.range(0.25, 4.0),
                    ..camera().detail
                },
                culling: Culling::Off,
                ..camera()
            };
            let sphere = stage.crowd.live(id).bounding_sphere();
            let distance = sphere
                .center
                .as_dvec3()
                .distance(view.eye.position.as_dvec3());
            let near_m = distance - f64::from(sphere.radius);
            let largest = f64::from(scale.max_element());
            let size_px = |metres: f64| metres * largest * pixels_at_1_m() / near_m;
            let level = stage.levels(setup, &[view], id)[0];
            let small = 2.0 * f64::from(sphere.radius) * pixels_at_1_m() / distance;
            match level {
                None => assert!(small < 0.7001 * f64::from(view.detail.error_px)),
                Some(level) => {
                    assert!(small > 0.6999 * f64::from(view.detail.error_px));
                    seen[level as usize] += 1;
                    let px = size_px(errors[level as usize]);
                    let allowed = f64::from(view.detail.error_px);
                    assert!(level == 0 || near_m > 0.0 && px <= allowed * 1.001);
                    // A new instance had the full level, and a coarser one needs a margin.
                    if let Some(error) = errors.get(level as usize + 1) {
                        let px = size_px(*error);
                        assert!(near_m <= 0.0 || px >= allowed * 0.799, "{px} {allowed}");
                    }
                }
            }
            stage.crowd.despawn(id).unwrap();
        }
        assert!(seen.iter().all(|count| *count > 3), "{seen:?}");
        stage.destroy(setup);
    });
}

/// Between 0.8 and 1 times the threshold, a level stays what it was.
#[test]
fn levels_do_not_alternate() {
    each(|setup| {
        let mut stage = Stage::new(setup, Stages::Cpu);
        let id = stage.spawn(Affine3A::IDENTITY, "Idle");
        let mut switches = Vec::new();
        let mut last = None;
        let steps = (0..120).chain((0..120).rev());
        for step in steps {
            let away_m = 3.0 * 1.04_f32.powi(step);
            stage.move_to(id, Vec3::new(0.0, 0.0, 6.0 - away_m));
            let level = stage.levels(setup, &[camera()], id)[0];
            if last.is_some() && level != last.flatten() {
                switches.push((last.flatten(), level, away_m));
            }
            last = Some(level);
        }
        let coarser = switches.iter().filter(|of| of.0.is_some() && of.0 < of.1);
        let mut compared = 0;
        for (from, to, away_m) in coarser.copied() {
            let back = switches.iter().find(|of| of.0 == to && of.1 == from);
            if let Some((.., back_m)) = back {
                // The way back is nearer by the margin, up to the radius of the sphere and a step.
                assert!(back_m / away_m < 0.93, "{away_m} m, then {back_m} m");
                compared += 1;
            }
        }
        assert!(compared >= 2, "{switches:?}");
        // Two views have levels of their own.
        stage.move_to(id, Vec3::new(0.0, 0.0, -4.0));
        let full = View {
            detail: Detail {
                error_px: 0.0,
                ..camera().detail
            },
            ..camera()
        };
        let fixed = View {
            detail: Detail {
                level: Some(1),
                ..camera().detail
            },
            ..camera()
        };
        let coarsest = View {
            detail: Detail {
                level: Some(99),
                ..camera().detail
            },
            ..camera()
        };
        let levels = stage.levels(setup, &[full, fixed, coarsest], id);
        let count = builtin::mannequin().unwrap().character.levels().len() as u32;
        assert_eq!(levels, [Some(0), Some(1), Some(count)]);
        stage.destroy(setup);
    });
}

/// A view with too many triangles allows more error for everyone, and nobody disappears.
#[test]
fn a_view_keeps_to_its_triangles() {
    each(|setup| {
        let mut stage = Stage::new(setup, Stages::Cpu);
        let mut rng = Rng::new(32);
        for _ in 0..48 {
            let place = Vec3::new(rng.range(-4.0, 4.0), 0.0, rng.range(-20.0, 2.0));
            stage.spawn(Affine3A::from_translation(place), "Idle");
        }
        let (_, free) = stage.look(setup, &camera(), false);
        assert_eq!(free.error_factor, 1.0);
        let mut before = free;
        for part in [2, 3, 4] {
            let most = (free.triangles / part) as u32;
            let view = View {
                detail: Detail {
                    max_triangles: Some(most),
                    ..camera().detail
                },
                ..camera()
            };
            let (picture, stats) = stage.look(setup, &view, false);
            assert!(stats.triangles <= u64::from(most));
            assert_eq!(stats.shown, free.shown);
            // Levels are few, and keep a margin, so a smaller factor may do for fewer triangles.
            assert!(stats.error_factor > 1.0 && stats.triangles <= before.triangles);
            assert!(covered(&picture) > 50);
            // The levels keep a margin, so they may settle for a frame.
            let [_, second, third] = [(); 3].map(|()| stage.look(setup, &view, false));
            assert!(second.1.triangles <= u64::from(most));
            assert_eq!(different(&third.0, &second.0, 0), 0);
            before = stats;
        }
        // The coarsest levels have more than this.
        let view = View {
            detail: Detail {
                max_triangles: Some(1),
                ..camera().detail
            },
            ..camera()
        };
        let (_, stats) = stage.look(setup, &view, false);
        assert_eq!(stats.shown, free.shown);
        assert!(stats.error_factor > 900.0);
        stage.destroy(setup);
    });
}

#[test]
fn the_allowed_error_is_a_number_of_pixels() {
    each(|setup| {
        let mut stage = Stage::new(setup, Stages::Cpu);
        for error_px in [-1.0, f32::NAN, f32::INFINITY] {
            let view = View {
                detail: Detail {
                    error_px,
                    ..camera().detail
                },
                ..camera()
            };
            let cmd = stage.frames_in_flight.begin(&setup.context, 0);
            let mut frame = setup.begin(&mut stage.crowd, 0, 0.0);
            unsafe { frame.record_prepare(cmd, &[view]) }.fails("view 0: Detail::error_px: …");
            unsafe { stage.crowd.abandon_frame() };
            stage.frames_in_flight.submit(&setup.context, 0);
        }
        stage.destroy(setup);
    });
}

/// The skin stage deforms no more than views show, and without culling everyone.
#[test]
fn what_is_outside_is_not_animated() {
    each(|setup| {
        let mut stage = Stage::new(setup, Stages::Cpu);
        for number in 0..10 {
            let place = Vec3::new(0.0, 0.0, 30.0 + number as f32 * 3.0);
            stage.spawn(Affine3A::from_translation(place), "Walk");
        }
        let (_, stats) = stage.look(setup, &camera(), false);
        assert_eq!((stats.shown, stats.outside), (0, 10));
        assert_eq!(stage.crowd.stats().animated, 0);
        assert_eq!((stage.crowd.stats().draws, stats.triangles), (0, 0));
        let off = View {
            culling: Culling::Off,
            ..camera()
        };
        let (_, stats) = stage.look(setup, &off, false);
        assert_eq!((stats.shown, stats.outside), (10, 0));
        assert_eq!(stage.crowd.stats().animated, 10);
        // One that comes back is animated at once.
        let near = stage.spawn(Affine3A::from_rotation_y(0.3), "Walk");
        let (seen, stats) = stage.look(setup, &camera(), false);
        assert_eq!((stats.shown, stage.crowd.stats().animated), (1, 1));
        assert!(covered(&seen) > 100);
        stage.crowd.live_mut(near).play(Play::REST).unwrap();
        stage.destroy(setup);
    });
}

/// A character without instances shows nothing, and stays as it is through growth.
#[test]
fn characters_without_instances_survive_growth() {
    each(|setup| {
        for stages in [Stages::Cpu, Stages::GpuCull] {
            let mut stage = Stage::new(setup, stages);
            let view = view(Vec3::new(0.0, 1.0, 8.0), Vec3::Y, EXTENT);
            for more in 0..4 {
                let (_, stats) = stage.look(setup, &view, false);
                assert_eq!((stats.shown, stats.triangles), (0, 0), "{more}");
                let capacity = Capacity {
                    instances: SMALL.instances + more,
                    ..SMALL
                };
                setup.reserve(&mut stage.crowd, &capacity);
            }
            stage.spawn(Affine3A::IDENTITY, "Walk");
            for _ in 0..3 {
                stage.look(setup, &view, false);
            }
            assert_eq!(stage.crowd.view_stats()[0].shown, 1);
            stage.destroy(setup);
        }
    });
}

/// Characters that grow and shrink at full capacity keep all of their members: their chunks move,
/// one character's or all together.
#[test]
fn characters_share_the_capacity() {
    each(|setup| {
        let mut rng = Rng::new(77);
        let capacity = Capacity {
            instances: 1_000,
            ..SMALL
        };
        let mut crowd = setup.crowd_with(Stages::GpuCull, 1, capacity);
        let cuboid = RawPrimitive::cuboid(Vec3::ONE).build_rigid(Material::default());
        let cuboid = cuboid.unwrap().character;
        let kinds = [(); 5].map(|()| setup.add(&mut crowd, &cuboid));
        let mut frames_in_flight = FramesInFlight::new(&setup.context, 1);
        let mut alive: Vec<(InstanceId, bool)> = Vec::new();
        let mut visible = None;
        let view = View {
            culling: Culling::Off,
            ..camera()
        };
        for round in 0..120 {
            // From one character to another, and a few at a time.
            let kind = kinds[rng.below(kinds.len())];
            let most = [3, 70, 400, 1_000][rng.below(4)];
            for _ in 0..rng.below(most) {
                if alive.len() == 1_000 {
                    let (gone, _) = alive.swap_remove(rng.below(1_000));
                    crowd.despawn(gone).unwrap();
                }
                let shown = rng.chance(2);
                let spawn = Spawn {
                    visible: shown,
                    ..placed(Affine3A::IDENTITY, Play::REST)
                };
                alive.push((crowd.spawn(kind, &spawn).unwrap(), shown));
            }
            let cmd = frames_in_flight.begin(&setup.context, 0);
            let mut frame = setup.begin(&mut crowd, 0, 0.0);
            let seen = frame.view_stats().first().map(|view| view.shown as usize);
            assert_eq!(seen, visible, "before round {round}");
            unsafe { frame.record_prepare(cmd, &[view]) }.unwrap();
            frames_in_flight.submit(&setup.context, 0);
            frames_in_flight.wait(&setup.context, 0);
            visible = Some(alive.iter().filter(|(_, shown)| *shown).count());
        }
        frames_in_flight.destroy(&setup.context);
        setup.destroy(crowd);
    });
}
