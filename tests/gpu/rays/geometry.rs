//! The triangles that rays meet, against those of the CPU.

use super::{EXTENT, Person, World, meets, rays_into, triangles};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::{SMALL, each_with_rays, placed, view};
use throng::animator::{Animator, Play};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::palette::Mat3x4;
use throng::{RayDesc, builtin};

/// People in shared poses, mirrored and scaled: rays meet the triangles of the CPU's vertices.
#[test]
fn rays_meet_what_the_cpu_poses() {
    each_with_rays(|setup| {
        let character = builtin::mannequin().unwrap().character;
        let rays = RayDesc {
            near_slots: 0,
            ..RayDesc::default()
        };
        let mut world = World::new(setup, rays, SMALL);
        let kind = setup.add(&mut world.crowd, &character);
        let level = world.crowd.ray_levels(kind).unwrap().unwrap()[1] as usize;
        let mut animator = Animator::new(&character).unwrap();
        let mut rng = Rng::new(50);
        let mut people = Vec::new();
        for number in 0..24 {
            let clip = character.clip(["Walk", "Idle", "Run"][number % 3]).unwrap();
            let steps = character.pose_steps(clip).unwrap().unwrap().count;
            let duration_s = character.clips()[clip.index()].duration_s();
            let step = rng.below(steps as usize) as f64;
            let start_s = duration_s * step / f64::from(steps);
            let play = Play::new(clip).offset_s(start_s).speed(0.0);
            let sign = if number % 4 == 0 { -1.0 } else { 1.0 };
            let world_from_model = Affine3A::from_scale_rotation_translation(
                Vec3::new(sign, 1.0, 1.0) * rng.range(0.6, 1.6),
                Quat::from_rotation_y(rng.range(0.0, 6.0)),
                Vec3::new(rng.range(-5.0, 5.0), 0.0, rng.range(-5.0, 5.0)),
            );
            let id = world
                .crowd
                .spawn(kind, &placed(world_from_model, play))
                .unwrap();
            let actor = animator.add(play).unwrap();
            people.push(Person {
                id,
                actor,
                world: world_from_model,
            });
        }
        let stats = world.settle(setup);
        assert_eq!((stats.people, stats.approximated), (24, 0), "{stats:?}");
        assert_eq!(
            (stats.without_structure, stats.left_out),
            (0, 0),
            "{stats:?}"
        );
        let mut palette = vec![Mat3x4::from_affine(&Affine3A::IDENTITY); character.palette().len()];
        let all: Vec<_> = people
            .iter()
            .map(|person| {
                animator
                    .palettes(&[person.actor], &mut palette[..])
                    .unwrap();
                triangles(&character, level, &palette, &person.world)
            })
            .collect();
        let (mut met, mut worst) = (0, 0.0_f64);
        for _ in 0..4 {
            let rays = rays_into(&mut rng, 2000, 6.0);
            let traced = world.frame(setup, &rays);
            for (ray, hit) in rays.iter().zip(&traced.hits) {
                let each = people.iter().zip(&all).flat_map(|(person, triangles)| {
                    triangles.iter().filter_map(|(geometry, corners)| {
                        let distance = meets(ray, corners)?;
                        Some((distance, person.id, *geometry))
                    })
                });
                let nearest = each.min_by(|a, b| a.0.total_cmp(&b.0));
                match (nearest, hit) {
                    (None, None) => {}
                    (Some((distance, id, geometry)), Some(hit)) => {
                        let apart = (distance - f64::from(hit.distance)).abs();
                        worst = worst.max(apart);
                        met += 1;
                        let same = (Some(id), geometry)
                            == (world.crowd.instance_at(hit.index), hit.geometry);
                        assert!(apart < 1e-3, "{ray:?} {nearest:?} {hit:?}");
                        assert!(same || apart < 1e-4, "{ray:?} {nearest:?} {hit:?}");
                    }
                    other => panic!("{ray:?}: {other:?}"),
                }
            }
        }
        println!("{met} rays met, {worst} m apart");
        assert!(met > 1000, "{met}");
        world.destroy(setup);
    });
}

