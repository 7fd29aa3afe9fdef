//! Places: root motion, attachments, and what follows joints.

use crate::support::{self, id, last_joint, messages, run, spawn};
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_throng::{AttachedTo, Follows, Instance, Plays, RootMotion, Throng, TimeScale};
use std::time::Duration;

#[test]
fn root_motion_moves_transforms() {
    let mut app = support::app();
    let walker = spawn(&mut app, (Plays::new("Walk"), RootMotion));
    run(&mut app, 80);
    let at = app.world().get::<Transform>(walker).unwrap().translation;
    let throng = app.world().resource::<Throng>().clone();
    let lock = throng.lock().unwrap();
    let there = lock.instance(id(&app, walker)).unwrap().transform();
    assert_eq!(at.to_array(), there.translation.to_array());
    let clip = throng::builtin::mannequin().unwrap().character;
    let walk = clip.clip("Walk").unwrap();
    if clip.root_motion(walk).is_some() {
        assert!(at.length() > 0.1, "{at}");
    }
    drop(lock);
    messages::expect_none();
}

#[test]
fn entities_and_characters_follow_joints() {
    let mut app = support::app();
    let carrier = spawn(
        &mut app,
        (Plays::new("Walk"), Transform::from_xyz(2.0, 0.0, 0.0)),
    );
    let throng = app.world().resource::<Throng>().clone();
    run(&mut app, 4);
    let joint = last_joint();
    let light = app
        .world_mut()
        .spawn((PointLight::default(), Follows::new(carrier, joint.clone())));
    let light = light.id();
    let rider = spawn(&mut app, AttachedTo::new(carrier, joint.clone()));
    run(&mut app, 4);
    let (wanted, ridden) = {
        let lock = throng.lock().unwrap();
        let it = lock.instance(id(&app, carrier)).unwrap();
        let rider = lock.instance(id(&app, rider)).unwrap();
        let wanted = it
            .joint_transform(&*joint, lock.time_s())
            .unwrap()
            .translation;
        (wanted.to_array(), rider.transform().translation.to_array())
    };
    let at = app
        .world()
        .get::<Transform>(light)
        .unwrap()
        .translation
        .to_array();
    assert_eq!(at, wanted);
    for (a, b) in ridden.into_iter().zip(wanted) {
        assert!((a - b).abs() < 1e-4, "{ridden:?} {wanted:?}");
    }
    // The rider stays where it was.
    app.world_mut().despawn(carrier);
    run(&mut app, 2);
    assert_eq!(throng.lock().unwrap().instances().len(), 1);
    app.world_mut()
        .entity_mut(rider)
        .remove::<AttachedTo>()
        .insert(Transform::IDENTITY);
    run(&mut app, 3);
    {
        let lock = throng.lock().unwrap();
        let at = lock.instance(id(&app, rider)).unwrap().transform();
        assert_eq!(at.translation.to_array(), [0.0; 3]);
    }
    messages::expect_none();
}

/// A game may turn those who walk, in a step or in a frame.
#[test]
fn those_who_walk_can_be_moved() {
    let mut app = support::app();
    let [one, other] = [(); 2].map(|()| spawn(&mut app, (Plays::new("Idle"), RootMotion)));
    run(&mut app, 4);
    let moves = |entity: Entity| {
        move |mut all: Query<&mut Transform>| {
            let mut place = all.get_mut(entity).unwrap();
            place.translation.y += 1.0;
        }
    };
    app.add_systems(FixedUpdate, moves(one));
    app.add_systems(Update, moves(other));
    run(&mut app, 10);
    let lock = app.world().resource::<Throng>().lock().unwrap();
    for person in [one, other] {
        let place = app.world().get::<Transform>(person).unwrap().translation;
        let it = lock.instance(id(&app, person)).unwrap();
        assert_eq!(place.y, 10.0);
        assert!((it.transform().translation.y - 10.0).abs() < 1e-4);
    }
    drop(lock);
    messages::expect_none();
}

