//! Spring bones of instances that move through the world.

use super::{FRAMES_IN_FLIGHT, World};
use crate::reference::handles::Handles;
use crate::support::{SMALL, Setup, each};
use throng::character::Character;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::spring::{SpringBones, SpringChain, SpringJoint};
use throng::{Id, Play, SpringMode};

/// The character with its upper half as a strand.
pub(crate) fn with_springs(character: &Character) -> Character {
    let joints = character.skeleton().len() as u16;
    let joints = (joints / 2..joints).map(|joint| SpringJoint {
        gravity: Vec3::new(0.3, -1.0, 0.0),
        ..SpringJoint::new(Id::new(joint))
    });
    let chains = vec![SpringChain::new(joints.collect())];
    let bones = SpringBones {
        chains,
        ..SpringBones::default()
    };
    character.clone().with_springs(bones).unwrap()
}

fn way(time_s: f64, number: usize) -> Affine3A {
    let t = time_s as f32 + number as f32;
    let turn = Quat::from_rotation_y((2.0 * t).sin());
    Affine3A::from_rotation_translation(turn, Vec3::new(t.sin(), 0.0, (1.7 * t).cos()))
}

fn move_all(world: &mut World, jump: bool) {
    for number in 0..world.members.len() {
        let member = world.members[number];
        let place = way(world.now_s, number);
        world.both(
            member,
            |crowd, id| match jump {
                true => crowd.on(id, |mut it| it.teleport(&place)),
                false => crowd.on(id, |mut it| it.set_transform(&place)),
            },
            |animator, actor| match jump {
                true => animator.on(actor, |mut it| it.teleport(&place)),
                false => animator.on(actor, |mut it| it.set_transform(&place)),
            },
        );
    }
}

#[test]
fn instances_swing_as_actors_that_are_told_where_they_are() {
    each(|setup: &mut Setup| {
        let mut world = World::swinging(setup, SMALL);
        world.goes_ahead = true;
        for kind in 0..world.kinds.len() {
            world.spawn(kind, "sway".into());
            world.spawn(kind, Play::REST);
            world.spawn(kind, Play::new("turn").speed(0.0));
        }
        let mut frame = 0;
        let mut frames = |setup: &mut Setup, world: &mut World, count: u32, jump: bool| {
            for number in 0..count {
                world.now_s += 0.021;
                move_all(world, jump && number == 0);
                let stats = world.look(setup, frame % FRAMES_IN_FLIGHT);
                assert!(stats.animated > 0);
                frame += 1;
            }
        };
        frames(setup, &mut world, 20, false);
        // It swings: without springs, the pose is another one.
        let member = world.members[1];
        let tail = world.kinds[0].character.skeleton().len() - 1;
        let now_s = world.now_s;
        let at = |world: &mut World| {
            let mut pose = vec![Affine3A::IDENTITY; tail + 1];
            let animator = &mut world.kinds[member.kind].animator;
            animator.model_poses(&[member.actor], &mut pose).unwrap();
            pose[tail].translation
        };
        let swung = at(&mut world);
        let off = |world: &mut World, mode: SpringMode| {
            world.both(
                member,
                |crowd, id| crowd.instance_mut(id).map(|mut it| it.set_springs(mode)),
                |animator, actor| {
                    animator.actor_mut(actor)?.set_springs(mode);
                    animator.on(actor, |mut it| it.set_transform(&way(now_s, 1)))
                },
            );
        };
        off(&mut world, SpringMode::Off);
        assert!(swung.distance(at(&mut world)) > 1e-2);
        frames(setup, &mut world, 3, false);
        off(&mut world, SpringMode::Picture);
        frames(setup, &mut world, 5, false);
        world.now_s += 7.0;
        frames(setup, &mut world, 8, true);
        off(&mut world, SpringMode::Game);
        frames(setup, &mut world, 8, false);
        world.destroy(setup);
    });
}
