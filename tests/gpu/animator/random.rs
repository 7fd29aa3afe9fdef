//! Random calls to a crowd and to animators.
//!
//! They cover plays, fades, layers, pauses, state machines, targets and poses.

use super::{FRAMES_IN_FLIGHT, JOINTS, Member, World};
use crate::reference::explore::explore;
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::{SMALL, Setup, each, stages};
use throng::animator::{IkTarget, Play, Pose, ShowPose};
use throng::glam::Affine3A;
use throng::ik::TwoBoneTarget;
use throng::motion::{Ease, LoopMode};
use throng::skeleton::Transform;
use throng::{Id, Stages};

const OPERATIONS: usize = 780;
const MOST: usize = 40;

/// The same call on an instance of the crowd and on its actor.
macro_rules! both {
    ($world:ident, $member:expr, |$it:ident| $call:expr) => {
        $world.both(
            $member,
            |crowd, id| crowd.on(id, |mut $it| $call),
            |animator, actor| animator.on(actor, |mut $it| $call),
        )
    };
}

fn play(rng: &mut Rng) -> Play<'static> {
    let fade_s = if rng.chance(2) {
        0.0
    } else {
        rng.range(0.01, 0.6)
    };
    let play = Play {
        fade_s,
        ease: [Ease::Linear, Ease::Smooth][rng.below(2)],
        layer: [0, 0, 0, 1, 3][rng.below(5)],
        weight: [1.0, 1.0, 0.4][rng.below(3)],
        offset_s: f64::from(rng.range(-1.0, 1.0)),
        speed: [1.0, -0.7, 0.0, 2.5][rng.below(4)],
        loop_mode: [LoopMode::Loop, LoopMode::Once, LoopMode::PingPong][rng.below(3)],
        synced: rng.chance(4),
        ..Play::new(Id::new(rng.below(3) as u16))
    };
    if rng.chance(4) {
        return play.mask("upper");
    }
    play
}

/// The rest pose with rotated joints, which every format can represent.
fn pose(world: &World, kind: usize, rng: &mut Rng) -> Vec<Transform> {
    let joints = world.kinds[kind].character.skeleton().joints();
    let turned = joints.iter().map(|joint| Transform {
        rotation: rng.rotation(),
        ..joint.rest
    });
    turned.collect()
}

fn show(world: &mut World, member: Member, rng: &mut Rng) {
    let local = pose(world, member.kind, rng);
    let shown = ShowPose {
        fade_s: [0.0, 0.3][rng.below(2)],
        layer: [0, 0, 1][rng.below(3)],
        weight: [1.0, 0.5][rng.below(2)],
        ..ShowPose::default()
    };
    if rng.chance(2) {
        both!(world, member, |it| it.set_pose(Pose::Local(&local), &shown));
        return;
    }
    let skeleton = world.kinds[member.kind].character.skeleton();
    let mut model = vec![Affine3A::IDENTITY; JOINTS];
    skeleton.model_pose(&local, &mut model).unwrap();
    both!(world, member, |it| it.set_pose(Pose::Model(&model), &shown));
}

fn target(world: &mut World, member: Member, rng: &mut Rng) {
    let limb = world.kinds[member.kind].limb;
    let fade_s = [0.0, 0.4][rng.below(2)];
    if rng.chance(3) {
        both!(world, member, |it| it.clear_target(limb, fade_s));
        return;
    }
    let target = IkTarget::TwoBone(TwoBoneTarget::at(rng.vector(-4.0, 4.0)));
    both!(world, member, |it| it.set_target(limb, target, fade_s));
}

fn drive(world: &mut World, member: Member, rng: &mut Rng) {
    let go = {
        let machine = world.kinds[member.kind].character.state_machine();
        machine.unwrap().parameter("go").unwrap()
    };
    match rng.below(4) {
        0 => both!(world, member, |it| it.start_state_machine()),
        1 => both!(world, member, |it| it.stop_state_machine(0.2)),
        _ => both!(world, member, |it| it.set_parameter(go, true)),
    }
}

fn change(world: &mut World, rng: &mut Rng) {
    let member = world.members[rng.below(world.members.len())];
    let layer = [0, 0, 1, 3][rng.below(4)];
    match rng.below(12) {
        0..4 => {
            let play = play(rng);
            both!(world, member, |it| it.play(play));
        }
        4 => both!(world, member, |it| it.stop(layer, 0.3)),
        5 => {
            let speed = [0.0, 1.0, -2.0][rng.below(3)];
            both!(world, member, |it| it.set_speed(layer, speed));
        }
        6 => {
            let time_s = f64::from(rng.range(-1.0, 2.0));
            both!(world, member, |it| it.seek(layer, time_s));
        }
        7 => {
            if world.crowd.live(member.id).is_paused() {
                both!(world, member, |it| {
                    it.set_paused(false);
                    Ok(())
                });
            } else {
                both!(world, member, |it| {
                    it.set_paused(true);
                    Ok(())
                });
            }
        }
        8 => {
            let scale = [0.0, 0.5, 1.0, 3.0][rng.below(4)];
            both!(world, member, |it| it.set_time_scale(scale));
        }
        9 => show(world, member, rng),
        10 => target(world, member, rng),
        _ => drive(world, member, rng),
    }
}

pub(super) fn operate(setup: &mut Setup, world: &mut World, rng: &mut Rng) {
    let (alive, kinds) = (world.members.len(), world.kinds.len());
    match rng.below(20) {
        0..4 if alive < MOST => {
            let play = if rng.chance(4) { Play::REST } else { play(rng) };
            world.spawn(rng.below(kinds), play);
        }
        4..6 if alive > 0 => world.despawn(world.members[rng.below(alive)].id),
        6 if alive > 0 => {
            let id = world.members[rng.below(alive)].id;
            world.crowd.live_mut(id).set_visible(rng.chance(2));
        }
        7 if rng.chance(20) => {
            let mut more = world.crowd.capacity();
            more.palette_entries += 1 + rng.below(50) as u32;
            setup.reserve(&mut world.crowd, &more);
        }
        _ if alive > 0 => change(world, rng),
        _ => {}
    }
}

#[test]
fn a_crowd_shows_what_animators_do_in_every_format() {
    let counts = explore(31, OPERATIONS, |operations| {
        let mut counts = Vec::new();
        each(|setup| {
            let mut world = World::new(setup, SMALL);
            world.goes_ahead = true;
            let (mut written, mut shown) = (0, 0);
            for operation in operations {
                let (what, mut rng) = operation.choose(&[(11, "call"), (2, "frame")]);
                if what == "call" {
                    operate(setup, &mut world, &mut rng);
                    continue;
                }
                world.now_s += f64::from(rng.range(0.0, 0.25));
                if rng.chance(40) {
                    world.now_s -= 1.0;
                }
                let stats = world.look(setup, rng.below(FRAMES_IN_FLIGHT as usize) as u32);
                written += stats.animated;
                shown += world.members.len() as u32;
            }
            counts.push((written, shown));
            world.destroy(setup);
        });
        counts
    });
    println!("written and shown: {counts:?}");
    // The GPU poses most of them, if it can.
    let least = if stages() == Stages::Gpu { 100 } else { 500 };
    for (written, shown) in counts {
        assert!(written > least && written < shown);
    }
}
