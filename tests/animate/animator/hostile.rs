//! Invalid input: typed errors, no changes, and no panics.

use super::world::{World, made_machine, world};
use crate::reference::explore::{Operation, explore};
use crate::reference::handles::Handles;
use crate::reference::refused;
use crate::reference::rng::Rng;
use throng::animator::{
    ActorId, Animator, IkSolver, IkTarget, NameOrId, Play, Pose, RootMotionMode, ShowPose,
};
use throng::character::BlendAt;
use throng::glam::{Affine3A, DVec3, Vec3};
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::motion::{Ease, LoopMode, RootTransform};
use throng::palette::{Mat3x4, WriteOnly};
use throng::skeleton::{Joint, Transform};
use throng::{Id, Result};

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len())]
}

fn float(rng: &mut Rng) -> f32 {
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        -0.0,
        0.0,
        -1.0,
        1e-30,
        3600.0,
        3601.0,
    ];
    if rng.chance(2) {
        one_of(rng, &odd)
    } else {
        rng.range(0.0, 2.0)
    }
}

fn double(rng: &mut Rng) -> f64 {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::MAX,
        f64::MIN,
        1e300,
        -1e18,
        1e12,
        5e-324,
        -0.0,
    ];
    if rng.chance(2) {
        one_of(rng, &odd)
    } else {
        f64::from(rng.range(-3.0, 3.0))
    }
}

/// A position in a blend space, valid or not.
fn place(rng: &mut Rng) -> BlendAt {
    if rng.chance(2) {
        BlendAt::Line(float(rng))
    } else {
        BlendAt::Plane([float(rng), float(rng)])
    }
}

