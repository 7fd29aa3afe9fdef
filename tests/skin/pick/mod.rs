//! Picking of deformed meshes, compared with tests of every triangle by another algorithm.

mod ray;

use crate::reference::poser::Poser;
use crate::reference::rays::{ball, brute, meet, ray_at, vertices};
use crate::reference::rng::Rng;
use crate::reference::words::{Fails, Says};
use crate::skinner::load::{models, rest_weights};
use throng::Error;
use throng::character::Character;
use throng::error::ArgumentFault;
use throng::glam::{Affine3A, Quat, Vec3};
use throng::palette::{DualQuat, Mat3x4, PaletteEntry, WriteOnly};
use throng::skin::{CullMode, Hit, Posed, PosedVertices, Ray, Skinner};

fn matrices(character: &Character, clip: Option<(usize, f64)>) -> Vec<Mat3x4> {
    let mut palette = vec![Mat3x4::IDENTITY; character.palette().len()];
    Poser::new()
        .palette(character, clip, WriteOnly::from(&mut palette))
        .unwrap();
    palette
}

/// Both round in `f64`, relative to the distances whose difference is the hit's distance.
fn agree(hit: Option<Hit>, brute: Option<f64>, size: f64) -> bool {
    match (hit, brute) {
        (Some(hit), Some(distance)) => (hit.distance - distance).abs() <= 1e-9 * size,
        (None, None) => true,
        _ => false,
    }
}

#[test]
fn the_nearest_hit_is_that_of_all_triangles() {
    let mut rng = Rng::new(83);
    for character in models() {
        let clip = (!character.curves().is_empty()).then_some((0, 0.4));
        let mut poser = Poser::new();
        let model = poser.pose(&character, clip).unwrap();
        let mut duals = vec![DualQuat::IDENTITY; character.palette().len()];
        character
            .write_palette(model, WriteOnly::from(&mut duals))
            .unwrap();
        let entries = matrices(&character, clip);
        let hits = nearest_hits(&mut rng, &character, &entries)
            + nearest_hits(&mut rng, &character, &duals);
        assert!(hits > 10, "{}: {hits} hits", character.name());
    }
}

/// Compares 60 picks with a search of all triangles. Returns the number of hits.
fn nearest_hits<P: PaletteEntry>(rng: &mut Rng, character: &Character, palette: &[P]) -> usize {
    let skinner = Skinner::new(character).unwrap();
    let weights = rest_weights(character);
    let posed = Posed::new(character, &skinner, palette, &weights);
    let vertices = vertices(&skinner, palette, &weights);
    let bounds = skinner.bounds(palette, &weights).unwrap();
    let size = f64::from((bounds.size() + bounds.center().abs()).max_element());
    let mut hits = 0;
    for number in 0..60 {
        let ray = ray_at(rng, bounds.center(), bounds.size());
        let faces = [CullMode::None, CullMode::Back, CullMode::Material][number % 3];
        let hit = posed.pick(&ray, faces).unwrap();
        let want = brute(character, &vertices, &ray, faces);
        assert!(
            agree(hit, want, 4.0 * size),
            "{} {ray:?} {hit:?} {want:?}",
            character.name()
        );
        if let Some(hit) = hit {
            hits += 1;
            check(character, &vertices, &ray, &hit, size as f32);
        }
    }
    hits
}

/// The hit's position matches its barycentric coordinates, and is on the ray.
fn check(character: &Character, vertices: &[PosedVertices], ray: &Ray, hit: &Hit, size: f32) {
    let indices = &character.primitives()[hit.primitive].indices;
    let positions = &vertices[hit.primitive].positions;
    let corner = |c: usize| positions[indices[hit.triangle * 3 + c] as usize];
    let place: Vec3 = (0..3).map(|c| corner(c) * hit.barycentrics[c]).sum();
    let along = ray.origin.as_dvec3() + ray.direction.as_dvec3().normalize() * hit.distance;
    // Sums of a few roundings of 2⁻²⁴ each.
    let bound = 16.0 * f32::EPSILON * size;
    assert!(
        (place - hit.position).abs().max_element() <= bound,
        "{hit:?} {place}"
    );
    assert!(
        (along.as_vec3() - hit.position).abs().max_element() <= bound,
        "{hit:?} {along}"
    );
    assert!(hit.barycentrics.iter().all(|b| *b >= 0.0));
    assert!((hit.barycentrics.iter().sum::<f32>() - 1.0).abs() <= 2.0 * f32::EPSILON);
}

