//! Switching, resetting, pausing and moving actors with spring bones.

use super::bodies::{JOINTS, Show, apart, chain, plain, strand, way, with};
use crate::reference::handles::Handles;
use throng::animator::{Animator, Play, SpringMode};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::skeleton::{Joint, Transform};
use throng::spring::SpringBones;
use throng::{Id, Threads};

/// A strand in full swing at one second.
fn swinging() -> (Show, Vec<Affine3A>) {
    let mut show = Show::new(&strand());
    let mut pose = Vec::new();
    for frame in 0..=60 {
        let time_s = f64::from(frame) / 60.0;
        pose = show.at(time_s, &way(time_s));
    }
    (show, pose)
}

fn rest() -> Vec<Affine3A> {
    Show::new(&plain()).at(0.0, &Affine3A::IDENTITY)
}

#[test]
fn only_the_strand_moves() {
    let (_, pose) = swinging();
    assert_eq!(pose[..3].len(), 3);
    for (joint, (pose, rest)) in pose.iter().zip(&rest()).enumerate() {
        let moved = pose.translation.distance(rest.translation);
        assert_eq!(moved > 1e-3, joint > 2, "joint {joint} moved {moved}");
    }
}

#[test]
fn equal_times_give_equal_poses() {
    let (mut show, pose) = swinging();
    let (mut other, again) = swinging();
    assert_eq!(pose, again);
    assert_eq!(show.at(1.0, &way(1.0)), pose);
    assert_eq!(show.at(1.0, &way(1.0)), pose);
    let mut local = vec![Transform::IDENTITY; JOINTS];
    other
        .animator
        .local_poses(&[other.actor], &mut local)
        .unwrap();
    let mut model = Vec::new();
    for (joint, local) in local.iter().enumerate() {
        let above = if joint == 0 {
            Affine3A::IDENTITY
        } else {
            model[joint - 1]
        };
        model.push(above * local.to_affine());
    }
    assert!(apart(&model, &pose) < 1e-6);
}

/// The model matrices of all joints, one by one.
fn joints(show: &Show, time_s: f64) -> Vec<Affine3A> {
    let actor = show.animator.actor(show.actor).unwrap();
    let joints = (0..JOINTS).map(|joint| Id::<Joint>::new(joint as u16));
    joints
        .map(|joint| actor.joint_model(joint, time_s).unwrap())
        .collect()
}

#[test]
fn the_game_sees_the_springs_that_are_its_own() {
    let (show, pose) = swinging();
    assert!(apart(&joints(&show, 1.0), &rest()) < 1e-5);
    assert!(apart(&pose, &rest()) > 1e-2);

    // Updates at the times of the pictures above swing in the same way, with or without pictures.
    let pictures = [|_: u32| true, |frame| frame == 60];
    let [often, once] = pictures.map(|draws| {
        let mut show = Show::new(&strand());
        show.animator
            .live_mut(show.actor)
            .set_springs(SpringMode::Game);
        let mut shown = Vec::new();
        for frame in 0..=60 {
            let time_s = f64::from(frame) / 60.0;
            let world = way(time_s);
            show.animator
                .live_mut(show.actor)
                .set_transform(&world)
                .unwrap();
            show.animator.update(time_s).unwrap();
            if draws(frame) {
                show.animator.show_at(time_s + 0.3).unwrap();
                show.pose();
                show.animator.show_at(time_s).unwrap();
                shown = show.pose();
            }
        }
        assert!(apart(&joints(&show, 1.0), &shown) < 1e-5);
        shown
    });
    assert_eq!(often, once);
    assert!(apart(&often, &pose) < 1e-6);
}

