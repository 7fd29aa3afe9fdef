//! The Delaunay triangulation of points on a grid.
//!
//! The first step makes any triangulation: it adds points in ascending order, and joins each to the
//! edges of the hull that it sees. The second step is Lawson's flips: if an edge between two
//! triangles is not Delaunay, it is replaced by the other diagonal, until all edges are Delaunay
//! (C. L. Lawson, Software for C¹ surface interpolation, 1977).
//!
//! The predicates are exact, so every flip lowers the surface over the paraboloid, and the
//! algorithm ends.

use super::grid::{Cell, in_circle, turn};
use std::collections::BTreeMap;

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
