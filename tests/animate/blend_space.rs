//! Blend spaces, compared with plain `f64` code: weights and triangles by their definitions.

use crate::reference::rng::Rng;
use throng::Error;
use throng::error::ArgumentFault;
use throng::glam::{DVec2, Vec2};
use throng::motion::{BlendSpace, BlendSpace1, BlendSpace2, GradientBands};

/// Weights are rounded to `f32` once, and there are three at most.
const ROUNDING: f64 = 3.0 / 16_777_216.0;

fn weights1(space: &BlendSpace1, x: f32) -> Vec<f32> {
    let mut out = vec![f32::NAN; space.points().len()];
    space.weights(x, &mut out).unwrap();
    out
}

fn weights2(space: &BlendSpace2, at: Vec2) -> Vec<f32> {
    let mut out = vec![f32::NAN; space.points().len()];
    space.weights(at, &mut out).unwrap();
    out
}

fn bands(space: &GradientBands, at: Vec2) -> Vec<f32> {
    let mut out = vec![f32::NAN; space.points().len()];
    space.weights(at, &mut out).unwrap();
    out
}

fn sum(weights: &[f32]) -> f64 {
    weights.iter().map(|weight| f64::from(*weight)).sum()
}

/// The blend of the points themselves.
fn blend(points: &[Vec2], weights: &[f32]) -> DVec2 {
    let parts = points.iter().zip(weights);
    parts.map(|(p, w)| p.as_dvec2() * f64::from(*w)).sum()
}

fn check_parts(weights: &[f32], most: usize, what: &str) {
    assert!(
        weights.iter().all(|w| (0.0..=1.0).contains(w)),
        "{what}: {weights:?}"
    );
    assert!(
        (sum(weights) - 1.0).abs() <= ROUNDING,
        "{what}: {weights:?}"
    );
    let taking_part = weights.iter().filter(|w| **w > 0.0).count();
    assert!(taking_part <= most, "{what}: {weights:?}");
}

#[test]
fn on_a_line_neighbours_share_linearly() {
    let mut rng = Rng::new(1);
    for _ in 0..300 {
        let points: Vec<f32> = (0..1 + rng.below(9))
            .map(|_| rng.range(-5.0, 5.0))
            .collect();
        let space = BlendSpace1::new(&points).unwrap();
        let least = points.iter().copied().fold(f32::MAX, f32::min);
        let most = points.iter().copied().fold(f32::MIN, f32::max);
        for _ in 0..50 {
            let x = rng.range(-7.0, 7.0);
            let weights = weights1(&space, x);
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
            assert_eq!(weights1(&space, *point), only);
        }
    }
}

/// The point of a triangle (or segment, or point) nearest to `at`: by corners, edges and the
/// inside, each on its own.
fn nearest_of_triangle(corners: [DVec2; 3], at: DVec2) -> DVec2 {
    let [a, b, c] = corners;
    let area = (b - a).perp_dot(c - a);
    if area != 0.0 {
        let parts = [(b, c), (c, a), (a, b)].map(|(p, q)| (p - at).perp_dot(q - at) / area);
        if parts.iter().all(|part| *part >= 0.0) {
            return at;
        }
    }
    let on_edge = |(p, q): (DVec2, DVec2)| {
        let length = (q - p).length_squared();
        if length == 0.0 {
            return p;
        }
        p + (q - p) * ((at - p).dot(q - p) / length).clamp(0.0, 1.0)
    };
    let feet = [(a, b), (b, c), (c, a)].map(on_edge);
    let by_distance = |p: &&DVec2, q: &&DVec2| p.distance(at).total_cmp(&q.distance(at));
    *feet.iter().min_by(by_distance).unwrap()
}