#[test]
fn springs_switch_off_and_start_anew() {
    let (mut show, _) = swinging();
    show.animator
        .live_mut(show.actor)
        .set_springs(SpringMode::Off);
    assert!(apart(&show.at(1.1, &way(1.1)), &rest()) < 1e-6);
    show.animator
        .live_mut(show.actor)
        .set_springs(SpringMode::Picture);
    assert!(apart(&show.at(1.2, &way(1.2)), &rest()) < 1e-6);
    assert!(apart(&show.at(1.3, &way(1.3)), &rest()) > 1e-3);
    for mode in [SpringMode::Off, SpringMode::Picture] {
        show.animator.live_mut(show.actor).set_springs(mode);
    }
    assert!(apart(&show.at(1.4, &way(1.4)), &rest()) < 1e-6);
}

#[test]
fn the_world_is_kept_while_springs_are_off() {
    let far = Affine3A::from_rotation_translation(Quat::from_rotation_x(2.0), Vec3::X * 40.0);
    // Gravity pulls another way in a character that lies on its back.
    let mut expected = Show::new(&strand());
    expected.at(0.0, &far);
    let expected = expected.at(0.5, &far);
    for moves_while_off in [false, true] {
        let mut show = Show::new(&strand());
        let before = if moves_while_off {
            Affine3A::IDENTITY
        } else {
            far
        };
        show.at(0.0, &before);
        show.animator
            .live_mut(show.actor)
            .set_springs(SpringMode::Off);
        if moves_while_off {
            show.animator
                .live_mut(show.actor)
                .set_transform(&far)
                .unwrap();
        }
        show.animator
            .live_mut(show.actor)
            .set_springs(SpringMode::Picture);
        let mut pose = vec![Affine3A::IDENTITY; JOINTS];
        for time_s in [0.0, 0.5] {
            show.animator.update(time_s).unwrap();
            show.animator.model_poses(&[show.actor], &mut pose).unwrap();
        }
        assert!(apart(&pose, &expected) < 1e-6, "{moves_while_off}");
    }
}

#[test]
fn a_second_without_evaluation_starts_anew() {
    let (mut show, _) = swinging();
    assert!(apart(&show.at(2.1, &way(2.1)), &rest()) < 1e-6);
    // A hitch of half a second does not.
    let (mut show, _) = swinging();
    assert!(apart(&show.at(1.5, &way(1.5)), &rest()) > 1e-3);
}

#[test]
fn a_teleport_carries_the_strand_along() {
    let (mut show, pose) = swinging();
    let far = Affine3A::from_rotation_translation(Quat::from_rotation_y(2.0), Vec3::X * 40.0);
    show.animator.live_mut(show.actor).teleport(&far).unwrap();
    let after = show.at(1.0, &far);
    assert!(apart(&pose, &after) < 1e-4, "{}", apart(&pose, &after));
    // The swing goes on.
    let next = show.at(1.0 + 1.0 / 60.0, &far);
    assert!(apart(&after, &next) < 0.05);
}

#[test]
fn time_that_stands_still_or_goes_back_keeps_the_strand() {
    let (mut show, pose) = swinging();
    show.animator.live_mut(show.actor).set_paused(true);
    for frame in 0..30 {
        let now = show.at(1.0 + f64::from(frame), &way(1.0));
        assert!(apart(&now, &pose) < 1e-6);
    }
    let (mut show, pose) = swinging();
    assert!(apart(&show.at(0.5, &way(1.0)), &pose) < 0.02);
    assert!(show.at(0.6, &way(1.0)).iter().all(Affine3A::is_finite));
}

#[test]
fn a_chain_with_a_center_ignores_the_way() {
    let of = |center| {
        let mut chain = chain();
        chain.center = center;
        for joint in &mut chain.joints {
            joint.gravity = Vec3::ZERO;
        }
        let chains = vec![chain];
        let mut show = Show::new(&with(SpringBones {
            chains,
            ..SpringBones::default()
        }));
        let mut most = 0.0_f32;
        for frame in 0..120 {
            let time_s = f64::from(frame) / 60.0;
            most = most.max(apart(&show.at(time_s, &way(time_s)), &rest()));
        }
        most
    };
    assert!(of(None) > 0.02);
    assert!(of(Some(Id::new(0))) < 1e-3, "{}", of(Some(Id::new(0))));
}