/// Whatever moves the character, in the game or in the frame, a sword is where the picture has the
/// hand. It may have a parent.
#[test]
fn what_follows_a_joint_is_there_in_the_picture() {
    let mut app = support::app();
    let frame = TimeUpdateStrategy::ManualDuration(Duration::from_millis(7));
    app.insert_resource(frame);
    let joint = last_joint();
    let run_on = spawn(&mut app, (Plays::new("Run"), RootMotion));
    let moved = spawn(&mut app, Plays::new("Walk"));
    let steered = spawn(&mut app, (Plays::new("Run"), RootMotion));
    let rider = spawn(
        &mut app,
        (Plays::new("Walk"), AttachedTo::new(moved, joint.clone())),
    );
    let parent = app
        .world_mut()
        .spawn(Transform::from_xyz(5.0, 1.0, 0.0))
        .id();
    // Its carrier is gone, and it stays where it is.
    let gone = spawn(&mut app, Plays::new("Idle"));
    let left = spawn(
        &mut app,
        (Plays::new("Walk"), AttachedTo::new(gone, joint.clone())),
    );
    let swords = [run_on, moved, steered, rider, left].map(|person| {
        let parts = (Follows::new(person, joint.clone()), ChildOf(parent));
        (person, app.world_mut().spawn(parts).id())
    });
    app.add_systems(Update, move |mut all: Query<&mut Transform>| {
        all.get_mut(moved).unwrap().translation.x += 0.25;
        let mut place = all.get_mut(steered).unwrap();
        place.translation.z += 0.25;
        place.rotate_y(0.1);
    });
    run(&mut app, 6);
    app.world_mut().despawn(gone);
    for _ in 0..20 {
        run(&mut app, 1);
        let time = app.world().resource::<Time<Fixed>>();
        let shown_s = time.elapsed_secs_f64() + time.overstep().as_secs_f64();
        let lock = app.world().resource::<Throng>().lock().unwrap();
        for (person, sword) in swords {
            let it = lock.instance(id(&app, person)).unwrap();
            let hand = it.joint_model(&*joint, shown_s).unwrap();
            let wanted = (it.transform_at(shown_s) * hand).translation.to_array();
            let at = app.world().get::<GlobalTransform>(sword).unwrap();
            let off = (at.translation() - Vec3::from_array(wanted)).length();
            assert!(off < 1e-4, "{off} m");
            let root = it.transform().translation.length();
            assert!(
                root > 0.1 || person == run_on,
                "{person} stays at the origin"
            );
        }
    }
    messages::expect_none();
}

