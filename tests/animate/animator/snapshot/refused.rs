//! Snapshots that do not fit, or were altered: nothing changes.

use super::{character, empty, frame, look};
use crate::animator::world::{made_machine, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::reference::words::{Fails, Says};
use serde_json::Value;
use throng::animator::{ActorId, Animator, AnimatorSnapshot, Play, Pose, ShowPose, SpringMode};
use throng::character::Character;
use throng::error::ArgumentFault;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::ik::{Aim, TwoBoneTarget};
use throng::import::{ImportOptions, RawCharacter};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::Transform;
use throng::spring::{SpringBones, SpringChain, SpringJoint};
use throng::{Error, Id};

fn kind(error: &Error) -> &'static str {
    match error {
        Error::Argument {
            why: ArgumentFault::OtherCharacter { kind, .. },
            ..
        } => kind,
        _ => panic!("{error}"),
    }
}

#[test]
fn a_snapshot_of_another_character_names_what_differs() {
    let mut animator = empty();
    frame(&mut animator, 1, 1);
    let snapshot = animator.snapshot();
    let mannequin = || {
        RawCharacter::mannequin()
            .build(&ImportOptions::default())
            .unwrap()
            .character
    };
    let refuse = |character: &Character| {
        let mut animator = Animator::new(character).unwrap();
        animator.add(Play::REST).unwrap();
        let saved = |animator: &Animator| serde_json::to_string(&animator.snapshot()).unwrap();
        let before = saved(&animator);
        let error = animator.restore(&snapshot).unwrap_err();
        assert_eq!(saved(&animator), before);
        error
    };
    assert_eq!(kind(&refuse(&mannequin())), "clips");
    assert_eq!(kind(&refuse(&world().character)), "event names");
    let machine = world().with_machine(made_machine(&mut Rng::new(4)));
    let joint = |name| SpringJoint::new(machine.skeleton().joint(name).unwrap());
    let chains = vec![SpringChain::new(vec![
        joint("RightLowerArm"),
        joint("RightHand"),
    ])];
    let bones = SpringBones {
        chains,
        ..SpringBones::default()
    };
    let machine = machine.with_springs(bones).unwrap();
    kind(&refuse(&machine)).says("layers of the state machine");
    refuse(&mannequin())
        .to_string()
        .says("snapshot: is of another character: that has …");
    // Names alone decide.
    let mut same = Animator::new(&mannequin()).unwrap();
    let id = same.add("Walk").unwrap();
    let other = throng::builtin::mannequin().unwrap().character;
    let mut other = Animator::new(&other).unwrap();
    other.restore(&same.snapshot()).unwrap();
    assert!(other.is_alive(id));
}

/// Palettes, transforms, root motion and bounding spheres are finite.
fn expect_finite(animator: &mut Animator) {
    let ids: Vec<ActorId> = animator.actors().collect();
    let mut palettes = vec![Mat3x4::IDENTITY; ids.len() * character().palette().len()];
    let out = WriteOnly::from(&mut palettes);
    animator.palettes(&ids, out).unwrap();
    let mut numbers = palettes.iter().flat_map(|it| it.rows.as_flattened());
    assert!(numbers.all(|number| number.is_finite()), "a palette");
    for id in ids {
        let actor = animator.live(id);
        assert!(actor.transform().is_finite(), "a transform");
        let root = actor.root_transform().translation;
        assert!(root.is_finite(), "root motion");
        let sphere = actor.bounding_sphere();
        assert!(sphere.center.is_finite() && !sphere.radius.is_nan());
    }
}

/// Changes a number, a text or a list somewhere in a snapshot.
fn tamper(value: &mut Value, rng: &mut Rng) {
    match value {
        Value::Array(list) if !list.is_empty() && !rng.chance(12) => {
            let at = rng.below(list.len());
            tamper(&mut list[at], rng);
        }
        Value::Object(map) if !map.is_empty() && !rng.chance(60) => {
            let at = rng.below(map.len());
            tamper(map.values_mut().nth(at).unwrap(), rng);
        }
        Value::Array(list) => match rng.below(3) {
            0 => list.clear(),
            1 => drop(list.pop()),
            _ => {
                let again = list.clone();
                list.extend(again);
            }
        },
        other => {
            let odd = [
                Value::from(0),
                Value::from(1),
                Value::from(-1),
                Value::from(7),
                Value::from(255),
                Value::from(65535),
                Value::from(u32::MAX),
                Value::from(1_u64 << 62),
                Value::from(1e300),
                Value::from(-1e18),
                Value::from(3e38),
                Value::from(-1e30),
                Value::from(1e12),
                Value::from(-1e5),
                Value::from(1e-40),
                Value::from(0.5),
                Value::from(true),
                Value::Null,
            ];
            *other = odd[rng.below(odd.len())].clone();
        }
    }
}

