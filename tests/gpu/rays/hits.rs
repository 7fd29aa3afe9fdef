//! Hits as shaders read them.

use super::{EXTENT, Person, World, rays_into};
use crate::reference::handles::Handles;
use crate::reference::rng::Rng;
use crate::sides::parted;
use crate::support::{SMALL, each_with_rays, placed, view};
use throng::animator::{Animator, Play};
use throng::glam::{Affine3A, Quat, Vec3};
use throng::{RayDesc, Spawn, builtin};

/// Shaders read hits on people in slots and in shared poses, mirrored ones too: the position lies
/// on the ray, the normal faces as the triangle does, colour, tint, user word and material are the
/// instance's, and hidden parts are not met.
#[test]
fn shaders_read_hits() {
    each_with_rays(|setup| {
        let (mannequin, ribbon) = (builtin::mannequin().unwrap().character, parted(3));
        let mut world = World::new(setup, RayDesc::default(), SMALL);
        world.view.eye = view(Vec3::new(3.0, 2.0, 9.0), Vec3::Y, EXTENT).eye;
        let kinds = [&mannequin, &ribbon].map(|it| setup.add(&mut world.crowd, it));
        let mut animators = [&mannequin, &ribbon].map(|it| Animator::new(it).unwrap());
        let mut rng = Rng::new(54);
        let mut people = Vec::new();
        for number in 0..24 {
            let kind = number % 2;
            let play = Play::new([["Walk", "Idle"], ["sway", "turn"]][kind][number / 2 % 2]);
            let sign = if rng.chance(3) { -1.0 } else { 1.0 };
            let world_from_model = Affine3A::from_scale_rotation_translation(
                Vec3::new(sign, rng.range(0.7, 1.3), 1.0),
                Quat::from_rotation_y(rng.range(0.0, 6.0)),
                Vec3::new(rng.range(-4.0, 4.0), 0.0, rng.range(-4.0, 4.0)),
            );
            let spawn = Spawn {
                tint: [0.5, 0.25, 1.0, 1.0],
                user_data: number as u32 * 3,
                ..placed(world_from_model, play)
            };
            let id = world.crowd.spawn(kinds[kind], &spawn).unwrap();
            if kind == 1 && rng.chance(2) {
                let mut it = world.crowd.live_mut(id);
                it.set_part_visible("front", false).unwrap();
            }
            let actor = animators[kind].add(play).unwrap();
            people.push((
                Person {
                    id,
                    actor,
                    world: world_from_model,
                },
                kind,
                number as u32 * 3,
            ));
        }
        world.settle(setup);
        let [mut met, mut of_ribbons, mut candidates] = [0; 3];
        for _ in 0..6 {
            let rays = rays_into(&mut rng, 1000, 5.0);
            let traced = world.frame(setup, &rays);
            for (ray, hit) in rays.iter().zip(&traced.hits) {
                let Some(hit) = hit else { continue };
                candidates += hit.candidates;
                let at = ray.origin + ray.direction * hit.distance;
                assert!(at.distance(hit.position) < 2e-4, "{ray:?} {hit:?}");
                let id = world.crowd.instance_at(hit.index).unwrap();
                let (person, kind, user) = people.iter().find(|it| it.0.id == id).unwrap();
                let character = [&mannequin, &ribbon][*kind];
                let primitive = &character.primitives()[hit.geometry as usize];
                assert_eq!((hit.user, hit.material), (*user, primitive.material));
                let hides = world.crowd.live(id).is_part_visible("front");
                assert!(hides.is_err() || hides == Ok(true) || hit.geometry != 0);
                assert!((hit.normal.length() - 1.0).abs() < 1e-4);
                assert!((0.0..0.2).contains(&hit.start_m), "{hit:?}");
                met += 1;
                if *kind == 1 {
                    // Flat faces towards ±Z, with the colours of the materials.
                    of_ribbons += 1;
                    let base = character.materials()[hit.material as usize].base_color;
                    let tinted = [base[0] * 0.5, base[1] * 0.25, base[2]];
                    for (is, expected) in hit.color.iter().zip(tinted) {
                        assert!((is - expected).abs() < 1e-3, "{hit:?} {tinted:?}");
                    }
                    let [u, v] = hit.uv;
                    let inside = (-0.01..=1.01).contains(&u) && (-0.01..=2.01).contains(&v);
                    assert!(inside, "{hit:?}");
                    let facing = hit.normal.dot(ray.direction) < 0.0;
                    assert_eq!(facing, hit.front, "{hit:?} {:?}", person.world);
                }
            }
        }
        println!("{met} hits, {of_ribbons} of ribbons, {candidates} candidates");
        assert!(met > 1000 && of_ribbons > 200 && candidates > 100);
        world.destroy(setup);
    });
}
