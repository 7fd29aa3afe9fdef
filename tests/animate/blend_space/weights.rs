//! Weights on lines, and at any positions.

use super::plain::{ROUNDING, check_parts, plane, space as line, weights, weights1};
use crate::reference::rng::Rng;
use throng::glam::Vec2;

#[test]
fn on_a_line_neighbours_share_linearly() {
    let mut rng = Rng::new(1);
    for _ in 0..300 {
        let points: Vec<f32> = (0..1 + rng.below(9))
            .map(|_| rng.range(-5.0, 5.0))
            .collect();
        let on_line = line(&points).unwrap();
        let least = points.iter().copied().fold(f32::MAX, f32::min);
        let most = points.iter().copied().fold(f32::MIN, f32::max);
        for _ in 0..50 {
            let x = rng.range(-7.0, 7.0);
            let weights = weights1(&on_line, x);
            check_parts(&weights, 2, "line");
            // No point lies between those that take part, and the blend of the points is the
            // parameter.
            let parts: Vec<f32> = (0..points.len())
                .filter(|i| weights[*i] > 0.0)
                .map(|i| points[i])
                .collect();
            let clamped = x.clamp(least, most);
            for point in &points {
                let between = |a: f32, b: f32| *point > a.min(b) && *point < a.max(b);
                assert!(
                    !between(parts[0], *parts.last().unwrap()),
                    "{points:?} at {x}"
                );
            }
            let blend: f64 = points
                .iter()
                .zip(&weights)
                .map(|(p, w)| f64::from(*p) * f64::from(*w))
                .sum();
            assert!(
                (blend - f64::from(clamped)).abs() <= 5.0 * ROUNDING,
                "{points:?} at {x}"
            );
        }
        for (index, point) in points.iter().enumerate() {
            let mut only = vec![0.0; points.len()];
            only[index] = 1.0;
            assert_eq!(weights1(&on_line, *point), only);
        }
    }
}

#[test]
fn far_parameters_count_as_the_nearest_point_of_the_hull() {
    let square = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
    let space = plane(&square);
    for (at, want) in [
        (Vec2::new(1e9, 0.25), [0.0, 0.75, 0.25, 0.0]),
        (Vec2::new(0.25, -3e6), [0.75, 0.25, 0.0, 0.0]),
        (Vec2::new(f32::MAX, f32::MAX), [0.0, 0.0, 1.0, 0.0]),
        (
            Vec2::new(f32::NEG_INFINITY, f32::INFINITY),
            [0.0, 0.0, 0.0, 1.0],
        ),
        (Vec2::new(-1.0, -f32::MAX), [1.0, 0.0, 0.0, 0.0]),
    ] {
        assert_eq!(weights(&space, at), want, "{at}");
    }
    let speeds = line(&[4.0_f32, 0.0, 1.5]).unwrap();
    assert_eq!(weights1(&speeds, f32::INFINITY), [1.0, 0.0, 0.0]);
    assert_eq!(weights1(&speeds, f32::MIN), [0.0, 1.0, 0.0]);
    assert_eq!(weights1(&speeds, 0.75), [0.0, 0.5, 0.5]);
    assert_eq!(weights1(&speeds, f32::NAN), [0.0, 1.0, 0.0]);
}

#[test]
fn points_on_one_line_are_blended_along_it() {
    let points: Vec<Vec2> = [3.0, 0.0, 1.0].map(|x| Vec2::new(x, 2.0 * x - 1.0)).into();
    let space = plane(&points);
    assert!(space.triangles().is_empty());
    // From the middle of the last two, a step to the side.
    let at = Vec2::new(2.0, 3.0) + Vec2::new(-2.0, 1.0);
    let beside = weights(&space, at);
    assert_eq!(beside, [0.5, 0.0, 0.5]);
    let one = plane(&[Vec2::splat(7.0)]);
    assert_eq!(weights(&one, Vec2::new(f32::NAN, -4.0)), [1.0]);
}

#[test]
fn any_numbers_give_weights_that_sum_to_one() {
    let mut rng = Rng::new(7);
    let odd = [
        0.0,
        -0.0,
        1.0,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        1e-30,
        -3e20,
        1.0 + f32::EPSILON,
    ];
    let more = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    for _ in 0..3000 {
        let points: Vec<Vec2> = (0..1 + rng.below(7))
            .map(|_| Vec2::new(odd[rng.below(10)], odd[rng.below(10)]))
            .collect();
        let any = |rng: &mut Rng| {
            if rng.chance(4) {
                more[rng.below(3)]
            } else {
                odd[rng.below(10)]
            }
        };
        let at = Vec2::new(any(&mut rng), any(&mut rng));
        let pairs: Vec<[f32; 2]> = points.iter().map(|point| point.to_array()).collect();
        if let Ok(space) = line(&pairs) {
            check_parts(&weights(&space, at), 3, "odd");
        }
        let xs: Vec<f32> = points.iter().map(|p| p.x).collect();
        if let Ok(space) = line(&xs) {
            check_parts(&weights1(&space, at.y), 2, "odd");
        }
    }
}
