//! A grid for points in a plane, on which geometric predicates are exact.

use super::points::counted2;
use glam::Vec2;

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