fn play<'a>(rng: &mut Rng, names: &'a [&'a str]) -> Play<'a> {
    let mut blend_space = None;
    let clip = match rng.below(5) {
        0 => None,
        1 => Some(one_of(rng, &["", "no such clip", "Walk\0"])),
        2 | 3 => {
            blend_space = Some(match rng.below(4) {
                0 => NameOrId::Name("no such space"),
                1 => NameOrId::Id(Id::new(rng.below(4) as u16)),
                2 => NameOrId::Name("line"),
                _ => NameOrId::Name("plane"),
            });
            None
        }
        _ => Some(one_of(rng, names)),
    };
    let mask = match rng.below(5) {
        0 => Some(one_of(rng, &["", "no such mask"])),
        1 => Some("upper"),
        2 => Some("some"),
        _ => None,
    };
    let is_space = blend_space.is_some();
    Play {
        clip: clip.map(NameOrId::Name),
        blend_space,
        at: (is_space || rng.chance(20)).then(|| place(rng)),
        fade_s: if rng.chance(2) { float(rng) } else { 0.3 },
        ease: one_of(rng, &[Ease::Linear, Ease::Smooth]),
        inertial_s: if rng.chance(6) { float(rng) } else { 0.0 },
        layer: one_of(rng, &[0, 0, 1, 2, 3, 255]),
        mask: mask.map(NameOrId::Name),
        weight: if rng.chance(3) { float(rng) } else { 1.0 },
        start_s: rng.chance(6).then(|| double(rng)),
        offset_s: if rng.chance(4) { double(rng) } else { 0.0 },
        speed: if rng.chance(3) { double(rng) } else { 1.0 },
        loop_mode: one_of(rng, &[LoopMode::Loop, LoopMode::Once, LoopMode::PingPong]),
        synced: rng.chance(3),
    }
}

/// Ids of another animator: of an actor with a large index, of actors that took the places of many
/// others, and of solvers.
struct Strange {
    far: ActorId,
    late: Vec<ActorId>,
    solvers: Vec<Id<IkSolver>>,
}

impl Strange {
    fn new(world: &World) -> Self {
        let mut other = world.animator();
        for _ in 0..77 {
            let ids: Vec<_> = (0..16).map(|_| other.add("Walk").unwrap()).collect();
            ids.iter().for_each(|id| other.remove(*id).unwrap());
        }
        let late = (0..16).map(|_| other.add("Walk").unwrap()).collect();
        let more: Vec<_> = (0..100).map(|_| other.add("Walk").unwrap()).collect();
        let solvers = (0..3).map(|_| other.add_solver(arm(world)).unwrap());
        Self {
            far: more[more.len() - 1],
            late,
            solvers: solvers.collect(),
        }
    }
}

/// An actor's id: of a living actor, a removed one, or none.
fn id(rng: &mut Rng, ids: &[ActorId], strange: &Strange) -> ActorId {
    // Mostly one of the newest.
    let ids = &ids[ids.len().saturating_sub(16)..];
    match rng.below(12) {
        0 => strange.far,
        1 => one_of(rng, &strange.late),
        _ => one_of(rng, ids),
    }
}

fn pose(rng: &mut Rng, world: &World) -> Vec<Transform> {
    let mut pose = world.rest();
    match rng.below(6) {
        0 => pose.truncate(rng.below(pose.len())),
        1 => pose.push(Transform::IDENTITY),
        2 => {
            let joint = rng.below(pose.len());
            pose[joint].translation.x = float(rng);
        }
        3 => {
            let joint = rng.below(pose.len());
            pose[joint].rotation.w = float(rng);
        }
        _ => {}
    }
    pose
}

/// One random command. `ids` are all ids that were ever returned.
fn command(
    rng: &mut Rng,
    world: &World,
    animator: &mut Animator,
    ids: &mut Vec<ActorId>,
    strange: &Strange,
) -> Result<()> {
    let names: Vec<&str> = (0..world.clips.len())
        .map(|clip| world.name(clip))
        .collect();
    let actor = id(rng, ids, strange);
    let layer = one_of(rng, &[0, 1, 2, 3, 254]);
    let parameter = one_of(rng, &["x", "y", "z", "count", "flag", "tap", "nothing"]);
    match rng.below(33) {
        0 | 1 => {
            ids.push(animator.add(play(rng, &names))?);
            Ok(())
        }
        2 => {
            ids.push(animator.add_with_state_machine()?);
            Ok(())
        }
        3 => animator.remove(actor),
        4 => animator.on(actor, |mut it| it.start_state_machine()),
        5 => animator.on(actor, |mut it| it.stop_state_machine(float(rng))),
        6 => animator.on(actor, |mut it| it.set_parameter(parameter, float(rng))),
        7 => animator.on(actor, |mut it| {
            it.set_parameter_over(parameter, float(rng), float(rng))
        }),
        8 => animator.on(actor, |mut it| {
            it.set_parameter(parameter, rng.bits() as i32)
        }),
        9 => animator.on(actor, |mut it| it.set_parameter(parameter, true)),
        10 => animator.on(actor, |mut it| it.set_parameter(parameter, true)),
        11 => animator.on(actor, |mut it| it.stop(layer, float(rng))),
        12 => animator.on(actor, |mut it| it.seek(layer, double(rng))),
        13 => animator.on(actor, |mut it| it.set_speed(layer, double(rng))),
        14 => animator.actor_mut(actor).map(|mut it| it.set_paused(true)),
        15 => animator.actor_mut(actor).map(|mut it| it.set_paused(false)),
        16 => animator.on(actor, |mut it| it.set_time_scale(float(rng))),
        17 => {
            let show = ShowPose {
                fade_s: float(rng),
                layer,
                weight: float(rng),
                ..ShowPose::default()
            };
            animator.on(actor, |mut it| {
                it.set_pose(Pose::Local(&pose(rng, world)), &show)
            })
        }
        18 => animator.on(actor, |mut it| {
            it.set_pose(Pose::Local(&pose(rng, world)), &ShowPose::default())
        }),
        19 => {
            let model = vec![Affine3A::from_scale(Vec3::splat(float(rng))); world.joints()];
            animator.on(actor, |mut it| {
                it.set_pose(Pose::Model(&model), &ShowPose::default())
            })
        }
        20 => {
            let target = TwoBoneTarget {
                weight: float(rng),
                ..TwoBoneTarget::at(Vec3::splat(float(rng)))
            };
            let solver = one_of(rng, &strange.solvers);
            animator.on(actor, |mut it| {
                it.set_target(solver, IkTarget::TwoBone(target), float(rng))
            })
        }
        21 => animator.on(actor, |mut it| {
            it.clear_target(one_of(rng, &strange.solvers), float(rng))
        }),
        22 => {
            let modes = [
                RootMotionMode::Ignore,
                RootMotionMode::Report,
                RootMotionMode::Apply,
            ];
            animator
                .actor_mut(actor)
                .map(|mut it| it.set_root_motion(one_of(rng, &modes)))
        }
        23 => {
            let place = RootTransform {
                translation: DVec3::splat(double(rng)),
                yaw_rad: double(rng),
            };
            animator.on(actor, |mut it| it.set_root_transform(place, double(rng)))
        }
        24 => animator.update(if rng.chance(2) {
            double(rng)
        } else {
            animator.now_s() + 0.02
        }),
        25 => {
            let joint = one_of(rng, &[0, 5, u16::MAX]);
            let at = animator
                .actor(actor)
                .and_then(|it| it.joint_model(Id::<Joint>::new(joint), double(rng)));
            at.map(|_| ())
        }
        27 | 28 => animator.on(actor, |mut it| {
            it.set_blend_position(layer, place(rng), 0.0)
        }),
        29 => animator.on(actor, |mut it| {
            it.set_blend_position(layer, place(rng), float(rng))
        }),
        26 => animator.on(actor, |mut it| {
            it.set_morph_weight(Id::new(rng.below(3) as u16), Some(float(rng)))
        }),
        _ => animator.on(actor, |mut it| it.play(play(rng, &names))),
    }
}

fn animator(world: &World, seed: u64) -> Animator {
    let mut animator = world.driven(made_machine(&mut Rng::new(seed)));
    animator.add_solver(arm(world)).unwrap();
    animator
}

pub(super) fn arm(world: &World) -> IkSolver {
    let skeleton = world.character.skeleton();
    let [start, mid, end] = ["LeftUpperArm", "LeftLowerArm", "LeftHand"]
        .map(|name| u16::from(skeleton.joint(name).unwrap()));
    IkSolver::TwoBone(TwoBone {
        start: Id::new(start),
        mid: Id::new(mid),
        end: Id::new(end),
        hinge: None,
        soften: 1.0,
    })
}

/// The complete state of an actor that a caller can see.
fn state(animator: &Animator, id: ActorId) -> String {
    let Ok(actor) = animator.actor(id) else {
        return String::new();
    };
    let playing: Vec<_> = actor.playing().collect();
    let rest = (actor.is_paused(), actor.time_scale(), actor.root_motion());
    let shows = (actor.pose(), actor.has_state_machine());
    format!(
        "{playing:?} {rest:?} {:?} {shows:?}",
        actor.root_transform()
    )
}

/// A hundred thousand commands. Most are invalid.
#[test]
fn nothing_breaks() {
    let world = world();
    let strange = Strange::new(world);
    let (mut done, mut refused) = (0, 0);
    for seed in 0..10 {
        let counts = explore(seed, 10_000, |operations| {
            let mut animator = animator(world, seed);
            run(world, &mut animator, &strange, operations)
        });
        (done, refused) = (done + counts.0, refused + counts.1);
    }
    println!("{done} done, {refused} refused");
    assert!(done > 12_000 && refused > 20_000);
}

/// Returns how many commands were obeyed, and how many were refused.
fn run(
    world: &World,
    animator: &mut Animator,
    strange: &Strange,
    operations: &[Operation],
) -> (usize, usize) {
    let (mut done, mut refused) = (0, 0);
    let mut ids = vec![animator.add("Walk").unwrap()];
    let mut local = vec![Transform::IDENTITY; world.joints()];
    let mut palette = vec![Mat3x4::IDENTITY; world.character.palette().len()];
    for operation in operations {
        let rng = &mut operation.rng();
        let watched = one_of(rng, &ids);
        let before = rng.chance(10).then(|| state(animator, watched));
        match command(rng, world, animator, &mut ids, strange) {
            Ok(()) => done += 1,
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
                if let Some(before) = before {
                    assert_eq!(state(animator, watched), before, "{error}");
                }
            }
        }
        if animator.actors().len() > 12 {
            let all: Vec<_> = animator.actors().collect();
            for id in all.iter().step_by(2) {
                animator.remove(*id).unwrap();
            }
        }
        if rng.chance(50) && animator.is_alive(watched) {
            animator.local_poses(&[watched], &mut local).unwrap();
            let to = WriteOnly::from(&mut palette);
            animator.palettes(&[watched], to).unwrap();
            let mut events = animator.events().iter();
            assert!(events.all(|event| event.time_s.is_finite()));
        }
        let records = animator.actor(watched).map(|it| it.records().len());
        assert!(records.unwrap_or(0) <= 256);
    }
    (done, refused)
}

