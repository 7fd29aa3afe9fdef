//! Random commands to an actor: everything that can change its pose.

use super::models::{MASK, SPACE};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use throng::Id;
use throng::animator::{ActorId, Animator, IkSolver, IkTarget, Play, Pose, ShowPose, SpringMode};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::ik::{AimTarget, ChainTarget, FeetTarget, GroundHit, Pole, TwoBoneTarget};

/// Gives an actor a random command.
pub(super) fn order(animator: &mut Animator, id: ActorId, character: &Character, rng: &mut Rng) {
    let size = character.rest_bounds().size().length();
    // Not all animators have four.
    let solver = Id::<IkSolver>::new(rng.below(4) as u16);
    let mut actor = animator.live_mut(id);
    let fade_s = if rng.chance(3) {
        0.0
    } else {
        rng.range(0.1, 0.8)
    };
    match rng.below(16) {
        0 | 1 => {
            // A solver takes the targets of its kind alone.
            let targets = targets(rng.vector(-1.0, 1.0) * size, rng);
            let set = targets.map(|target| actor.set_target(solver, target, fade_s));
            assert!(set.iter().flatten().count() <= 1);
        }
        2 => actor.clear_target(solver, fade_s).unwrap(),
        3 => {
            let mut local = character.skeleton().rest_pose();
            for joint in &mut local {
                joint.rotation = joint.rotation.slerp(rng.rotation(), 0.4).normalize();
                joint.translation *= rng.range(0.6, 1.5);
                joint.scale *= rng.range(0.8, 1.2);
            }
            let show = show(rng, fade_s);
            if rng.chance(2) {
                actor.set_pose(Pose::Local(&local), &show).unwrap();
            } else {
                let mut model = vec![Affine3A::IDENTITY; local.len()];
                character.skeleton().model_pose(&local, &mut model).unwrap();
                for matrix in &mut model {
                    // Shear.
                    matrix.matrix3.x_axis += matrix.matrix3.y_axis * rng.range(-0.2, 0.2);
                }
                actor.set_pose(Pose::Model(&model), &show).unwrap();
            }
        }
        4 if !character.expressions().is_empty() => {
            let one = Id::new(rng.below(character.expressions().len()) as u16);
            actor.set_expression(one, rng.range(0.0, 1.0)).unwrap();
        }
        4 | 5 if !character.morph_weights().is_empty() => {
            let one = Id::new(rng.below(character.morph_weights().len()) as u16);
            let weight = (!rng.chance(3)).then(|| rng.range(-2.0, 2.0));
            actor.set_morph_weight(one, weight).unwrap();
        }
        6 => actor
            .set_springs([SpringMode::Off, SpringMode::Picture, SpringMode::Game][rng.below(3)]),
        7 => actor.stop(rng.below(3) as u8, fade_s).unwrap(),
        8 => {
            let at = rng.range(0.0, 2.0);
            // There may be no blend space on the layer.
            let _ = actor.set_blend_position(0, at, fade_s);
        }
        9 => actor
            .set_speed(rng.below(3) as u8, f64::from(rng.range(-1.0, 2.0)))
            .unwrap(),
        _ => play(animator, id, character, rng, fade_s),
    }
}

fn show(rng: &mut Rng, fade_s: f32) -> ShowPose<'static> {
    ShowPose {
        fade_s,
        layer: rng.below(2) as u8,
        weight: if rng.chance(2) { 1.0 } else { 0.5 },
        ..ShowPose::default()
    }
}

/// A target of each kind.
fn targets(at: Vec3, rng: &mut Rng) -> [IkTarget; 4] {
    let normal = (Vec3::Y + rng.vector(-0.6, 0.6)).normalize();
    let point = Vec3::Y * rng.range(-0.8, 0.8);
    let limb = TwoBoneTarget {
        rotation: rng.chance(2).then(|| rng.rotation()),
        pole: Pole::Direction(rng.direction()),
        twist_rad: rng.range(-3.0, 3.0),
        ..TwoBoneTarget::at(at)
    };
    [
        limb.into(),
        AimTarget::at(at).into(),
        ChainTarget::at(at).into(),
        FeetTarget::on(&[Some(GroundHit { point, normal })]).into(),
    ]
}

fn play(animator: &mut Animator, id: ActorId, character: &Character, rng: &mut Rng, fade_s: f32) {
    let clips = character.clips().len();
    let mut play = match rng.below(8) {
        0 if character.blend_space(SPACE).is_ok() => {
            Play::blend_space(SPACE).at(rng.range(0.0, 2.0))
        }
        1 => Play::REST,
        _ if clips == 0 => Play::REST,
        _ => Play::new(Id::new(rng.below(clips) as u16)),
    };
    play = play.layer([0, 0, 1, 2][rng.below(4)]);
    play = play.offset_s(f64::from(rng.range(0.0, 3.0)));
    play = if rng.chance(4) {
        play.inertial_s(rng.range(0.1, 1.0))
    } else {
        play.fade_s(fade_s)
    };
    if rng.chance(3) {
        play = play.weight(rng.range(0.2, 2.5));
    }
    if rng.chance(3) && character.mask(MASK).is_ok() {
        play = play.mask(MASK);
    }
    animator.live_mut(id).play(play).unwrap();
}

/// A random turn and move through the world, for spring bones.
pub(super) fn shake(animator: &mut Animator, id: ActorId, size: f32, rng: &mut Rng) {
    let world = Affine3A::from_rotation_translation(
        Quat::from_rotation_y(rng.range(-1.0, 1.0)),
        rng.vector(-0.3, 0.3) * size,
    );
    animator.live_mut(id).set_transform(&world).unwrap();
}
