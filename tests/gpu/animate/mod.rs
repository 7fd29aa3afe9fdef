//! The stage animate on the GPU, against the CPU's palettes.

mod curves;
mod runner;
mod time;

use crate::glam::{Mat4, Quat, Vec3};
use crate::reference::assets;
use crate::reference::handles::Handles;
use crate::reference::raws;
use crate::reference::raws::linear;
use crate::reference::rng::Rng;
use crate::reference::words::Fails;
use crate::support::{self, Setup};
use runner::{Runner, Taken};
use throng::Id;
use throng::animator::{ActorId, Animator, Play, Pose, ShowPose};
use throng::character::{
    AdditiveDesc, AnimationDesc, BlendAt, BlendSpaceDesc, Character, PoseReference,
};
use throng::gpu::{AnimationTables, CpuReason, PosedBy, Upload};
use throng::ik::{TwoBone, TwoBoneTarget};
use throng::import::{ImportOptions, RawCharacter, RawKeys, RawPrimitive};
use throng::motion::{Ease, LoopMode};
use throng::palette::SkinningMethod;
use throng::skeleton::Transform;
use throng::state_machine::{BlendPointDesc, MaskBranchDesc, MaskDesc};

/// The most by which palettes may differ from the CPU's, as a part of the model's size, if no chain
/// has more than 20 joints.
const BOUND: f32 = 5e-6;

/// The bound's growth by each joint of a longer chain: both sides round each matrix by up to 2⁻²³.
const BOUND_OF_JOINT: f32 = 2.4e-7;

/// The most by which morph weights may differ from the CPU's, relative to 1 or the weight.
const WEIGHT_BOUND: f32 = 2e-6;

/// The largest difference of an actor's morph weights from the CPU's. `None` means weights that no
/// clip drives.
fn apart(animator: &Animator, actor: ActorId, weights: Option<&[f32]>) -> f32 {
    let Some(weights) = weights else {
        return 0.0;
    };
    let mut cpu = vec![0.0; weights.len()];
    animator.live(actor).morph_weights(&mut cpu).unwrap();
    let pairs = cpu.iter().zip(weights);
    let all = pairs.map(|(a, b)| (a - b).abs() / a.abs().max(1.0));
    all.fold(0.0, |most, one| {
        if one > most || one.is_nan() {
            one
        } else {
            most
        }
    })
}

/// The bound of a character.
fn bound(character: &Character) -> f32 {
    let joints = character.skeleton().joints();
    let mut depths: Vec<u16> = Vec::new();
    for joint in joints {
        depths.push(1 + joint.parent.map_or(0, |parent| depths[parent.index()]));
    }
    let deepest = depths.into_iter().max().unwrap();
    BOUND.max(f32::from(deepest) * BOUND_OF_JOINT)
}

const MASK: &str = "half";
const ACTORS: usize = 48;
const DAY_S: f64 = 86_400.0;

/// A character with additive clips, a mask, and a blend space of its gaits.
fn equipped(load: impl Fn(&ImportOptions) -> Character) -> Character {
    let plain = load(&ImportOptions::default());
    let names = plain.clips().iter().map(|clip| clip.name().to_owned());
    let names: Vec<String> = names.collect();
    let mut animation = AnimationDesc::default();
    let unique = |name: &&String| names.iter().filter(|other| other == name).count() == 1;
    for clip in names.iter().filter(unique).take(2) {
        animation.additive.push(AdditiveDesc {
            name: Some(format!("{clip} added")),
            clip: clip.clone(),
            reference: PoseReference::Start,
        });
    }
    let skeleton = plain.skeleton();
    let joints = skeleton.joints().iter();
    let found = |name: &str| !name.is_empty() && skeleton.joint(name).is_ok();
    let named: Vec<&str> = joints
        .map(|joint| &*joint.name)
        .filter(|name| found(name))
        .collect();
    if let Some(joint) = named.get(named.len() / 3) {
        animation.masks.push(MaskDesc {
            name: MASK.into(),
            branches: vec![MaskBranchDesc {
                joint: (*joint).into(),
                weight: 0.8,
                feather: 1,
            }],
        });
    }
    let gait = |(index, clip): (usize, &String)| {
        let gait = plain.gait(Id::new(index as u16))?;
        Some(BlendPointDesc {
            at: gait.speed_m_s.into(),
            clip: clip.clone(),
        })
    };
    let of_gait = names.iter().enumerate();
    let of_gait = of_gait.filter(|(_, name)| unique(name));
    let mut points: Vec<BlendPointDesc<BlendAt>> = of_gait.filter_map(gait).collect();
    points.dedup_by_key(|point| match point.at {
        BlendAt::Line(x) | BlendAt::Plane([x, _]) => x,
    });
    if !points.is_empty() {
        animation.blend_spaces.push(BlendSpaceDesc {
            name: "gaits".into(),
            points,
            ground_speed: true,
            speed_limits: None,
        });
    }
    load(&ImportOptions {
        animation: Some(animation),
        ..ImportOptions::default()
    })
}

