//! Inverse kinematics of actors, and joints at any time.

use super::script;
use super::world::{World, world};
use crate::ik::bodies::Solve;
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use throng::Id;
use throng::animator::{ActorId, Animator, IkSolver, IkTarget, Play, Pose, ShowPose};
use throng::glam::{Affine3A, Vec3};
use throng::ik::{Aim, AimTarget, TwoBone, TwoBoneTarget};
use throng::skeleton::{Joint, Transform};

fn poses(animator: &mut Animator, id: ActorId) -> (Vec<Transform>, Vec<Affine3A>) {
    let joints = world().joints();
    let mut local = vec![Transform::IDENTITY; joints];
    let mut model = vec![Affine3A::IDENTITY; joints];
    animator.local_poses(&[id], &mut local).unwrap();
    animator.model_poses(&[id], &mut model).unwrap();
    (local, model)
}

fn arm(world: &World) -> TwoBone {
    let skeleton = world.character.skeleton();
    let [start, mid, end] = ["RightUpperArm", "RightLowerArm", "RightHand"]
        .map(|name| u16::from(skeleton.joint(name).unwrap()));
    TwoBone {
        start: Id::new(start),
        mid: Id::new(mid),
        end: Id::new(end),
        hinge: None,
        soften: 1.0,
    }
}

fn head(world: &World) -> Aim {
    let skeleton = world.character.skeleton();
    let joint = |name| (skeleton.joint(name).unwrap(), 0.5);
    Aim {
        joints: vec![joint("Neck"), joint("Head")],
        forward: Vec3::Z,
        up: Vec3::Y,
        offset_m: Vec3::ZERO,
        limit_rad: 3.0,
    }
}

fn smooth(u: f64) -> f32 {
    let u = u.min(1.0);
    (u * u * (3.0 - 2.0 * u)) as f32
}

/// Targets solved by the animator, and by hand on the blended pose. Also checks the pose after a
/// target has faded out.
#[test]
fn targets_fade_in_and_out() {
    let world = world();
    let (arm, head) = (arm(world), head(world));
    let skeleton = world.character.skeleton().clone();
    let mut animator = world.animator();
    let solver = animator.add_solver(IkSolver::TwoBone(arm)).unwrap();
    let look = animator.add_solver(IkSolver::Aim(head.clone())).unwrap();
    let plain = animator.add(Play::new("Walk")).unwrap();
    let id = animator.add(Play::new("Walk")).unwrap();
    animator
        .live_mut(plain)
        .play(Play::new("Run").fade_s(1.0).synced())
        .unwrap();
    animator
        .live_mut(id)
        .play(Play::new("Run").fade_s(1.0).synced())
        .unwrap();
    let at = AimTarget::at(Vec3::new(1.0, 1.8, 2.0));
    let reach = |weight| TwoBoneTarget {
        weight,
        ..TwoBoneTarget::at(Vec3::new(-0.3, 1.2, 0.4))
    };
    animator
        .live_mut(id)
        .set_target(look, IkTarget::Aim(at), 0.0)
        .unwrap();
    animator
        .live_mut(id)
        .set_target(solver, IkTarget::TwoBone(reach(0.8)), 0.5)
        .unwrap();
    let mut moved = 0.0_f32;
    for frame in 1..=80 {
        let now_s = f64::from(frame) * 0.02;
        if frame == 41 {
            animator.live_mut(id).clear_target(solver, 0.4).unwrap();
        }
        animator.update(now_s).unwrap();
        let weight = match frame {
            ..=25 => smooth(now_s / 0.5),
            26..=40 => 1.0,
            _ => 1.0 - smooth((now_s - 0.8) / 0.4),
        };
        let (mut local, mut model) = poses(&mut animator, plain);
        let before = model[usize::from(arm.end)].translation;
        // In the order in which the solvers were added.
        if weight > 0.0 {
            let target = reach(0.8 * weight);
            let pose = (&mut local[..], &mut model[..]);
            arm.solve(&skeleton, &target, pose).unwrap();
        }
        moved = moved.max((model[usize::from(arm.end)].translation - before).length());
        let pose = (&mut local[..], &mut model[..]);
        let report = head.solve(&skeleton, &at, pose).unwrap();
        let (got_local, got_model) = poses(&mut animator, id);
        for joint in 0..world.joints() {
            // The same code on the same pose, with a weight that has the same rounding.
            let off = (got_model[joint].translation - model[joint].translation).length();
            assert!(off < 2e-6, "frame {frame}, joint {joint}: {off}");
            let off = got_local[joint].rotation.dot(local[joint].rotation).abs();
            assert!(off > 1.0 - 1e-6, "frame {frame}, joint {joint}");
        }
        let got = animator.live(id).target_report(look);
        assert!(got.is_some_and(|got| got.reached() == report.reached));
        assert_eq!(
            animator.live(id).target(solver).is_some(),
            frame <= 60,
            "{frame}"
        );
    }
    assert!(moved > 0.2, "{moved}");
    animator.live_mut(id).clear_target(look, 0.0).unwrap();
    animator.update(3.0).unwrap();
    assert_eq!(poses(&mut animator, id), poses(&mut animator, plain));
}

