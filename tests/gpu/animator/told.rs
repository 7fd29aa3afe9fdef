//! Reports of a crowd to the engine: events by instance, and root motion in the instance's record.

use super::World;
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::{SMALL, Setup, each, placed};
use throng::animator::{AnimationEventKind, Play, RootMotionMode};
use throng::glam::{Affine3A, DVec3, Quat, Vec3};
use throng::palette::Mat3x4;
use throng::{CharacterDesc, InstanceId, Spawn};

/// An event of the test: instance, name, time.
type Told = (InstanceId, String, f64);

/// Begins a frame, and returns its events.
fn frame(setup: &mut Setup, world: &mut World) -> Vec<Told> {
    let frame = setup.begin(&mut world.crowd, 0, world.now_s);
    let told = frame.events().map(|of| {
        let name = frame.event_name(&of).unwrap();
        let kind = match of.kind {
            AnimationEventKind::Clip { .. } => name.to_owned(),
            AnimationEventKind::Finished { .. } => format!("end of {name}"),
            AnimationEventKind::Left { .. } => format!("left state {name}"),
            AnimationEventKind::Entered { .. } => format!("entered state {name}"),
            other => format!("{other:?}"),
        };
        (of.id, kind, of.time_s)
    });
    told.collect()
}

/// The events of one instance, with times rounded to a nanosecond.
fn of(told: &[Told], id: InstanceId) -> Vec<(&str, f64)> {
    let own = told.iter().filter(|(to, ..)| *to == id);
    own.map(|(_, name, time_s)| (&**name, (time_s * 1e9).round() / 1e9))
        .collect()
}

#[test]
fn events_reach_the_instances_that_they_happen_to() {
    let mut seed = 50;
    each(|setup| {
        seed += 1;
        let mut rng = Rng::new(seed);
        let mut world = World::new(setup, SMALL);
        let loops = world.spawn(0, "sway".into()).id;
        let late = world.spawn(1, Play::new("sway").offset_s(0.75)).id;
        let once = world.spawn(2, Play::new("turn").once().speed(2.0)).id;
        let gone = world.spawn(3, "sway".into()).id;
        let mut told = frame(setup, &mut world);
        while world.now_s < 1.7 {
            world.now_s += f64::from(rng.range(0.0, 0.2));
            told.extend(frame(setup, &mut world));
        }
        world.now_s = 1.9;
        told.extend(frame(setup, &mut world));
        let beat = |times: &[f64]| times.iter().map(|at| ("beat", *at)).collect::<Vec<_>>();
        assert_eq!(of(&told, loops), beat(&[0.0, 0.5, 1.0, 1.5]));
        assert_eq!(of(&told, late), beat(&[0.25, 0.75, 1.25, 1.75]));
        assert_eq!(of(&told, once), [("end of turn", 0.5)]);
        assert_eq!(of(&told, gone), beat(&[0.0, 0.5, 1.0, 1.5]));
        // An instance of another character replaces one with an event in this frame. The actors of
        // both may have the same number.
        world.now_s = 2.0;
        assert_eq!(of(&frame(setup, &mut world), gone), beat(&[2.0]));
        world.despawn(gone);
        let index = |world: &World, id| world.crowd.live(id).table_index();
        let heir = world.spawn(2, "sway".into()).id;
        assert!(world.crowd.events().all(|of| of.id != heir));
        assert!(world.crowd.events().all(|of| of.id != gone));
        world.despawn(once);
        let second = world.spawn(3, Play::new("sway").offset_s(0.25)).id;
        assert!(index(&world, second) < 4);
        assert!(world.crowd.events().all(|of| of.id != second));
        world.now_s = 2.6;
        let told = frame(setup, &mut world);
        assert_eq!(of(&told, heir), beat(&[2.0, 2.5]));
        assert_eq!(of(&told, second), beat(&[2.25]));
        world.destroy(setup);
    });
}

#[test]
fn state_machines_tell_whom_they_move() {
    each(|setup| {
        let mut world = World::new(setup, SMALL);
        let spawn = Spawn {
            state_machine: true,
            ..Spawn::default()
        };
        let ids = [0, 3].map(|kind| {
            let kind = world.kinds[kind].id;
            world.crowd.spawn(kind, &spawn).unwrap()
        });
        frame(setup, &mut world);
        let machine = world.kinds[0].character.state_machine();
        let go = machine.unwrap().parameter("go").unwrap();
        world
            .crowd
            .live_mut(ids[1])
            .set_parameter(go, true)
            .unwrap();
        world.now_s = 0.4;
        let told = frame(setup, &mut world);
        let changes = |id| {
            of(&told, id)
                .iter()
                .filter(|(name, _)| name.contains("state"))
                .count()
        };
        assert_eq!(changes(ids[0]), 0, "{told:?}");
        assert_eq!(changes(ids[1]), 2, "{told:?}");
        let playing: Vec<_> = world.crowd.live(ids[1]).playing().collect();
        assert!(playing.iter().all(|of| of.by_state_machine));
        assert_eq!(playing.last().unwrap().weight, 1.0);
        world.destroy(setup);
    });
}