fn mannequin() -> Character {
    equipped(|options| RawCharacter::mannequin().build(options).unwrap().character)
}

/// Something for an actor to play.
fn random_play(character: &Character, rng: &mut Rng) -> Play<'static> {
    let clips = character.clips();
    let clip = rng.below(clips.len());
    let mut play = Play::new(Id::new(clip as u16));
    play.speed = f64::from(rng.range(-2.0, 2.0));
    if rng.chance(6) {
        play.speed = 0.0;
    }
    play.offset_s = f64::from(rng.range(-1.0, 5.0));
    play.loop_mode = [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong][rng.below(3)];
    play.weight = rng.range(0.1, 1.0);
    play.fade_s = [0.0, rng.range(0.0, 2.0)][rng.below(2)];
    play.ease = [Ease::Linear, Ease::Smooth][rng.below(2)];
    play.synced = rng.chance(3);
    play.layer = if clips[clip].is_additive() {
        1
    } else {
        rng.below(3) as u8
    };
    if let Some(space) = character.blend_spaces().first()
        && rng.chance(3)
    {
        // Between the gaits, at the playback speed that the position asks for.
        let fastest = space.points().iter().map(|at| at.x).fold(0.0, f32::max);
        let at = rng.range(0.0, 1.5 * fastest);
        (play.clip, play.blend_space) = (None, Some(Id::new(0).into()));
        (play.at, play.layer) = (Some(at.into()), rng.below(3) as u8);
    }
    if play.layer > 0 && rng.chance(2) && character.mask(MASK).is_ok() {
        play.mask = Some(MASK.into());
    }
    play
}

/// An animator whose actors play all kinds of things, some of them for a while.
fn busy(character: &Character, start_s: f64, rng: &mut Rng) -> (Animator, Vec<ActorId>) {
    let mut animator = Animator::new(character).unwrap();
    animator.update(start_s).unwrap();
    let actors: Vec<ActorId> = (0..ACTORS)
        .map(|_| animator.add(Play::REST).unwrap())
        .collect();
    for step in 1..4 {
        animator.update(start_s + f64::from(step) * 0.3).unwrap();
        for actor in &actors {
            let mut actor = animator.live_mut(*actor);
            if rng.chance(2) {
                actor.play(random_play(character, rng)).unwrap();
            }
            match rng.below(12) {
                0 => actor.set_paused(true),
                1 => actor.set_time_scale(rng.range(0.0, 2.0)).unwrap(),
                2 => actor.stop(1, rng.range(0.0, 1.0)).unwrap(),
                _ => {}
            }
            if !character.morph_weights().is_empty() && rng.chance(2) {
                let index = rng.below(character.morph_weights().len());
                let value = rng.chance(2).then(|| rng.range(-1.0, 1.0));
                actor
                    .set_morph_weight(Id::new(index as u16), value)
                    .unwrap();
            }
            if !character.expressions().is_empty() && rng.chance(2) {
                let index = rng.below(character.expressions().len());
                let weight = rng.range(0.0, 1.0);
                actor.set_expression(Id::new(index as u16), weight).unwrap();
            }
        }
    }
    (animator, actors)
}