#[test]
fn no_ray_slips_through_a_closed_surface() {
    let character = ball(false);
    let skinner = Skinner::new(&character).unwrap();
    let mut rng = Rng::new(89);
    for _ in 0..4 {
        let turn = Affine3A::from_rotation_translation(rng.rotation(), rng.vector(-3.0, 3.0));
        let palette = [Mat3x4::from_affine(&turn)];
        let posed = Posed::new(&character, &skinner, &palette, &[]);
        let mut vertices = PosedVertices::default();
        skinner
            .skin_primitive(0, &palette, &[], &mut vertices)
            .unwrap();
        let positions = &vertices.positions;
        let origin = Vec3::from(turn.translation) + rng.vector(-0.2, 0.2);
        let edges = character.primitives()[0].indices.chunks_exact(3).map(|t| {
            let part = rng.range(0.0, 1.0);
            positions[t[0] as usize].lerp(positions[t[1] as usize], part)
        });
        let edges: Vec<Vec3> = edges.collect();
        for target in positions.iter().chain(&edges) {
            let ray = Ray {
                origin,
                direction: *target - origin,
            };
            let hit = posed.pick(&ray, CullMode::None).unwrap();
            let hit = hit.unwrap_or_else(|| panic!("{ray:?} slips through"));
            assert!(hit.back_face);
            assert_eq!(posed.pick(&ray, CullMode::Back).unwrap(), None);
            assert_eq!(posed.pick(&ray, CullMode::Material).unwrap(), None);
        }
    }
}

#[test]
fn double_sided_materials_are_met_from_behind() {
    let out = Ray {
        origin: Vec3::ZERO,
        direction: Vec3::new(0.3, 0.2, 0.9),
    };
    for double_sided in [false, true] {
        let character = ball(double_sided);
        let skinner = Skinner::new(&character).unwrap();
        let palette = [Mat3x4::IDENTITY];
        let posed = Posed::new(&character, &skinner, &palette, &[]);
        let hit = posed.pick(&out, CullMode::Material).unwrap();
        assert_eq!(hit.map(|hit| hit.back_face), double_sided.then_some(true));
    }
}

#[test]
fn a_mirror_in_the_pose_turns_front_and_back_with_it() {
    let character = ball(false);
    let skinner = Skinner::new(&character).unwrap();
    let palette = [Mat3x4::from_affine(&Affine3A::from_scale(Vec3::new(
        -1.0, 1.0, 1.0,
    )))];
    let posed = Posed::new(&character, &skinner, &palette, &[]);
    let inward = Ray {
        origin: Vec3::new(0.2, 0.3, 5.0),
        direction: Vec3::NEG_Z,
    };
    let outward = Ray {
        origin: Vec3::ZERO,
        direction: Vec3::Z,
    };
    let hit = posed.pick(&inward, CullMode::Back).unwrap().unwrap();
    assert!(!hit.back_face && hit.distance < 5.0);
    assert_eq!(posed.pick(&outward, CullMode::Back).unwrap(), None);
}

#[test]
fn of_many_instances_the_nearest_in_the_world_is_met() {
    let character = ball(false);
    let skinner = Skinner::new(&character).unwrap();
    let palette = [Mat3x4::IDENTITY];
    let posed = Posed::new(&character, &skinner, &palette, &[]);
    let mut rng = Rng::new(97);
    let transforms: Vec<Affine3A> = (0..60)
        .map(|number| {
            let mut scale = Vec3::splat(rng.range(0.2, 1.5));
            scale.x *= if number % 3 == 0 { -1.0 } else { 1.0 };
            Affine3A::from_scale_rotation_translation(scale, rng.rotation(), rng.vector(-9.0, 9.0))
        })
        .collect();
    let instances: Vec<_> = transforms
        .iter()
        .map(|world_from_model| posed.at(*world_from_model))
        .collect();
    let primitive = &character.primitives()[0];
    let placed = transforms.iter().map(|transform| -> Vec<_> {
        let points = primitive.positions.iter();
        points
            .map(|point| transform.transform_point3(*point).as_dvec3())
            .collect()
    });
    let placed: Vec<_> = placed.collect();
    let mut hits = 0;
    for _ in 0..200 {
        let ray = ray_at(&mut rng, Vec3::ZERO, Vec3::splat(16.0));
        let each = instances
            .iter()
            .map(|posed| posed.pick(&ray, CullMode::Back));
        let each = (0..).zip(each.map(Result::unwrap));
        let each = each.filter_map(|(number, hit)| Some((number, hit?)));
        let got = each.min_by(|(_, a), (_, b)| a.distance.total_cmp(&b.distance));
        // One by one, with the mesh in world space instead of the ray in mesh space.
        let mut want: Option<(usize, f64)> = None;
        for (number, transform) in transforms.iter().enumerate() {
            let flipped = f64::from(transform.matrix3.determinant()) < 0.0;
            for triangle in primitive.indices.chunks_exact(3) {
                let corners = [0, 1, 2].map(|c| placed[number][triangle[c] as usize]);
                let direction = ray.direction.as_dvec3().normalize();
                if let Some((distance, back)) = meet(ray.origin.as_dvec3(), direction, corners)
                    && back == flipped
                    && want.is_none_or(|(_, best)| distance < best)
                {
                    want = Some((number, distance));
                }
            }
        }
        assert_eq!(
            got.map(|(number, _)| number),
            want.map(|(number, _)| number),
            "{ray:?}"
        );
        if let (Some((number, hit)), Some((_, distance))) = (got, want) {
            hits += 1;
            // The corners in world space are rounded to `f32`, some metres from the origin.
            assert!(
                (hit.distance - distance).abs() < 1e-4,
                "{} {distance}",
                hit.distance
            );
            let place = transforms[number].transform_point3(hit.position);
            let along = ray.origin + ray.direction.normalize() * hit.distance as f32;
            assert!(place.abs_diff_eq(along, 1e-4), "{place} {along}");
        }
    }
    assert!(hits > 50, "{hits}");
}

