//! The normals of hits, against those of CPU skinning.

use super::still::{Poses, palettes};
use super::tracer::{Hit, Ray};
use super::{EXTENT, Person, World, rays_into};
use crate::reference::rng::Rng;
use crate::support::{SMALL, Setup, each_with_rays, view};
use throng::animator::Animator;
use throng::builtin;
use throng::character::Character;
use throng::glam::{Affine3A, DVec3, Quat, Vec3, dvec3, vec3};
use throng::palette::Mat3x4;
use throng::skin::PosedVertices;

/// The largest error of a normal with two coordinates of 16 bits on the octahedron. Each is off by
/// at most half of 1/32,767, and so is their difference from one: √6 of that at once. The nearest
/// point of the octahedron to its centre is at 1/√3.
const ROUNDED: f64 = 0.5 / 32_767.0 * 2.449_5 * 1.732_1;
/// The longest way, in metres, between positions of the GPU and of the CPU: measured as 1.1e-5 by
/// `rays_meet_what_the_cpu_poses`.
const APART_M: f64 = 2e-5;

/// A person's vertices, in character space.
struct Posed {
    world: Affine3A,
    primitives: Vec<PosedVertices>,
}

impl Posed {
    fn new(character: &Character, palette: &[Mat3x4], world: Affine3A) -> Self {
        let weights = vec![0.0; character.morph_weights().len()];
        let primitives = character.primitives().iter().map(|primitive| {
            let mut posed = PosedVertices::default();
            let skinned = character.skin_primitive(primitive, palette, &weights, &mut posed);
            skinned.unwrap();
            posed
        });
        Self {
            world,
            primitives: primitives.collect(),
        }
    }

    /// The normal where a ray meets a triangle of these vertices, and by how much the GPU's may
    /// differ from it. `None` if that is more than a tenth.
    fn normal(&self, ray: &Ray, primitive: usize, corners: [u32; 3]) -> Option<(DVec3, f64)> {
        let posed = &self.primitives[primitive];
        let world = self.world.matrix3.as_dmat3();
        let at = corners.map(|at| self.world.transform_point3(posed.positions[at as usize]));
        let [a, b, c] = at.map(|at| at.as_dvec3());
        // Normals are covectors: mirrored people face as their triangles do.
        let own = world.inverse().transpose();
        let normals = corners.map(|at| own * posed.normals[at as usize].as_dvec3());
        let (ab, ac) = (b - a, c - a);
        let face = ab.cross(ac);
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
        let along = (a - origin).dot(face) / direction.dot(face);
        let met = origin + direction * along - a;
        // Parts of the area, as Möbius defined barycentric coordinates.
        let area = face.length_squared();
        let v = met.cross(ac).dot(face) / area;
        let w = ab.cross(met).dot(face) / area;
        let normal = normals[0] * (1.0 - v - w) + normals[1] * v + normals[2] * w;
        let spread = normals[1].distance(normals[0]) + normals[2].distance(normals[0]);
        // The ray meets a triangle elsewhere if it is moved, and the more so the flatter it meets.
        let longest = ab.length().max(ac.length()).max(b.distance(c));
        let height = face.length() / longest;
        let slope = direction.dot(face).abs() / face.length();
        let elsewhere = 2.0 * APART_M / (height * slope);
        // Scales and blended joints stretch rounding errors as they do normals.
        let rounded = 2.0 * ROUNDED * normals.map(DVec3::length).into_iter().fold(0.0, f64::max);
        let tolerance = (rounded + spread * elsewhere) / normal.length();
        (tolerance < 0.1).then(|| (normal.normalize(), tolerance))
    }
}

/// The triangle that was hit.
fn corners(character: &Character, level: usize, hit: &Hit) -> [u32; 3] {
    let primitive = &character.primitives()[hit.geometry as usize];
    let indices = match level.checked_sub(1) {
        None => &primitive.indices,
        Some(at) => &primitive.levels[at].indices,
    };
    indices.as_chunks::<3>().0[hit.triangle as usize]
}

/// Traces people who stand still, some of them mirrored and scaled by another factor along each
/// axis, and compares the normals of all hits.
fn normals(setup: &mut Setup, poses: Poses) {
    let character = builtin::mannequin().unwrap().character;
    let mut world = World::new(setup, poses.rays(), SMALL);
    let kind = setup.add(&mut world.crowd, &character);
    world.view.eye = view(vec3(3.0, 2.0, 9.0), Vec3::Y, EXTENT).eye;
    world.view.detail = poses.detail();
    let mut animator = Animator::new(&character).unwrap();
    let (mut rng, mut people) = (Rng::new(58), Vec::new());
    for number in 0..24 {
        let mut scale = rng.vector(0.6, 1.6);
        scale.x *= if number % 2 == 0 { -1.0 } else { 1.0 };
        let place = Affine3A::from_scale_rotation_translation(
            scale,
            Quat::from_rotation_y(rng.range(0.0, 6.0)),
            vec3(rng.range(-4.0, 4.0), 0.0, rng.range(-4.0, 4.0)),
        );
        let clip = ["Walk", "Idle", "Run"][number % 3];
        let spawn = poses.spawn(&character, (clip, place), &mut rng);
        people.push(Person {
            id: world.crowd.spawn(kind, &spawn).unwrap(),
            actor: animator.add(spawn.play).unwrap(),
            world: place,
        });
    }
    world.settle(setup);
    let level = poses.level(&world, kind);
    let palettes = palettes(&character, &mut animator, &people);
    let posed = people.iter().zip(&palettes);
    let posed = posed.map(|(person, palette)| Posed::new(&character, palette, person.world));
    let posed: Vec<_> = posed.collect();
    let ([mut met, mut left_out, mut mirrored], [mut worst, mut share]) = ([0; 3], [0.0_f64; 2]);
    for _ in 0..4 {
        let rays = rays_into(&mut rng, 1500, 5.0);
        let traced = world.frame(setup, &rays);
        for (ray, hit) in rays.iter().zip(&traced.hits) {
            let Some(hit) = hit else { continue };
            let id = world.crowd.instance_at(hit.index);
            let at = people.iter().position(|it| Some(it.id) == id).unwrap();
            let corners = corners(&character, level, hit);
            let of = posed[at].normal(ray, hit.geometry as usize, corners);
            let Some((normal, tolerance)) = of else {
                left_out += 1;
                continue;
            };
            let apart = normal.distance(dvec3(
                hit.normal.x.into(),
                hit.normal.y.into(),
                hit.normal.z.into(),
            ));
            assert!(apart <= tolerance, "{apart} {tolerance} {normal} {hit:?}");
            met += 1;
            mirrored += usize::from(posed[at].world.matrix3.determinant() < 0.0);
            (worst, share) = (worst.max(apart), share.max(apart / tolerance));
        }
    }
    println!(
        "{poses:?}: {met} normals, {mirrored} of mirrored people, at most {worst} apart and \
         {share} of the tolerance, {left_out} left out"
    );
    assert!(met > 800 && mirrored > 300 && left_out * 10 < met);
    world.destroy(setup);
}

/// Hits have the normals of CPU skinning, interpolated, for slots and for shared poses.
#[test]
fn normals_of_hits_are_those_of_cpu_skinning() {
    each_with_rays(|setup| {
        normals(setup, Poses::Own);
        normals(setup, Poses::Shared);
    });
}
