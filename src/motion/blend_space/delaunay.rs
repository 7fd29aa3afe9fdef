//! The Delaunay triangulation of points in a plane, on a grid that makes it exact.

use crate::error::{Error, Result};
use crate::order;
use glam::Vec2;
use std::collections::BTreeMap;

/// Indices sorted by `key`. An error names the first two whose keys are equal.
pub(super) fn sorted_apart<K: PartialOrd + Copy>(
    count: usize,
    key: impl Fn(usize) -> K,
) -> Result<Vec<usize>> {
    let mut order: Vec<usize> = (0..count).collect();
    let compare = |a: &usize, b: &usize| key(*a).partial_cmp(&key(*b));
    // The sort is stable, so the lower of two indices comes first.
    order::sort_indices(&mut order, &|a, b| {
        compare(&a, &b).unwrap_or(core::cmp::Ordering::Equal)
    });
    match order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
        Some(pair) => Err(Error::duplicate("position", pair[0]).at("point", pair[1])),
        None => Ok(order),
    }
}

/// A parameter's coordinate: NaN becomes 0, and infinities become the ends of the range.
pub(super) const fn counted(value: f32) -> f64 {
    if value.is_nan() {
        0.0
    } else {
        value.clamp(-f32::MAX, f32::MAX) as f64
    }
}

pub(super) fn counted2(at: Vec2) -> [f64; 2] {
    [counted(at.x), counted(at.y)]
}

/// Counter-clockwise triangles, and the edges of their hull.
///
/// For points on one line there are no triangles, and the edges connect each point with the next.
/// For a single point there are no edges.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Triangulation {
    pub(super) triangles: Vec<[usize; 3]>,
    pub(super) edges: Vec<[usize; 2]>,
}

/// For each counter-clockwise edge of a triangle, the corner opposite to it.
type Across = BTreeMap<(usize, usize), usize>;

/// Triangulates `cells`, which must all be different.
///
/// `order` holds their indices, ascending by cell. The result does not depend on the indices.
pub(super) fn triangulate(cells: &[Cell], order: &[usize]) -> Triangulation {
    // From here on, a point is identified by its position in `order`.
    let sorted: Vec<Cell> = order.iter().map(|index| cells[*index]).collect();
    let mut across = sweep(&sorted);
    if across.is_empty() {
        let pairs = order.windows(2);
        return Triangulation {
            triangles: Vec::new(),
            edges: pairs.map(|pair| [pair[0], pair[1]]).collect(),
        };
    }
    flip(&sorted, &mut across);
    let corners = across.iter().map(|((a, b), c)| [*a, *b, *c]);
    // Each triangle occurs three times, once per edge. Keep it once.
    let once = corners.filter(|[a, b, c]| a < b && a < c);
    let outer = across
        .keys()
        .filter(|(a, b)| !across.contains_key(&(*b, *a)));
    Triangulation {
        triangles: once.map(|corners| corners.map(|at| order[at])).collect(),
        edges: outer.map(|(a, b)| [order[*a], order[*b]]).collect(),
    }
}

fn add(across: &mut Across, [a, b, c]: [usize; 3]) {
    across.insert((a, b), c);
    across.insert((b, c), a);
    across.insert((c, a), b);
}