/// The nearest people have slots: rays meet them in their present poses, at the level of slots,
/// also while they walk around and fade, mirrored or not.
#[test]
fn the_nearest_people_have_structures_of_their_own() {
    const SLOTS: usize = 6;
    each_with_rays(|setup| {
        let character = builtin::mannequin().unwrap().character;
        let rays = RayDesc {
            near_slots: SLOTS as u32,
            ..RayDesc::default()
        };
        let mut world = World::new(setup, rays, SMALL);
        let kind = setup.add(&mut world.crowd, &character);
        let [near, far] = world.crowd.ray_levels(kind).unwrap().unwrap();
        assert!(near < far, "{near} {far}");
        world.view.eye = view(Vec3::new(4.0, 2.0, 8.0), Vec3::Y, EXTENT).eye;
        world.view.detail.pose_error_px = 0.0;
        let mut animator = Animator::new(&character).unwrap();
        let mut rng = Rng::new(52);
        let mut people = Vec::new();
        for number in 0..24 {
            let play =
                Play::new(["Walk", "Idle", "Run"][number % 3]).offset_s(rng.range(0.0, 2.0).into());
            let id = world
                .crowd
                .spawn(kind, &placed(Affine3A::IDENTITY, play))
                .unwrap();
            let actor = animator.add(play).unwrap();
            people.push(Person {
                id,
                actor,
                world: Affine3A::IDENTITY,
            });
        }
        let mut palette = vec![Mat3x4::from_affine(&Affine3A::IDENTITY); character.palette().len()];
        let (mut met, mut worst) = (0, 0.0_f64);
        for number in 0..30 {
            for person in &mut people {
                let sign = if rng.chance(3) { -1.0 } else { 1.0 };
                person.world = Affine3A::from_scale_rotation_translation(
                    Vec3::new(sign, 1.0, 1.0) * rng.range(0.8, 1.3),
                    Quat::from_rotation_y(rng.range(0.0, 6.0)),
                    Vec3::new(rng.range(-4.0, 4.0), 0.0, rng.range(-4.0, 4.0)),
                );
                let mut it = world.crowd.live_mut(person.id);
                it.set_transform(&person.world).unwrap();
                if rng.chance(10) {
                    let play = Play::new("Wave").fade_s(0.3);
                    it.play(play).unwrap();
                    animator.live_mut(person.actor).play(play).unwrap();
                }
            }
            let rays = rays_into(&mut rng, 600, 4.0);
            let traced = world.frame(setup, &rays);
            animator.update(world.now_s).unwrap();
            if number < 8 {
                // Structures of slots are built, and late counts are unknown.
                continue;
            }
            assert_eq!(traced.stats.near, SLOTS as u32, "{:?}", traced.stats);
            assert_eq!(traced.stats.refitted, SLOTS as u32);
            let eye = world.view.eye.position;
            let mut order: Vec<_> = people.iter().collect();
            let key = |person: &&Person| {
                let sphere = world.crowd.live(person.id).bounding_sphere();
                let scale = person.world.matrix3.y_axis.length();
                (sphere.center - eye).length_squared() / (scale * scale)
            };
            order.sort_by(|a, b| key(a).total_cmp(&key(b)));
            let nearest: Vec<_> = order[..SLOTS]
                .iter()
                .map(|person| {
                    animator
                        .palettes(&[person.actor], &mut palette[..])
                        .unwrap();
                    let all = triangles(&character, near as usize, &palette, &person.world);
                    (person.id, all)
                })
                .collect();
            for (ray, hit) in rays.iter().zip(&traced.hits) {
                let Some(hit) = hit else { continue };
                let id = world.crowd.instance_at(hit.index).unwrap();
                let Some((_, all)) = nearest.iter().find(|(near, _)| *near == id) else {
                    continue;
                };
                let distances = all.iter().filter_map(|(_, corners)| meets(ray, corners));
                let distance = distances.min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
                let apart = (distance - f64::from(hit.distance)).abs();
                worst = worst.max(apart);
                met += 1;
                assert!(apart < 1e-3, "frame {number}: {ray:?} {hit:?} {distance}");
            }
        }
        println!("{met} rays met people near by, {worst} m apart");
        assert!(met > 500, "{met}");
        world.destroy(setup);
    });
}
