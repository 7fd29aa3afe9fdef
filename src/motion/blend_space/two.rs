//! A blend space with two parameters, by triangles.

use super::delaunay::{Triangulation, triangulate};
use super::grid::{Cell, Grid, turn};
use super::points::{check_count, check_finite, sorted_apart, spread};
use crate::error::Result;
use glam::Vec2;

/// Clips in a plane, blended by triangles.
///
/// An example is walks in all directions, placed at their velocities. The three clips at the
/// corners of the triangle around the parameter are blended, by its barycentric coordinates.
///
/// - The triangles are a Delaunay triangulation.
/// - Weights are exact at the points, linear in each triangle, and continuous across edges.
/// - A parameter outside of all triangles counts as the nearest point of their hull.
/// - If all points lie on one line, they are blended in pairs along it. A parameter beside the line
///   counts as the nearest point on it.
/// - If four or more points lie on a circle, as the corners of a square do, the positions alone
///   decide which diagonal is chosen. The order of the points does not matter.
///
/// Positions are rounded to a grid, to a 2²⁸th of the largest coordinate or less. On this grid, the
/// geometry is exact.
///
/// ```
/// use throng::glam::Vec2;
/// use throng::motion::BlendSpace2;
///
/// // Idle, then walks forward, left, back and right.
/// let velocities = [Vec2::ZERO, Vec2::Y, Vec2::NEG_X, Vec2::NEG_Y, Vec2::X];
/// let space = BlendSpace2::new(&velocities)?;
/// let mut weights = [0.0; 5];
/// space.weights(Vec2::new(0.25, 0.5), &mut weights)?;
/// assert_eq!(weights, [0.25, 0.5, 0.0, 0.0, 0.25]);
/// # Ok::<(), throng::Error>(())
/// ```
#[doc(alias = "blend tree")]
#[derive(Debug, Clone, PartialEq)]
pub struct BlendSpace2 {
    points: Vec<Vec2>,
    grid: Grid,
    cells: Vec<Cell>,
    mesh: Triangulation,
}

impl BlendSpace2 {
    /// Creates a blend space with a clip at each of `points`.
    ///
    /// Points may be in any order and unit.
    ///
    /// # Errors
    /// - [`Error::Argument`](crate::error::Error::Argument) for no points.
    /// - [`Error::Capacity`](crate::error::Error::Capacity) for more than
    ///   [`BlendSpace::MAX_POINTS`](crate::motion::BlendSpace::MAX_POINTS).
    /// - [`Error::At`](crate::error::Error::At) with the index of the first point that is not
    ///   finite, or that equals another after rounding. In that case, the other is named too.
    pub fn new(points: &[Vec2]) -> Result<Self> {
        check_count(points.len())?;
        for (index, point) in points.iter().enumerate() {
            check_finite(index, point.x)?;
            check_finite(index, point.y)?;
        }
        let grid = Grid::over(points);
        // All points lie on the grid, so none is dropped.
        let cells: Vec<Cell> = points.iter().filter_map(|p| grid.cell(*p)).collect();
        let order = sorted_apart(cells.len(), |index| cells[index])?;
        Ok(Self {
            points: points.to_vec(),
            mesh: triangulate(&cells, &order),
            grid,
            cells,
        })
    }

    /// The positions of the clips.
    #[must_use]
    pub fn points(&self) -> &[Vec2] {
        &self.points
    }

    /// The triangles, as indices of points.
    ///
    /// They are counter-clockwise (x to the right, y up). There are none if all points lie on one
    /// line.
    #[must_use]
    pub fn triangles(&self) -> &[[usize; 3]] {
        &self.mesh.triangles
    }

    /// The three points whose clips are blended at `at`.
    ///
    /// Each comes with its weight. The weights sum to 1. Some weights may be 0. NaN coordinates
    /// count as 0.
    #[must_use]
    pub fn at(&self, at: Vec2) -> [(usize, f32); 3] {
        let found = self.grid.cell(at).and_then(|cell| self.inside(cell));
        found.unwrap_or_else(|| self.nearest(at))
    }

    /// Writes the weight of every point at `at`.
    ///
    /// The weights are in the order of the points and sum to 1. NaN coordinates count as 0.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::error::Error::Argument) if `out` does not have one element per
    /// point.
    pub fn weights(&self, at: Vec2, out: &mut [f32]) -> Result<()> {
        spread(self.points.len(), self.at(at), out)
    }

    /// Blends the corners of the triangle around `at`. On an edge, either triangle may be used.
    fn inside(&self, at: Cell) -> Option<[(usize, f32); 3]> {
        self.mesh.triangles.iter().find_map(|triangle| {
            let [a, b, c] = triangle.map(|corner| self.cells[corner]);
            let parts = [turn(at, b, c), turn(at, c, a), turn(at, a, b)];
            if parts.iter().any(|part| *part < 0) {
                return None;
            }
            let whole = turn(a, b, c) as f64;
            let weight = |corner: usize| (parts[corner] as f64 / whole) as f32;
            Some([0, 1, 2].map(|corner| (triangle[corner], weight(corner))))
        })
    }

    /// Blends the point of the hull or the line that is nearest to `at`.
    fn nearest(&self, at: Vec2) -> [(usize, f32); 3] {
        let at = self.grid.scaled(at);
        let mut best = ([0.0; 2], [(0, 1.0), (0, 0.0), (0, 0.0)]);
        for (number, [from, to]) in self.mesh.edges.iter().enumerate() {
            let [a, b] = [*from, *to].map(|end| self.cells[end].map(|value| value as f64));
            let along = minus(b, a);
            let u = dot(minus(at, a), along) / dot(along, along);
            let u = u.clamp(0.0, 1.0);
            let foot = [a[0] + along[0] * u, a[1] + along[1] * u];
            // |at − foot|² − |at − best|², in a form that stays accurate if `at` is far away.
            let (apart, sum) = (
                minus(best.0, foot),
                [best.0[0] + foot[0], best.0[1] + foot[1]],
            );
            let further = dot(apart, minus([2.0 * at[0], 2.0 * at[1]], sum));
            if number == 0 || further < 0.0 {
                let weights = [(*from, (1.0 - u) as f32), (*to, u as f32), (*from, 0.0)];
                best = (foot, weights);
            }
        }
        best.1
    }
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}
