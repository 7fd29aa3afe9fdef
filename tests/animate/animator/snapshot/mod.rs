//! Save and restore: equal bits afterwards.

mod refused;

use super::script;
use super::world::{made_machine, world};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::reference::sweep::rounds;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::OnceLock;
use throng::Id;
use throng::animator::{
    ActorId, ActorSnapshot, Animator, AnimatorSnapshot, IkSolver, Play, Pose, RootMotionMode,
    ShowPose, SpringMode,
};
use throng::character::Character;
use throng::glam::{Affine3A, DVec3, Quat, Vec3};
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::motion::RootTransform;
use throng::skeleton::Transform;
use throng::spring::{SpringBones, SpringChain, SpringJoint};
use throng::state_machine::ParameterKind;

const FRAMES: u32 = 90;
/// The number of frames that a rollback goes back.
const BACK: u32 = 8;
const MODES: [SpringMode; 3] = [SpringMode::Off, SpringMode::Picture, SpringMode::Game];

/// A character with everything that actors can have.
pub(super) fn character() -> &'static Character {
    static CHARACTER: OnceLock<Character> = OnceLock::new();
    CHARACTER.get_or_init(|| {
        let mut machine = made_machine(&mut Rng::new(3));
        // Some transitions are inertialised.
        let transitions = machine
            .layers
            .iter_mut()
            .flat_map(|layer| &mut layer.transitions);
        for transition in transitions.step_by(2) {
            (transition.fade_s, transition.inertial_s) = (0.0, 0.3);
        }
        let character = world().with_machine(machine);
        let joint = |name| SpringJoint {
            gravity: Vec3::new(0.0, -1.0, 0.0),
            ..SpringJoint::new(character.skeleton().joint(name).unwrap())
        };
        let chains = vec![SpringChain::new(vec![
            joint("RightLowerArm"),
            joint("RightHand"),
        ])];
        let bones = SpringBones {
            chains,
            ..SpringBones::default()
        };
        character.with_springs(bones).unwrap()
    })
}

fn solver() -> IkSolver {
    let joint = |name| character().skeleton().joint(name).unwrap();
    IkSolver::TwoBone(TwoBone {
        start: joint("LeftUpperArm"),
        mid: joint("LeftLowerArm"),
        end: joint("LeftHand"),
        hinge: None,
        soften: 1.0,
    })
}

/// An animator without actors.
pub(super) fn empty() -> Animator {
    let mut animator = Animator::new(character()).unwrap();
    animator.add_solver(solver()).unwrap();
    animator
}

fn transform(rng: &mut Rng) -> Affine3A {
    Affine3A::from_rotation_translation(
        Quat::from_rotation_y(rng.range(-3.0, 3.0)),
        rng.vector(-2.0, 2.0),
    )
}

/// Gives a random command.
pub(super) fn act(animator: &mut Animator, rng: &mut Rng) {
    let ids: Vec<ActorId> = animator.actors().collect();
    if ids.is_empty() || rng.chance(8) {
        match rng.below(3) {
            0 => animator.add_with_state_machine().unwrap(),
            _ => animator.add("Walk").unwrap(),
        };
        return;
    }
    let id = ids[rng.below(ids.len())];
    if rng.chance(20) {
        animator.remove(id).unwrap();
        return;
    }
    let limb = Id::new(0);
    let parameters: Vec<_> = {
        let machine = animator.state_machine().unwrap();
        let parameters = (0..).map(Id::new).zip(&machine.desc().parameters);
        parameters.map(|(id, desc)| (id, desc.kind)).collect()
    };
    let (parameter, kind) = parameters[rng.below(parameters.len())];
    let mut actor = animator.live_mut(id);
    match rng.below(18) {
        0 => _ = actor.play(Play::new("Run").layer(6).inertial_s(rng.range(0.1, 0.6))),
        1 => {
            let at = [rng.range(-1.0, 1.0), rng.range(-1.0, 1.0)];
            _ = actor.play(Play::blend_space("plane").at(at).layer(7).fade_s(0.2));
        }
        2 => _ = actor.play(Play::blend_space("line").at(2.0).layer(7).synced()),
        3 => _ = actor.set_blend_position(7, rng.range(0.0, 3.0), 0.4),
        4 if actor.has_state_machine() => actor.stop_state_machine(0.3).unwrap(),
        4 => actor.start_state_machine().unwrap(),
        5 | 6 => {
            _ = match kind {
                ParameterKind::Float { .. } => {
                    actor.set_parameter_over(parameter, rng.range(-1.0, 2.0), 0.5)
                }
                ParameterKind::Int { .. } => actor.set_parameter(parameter, rng.below(5) as i32),
                ParameterKind::Bool { .. } => actor.set_parameter(parameter, rng.chance(2)),
                ParameterKind::Trigger => actor.set_parameter(parameter, true),
            };
        }
        7 => {
            let target = TwoBoneTarget::at(rng.vector(-1.0, 1.0));
            actor.set_target(limb, target, 0.3).unwrap();
        }
        8 => actor.clear_target(limb, 0.2).unwrap(),
        9 => {
            let modes = [
                RootMotionMode::Ignore,
                RootMotionMode::Report,
                RootMotionMode::Apply,
            ];
            actor.set_root_motion(modes[rng.below(3)]);
        }
        10 => actor.set_transform(&transform(rng)).unwrap(),
        11 => actor.teleport(&transform(rng)).unwrap(),
        12 => actor.set_springs(MODES[rng.below(3)]),
        13 => {
            let mut model = vec![Affine3A::IDENTITY; character().skeleton().len()];
            model.fill_with(|| transform(rng));
            let show = ShowPose {
                layer: 9,
                fade_s: 0.2,
                ..ShowPose::default()
            };
            actor.set_pose(Pose::Model(&model), &show).unwrap();
        }
        14 => {
            let at = RootTransform {
                translation: DVec3::X,
                yaw_rad: 0.3,
            };
            _ = actor.set_root_transform(at, 1.5);
        }
        _ => {
            let command = script::command(rng, world(), actor.time_s());
            let free = !actor.has_state_machine();
            if free {
                script::say(animator, id, world(), &command);
            }
        }
    }
}

