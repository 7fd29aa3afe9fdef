//! Everything that can be set of an actor can be read.

use super::hostile::arm;
use super::world::{made_machine, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use throng::animator::{IkTarget, Play, Pose, RootMotionMode, ShowPose};
use throng::character::BlendAt;
use throng::glam::{Affine3A, DVec3, Quat, Vec3};
use throng::ik::TwoBoneTarget;
use throng::motion::RootTransform;

#[test]
fn what_plays_and_where_can_be_read() {
    let world = world();
    let mut animator = world.animator();
    let solver = animator.add_solver(arm(world)).unwrap();
    let id = animator.add(Play::blend_space("line").at(1.0)).unwrap();
    animator.update(1.5).unwrap();
    let mut actor = animator.live_mut(id);
    assert_eq!(actor.id(), id);

    let wave = Play::new("Run").layer(1).mask("upper").synced().weight(0.5);
    actor.play(wave).unwrap();
    let playing = actor.playing().last().unwrap();
    let mask = world.character.mask("upper").unwrap();
    assert_eq!((playing.layer, playing.mask), (1, Some(mask)));
    assert!(playing.synced && playing.weight == 0.5);
    actor.set_blend_position(0, 2.0, 0.0).unwrap();
    assert!(matches!(
        actor.blend_position(0),
        Some((_, BlendAt::Line(2.0)))
    ));

    actor.set_time_scale(0.5).unwrap();
    actor.set_paused(true);
    assert!(actor.is_paused());
    assert_eq!((actor.time_scale(), actor.time_s()), (0.5, 1.5));
    actor.set_paused(false);
    assert!(!actor.is_paused());

    let target: IkTarget = TwoBoneTarget::at(Vec3::ONE).into();
    actor.set_target(solver, target, 0.0).unwrap();
    assert_eq!(
        (actor.target(solver), actor.target_report(solver)),
        (Some(target), None)
    );
    actor.clear_target(solver, 0.0).unwrap();
    assert_eq!(actor.target(solver), None);

    let pose = world.rest();
    assert!(actor.pose().is_none());
    actor
        .set_pose(Pose::Local(&pose), &ShowPose::default())
        .unwrap();
    assert_eq!(actor.pose(), Some(Pose::Local(&pose)));
    let model = vec![Affine3A::from_scale(Vec3::new(1.0, 2.0, 3.0)); world.joints()];
    actor
        .set_pose(Pose::Model(&model), &ShowPose::default())
        .unwrap();
    assert_eq!(actor.pose(), Some(Pose::Model(&model)));
    actor.play(Play::REST).unwrap();
    assert!(actor.pose().is_none());
}

/// Root motion starts at the actor's transform, and another root transform replaces it.
#[test]
fn transforms_can_be_read() {
    let mut animator = world().animator();
    let id = animator.add("Walk").unwrap();
    let mut actor = animator.live_mut(id);
    assert_eq!(actor.transform(), Affine3A::IDENTITY);
    let turn = Quat::from_rotation_y(0.75);
    let at = Affine3A::from_scale_rotation_translation(Vec3::splat(2.0), turn, Vec3::X * 3.0);
    actor.set_transform(&at).unwrap();
    actor.set_root_motion(RootMotionMode::Apply);
    assert_eq!(actor.transform(), at);
    assert_eq!(actor.root_motion(), RootMotionMode::Apply);
    assert_eq!(actor.root_transform().translation, DVec3::X * 3.0);
    // The angle comes from a matrix of `f32`, whose elements of up to 2 are rounded to 1.2e-7, in a
    // few products.
    assert!((actor.root_transform().yaw_rad - 0.75).abs() < 1e-6);
    let root = RootTransform {
        translation: DVec3::new(1e9, 0.0, 0.125),
        yaw_rad: -3.0,
    };
    actor.set_root_transform(root, 1.5).unwrap();
    assert_eq!(actor.root_transform(), root);
    actor.set_root_motion(RootMotionMode::Ignore);
    assert_eq!(actor.root_transform(), RootTransform::IDENTITY);
    assert!(actor.set_root_transform(root, 1.0).is_err());
}

#[test]
fn whether_a_state_machine_drives_can_be_read() {
    let mut rng = Rng::new(3);
    let mut animator = world().driven(made_machine(&mut rng));
    let id = animator.add_with_state_machine().unwrap();
    let mut actor = animator.live_mut(id);
    assert!(actor.has_state_machine());
    actor.stop_state_machine(0.0).unwrap();
    assert!(!actor.has_state_machine() && actor.layer_status(0).is_err());
    actor.start_state_machine().unwrap();
    assert!(actor.has_state_machine() && actor.layer_status(0).is_ok());
}
