//! Inertialised transitions: the motion continues over a cut, and ends in the new motion.

use super::world::world;
use crate::reference::handles::Handles;
use throng::Id;
use throng::animator::{ActorId, Animator, Play};
use throng::glam::{DVec3, Vec3A};
use throng::skeleton::{Joint, Transform};
use throng::state_machine::{LayerDesc, Origin, StateDesc, StateMachineDesc, TransitionDesc};

/// The time over which the animator measures velocities.
const VELOCITY_S: f64 = 1.0 / 512.0;

fn pose(animator: &mut Animator, id: ActorId) -> Vec<Transform> {
    let mut pose = vec![Transform::IDENTITY; world().joints()];
    animator.local_poses(&[id], &mut pose).unwrap();
    pose
}

fn pose_at(animator: &mut Animator, id: ActorId, now_s: f64) -> Vec<Transform> {
    animator.update(now_s).unwrap();
    pose(animator, id)
}

/// The translation and rotation (axis times angle) from one pose of a joint to another.
fn step(from: &Transform, to: &Transform) -> [DVec3; 2] {
    let (a, b) = (from.rotation.as_dquat(), to.rotation.as_dquat());
    let turn = b * a.conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let moved = to.translation.as_dvec3() - from.translation.as_dvec3();
    [moved, turn.to_scaled_axis()]
}

/// The largest difference between two poses, in metres and in radians.
fn apart(a: &[Transform], b: &[Transform]) -> f64 {
    let steps = a.iter().zip(b).flat_map(|(a, b)| step(a, b));
    steps.map(DVec3::length).fold(0.0, f64::max)
}

/// Pose and velocity do not jump at a cut, at many times of the clips, for short and long
/// transitions. Without inertia, they do.
#[test]
fn pose_and_velocity_go_on_over_a_cut() {
    let d = VELOCITY_S;
    let (mut worst, mut jump) = (0.0_f64, 0.0_f64);
    for number in 0..24 {
        let at_s = 0.9 + 0.0371 * f64::from(number);
        let duration_s = [0.15_f32, 0.3, 0.6][number as usize % 3];
        let [mut cut, mut old, mut new] = [0, 1, 2].map(|_| world().animator());
        let ids = [&mut cut, &mut old, &mut new].map(|animator| animator.add("Walk").unwrap());
        let before = [2.0, 1.0, 0.0].map(|back| pose_at(&mut cut, ids[0], at_s - back * d));
        for animator in [&mut old, &mut new] {
            animator.update(at_s).unwrap();
        }
        let run = Play::new("Run").offset_s(0.2);
        cut.live_mut(ids[0])
            .play(run.inertial_s(duration_s))
            .unwrap();
        new.live_mut(ids[2]).play(run).unwrap();
        // At the cut itself, values of up to 2 are rounded to `f32` four times.
        let at_cut = pose(&mut cut, ids[0]);
        assert!(apart(&before[2], &at_cut) < 1e-6);
        let hard = [0.0, 1.0, 2.0].map(|later| pose_at(&mut new, ids[2], at_s + later * d));
        jump = jump.max(apart(&before[2], &hard[0]));
        let after = pose_at(&mut cut, ids[0], at_s + d);
        for joint in 0..world().joints() {
            let of = |pose: &[Transform]| pose[joint];
            let velocity = step(&of(&before[1]), &of(&before[2])).map(|step| step / d);
            let earlier = step(&of(&before[0]), &of(&before[1])).map(|step| step / d);
            let [first, second] = [0, 1].map(|at| step(&of(&hard[at]), &of(&hard[at + 1])));
            let got = step(&of(&at_cut), &of(&after)).map(|step| step / d);
            let off = step(&of(&hard[0]), &of(&before[2]));
            for of in 0..2 {
                // The bound has three parts: the change of the motions themselves in that time, the
                // largest acceleration of the decay (20 offsets and 8 velocities over its
                // duration), and rounding.
                let kinks =
                    (velocity[of] - earlier[of]).length() + (second[of] - first[of]).length() / d;
                let duration_s = f64::from(duration_s);
                let apart = (velocity[of] - first[of] / d).length();
                let accelerates =
                    20.0 * off[of].length() / duration_s.powi(2) + 8.0 * apart / duration_s;
                // An offset's axis rotates with it, by at most its own angle.
                let turns = off[of].length() * (velocity[of].length() + first[of].length() / d);
                let bound = 3.0 * kinks + 2.0 * accelerates * d + turns * d * 8.0 + 2e-4;
                let change = (got[of] - velocity[of]).length();
                assert!(change <= bound, "{number}, joint {joint}: {change} {bound}");
                worst = worst.max(change);
            }
        }
        // At the end of the transition, it equals the new motion to the bit.
        let end_s = at_s + f64::from(duration_s);
        let halfway = pose_at(&mut cut, ids[0], at_s + 0.5 * f64::from(duration_s));
        assert_ne!(halfway, pose_at(&mut new, ids[2], cut.now_s()));
        for later_s in [0.0, 0.1] {
            let end = pose_at(&mut cut, ids[0], end_s + later_s);
            assert_eq!(end, pose_at(&mut new, ids[2], end_s + later_s));
        }
    }
    // A jump of that size in one step of 2 ms would be hundreds of radians per second.
    assert!(jump > 0.3 && worst < 8.0, "{jump} {worst}");
}