/// Everything that can be read of an animator, with every bit of its numbers.
fn look(animator: &mut Animator) -> String {
    let mut all = format!("{:?} {:?} ", animator.now_s(), animator.events());
    let ids: Vec<ActorId> = animator.actors().collect();
    let mut pose = vec![Transform::IDENTITY; ids.len() * character().skeleton().len()];
    animator.local_poses(&ids, &mut pose).unwrap();
    let poses = pose.chunks_exact(character().skeleton().len()).zip(&ids);
    // Springs that swing with pictures are not saved.
    let saved = poses.filter(|(_, id)| animator.live(**id).springs() != SpringMode::Picture);
    let pose = saved.flat_map(|(pose, _)| pose);
    // As bits, because decimal numbers of all joints take most of the time.
    let bits = pose.flat_map(|it| {
        let (translation, scale) = (it.translation.to_array(), it.scale.to_array());
        [translation, scale]
            .concat()
            .into_iter()
            .chain(it.rotation.to_array())
    });
    let bits: Vec<u8> = bits.flat_map(f32::to_ne_bytes).collect();
    let mut hasher = DefaultHasher::new();
    hasher.write(&bits);
    write!(all, "{} ", hasher.finish()).unwrap();
    for id in ids {
        let actor = animator.live(id);
        let (delta, root) = (actor.root_delta(), actor.root_transform());
        write!(all, "{id:?} {:?} {delta:?} {root:?}", actor.records()).unwrap();
        write!(
            all,
            "{:?} {:?}",
            actor.layer_status(0),
            actor.target_report(Id::new(0))
        )
        .unwrap();
        let hand = actor.joint_model("RightHand", animator.now_s() + 0.1);
        write!(
            all,
            "{hand:?} {:?} {:?}",
            actor.transform(),
            actor.blend_position(7)
        )
        .unwrap();
    }
    all
}

/// The commands and the update of a frame, which depend on its number alone.
fn frame(animator: &mut Animator, seed: u64, number: u32) -> String {
    let mut rng = Rng::new(1000 * seed + u64::from(number));
    for _ in 0..rng.below(12) {
        act(animator, &mut rng);
    }
    let back = if number % 31 == 30 { 0.4 } else { 0.0 };
    animator.update(0.041 * f64::from(number) - back).unwrap();
    look(animator)
}

fn run(seed: u64) -> Vec<String> {
    let mut animator = empty();
    (0..FRAMES)
        .map(|number| frame(&mut animator, seed, number))
        .collect()
}

/// A snapshot written and read by serde, in a form that keeps all bits.
fn by_serde(snapshot: &AnimatorSnapshot) -> AnimatorSnapshot {
    serde_json::from_value(serde_json::to_value(snapshot).unwrap()).unwrap()
}

#[test]
fn a_restored_animator_goes_on_bit_for_bit() {
    for seed in 0..rounds(4) as u64 {
        let want = run(seed);
        let mut rng = Rng::new(seed);
        let mut animator = empty();
        // Another animator of the character, with a past of its own.
        let mut other = empty();
        frame(&mut other, 77, 3);
        let mut snapshot = AnimatorSnapshot::default();
        for (number, want) in (0..).zip(&want) {
            animator.snapshot_into(&mut snapshot);
            match rng.below(6) {
                0 => {
                    animator = empty();
                    animator.restore(&snapshot).unwrap();
                }
                1 => {
                    other.restore(&snapshot).unwrap();
                    std::mem::swap(&mut animator, &mut other);
                }
                2 => animator = animator.clone(),
                3 => {
                    other.clone_from(&animator);
                    std::mem::swap(&mut animator, &mut other);
                }
                4 => animator.restore(&by_serde(&snapshot)).unwrap(),
                _ => {}
            }
            let got = frame(&mut animator, seed, number);
            assert!(got == *want, "seed {seed}, frame {number}");
        }
        assert!(want.iter().any(|frame| frame.contains("Entered")));
    }
}

