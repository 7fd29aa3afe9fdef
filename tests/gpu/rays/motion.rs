//! Positions of hits in the frame before.

use super::tracer::{Hit, Ray};
use super::{EXTENT, Person, World, meets, rays_into, triangles};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::support::{SMALL, each_with_rays, placed, view};
use throng::animator::{Animator, Play};
use throng::glam::{Affine3A, DVec3, Mat3A, Vec3};
use throng::palette::Mat3x4;
use throng::{Capacity, Culling, RayDesc, View, builtin};

/// Triangles of a person: geometry and corners.
type Triangles = Vec<(u32, [Vec3; 3])>;

/// The corners of the triangle that was met, by its number among those of its geometry.
fn corners(all: &Triangles, hit: &Hit) -> [DVec3; 3] {
    let mut own = all.iter().filter(|(geometry, _)| *geometry == hit.geometry);
    let (_, corners) = own.nth(hit.triangle as usize).unwrap();
    corners.map(|corner| corner.as_dvec3())
}

/// The point of a triangle with the barycentric coordinates at which a ray meets another one.
fn moved(ray: &Ray, now: [DVec3; 3], then: [DVec3; 3]) -> DVec3 {
    let [a, b, c] = now;
    let (ab, ac) = (b - a, c - a);
    let across = ray.direction.as_dvec3().cross(ac);
    let from = ray.origin.as_dvec3() - a;
    let u = from.dot(across) / ab.dot(across);
    let v = ray.direction.as_dvec3().dot(from.cross(ab)) / ab.dot(across);
    then[0] + (then[1] - then[0]) * u + (then[2] - then[0]) * v
}

/// A hit knows where its surface was in the frame before, also with the history of a camera, for
/// people in slots who walk around, and for those in shared poses. People who are teleported have
/// not moved.
#[test]
fn hits_know_where_they_were() {
    each_with_rays(|setup| {
        for slots in [24, 0] {
            let character = builtin::mannequin().unwrap().character;
            let rays = RayDesc {
                near_slots: slots,
                ..RayDesc::default()
            };
            let capacity = Capacity {
                histories: 1,
                ..SMALL
            };
            let mut world = World::new(setup, rays, capacity);
            let kind = setup.add(&mut world.crowd, &character);
            let level = world.crowd.ray_levels(kind).unwrap().unwrap();
            let level = level[usize::from(slots == 0)] as usize;
            world.view.eye = view(Vec3::new(4.0, 2.0, 8.0), Vec3::Y, EXTENT).eye;
            world.view.history = Some(0);
            if slots > 0 {
                world.view.detail.pose_error_px = 0.0;
                world.camera = Some(View {
                    culling: Culling::Frustum,
                    ..world.view
                });
            }
            let mut animator = Animator::new(&character).unwrap();
            let mut rng = Rng::new(57);
            let mut people = Vec::new();
            for number in 0..24 {
                // Shared poses are exact at their steps.
                let clip = character.clip(["Walk", "Idle", "Run"][number % 3]).unwrap();
                let speed = if slots > 0 { 1.0 } else { 0.0 };
                let play = Play::new(clip).speed(speed);
                let id = world
                    .crowd
                    .spawn(kind, &placed(Affine3A::IDENTITY, play))
                    .unwrap();
                let actor = animator.add(play).unwrap();
                let world = Affine3A::IDENTITY;
                people.push(Person { id, actor, world });
            }
            let mut palette =
                vec![Mat3x4::from_affine(&Affine3A::IDENTITY); character.palette().len()];
            let mut before: Vec<Triangles> = Vec::new();
            let (mut met, mut worst) = ([0; 2], 0.0_f64);
            for number in 0..40 {
                let mut teleported = [false; 24];
                for (person, teleported) in people.iter_mut().zip(&mut teleported) {
                    let sign = if number == 0 && rng.chance(3) {
                        -1.0
                    } else {
                        1.0
                    };
                    let step = Vec3::new(rng.range(-0.1, 0.1), 0.0, rng.range(-0.1, 0.1));
                    let moves = Affine3A::from_rotation_y(rng.range(-0.1, 0.1));
                    person.world = Affine3A::from_translation(step)
                        * person.world
                        * moves
                        * Affine3A::from_scale(Vec3::new(sign, 1.0, 1.0));
                    if number == 0 || rng.chance(12) {
                        let to = Vec3::new(rng.range(-4.0, 4.0), 0.0, rng.range(-4.0, 4.0));
                        person.world.translation = to.into();
                        person.world.matrix3 *= Mat3A::from_rotation_y(rng.range(0.0, 6.0));
                        *teleported = true;
                    }
                    let mut it = world.crowd.live_mut(person.id);
                    match *teleported {
                        true => it.teleport(&person.world).unwrap(),
                        false => it.set_transform(&person.world).unwrap(),
                    };
                }
                let rays = rays_into(&mut rng, 500, 4.0);
                let traced = world.frame(setup, &rays);
                animator.update(world.now_s).unwrap();
                let now = people.iter().map(|person| {
                    let actors = [person.actor];
                    animator.palettes(&actors, &mut palette[..]).unwrap();
                    triangles(&character, level, &palette, &person.world)
                });
                let now: Vec<Triangles> = now.collect();
                let settled = traced.stats.approximated + traced.stats.without_structure == 0
                    && traced.stats.near == slots
                    && number > 24;
                for (ray, hit) in rays.iter().zip(&traced.hits) {
                    let Some(hit) = hit.filter(|_| settled) else {
                        continue;
                    };
                    let id = world.crowd.instance_at(hit.index).unwrap();
                    let who = people.iter().position(|it| it.id == id).unwrap();
                    let present = corners(&now[who], &hit);
                    assert!(
                        meets(ray, &present.map(|at| at.as_vec3())).is_none_or(|distance| {
                            (distance - f64::from(hit.distance)).abs() < 1e-3
                        })
                    );
                    let past = if teleported[who] { &now } else { &before };
                    let expected = moved(ray, present, corners(&past[who], &hit));
                    let apart = expected.distance(hit.previous.as_dvec3());
                    worst = worst.max(apart);
                    met[usize::from(teleported[who])] += 1;
                    assert!(apart < 1e-3, "frame {number}: {ray:?} {hit:?} {expected}");
                }
                before = now;
            }
            println!("{met:?} hits, {worst} m apart");
            assert!(met[0] > 500 && met[1] > 30, "{met:?}");
            world.destroy(setup);
        }
    });
}