#[test]
fn a_snapshot_that_was_altered_is_refused_or_harmless() {
    let mut animator = empty();
    for number in 0..30 {
        frame(&mut animator, 21, number);
    }
    let snapshot = animator.snapshot();
    let saved = serde_json::to_value(&snapshot).unwrap();
    let mut rng = Rng::new(6);
    let (mut unread, mut refused, mut taken) = (0, 0, 0);
    for _ in 0..600 {
        let mut value = saved.clone();
        for _ in 0..=rng.below(2) {
            tamper(&mut value, &mut rng);
        }
        let Ok(read) = serde_json::from_value::<AnimatorSnapshot>(value) else {
            unread += 1;
            continue;
        };
        if animator.restore(&read).is_err() {
            refused += 1;
            continue;
        }
        taken += 1;
        for step in 1..4 {
            let now_s = (animator.now_s() + 0.1 * f64::from(step)).min(1e12);
            animator.update(now_s).unwrap();
            look(&mut animator);
            expect_finite(&mut animator);
        }
        for id in animator.actors().collect::<Vec<_>>() {
            let mut actor = animator.live_mut(id);
            let _ = actor.play(Play::new("Run").inertial_s(0.2).layer(6));
            animator.remove(id).unwrap();
        }
        animator.add("Walk").unwrap();
        animator.restore(&snapshot).unwrap();
    }
    println!("{unread} not read, {refused} refused, {taken} taken");
    assert!(unread > 50 && refused > 20 && taken > 50);
    // A refusal changes nothing.
    assert_eq!(serde_json::to_value(animator.snapshot()).unwrap(), saved);
}

/// The local pose of a model pose follows from that, whatever a snapshot says, and rotations have
/// length 1, however long they were.
#[test]
fn poses_of_the_caller_are_completed() {
    let joints = character().skeleton().joints();
    let rest: Vec<Transform> = joints.iter().map(|joint| joint.rest).collect();
    let shown = |rotation: Quat| {
        let mut animator = empty();
        let id = animator.add(Play::REST).unwrap();
        let mut pose = rest.clone();
        pose[9].rotation = rotation;
        let mut actor = animator.live_mut(id);
        actor.set_springs(SpringMode::Off);
        actor
            .set_pose(Pose::Local(&pose), &ShowPose::default())
            .unwrap();
        let mut out = rest.clone();
        animator.local_poses(&[id], &mut out).unwrap();
        expect_finite(&mut animator);
        out
    };
    let turn = Quat::from_rotation_y(0.4);
    for (got, wanted) in shown(turn * 1e4).iter().zip(shown(turn)) {
        assert!(got.rotation.angle_between(wanted.rotation) < 1e-3);
    }
    let nothing = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    assert!(shown(nothing)[9].rotation.angle_between(rest[9].rotation) < 1e-3);

    let mut animator = empty();
    let id = animator.add(Play::REST).unwrap();
    let model = vec![Affine3A::from_rotation_y(0.3); joints.len()];
    let mut actor = animator.live_mut(id);
    actor
        .set_pose(Pose::Model(&model), &ShowPose::default())
        .unwrap();
    let snapshot = animator.snapshot();
    let wanted = look(&mut animator);
    let mut altered = serde_json::to_value(&snapshot).unwrap();
    let local = altered.pointer_mut("/rows/list/0/own_pose/local/48/rotation/2");
    *local.unwrap() = (-1e5).into();
    let read: AnimatorSnapshot = serde_json::from_value(altered).unwrap();
    animator.restore(&read).unwrap();
    assert_eq!(look(&mut animator), wanted);
}

#[test]
fn what_does_not_fit_is_named() {
    let mut animator = empty();
    let id = animator.add("Walk").unwrap();
    let target = TwoBoneTarget::at(Vec3::ONE);
    animator
        .live_mut(id)
        .set_target(Id::new(0), target, 0.0)
        .unwrap();
    let saved = serde_json::to_value(animator.snapshot()).unwrap();
    let mut refuse = |at: &str, value: Value| {
        let mut altered = saved.clone();
        *altered.pointer_mut(at).unwrap() = value;
        let read: AnimatorSnapshot = serde_json::from_value(altered).unwrap();
        animator.restore(&read).unwrap_err().to_string()
    };
    let clips = character().clips().len();
    refuse("/rows/records/0/clip", 999.into()).says(format!(
        "actor 0: play record 0: clip 999 does not exist: there are {clips}"
    ));
    refuse("/rows/records/0/mask", 9.into()).says("…mask 9 does not exist…");
    let (at, needs) = ("/rows/list/0/goals/0/solver", "IK solver 3 does not exist");
    assert!(refuse(at, 3.into()).contains(needs));
    refuse("/free", vec![0].into()).says("…free indices…");
    refuse("/rows/records", Value::Array(Vec::new())).says("…records…");
    refuse("/rows/now_s", 1e13.into()).says("…now_s…");
    // A target for a solver of another kind.
    let snapshot = animator.snapshot();
    let mut other = Animator::new(character()).unwrap();
    other.restore(&snapshot).fails("…IK solver 0…");
    let head = character().skeleton().joint("Head").unwrap();
    let aim = Aim {
        joints: vec![(head, 1.0)],
        forward: Vec3::Z,
        up: Vec3::Y,
        offset_m: Vec3::ZERO,
        limit_rad: 1.0,
    };
    other.add_solver(aim).unwrap();
    other.restore(&snapshot).fails("…target: is of kind…");
}