/// A joint is where the pose has it, now and at other times. For those, another animator is stopped
/// at that time.
#[test]
fn joints_are_where_poses_have_them() {
    let world = world();
    let head = head(world);
    for seed in 0..30 {
        let mut rng = Rng::new(seed);
        let mut animator = world.animator();
        let id = animator.add("Walk").unwrap();
        let solver = animator.add_solver(IkSolver::Aim(head.clone())).unwrap();
        if rng.chance(3) {
            let at = AimTarget::at(Vec3::new(1.0, 1.8, 2.0));
            animator
                .live_mut(id)
                .set_target(solver, IkTarget::Aim(at), 0.4)
                .unwrap();
        }
        let mut now_s = 0.0;
        for _ in 0..20 {
            let local_s = animator.live(id).time_s();
            let command = script::command(&mut rng, world, local_s);
            script::say(&mut animator, id, world, &command);
            let last_s = now_s;
            now_s += f64::from(rng.range(0.01, 0.3));
            // A future position is the one that the joint will have. No events are delivered for
            // it.
            let joint = rng.below(world.joints());
            let ahead = animator
                .live(id)
                .joint_model(Id::<Joint>::new(joint as u16), now_s)
                .unwrap();
            animator.update(now_s).unwrap();
            let (_, model) = poses(&mut animator, id);
            let near = |got: &Affine3A, note: &str| {
                let off = (got.translation - model[joint].translation).length();
                let turn = (got.matrix3 - model[joint].matrix3).to_cols_array();
                let turn = turn.iter().fold(0.0_f32, |most, v| most.max(v.abs()));
                // One blends in `f64` and the other in `f32`, through some ten joints. If clips are
                // nearly half a turn apart, rounding errors are amplified.
                assert!(
                    off < 1e-3 && turn < 2e-3,
                    "seed {seed}, {note}: {off} {turn}"
                );
                off
            };
            near(&ahead, "ahead");
            let now = animator
                .live(id)
                .joint_model(Id::<Joint>::new(joint as u16), now_s)
                .unwrap();
            near(&now, "now");
            // A past position is the one that the joint had.
            let back_s = 0.5 * (last_s + now_s);
            let back = animator
                .live(id)
                .joint_model(Id::<Joint>::new(joint as u16), back_s)
                .unwrap();
            assert!(back.is_finite());
        }
    }
}

/// Past positions of actors that keep playing match an animator that was only updated to that time.
#[test]
fn joints_were_where_they_have_been() {
    let world = world();
    let hand = world.character.skeleton().joint("RightHand").unwrap();
    let made = |now_s: f64| {
        let mut animator = world.animator();
        let id = animator.add("Walk").unwrap();
        animator.update(0.4).unwrap();
        animator
            .live_mut(id)
            .play(Play::new("Run").fade_s(2.0).synced())
            .unwrap();
        animator
            .live_mut(id)
            .play(Play::new("Wave").layer(1).mask("upper").fade_s(1.5))
            .unwrap();
        animator.update(now_s).unwrap();
        (animator, id)
    };
    let (late, late_id) = made(1.9);
    for step in 0..30 {
        let time_s = 0.4 + 0.05 * f64::from(step);
        let (early, id) = made(time_s);
        let want = early.live(id).joint_model(hand, time_s).unwrap();
        assert_eq!(late.live(late_id).joint_model(hand, time_s).unwrap(), want);
    }
}

/// A model pose that a local pose cannot represent is used unchanged, everywhere.
#[test]
fn a_model_pose_is_shown_as_it_is() {
    let world = world();
    let mut animator = world.animator();
    let id = animator.add("Walk").unwrap();
    let (_, mut model) = poses(&mut animator, id);
    for (number, joint) in (0..).zip(&mut model) {
        joint.matrix3.x_axis.y += 0.3;
        joint.translation.x += 0.01 * number as f32;
    }
    animator
        .live_mut(id)
        .set_pose(Pose::Model(&model), &ShowPose::default())
        .unwrap();
    animator.update(1.0).unwrap();
    assert_eq!(poses(&mut animator, id).1, model);
    for joint in 0..world.joints() as u16 {
        assert_eq!(
            animator
                .live(id)
                .joint_model(Id::<Joint>::new(joint), 7.0)
                .unwrap(),
            model[usize::from(joint)]
        );
    }
    // While it is shown, another pose replaces it at once, whatever the fade.
    let slow = ShowPose {
        fade_s: 0.5,
        ..ShowPose::default()
    };
    let record = animator.live(id).records()[0];
    model[0].translation.y += 1.0;
    let mut actor = animator.live_mut(id);
    actor.set_pose(Pose::Model(&model), &slow).unwrap();
    assert_eq!(
        (actor.records(), actor.pose()),
        (&[record][..], Some(Pose::Model(&model)))
    );
    // While it fades out, it fades in again.
    actor.stop(0, 0.5).unwrap();
    assert!(actor.pose().is_some());
    actor.set_pose(Pose::Model(&model), &slow).unwrap();
    assert_eq!(actor.records()[0].fade_s, 0.5);
    // After it has faded out, it is gone.
    actor.stop(0, 0.5).unwrap();
    animator.update(2.0).unwrap();
    assert_eq!(animator.live(id).pose(), None);
    let mut rest = vec![Affine3A::IDENTITY; world.joints()];
    world
        .character
        .skeleton()
        .model_pose(&world.rest(), &mut rest)
        .unwrap();
    let (_, got) = poses(&mut animator, id);
    for (got, want) in got.iter().zip(&rest) {
        assert!(got.abs_diff_eq(*want, 1e-6));
    }
}