/// Compares at later times with plays that are converted once.
fn compare(setup: &mut Setup, name: &str, character: &Character, method: SkinningMethod) {
    let Some(runner) = Runner::new(setup, character, method) else {
        return;
    };
    let rng = &mut Rng::new(7);
    let start_s = [0.0, 100.7, DAY_S][rng.below(3)];
    let (mut animator, actors) = busy(character, start_s, rng);
    let now_s = animator.now_s();
    let epoch_s = now_s - f64::from(rng.range(0.0, 1000.0));
    let taken = Taken::new(&animator, &actors, epoch_s);
    let (bound, mut worst, mut over) = (bound(character), 0.0_f32, Vec::new());
    let mut farthest = 0.0_f32;
    for later_s in [0.0, 0.017, 0.3, 1.7, 20.3, DAY_S, 30.0 * DAY_S] {
        animator.update(now_s + later_s).unwrap();
        let now = (now_s + later_s, epoch_s);
        let posed = runner.run(setup, &taken, now, later_s == 0.3);
        for (actor, weights) in taken.actors.iter().zip(&posed.weights) {
            farthest = farthest.max(apart(&animator, *actor, weights.as_deref()));
        }
        let all = runner.differences(&mut animator, &taken, &posed.palettes);
        for (number, difference) in all.into_iter().enumerate() {
            worst = worst.max(difference);
            if difference > bound || difference.is_nan() {
                let actor = taken.actors[number];
                let records = animator.live(actor).records().to_vec();
                over.push((later_s, difference, taken.of(number).to_vec(), records));
            }
        }
    }
    println!(
        "{name:24} {method:?}: {} actors, {} on the CPU, worst {worst:.1e}, weights {farthest:.1e}",
        taken.actors.len(),
        taken.refused.len()
    );
    assert!(farthest <= WEIGHT_BOUND, "{name}: weights {farthest}");
    for (_, reason) in &taken.refused {
        let known = matches!(reason, CpuReason::SpeedChange | CpuReason::Plays);
        assert!(known, "{reason:?}");
    }
    assert!(
        over.is_empty(),
        "{name}: {} over: {:#?}",
        over.len(),
        over[0]
    );
    runner.destroy(setup);
}

#[test]
fn the_mannequin() {
    support::each(|setup| {
        let character = mannequin();
        for method in [SkinningMethod::Linear, SkinningMethod::DualQuat] {
            compare(setup, "mannequin", &character, method);
        }
    });
}

#[test]
#[cfg_attr(not(assets), ignore = "needs models: THRONG_ASSETS names a folder")]
fn every_asset() {
    support::each(|setup| {
        for file in assets::files() {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            let load =
                |options: &ImportOptions| throng_import::file(&file, options).unwrap().character;
            let character = equipped(load);
            if character.clips().is_empty() {
                continue;
            }
            for method in [
                SkinningMethod::Linear,
                SkinningMethod::DualQuat,
                SkinningMethod::QuatOffset,
            ] {
                compare(setup, &name, &character, method);
            }
        }
    });
}

/// A skeleton of `joints` joints in one line.
fn line(joints: usize) -> Character {
    let node = |joint: usize| {
        raws::node(
            format!("joint {joint}"),
            joint.checked_sub(1),
            Transform {
                translation: Vec3::Y * 0.01,
                rotation: Quat::from_rotation_x(0.01),
                ..Transform::IDENTITY
            },
        )
    };
    let turn = |joint: usize| {
        linear(
            joint,
            [0.0, 0.5, 1.0],
            RawKeys::Rotation(vec![
                Quat::IDENTITY,
                Quat::from_rotation_z(0.02 + joint as f32 * 1e-4),
                Quat::from_rotation_y(0.01),
            ]),
        )
    };
    // A vertex for each joint, so that each has an entry.
    let primitive = RawPrimitive {
        skin: Some(0),
        positions: (0..joints)
            .map(|joint| Vec3::new(0.1, 0.01 * joint as f32, 0.0))
            .collect(),
        normals: vec![Vec3::X; joints],
        influences_per_vertex: 1,
        joints: (0..joints as u32).collect(),
        weights: vec![1.0; joints],
        indices: (0..joints as u32).flat_map(|vertex| [vertex; 3]).collect(),
        ..RawPrimitive::default()
    };
    let raw = RawCharacter {
        name: "line".into(),
        nodes: (0..joints).map(node).collect(),
        skins: vec![raws::skin(0..joints, vec![Mat4::IDENTITY; joints])],
        primitives: vec![primitive],
        animations: vec![raws::animation("turn", (0..joints).map(turn).collect())],
        ..RawCharacter::default()
    };
    raw.build(&ImportOptions::default()).unwrap().character
}