/// The point of the convex hull nearest to `at`: the hull is what all triangles cover.
fn nearest_of_hull(points: &[Vec2], at: DVec2) -> DVec2 {
    let points: Vec<DVec2> = points.iter().map(|p| p.as_dvec2()).collect();
    let mut best = points[0];
    for a in &points {
        for b in &points {
            for c in &points {
                let point = nearest_of_triangle([*a, *b, *c], at);
                if point.distance(at) < best.distance(at) {
                    best = point;
                }
            }
        }
    }
    best
}

fn random_points(rng: &mut Rng, count: usize) -> Vec<Vec2> {
    let mut points: Vec<Vec2> = Vec::new();
    let kind = rng.below(4);
    let (direction, offset) = (
        rng.vector(-1.0, 1.0).truncate(),
        rng.vector(-3.0, 3.0).truncate(),
    );
    while points.len() < count {
        let point = match kind {
            0 => rng.vector(-2.0, 2.0).truncate(),
            // On a small grid: many on common lines and circles.
            1 => Vec2::new(rng.below(5) as f32, rng.below(4) as f32),
            // On a circle.
            2 => Vec2::from_angle(rng.range(0.0, 6.3)) * 2.0,
            // Nearly on a line: rounding leaves slivers.
            _ => offset + direction * rng.range(-2.0, 2.0),
        };
        if !points.contains(&point) {
            points.push(point);
        }
    }
    points
}

#[test]
fn in_a_plane_the_blend_of_the_points_is_the_nearest_point_of_their_hull() {
    let mut rng = Rng::new(2);
    let mut worst = 0.0_f64;
    for round in 0..200 {
        let count = 1 + rng.below(9);
        let points = random_points(&mut rng, count);
        let space = BlendSpace2::new(&points).unwrap();
        for _ in 0..25 {
            let at = rng.vector(-6.0, 6.0).truncate();
            let weights = weights2(&space, at);
            check_parts(&weights, 3, "plane");
            let want = nearest_of_hull(&points, at.as_dvec2());
            let off = (blend(&points, &weights) - want).length();
            worst = worst.max(off);
            // Coordinates of at most 6, times the rounding of three weights. The point itself is
            // rounded to 2e-8.
            assert!(
                off <= 1.5e-6,
                "round {round}: {points:?} at {at}: {weights:?}, off {off}"
            );
        }
    }
    println!("worst {worst:.1e}");
}

#[test]
fn weights_are_exact_at_the_points_and_do_not_depend_on_their_order() {
    let mut rng = Rng::new(3);
    for _ in 0..200 {
        let count = 1 + rng.below(40).min(17);
        let points = random_points(&mut rng, count);
        let space = BlendSpace2::new(&points).unwrap();
        let spread = GradientBands::new(&points).unwrap();
        for (index, point) in points.iter().enumerate() {
            let mut only = vec![0.0; points.len()];
            only[index] = 1.0;
            assert_eq!(weights2(&space, *point), only, "{points:?}");
            assert_eq!(bands(&spread, *point), only, "{points:?}");
        }
        let mut order: Vec<usize> = (0..count).collect();
        for at in 0..count {
            order.swap(at, at + rng.below(count - at));
        }
        let shuffled: Vec<Vec2> = order.iter().map(|index| points[*index]).collect();
        let other = BlendSpace2::new(&shuffled).unwrap();
        for _ in 0..20 {
            let at = rng.vector(-4.0, 4.0).truncate();
            let (mine, theirs) = (weights2(&space, at), weights2(&other, at));
            for (place, index) in order.iter().enumerate() {
                let off = (mine[*index] - theirs[place]).abs();
                // A parameter on an edge may be found in either triangle.
                assert!(f64::from(off) <= ROUNDING, "{points:?} at {at}");
            }
        }
    }
}

type Point = [i128; 2];

