//! Planes: points of the hull, triangles, and continuous weights.

use super::plain::{ROUNDING, blend, check_parts, plane, random_points, weights};
use crate::reference::rng::Rng;
use throng::glam::{DVec2, Vec2};
use throng::motion::BlendSpace;

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

#[test]
fn in_a_plane_the_blend_of_the_points_is_the_nearest_point_of_their_hull() {
    let mut rng = Rng::new(2);
    let mut worst = 0.0_f64;
    for round in 0..200 {
        let count = 1 + rng.below(9);
        let points = random_points(&mut rng, count);
        let space = plane(&points);
        for _ in 0..25 {
            let at = rng.vector(-6.0, 6.0).truncate();
            let weights = weights(&space, at);
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
        let space = plane(&points);
        for (index, point) in points.iter().enumerate() {
            let mut only = vec![0.0; points.len()];
            only[index] = 1.0;
            assert_eq!(weights(&space, *point), only, "{points:?}");
        }
        let mut order: Vec<usize> = (0..count).collect();
        for at in 0..count {
            order.swap(at, at + rng.below(count - at));
        }
        let shuffled: Vec<Vec2> = order.iter().map(|index| points[*index]).collect();
        let other = plane(&shuffled);
        for _ in 0..20 {
            let at = rng.vector(-4.0, 4.0).truncate();
            let (mine, theirs) = (weights(&space, at), weights(&other, at));
            for (position, index) in order.iter().enumerate() {
                let off = (mine[*index] - theirs[position]).abs();
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
        let space = plane(&points);
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
fn steepest(space: &BlendSpace) -> f64 {
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
        let space = plane(&points);
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
        let mut before = weights(&space, from);
        for step in 1..=2000 {
            let moved = f64::from(at(step).distance(at(step - 1))) + 1e-6;
            let now = weights(&space, at(step));
            for index in 0..points.len() {
                let off = f64::from((now[index] - before[index]).abs());
                assert!(
                    off <= moved * slope + ROUNDING,
                    "{points:?} at {}: {off}",
                    at(step)
                );
            }
            before = now;
        }
    }
}