fn invalid(what: &'static str, why: &'static str) -> Error {
    Error::Argument {
        what,
        why: ArgumentFault::Invalid(why),
    }
}

#[test]
fn bad_rays_and_transforms_are_refused() {
    let character = ball(false);
    let skinner = Skinner::new(&character).unwrap();
    let palette = [Mat3x4::IDENTITY; 2];
    let posed = Posed::new(&character, &skinner, &palette[..1], &[]);
    let good = Ray {
        origin: Vec3::ZERO,
        direction: Vec3::X,
    };
    let refused = |posed: &Posed<'_>, ray: Ray| posed.pick(&ray, CullMode::None).unwrap_err();
    let not_finite = |what: &'static str, value: f64| Error::Argument {
        what,
        why: ArgumentFault::NotFinite(value),
    };
    let origin = Ray {
        origin: Vec3::new(0.0, f32::INFINITY, 0.0),
        ..good
    };
    assert_eq!(
        refused(&posed, origin),
        not_finite("ray origin", f64::INFINITY)
    );
    let direction = Ray {
        direction: Vec3::new(0.0, f32::NEG_INFINITY, 0.0),
        ..good
    };
    assert_eq!(
        refused(&posed, direction),
        not_finite("ray direction", f64::NEG_INFINITY)
    );
    let nan = Ray {
        origin: Vec3::NAN,
        ..good
    };
    refused(&posed, nan).says("ray origin: …");
    let none = Ray {
        direction: Vec3::ZERO,
        ..good
    };
    assert_eq!(
        refused(&posed, none),
        invalid("ray direction", "has no length")
    );
    let longer = Posed::new(&character, &skinner, &palette, &[]);
    let why = ArgumentFault::Length { got: 2, need: 1 };
    assert_eq!(
        refused(&longer, good),
        Error::Argument {
            what: "palette",
            why
        }
    );
    let other = crate::reference::rig::chain(3);
    let others = Skinner::new(&other).unwrap();
    let mixed = Posed::new(&character, &others, &palette[..1], &[]);
    assert_eq!(
        refused(&mixed, good),
        invalid("skinner", "was made for another character")
    );

    let flat = Affine3A::from_scale_rotation_translation(
        Vec3::new(1.0, 0.0, 1.0),
        Quat::IDENTITY,
        Vec3::ONE,
    );
    assert_eq!(
        refused(&posed.at(flat), good),
        invalid("world_from_model", "has no inverse")
    );
    // The shortest and the longest directions still hit.
    for length in [1e-38, 1e38] {
        let ray = Ray {
            direction: Vec3::X * length,
            ..good
        };
        assert!(posed.pick(&ray, CullMode::None).unwrap().unwrap().distance < 2.0);
    }
}

/// A ray passes through parts that are hidden, and hits what is behind them.
#[test]
fn hidden_parts_are_not_hit() {
    let mut raw = crate::reference::ribbon::ribbon(4);
    for (primitive, name) in raw.primitives.iter_mut().zip(["front", "back"]) {
        primitive.part = name.into();
    }
    let character = raw.build(&Default::default()).unwrap().character;
    let skinner = Skinner::new(&character).unwrap();
    let palette = matrices(&character, None);
    let [front, back] = ["front", "back"].map(|name| character.part(name).unwrap());
    let posed = Posed::new(&character, &skinner, &palette, &[]);
    let ray = Ray {
        origin: Vec3::new(0.1, 1.5, 9.0),
        direction: Vec3::NEG_Z,
    };
    let hit = |posed: Posed<'_>, faces| {
        let hit = posed.pick(&ray, faces).unwrap();
        hit.map(|hit| (hit.primitive, hit.back_face))
    };
    assert_eq!(hit(posed, CullMode::Material), Some((0, false)));
    let without = |parts: &[_]| posed.hiding(parts.iter().copied()).unwrap();
    assert_eq!(hit(without(&[front]), CullMode::Material), None);
    assert_eq!(hit(without(&[front]), CullMode::None), Some((1, true)));
    assert_eq!(hit(without(&[back]), CullMode::None), Some((0, false)));
    assert_eq!(hit(without(&[front, back]), CullMode::None), None);
    let one_after_the_other = without(&[front]).hiding([back]).unwrap();
    assert_eq!(hit(one_after_the_other, CullMode::None), None);
    // A part of another character, which this one lacks.
    let small = ball(false);
    let skinner = Skinner::new(&small).unwrap();
    let palette = vec![Mat3x4::IDENTITY; small.palette().len()];
    let posed = Posed::new(&small, &skinner, &palette, &[]);
    posed
        .hiding([back])
        .map(|_| ())
        .fails("part … does not exist: there are …");
}
