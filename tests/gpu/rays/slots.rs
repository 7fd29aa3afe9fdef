//! The people who get slots.

use super::{EXTENT, World, rays_into};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::{SMALL, each_with_rays, placed, view};
use throng::animator::{Play, Pose, ShowPose};
use throng::character::Character;
use throng::glam::{Affine3A, Vec3};
use throng::{Culling, InstanceId, RayDesc, View, builtin};

const SLOTS: usize = 6;

/// The errors of the levels in metres.
fn errors(character: &Character) -> Vec<f32> {
    character.levels().map(|level| level.error_m).collect()
}

/// Of these people, those that rays meet at the level of slots.
fn with_slots(world: &mut World, setup: &mut crate::support::Setup, near: f32) -> Vec<InstanceId> {
    let mut rng = Rng::new(61);
    let mut found = Vec::new();
    for _ in 0..4 {
        let rays = rays_into(&mut rng, 4000, 8.0);
        for hit in world.frame(setup, &rays).hits.iter().flatten() {
            let id = world.crowd.instance_at(hit.index).unwrap();
            if hit.start_m <= near && !found.contains(&id) {
                found.push(id);
            }
        }
    }
    found
}

/// People who are nearer get slots first. Those whom no other view shows count as four times as
/// far.
#[test]
fn people_in_the_picture_come_first() {
    each_with_rays(|setup| {
        let character = builtin::mannequin().unwrap().character;
        let rays = RayDesc {
            near_slots: SLOTS as u32,
            ..RayDesc::default()
        };
        let mut world = World::new(setup, rays, SMALL);
        let kind = setup.add(&mut world.crowd, &character);
        let [near, far] = world.crowd.ray_levels(kind).unwrap().unwrap();
        let errors = errors(&character);
        assert!(near < far && errors[near as usize] < errors[far as usize]);
        let near = errors[near as usize] * 1.0001;
        let seen = view(Vec3::new(0.0, 1.5, 0.0), Vec3::new(0.0, 1.0, -5.0), EXTENT);
        world.view.eye = seen.eye;
        // In front of the eye, then behind it, where the distance is 1.5 to 2.7 times as small.
        let mut people = Vec::new();
        for number in 0..16 {
            let z = if number < 8 {
                -6.0
            } else {
                2.5 + 0.2 * (number - 8) as f32
            };
            let x = (number % 8) as f32 * 0.35 - 1.3;
            let place = Affine3A::from_translation(Vec3::new(x, 0.0, z - x.abs() * 0.1));
            let spawn = placed(place, Play::new("Idle"));
            people.push(world.crowd.spawn(kind, &spawn).unwrap());
        }
        world.settle(setup);
        let alone = with_slots(&mut world, setup, near);
        assert_eq!(alone.len(), SLOTS);
        assert!(alone.iter().all(|id| people[8..].contains(id)));
        world.camera = Some(View {
            culling: Culling::Frustum,
            ..seen
        });
        for _ in 0..4 {
            world.frame(setup, &[]);
        }
        let watched = with_slots(&mut world, setup, near);
        assert_eq!(watched.len(), SLOTS);
        assert!(watched.iter().all(|id| people[..8].contains(id)));
        world.destroy(setup);
    });
}

/// People far away whose pose nobody shares have slots, too, before others who are half as far.
#[test]
fn poses_that_nobody_shares_get_slots_far_away() {
    each_with_rays(|setup| {
        let character = builtin::mannequin().unwrap().character;
        let rays = RayDesc {
            near_slots: SLOTS as u32,
            ..RayDesc::default()
        };
        let mut world = World::new(setup, rays, SMALL);
        let kind = setup.add(&mut world.crowd, &character);
        let errors = errors(&character);
        let [near, _] = world.crowd.ray_levels(kind).unwrap().unwrap();
        let near = errors[near as usize] * 1.0001;
        // The eye is 60 m away, so all are at a coarse level.
        let mut people = Vec::new();
        for number in 0..24 {
            let (x, z) = ((number % 6) as f32 - 2.5, (number / 6) as f32 * 2.0 - 3.0);
            let spawn = placed(
                Affine3A::from_translation(Vec3::new(x, 0.0, z)),
                Play::new("Walk"),
            );
            people.push(world.crowd.spawn(kind, &spawn).unwrap());
        }
        let stats = world.settle(setup);
        assert_eq!((stats.near, stats.approximated), (0, 0), "{stats:?}");
        // Those in the row that is farthest away stand as they like.
        let pose = character.skeleton().rest_pose();
        for id in &people[..4] {
            let mut it = world.crowd.live_mut(*id);
            it.set_pose(Pose::Local(&pose), &ShowPose::default())
                .unwrap();
        }
        for _ in 0..4 {
            world.frame(setup, &[]);
        }
        let stats = world.frame(setup, &[]).stats;
        assert_eq!((stats.near, stats.approximated), (4, 0), "{stats:?}");
        let mut found = with_slots(&mut world, setup, near);
        found.sort_by_key(|id| people.iter().position(|it| it == id));
        assert_eq!(found, people[..4]);
        world.destroy(setup);
    });
}