#[test]
fn root_motion_moves_the_record_of_the_instance() {
    each(|setup| {
        let mut world = World::new(setup, SMALL);
        let mode = RootMotionMode::Apply;
        let mut walkers = Vec::new();
        for kind in 0..4 {
            // One metre per second in character space. One instance is twice as large, and walks
            // half as fast.
            let (turn, scale) = (0.5 * kind as f32, [1.0, 2.0][kind % 2]);
            let start = Vec3::new(kind as f32, 0.0, -1.0);
            let (size, turned) = (Vec3::splat(scale), Quat::from_rotation_y(turn));
            let place = Affine3A::from_scale_rotation_translation(size, turned, start);
            let spawn = Spawn {
                world_from_model: place,
                play: Play::new("walk").speed(1.0 / f64::from(scale)),
                root_motion: mode,
                ..Spawn::default()
            };
            let id = world.crowd.spawn(world.kinds[kind].id, &spawn).unwrap();
            assert_eq!(
                world.crowd.instance(id).map(|it| it.root_motion()),
                Ok(mode)
            );
            walkers.push((id, turn, start, size));
        }
        // And the one that the test's own animator moves too.
        let member = world.spawn(0, "walk".into());
        world.both(
            member,
            |crowd, id| {
                crowd
                    .instance_mut(id)
                    .map(|mut it| it.set_root_motion(mode))
            },
            |animator, actor| {
                animator
                    .actor_mut(actor)
                    .map(|mut it| it.set_root_motion(mode))
            },
        );
        let mut rng = Rng::new(60);
        for number in 0..200 {
            world.now_s += f64::from(rng.range(0.0, 0.1));
            if number == 150 {
                world.now_s += 86_400.0;
            }
            world.update();
            frame(setup, &mut world);
            for (id, turn, start, size) in &walkers {
                let (sin, cos) = f64::from(*turn).sin_cos();
                let at = start.as_dvec3() + DVec3::new(sin, 0.0, cos) * world.now_s;
                let got = world.crowd.live(*id).transform();
                let off = (Vec3::from(got.translation).as_dvec3() - at).length();
                // The heading is an f32 angle. The error is half a unit of 6e-8 of the way, plus
                // the rounding of the record.
                assert!(off < 3e-7 * (2.0 + world.now_s), "{off} at {}", world.now_s);
                let turned = Quat::from_rotation_y(*turn);
                let want = Affine3A::from_scale_rotation_translation(*size, turned, Vec3::ZERO);
                assert!(got.matrix3.abs_diff_eq(want.matrix3, 2e-6));
            }
            let place = world.kinds[0].animator.live(member.actor).root_transform();
            let want = Mat3x4::from_affine(&place.world_from_model(DVec3::ZERO, Vec3::ONE));
            let record = world.crowd.live(member.id).record();
            assert_eq!(record.world_from_model, want);
        }
        // After a move, it continues from there. If root motion is ignored, it stays.
        let to = Affine3A::from_translation(Vec3::new(5.0, 1.0, 5.0));
        world.crowd.live_mut(member.id).set_transform(&to).unwrap();
        world.now_s += 1.0;
        frame(setup, &mut world);
        let got = world.crowd.live(member.id).transform();
        assert!(got.abs_diff_eq(Affine3A::from_translation(Vec3::new(5.0, 1.0, 6.0)), 1e-5));
        let ignore = RootMotionMode::Ignore;
        world.crowd.live_mut(member.id).set_root_motion(ignore);
        world.now_s += 1.0;
        frame(setup, &mut world);
        assert_eq!(
            world.crowd.instance(member.id).map(|it| it.transform()),
            Ok(got)
        );
        world.destroy(setup);
    });
}

/// A character that is added in the middle of a run tells nothing of the time before.
#[test]
fn a_character_that_is_added_later_tells_nothing_of_before() {
    each(|setup| {
        let mut world = World::new(setup, SMALL);
        world.now_s = 1000.0;
        frame(setup, &mut world);
        let allocator = &mut setup.context.allocator();
        let later = world.crowd.add_character(
            allocator,
            &world.kinds[0].character,
            &CharacterDesc::default(),
        );
        let spawn = placed(Affine3A::IDENTITY, "sway");
        let id = world.crowd.spawn(later.unwrap(), &spawn).unwrap();
        assert_eq!(world.crowd.live(id).time_s(), 1000.0);
        world.now_s = 1000.6;
        let told = frame(setup, &mut world);
        assert_eq!(of(&told, id), [("beat", 1000.0), ("beat", 1000.5)]);
        world.destroy(setup);
    });
}