/// A cut on a layer with a mask changes nothing outside the mask. Another cut during the transition
/// continues from the pose shown.
#[test]
fn layers_and_later_cuts_go_on() {
    let mut animator = world().animator();
    let mut plain = world().animator();
    let [id, other] = [&mut animator, &mut plain].map(|a| a.add("Walk").unwrap());
    pose_at(&mut animator, id, 0.5);
    plain.update(0.5).unwrap();
    let before = pose(&mut animator, id);
    let wave = Play::new("Wave").layer(1).mask("upper").inertial_s(0.4);
    animator.live_mut(id).play(wave).unwrap();
    assert!(apart(&before, &pose(&mut animator, id)) < 1e-6);
    let (got, want) = (
        pose_at(&mut animator, id, 0.6),
        pose_at(&mut plain, other, 0.6),
    );
    let skeleton = world().character.skeleton();
    let leg = skeleton.joint("LeftUpperLeg").unwrap().index();
    let arm = skeleton.joint("RightUpperArm").unwrap().index();
    // A layer of weight 0 rounds once more.
    assert!(apart(&got[leg..=leg], &want[leg..=leg]) < 1e-6);
    assert!(apart(&got[arm..=arm], &want[arm..=arm]) > 1e-2);
    // Two more cuts. The second clears layer 1.
    animator
        .live_mut(id)
        .play(Play::new("Run").inertial_s(0.3))
        .unwrap();
    assert!(apart(&got, &pose(&mut animator, id)) < 1e-6);
    let got = pose_at(&mut animator, id, 0.7);
    animator
        .live_mut(id)
        .play(Play::REST.layer(1).inertial_s(0.2))
        .unwrap();
    assert!(apart(&got, &pose(&mut animator, id)) < 1e-6);
    // A joint evaluated alone is where the pose has it.
    let got = pose_at(&mut animator, id, 0.75);
    let alone = animator
        .live(id)
        .joint_model(Id::<Joint>::new(0), 0.75)
        .unwrap();
    assert!((alone.translation - Vec3A::from(got[0].translation)).length() < 1e-6);
}

/// The actor moves until the offset is gone. From then on it costs nothing.
#[test]
fn it_is_still_afterwards() {
    let mut animator = world().animator();
    let id = animator.add("Walk").unwrap();
    animator.update(1.0).unwrap();
    animator
        .live_mut(id)
        .play(Play::REST.inertial_s(0.25))
        .unwrap();
    for (now_s, still) in [(1.1, false), (1.24, false), (1.25, true), (3.0, true)] {
        animator.update(now_s).unwrap();
        assert_eq!(animator.live(id).pose_version().is_some(), still, "{now_s}");
    }
    // Quaternions are normalised during evaluation.
    assert!(apart(&pose(&mut animator, id), &world().rest()) < 1e-6);
    let before = animator.visits();
    for frame in 0..60 {
        animator.update(3.0 + f64::from(frame) / 60.0).unwrap();
    }
    assert_eq!(animator.visits(), before);
    // A pause keeps the remaining offset.
    animator
        .live_mut(id)
        .play(Play::new("Walk").inertial_s(0.25))
        .unwrap();
    animator.update(4.05).unwrap();
    animator.live_mut(id).set_paused(true);
    let held = pose(&mut animator, id);
    assert!(animator.live(id).pose_version().is_some());
    assert_eq!(pose_at(&mut animator, id, 9.0), held);
}

/// A state machine that leaves its walk at an exit time, and comes back.
fn machine() -> StateMachineDesc {
    let cut = |from: &str, to: &str| TransitionDesc {
        exit: Some(0.43),
        inertial_s: 0.3,
        ..TransitionDesc::new(Origin::State(from.into()), to)
    };
    StateMachineDesc {
        layers: vec![LayerDesc {
            states: vec![
                StateDesc::clip("walk", "Walk"),
                StateDesc::clip("run", "Run"),
            ],
            transitions: vec![cut("walk", "run"), cut("run", "walk")],
            ..LayerDesc::new("body", "walk")
        }],
        ..StateMachineDesc::default()
    }
}

/// The transition fires at its own time: for any frames, the poses are the same except for the
/// rounding of times, and nothing jumps.
#[test]
fn a_state_machine_cuts_at_its_own_time() {
    let run = |frame_s: f64| {
        let mut animator = world().driven(machine());
        let id = animator.add_with_state_machine().unwrap();
        let (mut poses, mut now_s) = (Vec::new(), 0.0);
        let mut most = 0.0_f64;
        for tick in 0..=32 {
            let tick_s = f64::from(tick) * 0.125;
            while now_s + frame_s < tick_s {
                now_s += frame_s;
                let before = (!poses.is_empty()).then(|| pose(&mut animator, id));
                let now = pose_at(&mut animator, id, now_s);
                most = most.max(before.map_or(0.0, |before| apart(&before, &now)));
            }
            poses.push(pose_at(&mut animator, id, tick_s));
        }
        (poses, most)
    };
    let (want, most) = run(1.0 / 480.0);
    // The fastest joint turns by less than 20 rad/s. A cut without inertia would jump by more than
    // 0.3.
    assert!(most < 20.0 / 480.0, "{most}");
    for frame_s in [1.0 / 24.0, 1.0 / 60.0, 0.125] {
        let (got, _) = run(frame_s);
        for (tick, (got, want)) in got.iter().zip(&want).enumerate() {
            // The offset comes from a time that is rounded to 1e-15, and from poses rounded to
            // `f32`. Its velocity is known to 6e-5 rad/s, and acts for less than a tenth of a
            // second.
            let off = apart(got, want);
            assert!(off < 1e-5, "tick {tick}, {frame_s}: {off:e}");
        }
    }
}
