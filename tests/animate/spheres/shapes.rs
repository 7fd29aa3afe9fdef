//! The methods of the sphere: never too small, and exact where that is possible.

use crate::reference::rng::Rng;
use throng::glam::{Affine3A, Mat3, Vec3};
use throng::mesh::{Aabb, Sphere};

fn sphere(rng: &mut Rng) -> Sphere {
    Sphere {
        center: rng.vector(-3.0, 3.0),
        radius: rng.range(0.1, 2.0),
    }
}

#[test]
fn a_transformed_sphere_contains_the_transformed_points() {
    let rng = &mut Rng::new(1);
    for round in 0..20_000 {
        let own = sphere(rng);
        let matrix = match round % 3 {
            // A rotation with a uniform scale.
            0 => Mat3::from_quat(rng.rotation()) * rng.range(-2.0, 2.0),
            // Anything.
            _ => Mat3::from_cols(
                rng.vector(-2.0, 2.0),
                rng.vector(-2.0, 2.0),
                rng.vector(-0.1, 0.1),
            ),
        };
        let transform = Affine3A::from_mat3_translation(matrix, rng.vector(-100.0, 100.0));
        let moved = own.transformed(&transform);
        let inside = own.center + rng.direction() * own.radius * 0.999_9;
        assert!(own.contains(inside));
        assert!(
            moved.contains(transform.transform_point3(inside)),
            "{own:?} {transform:?}"
        );
        if round % 3 == 0 {
            let exact = own.radius * matrix.determinant().abs().cbrt();
            // The radius has a margin for coordinates of up to 100 m: 4 roundings of 2⁻²⁴.
            assert!(
                moved.radius < exact * (1.0 + 1e-5) + 1e-4,
                "{} {exact}",
                moved.radius
            );
        }
        // The row sums are at most 3 times the largest eigenvalue.
        let greatest = matrix
            .to_cols_array()
            .iter()
            .map(|v| v * v)
            .sum::<f32>()
            .sqrt();
        assert!(moved.radius < 1.74 * greatest * own.radius + 1e-4);
    }
}

#[test]
fn a_union_contains_both_and_is_the_smallest() {
    let rng = &mut Rng::new(2);
    for _ in 0..20_000 {
        let [a, b] = [0; 2].map(|_| sphere(rng));
        let all = a.union(b);
        for own in [a, b] {
            assert!(all.contains(own.center + rng.direction() * own.radius * 0.999_9));
            assert!(all.radius >= own.radius);
        }
        let apart = 0.5 * (a.center.distance(b.center) + a.radius + b.radius);
        let least = apart.max(a.radius).max(b.radius);
        assert!(all.radius <= least * (1.0 + 1e-5), "{a:?} {b:?} {all:?}");
    }
    let one = sphere(rng);
    assert_eq!(one.union(Sphere::EMPTY), one);
    assert_eq!(Sphere::EMPTY.union(one), one);
    assert_eq!(one.union(Sphere::EVERYTHING), Sphere::EVERYTHING);
    assert!(Sphere::EMPTY.union(Sphere::EMPTY).is_empty());
}

#[test]
fn empty_and_endless_spheres_stay_so() {
    let transform = Affine3A::from_scale(Vec3::splat(3.0));
    assert!(Sphere::EMPTY.transformed(&transform).is_empty());
    assert!(!Sphere::EMPTY.contains(Vec3::ZERO));
    assert_eq!(
        Sphere::EVERYTHING.transformed(&transform),
        Sphere::EVERYTHING
    );
    assert!(Sphere::EVERYTHING.contains(Vec3::splat(1e30)));
    // A sphere that leaves the range of `f32` contains everything.
    let vast = Sphere {
        center: Vec3::ZERO,
        radius: 1e38,
    };
    assert_eq!(
        vast.transformed(&Affine3A::from_scale(Vec3::splat(10.0))),
        Sphere::EVERYTHING
    );
    assert_eq!(Sphere::from(Aabb::EMPTY), Sphere::EMPTY);
    let bounds = Aabb {
        min: Vec3::NEG_ONE,
        max: Vec3::ONE,
    };
    assert!((Sphere::from(bounds).radius - 3.0_f32.sqrt()).abs() < 1e-6);
}
