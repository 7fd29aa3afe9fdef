//! The decay of inertialised transitions: Bollo's polynomial, for motions of one joint.

use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::raws::linear;
use crate::reference::rng::Rng;
use throng::animator::{ActorId, Animator, Play, Pose, ShowPose};
use throng::character::AnimationDesc;
use throng::clip::ClipOptions;
use throng::glam::{Quat, Vec3};
use throng::import::{ImportOptions, RawCharacter, RawKeys};
use throng::motion::LoopMode;
use throng::skeleton::Transform;
use throng::state_machine::{Origin, StateMachine, StateMachineDesc};

const HERO: &str = include_str!("../../examples/machine/hero.toml");
/// The longest fade and transition.
const LONGEST_S: f32 = StateMachine::MAX_FADE_S;

/// An actor with one joint. The clip `move` moves it along x, `turn` turns it about y, by 1 a
/// second. Both are 0 at 4 s.
struct Joint {
    animator: Animator,
    id: ActorId,
    now_s: f64,
}

impl Joint {
    fn new() -> Self {
        let clip =
            |name: &str, times_s, values| raws::animation(name, vec![linear(0, times_s, values)]);
        let times_s: Vec<f32> = (0..=8u8).map(f32::from).collect();
        let turns = times_s.iter().map(|s| Quat::from_rotation_y(s - 4.0));
        let turns = RawKeys::Rotation(turns.collect());
        let ends = RawKeys::Translation(vec![Vec3::X * -4.0, Vec3::X * 4.0]);
        let node = raws::node("joint", None, Transform::IDENTITY);
        let raw = RawCharacter {
            nodes: vec![node],
            animations: vec![
                clip("move", vec![0.0, 8.0], ends),
                clip("turn", times_s, turns),
            ],
            ..RawCharacter::default()
        };
        let options = ImportOptions {
            packing: Some(ClipOptions {
                quantise: false,
                error_m: Some(1e-6),
            }),
            ..ImportOptions::default()
        };
        let character = raw.build(&options).unwrap().character;
        let mut animator = Animator::new(&character).unwrap();
        let id = animator.add(Play::REST).unwrap();
        let now_s = 0.0;
        Self {
            animator,
            id,
            now_s,
        }
    }

    /// Starts a transition to the rest pose, from a clip that is at this value and has this
    /// velocity.
    fn begin(&mut self, clip: &str, value: f32, velocity: f64, duration_s: f32) {
        // Everything before is over.
        self.at(LONGEST_S.into());
        let old = Play::new(clip).offset_s(4.0 + f64::from(value));
        let old = old.speed(velocity).loop_mode(LoopMode::Once);
        let mut actor = self.animator.live_mut(self.id);
        actor.play(old).unwrap();
        actor.play(Play::REST.inertial_s(duration_s)).unwrap();
        self.now_s = self.animator.now_s();
    }

    /// The pose this long after the start.
    fn at(&mut self, after_s: f64) -> Transform {
        let mut pose = [Transform::IDENTITY];
        self.animator.update(self.now_s + after_s).unwrap();
        self.animator.local_poses(&[self.id], &mut pose).unwrap();
        pose[0]
    }
}

#[test]
fn the_decay_is_bollos() {
    let (mut rng, mut joint) = (Rng::new(1), Joint::new());
    for _ in 0..500 {
        let (value, velocity) = (rng.range(0.05, 2.0), rng.range(-6.0, 3.0));
        let duration_s = rng.range(0.1, 1.5);
        let [x, v, duration] = [value, velocity, duration_s].map(f64::from);
        let end = if v < 0.0 {
            duration.min(-5.0 * x / v)
        } else {
            duration
        };
        // The coefficients as the talk has them, in seconds.
        let a = ((-8.0 * v * end - 20.0 * x) / end.powi(2)).max(0.0);
        let fifth = -(a * end.powi(2) + 6.0 * v * end + 12.0 * x) / (2.0 * end.powi(5));
        let fourth = (3.0 * a * end.powi(2) + 16.0 * v * end + 30.0 * x) / (2.0 * end.powi(4));
        let third = -(3.0 * a * end.powi(2) + 12.0 * v * end + 20.0 * x) / (2.0 * end.powi(3));
        joint.begin("move", value, v, duration_s);
        for _ in 0..10 {
            let t = end * f64::from(rng.range(0.0, 1.2));
            let want = if t >= end {
                0.0
            } else {
                fifth * t.powi(5)
                    + fourth * t.powi(4)
                    + third * t.powi(3)
                    + a / 2.0 * t.powi(2)
                    + v * t
                    + x
            };
            let got = f64::from(joint.at(t).translation.x);
            // Positions are known to two roundings of numbers of up to 4, the velocity to those of
            // two positions over 1/512 s. It acts for less than a fifth of the duration.
            let bound = 1e-6 + 2.0 * 5e-7 * 512.0 * 0.2 * duration;
            assert!(
                (got - want).abs() <= bound,
                "{value} {velocity} {duration} at {t}: {got} {want}"
            );
        }
    }
}

