//! Shadows against those of structures for each person.

use super::tracer::Ray;
use super::{EXTENT, Person, World, meets, triangles};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::{SMALL, Setup, each_with_rays, placed, view};
use throng::animator::{Animator, Play};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::palette::Mat3x4;
use throng::{Capacity, CharacterDesc, Culling, Detail, RayDesc, View, builtin};

/// Points on the ground that a view sees, with rays from there to the sun.
fn ground(seen: &View, sun: Vec3, [width, height]: [u32; 2]) -> Vec<Ray> {
    let inverse = seen.eye.clip_from_world.inverse();
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let rays = pixels.filter_map(|(x, y)| {
        let at = |x: u32, width: u32| (x as f32 + 0.5) / width as f32 * 2.0 - 1.0;
        let far = inverse.project_point3(Vec3::new(at(x, width), at(y, height), 0.5));
        let toward = far - seen.eye.position;
        let origin = seen.eye.position - toward * (seen.eye.position.y / toward.y);
        let is_seen = toward.y < 0.0 && origin.length() < 30.0;
        is_seen.then_some(Ray {
            origin,
            direction: sun,
            mask: 0xFF,
        })
    });
    rays.collect()
}

/// The share of the ground, in the shadow of a walking crowd, that is lit as by structures for each
/// person in its own pose, at full detail or at level `exact`.
fn equal_shadows(
    setup: &mut Setup,
    (rays, desc): (RayDesc, &CharacterDesc),
    exact: usize,
    eye: Vec3,
) -> f64 {
    let character = builtin::mannequin().unwrap().character;
    let capacity = Capacity {
        instances: 256,
        palette_entries: 16_384,
        ..SMALL
    };
    let mut world = World::new(setup, rays, capacity);
    let kind = setup.add_with(&mut world.crowd, &character, desc);
    let seen = view(eye, Vec3::new(0.0, 0.8, 0.0), EXTENT);
    world.view = View {
        culling: Culling::Rays,
        detail: Detail::default(),
        ..seen
    };
    let mut animator = Animator::new(&character).unwrap();
    let mut rng = Rng::new(53);
    let mut people = Vec::new();
    for number in 0..196 {
        let clip = ["Walk", "Run", "Idle"][number % 3];
        let play = Play::new(clip).offset_s(rng.range(0.0, 2.0).into());
        let (x, z) = ((number % 14) as f32, (number / 14) as f32);
        let world_from_model = Affine3A::from_rotation_translation(
            Quat::from_rotation_y(rng.range(0.0, 6.0)),
            Vec3::new(x - 6.5, 0.0, z - 6.5) * 1.6,
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
    world.settle(setup);
    let rays = ground(&world.view, Vec3::new(0.5, 0.7, 0.3).normalize(), [64, 48]);
    let traced = world.frame(setup, &rays);
    animator.update(world.now_s).unwrap();
    let mut palette = vec![Mat3x4::from_affine(&Affine3A::IDENTITY); character.palette().len()];
    let mut shadows = vec![false; rays.len()];
    for person in &people {
        animator
            .palettes(&[person.actor], &mut palette[..])
            .unwrap();
        let all = triangles(&character, exact, &palette, &person.world);
        let sphere = world.crowd.live(person.id).bounding_sphere();
        for (ray, shadow) in rays.iter().zip(&mut shadows) {
            let away = sphere.center - ray.origin;
            let along = away.dot(ray.direction);
            if away.length_squared() - along * along < sphere.radius * sphere.radius {
                *shadow |= all.iter().any(|(_, corners)| meets(ray, corners).is_some());
            }
        }
    }
    let equal = shadows.iter().zip(&traced.hits);
    let equal = equal.filter(|(shadow, hit)| **shadow == hit.is_some());
    let share = equal.count() as f64 / rays.len() as f64;
    let dark = shadows.iter().filter(|shadow| **shadow).count();
    println!(
        "{share} of {} points, of which {dark} are dark: {:?}",
        rays.len(),
        traced.stats
    );
    assert!(rays.len() > 1000 && dark * 10 > rays.len());
    world.destroy(setup);
    share
}

/// The shadows of a crowd are those of exact poses at full detail for 99 % of the ground, with the
/// defaults, and for more of it at equal levels.
#[test]
fn shadows_are_those_of_exact_poses() {
    each_with_rays(|setup| {
        for eye in [Vec3::new(9.0, 9.0, 14.0), Vec3::new(2.0, 1.7, 13.0)] {
            let defaults = (RayDesc::default(), &CharacterDesc::default());
            let share = equal_shadows(setup, defaults, 0, eye);
            assert!(share >= 0.99, "{share}");
            let rays = RayDesc {
                near_slots: 200,
                bytes_per_character: 64 << 20,
                ..RayDesc::default()
            };
            let same = CharacterDesc {
                ray_levels: Some([4, 4]),
                ..CharacterDesc::default()
            };
            let share = equal_shadows(setup, (rays, &same), 4, eye);
            assert!(share >= 0.999, "{share}");
        }
    });
}
