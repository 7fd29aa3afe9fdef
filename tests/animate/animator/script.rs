//! Random commands, for the animator and for the reference actor.

use super::exact::{Exact, Start};
use super::world::{ADDITIVE, CLIPS, MASKS, World};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use throng::animator::{ActorId, Animator, Play, Pose, ShowPose};
use throng::motion::{Ease, LoopMode};
use throng::skeleton::Transform;

/// A command that a caller may give.
#[derive(Debug, Clone)]
pub(super) enum Command {
    Play(Start),
    Stop(u8, f32),
    Speed(u8, f64),
    Seek(u8, f64),
    Pause(bool),
    Scale(f32),
    Show(Vec<Transform>, (u8, Option<usize>), (f32, f32, Ease)),
}

fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len())]
}

fn double(rng: &mut Rng, min: f32, max: f32) -> f64 {
    // More digits than an `f32` has.
    f64::from(rng.range(min, max)) + 1e-9 * f64::from(rng.range(0.0, 1.0))
}

fn fade_s(rng: &mut Rng) -> f32 {
    if rng.chance(4) {
        0.0
    } else {
        rng.range(0.02, 1.2)
    }
}

fn ease(rng: &mut Rng) -> Ease {
    one_of(rng, &[Ease::Linear, Ease::Smooth])
}

fn mask(rng: &mut Rng, layer: u8) -> Option<usize> {
    (layer > 0 && rng.chance(2) || rng.chance(8)).then(|| rng.below(MASKS.len()))
}

fn layer(rng: &mut Rng) -> u8 {
    one_of(rng, &[0, 0, 0, 1, 3])
}

fn speed(rng: &mut Rng) -> f64 {
    match rng.below(8) {
        0 => 0.0,
        1 => double(rng, -2.0, -0.1),
        2 | 3 => 1.0,
        _ => double(rng, 0.1, 2.5),
    }
}

fn start(rng: &mut Rng, world: &World, now_s: f64) -> Start {
    let synced = rng.chance(2);
    let clip = if synced {
        rng.below(ADDITIVE)
    } else {
        rng.below(CLIPS)
    };
    let duration_s = world.clips[clip].duration_s();
    let (layer, speed) = (layer(rng), speed(rng));
    let loop_mode = match rng.below(if synced { 8 } else { 4 }) {
        0 => LoopMode::Once,
        1 => LoopMode::PingPong,
        _ => LoopMode::Loop,
    };
    Start {
        clip,
        layer,
        mask: mask(rng, layer),
        weight: if rng.chance(4) {
            rng.range(0.1, 1.5)
        } else {
            1.0
        },
        fade_s: fade_s(rng),
        ease: ease(rng),
        start_s: rng.chance(6).then(|| now_s + double(rng, -3.0, 1.0)),
        offset_s: match rng.below(4) {
            0 => double(rng, -1.0, 3.0),
            1 if speed < 0.0 => duration_s,
            _ => 0.0,
        },
        speed,
        loop_mode,
        synced,
    }
}

pub(super) fn command(rng: &mut Rng, world: &World, now_s: f64) -> Command {
    match rng.below(20) {
        0 | 1 => Command::Stop(layer(rng), fade_s(rng)),
        2 | 3 => Command::Speed(layer(rng), speed(rng)),
        4 => Command::Seek(layer(rng), double(rng, -1.0, 5.0)),
        5 => Command::Pause(true),
        6..=8 => Command::Pause(false),
        9 => Command::Scale(if rng.chance(8) {
            0.0
        } else {
            rng.range(0.1, 2.5)
        }),
        10 => {
            let mut pose = world.rest();
            for joint in &mut pose {
                joint.rotation = (joint.rotation * rng.rotation()).lerp(joint.rotation, 0.7);
                joint.rotation = joint.rotation.normalize();
                joint.translation += rng.vector(-0.1, 0.1);
            }
            let layer = layer(rng);
            let weight = one_of(rng, &[1.0, 1.0, 0.6]);
            Command::Show(
                pose,
                (layer, mask(rng, layer)),
                (weight, fade_s(rng), ease(rng)),
            )
        }
        _ => Command::Play(start(rng, world, now_s)),
    }
}

/// Gives the command to the animator.
pub(super) fn say(animator: &mut Animator, id: ActorId, world: &World, command: &Command) {
    match command {
        Command::Play(start) => {
            let mut play = Play::new(world.name(start.clip))
                .layer(start.layer)
                .weight(start.weight)
                .fade_s(start.fade_s)
                .ease(start.ease)
                .offset_s(start.offset_s)
                .speed(start.speed)
                .loop_mode(start.loop_mode);
            (play.start_s, play.synced) = (start.start_s, start.synced);
            if let Some(mask) = start.mask {
                play = play.mask(MASKS[mask]);
            }
            animator.on(id, |mut it| it.play(play))
        }
        Command::Stop(layer, fade_s) => animator.on(id, |mut it| it.stop(*layer, *fade_s)),
        Command::Speed(layer, speed) => animator.on(id, |mut it| it.set_speed(*layer, *speed)),
        Command::Seek(layer, time_s) => animator.on(id, |mut it| it.seek(*layer, *time_s)),
        Command::Pause(true) => animator.actor_mut(id).map(|mut it| it.set_paused(true)),
        Command::Pause(false) => animator.actor_mut(id).map(|mut it| it.set_paused(false)),
        Command::Scale(scale) => animator.on(id, |mut it| it.set_time_scale(*scale)),
        Command::Show(pose, (layer, mask), (weight, fade_s, ease)) => {
            let mut show = ShowPose {
                fade_s: *fade_s,
                ease: *ease,
                layer: *layer,
                weight: *weight,
                ..ShowPose::default()
            };
            if let Some(mask) = mask {
                show.mask = Some(MASKS[*mask].into());
            }
            animator.on(id, |mut it| it.set_pose(Pose::Local(pose), &show))
        }
    }
    .unwrap();
}

/// Gives the command to the reference actor.
pub(super) fn tell(exact: &mut Exact<'_>, command: &Command) {
    match command {
        Command::Play(start) => exact.play(start),
        Command::Stop(layer, fade_s) => exact.stop(*layer, *fade_s),
        Command::Speed(layer, speed) => exact.set_speed(*layer, *speed),
        Command::Seek(layer, time_s) => exact.seek(*layer, *time_s),
        Command::Pause(paused) => exact.pause(*paused),
        Command::Scale(scale) => exact.set_scale(*scale),
        Command::Show(pose, place, fade) => exact.show(pose, *place, *fade),
    }
}