/// Errors name the invalid value, and nothing changes.
#[test]
fn wrong_values_are_named() {
    let world = world();
    let mut many = Animator::new(&world.character).unwrap();
    many.reserve(usize::MAX);
    assert!(many.actors().len() == 0);
    let mut animator = animator(world, 1);
    let gone = animator.add("Walk").unwrap();
    animator.remove(gone).unwrap();
    let id = animator.add("Walk").unwrap();
    let driven = animator.add_with_state_machine().unwrap();
    animator.update(0.5).unwrap();
    let before = state(&animator, id);
    let strange = Strange::new(world);
    let none = strange.far;
    let mut short = [Transform::IDENTITY];
    let pose = vec![Transform::IDENTITY; 3];
    refused! {
        animator.on(gone, |mut it| it.play("Walk")) => "…actor…";
        animator.on(none, |mut it| it.stop(0, 0.0)) => "…actor 115…";
        animator.on(id, |mut it| it.play("Wolk")) => "…Wolk…";
        animator.on(id, |mut it| it.play(Play::new("Walk").mask("tail"))) => "…tail…";
        animator.on(id, |mut it| it.play(Play::new("Run").fade_s(f32::NAN))) => "…Play::fade_s…";
        animator.on(id, |mut it| it.play(Play::new("Run").fade_s(3601.0))) => "…3600…";
        animator.on(id, |mut it| it.play(Play::new("Run").fade_s(-1.0))) => "…Play::fade_s…";
        animator.on(id, |mut it| it.play(Play::new("Run").speed(f64::INFINITY))) => "…Play::speed…";
        animator.on(id, |mut it| it.play(Play::new("Run").offset_s(f64::NAN)))
            => "…Play::offset_s…";
        animator.on(id, |mut it| it.play(Play::new("Run").start_s(f64::NAN))) => "…Play::start_s…";
        animator.on(id, |mut it| it.play(Play::new("Run").weight(-0.5))) => "…Play::weight…";
        animator.on(driven, |mut it| it.play("Walk")) => "…layer…";
        animator.on(id, |mut it| it.play(Play::blend_space("lyne"))) => "…there are line, plane…";
        animator.on(id, |mut it| it.play(Play::blend_space(Id::new(7)))) => "…blend space 7…";
        animator.on(id, |mut it| it.play(Play::blend_space("line").at([1.0, 2.0])))
            => "…position in the blend space…";
        animator.on(id, |mut it| it.play(Play::blend_space("plane").at([1.0, f32::NAN])))
            => "…NaN…";
        animator.on(id, |mut it| it.play(Play::new("Walk").at(1.0))) => "…Play::at…";
        animator.on(id, |mut it| it.set_blend_position(0, 1.0, 0.0)) => "…plays no blend space…";
        animator.on(gone, |mut it| it.set_blend_position(0, 1.0, 0.0)) => "…actor…";
        animator.on(id, |mut it| it.set_speed(0, f64::NAN)) => "…speed…";
        animator.on(id, |mut it| it.seek(0, f64::INFINITY)) => "…time_s…";
        animator.on(id, |mut it| it.set_time_scale(-1.0)) => "…time scale…";
        animator.on(id, |mut it| it.set_time_scale(f32::NAN)) => "…time scale…";
        animator.on(id, |mut it| it.set_time_scale(1.1e6)) => "…time scale…";
        animator.update(f64::NAN) => "…now_s…";
        animator.update(1e13) => "…now_s…";
        animator.local_poses(&[id], &mut short) => "…local poses…";
        animator.on(id, |mut it| it.set_pose(Pose::Local(&pose), &ShowPose::default()))
            => "…local pose…";
        animator.on(driven, |mut it| it.stop_state_machine(f32::INFINITY)) => "…fade_s…";
        animator.on(id, |mut it| it.set_root_transform(RootTransform::default(), 1.0))
            => "…root motion…";
        animator.on(gone, |mut it| it.clear_target(strange.solvers[0], 0.0)) => "…actor…";
    }
    assert_eq!(state(&animator, id), before);
    assert_eq!(animator.now_s(), 0.5);
    assert!(!animator.is_alive(gone) && animator.is_alive(id));
    assert_eq!(animator.actors().len(), 2);
}