/// Any triangulation of points in ascending order. Empty if they lie on one line.
fn sweep(cells: &[Cell]) -> Across {
    let mut across = Across::new();
    let side = |a: usize, b: usize, c: usize| turn(cells[a], cells[b], cells[c]);
    let Some(apex) = (2..cells.len()).find(|at| side(0, 1, *at) != 0) else {
        return across;
    };
    // The points before the apex lie on one line.
    let mut hull: Vec<usize> = (0..apex).collect();
    if side(0, 1, apex) < 0 {
        hull.reverse();
    }
    for pair in hull.windows(2) {
        add(&mut across, [pair[0], pair[1], apex]);
    }
    hull.push(apex);
    for point in apex + 1..cells.len() {
        // The point lies beyond all others, so it sees some of the hull's edges, in a row, but not
        // all.
        let count = hull.len();
        let sees =
            |hull: &[usize], at: usize| side(hull[at % count], hull[(at + 1) % count], point) < 0;
        let start = (0..count).find(|at| sees(&hull, *at) && !sees(&hull, at + count - 1));
        hull.rotate_left(start.unwrap_or(0));
        let seen = (0..count - 1).take_while(|at| sees(&hull, *at)).count();
        for at in 0..seen {
            add(&mut across, [hull[at + 1], hull[at], point]);
        }
        hull.splice(1..seen.max(1), [point]);
    }
    across
}

fn flip(cells: &[Cell], across: &mut Across) {
    let mut edges: Vec<(usize, usize)> = across.keys().copied().collect();
    while let Some((a, b)) = edges.pop() {
        let (Some(c), Some(d)) = (across.get(&(a, b)), across.get(&(b, a))) else {
            continue;
        };
        let (c, d) = (*c, *d);
        if in_circle(cells[a], cells[b], cells[c], cells[d]) {
            across.remove(&(a, b));
            across.remove(&(b, a));
            add(across, [a, d, c]);
            add(across, [d, b, c]);
            edges.extend([(a, d), (d, b), (b, c), (c, a)]);
        }
    }
}

/// A point on the grid; coordinates in ±[`MOST`].
pub(super) type Cell = [i64; 2];

/// With 29 bits, [`turn`] needs 62 bits and [`in_circle`] 125.
///
/// Neither overflows, so both are exact.
const MOST: i64 = 1 << 29;

/// Rounds points so that the largest coordinate takes 29 bits.
///
/// That is a 32nd of the rounding that `f32` does there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    /// A power of two, so that scaling does not round.
    scale: f64,
}

impl Grid {
    /// Creates a grid for finite points.
    pub(super) fn over(points: &[Vec2]) -> Self {
        let largest = points
            .iter()
            .fold(0.0, |most: f32, p| most.max(p.abs().max_element()));
        // Every `f32` is a normal number in `f64`. Its exponent is that of the power of two below
        // it.
        let exponent = ((f64::from(largest).to_bits() >> 52) as i32) - 1023;
        Self {
            scale: if largest > 0.0 {
                2.0_f64.powi(28 - exponent)
            } else {
                1.0
            },
        }
    }

    /// A point in units of the grid, not rounded.
    pub(super) fn scaled(&self, at: Vec2) -> [f64; 2] {
        counted2(at).map(|value| value * self.scale)
    }

    /// The nearest point of the grid, or `None` if the point lies outside of the grid.
    pub(super) fn cell(&self, at: Vec2) -> Option<Cell> {
        let [x, y] = self.scaled(at).map(f64::round);
        let inside = |value: f64| value.abs() <= MOST as f64;
        (inside(x) && inside(y)).then_some([x as i64, y as i64])
    }
}

/// Twice the area of a triangle, positive if it is counter-clockwise.
pub(super) const fn turn([ax, ay]: Cell, [bx, by]: Cell, [cx, cy]: Cell) -> i64 {
    (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

/// Returns true if `d` lies strictly inside the circle through `a`, `b` and `c`.
///
/// `a`, `b` and `c` must be counter-clockwise.
pub(super) fn in_circle(a: Cell, b: Cell, c: Cell, d: Cell) -> bool {
    let from = |p: Cell| [i128::from(p[0] - d[0]), i128::from(p[1] - d[1])];
    let square = |p: [i128; 2]| p[0] * p[0] + p[1] * p[1];
    let cross = |p: [i128; 2], q: [i128; 2]| p[0] * q[1] - p[1] * q[0];
    let (a, b, c) = (from(a), from(b), from(c));
    square(a) * cross(b, c) + square(b) * cross(c, a) + square(c) * cross(a, b) > 0
}