fn cross(a: Point, b: Point, c: Point) -> i128 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Twice the area of the convex hull, by Andrew's monotone chain.
fn hull_area(points: &[Point]) -> i128 {
    let mut sorted = points.to_vec();
    sorted.sort_unstable();
    let chain = |points: &mut dyn Iterator<Item = Point>| {
        let mut chain: Vec<Point> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..] {
                if cross(a, b, point) > 0 {
                    break;
                }
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut hull = chain(&mut sorted.iter().copied());
    hull.extend(chain(&mut sorted.iter().rev().copied()));
    let next = hull.iter().cycle().skip(1);
    let pairs = hull.iter().zip(next);
    pairs.map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum()
}

#[test]
fn the_triangles_are_delaunays_and_cover_the_hull() {
    let mut rng = Rng::new(4);
    for round in 0..120 {
        let count = 3 + rng.below(60);
        // Dense for many on common lines and circles, or wide.
        let side = if rng.chance(2) { 9 } else { 1 << 20 };
        let mut cells: Vec<Point> = Vec::new();
        while cells.len() < count.min(60) {
            let cell = [0; 2].map(|_| rng.below(side) as i128 - side as i128 / 3);
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        let points: Vec<Vec2> = cells
            .iter()
            .map(|c| Vec2::new(c[0] as f32, c[1] as f32))
            .collect();
        let space = BlendSpace2::new(&points).unwrap();
        let mut area = 0;
        for triangle in space.triangles() {
            let [a, b, c] = triangle.map(|corner| cells[corner]);
            let twice = cross(a, b, c);
            assert!(
                twice > 0,
                "round {round}: {triangle:?} does not run counter-clockwise"
            );
            area += twice;
            // The circumcentre, times four times the area. No point is nearer to it than the
            // corners.
            let square = |p: Point| p[0] * p[0] + p[1] * p[1];
            let (sa, sb, sc) = (square(a), square(b), square(c));
            let x = sa * (b[1] - c[1]) + sb * (c[1] - a[1]) + sc * (a[1] - b[1]);
            let y = sa * (c[0] - b[0]) + sb * (a[0] - c[0]) + sc * (b[0] - a[0]);
            let distance = |p: Point| square([2 * twice * p[0] - x, 2 * twice * p[1] - y]);
            let radius = distance(a);
            for (index, other) in cells.iter().enumerate() {
                assert!(
                    distance(*other) >= radius,
                    "round {round}: {index} is in the circle of {triangle:?}"
                );
            }
        }
        assert_eq!(area, hull_area(&cells), "round {round}");
    }
}

/// The steepest that a weight can be, by the heights of the triangles.
fn steepest(space: &BlendSpace2) -> f64 {
    let points = space.points();
    let mut steepest = 0.0_f64;
    for triangle in space.triangles() {
        let [a, b, c] = triangle.map(|corner| points[corner].as_dvec2());
        let area = (b - a).perp_dot(c - a);
        let longest = (b - a).length().max((c - b).length()).max((a - c).length());
        steepest = steepest.max(longest / area);
    }
    steepest
}

#[test]
fn weights_are_continuous_across_edges_and_outside() {
    let mut rng = Rng::new(5);
    for _ in 0..60 {
        let points: Vec<Vec2> = (0..4 + rng.below(8))
            .map(|_| rng.vector(-2.0, 2.0).truncate())
            .collect();
        let space = BlendSpace2::new(&points).unwrap();
        let spread = GradientBands::new(&points).unwrap();
        let nearest = |p: &Vec2| {
            points
                .iter()
                .filter(|q| *q != p)
                .map(|q| q.distance(*p))
                .fold(9.0, f32::min)
        };
        let gap = f64::from(points.iter().map(nearest).fold(9.0, f32::min));
        // Along an edge of the hull, a weight falls from 1 to 0 over no less than the least
        // distance.
        let slope = steepest(&space).max(1.0 / gap);
        let (from, to) = (
            rng.vector(-4.0, 4.0).truncate(),
            rng.vector(-4.0, 4.0).truncate(),
        );
        let at = |step: u32| from.lerp(to, step as f32 / 2000.0);
        let mut before = (weights2(&space, from), bands(&spread, from));
        for step in 1..=2000 {
            let moved = f64::from(at(step).distance(at(step - 1))) + 1e-6;
            let now = (weights2(&space, at(step)), bands(&spread, at(step)));
            for index in 0..points.len() {
                let off = f64::from((now.0[index] - before.0[index]).abs());
                assert!(
                    off <= moved * slope + ROUNDING,
                    "{points:?} at {}: {off}",
                    at(step)
                );
                // An influence falls by 1 over a distance, and the sum of influences is a half at
                // least: by the quotient rule, a weight changes by (1 + n) / gap / ½.
                let off = f64::from((now.1[index] - before.1[index]).abs());
                let most = moved * 2.0 * (1.0 + points.len() as f64) / gap;
                assert!(off <= most + ROUNDING, "{points:?} at {}: {off}", at(step));
            }
            before = now;
        }
    }
}

#[test]
fn gradient_bands_are_as_johansen_has_them() {
    let mut rng = Rng::new(6);
    for _ in 0..200 {
        let count = 1 + rng.below(9);
        let points = random_points(&mut rng, count);
        let space = GradientBands::new(&points).unwrap();
        for _ in 0..20 {
            let at = rng.vector(-6.0, 6.0).truncate();
            let p = at.as_dvec2();
            let mut wants = Vec::new();
            for a in points.iter().map(|a| a.as_dvec2()) {
                let others = points.iter().map(|b| b.as_dvec2()).filter(|b| *b != a);
                // By the distance along the unit vector to the other.
                let left = others.map(|b| {
                    let apart = b.distance(a);
                    (apart - (p - a).dot((b - a) / apart)) / apart
                });
                wants.push(left.fold(1.0, f64::min).max(0.0));
            }
            let total: f64 = wants.iter().sum();
            let weights = bands(&space, at);
            assert!((sum(&weights) - 1.0).abs() <= count as f64 * ROUNDING);
            for (want, weight) in wants.iter().zip(&weights) {
                assert!(
                    (want / total - f64::from(*weight)).abs() <= 2.0 * ROUNDING,
                    "{points:?} at {at}"
                );
            }
        }
    }
}

#[test]
fn far_parameters_count_as_the_nearest_point_of_the_hull() {
    let square = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
    let space = BlendSpace2::new(&square).unwrap();
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
        assert_eq!(weights2(&space, at), want, "{at}");
    }
    let speeds = BlendSpace1::new(&[4.0, 0.0, 1.5]).unwrap();
    assert_eq!(weights1(&speeds, f32::INFINITY), [1.0, 0.0, 0.0]);
    assert_eq!(weights1(&speeds, f32::MIN), [0.0, 1.0, 0.0]);
    assert_eq!(weights1(&speeds, 0.75), [0.0, 0.5, 0.5]);
    assert_eq!(weights1(&speeds, f32::NAN), [0.0, 1.0, 0.0]);
}

#[test]
fn points_on_one_line_are_blended_along_it() {
    let points: Vec<Vec2> = [3.0, 0.0, 1.0].map(|x| Vec2::new(x, 2.0 * x - 1.0)).into();
    let space = BlendSpace2::new(&points).unwrap();
    assert!(space.triangles().is_empty());
    // From the middle of the last two, a step to the side.
    let at = Vec2::new(2.0, 3.0) + Vec2::new(-2.0, 1.0);
    let weights = weights2(&space, at);
    assert_eq!(weights, [0.5, 0.0, 0.5]);
    let one = BlendSpace2::new(&[Vec2::splat(7.0)]).unwrap();
    assert_eq!(weights2(&one, Vec2::new(f32::NAN, -4.0)), [1.0]);
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
        if let Ok(space) = BlendSpace2::new(&points) {
            check_parts(&weights2(&space, at), 3, "odd");
        }
        if let Ok(space) = GradientBands::new(&points) {
            check_parts(&bands(&space, at), 7, "odd");
        }
        let xs: Vec<f32> = points.iter().map(|p| p.x).collect();
        if let Ok(space) = BlendSpace1::new(&xs) {
            check_parts(&weights1(&space, at.y), 2, "odd");
        }
    }
}