#[test]
fn a_rollback_and_a_second_run_are_a_straight_run() {
    for seed in 10..10 + rounds(3) as u64 {
        let want = run(seed);
        let mut animator = empty();
        let mut ring: [AnimatorSnapshot; BACK as usize] = Default::default();
        for number in 0..FRAMES {
            let back = if number % 3 == 0 {
                number.min(BACK - 1)
            } else {
                0
            };
            if back > 0 {
                animator
                    .restore(&ring[((number - back) % BACK) as usize])
                    .unwrap();
            }
            for again in number - back..=number {
                animator.snapshot_into(&mut ring[(again % BACK) as usize]);
                let got = frame(&mut animator, seed, again);
                assert!(got == want[again as usize], "seed {seed}, frame {again}");
            }
        }
    }
}

#[test]
fn any_of_several_snapshots_can_be_restored_in_any_order() {
    let saved = |animator: &Animator| serde_json::to_string(&animator.snapshot()).unwrap();
    for seed in 0..rounds(8) as u64 {
        let mut rng = Rng::new(seed);
        let mut animator = empty();
        let mut ring = vec![(animator.snapshot(), saved(&animator)); 6];
        for number in 0..120 {
            let at = rng.below(ring.len());
            if rng.chance(2) {
                let (snapshot, wanted) = &ring[at];
                // Times go back and forth with it.
                animator.restore(snapshot).unwrap();
                assert!(saved(&animator) == *wanted, "seed {seed}, frame {number}");
                for id in animator.actors() {
                    assert!(animator.live(id).bounding_sphere().radius > 0.0);
                }
                // As an animator does that has never seen it.
                let mut other = empty();
                other.restore(&by_serde(snapshot)).unwrap();
                for ahead in 1..4 {
                    let mut both = [&mut animator, &mut other].map(|it| {
                        let mut rng = Rng::new(1000 * seed + number);
                        (0..4).for_each(|_| act(it, &mut rng));
                        it.update(it.now_s() + 0.03 * f64::from(ahead)).unwrap();
                        look(it)
                    });
                    both.sort();
                    assert!(
                        both[0] == both[1],
                        "seed {seed}, frame {number}, {ahead} ahead"
                    );
                }
            } else {
                (0..rng.below(5)).for_each(|_| act(&mut animator, &mut rng));
                animator.update(animator.now_s() + 0.04).unwrap();
            }
            let at = rng.below(ring.len());
            animator.snapshot_into(&mut ring[at].0);
            ring[at].1 = saved(&animator);
        }
    }
}

/// One actor, in another animator at another time.
#[test]
fn an_actor_goes_on_in_another_animator() {
    let world = world();
    let mut animator = empty();
    let id = animator.add("Walk").unwrap();
    let mut rng = Rng::new(5);
    for number in 1..40 {
        let command = script::command(&mut rng, world, animator.live(id).time_s());
        script::say(&mut animator, id, world, &command);
        animator.update(0.05 * f64::from(number)).unwrap();
    }
    let target = TwoBoneTarget::at(Vec3::new(0.3, 1.2, 0.4));
    animator
        .live_mut(id)
        .set_target(Id::new(0), target, 0.5)
        .unwrap();
    let saved = animator.live(id).snapshot();
    let saved: ActorSnapshot =
        serde_json::from_value(serde_json::to_value(&saved).unwrap()).unwrap();
    // A power of two keeps the bits of differences of times.
    let later_s = 1024.0;
    let mut other = empty();
    other.update(animator.now_s() + later_s).unwrap();
    other.add("Run").unwrap();
    let twin = other.add("Run").unwrap();
    other.live_mut(twin).restore(&saved).unwrap();
    let pose = |animator: &mut Animator, id| {
        let mut pose = vec![Transform::IDENTITY; world.joints()];
        animator.local_poses(&[id], &mut pose).unwrap();
        pose
    };
    for number in 0..60 {
        let now_s = 2.0 + 0.0625 * f64::from(number);
        animator.update(now_s).unwrap();
        other.update(now_s + later_s).unwrap();
        // The clock of the second was set anew, so times differ by their rounding at 1026 s.
        for (a, b) in pose(&mut animator, id).iter().zip(pose(&mut other, twin)) {
            assert!((a.translation - b.translation).length() < 1e-6);
            assert!((a.rotation.dot(b.rotation).abs() - 1.0).abs() < 1e-6);
        }
        let kinds = |animator: &Animator, id| {
            let events = animator.events().iter().filter(move |event| event.id == id);
            events.map(|event| event.kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&animator, id), kinds(&other, twin), "{number}");
    }
    // The same again at the same time, bit for bit.
    let saved = animator.live(id).snapshot();
    let before = pose(&mut animator, id);
    animator.live_mut(id).play("Wave").unwrap();
    animator.live_mut(id).restore(&saved).unwrap();
    assert_eq!(pose(&mut animator, id), before);
}