/// A scale of 0 hides a character, as it does a mesh, and one that grows from nothing is there.
#[test]
fn a_scale_of_0_leaves_nothing_to_see() {
    let mut app = support::app();
    let eye = Vec3::new(0.0, 1.0, 4.0);
    support::camera(&mut app, eye, Vec3::new(0.0, 1.0, 0.0));
    let empty = support::picture(&mut app, 6);
    // A point of a ten-thousandth may cover a pixel.
    let differs = |picture: &[u8]| {
        let pixels = picture.chunks_exact(4).zip(empty.chunks_exact(4));
        pixels.filter(|(one, other)| one != other).count()
    };
    let small = Transform::from_rotation(Quat::from_rotation_y(0.5)).with_scale(Vec3::ZERO);
    let person = spawn(&mut app, (Plays::new("Idle"), TimeScale(0.0), small));
    let walker = spawn(&mut app, (Plays::new("Walk"), RootMotion, small));
    let sword = app.world_mut().spawn(Follows::new(person, last_joint()));
    let sword = sword.id();
    let mut nothing = Follows::new(person, last_joint());
    nothing.at = small;
    let nothing = app.world_mut().spawn(nothing).id();
    let mut rider = AttachedTo::new(person, last_joint());
    rider.at = small;
    let rider = spawn(&mut app, (Plays::new("Idle"), rider));
    let scale = |app: &mut App, scale: Vec3| {
        let mut place = app.world_mut().get_mut::<Transform>(person).unwrap();
        place.scale = scale;
    };
    assert!(differs(&support::picture(&mut app, 8)) <= 2);
    assert!(app.world().get::<Instance>(rider).is_some());
    let own = app.world().get::<Transform>(walker).unwrap();
    assert_eq!(own.scale, Vec3::ZERO);
    app.world_mut().get_mut::<Transform>(walker).unwrap().scale = Vec3::ONE;
    run(&mut app, 2);
    let own = app.world().get::<Transform>(walker).unwrap();
    assert!(own.rotation.angle_between(small.rotation) < 1e-3, "{own:?}");
    for gone in [walker, rider] {
        app.world_mut().despawn(gone);
    }
    scale(&mut app, Vec3::ONE);
    let whole = differs(&support::picture(&mut app, 4));
    assert!(whole > 500, "{whole}");
    scale(&mut app, Vec3::new(1.0, 0.0, 1.0));
    let flat = differs(&support::picture(&mut app, 4));
    assert!(flat < whole / 10, "{flat} of {whole}");
    scale(&mut app, Vec3::ZERO);
    assert!(differs(&support::picture(&mut app, 4)) <= 2);
    for it in [sword, nothing] {
        assert!(app.world().get::<Transform>(it).unwrap().is_finite());
    }
    messages::expect_none();
}

/// Whatever the rotation, somebody with scales of 0 is there, and is moved.
#[test]
fn all_rotations_may_have_scales_of_0() {
    let mut app = support::app();
    let character = support::mannequin(&mut app);
    let mut people = Vec::new();
    for number in 0..64 {
        let turn = |by: u32| std::f32::consts::FRAC_PI_2 * (number / by % 4) as f32;
        let rotation = Quat::from_euler(EulerRot::XYZ, turn(1), turn(4), turn(16));
        for zeros in 1..8 {
            let scale = [1, 2, 4].map(|bit| f32::from(u8::from(zeros & bit == 0)));
            let place = Transform::from_rotation(rotation).with_scale(scale.into());
            let parts = (character.clone(), Plays::new("Idle"), place);
            people.push(app.world_mut().spawn(parts).id());
        }
    }
    run(&mut app, 6);
    for person in &people {
        assert!(app.world().get::<Instance>(*person).is_some());
        let mut place = app.world_mut().get_mut::<Transform>(*person).unwrap();
        place.translation.x = 3.0;
    }
    run(&mut app, 2);
    let lock = app.world().resource::<Throng>().lock().unwrap();
    for person in people {
        let it = lock.instance(id(&app, person)).unwrap();
        assert_eq!(it.transform().translation.x, 3.0);
    }
    drop(lock);
    messages::expect_none();
}

/// A picture is at most a second after the last step, and so is what follows a joint.
#[test]
fn what_follows_a_joint_waits_for_a_late_step() {
    let mut app = support::app();
    let person = spawn(&mut app, Plays::new("Walk"));
    let joint = last_joint();
    let sword = app.world_mut().spawn(Follows::new(person, joint)).id();
    run(&mut app, 4);
    app.world_mut()
        .resource_mut::<Time<Fixed>>()
        .set_timestep_seconds(3.0);
    let update = Duration::from_millis(100);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(update));
    let mut places = Vec::new();
    for _ in 0..25 {
        app.update();
        places.push(app.world().get::<Transform>(sword).unwrap().translation);
    }
    let moves: Vec<bool> = places.windows(2).map(|pair| pair[0] != pair[1]).collect();
    let stood = moves.iter().filter(|moves| !**moves).count();
    assert!(moves[..8].iter().all(|moves| *moves), "{moves:?}");
    assert!(stood >= 10, "{moves:?}");
    messages::expect_none();
}