/// The error about one point: its index and why.
fn fault<T: std::fmt::Debug>(result: Result<T, Error>) -> (u64, ArgumentFault) {
    match result {
        Err(Error::At {
            what: "point",
            index,
            why,
        }) => match *why {
            Error::Argument { why, .. } => (index, why),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_no_blend_space_is_refused() {
    let twice = ArgumentFault::Duplicate { of: 1 };
    assert_eq!(fault(BlendSpace1::new(&[2.0, 0.0, 1.0, -0.0])), (3, twice));
    let points = [Vec2::X, Vec2::Y, Vec2::ONE, Vec2::new(-0.0, 1.0)];
    assert_eq!(fault(BlendSpace2::new(&points)), (3, twice));
    assert_eq!(fault(GradientBands::new(&points)), (3, twice));
    let text = BlendSpace2::new(&points).unwrap_err().to_string();
    assert_eq!(text, "point 3: position: is equal to that of element 1");
    // Different numbers, but not at the scale of the others.
    let near = [Vec2::splat(1e6), Vec2::ZERO, Vec2::new(1e-9, 0.0)];
    assert_eq!(fault(BlendSpace2::new(&near)), (2, twice));
    for value in [f32::INFINITY, f32::NEG_INFINITY] {
        let not_finite = ArgumentFault::NotFinite(value.into());
        assert_eq!(fault(BlendSpace1::new(&[0.0, value])), (1, not_finite));
        assert_eq!(
            fault(BlendSpace2::new(&[Vec2::ZERO, Vec2::new(1.0, value)])),
            (1, not_finite)
        );
        assert_eq!(
            fault(GradientBands::new(&[Vec2::ZERO, Vec2::new(value, 1.0)])),
            (1, not_finite)
        );
    }
    assert!(BlendSpace1::new(&[f32::NAN]).is_err());
    let none = |error: Error| {
        matches!(
            error,
            Error::Argument {
                why: ArgumentFault::Length { got: 0, need: 1 },
                ..
            }
        )
    };
    assert!(none(BlendSpace1::new(&[]).unwrap_err()));
    assert!(none(BlendSpace2::new(&[]).unwrap_err()));
    assert!(none(GradientBands::new(&[]).unwrap_err()));
    let line = |count: usize| (0..count).map(|i| i as f32).collect::<Vec<_>>();
    let curve = |count: usize| {
        line(count)
            .iter()
            .map(|x| Vec2::new(*x, x * x))
            .collect::<Vec<_>>()
    };
    let full = |error: Error| {
        matches!(
            error,
            Error::Capacity {
                asked: 257,
                cap: 256,
                ..
            }
        )
    };
    assert!(BlendSpace1::new(&line(BlendSpace::MAX_POINTS)).is_ok());
    assert!(full(BlendSpace1::new(&line(257)).unwrap_err()));
    assert!(full(BlendSpace2::new(&curve(257)).unwrap_err()));
    assert!(full(GradientBands::new(&curve(257)).unwrap_err()));
    // The most there can be, all on the hull.
    assert_eq!(
        BlendSpace2::new(&curve(256)).unwrap().triangles().len(),
        254
    );
    let space = BlendSpace2::new(&curve(4)).unwrap();
    let short = ArgumentFault::Length { got: 3, need: 4 };
    let mut out = [9.0; 3];
    for error in [
        space.weights(Vec2::ZERO, &mut out).unwrap_err(),
        GradientBands::new(&curve(4))
            .unwrap()
            .weights(Vec2::ZERO, &mut out)
            .unwrap_err(),
        BlendSpace1::new(&line(4))
            .unwrap()
            .weights(0.0, &mut out)
            .unwrap_err(),
    ] {
        assert_eq!(
            error,
            Error::Argument {
                what: "weights",
                why: short
            }
        );
    }
    assert_eq!(out, [9.0; 3]);
}