#[test]
fn scaled_instances_swing_alike() {
    let scale = |size: f32, time_s: f64| {
        let world = way(time_s);
        let place = Affine3A::from_scale(Vec3::splat(size))
            * Affine3A::from_translation(world.translation.into());
        Affine3A {
            translation: place.transform_point3(Vec3::ZERO).into(),
            matrix3: world.matrix3 * size,
        }
    };
    let mut poses = [Vec::new(), Vec::new()];
    for (pose, size) in poses.iter_mut().zip([1.0, 3.0]) {
        let mut show = Show::new(&strand());
        for frame in 0..90 {
            let time_s = f64::from(frame) / 60.0;
            *pose = show.at(time_s, &scale(size, time_s));
        }
    }
    assert!(apart(&poses[0], &poses[1]) < 1e-4);
}

#[test]
fn many_actors_do_not_disturb_each_other() {
    for threads in [Threads::One, Threads::Rayon] {
        let mut animator = Animator::new(&strand()).unwrap();
        animator.set_threads(threads);
        let actors: Vec<_> = (0..40).map(|_| animator.add(Play::REST).unwrap()).collect();
        let mut poses = vec![Affine3A::IDENTITY; 40 * JOINTS];
        let mut shows: Vec<Show> = (0..40).map(|_| Show::new(&strand())).collect();
        for frame in 0..60 {
            let time_s = f64::from(frame) / 60.0;
            animator.update(time_s).unwrap();
            for (number, actor) in actors.iter().enumerate() {
                let place = way(time_s + number as f64);
                animator.live_mut(*actor).set_transform(&place).unwrap();
            }
            animator.model_poses(&actors, &mut poses).unwrap();
            for (number, (show, pose)) in shows.iter_mut().zip(poses.chunks(JOINTS)).enumerate() {
                let place = way(time_s + number as f64);
                assert_eq!(show.at(time_s, &place), pose, "{number}");
            }
        }
    }
}

#[test]
fn an_actor_may_be_listed_twice() {
    let (mut show, pose) = swinging();
    let mut twice = vec![Affine3A::IDENTITY; 2 * JOINTS];
    let actors = [show.actor; 2];
    show.animator.model_poses(&actors, &mut twice).unwrap();
    assert_eq!(twice, [&pose[..], &pose[..]].concat());
    let later = 1.0 + 1.0 / 60.0;
    show.animator.update(later).unwrap();
    show.animator.model_poses(&actors, &mut twice).unwrap();
    assert_eq!(twice[..JOINTS], twice[JOINTS..]);
    assert_ne!(twice[..JOINTS], pose);
}

/// Such as on a lift, or in a menu.
#[test]
fn a_paused_actor_carries_its_strand_through_the_world() {
    let (mut show, pose) = swinging();
    show.animator.live_mut(show.actor).set_paused(true);
    let mut world = way(1.0);
    for frame in 1..=60 {
        world = Affine3A::from_translation(Vec3::new(0.05, 0.02, 0.0)) * world;
        let paused = show.at(1.0 + f64::from(frame) / 60.0, &world);
        assert!(apart(&paused, &pose) < 1e-5, "frame {frame}");
    }
    // It swings on from there, as if it had always been at this place.
    show.animator.live_mut(show.actor).set_paused(false);
    let away = world * way(1.0).inverse();
    let (mut other, _) = swinging();
    for frame in 1..=60 {
        let at_s = f64::from(frame) / 60.0;
        let resumed = show.at(2.0 + at_s, &(away * way(1.0 + at_s)));
        let expected = other.at(1.0 + at_s, &way(1.0 + at_s));
        assert!(apart(&resumed, &expected) < 1e-4, "frame {frame}");
    }
}