#[test]
fn skeletons_of_every_size() {
    support::each(|setup| {
        for joints in [2, 63, 64, 65, 128, 129, 300] {
            let name = format!("{joints} joints");
            compare(setup, &name, &line(joints), SkinningMethod::Linear);
        }
        let (device, mut upload) = (setup.device(), Upload::default());
        let allocator = &mut setup.context.allocator();
        let (large, method) = (line(301), SkinningMethod::Linear);
        let made = AnimationTables::new(&device, allocator, &mut upload, &large, method);
        made.fails("…: 301 requested, at most 300 allowed");
    });
}

/// The side that poses an actor, and the number of its plays.
fn posed_by(animator: &Animator, actor: ActorId) -> (PosedBy, usize) {
    let mut plays = Vec::new();
    let posed_by = animator.gpu_plays(actor, 0.0, &mut plays).unwrap();
    (posed_by, plays.len())
}

#[test]
fn only_the_cpu_poses_some_actors() {
    let character = mannequin();
    let mut animator = Animator::new(&character).unwrap();
    let joint = |name: &str| character.skeleton().joint(name).unwrap();
    let [start, mid, end] = ["LeftUpperArm", "LeftLowerArm", "LeftHand"].map(joint);
    let arm = animator.add_solver(TwoBone::new(start, mid, end)).unwrap();
    let actor = animator.add("Walk").unwrap();
    let on_gpu = (PosedBy::Gpu, 1);
    let on_cpu = |reason| (PosedBy::Cpu(reason), 0);
    assert_eq!(posed_by(&animator, actor), on_gpu);

    let target = TwoBoneTarget::at(Vec3::new(0.3, 1.2, 0.4));
    let mut change = animator.live_mut(actor);
    change.set_target(arm, target, 0.0).unwrap();
    assert_eq!(
        posed_by(&animator, actor),
        on_cpu(CpuReason::InverseKinematics)
    );
    let mut change = animator.live_mut(actor);
    change.clear_target(arm, 0.0).unwrap();
    assert_eq!(posed_by(&animator, actor), on_gpu);

    let mut change = animator.live_mut(actor);
    let rest = character.skeleton().rest_pose();
    change
        .set_pose(Pose::Local(&rest), &ShowPose::default())
        .unwrap();
    assert_eq!(posed_by(&animator, actor), on_cpu(CpuReason::OwnPose));
    let mut change = animator.live_mut(actor);
    change.play("Walk").unwrap();
    assert_eq!(posed_by(&animator, actor), on_gpu);

    animator.update(1.0).unwrap();
    let mut change = animator.live_mut(actor);
    change.play(Play::new("Run").inertial_s(0.5)).unwrap();
    assert_eq!(
        posed_by(&animator, actor),
        on_cpu(CpuReason::Inertialisation)
    );
    animator.update(2.0).unwrap();
    assert_eq!(posed_by(&animator, actor), on_gpu);

    for clip in 0..9 {
        let name = ["Idle", "Walk", "Run"][clip % 3];
        let mut change = animator.live_mut(actor);
        change.play(Play::new(name).fade_s(5.0)).unwrap();
        animator.update(2.0 + 0.1 * clip as f64).unwrap();
    }
    assert_eq!(posed_by(&animator, actor), on_cpu(CpuReason::Plays));
    animator.update(20.0).unwrap();
    assert_eq!(posed_by(&animator, actor), on_gpu);

    let mut plays = Vec::new();
    let far_s = -2_f64.powi(30);
    assert_eq!(
        animator.gpu_plays(actor, far_s, &mut plays).unwrap(),
        PosedBy::Cpu(CpuReason::Range)
    );
    animator.remove(actor).unwrap();
    animator
        .gpu_plays(actor, 0.0, &mut plays)
        .fails("…no longer exists…");
    assert!(plays.is_empty());
}