#[test]
fn an_offset_that_moves_towards_zero_does_not_overshoot() {
    let (mut rng, mut joint) = (Rng::new(2), Joint::new());
    for _ in 0..100 {
        let (value, velocity) = (rng.range(0.05, 2.0), rng.range(-9.0, 0.0));
        let duration_s = rng.range(0.1, 1.5);
        joint.begin("move", value, velocity.into(), duration_s);
        let mut before = joint.at(0.0).translation.x;
        for step in 1..=100 {
            let now = joint.at(f64::from(duration_s) * f64::from(step) / 100.0);
            let now = now.translation.x;
            assert!(
                (-1e-12..=before + 1e-6).contains(&now),
                "{value} {velocity} {duration_s}: {before} to {now}"
            );
            before = now;
        }
        assert_eq!(before, 0.0);
    }
}

#[test]
fn turns_of_about_half_a_circle_have_no_jump() {
    let mut joint = Joint::new();
    for half in [-1e-3_f32, 0.0, 1e-3] {
        let angle = core::f32::consts::PI + half;
        joint.begin("turn", angle, 0.1, 1.0);
        let mut shown = Quat::from_rotation_y(angle);
        for step in 0..=100 {
            let rotation = joint.at(f64::from(step) * 0.01).rotation;
            // The polynomial turns by at most 15 / 8 of the offset in its duration of a second.
            let turned = 2.0 * (rotation * shown.conjugate()).xyz().length().asin();
            assert!(turned < 0.07, "{half} at {step}: {turned}");
            shown = rotation;
        }
        assert!(shown.abs_diff_eq(Quat::IDENTITY, 1e-6));
    }
}

/// Poses of any numbers that are accepted give finite poses.
#[test]
fn extreme_poses_do_no_harm() {
    let extreme = [0.0, 1.0, 1e18, -1e18, 1e9, -1e-30, 1e-45];
    let (mut rng, mut joint) = (Rng::new(6), Joint::new());
    for _ in 0..1000 {
        let rotation = rng.rotation();
        let mut any = || extreme[rng.below(extreme.len())];
        let pose = raws::transform(
            Vec3::new(any(), any(), any()),
            rotation,
            Vec3::new(any(), any(), any()),
        );
        let mut actor = joint.animator.live_mut(joint.id);
        actor
            .set_pose(Pose::Local(&[pose]), &ShowPose::default())
            .unwrap();
        let next = ["move", "turn"][rng.below(2)];
        let duration_s = rng.range(0.0, 1.0);
        actor.play(Play::new(next).inertial_s(duration_s)).unwrap();
        joint.now_s = joint.animator.now_s();
        let after_s = f64::from(duration_s) * f64::from(rng.range(0.0, 1.1));
        let Transform {
            translation,
            rotation,
            scale,
        } = joint.at(after_s);
        assert!(
            translation.is_finite() && rotation.is_finite() && scale.is_finite(),
            "{pose:?} after {after_s} of {duration_s} s"
        );
    }
}

/// `Play::inertial_s` and `TransitionDesc::inertial_s` have the same bound.
#[test]
fn plays_and_transitions_have_the_same_bound() {
    let character = throng::builtin::mannequin().unwrap().character;
    let mut animator = Animator::new(&character).unwrap();
    let actor = animator.add("Idle").unwrap();
    let mut machine = StateMachineDesc::from_toml("hero.toml", HERO).unwrap();
    for (inertial_s, fits) in [
        (LONGEST_S, true),
        (LONGEST_S * 1.001, false),
        (f32::MAX, false),
    ] {
        let play = Play::new("Walk").inertial_s(inertial_s);
        assert_eq!(
            animator.on(actor, |mut it| it.play(play)).is_ok(),
            fits,
            "{inertial_s}"
        );
        let mut transitions = machine.layers[0].transitions.iter_mut();
        let transition = transitions.find(|one| one.from != Origin::Entry).unwrap();
        (transition.fade_s, transition.inertial_s) = (0.0, inertial_s);
        let animation = AnimationDesc {
            state_machine: Some(machine.clone()),
            ..AnimationDesc::default()
        };
        let built = character.clone().with_animation(&animation);
        assert_eq!(built.is_ok(), fits, "{inertial_s}: {:?}", built.err());
    }
    animator.update(1e3).unwrap();
    let mut pose = vec![Transform::IDENTITY; character.skeleton().len()];
    animator.local_poses(&[actor], &mut pose).unwrap();
    assert!(pose.iter().all(|joint| joint.translation.is_finite()));
}
